//! How far a long launch has come, for a person who waits: a line now and then, on a terminal.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Seconds between two lines, and before the first one.
const EVERY: Duration = Duration::from_secs(5);

/// The progress of a launch.
pub struct Progress<'a> {
    kernel: &'a str,
    groups: u64,
    begin: Instant,
    last: Instant,
    is_shown: bool,
}

impl Progress<'_> {
    /// A launch of so many groups begins.
    pub fn new(kernel: &str, groups: u64) -> Progress<'_> {
        let begin = Instant::now();
        Progress { kernel, groups, begin, last: begin, is_shown: std::io::stderr().is_terminal() }
    }

    /// Another group begins.
    pub fn group(&mut self, before: u64) {
        if self.is_shown
            && let Some(line) = self.line(before, Instant::now())
        {
            eprintln!("{line}");
        }
    }

    /// The line that is due now, if one is.
    fn line(&mut self, before: u64, now: Instant) -> Option<String> {
        if now.duration_since(self.last) < EVERY {
            return None;
        }
        self.last = now;
        let seconds = now.duration_since(self.begin).as_secs();
        Some(format!("cloom: kernel {}: {before} of {} groups are checked, {seconds} s", self.kernel, self.groups))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_due_every_few_seconds() {
        let mut progress = Progress::new("blur", 64);
        let at = |seconds| progress.begin + Duration::from_secs(seconds);
        let [four, five, nine, twelve] = [4, 5, 9, 12].map(at);
        assert_eq!(progress.line(3, four), None);
        assert_eq!(progress.line(4, five).unwrap(), "cloom: kernel blur: 4 of 64 groups are checked, 5 s");
        assert_eq!(progress.line(9, nine), None);
        assert_eq!(progress.line(12, twelve).unwrap(), "cloom: kernel blur: 12 of 64 groups are checked, 12 s");
    }
}
