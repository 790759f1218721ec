//! `ranks`: the programs of the gallery that run in several processes, on this machine: builds them with MPI, runs each
//! in one, two and four processes, and tells how long an iteration takes. Then a process is killed in the middle of a
//! run, which must end with its name and without a wait.

use crate::outcome::Outcome;
use crate::packages;
use crate::tools::{cargo, must, root, succeeds, target};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Needed to build with MPI and to start processes.
const PACKAGES: &[&str] = &["libopenmpi-dev", "openmpi-bin", "libclang-dev"];
/// Program and options.
const PROGRAMS: &[(&str, &str)] =
    &[("life", "-s 2048 -i 10 -c start=random,steps=32"), ("gauss", "-s 4096 -i 10"), ("cloth", "-i 20 -c flags=24")];
/// A run that a process does not survive ends within this time.
const LIMIT: Duration = Duration::from_secs(20);

pub fn run() -> Result<Outcome> {
    packages::ensure()?;
    packages::install(PACKAGES)?;
    let features = ["--features", "cloom-cli/mpi"];
    must(cargo(&["build", "--release", "-p", "cloom-capi", "-p", "cloom-cli"]).args(features))?;
    let cloom = target().join("release/cloom");
    let mut good = true;
    for (program, options) in PROGRAMS {
        let mut one = None;
        for ranks in [1, 2, 4] {
            let output = start(&cloom, ranks, program, options)?.wait_with_output()?;
            let Some(ms) = iteration(&output) else {
                println!("{program}, {ranks} ranks: FAILED\n{}", String::from_utf8_lossy(&output.stderr));
                good = false;
                continue;
            };
            let one = *one.get_or_insert(ms);
            println!(
                "{program} {options}, {ranks} ranks: {ms:.2} ms an iteration, {:.2} times as fast as one",
                one / ms
            );
        }
    }
    good &= dies(&cloom)?;
    Ok(Outcome::of(good))
}

/// Checks that the gallery builds with MPI, without making code of it. Nothing is installed for that: where something
/// is missing, it says so and all is well.
pub fn check() -> Result<bool> {
    let mut mpicc = Command::new("mpicc");
    mpicc.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let missing = packages::missing(PACKAGES);
    if !mpicc.status().is_ok_and(|s| s.success()) || !missing.is_empty() {
        let what = if missing.is_empty() { "mpicc".to_owned() } else { missing.join(", ") };
        println!("xtask test: the gallery was not checked with MPI: {what} not installed; `cargo xtask ranks` does it");
        return Ok(true);
    }
    let args = ["check", "-p", "cloom-gallery", "--all-targets", "--features", "cloom-gallery/mpi"];
    println!("xtask test: cargo {}", args.join(" "));
    succeeds(&mut cargo(&args))
}

/// One thread a process, so that more processes are more processors.
fn start(cloom: &Path, ranks: u32, program: &str, options: &str) -> Result<std::process::Child> {
    let mut command = Command::new("mpirun");
    command.current_dir(root()).args(["--oversubscribe", "-n", &ranks.to_string()]).arg(cloom);
    command.args(["run", "--platform", "cloom", "--json", "-n", "-k", program, "-v", "ranks"]).args(options.split(' '));
    command.env("CLOOM_THREADS", "1");
    // Open MPI asks for both where the user is root, as in a container.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().context("cannot start mpirun; install Open MPI")
}

/// Milliseconds of an iteration, if the result was right.
fn iteration(output: &Output) -> Option<f64> {
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    let passed = output.status.success() && document["passed"].as_bool()?;
    document["wall"]["median_ms"].as_f64().filter(|_| passed)
}

/// Kills a process of three in a run of minutes.
fn dies(cloom: &Path) -> Result<bool> {
    let child = start(cloom, 3, "life", "-s 1024 -i 100000 -c start=random")?;
    std::thread::sleep(Duration::from_secs(4));
    // `--supervised` is in the command line only of the process that does the work of a rank, and not of the one that
    // waits for it nor of mpirun.
    let mut kill = Command::new("pkill");
    let killed = kill.args(["-KILL", "--oldest", "-f", "supervised.*life -v ranks"]).status().context("no pkill")?;
    let start = Instant::now();
    let output = child.wait_with_output()?;
    let took = start.elapsed();
    let said = String::from_utf8_lossy(&output.stderr);
    let named = said.lines().find(|l| l.starts_with("cloom: rank "));
    println!("a killed process: {} after {:.1} s", named.unwrap_or("not named"), took.as_secs_f64());
    Ok(killed.success() && named.is_some() && took < LIMIT && !output.status.success())
}
