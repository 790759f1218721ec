//! Code generation for a kind of device, behind one trait.
//!
//! ```text
//! kernel as IR, linked ─▶ Backend::compile ─▶ KernelArtifact
//!         ▲                   CPU: passes ▸ spmd ▸ llvm
//!         └── IR hooks        others: as they like
//! ```
//!
//! The front end, linking, the disk cache, the background threads and the tiers are the same for all backends and are
//! outside of them. The backends for CPUs and GPUs are built in. Others are registered with the compiler
//! ([`Extensions`]) and found by their target.

mod cpu;
mod descriptors;
mod gpu;

pub use cpu::CpuBackend;
pub use gpu::GpuBackend;

use crate::error::CompileError;
use crate::key::{CodeOptions, SpecializationKey};
use crate::stage::StageLog;
use cloom_artifact::KernelArtifact;
use cloom_ir::{FuncRef, Module};
use cloom_passes::{CALLEES, PassManager, PassOptions, Statistics};
use cloom_spmd::{Decision, InternalError};
use cloom_target::Target;
use std::sync::Arc;

/// Code generation for one target.
pub trait Backend: Send + Sync {
    /// The target of its code.
    fn target(&self) -> &Target;

    /// Its capabilities, as the rest of the compiler needs them.
    fn capabilities(&self) -> Capabilities;

    /// Generates a kernel's code. `log` gets the time of each stage, and its text if wanted.
    fn compile(&self, input: KernelInput<'_>, log: &mut StageLog) -> Result<Generated, CompileError>;

    /// For the build log: the decisions about a kernel, without making its code.
    fn explain(&self, input: KernelInput<'_>) -> Result<Explanation, CompileError> {
        let _ = input;
        Ok(Explanation::default())
    }

    /// Does `work` and meanwhile initialises the backend, if that takes long and has not been done in this process.
    fn prepare_meanwhile(&self, work: &mut dyn FnMut()) {
        work();
    }

    /// Initialises the backend, once in a process.
    fn prepare(&self) {}

    /// Whether it is initialised.
    fn is_prepared(&self) -> bool {
        true
    }
}

/// What a backend can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// Whether it makes code of the baseline tier, in much less time than optimised code.
    pub baseline_tier: bool,
    /// Whether a launch can switch from baseline code to optimised code, which is compiled meanwhile.
    pub tier_up: bool,
    /// Whether it has different code for launches of different sizes ([`Variant`](crate::Variant)).
    pub variants: bool,
}

/// A kernel for a backend.
pub struct KernelInput<'a> {
    /// The kernel with all that it calls, also the built-in functions; verified, before any pass.
    pub module: Module,
    /// The kernel in it.
    pub kernel: FuncRef,
    /// Selects the code of the kernel.
    pub key: &'a SpecializationKey,
    /// Options that hold for the whole program.
    pub options: CodeOptions,
    /// The passes that run.
    pub passes: &'a PassOptions,
    pub(crate) hooks: &'a [Arc<dyn IrHook>],
}

impl KernelInput<'_> {
    /// Inlines, and runs the scalar passes with the hooks before and after them, as most backends do first. Returns the
    /// statistics of each pass.
    pub fn run_passes(&mut self, log: &mut StageLog) -> Statistics {
        self.run_hooks(Position::BeforePasses, log);
        let kernel = self.kernel;
        let manager = PassManager::new(self.passes);
        cloom_passes::run_with(&mut self.module, kernel, &manager, |pass, module| {
            log.time(pass);
            // These passes changed another function, and the text is the kernel's.
            if pass != CALLEES {
                log.text(pass, || module.function_text(&module.funcs[kernel]));
            }
        });
        self.run_hooks(Position::AfterPasses, log);
        manager.statistics()
    }

    /// Runs the hooks of one position. A backend that does not call [`KernelInput::run_passes`] calls this for each.
    pub fn run_hooks(&mut self, position: Position, log: &mut StageLog) {
        for hook in self.hooks.iter().filter(|h| h.position() == position) {
            hook.run(&mut self.module, self.kernel);
            debug_assert_eq!(cloom_ir::verify(&self.module).first(), None, "after {}\n{}", hook.name(), self.module);
            log.stage(hook.name(), || self.module.function_text(&self.module.funcs[self.kernel]));
        }
    }
}

/// A change to the IR of every kernel, by position in the pipeline: instrumentation.
pub trait IrHook: Send + Sync {
    /// Its name, which is a part of every key of the disk cache: change it when the hook's behaviour changes.
    fn name(&self) -> &str;
    /// Where it runs.
    fn position(&self) -> Position;
    /// Changes a kernel. The module must verify afterwards.
    fn run(&self, module: &mut Module, kernel: FuncRef);
}

/// A position in the pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position {
    /// After linking, before any pass: accesses are as in the source.
    BeforePasses,
    /// After the scalar passes, before vectorisation: redundant accesses are gone.
    AfterPasses,
}

/// Additions to the built-in compiler.
#[derive(Clone, Default)]
pub struct Extensions {
    /// Code generation for other targets.
    pub backends: Vec<Arc<dyn Backend>>,
    /// Changes to every kernel.
    pub hooks: Vec<Arc<dyn IrHook>>,
}

/// The result of a backend.
#[derive(Clone, PartialEq, Debug)]
pub struct Generated {
    /// What a device loads.
    pub artifact: KernelArtifact,
    /// The decisions and their reasons.
    pub decisions: Vec<Decision>,
    /// What each pass did.
    pub statistics: Statistics,
    /// A bug that costs only speed: the kernel runs one work-item at a time.
    pub internal_error: Option<InternalError>,
}

/// A backend's decisions about a kernel, for people.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Explanation {
    /// In a few words, such as `8 work-items at a time`; empty if there is nothing to say.
    pub summary: String,
    /// The decisions and their reasons.
    pub decisions: Vec<Decision>,
    /// The source files that the decisions refer to.
    pub files: Vec<String>,
}
