//! Identifies the ICD loader: which `libOpenCL` a program gets, whether it is a loader at all, and which variables it
//! reads.
//!
//! A child process loads it and reports the file. The kind and the variables are recognised by strings in that file.

use super::{Finding, Status};
use crate::child;
use crate::outcome::Failure;
use crate::probe::{MARK, Report};
use memchr::memmem;

const AREA: &str = "loader";

/// The variables that tell one loader or another where drivers are.
const VARIABLES: [&str; 3] = ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES"];

/// The library that programs get.
#[derive(Debug, Default)]
pub struct Loader {
    /// Its file.
    pub file: Option<String>,
    /// Why none was found.
    pub error: Option<String>,
    /// The variables that it reads.
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
    /// Not a loader: a driver installed as libOpenCL.
    #[default]
    NoLoader,
}

/// The folder of `.icd` files where no variable names another one.
pub const FOLDER: &str = "/etc/OpenCL/vendors";

impl Loader {
    /// Whether it reads this variable.
    pub fn reads(&self, variable: &str) -> bool {
        self.reads.contains(&variable)
    }

    /// Whether a variable can make it use one driver only.
    pub fn can_be_limited(&self) -> bool {
        self.reads("OCL_ICD_VENDORS") || self.reads("OPENCL_VENDOR_PATH")
    }

    /// The variable that gives it one driver by its path. Where there is none, the driver itself can be loaded first.
    pub fn variable_for_one_driver(&self) -> &'static str {
        match self.kind {
            Kind::OclIcd if self.reads("OCL_ICD_VENDORS") => "OCL_ICD_VENDORS",
            _ if self.reads("OCL_ICD_FILENAMES") => "OCL_ICD_FILENAMES",
            _ => "LD_PRELOAD",
        }
    }

    /// What to do about a variable that it does not read.
    fn instead(&self) -> String {
        if self.reads("OCL_ICD_VENDORS") {
            "set OCL_ICD_VENDORS to a folder of .icd files, which it reads".into()
        } else if self.reads("OCL_ICD_FILENAMES") {
            format!("set OCL_ICD_FILENAMES to the paths of drivers, separated by colons; it also reads {FOLDER} always")
        } else {
            format!(
                "register drivers in {FOLDER}, which is all it reads; or put another loader first in LD_LIBRARY_PATH"
            )
        }
    }

    /// Recognises kind and variables by strings in the bytes of its file.
    fn recognise(&mut self, bytes: &[u8]) {
        let has = |text: &str| memmem::find(bytes, text.as_bytes()).is_some();
        self.reads = VARIABLES.into_iter().chain(["OPENCL_LAYERS"]).filter(|n| has(n)).collect();
        // `clGetICDLoaderInfoOCLICD`, which ocl-icd began, is in newer Khronos loaders too.
        self.kind = match (has("OCL_ICD_FILENAMES"), has("OCL_ICD_ASSUME_ICD_EXTENSION"), has(FOLDER)) {
            (true, ..) => Kind::Khronos,
            (_, true, _) => Kind::OclIcd,
            (.., true) => Kind::Other,
            _ => Kind::NoLoader,
        };
    }
}

/// Finds it: a child process that uses OpenCL reports the file that it loaded.
pub fn find() -> Result<Loader, Failure> {
    let mut command = child::myself("probe")?;
    // With an empty list of drivers, so that a driver that crashes does not hide the loader.
    let empty = tempfile::tempdir().map_err(|e| Failure::wrong(format!("no temporary folder: {e}; set TMPDIR")))?;
    command.env("OCL_ICD_VENDORS", empty.path()).env("OPENCL_VENDOR_PATH", empty.path());
    command.env_remove("OCL_ICD_FILENAMES");
    let ended = child::run_unless_it_hangs(super::quietly(&mut command))
        .map_err(|e| Failure::wrong(format!("cannot start a process: {e}")))?;
    let mut loader = Loader::default();
    match (report(&ended.out), ended.trouble()) {
        // A process that crashed may have printed its report before; the crash is what has to be told.
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

/// The report in the output of `cloom probe`.
pub fn report(out: &str) -> Option<Report> {
    let line = out.lines().rev().find_map(|l| l.strip_prefix(MARK))?;
    serde_json::from_str(line).ok()
}

/// Findings about it.
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
    let reads = if loader.reads.is_empty() { FOLDER.to_owned() } else { loader.reads.join(", ") };
    let mut findings = vec![Finding::ok(AREA, format!("{file} is {name}; it reads {reads}"))];
    for variable in VARIABLES {
        if std::env::var_os(variable).is_some_and(|v| !v.is_empty()) && !loader.reads(variable) {
            let what = format!("{variable} is set, and this loader does not read it");
            findings.push(Finding::warning(AREA, what, loader.instead()));
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
            kind("..OCL_ICD_VENDORS\0OCL_ICD_ASSUME_ICD_EXTENSION\0/etc/OpenCL/vendors"),
            (Kind::OclIcd, vec!["OCL_ICD_VENDORS"])
        );
        let newer = kind("clGetICDLoaderInfoOCLICD\0OCL_ICD_FILENAMES\0/etc/OpenCL/vendors\0OCL_ICD_VENDORS");
        assert_eq!(newer.0, Kind::Khronos);
        assert_eq!(kind("OCL_ICD_FILENAMES\0/etc/OpenCL/vendors\0OCL_ICD_VENDORS").0, Kind::Khronos);
        assert_eq!(kind("some driver"), (Kind::NoLoader, vec![]));
        let names_only = kind("OCL_ICD_FILENAMES\0/etc/OpenCL/vendors");
        assert_eq!(names_only, (Kind::Khronos, vec!["OCL_ICD_FILENAMES"]));
        let loader = Loader { kind: names_only.0, reads: names_only.1, ..Loader::default() };
        assert!(!loader.can_be_limited());
        assert_eq!(loader.variable_for_one_driver(), "OCL_ICD_FILENAMES");
        assert!(loader.instead().starts_with("set OCL_ICD_FILENAMES"));
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
