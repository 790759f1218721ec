//! The `cloom` program: run, show and compile kernels, list devices, find out why a platform is not listed.
//!
//! One file for each subcommand. Each takes its parsed options and returns an [`Answer`] (the whole text for the
//! standard output and an exit status) or a [`Failure`] (a message that says what to do next). Only this file writes
//! and exits, but for `agree`, whose lines come as they are known, and children that answer as they go; so every
//! command can be tested as a function, and `cloom show … | head` ends without an error.

mod agree;
mod args;
mod bench;
mod built;
mod check;
mod child;
mod compile;
mod completions;
mod cpu;
mod depend;
mod doctor;
mod driver;
mod gpu_helper;
mod info;
mod link;
mod man;
mod offline_compile;
mod options;
mod outcome;
mod probe;
mod progress;
mod run;
mod show;
mod source;
mod stats;

use clap::{CommandFactory, Parser};
use outcome::{Answer, Exit, Failure};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// Runs, shows and compiles OpenCL kernels.
///
/// Exit status: 0 all is well, 1 something was found (a wrong result, an error in a source, a problem of this machine),
/// 2 wrong use, or the environment lacks what is needed.
#[derive(Parser)]
#[command(name = "cloom", version, max_term_width = 110)]
enum Cli {
    /// Run a program of the gallery or a kernel of a .cl file, check the result, and time it
    Run(Box<run::Options>),
    /// Find out why a kernel is wrong: accesses out of bounds, races, unwritten memory, diverging barriers
    Check(Box<check::Options>),
    /// Run the gallery on every installed platform and compare the results with each other
    Agree(agree::Options),
    /// Time the gallery on every installed platform in one run, in turns, and compare
    Bench(Box<bench::Options>),
    /// Show every stage of a kernel, from source to machine code
    Show(show::Options),
    /// Compile .cl files: diagnostics, and a program binary or another form
    Compile(compile::Options),
    /// Link compiled programs and libraries to a program that can run
    Link(link::Options),
    /// Link compiled programs to a library
    Library(link::Options),
    /// The offline compiler of Khronos' conformance tests
    #[command(hide = true)]
    OfflineCompile(offline_compile::Options),
    /// List the platforms and devices that programs see
    Info(info::Options),
    /// Find out why a platform does not appear: loader, drivers, CPU, cache, environment
    Doctor(doctor::Options),
    /// Write a script that completes commands and options, for a shell
    Completions(completions::Options),
    /// Write the manual pages to a folder
    #[command(hide = true)]
    Man(man::Options),
    /// Started by `bench`: builds a program in a process of its own
    #[command(hide = true)]
    FirstLaunch(bench::first::Options),
    /// Started by `bench --self-check`: measures with other switches of the driver
    #[command(hide = true)]
    BenchWorker,
    /// Started by `doctor`: tests drivers in a process of its own
    #[command(hide = true)]
    Probe,
    /// Started by `doctor`: compiles and runs a kernel in a process of its own
    #[command(hide = true)]
    OwnProbe,
    /// Started by the driver: owns the GPUs for a program, see CLOOM_GPU_HELPER
    #[command(hide = true)]
    GpuHelper(gpu_helper::Options),
}

impl Cli {
    /// Whether the answer is JSON; then an error is, too.
    fn json(&self) -> bool {
        match self {
            Cli::Run(o) => o.json,
            Cli::Check(o) => o.json(),
            Cli::Agree(o) => o.json,
            Cli::Bench(o) => o.json,
            Cli::Show(o) => o.json,
            Cli::Compile(o) => o.json,
            Cli::Link(o) | Cli::Library(o) => o.json,
            Cli::Info(o) => o.json,
            Cli::Doctor(o) => o.json,
            Cli::OfflineCompile(_)
            | Cli::Completions(_)
            | Cli::Man(_)
            | Cli::FirstLaunch(_)
            | Cli::BenchWorker
            | Cli::Probe
            | Cli::OwnProbe
            | Cli::GpuHelper(_) => false,
        }
    }

    fn answer(&self) -> Result<Answer, Failure> {
        match self {
            Cli::Run(o) => run::run(o),
            Cli::Check(o) => check::run(o),
            Cli::Agree(o) => agree::run(o),
            Cli::Bench(o) => bench::run(o),
            Cli::Show(o) => show::run(o),
            Cli::Compile(o) => compile::run(o),
            Cli::Link(o) => link::run(o, false),
            Cli::Library(o) => link::run(o, true),
            Cli::OfflineCompile(o) => offline_compile::run(o),
            Cli::Info(o) => info::run(o),
            Cli::Doctor(o) => doctor::run(o),
            Cli::Completions(o) => completions::run(o, Cli::command()),
            Cli::Man(o) => man::run(o, Cli::command()),
            Cli::FirstLaunch(o) => bench::first::child(o),
            Cli::BenchWorker => bench::worker::work(),
            Cli::Probe => Ok(probe::run()),
            Cli::OwnProbe => Ok(doctor::own_probe()),
            Cli::GpuHelper(o) => gpu_helper::run(o),
        }
    }
}

/// An error as a JSON document.
fn document(message: &str) -> Vec<u8> {
    let json = serde_json::json!({ "schema": "cloom-error/1", "error": message });
    format!("{json}\n").into_bytes()
}

/// The output and the status of a command line.
fn outcome(words: Vec<OsString>) -> (Vec<u8>, Exit) {
    // Errors of the command line come before there are parsed options, so the word itself decides about their form.
    let wants_json = words.iter().any(|w| w == "--json");
    // Ahead of clap, which would only say that it does not know such an option, and not what there is instead.
    if let Some(message) = args::not_there_yet(&words) {
        outcome::tell(format_args!("cloom: {message}"));
        return (if wants_json { document(&message) } else { Vec::new() }, Exit::Wrong);
    }
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        // Help and version are no errors.
        Err(e) if !e.use_stderr() => return (e.to_string().into_bytes(), Exit::Fine),
        Err(e) => {
            outcome::tell(e.to_string().trim_end());
            return (if wants_json { document(&e.to_string()) } else { Vec::new() }, Exit::Wrong);
        }
    };
    match cli.answer() {
        Ok(answer) => {
            if !answer.notes.is_empty() {
                outcome::tell(answer.notes.trim_end_matches('\n'));
            }
            (answer.out, answer.exit)
        }
        Err(failure) => {
            outcome::tell(format_args!("cloom: {}", failure.message.trim_end()));
            (if cli.json() { document(&failure.message) } else { Vec::new() }, failure.exit)
        }
    }
}

fn main() -> ExitCode {
    let (out, exit) = outcome(args::normalise(std::env::args_os()));
    match std::io::stdout().write_all(&out).and_then(|()| std::io::stdout().flush()) {
        Ok(()) => exit.into(),
        // The reader closed the pipe, as `head` does.
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => exit.into(),
        Err(e) => {
            outcome::tell(format_args!("cloom: cannot write: {e}"));
            Exit::Wrong.into()
        }
    }
}
