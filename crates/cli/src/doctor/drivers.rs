//! Tests the registered drivers: can each library be loaded, and if not why; do its devices compute.
//!
//! Each driver is loaded in a process of its own, so that one that crashes is a line of the report. To use it, a second
//! process gets an environment in which the loader knows this driver alone. A loader that reads no variable for the
//! folder of `.icd` files (some vendors ship one that heeds `OCL_ICD_FILENAMES` only) cannot be limited like that. Then
//! one process uses all drivers together, and the devices are reported without the driver that they belong to.

use super::icd::{self, Entry};
use super::loader::{self, FOLDER, Kind, Loader};
use super::{Finding, Status, package};
use crate::outcome::Failure;
use crate::probe::{Device, Report};
use crate::{child, driver};
use memchr::memmem;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const AREA: &str = "drivers";

/// The file that a path leads to, so that one driver under two names is known.
fn file_of(library: &str) -> PathBuf {
    std::fs::canonicalize(library).unwrap_or_else(|_| library.into())
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|v| !v.is_empty())
}

/// Tests every driver.
pub fn look(loader: &Loader) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    let mut registered = false;
    let mut tested = HashMap::new();
    if loader.file.is_some() && loader.kind != Kind::NoLoader {
        let entries = icd::entries(&icd::sources(loader, variable), loader.kind, AREA, &mut findings);
        registered = test_registered(loader, &entries, &mut tested, &mut findings)?;
    }
    findings.extend(own_driver(loader, registered, &tested)?);
    Ok(findings)
}

/// Tests the drivers that are registered. Returns whether Cloom's is one of them and works.
fn test_registered(
    loader: &Loader,
    entries: &[Entry],
    tested: &mut HashMap<PathBuf, String>,
    findings: &mut Vec<Finding>,
) -> Result<bool, Failure> {
    let mut registered = false;
    let mut loaded = 0;
    for entry in entries {
        match &entry.library {
            Err(e) => findings.push(Finding::problem(AREA, format!("{} {}", entry.origin, e.why), &e.advice)),
            Ok(library) => {
                let is_cloom = driver::is_own(Path::new(library));
                // What is registered twice is tested, and told, once.
                if let Some(before) = tested.insert(file_of(library), entry.origin.clone()) {
                    let what = format!("{library} ({}) is registered by {before} already", entry.origin);
                    findings.push(Finding::info(AREA, what));
                    continue;
                }
                let before = findings.len();
                if loads(&entry.origin, library, findings)? {
                    loaded += 1;
                    if loader.can_be_limited() {
                        use_alone(&entry.origin, library, findings)?;
                    }
                }
                // Only what this entry has added counts: another driver's problem is not one of Cloom's.
                let works = findings[before..].iter().all(|f| f.status != Status::Problem);
                if is_cloom && works {
                    registered = true;
                    findings.extend(package::look(AREA, Path::new(library)));
                }
            }
        }
    }
    // No driver was used alone, so that whether Cloom's works is known from the devices of all.
    if loaded > 0 && !loader.can_be_limited() {
        registered &= use_together(findings)?;
    }
    Ok(registered)
}

/// Whether Cloom's own driver is there and programs will find it.
fn own_driver(loader: &Loader, registered: bool, tested: &HashMap<PathBuf, String>) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    if registered {
        findings.push(Finding::ok(AREA, "Cloom's driver is registered"));
        return Ok(findings);
    }
    let Some(path) = driver::beside() else {
        let advice = "build it with `cargo build --release -p cloom-capi`, or put libcloom.so beside this program or into ../lib";
        findings.push(Finding::problem(AREA, format!("there is no {} with this program", driver::FILE), advice));
        return Ok(findings);
    };
    let shown = path.display();
    if let Some(origin) = tested.get(&file_of(&shown.to_string())) {
        // What is wrong with it has been said.
        findings.push(Finding::info(AREA, format!("Cloom's driver is registered by {origin}, and does not work")));
        return Ok(findings);
    }
    let advice = format!(
        "echo {shown} | sudo tee {FOLDER}/cloom.icd; or, for one program: {}={shown} program. `cloom run` finds the driver \
         by itself",
        loader.variable_for_one_driver()
    );
    findings.push(Finding::problem(AREA, format!("{shown} is not registered: programs do not find Cloom"), advice));
    let (origin, library) = ("beside this program", path.display().to_string());
    if !loads(origin, &library, &mut findings)? {
        return Ok(findings);
    }
    if loader.file.is_some() && loader.can_be_limited() {
        use_alone(origin, &library, &mut findings)?;
        return Ok(findings);
    }
    // With a loader that lists it in addition to others, or loaded instead of a loader that takes no drivers.
    let mut command = child::myself("probe")?;
    driver::only(&mut command, &path, loader.reads("OCL_ICD_FILENAMES"));
    let here = format!("{library} ({origin})");
    if let Some(mut report) = probe(command, &here, &mut findings)? {
        report.devices.retain(|d| d.platform.to_lowercase().contains(driver::PLATFORM));
        tell(&report, &here, &library, &mut findings);
    }
    Ok(findings)
}

