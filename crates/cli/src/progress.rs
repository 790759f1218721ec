//! The line that says how far a long run has come, on the standard error stream.
//!
//! On a terminal one line is written over again and again; elsewhere there is a line now and then. Nothing is shown of
//! a run that takes no longer than [`SHORT`].

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Nothing is shown of a run that takes no longer.
const SHORT: Duration = Duration::from_millis(700);

/// The line.
#[derive(Debug)]
pub struct Progress {
    start: Instant,
    last: Option<Instant>,
    is_terminal: bool,
}

impl Progress {
    /// Of a run that starts now.
    pub fn new() -> Progress {
        Progress { start: Instant::now(), last: None, is_terminal: std::io::stderr().is_terminal() }
    }

    /// How long the run has taken.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Shows a text if it is time for one.
    pub fn show(&mut self, text: impl FnOnce() -> String) {
        let now = Instant::now();
        let every = Duration::from_millis(if self.is_terminal { 100 } else { 10_000 });
        let is_due = self.last.map_or(now - self.start > SHORT.max(every), |last| now - last > every);
        if !is_due {
            return;
        }
        self.last = Some(now);
        let mut err = std::io::stderr();
        // Nobody is helped by an error of the stream that errors go to.
        let _ = if self.is_terminal { write!(err, "\r\x1b[K{}", text()) } else { writeln!(err, "{}", text()) };
        let _ = err.flush();
    }

    /// Removes the line, so that other output can follow.
    pub fn clear(&mut self) {
        if self.is_terminal && self.last.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
        // What follows is shown at once.
        self.last = self.last.and_then(|t| t.checked_sub(Duration::from_secs(1)));
    }
}
