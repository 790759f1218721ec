//! A program on a target: a cell for each piece of code, which the first thread that needs it fills.
//!
//! Optimised code takes LLVM long to make: masks, two copies of loops, wide vectors on narrow registers. So a kernel
//! that is wanted at once may begin with code of the *baseline tier*, made in a tenth of the time
//! ([`Executable::baseline_kernel`]), while a thread in the background makes the optimised code. The launcher polls for
//! it between groups ([`Executable::try_kernel`]) and switches to it (tier-up). If the rest of the launch would take
//! baseline code longer than the compiler will still need, it waits instead ([`Executable::wait_for`]): threads that
//! run slow code would only take cores from the compiler's. If the compiler has not begun, because no core is free or
//! its threads have other work, the waiting thread compiles ([`Executable::take_over`]).

use crate::arg_states::ArgStates;
use crate::backend::Backend;
use crate::error::CompileError;
use crate::kernel::{Built, Request};
use crate::key::{SpecializationKey, Variant};
use crate::program::Program;
use crate::queue::Prepare;
use crate::shared::Shared;
use crate::{frames, remarks};
use cloom_artifact::KernelArtifact;
use cloom_ir::{Function, KernelMeta, ParamKind};
use cloom_passes::inline::with_calls;
use cloom_passes::{BoundsChecks, PassOptions};
use cloom_target::Target;
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// One piece of a kernel's code, or why there is none.
type Cell = Arc<OnceLock<Result<Arc<Built>, CompileError>>>;

/// A kernel and its code.
struct Kernel {
    name: String,
    cells: Mutex<HashMap<SpecializationKey, Cell>>,
    tier_up: OnceLock<TierUp>,
    /// Cached result of [`Executable::most_executed`].
    executed: OnceLock<u64>,
}

/// The state of the optimised code that will replace baseline code.
struct TierUp {
    /// When it was requested.
    begin: Instant,
    /// How long the baseline code took to compile.
    baseline: Duration,
    /// Its compilation waits in the queue, because no core was free.
    rests: bool,
}

/// How many times as long optimised code takes to compile as baseline code, approximately.
const TIER_UP_RATIO: u32 = 10;

/// A program that can run: its kernels are compiled when they are asked for, or in the background when they are
/// expected.
pub struct Executable {
    shared: Arc<Shared>,
    program: Arc<Program>,
    target: Target,
    /// The backend, or why there is none for the target.
    backend: Result<Arc<dyn Backend>, CompileError>,
    kernels: Vec<Kernel>,
    /// What the code is specialised on.
    states: ArgStates,
    /// How its passes run.
    passes: PassOptions,
    /// Notified when code has been made, under this lock.
    made: (Mutex<()>, Condvar),
}

impl Executable {
    pub(crate) fn new(
        shared: Arc<Shared>,
        program: Arc<Program>,
        target: Target,
        backend: Result<Arc<dyn Backend>, CompileError>,
    ) -> Arc<Self> {
        let passes = shared.passes.clone();
        Self::with(shared, program, target, backend, ArgStates::new(), passes)
    }

    fn with(
        shared: Arc<Shared>,
        program: Arc<Program>,
        target: Target,
        backend: Result<Arc<dyn Backend>, CompileError>,
        states: ArgStates,
        passes: PassOptions,
    ) -> Arc<Self> {
        let kernel = |name: &str| {
            let (cells, tier_up, executed) = Default::default();
            Kernel { name: name.to_owned(), cells, tier_up, executed }
        };
        let kernels = program.all_kernels().map(|(name, _)| kernel(name)).collect();
        Arc::new(Self { shared, program, target, backend, kernels, states, passes, made: Default::default() })
    }

    /// The same program for launches with these formats of images and states of samplers: with code of its own.
    pub fn specialised(&self, states: ArgStates) -> Arc<Self> {
        let Self { shared, program, target, backend, passes, .. } = self;
        Self::with(shared.clone(), program.clone(), target.clone(), backend.clone(), states, passes.clone())
    }

