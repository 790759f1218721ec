//! Compiles one kernel of a program: disk cache, library of built-in functions, backend.

use crate::arg_states::ArgStates;
use crate::backend::{Backend, Explanation, Generated, KernelInput};
use crate::cache::{Cache, Key};
use crate::error::CompileError;
use crate::key::{CodeOptions, SpecializationKey, SubgroupSize, Tier, Variant};
use crate::program::Program;
use crate::shared::{SMALL_PROGRAM_SIZE, Shared};
use crate::stage::{Stage, StageLog, Timing};
use crate::{images, library};
use cloom_artifact::KernelArtifact;
use cloom_ir::{FuncRef, Module};
use cloom_passes::inline::with_calls;
use cloom_passes::{PassManager, PassOptions, Statistics};
use cloom_spmd::Decision;
use cloom_target::Target;
use std::sync::Arc;

/// A compiled kernel and how it came about.
#[derive(Clone, PartialEq, Debug)]
pub struct Built {
    /// What a device loads.
    pub artifact: Arc<KernelArtifact>,
    /// What the backend decided; empty if the code came from the cache.
    pub decisions: Vec<Decision>,
    /// What each pass did; nothing if the code came from the cache.
    pub statistics: Statistics,
    /// The stages, if asked for.
    pub stages: Vec<Stage>,
    /// What each stage took; nothing if the code came from the cache.
    pub times: Vec<Timing>,
    /// Whether the code came from the cache.
    pub cached: bool,
}

/// A kernel of a program on a backend.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    pub shared: &'a Shared,
    pub backend: &'a dyn Backend,
    pub program: &'a Program,
    pub name: &'a str,
    pub states: &'a ArgStates,
    pub passes: &'a PassOptions,
}

