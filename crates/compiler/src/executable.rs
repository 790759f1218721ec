//! A program on a target: a cell per kernel, filled once, by whoever comes first.

use crate::kernel::{self, Built};
use crate::{CompileError, Compiler, Program};
use std::sync::{Arc, OnceLock};

/// A program that can run: its kernels are compiled when they are asked for, or in the background before.
pub struct Executable {
    compiler: Arc<Compiler>,
    program: Arc<Program>,
    target: String,
    kernels: Vec<(String, OnceLock<Result<Built, CompileError>>)>,
}

impl Executable {
    pub(crate) fn new(compiler: Arc<Compiler>, program: Arc<Program>, target: String) -> Arc<Self> {
        let kernels = program.kernels().map(|(name, _)| (name.to_owned(), OnceLock::new())).collect();
        Arc::new(Self { compiler, program, target, kernels })
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// What its code is for.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// A kernel's code. Compiles it at once, on this thread, unless that is done or under way elsewhere: so a kernel that is
    /// needed now does not wait behind others.
    pub fn kernel(&self, name: &str) -> Result<&Built, CompileError> {
        let i = self.kernels.iter().position(|(n, _)| n == name);
        i.map_or_else(|| Err(CompileError::NoKernel(name.to_owned())), |i| self.get(i))
    }

    fn get(&self, i: usize) -> Result<&Built, CompileError> {
        let (name, cell) = &self.kernels[i];
        let built = cell.get_or_init(|| kernel::compile(&self.compiler, &self.program, name, &self.target, false));
        built.as_ref().map_err(Clone::clone)
    }

    /// How many kernels there are.
    pub(crate) fn len(&self) -> usize {
        self.kernels.len()
    }

    /// Compiles a kernel if nobody did. What went wrong is told to whoever asks for it.
    pub(crate) fn prepare(&self, i: usize) {
        if i < self.kernels.len() {
            let _ = self.get(i);
        }
    }
}
