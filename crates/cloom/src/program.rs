//! Programs: compiled OpenCL C or SPIR-V. In comes source or a module; out come kernels by name, or the diagnostics.

use crate::shared::Shared;
use crate::{BuildError, Diagnostic, Error, Kernel};
use cloom_runtime as rt;
use std::fmt;
use std::sync::Arc;

/// A compiled program.
#[derive(Clone)]
pub struct Program {
    runtime: Arc<rt::Program>,
    context: Arc<Shared>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("kernels", &self.kernels()).finish_non_exhaustive()
    }
}

impl Program {
    pub(crate) fn build(context: &Arc<Shared>, source: &str, options: &str) -> Result<Program, BuildError> {
        Program::finish(context, rt::Program::with_source(&context.runtime, source.as_bytes().to_vec()), options)
    }

    pub(crate) fn build_il(context: &Arc<Shared>, il: &[u8], options: &str) -> Result<Program, BuildError> {
        match rt::Program::with_il(&context.runtime, il.to_vec()) {
            Ok(runtime) => Program::finish(context, runtime, options),
            Err(error) => Err(BuildError { diagnostics: Vec::new(), log: error.to_string() }),
        }
    }

    fn finish(context: &Arc<Shared>, runtime: Arc<rt::Program>, options: &str) -> Result<Program, BuildError> {
        match runtime.build_for(None, Some(options), None) {
            Ok(()) => Ok(Program { runtime, context: context.clone() }),
            Err(error) => {
                let state = runtime.build(0);
                // A build that is refused before the compiler begins leaves no log.
                let log = if state.log.is_empty() { error.to_string() } else { state.log };
                Err(BuildError { diagnostics: state.diagnostics, log })
            }
        }
    }

    pub(crate) fn load(context: &Arc<Shared>, binary: &[u8]) -> Result<Program, Error> {
        let devices = context.runtime.devices();
        // A binary holds the compiled program for every device: code for the machine is made of it later.
        let binaries = vec![binary; devices.len()];
        let (runtime, _) = rt::Program::with_binaries(&context.runtime, devices, &binaries);
        let runtime = runtime?;
        runtime.build_for(None, None, None)?;
        Ok(Program { runtime, context: context.clone() })
    }

    /// The compiled program, for [`Context::load`](crate::Context::load): it can be kept in a file, and loaded without
    /// the source.
    pub fn binary(&self) -> Vec<u8> {
        self.runtime.unit(0).map_or_else(Vec::new, |unit| unit.encode())
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
        Ok(Kernel::new(self.runtime.kernel(name)?, &self.context))
    }
}