    /// The same program with code of its own, in which accesses outside of their objects do not happen
    /// ([`cloom_passes::bounds`]), and which ends when it is asked to, on CPUs ([`cloom_passes::polls`]). Its kernels
    /// have [hidden parameters](cloom_ir::Hidden).
    pub fn with_checks(&self, checks: BoundsChecks) -> Arc<Self> {
        let Self { shared, program, target, backend, states, passes, .. } = self;
        let passes = passes.checked(checks);
        Self::with(shared.clone(), program.clone(), target.clone(), backend.clone(), states.clone(), passes)
    }

    /// Whether a kernel has images or samplers and this is not yet [specialised](Self::specialised) on any. Its code
    /// should then be made when a launch gives their formats.
    pub fn is_open(&self, name: &str) -> bool {
        let takes =
            |meta: &KernelMeta| meta.params.iter().any(|p| matches!(p.kind, ParamKind::Image | ParamKind::Sampler));
        self.states.is_empty() && self.program.all_kernels().any(|(kernel, meta)| kernel == name && takes(meta))
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// What its code is for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// A kernel's code. Compiles it on this thread, unless it exists or another thread is compiling it: so a kernel
    /// that is needed now does not wait for others in the queue.
    pub fn kernel(&self, name: &str, key: impl Into<SpecializationKey>) -> Result<Arc<Built>, CompileError> {
        let i = self.index(name).ok_or_else(|| CompileError::NoKernel(name.to_owned()))?;
        self.get(i, key.into())
    }

    /// Queues a kernel for compilation in the background, before its first launch. (Programs may have many kernels that
    /// are never launched; compiling all would take cores from the first launches.) False if there are no background
    /// threads.
    pub fn prefetch_kernel(self: &Arc<Self>, name: &str, key: impl Into<SpecializationKey>) -> bool {
        if let Some(i) = self.index(name) {
            // The canonical key, so that two keys for the same code are one piece of work.
            self.shared.queue.push(self, i, self.canonical(i, key.into()));
        }
        self.shared.queue.is_active()
    }

    /// A kernel's code, if it exists. Does not wait.
    pub fn try_kernel(&self, name: &str, key: impl Into<SpecializationKey>) -> Option<Arc<Built>> {
        self.try_get(self.index(name)?, key.into())?.ok()
    }

    /// Code of the baseline tier, to begin with while a background thread makes the optimised code. `None` if the
    /// optimised code exists already, if there are no background threads, or if kernel or backend are not suited.
    pub fn baseline_kernel(self: &Arc<Self>, name: &str) -> Option<Arc<KernelArtifact>> {
        self.baseline(self.index(name)?)
    }

    fn baseline(self: &Arc<Self>, i: usize) -> Option<Arc<KernelArtifact>> {
        let request = self.request(i).ok()?;
        // What is cheap is asked first; `make` below reads the disk cache.
        if self.try_get(i, Variant::Vector.into()).is_some() || !self.shared.may_tier_up(&self.program, request.backend)
        {
            return None;
        }
        let key = self.canonical(i, SpecializationKey::baseline());
        let make = || {
            // Optimised code on disk is read faster than any code is made. The cell then says that there is no baseline
            // code, and callers ask for the optimised code.
            if self.take_kept(i, Variant::Vector.into()).is_some() {
                return Err(CompileError::NoBaseline);
            }
            if !request.backend.capabilities().tier_up {
                // A launch on this backend cannot switch to other code, so that none is requested for it.
                return request.compile(&key).map(Arc::new);
            }
            let begin = Instant::now();
            let hurry = || self.shared.queue.hurry(self, i, self.canonical(i, Variant::Vector.into()));
            // Threads use the backend for the first time one at a time. The baseline code must not wait until the
            // optimised code is made. (The Mandelbrot set on a simulated GPU, first result: 12 ms in this order, 12 or
            // 21 without.)
            let hurried = request.backend.is_prepared().then(hurry);
            let baseline = request.compile(&key).map(Arc::new);
            let rests = hurried.unwrap_or_else(hurry);
            // Only the thread that makes the baseline code comes here.
            let _ = self.kernels[i].tier_up.set(TierUp { begin, baseline: begin.elapsed(), rests });
            baseline
        };
        self.cell(i, key.clone()).get_or_init(make).as_ref().ok().map(|built| built.artifact.clone())
    }

    /// Code of the baseline tier, if the disk cache has it and kernels may begin with it.
    pub fn kept_baseline(&self, name: &str) -> Option<Arc<KernelArtifact>> {
        let i = self.index(name)?;
        let may = self.shared.may_tier_up(&self.program, self.request(i).ok()?.backend);
        let built = may.then(|| self.take_kept(i, SpecializationKey::baseline()))??;
        Some(built.artifact.clone())
    }

    /// How long compiling the optimised code of a kernel with baseline code will still take: estimated from the time
    /// that the baseline code took, and once that is over, from the time so far.
    pub fn tier_up_remaining(&self, name: &str) -> Duration {
        let Some(tier_up) = self.tier_up(name) else { return Duration::ZERO };
        let so_far = tier_up.begin.elapsed();
        // Once the estimate is exceeded, a quarter of the time so far: zero would mean that the code exists.
        (tier_up.baseline * TIER_UP_RATIO).saturating_sub(so_far).max(so_far / 4)
    }

    /// Whether the machine had no free core for compiling the optimised code when it was requested. Threads that run
    /// baseline code then share their cores with the compiler's thread.
    pub fn is_crowded(&self, name: &str) -> bool {
        self.tier_up(name).is_some_and(|tier_up| tier_up.rests)
    }

    fn tier_up(&self, name: &str) -> Option<&TierUp> {
        self.kernels[self.index(name)?].tier_up.get()
    }

    /// Compiles a kernel on this thread if it is queued and no thread has begun with it.
    pub fn take_over(&self, name: &str, key: impl Into<SpecializationKey>) {
        let Some(i) = self.index(name) else { return };
        let key = self.canonical(i, key.into());
        // If another thread has begun, nothing is left to do but to wait for its code.
        if self.shared.queue.take(self, i, &key) {
            self.prepare(i, key);
        }
    }

    /// Waits until a kernel's code exists or cannot be made, for at most `limit`.
    pub fn wait_for(&self, name: &str, key: impl Into<SpecializationKey>, limit: Duration) {
        let Some(i) = self.index(name) else { return };
        let (key, (lock, made)) = (key.into(), &self.made);
        let mut guard = lock.lock();
        // An error in the cell ends the wait, too: that code will never be made.
        made.wait_while_for(&mut guard, |()| self.try_get(i, key.clone()).is_none(), limit);
    }

    /// For the build log: what is decided about each kernel, and why; empty unless
    /// [`Config::remarks`](crate::Config::remarks) asks for it. It is computed here, independently of whether the
    /// machine code exists.
    pub fn remarks(&self) -> String {
        if !self.shared.remarks {
            return String::new();
        }
        let explain = |(i, kernel): (usize, &Kernel)| {
            let explanation = self.request(i).and_then(|request| request.explain());
            remarks::text(&kernel.name, explanation)
        };
        self.kernels.iter().enumerate().map(explain).collect()
    }

    /// Bytes that a work-item of a kernel keeps across barriers at most, estimated from the program without compiling
    /// anything.
    pub fn kept_across_barriers(&self, name: &str) -> Option<u64> {
        let module = self.program.module();
        module.kernels().find(|&k| module.funcs[k].name == name).map(|kernel| frames::kept(module, kernel))
    }

    /// The size that a kernel with sub-groups expects of them, also if it requires another one.
    pub fn expected_subgroup_size(&self, name: &str) -> Option<u16> {
        let module = self.program.module();
        let kernel = module.kernels().find(|&k| module.funcs[k].name == name)?;
        let size = module.funcs[kernel].kernel.as_ref()?.expected_subgroup_size?;
        let uses = |func: &Function| u64::from(cloom_ir::subgroup::uses(func));
        (with_calls(module, kernel, uses) > 0).then_some(size)
    }

    /// The most instructions that a work-item of a kernel executes, if constants show it, else `u64::MAX`. The
    /// first question takes as long as the scalar passes on a kernel that is not large.
    pub fn most_executed(&self, name: &str) -> u64 {
        let Some(i) = self.index(name) else { return u64::MAX };
        let ask = || self.request(i).map_or(u64::MAX, |request| request.most_executed());
        *self.kernels[i].executed.get_or_init(ask)
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.kernels.iter().position(|k| k.name == name)
    }

    fn request(&self, i: usize) -> Result<Request<'_>, CompileError> {
        let backend = &**self.backend.as_ref().map_err(Clone::clone)?;
        let (shared, program, name) = (&self.shared, &self.program, &self.kernels[i].name);
        Ok(Request { shared, backend, program, name, states: &self.states, passes: &self.passes })
    }