impl Request<'_> {
    /// The inputs beside the kernel and its key.
    pub fn options(&self) -> CodeOptions {
        let options = self.program.options();
        let meta = self.program.module().find(self.name).and_then(|k| self.program.module().funcs[k].kernel.as_deref());
        CodeOptions {
            lanes: self.shared.lanes,
            subgroup_size: meta.and_then(SubgroupSize::of),
            optimise: !options.opt_disable,
            denorms_are_zero: options.denorms_are_zero,
            rough_filters: options.fast_relaxed_math || options.unsafe_math,
            lines: options.debug_info,
            count: self.shared.count,
        }
    }

    /// The canonical key, one for all keys with the same code, for the request's images and samplers.
    pub fn canonical(&self, key: SpecializationKey) -> SpecializationKey {
        SpecializationKey { states: self.states.clone(), bounds_checks: self.passes.bounds_checks, ..key }
            .canonical(self.backend.capabilities().variants, &self.options())
    }

    /// The code's entry in the disk cache. Baseline code has an entry only if launches end with it, as on a GPU: a
    /// short program never runs other code.
    fn entry(&self, extracted: &Module, key: &SpecializationKey) -> Option<(&Cache, Key)> {
        let is_kept = key.tier != Tier::Baseline || !self.backend.capabilities().tier_up;
        let cache = self.shared.cache.as_ref().filter(|_| is_kept)?;
        let hooks: Vec<&str> = self.shared.hooks.iter().map(|h| h.name()).collect();
        let disabled = self.passes.disabled.to_string();
        // The kernel's IR before the library is linked: the library is in the fingerprint of the compiler, which is a
        // part of every key.
        let parts = (self.backend.target(), self.name, key, self.options(), disabled, hooks, extracted);
        Some((cache, Key::of_kernel(&parts)?))
    }

    /// The artifact in the disk cache.
    fn stored(&self, (cache, key): &(&Cache, Key)) -> Option<Built> {
        let is_it = |a: &KernelArtifact| a.target == *self.backend.target() && a.name == self.name;
        let artifact = Arc::new(cache.get(key, KernelArtifact::decode).filter(is_it)?);
        let (decisions, statistics, stages, times) = Default::default();
        Some(Built { artifact, decisions, statistics, stages, times, cached: true })
    }

    /// The kernel's code, if the disk cache has it.
    pub fn cached(&self, key: &SpecializationKey) -> Option<Built> {
        // Without a cache there is nothing to find, and the kernel need not be extracted.
        self.shared.cache.as_ref()?;
        self.stored(&self.entry(&extract(self.program, self.name).ok()?, key)?)
    }

    /// The kernel's code, from the disk cache or made now.
    pub fn compile(&self, key: &SpecializationKey) -> Result<Built, CompileError> {
        let mut log = StageLog::new(false);
        let module = extract(self.program, self.name)?;
        log.time("extract");
        // The key is made of the module before `generate` changes it.
        let entry = self.entry(&module, key);
        if let Some(built) = entry.as_ref().and_then(|e| self.stored(e)) {
            return Ok(built);
        }
        log.time("cache");
        let built = self.generate(module, key, log)?;
        if let Some((cache, key)) = entry {
            cache.put(&key, &built.artifact.encode(key.name()));
        }
        Ok(built)
    }

    /// Makes the kernel's code without the cache, and keeps the texts of all stages.
    pub fn show(&self, key: &SpecializationKey) -> Result<Built, CompileError> {
        let mut log = StageLog::new(true);
        let module = extract(self.program, self.name)?;
        log.time("extract");
        log.text("ir", || module.to_string());
        self.generate(module, key, log)
    }

    /// The most instructions that a work-item executes, by the IR after the scalar passes; `u64::MAX` if that is not
    /// known, or if the kernel would be large with everything that it calls.
    pub fn most_executed(&self) -> u64 {
        let Ok(mut module) = linked(self.program, self.name) else { return u64::MAX };
        let is_small =
            |&kernel: &FuncRef| with_calls(&module, kernel, |func| func.size() as u64) <= SMALL_PROGRAM_SIZE as u64;
        let Some(kernel) = module.find(self.name).filter(is_small) else { return u64::MAX };
        cloom_passes::run_with(&mut module, kernel, &PassManager::new(self.passes), |_, _| {});
        cloom_spmd::most_executed(&module, kernel)
    }

    /// The backend's decisions, without making code.
    pub fn explain(&self) -> Result<Explanation, CompileError> {
        let key = self.canonical(Variant::Vector.into());
        self.backend.explain(self.input(linked(self.program, self.name)?, &key)?)
    }

    fn input<'k>(&'k self, module: Module, key: &'k SpecializationKey) -> Result<KernelInput<'k>, CompileError> {
        let kernel = module.find(self.name).ok_or_else(|| CompileError::NoKernel(self.name.to_owned()))?;
        let (passes, hooks) = (self.passes, &self.shared.hooks);
        Ok(KernelInput { module, kernel, key, options: self.options(), passes, hooks })
    }

    fn generate(&self, mut module: Module, key: &SpecializationKey, mut log: StageLog) -> Result<Built, CompileError> {
        if let Some(call) = self.shared.before_code.get() {
            // The runtime starts the driver's compiler here, which gets ready while this code is made.
            call(self.backend.target());
        }
        let machine = *self.backend.target().machine();
        let manager = PassManager::new(self.passes);
        if let Some(kernel) = module.find(self.name) {
            // Before the library is linked: the library's functions for images are still calls by name.
            images::specialise(&mut module, kernel, &key.states, &machine, &self.options(), &manager)?;
        }
        library::link(&mut module, &machine)?;
        log.stage("library", || module.to_string());
        let generated = self.backend.compile(self.input(module, key)?, &mut log)?;
        let StageLog { stages, times, .. } = log;
        let Generated { artifact, decisions, internal_error, .. } = generated;
        manager.add(&generated.statistics);
        let statistics = manager.statistics();
        // Code from the cache does not come here: a bug is counted where it happened.
        internal_error.iter().for_each(|bug| self.shared.note_internal_error(self.name, bug));
        Ok(Built { artifact: Arc::new(artifact), decisions, statistics, stages, times, cached: false })
    }
}

/// A kernel with the functions that it calls, as far as the program defines them.
fn extract(program: &Program, name: &str) -> Result<Module, CompileError> {
    let source = program.module();
    let kernel = source.kernels().find(|&k| source.funcs[k].name == name);
    let mut module = Module::new();
    module.import(source, [kernel.ok_or_else(|| CompileError::NoKernel(name.to_owned()))?])?;
    Ok(module)
}

/// A kernel with all functions that it calls, also the built-in ones, before any pass: the input of the reference
/// interpreter.
pub fn linked(program: &Program, name: &str) -> Result<Module, CompileError> {
    let mut module = extract(program, name)?;
    // The portable version of each function: the interpreter has no special units.
    library::link(&mut module, Target::generic().machine())?;
    Ok(module)
}
