//! `doctor`: finds out why a platform does not appear or a kernel does not run. It checks everything between a program
//! and a driver, and says for each problem what to do.
//!
//! ```text
//! program ─▶ loader ─▶ icd (which drivers) ─▶ drivers (load, compute)
//! machine, gpu, own (compiler), cache, environment
//! ```
//!
//! A driver may crash or hang, and an ICD loader reads its environment only once. So drivers are tested in child
//! processes (`cloom probe`); the reason why one cannot be loaded comes from the dynamic linker.

mod cache;
mod drivers;
mod environment;
mod gpu;
mod icd;
mod loader;
mod machine;
mod own;
mod package;

use crate::outcome::{Answer, Exit, Failure};
use serde::Serialize;
use std::fmt::Write;

/// Options of `doctor`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// JSON output
    #[arg(long)]
    pub json: bool,
}

/// How bad something is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It works.
    Ok,
    /// Information only.
    Info,
    /// It works, but may not be what is wanted.
    Warning,
    /// It does not work.
    Problem,
}

/// The result of one check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// The part that was checked: loader, drivers, …
    pub area: &'static str,
    /// How bad it is.
    pub status: Status,
    /// What was found.
    pub what: String,
    /// What to do about it.
    pub advice: Option<String>,
}

impl Finding {
    fn new(area: &'static str, status: Status, what: impl Into<String>) -> Self {
        Self { area, status, what: what.into(), advice: None }
    }

    /// It works.
    pub fn ok(area: &'static str, what: impl Into<String>) -> Self {
        Self::new(area, Status::Ok, what)
    }

    /// Information only.
    pub fn info(area: &'static str, what: impl Into<String>) -> Self {
        Self::new(area, Status::Info, what)
    }

    /// It may not be what is wanted.
    pub fn warning(area: &'static str, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..Self::new(area, Status::Warning, what) }
    }

    /// It does not work.
    pub fn problem(area: &'static str, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..Self::new(area, Status::Problem, what) }
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    problems: usize,
    warnings: usize,
    findings: &'a [Finding],
    environment: Vec<environment::Row>,
}

/// A child process that leaves nothing behind: drivers keep no code on disk.
fn quietly(command: &mut std::process::Command) -> &mut std::process::Command {
    command.env(cloom_caps::env::CACHE.name, "0").env("POCL_KERNEL_CACHE", "0").env("CUDA_CACHE_DISABLE", "1")
}

/// The child process that tests the compiler of this program.
pub fn own_probe() -> Answer {
    own::probe()
}

/// A problem if no device computes, and nothing else has said why.
fn no_device(findings: &[Finding]) -> Option<Finding> {
    let works = |f: &Finding| f.area == drivers::AREA && f.status == Status::Ok && f.what.ends_with("computes");
    if findings.iter().any(|f| works(f) || f.status == Status::Problem) {
        return None;
    }
    let devices = cloom_caps::env::DEVICES;
    let advice = match devices.get() {
        Some(kinds) => format!("{}={kinds} leaves out the others: unset it", devices.name),
        None => "see what is said of each driver above".into(),
    };
    Some(Finding::problem(drivers::AREA, "no program finds a device on this machine", advice))
}

/// Runs `doctor`.
pub fn run(options: &Options) -> Result<Answer, Failure> {
    let loader = loader::find()?;
    let mut findings = loader::judge(&loader);
    findings.extend(drivers::look(&loader)?);
    // Right after the drivers: it asks whether loader or drivers had a problem, and the areas that follow say nothing
    // of why no device is found.
    findings.extend(no_device(&findings));
    findings.extend(machine::look());
    findings.extend(gpu::look());
    findings.extend(own::look());
    findings.extend(cache::look());
    findings.extend(environment::judge());
    let count = |status| findings.iter().filter(|f| f.status == status).count();
    let (problems, warnings) = (count(Status::Problem), count(Status::Warning));
    let exit = if problems > 0 { Exit::Findings } else { Exit::Fine };
    let environment = environment::rows();
    if options.json {
        let document = Document { schema: "cloom-doctor/1", problems, warnings, findings: &findings, environment };
        return Answer::json(&document, exit);
    }
    let mut text = String::new();
    let mut area = "";
    // Writing to a string cannot fail, here and below.
    for f in &findings {
        if f.area != area {
            area = f.area;
            let _ = writeln!(text, "{area}");
        }
        let mark = match f.status {
            Status::Ok => "ok     ",
            Status::Info => "       ",
            Status::Warning => "warning",
            Status::Problem => "PROBLEM",
        };
        let _ = writeln!(text, "  {mark} {}", f.what);
        if let Some(advice) = &f.advice {
            let _ = writeln!(text, "          → {advice}");
        }
    }
    text.push_str("environment\n");
    for row in environment {
        let value = row.value.as_deref().map_or("not set".to_owned(), |v| format!("= {v}"));
        let _ = writeln!(text, "          {} {value}: {}", row.name, row.meaning);
    }
    let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let _ = writeln!(text, "\n{}, {}", counted(problems, "problem"), counted(warnings, "warning"));
    Ok(Answer::text(text, exit))
}
