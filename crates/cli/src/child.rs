//! Child processes that run this program again: with another environment, a time limit and captured output for
//! `doctor`, and the names of the signals that end a process.

use crate::outcome::{Answer, Exit, Failure};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// A driver that takes longer than this to be loaded and to run a kernel of three lines counts as hanging, even if it
/// computes all the time.
pub const LIMIT: Duration = Duration::from_secs(20);
/// A process that sleeps for so long, and uses no processor time meanwhile, hangs.
const IDLE: Duration = Duration::from_secs(2);

/// How a child process ended, and what it printed.
#[derive(Debug)]
pub struct Ended {
    /// How it ended; `None`: it was stopped.
    pub status: Option<ExitStatus>,
    /// Why it was stopped.
    stopped: String,
    /// Its standard output.
    pub out: String,
    /// Its standard error stream.
    pub err: String,
}

impl Ended {
    /// How it ended, if not well.
    pub fn trouble(&self) -> Option<String> {
        match self.status {
            None => Some(format!("hangs: {}", self.stopped)),
            Some(s) if s.success() => None,
            Some(s) => Some(how_ended(s)),
        }
    }
}

/// How a process ended that did not end well.
pub fn how_ended(status: ExitStatus) -> String {
    match status.signal() {
        Some(n) => format!("crashes ({})", signal(n)),
        None => format!("ends the process with status {}", status.code().unwrap_or(-1)),
    }
}

/// What a signal that ends a process means.
pub fn signal(number: i32) -> String {
    let name = match number {
        4 => "illegal instruction",
        6 => "abort",
        7 => "bus error: access beyond the end of a mapped file, or misaligned",
        8 => "arithmetic exception: division by zero, or a quotient that does not fit",
        9 => "killed",
        11 => "segmentation fault: access to memory that is not mapped",
        n => return format!("signal {n}"),
    };
    name.to_owned()
}

/// This program with another first argument.
pub fn myself(argument: &str) -> Result<Command, Failure> {
    let exe = std::env::current_exe().map_err(|e| Failure::wrong(format!("cannot find this program: {e}")))?;
    let mut command = Command::new(exe);
    command.arg(argument);
    Ok(command)
}

/// This command line once more, for a child that does the work and writes the answer: with `flag` and the path of a
/// file, in which the child tells how far it has come.
pub fn same_again(subcommand: &str, flag: &str) -> Result<(Command, NamedTempFile), Failure> {
    let file = NamedTempFile::new().map_err(|e| Failure::wrong(format!("no temporary file: {e}; set TMPDIR")))?;
    let mut command = myself(subcommand)?;
    let mut argument = OsString::from(format!("{flag}="));
    argument.push(file.path());
    command.arg(argument).args(std::env::args_os().skip(2));
    // Ctrl-C is for the child, which completes what it writes; without a handler both end at once.
    let _ = ctrlc::set_handler(|| {});
    Ok((command, file))
}

/// The exit status of a child that has written its answer, if it ended with one of this program's.
pub fn answered(status: ExitStatus) -> Option<Answer> {
    let exit = match status.code()? {
        0 => Exit::Fine,
        1 => Exit::Findings,
        2 => Exit::Wrong,
        _ => return None,
    };
    Some(Answer::text("", exit))
}

/// Runs it for at most `limit`. Output goes to files, so that no full pipe can block it.
pub fn run(command: &mut Command, limit: Duration) -> std::io::Result<Ended> {
    run_watched(command, limit, |_| None)
}

/// Runs it for at most [`LIMIT`], and ends it sooner if it sleeps and does nothing.
pub fn run_unless_it_hangs(command: &mut Command) -> std::io::Result<Ended> {
    let (mut used, mut since) = (None, Instant::now());
    run_watched(command, LIMIT, |pid| {
        let (state, ticks) = state_and_ticks(pid)?;
        // A process that runs (R) or waits for a disk (D) works, and so does one whose processor time grows between two
        // looks.
        if state != 'S' || used != Some(ticks) {
            (used, since) = (Some(ticks), Instant::now());
        }
        (since.elapsed() > IDLE).then(|| format!("it has slept for {} s and done nothing", IDLE.as_secs()))
    })
}

/// Whether a process sleeps, and the processor time that it has used.
fn state_and_ticks(pid: u32) -> Option<(char, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in brackets, may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<u64>().ok());
    // User and system time, of its own and of children that have ended.
    Some((fields.first()?.chars().next()?, (11..15).filter_map(ticks).sum()))
}

fn run_watched(
    command: &mut Command,
    limit: Duration,
    mut hangs: impl FnMut(u32) -> Option<String>,
) -> std::io::Result<Ended> {
    // Files, not pipes: nobody reads while the child runs, and a full pipe would stop it.
    let (mut out, mut err) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let mut child = command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(err.try_clone()?).spawn()?;
    let start = Instant::now();
    let mut stopped = String::new();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        let too_long = || (start.elapsed() > limit).then(|| format!("no answer after {} s", limit.as_secs()));
        if let Some(why) = too_long().or_else(|| hangs(child.id())) {
            child.kill()?;
            child.wait()?;
            stopped = why;
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Ok(Ended { status, stopped, out: text(&mut out)?, err: text(&mut err)? })
}

fn text(file: &mut File) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    // A driver that fills the disk with messages must not fill the memory too.
    file.take(4 << 20).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration) -> Ended {
        run(Command::new("sh").args(["-c", script]), limit).unwrap()
    }

    #[test]
    fn crashes_and_hangs_are_told_apart() {
        let limit = Duration::from_secs(20);
        let fine = sh("echo a; echo b >&2", limit);
        assert_eq!((fine.trouble(), fine.out.as_str(), fine.err.as_str()), (None, "a\n", "b\n"));
        assert_eq!(
            sh("kill -SEGV $$", limit).trouble().unwrap(),
            "crashes (segmentation fault: access to memory that is not mapped)"
        );
        assert_eq!(sh("exit 3", limit).trouble().unwrap(), "ends the process with status 3");
        let hangs = sh("exec sleep 1000", Duration::from_millis(100));
        assert!(hangs.trouble().unwrap().starts_with("hangs"));
        let start = Instant::now();
        let sleeps = run_unless_it_hangs(Command::new("sleep").arg("1000")).unwrap();
        assert!(sleeps.trouble().unwrap().contains("slept for 2 s"), "{sleeps:?}");
        assert!(start.elapsed() < LIMIT);
        assert_eq!(run_unless_it_hangs(&mut Command::new("true")).unwrap().trouble(), None);
    }
}
