//! What Cloom is expected to make of the files of a corpus, read from `crates/xtask/corpora`, and how that compares
//! with what it made of them.
//!
//! A file is expected to end as it asks for itself, unless the expectations name it, with a reason. One that is
//! accepted against their word is a finding too: then they are out of date.

use super::cases::{Case, Verdict, name_apart};
use super::compile::Ending;
use anyhow::{Result, ensure};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The head of each file.
const HEAD: &str = "\
# Written by `cargo xtask corpora DIR --bless`, which keeps reasons and options; what is new gets an empty reason.
# docs/corpora.md has the rules.";

/// The expectations of a corpus.
#[derive(Deserialize, Default, Debug)]
#[serde(deny_unknown_fields)]
pub struct Expectations {
    /// How many compilations there are. One that vanished is a finding.
    cases: usize,
    /// Options that the host programs give, and the files do not say.
    #[serde(default)]
    options: Vec<Given>,
    /// What does not end as it asks for, by reason.
    #[serde(default)]
    except: Vec<Exception>,
}

/// Options for files.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Given {
    options: Vec<String>,
    files: BTreeSet<String>,
}

/// Cases that end in another way.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Exception {
    verdict: Verdict,
    /// Why that is right, for users; empty until somebody has decided it.
    reason: String,
    cases: BTreeSet<String>,
}

/// How each case ended, by name.
pub type Endings = BTreeMap<String, Ending>;

impl Expectations {
    /// Reads a file. A name that stands in it twice is an error.
    pub fn parse(text: &str) -> Result<Expectations> {
        let read: Expectations = toml::from_str(text)?;
        let mut cases = BTreeSet::new();
        for case in read.except.iter().flat_map(|e| &e.cases) {
            ensure!(cases.insert(case), "`{case}` is excepted twice");
        }
        Ok(read)
    }

    /// Gives files the options that they do not say themselves. One that is named several times is compiled as often.
    pub fn give_options(&self, cases: Vec<Case>) -> Result<Vec<Case>> {
        let names: BTreeSet<&str> = cases.iter().map(|c| c.name.as_str()).collect();
        for file in self.options.iter().flat_map(|g| &g.files) {
            ensure!(names.contains(file.as_str()), "`{file}` is given options, and is not there");
        }
        let mut all = Vec::new();
        for case in cases {
            let with = |options: &[String]| {
                let options = case.options.iter().chain(options).cloned().collect();
                Case { options, ..case.clone() }
            };
            let given = self.options.iter().filter(|g| g.files.contains(&case.name));
            let mut of_file: Vec<Case> = given.map(|g| with(&g.options)).collect();
            if of_file.is_empty() {
                of_file.push(case);
            }
            name_apart(&mut of_file);
            all.append(&mut of_file);
        }
        Ok(all)
    }

    /// The exception for a case.
    fn exception(&self, name: &str) -> Option<&Exception> {
        self.except.iter().find(|e| e.cases.contains(name))
    }

    /// Everything about the endings that is not expected, a line each; none if all is.
    pub fn surprises(&self, cases: &[Case], endings: &Endings) -> Vec<String> {
        let mut lines = Vec::new();
        for case in cases {
            let exception = self.exception(&case.name);
            let expected = exception.map_or(case.expected, |e| e.verdict);
            let name = &case.name;
            match endings.get(name) {
                Some(Ending::Broken(how)) => lines.push(format!("{name}: {how}")),
                Some(Ending::Done(verdict, message)) if *verdict != expected => {
                    let message = if message.is_empty() { String::new() } else { format!(": {message}") };
                    lines.push(format!("{name}: {}, expected {}{message}", verdict.word(), expected.word()));
                }
                Some(Ending::Done(verdict, _)) if exception.is_some_and(|e| e.reason.is_empty()) => {
                    lines.push(format!("{name}: {}, for no reason that is written down", verdict.word()));
                }
                Some(Ending::Done(..)) => {}
                None => lines.push(format!("{name}: no result")),
            }
        }
        let named = self.except.iter().flat_map(|e| &e.cases);
        lines
            .extend(named.filter(|n| !endings.contains_key(*n)).map(|n| format!("{n}: it is expected, and not there")));
        if cases.len() != self.cases {
            lines.push(format!("{} compilations, expected {}", cases.len(), self.cases));
        }
        lines
    }

