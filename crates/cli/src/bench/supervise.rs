//! `bench` in two processes, so that a platform that crashes costs only the row in which it does: the child measures
//! and keeps what it has so far in a file; if a signal ends it, the parent writes that.

use super::Options;
use crate::child;
use crate::outcome::{Answer, Exit, Failure};
use std::path::Path;

/// The last line of the file: what is being measured.
const NOW: &str = "\nmeasuring: ";

/// Runs this command line in a child process. The child writes the answer, if it can.
pub fn run() -> Result<Answer, Failure> {
    let wrong = |e: std::io::Error| Failure::wrong(format!("cannot start the process that measures: {e}"));
    let (mut command, file) = child::same_again("bench", "--partial")?;
    let status = command.status().map_err(wrong)?;
    if let Some(answer) = child::answered(status) {
        return Ok(answer);
    }
    let kept = std::fs::read_to_string(file.path()).unwrap_or_default();
    let (answer, now) = kept.rsplit_once(NOW).unwrap_or(("", "the start"));
    let how = child::how_ended(status);
    let said = format!("cloom: a platform {how}, measuring {}; the rows before it are kept\n", now.trim());
    Ok(Answer::text(answer, Exit::Findings).with_notes(said))
}

/// Keeps what is known before a measurement begins.
pub fn keep(options: &Options, answer: &[u8], now: &str) {
    if let Some(path) = &options.partial {
        // What is lost then is only what a crash would have left.
        let _ = write(path, answer, now);
    }
}

fn write(path: &Path, answer: &[u8], now: &str) -> std::io::Result<()> {
    let mut text = answer.to_vec();
    text.extend_from_slice(NOW.as_bytes());
    text.extend_from_slice(now.as_bytes());
    std::fs::write(path, text)
}
