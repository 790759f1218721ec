//! The ICD loader: which `libOpenCL` a program gets, whether it is a loader at all, and which variables it reads.

use super::child;
use super::{Finding, Status};
use crate::outcome::Failure;
use crate::probe::{MARK, Report};
use memchr::memmem;

const AREA: &str = "loader";

/// The library that programs get.
#[derive(Debug, Default)]
pub struct Loader {
    /// Its file.
    pub file: Option<String>,
    /// Why there is none.
    pub error: Option<String>,
    /// The names in its file that concern where it looks for drivers.
    pub reads: Vec<&'static str>,
    /// Which one it is.
    pub kind: Kind,
}

/// Which loader it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// ocl-icd, Debian's.
    OclIcd,
    /// The one of the Khronos group.
    Khronos,
    /// Another program that reads .icd files.
    Other,
    /// None that reads .icd files: a driver in the loader's place.
    #[default]
    NoLoader,
}

const FOLDER: &str = "/etc/OpenCL/vendors";

impl Loader {
    /// From the bytes of its file: the names of the variables that it reads stand there.
    fn recognise(&mut self, bytes: &[u8]) {
        let has = |text: &str| memmem::find(bytes, text.as_bytes()).is_some();
        let names = ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES", "OPENCL_LAYERS"];
        self.reads = names.into_iter().filter(|n| has(n)).collect();
        self.kind = match (has("clGetICDLoaderInfoOCLICD"), has("OCL_ICD_FILENAMES"), has(FOLDER)) {
            (true, ..) => Kind::OclIcd,
            (_, true, _) => Kind::Khronos,
            (.., true) => Kind::Other,
            _ => Kind::NoLoader,
        };
    }
}

/// Finds it: a process that uses OpenCL tells which file it got.
pub fn find() -> Result<Loader, Failure> {
    let mut command = child::myself("probe")?;
    // An empty list of drivers, so that none of them has a say yet.
    let empty = tempfile::tempdir().map_err(|e| Failure::wrong(format!("no temporary folder: {e}; set TMPDIR")))?;
    command.env("OCL_ICD_VENDORS", empty.path()).env_remove("OCL_ICD_FILENAMES").env_remove("OPENCL_VENDOR_PATH");
    let ended =
        child::run(&mut command, child::LIMIT).map_err(|e| Failure::wrong(format!("cannot start a process: {e}")))?;
    let mut loader = Loader::default();
    match (report(&ended.out), ended.trouble()) {
        (_, Some(trouble)) => loader.error = Some(format!("a program that loads libOpenCL {trouble}")),
        (None, None) => loader.error = Some("a program that loads libOpenCL ends without a word".into()),
        (Some(report), None) => match report.library {
            Some(file) => {
                loader.recognise(&std::fs::read(&file).unwrap_or_default());
                loader.file = Some(file);
            }
            None => loader.error = report.error,
        },
    }
    Ok(loader)
}

/// What `cloom probe` has printed.
pub fn report(out: &str) -> Option<Report> {
    let line = out.lines().rev().find_map(|l| l.strip_prefix(MARK))?;
    serde_json::from_str(line).ok()
}

/// What to think of it.
pub fn judge(loader: &Loader) -> Vec<Finding> {
    let Some(file) = &loader.file else {
        let why = loader.error.as_deref().unwrap_or("libOpenCL.so.1 is not there");
        let advice = "install an ICD loader (Debian: apt install ocl-icd-libopencl1), or let Cloom stand in its place: link \
                      libcloom.so as libOpenCL.so.1 into a folder of LD_LIBRARY_PATH";
        return vec![Finding::problem(AREA, format!("no loader: {why}"), advice)];
    };
    let name = match loader.kind {
        Kind::OclIcd => "ocl-icd",
        Kind::Khronos => "the Khronos loader",
        Kind::Other => "a loader",
        Kind::NoLoader => {
            let advice = "it hides every other platform; put the folder of a real loader first in LD_LIBRARY_PATH, or unset OPENCL_DYLIB_PATH";
            return vec![Finding::warning(AREA, format!("{file} reads no .icd files: it is a driver itself"), advice)];
        }
    };
    let mut findings = vec![Finding::ok(AREA, format!("{file} is {name}; it reads {}", loader.reads.join(", ")))];
    for variable in ["OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH"] {
        if std::env::var_os(variable).is_some_and(|v| !v.is_empty()) && !loader.reads.contains(&variable) {
            let advice = "OCL_ICD_VENDORS, set to a folder of .icd files, is what it reads";
            findings.push(Finding::warning(
                AREA,
                format!("{variable} is set, and this loader does not read it"),
                advice,
            ));
        }
    }
    debug_assert!(findings.iter().all(|f| f.status != Status::Problem));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loaders_are_told_apart_by_what_they_read() {
        let kind = |text: &str| {
            let mut l = Loader::default();
            l.recognise(text.as_bytes());
            (l.kind, l.reads)
        };
        assert_eq!(
            kind("..OCL_ICD_VENDORS\0clGetICDLoaderInfoOCLICD\0/etc/OpenCL/vendors"),
            (Kind::OclIcd, vec!["OCL_ICD_VENDORS"])
        );
        assert_eq!(kind("OCL_ICD_FILENAMES\0/etc/OpenCL/vendors\0OCL_ICD_VENDORS").0, Kind::Khronos);
        assert_eq!(kind("some driver"), (Kind::NoLoader, vec![]));
    }

    #[test]
    fn no_loader_is_a_problem_and_a_driver_in_its_place_a_warning() {
        let none = judge(&Loader::default());
        assert_eq!(none[0].status, Status::Problem);
        assert!(none[0].advice.as_deref().is_some_and(|a| a.contains("ocl-icd-libopencl1")));
        let driver = Loader { file: Some("/x/libOpenCL.so.1".into()), ..Loader::default() };
        assert_eq!(judge(&driver)[0].status, Status::Warning);
    }

    #[test]
    fn the_report_is_found_behind_what_drivers_print() {
        let out = format!("chatter\n{MARK}{{\"library\":null,\"error\":\"e\",\"devices\":[]}}\n");
        assert_eq!(report(&out).unwrap().error.as_deref(), Some("e"));
        assert!(report("chatter").is_none());
    }
}