    fn canonical(&self, i: usize, key: SpecializationKey) -> SpecializationKey {
        match self.request(i) {
            Ok(request) => request.canonical(key),
            Err(_) => key,
        }
    }

    /// The cell of a key, which may be empty.
    fn cell(&self, i: usize, key: SpecializationKey) -> Cell {
        // The lock is held for the entry only. The cell is filled outside of it, so that other pieces of code can be
        // made meanwhile.
        self.kernels[i].cells.lock().entry(self.canonical(i, key)).or_default().clone()
    }

    fn get(&self, i: usize, key: SpecializationKey) -> Result<Arc<Built>, CompileError> {
        let request = self.request(i)?;
        let key = request.canonical(key);
        let built = self.cell(i, key.clone()).get_or_init(|| request.compile(&key).map(Arc::new)).clone();
        // A waiting thread tests the cell under this lock. To take the lock between filling the cell and notifying
        // makes sure that the thread has seen the code or waits already, and so misses no notification.
        drop(self.made.0.lock());
        self.made.1.notify_all();
        built
    }

    fn try_get(&self, i: usize, key: SpecializationKey) -> Option<Result<Arc<Built>, CompileError>> {
        let key = self.canonical(i, key);
        let cell = self.kernels[i].cells.lock().get(&key).cloned()?;
        cell.get().cloned()
    }

