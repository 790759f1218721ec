//! `cargo xtask soak`: what a driver must endure for long, each case in a process of its own, so that a crash or a hang
//! is a finding and not the end.
//!
//! Exit codes: 0 everything is endured, 1 findings, 2 wrong use.

#![allow(clippy::print_stdout, reason = "it prints its findings")]
#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../tests/soak/cases/mod.rs"]
mod cases;
#[path = "../tests/common/mod.rs"]
mod common;

use cases::{ALL, Case, Size};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const USAGE: &str = "usage: soak [--minutes N] [--case NAME]... [--json] [--list]

  --minutes N   how long the cases without an end of their own run (10)
  --case NAME   only this one
  --json        a line of JSON for each case
  --list        the names of the cases";

/// What the command line asks for.
struct Options {
    minutes: f64,
    names: Vec<String>,
    json: bool,
    list: bool,
    /// This process is the one that runs the case.
    inside: bool,
}

fn options() -> Option<Options> {
    let mut options = Options { minutes: 10.0, names: Vec::new(), json: false, list: false, inside: false };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--minutes" => options.minutes = args.next()?.parse().ok().filter(|m: &f64| (0.0..1e6).contains(m))?,
            "--case" => options.names.push(args.next()?),
            "--json" => options.json = true,
            "--list" => options.list = true,
            "--inside" => options.inside = true,
            _ => return None,
        }
    }
    let known = |name: &String| ALL.iter().any(|case| case.name == name);
    options.names.iter().all(known).then_some(options)
}

/// A text as JSON has it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c < ' ' => quoted += &format!("\\u{:04x}", c as u32),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// Runs a case in a process of its own. Returns its figures, or how it ended.
fn run(case: &Case, minutes: f64) -> Result<String, String> {
    let mut command = Command::new(std::env::current_exe().map_err(|e| e.to_string())?);
    command.args(["--inside", "--case", case.name, "--minutes", &minutes.to_string()]).stdout(Stdio::piped());
    let output = command.spawn().and_then(std::process::Child::wait_with_output).map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() { Ok(text) } else { Err(format!("{} {text}", output.status)) }
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let wanted: Vec<&Case> =
        ALL.iter().filter(|c| options.names.is_empty() || options.names.iter().any(|n| n == c.name)).collect();
    if options.list {
        wanted.iter().for_each(|case| println!("{:<16} {}", case.name, case.about));
        return ExitCode::SUCCESS;
    }
    if options.inside {
        let size = Size { long: true, time: Duration::from_secs_f64(options.minutes * 60.0) };
        wanted.iter().for_each(|case| println!("{}", (case.run)(size)));
        return ExitCode::SUCCESS;
    }
    let mut good = true;
    for case in wanted {
        eprintln!("{}: {}", case.name, case.about);
        let begin = Instant::now();
        let result = run(case, options.minutes);
        let seconds = begin.elapsed().as_secs_f64();
        good &= result.is_ok();
        let (word, told) = match &result {
            Ok(told) => ("endured", told),
            Err(told) => ("FAILED", told),
        };
        if options.json {
            let (name, told) = (quoted(case.name), quoted(told));
            println!("{{\"case\":{name},\"endured\":{},\"seconds\":{seconds:.1},\"told\":{told}}}", result.is_ok());
        } else {
            println!("{word:<8} {:<16} {seconds:>7.1} s  {told}", case.name);
        }
    }
    if good { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