    /// The expectations that the endings fulfil, with the reasons of these. What is broken is never expected.
    #[must_use]
    pub fn blessed(self, cases: &[Case], endings: &Endings) -> Expectations {
        let mut except: Vec<Exception> = Vec::new();
        // Each case by the reason that it had.
        let mut add = |verdict, reason: &str, name: &str| {
            let at = except.iter().position(|e| e.verdict == verdict && e.reason == reason).unwrap_or_else(|| {
                except.push(Exception { verdict, reason: reason.to_owned(), cases: BTreeSet::new() });
                except.len() - 1
            });
            except[at].cases.insert(name.to_owned());
        };
        // The old groups first, so that they stay in their order.
        for old in &self.except {
            for case in cases.iter().filter(|c| old.cases.contains(&c.name) && c.expected != old.verdict) {
                match endings.get(&case.name) {
                    Some(Ending::Done(verdict, _)) if *verdict == case.expected => {}
                    // A crash of today does not make the decision wrong.
                    _ => add(old.verdict, &old.reason, &case.name),
                }
            }
        }
        for case in cases.iter().filter(|c| self.exception(&c.name).is_none_or(|e| e.verdict == c.expected)) {
            if let Some(Ending::Done(verdict, _)) = endings.get(&case.name)
                && *verdict != case.expected
            {
                add(*verdict, "", &case.name);
            }
        }
        Expectations { cases: cases.len(), options: self.options, except }
    }

    /// The file.
    pub fn text(&self) -> String {
        let mut text = format!("{HEAD}\n\ncases = {}\n", self.cases);
        for given in &self.options {
            let options: Vec<String> = given.options.iter().map(|o| quoted(o)).collect();
            let _ = write!(text, "\n[[options]]\noptions = [{}]\n{}", options.join(", "), list("files", &given.files));
        }
        for exception in &self.except {
            let (verdict, reason) = (exception.verdict.word(), quoted(&exception.reason));
            let cases = list("cases", &exception.cases);
            let _ = write!(text, "\n[[except]]\nverdict = \"{verdict}\"\nreason = {reason}\n{cases}");
        }
        text
    }
}

/// A list of names, a line each.
fn list(key: &str, names: &BTreeSet<String>) -> String {
    let lines: String = names.iter().map(|n| format!("    {},\n", quoted(n))).collect();
    format!("{key} = [\n{lines}]\n")
}

