//! Runs `cargo test` and keeps what the programs that failed said, to say it again at the end.

use anyhow::{Context, Result};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::process::Command;

/// The lines of one test program that are repeated if it fails.
const REPEATED: usize = 60;

/// What the test programs that failed said last, gathered from the lines of `cargo test`.
#[derive(Default)]
struct Failures {
    /// The line that names the program under test.
    program: String,
    /// Its last lines.
    recent: VecDeque<String>,
    failed: Vec<String>,
}

impl Failures {
    fn line(&mut self, line: &str) {
        if line.starts_with("     Running ") || line.starts_with("   Doc-tests ") {
            self.program = line.to_owned();
            self.recent.clear();
            return;
        }
        // Tests that pass would fill the few lines that are kept of a program.
        if !line.ends_with(" ... ok") && !line.is_empty() {
            self.recent.push_back(line.to_owned());
            if self.recent.len() > REPEATED {
                self.recent.pop_front();
            }
        }
        let died = line.starts_with("  process didn't exit successfully") && line.contains("(signal");
        if died || line.starts_with("test result: FAILED") || line.starts_with("error: could not compile") {
            self.failed.push(self.program.clone());
            self.failed.extend(self.recent.drain(..));
        }
    }
}

/// Runs `cargo test` and passes on what it says. Returns whether it succeeded, and the lines of what failed.
pub fn run(mut command: Command) -> Result<(bool, Vec<String>)> {
    let (output, input) = std::io::pipe()?;
    command.stdout(input.try_clone()?).stderr(input);
    let mut child = command.spawn().context("cannot run cargo")?;
    // Ends are seen only once nobody holds the pipe.
    drop(command);
    let mut failures = Failures::default();
    for line in BufReader::new(output).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        println!("{line}");
        failures.line(&line);
    }
    Ok((child.wait()?.success(), failures.failed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_kept() {
        let mut failures = Failures::default();
        let lines = "     Running tests/a.rs (x)\ntest good ... ok\n\ntest result: ok. 1 passed\n     \
            Running tests/b.rs (y)\ntest fine ... ok\ntest bad ... FAILED\n\nfailures:\n\n---- bad stdout ----\n\
            left: 1\n\ntest result: FAILED. 1 passed; 1 failed\n     Running tests/c.rs (z)\ntest slow ... ok\n\
            error: test failed, to rerun pass `--test c`\n\nCaused by:\n  \
            process didn't exit successfully: `z` (signal: 11, SIGSEGV: invalid memory reference)\n   Doc-tests d";
        lines.lines().for_each(|line| failures.line(line));
        let expected = "     Running tests/b.rs (y)\ntest bad ... FAILED\nfailures:\n---- bad stdout ----\nleft: 1\n\
            test result: FAILED. 1 passed; 1 failed\n     Running tests/c.rs (z)\n\
            error: test failed, to rerun pass `--test c`\nCaused by:\n  \
            process didn't exit successfully: `z` (signal: 11, SIGSEGV: invalid memory reference)";
        assert_eq!(failures.failed.join("\n"), expected);
    }

    #[test]
    fn long_failures_are_cut_at_their_start() {
        let mut failures = Failures::default();
        failures.line("     Running tests/a.rs (x)");
        (0..500).for_each(|i| failures.line(&i.to_string()));
        failures.line("test result: FAILED. 0 passed");
        assert_eq!(failures.failed.len(), REPEATED + 1);
        assert_eq!(failures.failed[0], "     Running tests/a.rs (x)");
        assert_eq!(failures.failed[1], (500 - REPEATED + 1).to_string());
    }
}