    /// Takes a kernel's code from the disk cache, if it is there.
    fn take_kept(&self, i: usize, key: SpecializationKey) -> Option<Arc<Built>> {
        let key = self.canonical(i, key);
        // Not by `get_or_init` of the cell, which would need an answer also if there is nothing on disk.
        let built = Arc::new(self.request(i).ok()?.cached(&key)?);
        // Another thread may have filled it meanwhile.
        let _ = self.cell(i, key).set(Ok(built.clone()));
        Some(built)
    }

    /// Whether the disk cache has optimised code of a kernel, which is taken from there: LLVM may not be needed at all
    /// then.
    pub(crate) fn has_kept_code(&self) -> bool {
        (0..self.kernels.len()).any(|i| self.take_kept(i, Variant::Vector.into()).is_some())
    }

    /// If the program has only one kernel, makes its code, first that of the baseline tier, and returns true. With
    /// several kernels it is not known which will be launched, and code for another one would be wasted.
    pub(crate) fn prepare_only(self: &Arc<Self>) -> bool {
        // Code for images waits for their formats, which a launch gives.
        let is_only = self.kernels.len() == 1 && !self.is_open(&self.kernels[0].name);
        // To make the baseline code queues the optimised code, too.
        if is_only && self.baseline(0).is_none() {
            self.prepare(0, Variant::Vector.into());
        }
        is_only
    }
}

impl Prepare for Executable {
    /// Compiles a kernel if its cell is empty. Errors are kept in the cell.
    fn prepare(&self, i: usize, key: SpecializationKey) {
        if i < self.kernels.len() {
            let _ = self.get(i, key);
        }
    }
}
