//! The drivers that the loader is told of: every `.icd` file, whether its library can be loaded, why not, and whether its devices
//! compute.

use super::loader::{self, Kind, Loader};
use super::{Finding, child};
use crate::driver;
use crate::outcome::Failure;
use memchr::memmem;
use std::path::{Path, PathBuf};

const AREA: &str = "drivers";
const DEFAULT: &str = "/etc/OpenCL/vendors";

/// A driver that the loader will try.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Entry {
    /// Where it is named: a file or a variable.
    origin: String,
    /// The library, as it is written there; or why there is none.
    library: Result<String, String>,
}

/// Where the loader looks, as the environment says.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Place {
    Folder(PathBuf),
    File(PathBuf),
    Library(String),
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|v| !v.is_empty())
}

/// What ocl-icd and the Khronos loader make of their variables.
fn places(loader: &Loader, get: impl Fn(&str) -> Option<String>) -> Vec<Place> {
    let read = |name: &'static str| if loader.reads.contains(&name) { get(name) } else { None };
    let mut places: Vec<Place> = Vec::new();
    if let Some(list) = read("OCL_ICD_FILENAMES") {
        places.extend(list.split(':').filter(|l| !l.is_empty()).map(|l| Place::Library(l.into())));
    }
    let folder = read("OPENCL_VENDOR_PATH").unwrap_or_else(|| DEFAULT.into());
    match read("OCL_ICD_VENDORS") {
        Some(v) if loader.kind != Kind::OclIcd || Path::new(&v).is_dir() => places.push(Place::Folder(v.into())),
        Some(v) if v.ends_with(".icd") => {
            // A bare name is looked for in the folder first.
            let there = Path::new(&folder).join(&v);
            places.push(Place::File(if !v.contains('/') && there.exists() { there } else { v.into() }));
        }
        Some(v) => places.push(Place::Library(v)),
        None => places.push(Place::Folder(folder.into())),
    }
    places
}

fn read_icd(path: &Path) -> Entry {
    let library = match std::fs::read_to_string(path) {
        Err(e) => Err(format!("cannot be read: {e}")),
        Ok(text) => match text.lines().next().map(str::trim_end) {
            None | Some("") => Err("is empty; its first line should be the path of a driver".into()),
            Some(line) => Ok(line.to_owned()),
        },
    };
    Entry { origin: path.display().to_string(), library }
}

fn entries(places: &[Place], findings: &mut Vec<Finding>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for place in places {
        match place {
            Place::File(path) => entries.push(read_icd(path)),
            Place::Library(library) => {
                entries.push(Entry { origin: "the environment".into(), library: Ok(library.clone()) });
            }
            Place::Folder(folder) => match std::fs::read_dir(folder) {
                Err(e) => findings.push(Finding::problem(
                    AREA,
                    format!("the folder of .icd files, {}, cannot be read: {e}", folder.display()),
                    "create it, or set OCL_ICD_VENDORS to a folder that exists",
                )),
                Ok(dir) => {
                    let mut files: Vec<PathBuf> = dir.flatten().map(|f| f.path()).collect();
                    files.retain(|p| p.extension().is_some_and(|e| e == "icd"));
                    files.sort();
                    if files.is_empty() {
                        findings.push(Finding::problem(
                            AREA,
                            format!("there is no .icd file in {}", folder.display()),
                            "install a driver, or register Cloom's as said below",
                        ));
                    }
                    entries.extend(files.iter().map(|f| read_icd(f)));
                }
            },
        }
    }
    entries
}

/// Tries every driver.
pub fn look(loader: &Loader) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    let mut registered = false;
    if loader.file.is_some() && loader.kind != Kind::NoLoader {
        for entry in entries(&places(loader, variable), &mut findings) {
            match &entry.library {
                Err(why) => findings.push(Finding::problem(
                    AREA,
                    format!("{} {why}", entry.origin),
                    "write the path of the driver into it, or delete it",
                )),
                Ok(library) => {
                    let is_cloom = Path::new(library).file_name().is_some_and(|n| n == driver::FILE);
                    let before = findings.len();
                    try_driver(&entry.origin, library, true, &mut findings)?;
                    let works = findings[before..].iter().all(|f| f.status != super::Status::Problem);
                    registered |= is_cloom && works;
                }
            }
        }
    }
    findings.extend(own_driver(loader, registered)?);
    Ok(findings)
}

/// Whether Cloom's own driver is there and programs will find it.
fn own_driver(loader: &Loader, registered: bool) -> Result<Vec<Finding>, Failure> {
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
    let advice = format!(
        "echo {shown} | sudo tee {DEFAULT}/cloom.icd; or, for one program: OCL_ICD_VENDORS={shown} program. \
         `cloom run` finds the driver by itself"
    );
    findings.push(Finding::problem(AREA, format!("{shown} is not registered: programs do not find Cloom"), advice));
    try_driver("beside this program", &path.display().to_string(), loader.file.is_some(), &mut findings)?;
    Ok(findings)
}

