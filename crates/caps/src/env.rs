//! The environment variables that Cloom reads, each declared once; `cloom doctor` and the documentation print the table
//! of Cloom's own. Every read goes through one function, which finds no variable in a program with more rights than its
//! caller (as `secure_getenv` does): the caller could name files that only the program may read or write.

use crate::secure;
use std::ffi::OsString;
use std::path::PathBuf;

/// One environment variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Var {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// The default.
    pub default: &'static str,
}

impl Var {
    /// Its value in this process; an empty one counts as none, so that a script can switch a variable off.
    pub fn get(&self) -> Option<String> {
        self.read()?.into_string().ok()
    }

    /// Its value as a path, which need not be Unicode.
    pub fn path(&self) -> Option<PathBuf> {
        self.read().map(PathBuf::from)
    }

    /// The only place at which a variable is read.
    fn read(&self) -> Option<OsString> {
        if secure::is_privileged() {
            return None;
        }
        std::env::var_os(self.name).filter(|v| !v.is_empty())
    }

    /// Whether it is set to something that means yes.
    pub fn is_on(&self) -> bool {
        // A variable that is not set is neither on nor off, so that each user has a default of its own.
        self.get().is_some_and(|v| !matches!(v.as_str(), "0" | "no" | "off" | "false"))
    }

    /// Whether it is set to something that means no.
    pub fn is_off(&self) -> bool {
        self.get().is_some_and(|v| matches!(v.as_str(), "0" | "no" | "off" | "false"))
    }
}

/// `CLOOM_LOG`
pub const LOG: Var = Var {
    name: "CLOOM_LOG",
    meaning: "1: each failed call and command is told on the standard error stream, with its reason",
    default: "0",
};
/// `CLOOM_THREADS`
pub const THREADS: Var = Var {
    name: "CLOOM_THREADS",
    meaning: "how many threads run kernels",
    default: "as many as the process may use cores, by its affinity mask and the CPU quota of its control groups",
};
/// `CLOOM_CPU`
pub const CPU: Var = Var {
    name: "CLOOM_CPU",
    meaning: "the instructions that code is made of: sse4.2, avx2, avx512 or avx512+intel (on Arm neon); refused if the machine lacks it",
    default: "what the machine has",
};
/// `CLOOM_DEVICES`
pub const DEVICES: Var = Var {
    name: "CLOOM_DEVICES",
    meaning: "the kinds of devices that are offered, the default one first: cpu, gpu, or both, separated by commas; without gpu, \
              the library of NVIDIA's driver is not loaded",
    default: "cpu,gpu",
};
/// `CLOOM_GPU_HELPER`
pub const GPU_HELPER: Var = Var {
    name: "CLOOM_GPU_HELPER",
    meaning: "the program cloom, by its name or path: a process of it owns the GPUs, so that programs go on after a kernel's fault",
    default: "none: the program itself owns them",
};
/// `CLOOM_CACHE`
pub const CACHE: Var = Var {
    name: "CLOOM_CACHE",
    meaning: "0: compiled kernels are neither kept on disk nor taken from there",
    default: "1",
};
/// `CLOOM_CACHE_DIR`
pub const CACHE_DIR: Var = Var {
    name: "CLOOM_CACHE_DIR",
    meaning: "the folder in which compiled kernels are kept",
    default: "$XDG_CACHE_HOME/cloom, or ~/.cache/cloom",
};

/// `CLOOM_LANES`
pub const LANES: Var = Var {
    name: "CLOOM_LANES",
    meaning: "how many work-items run in the lanes of a vector, 1 to 64; 1: one after the other",
    default: "what suits the kernel and the machine",
};

/// `CLOOM_REMARKS`
pub const REMARKS: Var = Var {
    name: "CLOOM_REMARKS",
    meaning: "1: the build log says what became of each loop, branch and access of a kernel, and why; building takes longer",
    default: "0",
};

/// `CLOOM_QUICK_START`
pub const QUICK_START: Var = Var {
    name: "CLOOM_QUICK_START",
    meaning: "0: launches wait for the optimised code of their kernel, and do not begin with other code until that is made",
    default: "1",
};

