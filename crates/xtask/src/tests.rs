//! `test`, `ci` and `bless`.

use crate::tools::{cargo, succeeds};
use crate::{Outcome, packages, tidy};
use anyhow::Result;
use std::time::Instant;

fn outcome(good: bool) -> Outcome {
    if good { Outcome::Fine } else { Outcome::Findings }
}

/// Runs every test of the workspace, after checking its invariants.
pub fn test(args: &[String]) -> Result<Outcome> {
    packages::ensure()?;
    let start = Instant::now();
    if args.is_empty()
        && let Outcome::Findings = tidy::run()?
    {
        return Ok(Outcome::Findings);
    }
    let good = succeeds(cargo(&["test", "--workspace", "--no-fail-fast"]).args(args))?;
    println!("xtask test: {} in {} s", if good { "all tests passed" } else { "FAILED" }, start.elapsed().as_secs());
    Ok(outcome(good))
}

/// What must hold before a change goes to the main branch.
pub fn ci() -> Result<Outcome> {
    packages::ensure()?;
    for args in [&["fmt", "--all", "--check"][..], &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]]
    {
        println!("xtask ci: cargo {}", args.join(" "));
        if !succeeds(&mut cargo(args))? {
            return Ok(Outcome::Findings);
        }
    }
    test(&[])
}

/// Runs the tests and lets them rewrite their golden files.
pub fn bless(args: &[String]) -> Result<Outcome> {
    packages::ensure()?;
    let good = succeeds(cargo(&["test", "--workspace", "--no-fail-fast"]).args(args).env("BLESS", "1"))?;
    println!("xtask bless: look at the changes before you commit them");
    Ok(outcome(good))
}
