//! `check --explain`: the pages about the kinds of findings.

use crate::outcome::{Answer, Exit, Failure};
use cloom_check::{Kind, kind};
use std::fmt::Write;

/// The page of a kind, or the list of all kinds.
pub fn page(name: &str) -> Result<Answer, Failure> {
    if name == "all" {
        return Ok(Answer::text(list(), Exit::Fine));
    }
    let kind = Kind::named(name)
        .ok_or_else(|| Failure::wrong(format!("there is no kind `{name}`; `cloom check --explain all` lists them")))?;
    Ok(Answer::text(cloom_check::pages::page(kind), Exit::Fine))
}

/// All kinds, by group.
fn list() -> String {
    let mut text = String::new();
    for group in kind::Group::ALL {
        let _ = writeln!(text, "{}", group.name());
        for kind in Kind::ALL.iter().filter(|k| k.group() == group) {
            let opt_in = if kind.is_opt_in() { " (only with --enable)" } else { "" };
            let _ = writeln!(text, "  {:<20} {}{opt_in}", kind.name(), kind.summary());
        }
    }
    text
}
