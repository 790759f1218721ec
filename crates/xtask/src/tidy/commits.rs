//! The subjects of commits: `crate: what and why`, at most 72 characters. In come the log of the repository and the
//! names of the crates; out come findings. Without a repository, as in a tarball, there is nothing to check.

use crate::tools::root;
use std::process::Command;

/// Commits before this have subjects of other forms.
const SINCE: &str = "2026-11-29T19:10:00Z";
/// The longest subject, in characters: what a terminal of 80 shows beside the number.
const LONGEST: usize = 72;
/// What a commit may be about beside a crate.
const AREAS: &[&str] = &["action", "ci", "docs", "workspace"];

/// Checks the commits of this checkout.
pub fn check(crates: &[&str], findings: &mut Vec<String>) {
    let since = format!("--since={SINCE}");
    let log = Command::new("git").args(["log", "--no-merges", &since, "--format=%h %s"]).current_dir(root()).output();
    let Some(log) = log.ok().filter(|log| log.status.success()) else { return };
    for line in String::from_utf8_lossy(&log.stdout).lines() {
        let (number, subject) = line.split_once(' ').unwrap_or((line, ""));
        findings.extend(finding(subject, crates).map(|why| format!("commit {number}: {why}")));
    }
}

/// What is wrong with a subject.
fn finding(subject: &str, crates: &[&str]) -> Option<String> {
    let length = subject.chars().count();
    if length > LONGEST {
        return Some(format!("the subject has {length} characters, {LONGEST} are the most"));
    }
    let form = "a subject reads `crate: what and why`";
    let Some((areas, what)) = subject.split_once(": ") else { return Some(format!("{form}: `{subject}`")) };
    let is_known = |area: &str| crates.contains(&area) || AREAS.contains(&area);
    if let Some(area) = areas.split(", ").find(|area| !is_known(area)) {
        return Some(format!("{form}, and there is no crate `{area}`"));
    }
    (what.trim().is_empty() || what.ends_with('.')).then(|| format!("{form}, without a full stop: `{subject}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_names_crates_and_is_short() {
        let wrong = |subject: &str| finding(subject, &["ir", "hal-cuda", "spmd"]);
        for subject in ["ir: fold shifts by more than the width", "ir, hal-cuda: one list of errors", "docs: a table"] {
            assert_eq!(wrong(subject), None);
        }
        for (subject, why) in [
            ("Fold shifts", "reads `crate: what"),
            ("irr: fold shifts", "no crate `irr`"),
            ("ir,spmd: fold shifts", "no crate `ir,spmd`"),
            ("ir: fold shifts.", "without a full stop"),
            ("ir: ", "without a full stop"),
        ] {
            let got = wrong(subject).unwrap_or_default();
            assert!(got.contains(why), "{subject}: {got}");
        }
        assert_eq!(wrong(&format!("ir: {}", "x".repeat(68))), None);
        assert!(wrong(&format!("ir: {}", "x".repeat(69))).unwrap_or_default().contains("73 characters"));
    }
}
