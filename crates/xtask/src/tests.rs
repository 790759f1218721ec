//! `test` and `bless`: every test of the workspace, on the driver that was just built. What failed is said again at the
//! end, where people and the records of CI look.

use crate::outcome::Outcome;
use crate::tools::{cargo, succeeds, target};
use crate::{driver, failures, packages, ranks, tidy};
use anyhow::Result;
use std::process::Command;
use std::time::Instant;

/// Tests all packages, or those that the arguments name.
fn cargo_test(args: &[String]) -> Command {
    let some = args.iter().take_while(|a| *a != "--").any(|a| a.starts_with("-p") || a.starts_with("--package"));
    let mut command = cargo(&["test", "--no-fail-fast"]);
    if !some {
        command.arg("--workspace");
    }
    // What earlier runs have compiled should be compiled again.
    let cache = target().join("cache-of-tests");
    let _ = std::fs::remove_dir_all(&cache);
    // Most tests launch once and should run the optimised code; tests of tier-up switch the baseline tier on.
    command.args(args).env("CLOOM_QUICK_START", "0").env("CLOOM_CACHE_DIR", cache);
    command
}

/// Runs every test of the workspace, after checking its invariants and, where MPI is installed, that the code for it
/// builds. Tests of the standard interface find the driver
/// that was just built, and any other platforms.
pub fn test(args: &[String]) -> Result<Outcome> {
    packages::ensure()?;
    packages::offer_peers();
    let start = Instant::now();
    if args.is_empty()
        && let Outcome::Findings = tidy::run()?
    {
        return Ok(Outcome::Findings);
    }
    let mpi = !args.is_empty() || ranks::check()?;
    let vendors = driver::registered()?;
    let mut tests = cargo_test(args);
    tests.env(driver::VENDORS, vendors);
    let (passed, failed) = failures::run(tests)?;
    if !failed.is_empty() {
        println!("xtask test: what failed:\n{}", failed.join("\n"));
    }
    let good = passed && mpi;
    println!("xtask test: {} in {} s", if good { "all tests passed" } else { "FAILED" }, start.elapsed().as_secs());
    Ok(Outcome::of(good))
}

/// Runs the tests and lets them rewrite their golden files.
pub fn bless(args: &[String]) -> Result<Outcome> {
    packages::ensure()?;
    let vendors = driver::registered()?;
    let good = succeeds(cargo_test(args).env("BLESS", "1").env(driver::VENDORS, vendors))?;
    println!("xtask bless: look at the changes before you commit them");
    Ok(Outcome::of(good))
}
