//! A program on a target: cells for each kernel, filled once, by whoever comes first.
//!
//! The code that stays takes LLVM long to make: masks, two copies of loops, wide vectors on narrow registers. So a kernel that is
//! wanted at once may begin with code that is made in a tenth of the time ([`Executable::quick_kernel`]), while a thread
//! in the background makes the other. Whoever launches asks from group to group whether that is there.

use crate::kernel::{self, Built, Purpose, Variant};
use crate::{CompileError, Compiler, Program, remarks};
use cloom_artifact::KernelArtifact;
use cloom_target::Target;
use std::sync::{Arc, OnceLock};

/// A kernel's code in one variant, or why there is none.
type Cell = OnceLock<Result<Built, CompileError>>;

/// The code of a kernel.
#[derive(Default)]
struct Cells {
    /// By [`Variant::index`].
    variants: [Cell; Variant::COUNT],
    /// Nothing if the kernel has none, or had better code by then.
    quick: OnceLock<Option<Arc<KernelArtifact>>>,
}

impl Cells {
    fn of(&self, variant: Variant) -> &Cell {
        &self.variants[variant.index()]
    }
}

/// A program that can run: its kernels are compiled when they are asked for, or in the background when they are expected.
pub struct Executable {
    compiler: Arc<Compiler>,
    program: Arc<Program>,
    target: Target,
    kernels: Vec<(String, Cells)>,
}

impl Executable {
    pub(crate) fn new(compiler: Arc<Compiler>, program: Arc<Program>, target: Target) -> Arc<Self> {
        let kernels = program.kernels().map(|(name, _)| (name.to_owned(), Default::default())).collect();
        Arc::new(Self { compiler, program, target, kernels })
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// What its code is for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// A kernel's code. Compiles it at once, on this thread, unless that is done or under way elsewhere: so a kernel that is
    /// needed now does not wait behind others.
    pub fn kernel(&self, name: &str, variant: Variant) -> Result<&Built, CompileError> {
        let i = self.index(name).ok_or_else(|| CompileError::NoKernel(name.to_owned()))?;
        self.get(i, variant)
    }

    /// A kernel will be asked for: it is compiled in the background from now on. (Programs may have many that nobody uses; compiling them
    /// all would take the cores from the first launches.) False if nobody compiles in the background.
    pub fn expect(self: &Arc<Self>, name: &str, variant: Variant) -> bool {
        if let Some(i) = self.index(name) {
            self.compiler.queue.push(self, i, variant);
        }
        self.compiler.queue.is_active()
    }

    /// A kernel's code, if it is made.
    pub fn made_kernel(&self, name: &str, variant: Variant) -> Option<&Built> {
        self.kernels[self.index(name)?].1.of(variant).get()?.as_ref().ok()
    }

    /// Code to begin with while a thread makes what [`Executable::kernel`] gives for most launches. Nothing if that is made already, or
    /// nobody would make it, or the kernel is not suited.
    pub fn quick_kernel(self: &Arc<Self>, name: &str) -> Option<Arc<KernelArtifact>> {
        self.quick(self.index(name)?)
    }

    fn quick(self: &Arc<Self>, i: usize) -> Option<Arc<KernelArtifact>> {
        let (name, cells) = self.kernels.get(i)?;
        if cells.of(Variant::Vector).get().is_some() {
            return None;
        }
        let make = || {
            if !self.compiler.begins_quickly(&self.program) {
                return None;
            }
            if let Some(built) = kernel::cached(&self.compiler, &self.program, name, &self.target) {
                // Somebody else may have been quicker.
                let _ = cells.of(Variant::Vector).set(Ok(built));
                return None;
            }
            self.compiler.queue.hurry(self, i, Variant::Vector);
            let quick = kernel::compile(&self.compiler, &self.program, name, &self.target, Purpose::Begin);
            quick.ok().map(|built| built.artifact)
        };
        cells.quick.get_or_init(make).clone()
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.kernels.iter().position(|(n, _)| n == name)
    }

    fn get(&self, i: usize, variant: Variant) -> Result<&Built, CompileError> {
        let (name, cells) = &self.kernels[i];
        let make = || kernel::compile(&self.compiler, &self.program, name, &self.target, Purpose::Stay(variant));
        cells.of(variant).get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// For the build log: what the vectoriser makes of each kernel, and why; empty unless [`Config::remarks`](crate::Config::remarks) asks
    /// for it. It is worked out here whether the machine code exists, comes from the cache, or is made at the first launch.
    pub fn remarks(&self) -> String {
        match self.compiler.remarks {
            true => remarks::text(&self.compiler, &self.program, &self.target),
            false => String::new(),
        }
    }

    /// Makes code of a kernel with which it can begin.
    pub(crate) fn prepare_first(self: &Arc<Self>, i: usize) {
        if self.quick(i).is_none() {
            self.prepare(i, Variant::Vector);
        }
    }

    /// Compiles a kernel if nobody did. What went wrong is told to whoever asks for it.
    pub(crate) fn prepare(&self, i: usize, variant: Variant) {
        if i < self.kernels.len() {
            let _ = self.get(i, variant);
        }
    }
}
