//! Memcheck over programs that load the driver. In: the tests of capi and the gallery. Out: the number of errors and of
//! lost blocks.
//!
//! Memcheck knows no AVX-512, and code from the disk cache would have been made for another processor.

use super::folder;
use crate::driver;
use crate::packages;
use crate::tools::{cargo, messages, must, target};
use anyhow::{Context, Result, ensure};
use cargo_metadata::Message;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tests of capi that take a bearable time. Those that fork or load the driver anew are no matter of memory.
const TESTS: &[&str] = &[
    "buffer",
    "command_buffer",
    "context",
    "device_queue",
    "event",
    "extensions",
    "functions",
    "il",
    "image",
    "image_kernel",
    "kernel",
    "launch",
    "opencl_31",
    "partial_groups",
    "pipe",
    "platform",
    "program",
    "queue",
    "semaphore",
    "sub_devices",
    "sub_groups",
    "svm",
    "transfer",
    "usm",
    "variables",
];
/// Width and height of what programs of the gallery work on.
const SIZE: &str = "64";

/// What the tool reports of a program.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Report {
    processes: u64,
    errors: u64,
    /// Bytes to which no pointer is left.
    lost: u64,
}

/// Runs everything, or what has a name that begins with one of these; whether nothing was found.
pub fn run(names: &[String]) -> Result<bool> {
    let wanted = |name: &str| names.is_empty() || names.iter().any(|n| name.starts_with(n.as_str()));
    packages::install(&["valgrind"])?;
    let logs = folder("memcheck")?;
    must(&mut cargo(&["build", "--release", "-p", "cloom-capi", "-p", "cloom-cli"]))?;
    let tests = tests()?;
    let release = target().join("release").canonicalize()?;
    let library = release.join("libcloom.so");
    let mut good = true;
    // Everything that is made is released: nothing may be lost.
    let mut session = Command::new(tests.get("limits").context("capi has a test `limits`")?);
    session.args(["--exact", "the_part_of_a_child", "--nocapture"]).env("CLOOM_TEST_PART", "session");
    if wanted("session") {
        good &= check("session", &session, true, &library, &logs)?;
    }
    let vendors = logs.join("vendors");
    driver::register_alone(&library, &vendors)?;
    let program = release.join("cloom");
    for name in gallery(&program)? {
        let shown = format!("gallery-{name}");
        if !wanted(&shown) {
            continue;
        }
        let mut run = Command::new(&program);
        run.args(["run", "-k", &name, "-s", SIZE, "-i", "1", "-n"]).env(driver::VENDORS, &vendors);
        good &= check(&shown, &run, true, &library, &logs)?;
    }
    for name in TESTS.iter().filter(|name| wanted(name)) {
        let mut test = Command::new(tests.get(*name).with_context(|| format!("capi has no test `{name}`"))?);
        test.arg("--test-threads=2");
        // Callbacks of calls that must fail are lost by the tests themselves.
        good &= check(name, &test, false, &library, &logs)?;
    }
    Ok(good)
}

/// The programs of capi's tests, by name.
fn tests() -> Result<BTreeMap<String, PathBuf>> {
    let made = messages(&mut cargo(&["test", "--release", "-p", "cloom-capi", "--tests", "--no-run"]))?;
    let artifacts = made.into_iter().filter_map(|message| match message {
        Message::CompilerArtifact(made) => Some((made.target.name, made.executable?.into_std_path_buf())),
        _ => None,
    });
    Ok(artifacts.collect())
}

/// The names of the gallery's programs.
fn gallery(program: &Path) -> Result<Vec<String>> {
    let output = Command::new(program).args(["run", "--list-kernels"]).output().context("cannot run cloom")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names: Vec<String> = text.lines().filter_map(|l| l.split_whitespace().next()).map(str::to_owned).collect();
    ensure!(!names.is_empty(), "cloom lists no program of the gallery");
    Ok(names)
}

/// Runs a command under the tool, with its children, prints what came of it, and says whether that is good.
fn check(name: &str, command: &Command, leaks: bool, library: &Path, logs: &Path) -> Result<bool> {
    let logs = logs.join(name);
    if logs.exists() {
        std::fs::remove_dir_all(&logs)?;
    }
    std::fs::create_dir_all(&logs)?;
    let mut tool = Command::new("valgrind");
    tool.args(["--trace-children=yes", "--trace-children-skip=/usr/*,/bin/*"])
        .args(["--leak-check=full", "--show-leak-kinds=definite"])
        .arg(format!("--errors-for-leak-kinds={}", if leaks { "definite" } else { "none" }))
        .arg(format!("--log-file={}/%p.txt", logs.display()))
        .arg(command.get_program())
        .args(command.get_args())
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("CLOOM_TEST_LIBRARY", library)
        .env("CLOOM_CPU", "avx2")
        .env("CLOOM_CACHE", "0")
        .env("CLOOM_THREADS", "2")
        .env("CLOOM_QUICK_START", "0");
    let output = tool.output().context("cannot run valgrind")?;
    std::fs::write(logs.join("output.txt"), [output.stdout, output.stderr].concat())?;
    let mut report = Report::default();
    for entry in std::fs::read_dir(&logs)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name != "output.txt") {
            report = read(&String::from_utf8_lossy(&std::fs::read(path)?), report);
        }
    }
    // No report at all would mean that the tool did not run.
    let good = output.status.success() && report.processes > 0 && report.errors == 0;
    let Report { processes, errors, lost } = report;
    let ended = if output.status.success() { String::new() } else { format!(", {}", output.status) };
    let word = if good { "ok" } else { "WRONG" };
    println!("{word}: {name}: {processes} processes, {errors} errors, {lost} bytes lost{ended}");
    if !good {
        println!("  see {}", logs.display());
    }
    Ok(good)
}

/// Adds what the report of a process says.
fn read(text: &str, mut sum: Report) -> Report {
    let number = |line: &str, after: &str| -> u64 {
        let rest = line.split_once(after).map_or("", |(_, rest)| rest);
        // Valgrind writes 1,234 for 1234.
        let word = rest.split_whitespace().next().unwrap_or_default().replace(',', "");
        word.parse().unwrap_or(0)
    };
    sum.processes += 1;
    // A process that executes another program has no summary.
    for line in text.lines() {
        sum.errors += number(line, "ERROR SUMMARY: ");
        sum.lost += number(line, "definitely lost: ");
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_added_up() {
        let one = "==7== LEAK SUMMARY:\n==7==    definitely lost: 1,040 bytes in 2 blocks\n\
                   ==7== ERROR SUMMARY: 3 errors from 2 contexts (suppressed: 0 from 0)\n";
        let first = read(one, Report::default());
        assert_eq!(first, Report { processes: 1, errors: 3, lost: 1040 });
        assert_eq!(read("==8== All heap blocks were freed\n", first).processes, 2);
    }
}
