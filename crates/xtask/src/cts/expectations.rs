//! What each suite of the conformance tests is expected to do, read from `conformance.toml`, and how that compares with
//! what it did.
//!
//! A test is expected to pass unless the file names it, with a reason: tests of features that the device does not
//! advertise are skipped. A test that passes against the file's word is a finding too: then the file is out of
//! date, and the table that users read as well.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// How a test ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// What it checks holds.
    Pass,
    /// It found something wrong.
    Fail,
    /// It did not apply to the device.
    Skip,
}

/// A run of one program of the conformance tests.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// What it is called here; a program may run several times with other arguments.
    pub name: String,
    /// The program, relative to the folder of those that were built.
    pub program: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Whether it runs with reduced loops: its full run takes more than ten minutes on two cores.
    #[serde(default)]
    pub wimpy: bool,
    /// Whether the programs of the tests are compiled before, by `cloom offline-compile`, and come as binaries.
    #[serde(default)]
    pub binary: bool,
    /// How many tests it has. A test that vanished is a finding.
    pub tests: usize,
    /// Tests that do not pass, by reason.
    #[serde(default)]
    pub except: Vec<Exception>,
}

/// Tests that do not pass.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    /// How they end.
    pub verdict: Verdict,
    /// Why that is right, for users.
    pub reason: String,
    /// Their names.
    pub tests: BTreeSet<String>,
}

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    suite: Vec<Suite>,
}

/// What the tests of a suite did, by name. What did not come to its end is missing.
pub type Results = BTreeMap<String, Verdict>;

/// Reads the file. A name that stands in it twice is an error.
pub fn parse(text: &str) -> Result<Vec<Suite>> {
    let File { suite: suites } = toml::from_str(text)?;
    let mut names = BTreeSet::new();
    for suite in &suites {
        ensure!(names.insert(&suite.name), "there are two suites `{}`", suite.name);
        let mut tests = BTreeSet::new();
        for exception in &suite.except {
            ensure!(exception.verdict != Verdict::Pass, "{}: an exception that passes is none", suite.name);
            for test in &exception.tests {
                ensure!(tests.insert(test), "{}: `{test}` is excepted twice", suite.name);
            }
        }
        ensure!(tests.len() <= suite.tests, "{}: more exceptions than tests", suite.name);
    }
    Ok(suites)
}

/// Reads what a program of the conformance tests writes to the file that `CL_CONFORMANCE_RESULTS_FILENAME` names.
pub fn results(text: &str) -> Result<Results> {
    #[derive(Deserialize)]
    struct Written {
        results: Results,
    }
    let written: Written = serde_json::from_str(text).context("the results of the program are not as expected")?;
    Ok(written.results)
}

impl Suite {
    /// How a test is expected to end.
    fn expected(&self, test: &str) -> Verdict {
        let exception = self.except.iter().find(|e| e.tests.contains(test));
        exception.map_or(Verdict::Pass, |e| e.verdict)
    }

    /// Everything about the results that the file does not say, a line each; none if all is as expected.
    pub fn surprises(&self, results: &Results) -> Vec<String> {
        let mut lines: Vec<String> = results
            .iter()
            .map(|(test, &verdict)| (test, verdict, self.expected(test)))
            .filter(|(_, verdict, expected)| verdict != expected)
            .map(|(test, verdict, expected)| format!("{test}: {verdict:?}, expected {expected:?}"))
            .collect();
        let named = self.except.iter().flat_map(|e| &e.tests);
        lines.extend(named.filter(|t| !results.contains_key(*t)).map(|t| format!("{t}: no result")));
        if results.len() != self.tests {
            lines.push(format!("{} tests, expected {}", results.len(), self.tests));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        [[suite]]
        name = "api"
        program = "api/test_api"
        tests = 3
        [[suite.except]]
        verdict = "skip"
        reason = "no pipes"
        tests = ["pipe_info"]
    "#;

    fn outcome(list: &[(&str, Verdict)]) -> Vec<String> {
        let results = list.iter().map(|&(name, verdict)| (name.to_owned(), verdict)).collect();
        parse(FILE).unwrap()[0].surprises(&results)
    }

    #[test]
    fn what_is_expected_is_no_surprise() {
        let all = [("a", Verdict::Pass), ("b", Verdict::Pass), ("pipe_info", Verdict::Skip)];
        assert_eq!(outcome(&all), [""; 0]);
    }

    #[test]
    fn a_failure_an_unexpected_pass_and_a_lost_test_are_findings() {
        let all = [("a", Verdict::Fail), ("b", Verdict::Pass), ("pipe_info", Verdict::Pass)];
        assert_eq!(outcome(&all), ["a: Fail, expected Pass", "pipe_info: Pass, expected Skip"]);
        let fewer = [("a", Verdict::Pass), ("b", Verdict::Pass)];
        assert_eq!(outcome(&fewer), ["pipe_info: no result", "2 tests, expected 3"]);
        let silent = [("a", Verdict::Pass), ("b", Verdict::Skip), ("pipe_info", Verdict::Skip)];
        assert_eq!(outcome(&silent), ["b: Skip, expected Pass"]);
    }

    #[test]
    fn the_committed_file_can_be_read() {
        assert!(!parse(include_str!("../../conformance.toml")).unwrap().is_empty());
    }

    #[test]
    fn results_are_read_as_the_programs_write_them() {
        let text = "{\n\t\"cmd\": \"test_api\",\n\t\"args\": \"\",\n\t\"results\": {\n\t\t\"a\": \"pass\",\n\t\t\"b\": \
                    \"skip\"\n\t}\n}\n";
        let read = results(text).unwrap();
        assert_eq!(
            read.into_iter().collect::<Vec<_>>(),
            [("a".to_owned(), Verdict::Pass), ("b".to_owned(), Verdict::Skip)]
        );
        assert!(results("{").is_err());
    }
}
