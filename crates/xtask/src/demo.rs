//! `demo` and `show`: the main job, from a clean clone.

use crate::outcome::Outcome;
use crate::packages;
use crate::tools::{cargo, must, root, succeeds, target};
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The programs of the demo: kernel, variant, size.
const PROGRAMS: &[(&str, &str, &str)] = &[("mandel", "ocl", "1024"), ("histogram", "", "1024")];

/// Builds the driver and the program.
pub fn build() -> Result<PathBuf> {
    packages::ensure()?;
    println!("xtask: building libcloom.so and cloom (the first time takes a few minutes)");
    must(&mut cargo(&["build", "--release", "--package", "cloom-capi", "--package", "cloom-cli"]))?;
    Ok(target().join("release"))
}

/// Runs the Mandelbrot set and the histogram through the driver; `cloom run` checks them against its references.
pub fn run() -> Result<Outcome> {
    let release = build()?;
    let out = target().join("demo");
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    let mut good = true;
    for (kernel, variant, size) in PROGRAMS {
        let picture = out.join(format!("{kernel}.png"));
        let mut command = Command::new(release.join("cloom"));
        command.current_dir(root()).args([
            "run",
            "-k",
            kernel,
            "-s",
            size,
            "-i",
            "5",
            "--verify",
            "--platform",
            "cloom",
        ]);
        if !variant.is_empty() {
            command.args(["-v", variant]);
        }
        good &= succeeds(command.arg("--output").arg(&picture))?;
    }
    println!("pictures are in {}", out.display());
    Ok(Outcome::of(good))
}

/// `cloom show` with the arguments given.
pub fn show(args: &[String]) -> Result<Outcome> {
    let good = succeeds(Command::new(build()?.join("cloom")).arg("show").args(args))?;
    Ok(Outcome::of(good))
}
