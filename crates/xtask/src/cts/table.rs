//! The tables of `docs/conformance.md`: what `conformance.toml` says, for people.

use super::expectations::{Suite, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Where the tables begin in the page, and the page ends.
const MARK: &str = "## Results\n";

/// The page with the tables of these suites; `None` if it has no place for them.
pub fn page(page: &str, suites: &[Suite]) -> Option<String> {
    let (text, _) = page.split_once(MARK)?;
    Some(format!("{text}{MARK}\n{}", tables(suites)))
}

/// A row for each suite, then a row for each reason.
fn tables(suites: &[Suite]) -> String {
    let mut out = String::from("| suite | run | pass | fail | skip |\n|---|---|---|---|---|\n");
    let mut reasons: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut sums = [0; 3];
    for suite in suites {
        let mut counts = [suite.tests, 0, 0];
        for exception in &suite.except {
            let (verdict, word) = match exception.verdict {
                Verdict::Skip => (2, "skip"),
                Verdict::Fail | Verdict::Pass => (1, "fail"),
            };
            counts[0] -= exception.tests.len();
            counts[verdict] += exception.tests.len();
            *reasons.entry((word, &exception.reason)).or_default() += exception.tests.len();
        }
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        let has = |arg: &str| suite.args.iter().any(|a| a == arg);
        let form = match () {
            () if suite.wimpy => "wimpy",
            () if has("small_images") => "small images",
            () if has("quick*") => "quick",
            () => "full",
        };
        let run = if suite.binary { format!("{form}, binaries") } else { form.to_owned() };
        let _ = writeln!(out, "| {} | {run} | {} | {} | {} |", suite.name, counts[0], counts[1], counts[2]);
    }
    let _ = writeln!(out, "| all | | {} | {} | {} |", sums[0], sums[1], sums[2]);
    if !reasons.is_empty() {
        out.push_str("\n| tests | | why |\n|---|---|---|\n");
        for ((word, reason), count) in reasons {
            let _ = writeln!(out, "| {count} | {word} | {reason} |");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::expectations::parse;
    use super::*;

    #[test]
    fn the_committed_page_has_the_tables_of_the_committed_file() {
        let suites = parse(include_str!("../../conformance.toml")).unwrap();
        let committed = include_str!("../../../../docs/conformance.md");
        let expected = page(committed, &suites).expect("a place for the tables");
        assert!(committed == expected, "docs/conformance.md is out of date: run `cargo xtask cts --table`");
    }

    #[test]
    fn exceptions_are_counted_apart() {
        let file = "[[suite]]\nname = \"api\"\nprogram = \"p\"\ntests = 5\nwimpy = true\n[[suite.except]]\n\
                    verdict = \"skip\"\nreason = \"no pipes\"\ntests = [\"a\", \"b\"]\n";
        let made = tables(&parse(file).unwrap());
        assert!(made.contains("| api | wimpy | 3 | 0 | 2 |\n"), "{made}");
        assert!(made.ends_with("| 2 | skip | no pipes |\n"), "{made}");
    }
}
