//! A program as a file: verified IR, its kind and its build options.

use serde::{Deserialize, Serialize};

/// What `CL_PROGRAM_BINARY_TYPE` tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ImageKind {
    /// From `clCompileProgram`: may have undefined functions.
    Object,
    /// From `clLinkProgram -create-library`.
    Library,
    /// Ready to run.
    Executable,
}

/// A program as a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProgramImage {
    /// What it can be used for.
    pub kind: ImageKind,
    /// The options it was built with.
    pub options: String,
    /// Whether argument names were kept (`-cl-kernel-arg-info`, or source at hand).
    pub arg_info: bool,
    /// The module in the text form of the IR.
    pub ir: String,
}