/// A string of TOML. JSON's are some of them.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const FILE: &str = r#"
        cases = 3
        [[options]]
        options = ["-cl-std=CL2.0"]
        files = ["a.cl"]
        [[except]]
        verdict = "refused"
        reason = "it is C++"
        cases = ["b.cl", "c.cl -DX=\"1\""]
    "#;

    fn cases() -> Vec<Case> {
        ["a.cl", "b.cl", "c.cl -DX=\"1\""].map(|name| Case::plain(name, Path::new("/x"))).to_vec()
    }

    fn accepted() -> Ending {
        Ending::Done(Verdict::Accepted, String::new())
    }

    fn refused() -> Ending {
        Ending::Done(Verdict::Refused, "error: no".to_owned())
    }

    fn endings(all: [Ending; 3]) -> Endings {
        cases().into_iter().map(|c| c.name).zip(all).collect()
    }

    #[test]
    fn what_is_expected_is_no_surprise() {
        let expectations = Expectations::parse(FILE).unwrap();
        let endings = endings([accepted(), refused(), refused()]);
        assert_eq!(expectations.surprises(&cases(), &endings), [""; 0]);
        assert_eq!(expectations.blessed(&cases(), &endings).text(), {
            let same = Expectations::parse(FILE).unwrap();
            same.text()
        });
    }

    #[test]
    fn refusals_acceptances_crashes_and_lost_files_are_findings() {
        let expectations = Expectations::parse(FILE).unwrap();
        let broken = Ending::Broken("signal 11: no message".to_owned());
        assert_eq!(
            expectations.surprises(&cases(), &endings([refused(), accepted(), broken])),
            [
                "a.cl: refused, expected accepted: error: no",
                "b.cl: accepted, expected refused",
                "c.cl -DX=\"1\": signal 11: no message",
            ]
        );
        let fewer = Endings::from([("a.cl".to_owned(), accepted())]);
        assert_eq!(
            expectations.surprises(&cases()[..1], &fewer),
            [
                "b.cl: it is expected, and not there",
                "c.cl -DX=\"1\": it is expected, and not there",
                "1 compilations, expected 3",
            ]
        );
    }

    #[test]
    fn blessing_keeps_reasons_and_what_is_new_has_none() {
        let expectations = Expectations::parse(FILE).unwrap();
        let broken = Ending::Broken("signal 11: no message".to_owned());
        let now = endings([refused(), accepted(), broken.clone()]);
        let text = expectations.blessed(&cases(), &now).text();
        let read = Expectations::parse(&text).unwrap();
        assert_eq!(read.text(), text);
        assert_eq!(read.options[0].options, ["-cl-std=CL2.0"]);
        let groups: Vec<_> =
            read.except.iter().map(|e| (e.reason.as_str(), e.cases.iter().map(String::as_str).collect())).collect();
        assert_eq!(groups, [("it is C++", vec!["c.cl -DX=\"1\""]), ("", vec!["a.cl"])]);
        // A crash is not blessed, and the decision to be made is a finding until it is made.
        assert_eq!(
            read.surprises(&cases(), &now),
            ["a.cl: refused, for no reason that is written down", "c.cl -DX=\"1\": signal 11: no message"]
        );
    }

    #[test]
    fn options_are_given_to_files_that_are_there() {
        let expectations = Expectations::parse(FILE).unwrap();
        let all = expectations.give_options(cases()).unwrap();
        assert_eq!(
            (all[0].name.as_str(), all[0].options.as_slice()),
            ("a.cl", ["-cl-std=CL2.0".to_owned()].as_slice())
        );
        assert!(expectations.give_options(cases().split_off(1)).is_err());
        let plain = "[[options]]\noptions = []\nfiles = [\"a.cl\"]\n";
        let all = Expectations::parse(&format!("{FILE}{plain}")).unwrap().give_options(cases()).unwrap();
        let names: Vec<&str> = all.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["a.cl -cl-std=CL2.0", "a.cl", "b.cl", "c.cl -DX=\"1\""]);
    }

    #[test]
    fn a_name_stands_once() {
        let twice =
            FILE.replace("\"b.cl\", ", "") + "[[except]]\nverdict = \"refused\"\nreason = \"\"\ncases = [\"b.cl\"]\n";
        assert!(Expectations::parse(&twice).is_ok());
        let twice = twice + "[[except]]\nverdict = \"accepted\"\nreason = \"\"\ncases = [\"b.cl\"]\n";
        assert!(Expectations::parse(&twice).unwrap_err().to_string().contains("excepted twice"));
    }

    #[test]
    fn the_committed_files_can_be_read_and_give_reasons() {
        for corpus in super::super::list::CORPORA {
            let path = super::super::file(corpus);
            let text = std::fs::read_to_string(&path).unwrap();
            let read = Expectations::parse(&text).unwrap();
            assert!(read.cases > 0 && read.except.iter().all(|e| !e.reason.is_empty()), "{}", corpus.name);
            assert!(read.text() == text, "{} is not as --bless writes it", path.display());
        }
    }
}
