//! Errors: every message says what to do next.

use opencl3::error_codes::ClError;
use std::path::PathBuf;

/// The result of whatever the gallery does.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No OpenCL library could be loaded.
    #[error("no OpenCL library: install an ICD loader (Debian: ocl-icd-libopencl1), or name one in OPENCL_DYLIB_PATH")]
    NoLoader,
    /// The loader knows no platform.
    #[error(
        "no OpenCL platform: install one, or point OCL_ICD_VENDORS to a folder of .icd files (`cloom doctor` tells more)"
    )]
    NoPlatform,
    /// A name that stands for nothing.
    #[error("no {what} `{wanted}`; there are: {}", have.join(", "))]
    NotFound {
        /// What kind of thing.
        what: &'static str,
        /// What was asked for.
        wanted: String,
        /// What there is.
        have: Vec<String>,
    },
    /// The kernel did not compile.
    #[error("{program}: the program does not build with `{options}`\n{log}")]
    Build {
        /// Whose source.
        program: String,
        /// The build options.
        options: String,
        /// The compiler's log.
        log: String,
    },
    /// A call failed.
    #[error("{call}: {code}")]
    Call {
        /// Which call.
        call: String,
        /// Its error.
        code: ClError,
    },
    /// A kernel wrote after the end of a buffer.
    #[error(
        "a kernel wrote past the end of a buffer of {len} elements: element {at}; check what it does at the end of its range"
    )]
    Overrun {
        /// How many elements the buffer has.
        len: usize,
        /// The first changed one after its end.
        at: usize,
    },
    /// A parameter that the program cannot work with.
    #[error("{0}")]
    Params(String),
    /// The device lacks what the variant is about.
    #[error("not on this device: {0}")]
    Unsupported(String),
    /// Whoever watches the run told it to end.
    #[error("cancelled after {done} of {of} parts; what was finished before is kept")]
    Cancelled {
        /// How many parts were done.
        done: usize,
        /// Of how many.
        of: usize,
    },
    /// A process of several that has done its part of a run; the first one has the result.
    #[error("rank {rank} has done its part; rank 0 has the result")]
    NotFirst {
        /// Which one.
        rank: usize,
    },
    /// A file that could not be read or written.
    #[error("{}: {why}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

impl Error {
    /// Says which call failed.
    pub(crate) fn call(call: impl Into<String>) -> impl FnOnce(ClError) -> Error {
        let call = call.into();
        move |code| match code.0 {
            opencl3::error_codes::DLOPEN_RUNTIME_LOAD_FAILED => Error::NoLoader,
            // The loader's code for an empty list of platforms.
            -1001 => Error::NoPlatform,
            _ => Error::Call { call, code },
        }
    }
}
