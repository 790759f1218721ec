//! `cts`: runs Khronos' conformance tests, built elsewhere, against the release driver, and compares what each test did
//! with `conformance.toml`.
//!
//! In: the folder where the tests were built (it has `test_conformance/`). Out: a line for each suite, what was not
//! expected, and the output of each program under `target/cts`. `docs/conformance.md` says how to build the tests.

mod expectations;
mod options;
mod table;

use crate::driver;
use crate::outcome::Outcome;
use crate::tools::{cargo, must, root, target};
use anyhow::{Context, Result, bail, ensure};
use expectations::{Results, Suite, Verdict};
use options::{Options, RunOptions};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest that a suite may take. One that hangs loses its results, as the programs write them at their end.
const LIMIT: Duration = Duration::from_secs(1200);

/// The longest that a suite may take in its full form.
const FULL_LIMIT: Duration = Duration::from_secs(12 * 3600);

/// The argument with which the programs of images try few sizes.
const SMALL_IMAGES: &str = "small_images";

/// Runs the suites that the arguments name, all without any.
pub fn run(args: &[String]) -> Result<Outcome> {
    let file = root().join("crates/xtask/conformance.toml");
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let suites = expectations::parse(&text).with_context(|| format!("{} is wrong", file.display()))?;
    let options = match options::parse(args)? {
        Options::Table => return write_table(&suites),
        Options::Run(options) => options,
    };
    let names = &options.names;
    let chosen: Vec<&Suite> =
        suites.iter().filter(|s| names.is_empty() || names.iter().any(|n| s.name.starts_with(n.as_str()))).collect();
    ensure!(!chosen.is_empty(), "no suite has such a name; {} lists them", file.display());
    let place = Place::new(&options)?;

    let state = Mutex::new((chosen.iter(), Counts::default(), true));
    let worker = || -> Result<()> {
        loop {
            let Some(suite) = state.lock().ok().and_then(|mut s| s.0.next().copied()) else { return Ok(()) };
            let start = Instant::now();
            let results = place.run(suite, options.full)?;
            let surprises = suite.surprises(&results);
            let counts = Counts::of(&results);
            // Held while it prints, so that the lines of a suite stay together.
            let Ok(mut state) = state.lock() else { return Ok(()) };
            state.1.add(counts);
            state.2 &= surprises.is_empty();
            if options.json {
                println!("{}", counts.json(suite, options.full, &surprises, start.elapsed()));
                continue;
            }
            let how = if suite.wimpy && !options.full { " (wimpy)" } else { "" };
            println!("{:<36} {counts} in {:.0} s{how}", suite.name, start.elapsed().as_secs_f64());
            for line in &surprises {
                println!("    {line}");
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..options.jobs).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|w| w.join().unwrap_or_else(|_| bail!("a thread of the runner panicked")))
    })?;
    let (_, sum, good) = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !options.json {
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
    /// The program `cloom`, beside the driver.
    compiler: PathBuf,
}

impl Place {
    /// Finds the programs and the driver, which is built first if none is named.
    fn new(options: &RunOptions) -> Result<Place> {
        let programs = options.folder.join("test_conformance");
        let programs = programs.canonicalize().with_context(|| {
            format!("{} is no folder; docs/conformance.md says how to build the tests", programs.display())
        })?;
        let library = options.driver.clone().map_or_else(
            || {
                // Both, as always: the features of one package alone would build everything again.
                must(&mut cargo(&["build", "--release", "--package", "cloom-capi", "--package", "cloom-cli"]))?;
                Ok(target().join("release/libcloom.so"))
            },
            anyhow::Ok,
        )?;
        let library = library.canonicalize().with_context(|| format!("{} is not there", library.display()))?;
        let vendors = target().join("cts-vendors");
        driver::register_alone(&library, &vendors)?;
        let logs = target().join("cts");
        fs::create_dir_all(&logs).with_context(|| format!("cannot make {}", logs.display()))?;
        let (vendors, logs) = (vendors.canonicalize()?, logs.canonicalize()?);
        Ok(Place { programs, vendors, logs, compiler: library.with_file_name("cloom") })
    }

    /// Runs a suite to its end or its limit.
    fn run(&self, suite: &Suite, full: bool) -> Result<Results> {
        let program = self.programs.join(&suite.program);
        ensure!(program.is_file(), "{} is not there: was it built?", program.display());
        let log = self.logs.join(format!("{}.log", suite.name));
        let written = self.logs.join(format!("{}.json", suite.name));
        // Results of an earlier run are none of this one.
        let _ = fs::remove_file(&written);
        let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = Command::new(&program);
        command
            .args(suite.args.iter().filter(|a| !full || *a != SMALL_IMAGES))
            // Some programs include files that lie beside them.
            .current_dir(program.parent().unwrap_or(&self.programs))
            .env(driver::VENDORS, &self.vendors)
            .env("CL_CONFORMANCE_RESULTS_FILENAME", &written)
            .stdin(Stdio::null())
            .stderr(output.try_clone()?)
            .stdout(output);
        if suite.wimpy && !full {
            command.env("CL_WIMPY_MODE", "1");
        }
        if suite.binary {
            command.args(self.offline(suite)?);
        }
        let mut child = command.spawn().with_context(|| format!("cannot run {}", program.display()))?;
        let limit = if full { FULL_LIMIT } else { LIMIT };
        let start = Instant::now();
        while child.try_wait()?.is_none() {
            if start.elapsed() > limit {
                child.kill()?;
                child.wait()?;
                // The loop goes on: the next look finds the process ended.
                println!("{}: ended after {} s", suite.name, limit.as_secs());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        match fs::read_to_string(&written) {
            Ok(text) => expectations::results(&text).with_context(|| suite.name.clone()),
            // It crashed or hung: every test of it is missing, which is a finding.
            Err(_) => Ok(Results::new()),
        }
    }

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
    fn json(self, suite: &Suite, full: bool, surprises: &[String], time: Duration) -> serde_json::Value {
        serde_json::json!({
            "suite": suite.name, "wimpy": suite.wimpy && !full, "pass": self.pass, "fail": self.fail, "skip": self.skip,
            "seconds": time.as_secs_f64(), "unexpected": surprises,
        })
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:>4} pass {:>3} fail {:>4} skip", self.pass, self.fail, self.skip)
    }
}
