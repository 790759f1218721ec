//! Compares platforms: one program on several devices in one process, each result against the reference and against
//! those of the others, bit for bit or within the program's tolerance. A program that a device cannot run is reported,
//! and never counted as agreement.

use crate::cl::Session;
use crate::error::{Error, Result};
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Verdict};

/// The outcome of the program on one device.
#[derive(Debug)]
pub struct Run {
    /// Platform and device.
    pub on: String,
    /// What was checked, or why there is no result.
    pub outcome: Result<Checked>,
}

/// A result with the verdict of the reference.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What the reference says.
    pub verdict: Verdict,
    /// The result, to compare devices by.
    pub answer: Answer,
}

impl From<Outcome> for Checked {
    fn from(outcome: Outcome) -> Checked {
        Checked { verdict: outcome.verdict, answer: outcome.answer }
    }
}

/// How two devices' results compare.
#[derive(Clone, Debug)]
pub struct Pair {
    /// One device, as in [`Run::on`].
    pub a: String,
    /// The other one.
    pub b: String,
    /// Whether they agree.
    pub verdict: Verdict,
}

/// The outcomes of one program on several devices.
#[derive(Debug)]
pub struct Agreement {
    /// The program.
    pub program: &'static str,
    /// The variant.
    pub variant: &'static str,
    /// The outcome on each device.
    pub runs: Vec<Run>,
    /// Every two devices that have a result.
    pub pairs: Vec<Pair>,
}

impl Agreement {
    /// The findings, a line each; empty if all results are right and equal.
    pub fn complaints(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for run in &self.runs {
            match &run.outcome {
                Ok(Checked { verdict: Verdict::Failed(why), .. }) => lines.push(format!("{}: {why}", run.on)),
                // A device without a feature neither agrees nor disagrees.
                Ok(_) | Err(Error::Unsupported(_)) => {}
                Err(e) => lines.push(format!("{}: {e}", run.on)),
            }
        }
        for pair in &self.pairs {
            if let Verdict::Failed(why) = &pair.verdict {
                lines.push(format!("{} and {}: {why}", pair.a, pair.b));
            }
        }
        lines.iter().map(|line| format!("{} {}: {line}", self.program, self.variant)).collect()
    }

    /// How many devices have a result.
    pub fn results(&self) -> usize {
        self.runs.iter().filter(|r| r.outcome.is_ok()).count()
    }

    /// Compares the results with each other.
    pub fn of(program: &'static str, variant: &'static str, runs: Vec<Run>) -> Agreement {
        let done: Vec<(&str, &Checked)> =
            runs.iter().filter_map(|r| r.outcome.as_ref().ok().map(|o| (r.on.as_str(), o))).collect();
        let mut pairs = Vec::new();
        for (i, (a, first)) in done.iter().enumerate() {
            for (b, second) in &done[i + 1..] {
                let verdict = first.answer.compare(&second.answer);
                pairs.push(Pair { a: (*a).to_owned(), b: (*b).to_owned(), verdict });
            }
        }
        Agreement { program, variant, runs, pairs }
    }
}

/// Runs one variant on every session and compares. An error of a device is part of the answer; an error is returned for
/// a variant or a knob that does not exist.
pub fn agree(sessions: &[Session], program: &'static dyn Program, params: &Params) -> Result<Agreement> {
    let variant = program.variant(params)?;
    // A wrong knob fails here, once, and not as the error of every device.
    program.build_options(params)?;
    let run = |s: &Session| Run {
        on: format!("{}, {}", s.found.platform, s.found.device),
        outcome: program.run(s, params).map(Checked::from),
    };
    Ok(Agreement::of(program.name(), variant, sessions.iter().map(run).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(on: &str, outcome: Result<Verdict>) -> Run {
        let outcome = outcome.map(|verdict| Checked { verdict, answer: Answer::Exact(Vec::new()) });
        Run { on: on.into(), outcome }
    }

    #[test]
    fn every_kind_of_trouble_is_a_complaint_but_a_missing_feature_is_not() {
        let fine = || Verdict::Passed(String::new());
        let mut a = Agreement {
            program: "sample",
            variant: "ocl",
            runs: vec![run("p", Ok(fine())), run("q", Err(Error::Unsupported("it".into())))],
            pairs: vec![Pair { a: "p".into(), b: "r".into(), verdict: fine() }],
        };
        assert!(a.complaints().is_empty());
        assert_eq!(a.results(), 1);
        a.runs.push(run("r", Ok(Verdict::Failed("off by one".into()))));
        a.runs.push(run("s", Err(Error::NoPlatform)));
        a.pairs.push(Pair { a: "p".into(), b: "r".into(), verdict: Verdict::Failed("word 3".into()) });
        let lines = a.complaints();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert_eq!(lines[0], "sample ocl: r: off by one");
        assert_eq!(lines[2], "sample ocl: p and r: word 3");
    }
}
