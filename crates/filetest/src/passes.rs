//! Firing tests of passes: each changes something as often as expected, and nothing when it is switched off.
//!
//! A file of [`crate::ir_file`] or [`crate::code_file`] says `; FIRES: row-transpose 1`. A pass that no longer fires
//! costs speed but changes no result, so no other test would notice; and a switch that does not work would mislead the
//! search for a bug.

use cloom_compiler::passes;
use cloom_passes::{Disabled, PassId, PassOptions, Statistics};

const FIRES: [&str; 2] = ["; FIRES:", "// FIRES:"];

/// The passes that a file says fire, and how often each.
pub fn fires(text: &str) -> Result<Vec<(PassId, usize)>, String> {
    let one = |line: &str| {
        let (name, count) = line.trim().rsplit_once(' ').ok_or("`; FIRES:` needs a pass and a number")?;
        let known = passes::all().into_iter().find(|id| id.name == name.trim());
        let id = known.ok_or_else(|| format!("no pass is named `{}`", name.trim()))?;
        Ok((id, count.parse().map_err(|_| format!("`{count}` is no number"))?))
    };
    text.lines().filter_map(|line| FIRES.iter().find_map(|head| line.strip_prefix(head))).map(one).collect()
}

/// Checks what a file says of passes; `run` does what the file is about and says what they did.
pub fn check(text: &str, run: &dyn Fn(&PassOptions) -> Result<Statistics, String>) -> Result<(), String> {
    let wanted = fires(text)?;
    if wanted.is_empty() {
        return Ok(());
    }
    let all_on = run(&PassOptions::default())?;
    let differs = |&&(id, count): &&(PassId, usize)| all_on.changes(id.name) != count;
    let wrong: Vec<String> = wanted
        .iter()
        .filter(differs)
        .map(|(id, count)| format!("{} fires {} times, not {count}", id.name, all_on.changes(id.name)))
        .collect();
    if !wrong.is_empty() {
        return Err(wrong.join("; "));
    }
    // One run for each pass, with that pass alone switched off: with several off, one could fire less because another
    // did not run.
    for (id, _) in wanted.into_iter().filter(|(id, _)| !id.required) {
        let off = run(&PassOptions::without(Disabled::only(id)))?.changes(id.name);
        if off > 0 {
            return Err(format!("{} fires {off} times although it is switched off", id.name));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{fires, passes};

    #[test]
    fn every_pass_fires_in_a_file() {
        let mut silent: Vec<&str> = passes::all().iter().map(|id| id.name).collect();
        let files =
            [("tests/ir", "ir"), ("tests/ll", "ll"), ("tests/cl", "cl")].map(|(folder, ext)| crate::files(folder, ext));
        for path in files.into_iter().flatten() {
            let text = std::fs::read_to_string(&path).unwrap();
            for (id, _) in fires(&text).unwrap().into_iter().filter(|&(_, count)| count > 0) {
                silent.retain(|&name| name != id.name);
            }
        }
        assert!(silent.is_empty(), "no file says that these fire: {silent:?}");
    }

    #[test]
    fn a_wrong_name_is_an_error() {
        assert!(fires("; FIRES: row-transpoes 1").is_err());
        assert_eq!(fires("; FIRES: dce 2\n; RUN: pass dce").unwrap()[0].1, 2);
    }
}
