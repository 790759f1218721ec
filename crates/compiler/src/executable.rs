//! A program on a target: a cell per kernel, filled once, by whoever comes first.

use crate::kernel::{self, Built, Variant};
use crate::{CompileError, Compiler, Program, remarks};
use std::sync::{Arc, OnceLock};

/// A kernel's code in one variant, or why there is none.
type Cell = OnceLock<Result<Built, CompileError>>;

/// A program that can run: its kernels are compiled when they are asked for, or in the background before.
pub struct Executable {
    compiler: Arc<Compiler>,
    program: Arc<Program>,
    target: String,
    kernels: Vec<(String, [Cell; 2])>,
}

impl Executable {
    pub(crate) fn new(compiler: Arc<Compiler>, program: Arc<Program>, target: String) -> Arc<Self> {
        let kernels = program.kernels().map(|(name, _)| (name.to_owned(), Default::default())).collect();
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
        self.find(name, Variant::Lanes)
    }

    /// A kernel's code for launches that the other one does not take: with larger ids than [`KernelArtifact::max_id`].
    ///
    /// [`KernelArtifact::max_id`]: cloom_artifact::KernelArtifact::max_id
    pub fn plain_kernel(&self, name: &str) -> Result<&Built, CompileError> {
        self.find(name, Variant::Plain)
    }

    fn find(&self, name: &str, variant: Variant) -> Result<&Built, CompileError> {
        let i = self.kernels.iter().position(|(n, _)| n == name);
        i.map_or_else(|| Err(CompileError::NoKernel(name.to_owned())), |i| self.get(i, variant))
    }

    fn get(&self, i: usize, variant: Variant) -> Result<&Built, CompileError> {
        let (name, cells) = &self.kernels[i];
        let make = || kernel::compile(&self.compiler, &self.program, name, &self.target, variant, false);
        let built = cells[variant as usize].get_or_init(make);
        built.as_ref().map_err(Clone::clone)
    }

    /// For the build log: what the vectoriser makes of each kernel, and why; empty unless [`Config::remarks`](crate::Config::remarks) asks
    /// for it. It is worked out here whether the machine code exists, comes from the cache, or is made at the first launch.
    pub fn remarks(&self) -> String {
        match self.compiler.remarks {
            true => remarks::text(&self.compiler, &self.program, &self.target),
            false => String::new(),
        }
    }

    /// How many kernels there are.
    pub(crate) fn len(&self) -> usize {
        self.kernels.len()
    }

    /// Compiles a kernel if nobody did. What went wrong is told to whoever asks for it.
    pub(crate) fn prepare(&self, i: usize) {
        if i < self.kernels.len() {
            let _ = self.get(i, Variant::Lanes);
        }
    }
}
