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

use super::kernel::Job;
use super::{Options, endless};
use crate::child;
use crate::outcome::{Answer, Failure};
use crate::progress::Progress;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::Duration;

/// Runs this command line in a child process and reports how it ended. The child writes the output.
pub fn run(options: &Options) -> Result<Answer, Failure> {
    let wrong = |e: std::io::Error| Failure::wrong(format!("cannot start the process that runs the kernel: {e}"));
    let (mut command, note) = child::same_again("run", "--supervised")?;
    let mut running = command.spawn().map_err(wrong)?;
    let (status, timed_out) = wait(&mut running, options, note.path()).map_err(wrong)?;
    let noted = Noted::read(note.path());
    if timed_out {
        let limit = options.timeout.unwrap_or_default();
        return Err(Failure::finding(format!("ended after {limit} s (--timeout) in {}", noted.endless(options))));
    }
    // A child with one of this program's own statuses has written answer and messages itself, on the same streams.
    if let Some(answer) = child::answered(status) {
        return Ok(answer);
    }
    match (status.code(), status.signal()) {
        // 128 and the number of SIGINT: the handlers for Ctrl-C end the process with it at the second time.
        (Some(130), _) => Err(Failure::finding("interrupted")),
        (Some(code), _) => Err(Failure::finding(format!(
            "{}: a driver ended the process with status {code}",
            noted.doing.as_deref().unwrap_or("at the start")
        ))),
        (None, Some(2)) => {
            let seconds = noted.since.map_or(0.0, |t| t.as_secs_f64());
            Err(Failure::finding(format!("interrupted after {seconds:.0} s in {}", noted.endless(options))))
        }
        (None, signal) => {
            let signal = signal.unwrap_or_default();
            let what = named(noted.doing.unwrap_or_else(|| "outside of any kernel".into()));
            Err(Failure::finding(format!("{what}: {}; {}", child::signal(signal), advice(options, signal))))
        }
    }
}

/// Waits for the child, shows what it does, and ends it at the limit. Whether that was so.
fn wait(running: &mut Child, options: &Options, note: &Path) -> std::io::Result<(ExitStatus, bool)> {
    let mut progress = Progress::new();
    let limit = options.timeout.map(Duration::from_secs);
    let status = loop {
        if let Some(status) = running.try_wait()? {
            break (status, false);
        }
        if limit.is_some_and(|limit| progress.elapsed() > limit) {
            running.kill()?;
            break (running.wait()?, true);
        }
        // A program of the gallery says itself how far it has come.
        if options.file.is_some() {
            let seconds = progress.elapsed().as_secs();
            progress.show(|| format!("{}, {seconds} s", Noted::read(note).doing.unwrap_or_else(|| "starting".into())));
        }
        // The pause grows with the run: so the last one adds about 2 % to a short run, and a long one is seldom
        // disturbed.
        std::thread::sleep((progress.elapsed() / 50).clamp(Duration::from_millis(1), Duration::from_millis(20)));
    };
    progress.clear();
    Ok(status)
}

/// What the child noted last.
#[derive(Default)]
struct Noted {
    doing: Option<String>,
    /// What to say if that does not end.
    why: Option<String>,
    /// How long ago it was noted.
    since: Option<Duration>,
}

impl Noted {
    fn read(note: &Path) -> Noted {
        let Ok(text) = std::fs::read_to_string(note) else { return Noted::default() };
        let mut lines = text.lines().map(str::to_owned).filter(|l| !l.is_empty());
        let since = std::fs::metadata(note).and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
        Noted { doing: lines.next(), why: lines.next(), since }
    }

    /// What does not end, and why that may be.
    fn endless(&self, options: &Options) -> String {
        let what = named(self.doing.clone().unwrap_or_else(|| "the start".into()));
        let is_kernel = self.doing.as_ref().is_some_and(|doing| doing.starts_with("kernel `"));
        // The source is compiled once more, as the child and its memory are gone. The standard input is, too, and
        // cannot be read again.
        let running = options.file.as_deref().filter(|path| is_kernel && path.as_os_str() != "-").and_then(|path| {
            let job = Job::read(path, options.kernel.as_deref(), &options.file_kernel, options.tiles()).ok()?;
            endless::line(&job)
        });
        if let Some(line) = running {
            return format!("{what}; the loop of line {line} runs");
        }
        match &self.why {
            Some(why) => format!("{what}; {why}"),
            None => what,
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
        (.., 9) => "another process ended it, or the machine has no memory left: choose smaller sizes",
        (.., 15) => "another process ended it",
        (true, false, _) => {
            "`cloom check` with the same file, arguments and sizes names the line and the work-item of an access out of bounds"
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

/// Notes what the child does next, for the parent to report if it is the last thing, and what to say if it does not
/// end.
pub fn note(options: &Options, doing: &str, why_endless: &str) {
    if let Some(path) = &options.supervised {
        // A lost note makes the report of a crash less precise and nothing else.
        let _ = std::fs::write(path, format!("{doing}\n{why_endless}\n"));
    }
}
