//! The file of counts: a line of JSON for each launch of code that counts its operations.
//!
//! ```text
//! {"kernel": "saxpy", "groups": 64, "ops": {"load32": 2048, "store32": 1024, …}}
//! ```
//!
//! `groups` is how many groups the launch ran after it was regrouped: no more threads than that can share it. The line
//! is written before the launch ends, so that who waits for a launch finds its line.

use cloom_target::ops::Counts;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The file.
#[derive(Debug)]
pub struct CountsFile(Mutex<File>);

impl CountsFile {
    /// Opens it for appending.
    pub fn open(path: impl AsRef<Path>) -> io::Result<CountsFile> {
        OpenOptions::new().create(true).append(true).open(path).map(|file| CountsFile(Mutex::new(file)))
    }

    /// Appends a line. A kernel's name is an identifier, which needs no escapes. If the disk is full, the line is lost.
    pub(crate) fn note(&self, kernel: &str, groups: u64, counts: &Counts) {
        let mut line = format!("{{\"kernel\": \"{kernel}\", \"groups\": {groups}, \"ops\": {{");
        let mut separator = "";
        for (op, n) in counts.0.iter().filter(|(_, n)| **n > 0) {
            let _ = write!(line, "{separator}\"{op}\": {n}");
            separator = ", ";
        }
        line.push_str("}}\n");
        // One write for the whole line: other processes may append to the file, too.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
}
