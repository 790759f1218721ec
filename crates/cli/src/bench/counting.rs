//! Counts the machine operations of a measurement: a worker process runs it once with a driver that counts.
//!
//! In comes a request, out go the launches of one iteration with the operations of each. The driver reads
//! `CLOOM_COUNTS` when it is loaded, and code that counts is slow, so that it has a process of its own
//! ([`super::worker`]); the process that measures times is not touched. The worker tells when an iteration has ended:
//! the lines that the file got meanwhile are that iteration's.

use super::worker::{Ended, Request, Worker};
use crate::outcome::Failure;
use cloom_caps::env;
use cloom_target::ops::Counts;
use serde::Deserialize;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A launch.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Launched {
    /// The kernel.
    pub kernel: String,
    /// Its groups; no more threads share it.
    pub groups: u64,
    /// What it executed.
    pub ops: Counts,
}

/// Who counts.
pub struct Counter {
    library: PathBuf,
    file: NamedTempFile,
    worker: Option<Worker>,
}

/// The launches of lines of the file.
pub fn launches(text: &str) -> Result<Vec<Launched>, String> {
    text.lines().map(|line| serde_json::from_str(line).map_err(|e| format!("{e} in `{line}`"))).collect()
}

impl Counter {
    /// For a driver.
    pub fn new(library: &Path) -> Result<Counter, Failure> {
        let failed = |e| Failure::wrong(format!("cannot make a temporary file for counts: {e}"));
        Ok(Counter { library: library.to_owned(), file: NamedTempFile::new().map_err(failed)?, worker: None })
    }

    /// The launches of an iteration.
    pub fn count(&mut self, request: &Request) -> Result<Vec<Launched>, String> {
        // The worker is put back only at the end: one that met an error is dropped by the `?`, and the next request
        // starts another.
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => {
                let path = self.file.path().to_string_lossy();
                let variables = [(env::COUNTS.name, Some(&*path)), (env::CACHE.name, Some("0"))];
                Worker::start(&self.library, &variables).map_err(|e| e.message)?
            }
        };
        worker.ask(request)?;
        worker.go()?;
        let failed = |e: std::io::Error| format!("the counts cannot be read: {e}");
        let mut file = File::open(self.file.path()).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        // The first iteration does not count: it may run code that is compiled for it. All lines that the second one
        // appends lie behind the position that was taken just now.
        worker.go()?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        match worker.end()? {
            Ended::Verified { .. } => {}
            Ended::Wrong(why) | Ended::Missing(why) | Ended::Failed(why) => return Err(why),
        }
        self.worker = Some(worker);
        launches(&text)
    }
}
