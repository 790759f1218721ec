//! `check -- PROGRAM`: checks the launches of an unmodified host program.
//!
//! The program runs in an environment in which the OpenCL loader offers Cloom's driver alone, and the driver checks
//! (`CLOOM_CHECK`). The driver writes the report when the program ends; this process prints it behind the program's
//! output, and ends with the program's status, or with 1 if something was found.

use super::Options;
use crate::driver;
use crate::outcome::{self, Answer, Exit, Failure};
use cloom_caps::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// The reports of all processes, in the order in which they were written.
fn written(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut reports: Vec<_> = entries
        .filter_map(|entry| {
            Some((entry.metadata().ok()?.modified().ok()?, std::fs::read_to_string(entry.path()).ok()?))
        })
        .collect();
    reports.sort();
    reports.into_iter().map(|(_, text)| text).collect()
}

/// Runs the program.
pub fn run(options: &Options, program: &OsStr, args: &[OsString]) -> Result<Answer, Failure> {
    let kinds = options.kinds()?;
    let library = driver::beside().ok_or_else(|| {
        Failure::wrong(format!(
            "{} is not installed beside this program: `cloom doctor` says where it looks",
            driver::FILE
        ))
    })?;
    let folder = tempfile::tempdir().map_err(|e| Failure::wrong(format!("no folder for the report: {e}")))?;
    // The program may start others, which have reports of their own.
    let reports = folder.path().join("reports");
    std::fs::create_dir(&reports).map_err(|e| Failure::wrong(format!("no folder for the reports: {e}")))?;
    let (report, status) = (reports.join("%p"), folder.path().join("status"));
    let mut command = Command::new(program);
    command.args(args);
    driver::only(&mut command, &library, true);
    command
        .env(env::CHECK.name, kinds.to_string())
        .env(env::CHECK_OUTPUT.name, &report)
        .env(env::CHECK_FORMAT.name, options.format().name())
        .env(env::CHECK_STATUS.name, &status);
    if let Some(path) = options.suppress.first() {
        command.env(env::CHECK_SUPPRESS.name, path);
    }
    if let Some(seconds) = options.time_limit {
        command.env(env::CHECK_SECONDS.name, seconds.to_string());
    }
    // Ctrl-C is for the program, which then writes its report.
    let _ = ctrlc::set_handler(|| {});
    let ended = command
        .status()
        .map_err(|e| Failure::wrong(format!("{}: {e}; name a program after `--`", program.to_string_lossy())))?;
    let text = written(&reports);
    if text.is_empty() {
        return Err(Failure::wrong(format!(
            "{} ended ({ended}) without a report: it called no function of OpenCL, or was killed",
            program.to_string_lossy()
        )));
    }
    match &options.output {
        Some(path) => super::save(path, &text)?,
        // The standard output is the program's.
        None => outcome::tell(text.trim_end()),
    }
    let found = std::fs::read_to_string(&status).is_ok_and(|text| text.lines().any(|line| line == "1"));
    let exit = match (found, ended.code()) {
        (true, _) => Exit::Findings,
        (false, Some(0)) => Exit::Fine,
        (false, code) => {
            outcome::tell(format_args!("cloom: {} ended with {ended}", program.to_string_lossy()));
            if code == Some(1) { Exit::Findings } else { Exit::Wrong }
        }
    };
    Ok(Answer::text("", exit))
}
