//! Errors, whose messages say what to do.

use cloom_runtime as rt;
use std::fmt;

pub use cloom_runtime::{Diagnostic, Status};

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no device: the processor lacks the least set of instructions, or `CLOOM_CPU` asks for one that it
    /// lacks.
    #[error("no device: {0}")]
    NoDevice(String),
    /// The source does not compile; the error has the diagnostics.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A slice does not have as many elements as the buffer.
    #[error("the buffer has {buffer} elements, the slice {slice}: give a slice of the same length")]
    Length {
        /// Elements of the buffer.
        buffer: usize,
        /// Elements of the slice.
        slice: usize,
    },
    /// A launch with more or fewer arguments than the kernel has parameters.
    #[error("kernel `{kernel}` takes {expected} arguments, {given} are given")]
    ArgumentCount {
        /// The kernel.
        kernel: String,
        /// Its parameters.
        expected: usize,
        /// The arguments of the launch.
        given: usize,
    },
    /// An argument of another type than the parameter.
    #[error("argument {index} (`{name}`) of kernel `{kernel}` is `{expected}`, not {given}")]
    ArgumentType {
        /// The kernel.
        kernel: String,
        /// Which argument, from 0.
        index: u32,
        /// The parameter's name.
        name: String,
        /// The parameter's type in the source.
        expected: String,
        /// The Rust type of the argument.
        given: &'static str,
    },
    /// A violation of OpenCL's rules, or a failed command: its status, and the reason.
    #[error("{}: {why}", status.name())]
    OpenCl {
        /// The error code of the specification; [`Status::name`] is its name there: `CL_INVALID_WORK_GROUP_SIZE`.
        status: Status,
        /// The reason, in words.
        why: String,
    },
}

impl From<rt::Error> for Error {
    fn from(error: rt::Error) -> Error {
        Error::OpenCl { status: error.status, why: error.why.into_owned() }
    }
}

/// Why a source does not compile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildError {
    /// The errors and warnings, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// The build log: the same for people, with the lines of the source.
    pub log: String,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the program does not build:\n{}", self.log)
    }
}

impl std::error::Error for BuildError {}