fn no_process(e: std::io::Error) -> Failure {
    Failure::wrong(format!("cannot start a process: {e}"))
}

fn temporary_folder() -> Result<tempfile::TempDir, Failure> {
    tempfile::tempdir().map_err(|e| Failure::wrong(format!("no temporary folder: {e}; set TMPDIR")))
}

/// Loads a driver in a process that does nothing else. Returns whether that works; if not, there is a finding.
fn loads(origin: &str, library: &str, findings: &mut Vec<Finding>) -> Result<bool, Failure> {
    let here = format!("{library} ({origin})");
    let folder = temporary_folder()?;
    let mut command = child::myself("--version")?;
    // A preloaded library is loaded by the dynamic linker as the process starts. So its message names the library or
    // the symbol that is missing, whatever program this is.
    command.env("LD_PRELOAD", preload_name(library, folder.path()));
    let loaded = child::run_unless_it_hangs(super::quietly(&mut command)).map_err(no_process)?;
    if let Some((why, advice)) = load_error(library, &loaded.err) {
        findings.push(Finding::problem(AREA, format!("{here} cannot be loaded: {why}"), advice));
        return Ok(false);
    }
    if let Some(trouble) = loaded.trouble() {
        let advice = "update or remove this driver: every OpenCL program on this machine suffers from it";
        findings.push(Finding::problem(AREA, format!("{here} {trouble} as soon as it is loaded"), advice));
        return Ok(false);
    }
    Ok(true)
}

/// Lets the devices of one driver compute, in a process whose loader knows this driver alone.
fn use_alone(origin: &str, library: &str, findings: &mut Vec<Finding>) -> Result<(), Failure> {
    let here = format!("{library} ({origin})");
    let folder = temporary_folder()?;
    let icd = folder.path().join("one.icd");
    std::fs::write(&icd, format!("{library}\n")).map_err(|e| Failure::wrong(format!("{}: {e}", icd.display())))?;
    let mut command = child::myself("probe")?;
    command.env("OCL_ICD_VENDORS", folder.path()).env("OPENCL_VENDOR_PATH", folder.path());
    // The Khronos loader adds the drivers of this variable to those of the folder.
    command.env_remove("OCL_ICD_FILENAMES");
    if let Some(report) = probe(command, &here, findings)? {
        tell(&report, &here, library, findings);
    }
    Ok(())
}

/// Lets the devices of all drivers compute, in one process. Returns whether Cloom's are among them.
fn use_together(findings: &mut Vec<Finding>) -> Result<bool, Failure> {
    let here = "the drivers together (this loader cannot be limited to one of them)";
    let Some(report) = probe(child::myself("probe")?, here, findings)? else { return Ok(false) };
    if report.devices.is_empty() {
        let why = report.error.as_deref().unwrap_or("there is no platform");
        let advice =
            "right where their hardware is not there; else look at the permissions of /dev/dri, /dev/nvidia*, /dev/kfd";
        findings.push(Finding::warning(AREA, format!("{here} offer no device: {why}"), advice));
    }
    findings.extend(report.devices.iter().map(|d| judge_device(d, here)));
    Ok(report.devices.iter().any(|d| d.platform.to_lowercase().contains(driver::PLATFORM)))
}

/// Runs `cloom probe`. `None` if it crashes or hangs, which is a finding.
fn probe(mut command: Command, here: &str, findings: &mut Vec<Finding>) -> Result<Option<Report>, Failure> {
    let ended = child::run_unless_it_hangs(super::quietly(&mut command)).map_err(no_process)?;
    if let Some(trouble) = ended.trouble() {
        let last = ended.err.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("nothing was printed");
        let advice = "update it, or remove its .icd file: programs that use it will do the same";
        findings.push(Finding::problem(AREA, format!("{here}: {trouble} in use: {last}"), advice));
        return Ok(None);
    }
    Ok(Some(loader::report(&ended.out).unwrap_or_default()))
}

