//! `cts`: runs Khronos' conformance tests, built elsewhere, against the release driver, and compares what each test did
//! with `conformance.toml`.
//!
//! In: the folder where the tests were built (it has `test_conformance/`). Out: a line for each suite, what was not
//! expected, and the output of each program under `target/cts`. `docs/conformance.md` says how to build the tests.

mod expectations;
mod table;

use crate::tools::{cargo, must, root, target};
use crate::{Outcome, driver};
use anyhow::{Context, Result, bail, ensure};
use expectations::{Results, Suite, Verdict};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The longest that a suite may take. One that hangs loses its results, as the programs write them at their end.
const LIMIT: Duration = Duration::from_secs(1200);

/// Runs all suites of the folder that the first argument names, or those whose names begin with one of the others.
pub fn run(args: &[String]) -> Result<Outcome> {
    let file = root().join("crates/xtask/conformance.toml");
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let suites = expectations::parse(&text).with_context(|| format!("{} is wrong", file.display()))?;
    if args.iter().any(|a| a == "--table") {
        return write_table(&suites);
    }
    let json = args.iter().any(|a| a == "--json");
    let mut names = args.iter().filter(|a| *a != "--json");
    let Some(folder) = names.next() else {
        bail!(
            "usage: cargo xtask cts DIR [--json] [SUITE…]; DIR is where the conformance tests were built\n       \
               cargo xtask cts --table, to write what is expected to docs/conformance.md"
        )
    };
    let names: Vec<&String> = names.collect();
    let programs = Path::new(folder).join("test_conformance");
    let programs = programs.canonicalize().with_context(|| {
        format!("{} is no folder; docs/conformance.md says how to build the tests", programs.display())
    })?;
    let chosen: Vec<&Suite> =
        suites.iter().filter(|s| names.is_empty() || names.iter().any(|n| s.name.starts_with(n.as_str()))).collect();
    ensure!(!chosen.is_empty(), "no suite has such a name; {} lists them", file.display());

    // Both, as always: the features of one package alone would build everything again.
    must(&mut cargo(&["build", "--release", "--package", "cloom-capi", "--package", "cloom-cli"]))?;
    let release = target().join("release").canonicalize()?;
    let library = release.join("libcloom.so");
    let vendors = target().join("cts-vendors");
    driver::register_alone(&library.canonicalize().context("libcloom.so was not built")?, &vendors)?;
    let logs = target().join("cts");
    fs::create_dir_all(&logs).with_context(|| format!("cannot make {}", logs.display()))?;
    let (vendors, logs) = (vendors.canonicalize()?, logs.canonicalize()?);
    let place = Place { programs, vendors, logs, compiler: release.join("cloom") };

    let mut sum = Counts::default();
    let mut good = true;
    for suite in chosen {
        let start = Instant::now();
        let results = place.run(suite)?;
        let surprises = suite.surprises(&results);
        let counts = Counts::of(&results);
        if json {
            println!("{}", counts.json(suite, &surprises, start.elapsed()));
        } else {
            let how = if suite.wimpy { " (wimpy)" } else { "" };
            println!("{:<36} {counts} in {:.0} s{how}", suite.name, start.elapsed().as_secs_f64());
            for line in &surprises {
                println!("    {line}");
            }
        }
        good &= surprises.is_empty();
        sum.add(counts);
    }
    if !json {
        println!("{:<36} {sum}", "all");
        if !good {
            println!("what the programs wrote is in {}", place.logs.display());
        }
    }
    Ok(Outcome::of(good))
}

/// Writes what is expected to the page for users.
fn write_table(suites: &[Suite]) -> Result<Outcome> {
    let path = root().join("docs/conformance.md");
    let page = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let page = table::page(&page, suites).with_context(|| format!("{} has no heading for it", path.display()))?;
    fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Outcome::Fine)
}

/// Where things are.
struct Place {
    /// The programs.
    programs: PathBuf,
    /// What the ICD loader reads.
    vendors: PathBuf,
    /// What the programs write.
    logs: PathBuf,
    /// The program `cloom`.
    compiler: PathBuf,
}

impl Place {
    /// Runs a suite to its end or its limit.
    fn run(&self, suite: &Suite) -> Result<Results> {
        let program = self.programs.join(&suite.program);
        ensure!(program.is_file(), "{} is not there: was it built?", program.display());
        let log = self.logs.join(format!("{}.log", suite.name));
        let written = self.logs.join(format!("{}.json", suite.name));
        // Results of an earlier run are none of this one.
        let _ = fs::remove_file(&written);
        let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = Command::new(&program);
        command
            .args(&suite.args)
            // Some programs include files that lie beside them.
            .current_dir(program.parent().unwrap_or(&self.programs))
            .env(driver::VENDORS, &self.vendors)
            .env("CL_CONFORMANCE_RESULTS_FILENAME", &written)
            .stdin(Stdio::null())
            .stderr(output.try_clone()?)
            .stdout(output);
        if suite.wimpy {
            command.env("CL_WIMPY_MODE", "1");
        }
        if suite.binary {
            command.args(self.offline(suite)?);
        }
        let mut child = command.spawn().with_context(|| format!("cannot run {}", program.display()))?;
        let start = Instant::now();
        while child.try_wait()?.is_none() {
            if start.elapsed() > LIMIT {
                child.kill()?;
                child.wait()?;
                println!("{}: ended after {} s", suite.name, LIMIT.as_secs());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        match fs::read_to_string(&written) {
            Ok(text) => expectations::results(&text).with_context(|| suite.name.clone()),
            // It crashed or hung: every test of it is missing, which is a finding.
            Err(_) => Ok(Results::new()),
        }
    }
}

impl Place {
    /// The arguments that make a suite compile its programs with `cloom`, into an empty folder.
    fn offline(&self, suite: &Suite) -> Result<Vec<String>> {
        let folder = self.logs.join(format!("{}.binaries", suite.name));
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        // The tests give it to a shell.
        let compiler = format!("'{}' offline-compile", self.compiler.display());
        let folder = folder.display().to_string();
        let words = ["--compilation-mode", "binary", "--compilation-cache-path", &folder, "--compilation-program"];
        Ok(words.into_iter().map(str::to_owned).chain([compiler]).collect())
    }
}

/// How many tests ended how.
#[derive(Clone, Copy, Default)]
struct Counts {
    pass: usize,
    fail: usize,
    skip: usize,
}

impl Counts {
    fn of(results: &Results) -> Counts {
        let count = |verdict| results.values().filter(|&&v| v == verdict).count();
        Counts { pass: count(Verdict::Pass), fail: count(Verdict::Fail), skip: count(Verdict::Skip) }
    }

    fn add(&mut self, more: Counts) {
        self.pass += more.pass;
        self.fail += more.fail;
        self.skip += more.skip;
    }

    /// A line for scripts.
    fn json(self, suite: &Suite, surprises: &[String], time: Duration) -> serde_json::Value {
        serde_json::json!({
            "suite": suite.name, "wimpy": suite.wimpy, "pass": self.pass, "fail": self.fail, "skip": self.skip,
            "seconds": time.as_secs_f64(), "unexpected": surprises,
        })
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:>4} pass {:>3} fail {:>4} skip", self.pass, self.fail, self.skip)
    }
}
