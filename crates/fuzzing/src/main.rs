//! `cloom-fuzzing TARGET --seconds N`: fuzzes a target. The exit status is 1 if something was found.

#![allow(clippy::print_stdout, reason = "it prints what it finds")]

use anyhow::{Context, Result, bail};
use clap::Parser;
use cloom_fuzzing::{Reach, TARGETS, session};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Fuzzes a part of Cloom, in a child process that may crash. What kills it is written to a file, with the command that
/// repeats it.
#[derive(Parser)]
struct Args {
    /// source, compile, spirv, ir, binary, options, cache, api or kernels
    target: String,
    /// How long.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// How many inputs at most.
    #[arg(long, default_value_t = u64::MAX)]
    inputs: u64,
    /// Another seed gives other inputs.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Runs one saved input here, and nothing else.
    #[arg(long)]
    file: Option<PathBuf>,
    /// Where findings go.
    #[arg(long, default_value = "target/fuzz")]
    findings: PathBuf,
    /// The child: runs inputs from this number on.
    #[arg(long, hide = true)]
    child: Option<u64>,
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let Some(target) = TARGETS.iter().find(|t| t.name == args.target) else {
        let names: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
        bail!("no target is named `{}`; there are {}", args.target, names.join(", "));
    };
    if let Some(file) = &args.file {
        let input = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        return match (target.run)(&input) {
            Ok(reach) => {
                println!(
                    "{}: nothing wrong, {}",
                    target.name,
                    if reach == Reach::Accepted { target.gate } else { "rejected" }
                );
                Ok(ExitCode::SUCCESS)
            }
            Err(e) => bail!("{}: {e}", target.name),
        };
    }
    let limits = session::Limits { time: Duration::from_secs(args.seconds), inputs: args.inputs };
    if let Some(first) = args.child {
        session::child(target, args.seed, first, limits, &args.findings)?;
        return Ok(ExitCode::SUCCESS);
    }
    let found = session::parent(target, args.seed, limits, &args.findings)?;
    Ok(if found == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
