//! `cloom run` in two processes, so that a kernel that faults is reported.
//!
//! Machine code of a kernel runs in the process that launches it. An access to memory that is not mapped, or a stack
//! overflow, ends that process by a signal, with no chance to print anything. So `run` starts itself again:
//!
//! ```text
//! cloom run k.cl …  ── waits ──▶  passes the status on, or: "kernel `k` of k.cl: segmentation fault …", status 1
//!        └─▶ cloom run --supervised=NOTE k.cl …      does the work, on the same standard streams
//! ```
//!
//! The child writes into the file NOTE what it is about to do; the parent reads it if the child was ended by a signal.

use super::Options;
use crate::child;
use crate::outcome::{Answer, Exit, Failure};
use std::os::unix::process::ExitStatusExt;

/// Runs this command line in a child process and reports how it ended. The child writes the output.
pub fn run(options: &Options) -> Result<Answer, Failure> {
    let wrong = |e: std::io::Error| Failure::wrong(format!("cannot start the process that runs the kernel: {e}"));
    let note =
        tempfile::NamedTempFile::new().map_err(|e| Failure::wrong(format!("no temporary file: {e}; set TMPDIR")))?;
    let mut command = child::myself("run")?;
    let mut flag = std::ffi::OsString::from("--supervised=");
    flag.push(note.path());
    command.arg(flag).args(std::env::args_os().skip(2));
    // Ctrl-C is for the child, which completes what it writes; without a handler both end at once.
    let _ = ctrlc::set_handler(|| {});
    let status = command.status().map_err(wrong)?;
    let doing = || std::fs::read_to_string(note.path()).ok().filter(|t| !t.is_empty());
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(Answer::text("", Exit::Fine)),
        (Some(1), _) => Ok(Answer::text("", Exit::Findings)),
        (Some(2), _) => Ok(Answer::text("", Exit::Wrong)),
        (Some(130), _) => Err(Failure::finding("interrupted")),
        (Some(code), _) => Err(Failure::finding(format!(
            "{}: a driver ended the process with status {code}",
            doing().unwrap_or_else(|| "at the start".into())
        ))),
        (None, signal) => {
            let signal = signal.unwrap_or_default();
            let what = named(doing().unwrap_or_else(|| "outside of any kernel".into()));
            Err(Failure::finding(format!("{what}: {}; {}", child::signal(signal), advice(options, signal))))
        }
    }
}

/// With the name of this process, if it is one of several.
fn named(what: String) -> String {
    match cloom_gallery::ranks::of_environment() {
        Some((rank, size)) => format!("rank {rank} of {size}: {what}"),
        None => what,
    }
}

/// Advice for a process that a signal ended.
fn advice(options: &Options, signal: i32) -> &'static str {
    match (options.file.is_some(), options.verify, signal) {
        (.., 2 | 9 | 15) => "it was stopped from outside, or the machine has no memory left: choose smaller sizes",
        (true, false, _) => {
            "run it again with --verify, which names the line and the work-item of an access out of bounds"
        }
        (true, true, _) => {
            "the reference interpreter found no fault in the kernel, so this is a bug of the platform; if the platform \
             is Cloom, please report it with the source"
        }
        (false, ..) => "this is a bug of the platform; `cloom doctor` tests each driver with a small kernel",
    }
}

/// Begins the work of the child: it ends when its parent does.
pub fn begin() {
    // Without it, killing the parent would leave the kernel running; that is the only loss if the system refuses.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
}

/// Notes what the child does next, for the parent to report if it is the last thing.
pub fn note(options: &Options, doing: &str) {
    if let Some(path) = &options.supervised {
        // A lost note makes the report of a crash less precise and nothing else.
        let _ = std::fs::write(path, doing);
    }
}
