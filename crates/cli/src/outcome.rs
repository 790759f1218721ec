//! The result of a command: an answer, or a failure whose message says what to do next; and the exit status.

use serde::Serialize;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// The exit status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// All is well.
    Fine,
    /// Something was found: a wrong result, an error in a source, a problem of this machine.
    Findings,
    /// Wrong use, or the environment lacks what is needed.
    Wrong,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        // The order of the variants is that of the numbers in the help: 0, 1 and 2.
        ExitCode::from(exit as u8)
    }
}

/// Writes a line to the standard error stream. An error there helps nobody: the stream may be closed.
pub fn tell(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Writes a line of an answer that is known before the rest, of a command that takes minutes.
pub fn live(text: &str) {
    let mut out = std::io::stdout();
    // A reader that is gone, as `head`, leaves the run as it is; the rest of the answer meets the same error.
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// Output and exit status of a command.
#[derive(Debug)]
pub struct Answer {
    /// Text, or bytes if a binary was asked for.
    pub out: Vec<u8>,
    /// The status.
    pub exit: Exit,
    /// Text for the standard error stream: diagnostics and remarks.
    pub notes: String,
}

impl Answer {
    /// A text.
    pub fn text(text: impl Into<String>, exit: Exit) -> Self {
        Self { out: text.into().into_bytes(), exit, notes: String::new() }
    }

    /// A JSON document.
    pub fn json(value: &impl Serialize, exit: Exit) -> Result<Self, Failure> {
        let mut out =
            serde_json::to_vec_pretty(value).map_err(|e| Failure::wrong(format!("cannot write JSON: {e}")))?;
        out.push(b'\n');
        Ok(Self { out, exit, notes: String::new() })
    }

    /// The same with notes.
    pub fn with_notes(self, notes: String) -> Self {
        Self { notes, ..self }
    }
}

/// An error of a command.
#[derive(Debug)]
pub struct Failure {
    /// What happened and what to do.
    pub message: String,
    /// The status.
    pub exit: Exit,
}

impl Failure {
    /// Wrong use or a wrong environment.
    pub fn wrong(message: impl Display) -> Self {
        Self { message: message.to_string(), exit: Exit::Wrong }
    }

    /// A run of the gallery that ended early, of whose film so many frames were written.
    pub fn of_run(e: cloom_gallery::Error, output: Option<&Path>, frames: Option<usize>) -> Self {
        let mut failure = Failure::from(e);
        if let Some((rank, size)) = cloom_gallery::ranks::of_environment() {
            failure.message = format!("rank {rank} of {size}: {}", failure.message);
        }
        if let (Some(path), Some(frames)) = (output, frames.filter(|&n| n > 0)) {
            failure.message += &format!("\n{} has {frames} frames", path.display());
        }
        failure
    }

    /// A finding without an answer.
    pub fn finding(message: impl Display) -> Self {
        Self { message: message.to_string(), exit: Exit::Findings }
    }
}

impl From<cloom_gallery::Error> for Failure {
    fn from(e: cloom_gallery::Error) -> Self {
        match e {
            cloom_gallery::Error::Build { .. }
            | cloom_gallery::Error::Overrun { .. }
            | cloom_gallery::Error::Cancelled { .. } => Failure::finding(e),
            _ => Failure::wrong(e),
        }
    }
}
