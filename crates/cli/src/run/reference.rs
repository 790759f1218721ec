//! The result of a kernel of a file by the reference interpreter, for `--verify`.
//!
//! In come the compiled program and the arguments; out come the bytes of each buffer and image after one launch, or a
//! failure with all that `cloom check` finds: such a kernel has no result that a device could be compared with. This
//! happens before the kernel runs on the device, so a kernel that would corrupt the process is not run.

use super::checked;
use super::kernel::{Compiled, Job};
use crate::outcome::Failure;
use cloom_check::{Kinds, Report, Severity, report};

/// Seconds that the interpreter may take, about.
const TIME_LIMIT: u64 = 100;

/// Runs the kernel.
pub fn run(compiled: &Compiled, job: &Job) -> Result<Vec<Vec<u8>>, Failure> {
    let sources = checked::sources(compiled);
    let outcome = checked::check(job, &sources, &Kinds::default(), TIME_LIMIT, |_, _| {})?;
    let mut found = Report::new(env!("CARGO_PKG_VERSION"), "reference interpreter");
    found.findings = outcome.findings;
    if found.count(Severity::Error) > 0 {
        let texts: Vec<String> =
            found.findings.iter().map(|f| report::text::finding(f, &found, &sources, false)).collect();
        return Err(Failure::finding(format!(
            "kernel `{}` has no defined result, and was not run on the device:\n{}",
            job.kernel,
            texts.join("\n")
        )));
    }
    match outcome.unfinished {
        None => Ok(outcome.memory),
        Some(why) => {
            Err(Failure::wrong(format!("too much for the reference interpreter: {why}; or leave --verify out")))
        }
    }
}