/// Loads a driver in one process, and lets its devices compute in another.
fn try_driver(origin: &str, library: &str, loader: bool, findings: &mut Vec<Finding>) -> Result<(), Failure> {
    let failed = |e: std::io::Error| Failure::wrong(format!("cannot start a process: {e}"));
    let here = format!("{library} ({origin})");
    let folder = tempfile::tempdir().map_err(|e| Failure::wrong(format!("no temporary folder: {e}; set TMPDIR")))?;
    let mut command = child::myself("--version")?;
    command.env("LD_PRELOAD", preload_name(library, folder.path()));
    let loaded = child::run(&mut command, child::LIMIT).map_err(failed)?;
    if let Some((why, advice)) = load_error(library, &loaded.err) {
        findings.push(Finding::problem(AREA, format!("{here} cannot be loaded: {why}"), advice));
        return Ok(());
    }
    if let Some(trouble) = loaded.trouble() {
        let advice = "update or remove this driver: every OpenCL program on this machine suffers from it";
        findings.push(Finding::problem(AREA, format!("{here} {trouble} as soon as it is loaded"), advice));
        return Ok(());
    }
    let mut command = child::myself("probe")?;
    if loader {
        let icd = folder.path().join("one.icd");
        std::fs::write(&icd, format!("{library}\n")).map_err(|e| Failure::wrong(format!("{}: {e}", icd.display())))?;
        command.env("OCL_ICD_VENDORS", folder.path()).env_remove("OCL_ICD_FILENAMES").env_remove("OPENCL_VENDOR_PATH");
    } else {
        driver::only(&mut command, Path::new(library), false);
    }
    let ended = child::run(&mut command, child::LIMIT).map_err(failed)?;
    if let Some(trouble) = ended.trouble() {
        let last = ended.err.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("nothing was printed");
        let advice = "update it, or remove its .icd file: programs that use it will do the same";
        findings.push(Finding::problem(AREA, format!("{here} {trouble} in use: {last}"), advice));
        return Ok(());
    }
    let report = loader::report(&ended.out).unwrap_or_default();
    if report.devices.is_empty() {
        findings.push(no_platform(&here, library, report.error.as_deref()));
    }
    for device in &report.devices {
        let name = format!("{here}: {}, {}", device.platform, device.name);
        findings.push(match &device.error {
            None => Finding::ok(AREA, format!("{name}: computes")),
            Some(e) => Finding::problem(
                AREA,
                format!("{name}: cannot run a kernel: {}", e.trim()),
                "update this driver; `CLOOM_LOG=1` makes Cloom's tell more",
            ),
        });
    }
    Ok(())
}

/// What stands in `LD_PRELOAD`, where spaces and colons separate: a link without them, if need be.
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

/// What the dynamic linker said about a library that it could not load, and what to do.
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

    fn ocl_icd() -> Loader {
        Loader { kind: Kind::OclIcd, reads: vec!["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"], ..Loader::default() }
    }

    fn found(loader: &Loader, vars: &[(&str, &str)]) -> Vec<Place> {
        places(loader, |name| vars.iter().find(|v| v.0 == name).map(|v| v.1.to_owned()))
    }

    #[test]
    fn variables_mean_what_the_loaders_make_of_them() {
        let l = ocl_icd();
        assert_eq!(found(&l, &[]), [Place::Folder(DEFAULT.into())]);
        assert_eq!(found(&l, &[("OPENCL_VENDOR_PATH", "/v")]), [Place::Folder("/v".into())]);
        assert_eq!(
            found(&l, &[("OPENCL_VENDOR_PATH", "/v"), ("OCL_ICD_VENDORS", "/tmp")]),
            [Place::Folder("/tmp".into())]
        );
        assert_eq!(found(&l, &[("OCL_ICD_VENDORS", "/a/b.icd")]), [Place::File("/a/b.icd".into())]);
        assert_eq!(found(&l, &[("OCL_ICD_VENDORS", "libx.so")]), [Place::Library("libx.so".into())]);
        // Not read by this loader.
        assert_eq!(found(&l, &[("OCL_ICD_FILENAMES", "/x.so")]), [Place::Folder(DEFAULT.into())]);
        let khronos =
            Loader { kind: Kind::Khronos, reads: vec!["OCL_ICD_VENDORS", "OCL_ICD_FILENAMES"], ..Loader::default() };
        assert_eq!(
            found(&khronos, &[("OCL_ICD_FILENAMES", "/x.so:/y.so"), ("OCL_ICD_VENDORS", "/v")]),
            [Place::Library("/x.so".into()), Place::Library("/y.so".into()), Place::Folder("/v".into())]
        );
    }

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

    #[test]
    fn an_icd_file_needs_a_first_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.icd");
        std::fs::write(&path, "\n/x.so\n").unwrap();
        assert!(read_icd(&path).library.unwrap_err().contains("first line"));
        std::fs::write(&path, "/x.so \r\nmore\n").unwrap();
        assert_eq!(read_icd(&path).library.unwrap(), "/x.so");
        assert!(read_icd(&dir.path().join("b.icd")).library.is_err());
    }
}
