//! A rule for `make` that says from which files a result was made (`-MD`).
//!
//! ```text
//! kernel.clbin: kernel.cl inc/size.h
//!
//! inc/size.h:
//! ```
//!
//! As compilers do with `-MP`, each header is a target without a recipe too, so that a header which is gone is no error
//! but a reason to compile again.

use crate::outcome::Failure;
use std::path::{Path, PathBuf};

/// Writes the rule for a result to `file`, or beside the result.
pub fn write(file: Option<&Path>, result: &Path, sources: &[PathBuf], headers: &[String]) -> Result<(), Failure> {
    let beside = result.with_extension("d");
    let file = file.unwrap_or(&beside);
    std::fs::write(file, rule(result, sources, headers))
        .map_err(|e| Failure::wrong(format!("cannot write {}: {e}; name another file after -MF", file.display())))
}

fn rule(result: &Path, sources: &[PathBuf], headers: &[String]) -> String {
    let mut text = format!("{}:", escaped(&result.display().to_string()));
    for name in sources.iter().map(|s| s.display().to_string()).chain(headers.iter().cloned()) {
        text += &format!(" {}", escaped(&name));
    }
    text += "\n";
    for header in headers {
        text += &format!("\n{}:\n", escaped(header));
    }
    text
}

/// A name as `make` reads it.
fn escaped(name: &str) -> String {
    name.replace(' ', "\\ ").replace('#', "\\#").replace('$', "$$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_headers_are_targets() {
        let text = rule(Path::new("a b.clbin"), &["a b.cl".into()], &["$x#.h".into()]);
        assert_eq!(text, "a\\ b.clbin: a\\ b.cl $$x\\#.h\n\n$$x\\#.h:\n");
    }
}
