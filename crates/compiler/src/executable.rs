//! A program on a target: a cell for each piece of code, filled once, by whoever comes first.
//!
//! Optimised code takes LLVM long to make: masks, two copies of loops, wide vectors on narrow registers. So a kernel
//! that is wanted at once may begin with code of the *baseline tier*, made in a tenth of the time
//! ([`Executable::baseline_kernel`]), while a thread in the background makes the optimised code. Whoever launches asks
//! from group to group whether that is there ([`Executable::try_kernel`]), and goes on with it (tier-up).

use crate::backend::Backend;
use crate::kernel::{Built, Request};
use crate::key::{SpecializationKey, Variant};
use crate::{CompileError, Compiler, Program, remarks};
use cloom_artifact::KernelArtifact;
use cloom_target::Target;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// One piece of a kernel's code, or why there is none.
type Cell = Arc<OnceLock<Result<Arc<Built>, CompileError>>>;

/// A kernel and its code.
struct Kernel {
    name: String,
    cells: Mutex<HashMap<SpecializationKey, Cell>>,
}

/// A program that can run: its kernels are compiled when they are asked for, or in the background when they are
/// expected.
pub struct Executable {
    compiler: Arc<Compiler>,
    program: Arc<Program>,
    target: Target,
    /// Or why there is no code for the target.
    backend: Result<Arc<dyn Backend>, CompileError>,
    kernels: Vec<Kernel>,
}

impl Executable {
    pub(crate) fn new(
        compiler: Arc<Compiler>,
        program: Arc<Program>,
        target: Target,
        backend: Result<Arc<dyn Backend>, CompileError>,
    ) -> Arc<Self> {
        let kernel = |name: &str| Kernel { name: name.to_owned(), cells: Mutex::default() };
        let kernels = program.kernels().map(|(name, _)| kernel(name)).collect();
        Arc::new(Self { compiler, program, target, backend, kernels })
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// What its code is for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// A kernel's code. Compiles it at once, on this thread, unless that is done or under way elsewhere: so a kernel
    /// that is needed now does not wait behind others.
    pub fn kernel(&self, name: &str, key: impl Into<SpecializationKey>) -> Result<Arc<Built>, CompileError> {
        let i = self.index(name).ok_or_else(|| CompileError::NoKernel(name.to_owned()))?;
        self.get(i, key.into())
    }

    /// A kernel's code will be asked for: it is compiled in the background from now on. (Programs may have many kernels
    /// that nobody uses; compiling them all would take the cores from the first launches.) False if nobody compiles in
    /// the background.
    pub fn prefetch_kernel(self: &Arc<Self>, name: &str, key: impl Into<SpecializationKey>) -> bool {
        if let Some(i) = self.index(name) {
            self.compiler.queue.push(self, i, self.canonical(i, key.into()));
        }
        self.compiler.queue.is_active()
    }

    /// A kernel's code, if it is made.
    pub fn try_kernel(&self, name: &str, key: impl Into<SpecializationKey>) -> Option<Arc<Built>> {
        self.try_get(self.index(name)?, key.into())?.ok()
    }

    /// Code of the baseline tier, to begin with while a thread makes what [`Executable::kernel`] gives for most
    /// launches. Nothing if that is made already, or nobody would make it, or the kernel or the backend is not suited.
    pub fn baseline_kernel(self: &Arc<Self>, name: &str) -> Option<Arc<KernelArtifact>> {
        self.baseline(self.index(name)?)
    }

    fn baseline(self: &Arc<Self>, i: usize) -> Option<Arc<KernelArtifact>> {
        let request = self.request(i).ok()?;
        if self.try_get(i, Variant::Vector.into()).is_some()
            || !self.compiler.may_tier_up(&self.program, request.backend)
        {
            return None;
        }
        let key = SpecializationKey::baseline();
        let make = || {
            if let Some(built) = request.cached() {
                // Somebody else may have been quicker.
                let _ = self.cell(i, Variant::Vector.into()).set(Ok(Arc::new(built)));
                return Err(CompileError::NoBaseline);
            }
            self.compiler.queue.hurry(self, i, self.canonical(i, Variant::Vector.into()));
            request.compile(&key).map(Arc::new)
        };
        self.cell(i, key.clone()).get_or_init(make).as_ref().ok().map(|built| built.artifact.clone())
    }

    /// For the build log: what is decided about each kernel, and why; empty unless
    /// [`Config::remarks`](crate::Config::remarks) asks for it. It is worked out here whether the machine code exists,
    /// comes from the cache, or is made at the first launch.
    pub fn remarks(&self) -> String {
        if !self.compiler.remarks {
            return String::new();
        }
        let explain = |(i, kernel): (usize, &Kernel)| {
            let explanation = self.request(i).and_then(|request| request.explain());
            remarks::text(&kernel.name, explanation)
        };
        self.kernels.iter().enumerate().map(explain).collect()
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.kernels.iter().position(|k| k.name == name)
    }

    fn request(&self, i: usize) -> Result<Request<'_>, CompileError> {
        let backend = &**self.backend.as_ref().map_err(Clone::clone)?;
        Ok(Request { compiler: &self.compiler, backend, program: &self.program, name: &self.kernels[i].name })
    }

    fn canonical(&self, i: usize, key: SpecializationKey) -> SpecializationKey {
        match self.request(i) {
            Ok(request) => request.canonical(key),
            Err(_) => key,
        }
    }

    /// The cell of a key, empty if nobody asked for it yet.
    fn cell(&self, i: usize, key: SpecializationKey) -> Cell {
        self.kernels[i].cells.lock().entry(self.canonical(i, key)).or_default().clone()
    }

    fn get(&self, i: usize, key: SpecializationKey) -> Result<Arc<Built>, CompileError> {
        let request = self.request(i)?;
        let key = request.canonical(key);
        self.cell(i, key.clone()).get_or_init(|| request.compile(&key).map(Arc::new)).clone()
    }

    fn try_get(&self, i: usize, key: SpecializationKey) -> Option<Result<Arc<Built>, CompileError>> {
        let key = self.canonical(i, key);
        let cell = self.kernels[i].cells.lock().get(&key).cloned()?;
        cell.get().cloned()
    }

    /// Makes code with which a kernel can begin.
    pub(crate) fn prepare_first(self: &Arc<Self>, i: usize) {
        if i < self.kernels.len() && self.baseline(i).is_none() {
            self.prepare(i, Variant::Vector.into());
        }
    }

    /// Compiles a kernel if nobody did. What went wrong is told to whoever asks for it.
    pub(crate) fn prepare(&self, i: usize, key: SpecializationKey) {
        if i < self.kernels.len() {
            let _ = self.get(i, key);
        }
    }
}