/// What the devices of one driver do.
fn tell(report: &Report, here: &str, library: &str, findings: &mut Vec<Finding>) {
    if report.devices.is_empty() {
        findings.push(no_platform(here, library, report.error.as_deref()));
    }
    findings.extend(report.devices.iter().map(|d| judge_device(d, here)));
}

fn judge_device(device: &Device, here: &str) -> Finding {
    let name = format!("{here}: {}, {}", device.platform, device.name);
    match &device.error {
        None => Finding::ok(AREA, format!("{name}: computes")),
        Some(e) => Finding::problem(
            AREA,
            format!("{name}: cannot run a kernel: {}", e.trim()),
            "update this driver; `CLOOM_LOG=1` makes Cloom's tell more",
        ),
    }
}

/// What to put into `LD_PRELOAD`, where spaces and colons separate names: a link without them, if need be.
fn preload_name(library: &str, folder: &Path) -> PathBuf {
    if !library.contains([' ', ':']) {
        return library.into();
    }
    let link = folder.join("driver.so");
    match std::os::unix::fs::symlink(library, &link) {
        Ok(()) => link,
        Err(_) => library.into(),
    }
}

/// The dynamic linker's message about a library that it could not load, and what to do.
fn load_error(library: &str, err: &str) -> Option<(String, String)> {
    if library.contains('/') && !Path::new(library).exists() {
        let advice = "the driver was moved or removed: install it again, or correct or delete the .icd file";
        return Some(("there is no such file".into(), advice.into()));
    }
    // A library that it needs is missing, or a symbol: this ends the process.
    if let Some((_, rest)) = err.split_once("error while loading shared libraries: ") {
        let why = rest.lines().next().unwrap_or_default().trim();
        let missing = why.split(':').next().unwrap_or_default();
        let advice = if why.contains("cannot open shared object file") {
            format!("install the package that has {missing}, or add its folder to LD_LIBRARY_PATH")
        } else {
            "install the driver again: it does not fit this system's libraries".into()
        };
        return Some((why.into(), advice));
    }
    let line = err.lines().find(|l| l.contains("symbol lookup error") || l.contains("cannot be preloaded"))?;
    let why = line.split_once("cannot be preloaded").map_or(line, |(_, rest)| rest);
    let why = why.trim_end_matches(": ignored.").trim().trim_start_matches('(').trim_end_matches(')');
    let advice = if !library.contains('/') {
        "write its full path into the .icd file, or add its folder to /etc/ld.so.conf.d and run ldconfig"
    } else if why.contains("wrong ELF class") {
        "this is a driver for programs of another word size; install the one for 64 bits"
    } else {
        "install the driver again: the file is damaged or no library"
    };
    Some((why.to_owned(), advice.into()))
}

/// A driver that loads and offers nothing.
fn no_platform(here: &str, library: &str, error: Option<&str>) -> Finding {
    let entry = "clIcdGetPlatformIDsKHR";
    let bytes = std::fs::read(library);
    // A library that exports the function has its name among its strings. The file is searched, and not loaded into
    // this process.
    if bytes.is_ok_and(|b| memmem::find(&b, entry.as_bytes()).is_none()) {
        let advice = "it cannot be used through a loader; load it in the loader's place, or delete its .icd file";
        return Finding::problem(AREA, format!("{here} has no {entry}: it is no ICD"), advice);
    }
    let why = error.unwrap_or("it offers no platform");
    Finding::warning(
        AREA,
        format!("{here} loads and offers no device: {why}"),
        "right where its hardware is not there; else look at the permissions of /dev/dri, /dev/nvidia*, /dev/kfd",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_fail_has_its_reason_and_advice() {
        let (why, advice) = load_error("/nowhere/lib.so", "").unwrap();
        assert!(why.contains("no such file") && advice.contains("delete the .icd"));
        let err = "x: error while loading shared libraries: libsvml.so: cannot open shared object file: No such file or directory\n";
        let (why, advice) = load_error("/bin/sh", err).unwrap();
        assert!(why.starts_with("libsvml.so: cannot open") && advice.contains("package that has libsvml.so"));
        let err = "ERROR: ld.so: object 'libx.so' from LD_PRELOAD cannot be preloaded (cannot open shared object file): ignored.\n";
        let (why, advice) = load_error("libx.so", err).unwrap();
        assert_eq!(why, "cannot open shared object file");
        assert!(advice.contains("full path"));
        assert_eq!(load_error("/bin/sh", "a warning\n"), None);
    }
}
