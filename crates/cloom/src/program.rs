//! Programs: compiled OpenCL C or SPIR-V. In comes source or a module; out come kernels by name, or the diagnostics.

use crate::{Context, Diagnostic, Error, Kernel};
use cloom_runtime as rt;
use std::fmt;
use std::sync::Arc;

/// A compiled program.
#[derive(Clone)]
pub struct Program {
    pub(crate) runtime: Arc<rt::Program>,
    pub(crate) context: Context,
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

impl Program {
    pub(crate) fn build(context: &Context, source: &str, options: &str) -> Result<Program, BuildError> {
        Program::finish(context, rt::Program::with_source(&context.runtime, source.as_bytes().to_vec()), options)
    }

    pub(crate) fn build_il(context: &Context, il: &[u8], options: &str) -> Result<Program, BuildError> {
        match rt::Program::with_il(&context.runtime, il.to_vec()) {
            Ok(runtime) => Program::finish(context, runtime, options),
            Err(error) => Err(BuildError { diagnostics: Vec::new(), log: error.to_string() }),
        }
    }

    fn finish(context: &Context, runtime: Arc<rt::Program>, options: &str) -> Result<Program, BuildError> {
        match runtime.build_for(None, Some(options), None) {
            Ok(()) => Ok(Program { runtime, context: context.clone() }),
            Err(error) => {
                let state = runtime.build(0);
                let log = if state.log.is_empty() { error.to_string() } else { state.log };
                Err(BuildError { diagnostics: state.diagnostics, log })
            }
        }
    }

    /// Warnings of the build.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.runtime.build(0).diagnostics
    }

    /// The names of its kernels, in the order of the source.
    pub fn kernels(&self) -> Vec<String> {
        self.runtime.kernels().unwrap_or_default()
    }

    /// A kernel by name.
    ///
    /// # Errors
    /// When the program has no kernel of this name.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        Kernel::new(self, name)
    }
}