/// `CLOOM_DISABLE`
pub const DISABLE: Var = Var {
    name: "CLOOM_DISABLE",
    meaning: "names of compiler passes, separated by commas, that do not run: code is slower, and a wrong result that is right \
              without a pass is that pass's; `cloom show --stage passes` names those of a kernel",
    default: "every pass runs",
};

/// `CLOOM_COUNTS`
pub const COUNTS: Var = Var {
    name: "CLOOM_COUNTS",
    meaning: "a file to which each launch appends a line of JSON: how many machine operations of each class it executed; kernels \
              run several times slower, and only x86 counts",
    default: "nothing is counted",
};

/// `CLOOM_CONFINE_INCLUDES`
pub const CONFINE_INCLUDES: Var = Var {
    name: "CLOOM_CONFINE_INCLUDES",
    meaning: "1: `#include` finds files in the folders of `-I` only, after links are resolved, so that a source from elsewhere has \
              no other file quoted in the build log",
    default: "0; 1 in set-user-ID programs",
};

/// `CLOOM_CHECK`
pub const CHECK: Var = Var {
    name: "CLOOM_CHECK",
    meaning: "1, or kinds and groups of findings, separated by commas: launches are checked, and the program ends with a \
              report; that takes much longer, but for `bounds`, which is compiled; see `cloom check`",
    default: "0",
};

/// `CLOOM_CHECK_OUTPUT`
pub const CHECK_OUTPUT: Var = Var {
    name: "CLOOM_CHECK_OUTPUT",
    meaning: "the file for the report of `CLOOM_CHECK`; `%p` stands for the number of the process",
    default: "the standard error stream",
};

/// `CLOOM_CHECK_FORMAT`
pub const CHECK_FORMAT: Var = Var {
    name: "CLOOM_CHECK_FORMAT",
    meaning: "the form of the report of `CLOOM_CHECK`: text, json, sarif, github or html",
    default: "text",
};

/// `CLOOM_CHECK_SUPPRESS`
pub const CHECK_SUPPRESS: Var = Var {
    name: "CLOOM_CHECK_SUPPRESS",
    meaning: "a file of rules that hide findings of `CLOOM_CHECK`: `KIND:FILE-GLOB[:FUNCTION]` in each line",
    default: "cloom-check.suppress, if it is there",
};

/// `CLOOM_CHECK_STATUS`
pub const CHECK_STATUS: Var = Var {
    name: "CLOOM_CHECK_STATUS",
    meaning: "a file to which each process adds a line: 1 if `CLOOM_CHECK` has found something, else 0",
    default: "none",
};

/// `CLOOM_CHECK_SECONDS`
pub const CHECK_SECONDS: Var = Var {
    name: "CLOOM_CHECK_SECONDS",
    meaning: "about how many seconds `CLOOM_CHECK` takes for a launch, in whole seconds; a longer one is run by its device, unchecked; \
              counted in instructions, so that each run finds the same",
    default: "60",
};

/// `CLOOM_SAFE`
pub const SAFE: Var = Var {
    name: "CLOOM_SAFE",
    meaning: "1: kernels neither read nor write outside of their buffers and arrays; what they read there is 0",
    default: "0",
};

/// `CLOOM_SAFE_SECONDS`
pub const SAFE_SECONDS: Var = Var {
    name: "CLOOM_SAFE_SECONDS",
    meaning: "how long a launch with checked accesses may take on the CPU, in whole seconds",
    default: "10",
};

/// Every variable of Cloom's own.
pub const VARS: &[Var] = &[
    LOG,
    THREADS,
    CPU,
    DEVICES,
    GPU_HELPER,
    LANES,
    DISABLE,
    REMARKS,
    QUICK_START,
    COUNTS,
    CHECK,
    CHECK_OUTPUT,
    CHECK_FORMAT,
    CHECK_SUPPRESS,
    CHECK_STATUS,
    CHECK_SECONDS,
    SAFE,
    SAFE_SECONDS,
    CACHE,
    CACHE_DIR,
    CONFINE_INCLUDES,
];

/// `XDG_CACHE_HOME`, which is not Cloom's.
pub const XDG_CACHE_HOME: Var = Var { name: "XDG_CACHE_HOME", meaning: "the folder of caches", default: "~/.cache" };
/// `HOME`, which is not Cloom's.
pub const HOME: Var = Var { name: "HOME", meaning: "the user's folder", default: "none" };
