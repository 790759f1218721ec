//! `soak`: long runs of what a driver must endure, by the program of the same name of `capi`.

use crate::outcome::Outcome;
use crate::packages;
use crate::tools::{cargo, must, target};
use anyhow::{Context, Result, bail};
use std::process::Command;

/// Builds the driver and the program, and runs it with these arguments.
pub fn run(args: &[String]) -> Result<Outcome> {
    packages::ensure()?;
    must(&mut cargo(&["build", "--release", "--package", "cloom-capi", "--lib", "--example", "soak"]))?;
    let release = target().join("release");
    let status = Command::new(release.join("examples").join("soak"))
        .args(args)
        .env("CLOOM_TEST_LIBRARY", release.join("libcloom.so"))
        .status()
        .context("cannot run the program soak")?;
    match status.code() {
        Some(0) => Ok(Outcome::Fine),
        Some(1) => Ok(Outcome::Findings),
        _ => bail!("soak ended with {status}"),
    }
}
