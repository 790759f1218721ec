//! Compiles one file in a child process, with limits, and says how it went.

use super::cases::{Case, Verdict};
use anyhow::{Context, Result};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The longest that a file may take.
const LIMIT: Duration = Duration::from_secs(60);

/// The most address space that it may take.
const MEMORY: u64 = 8 << 30;

/// How a compilation ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// As one ends, with the first error if it was refused.
    Done(Verdict, String),
    /// It crashed, hung, or did not understand its options: never right.
    Broken(String),
}

/// Compiles a file with a program `cloom`. The log is overwritten.
pub fn compile(cloom: &Path, case: &Case, linked: bool, log: &Path) -> Result<Ending> {
    let output = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut command = Command::new(cloom);
    command.args(["compile", "--emit", "none"]);
    if !linked {
        command.arg("--no-link");
    }
    command.arg(&case.path).arg("--").args(&case.options);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
    let mut child = command.spawn().with_context(|| format!("cannot run {}", cloom.display()))?;
    // Set from here and not by the child before it runs `cloom`: such a hook would be unsafe code, which this crate
    // forbids.
    let limit = Rlimit { current: Some(MEMORY), maximum: Some(MEMORY) };
    // A child that has already ended needs none.
    let _ = prlimit(Some(Pid::from_child(&child)), Resource::As, limit);
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            let text = fs::read(log).with_context(|| format!("cannot read {}", log.display()))?;
            return Ok(ending(status, &String::from_utf8_lossy(&text)));
        }
        if start.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            return Ok(Ending::Broken(format!("not done after {} s", LIMIT.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What an exit status and the messages mean.
fn ending(status: ExitStatus, text: &str) -> Ending {
    // The first line with an error, from that word on: before it stands the place, which is different on every machine.
    let error =
        text.lines().find_map(|l| l.find("error").filter(|&at| at == 0 || l[..at].ends_with(": ")).map(|at| &l[at..]));
    let last = || error.or_else(|| text.lines().last()).unwrap_or("no message").to_owned();
    match (status.code(), status.signal()) {
        (Some(0), _) => Ending::Done(Verdict::Accepted, String::new()),
        (Some(1), _) => Ending::Done(Verdict::Refused, last()),
        (Some(code), _) => Ending::Broken(format!("exit status {code}: {}", last())),
        (None, signal) => Ending::Broken(format!("signal {}: {}", signal.unwrap_or_default(), last())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_verdicts_and_crashes_are_not() {
        let ended = |raw, text| ending(ExitStatus::from_raw(raw), text);
        assert_eq!(ended(0, "a.cl:1:1: warning: x"), Ending::Done(Verdict::Accepted, String::new()));
        let text = "a.cl:1:2: warning[W0101]: an error is near\na.cl:3:4: error[E0203]: expected a type\n  |\n";
        assert_eq!(ended(0x100, text), Ending::Done(Verdict::Refused, "error[E0203]: expected a type".to_owned()));
        assert_eq!(ended(0x200, "cloom: no\n"), Ending::Broken("exit status 2: cloom: no".to_owned()));
        assert_eq!(ended(0x6500, ""), Ending::Broken("exit status 101: no message".to_owned()));
        assert_eq!(ended(11, ""), Ending::Broken("signal 11: no message".to_owned()));
    }
}
