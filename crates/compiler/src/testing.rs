//! A backend without code generation, for tests of the code around backends (feature `testing`).
//!
//! Its "code" is the text of the kernel's IR with its callees, before any pass. A device for it needs only the
//! reference interpreter:
//!
//! ```text
//! let stub = Arc::new(StubBackend::new("stub:ir")?);
//! let extensions = Extensions { backends: vec![stub.clone()], ..Extensions::default() };
//! let compiler = Compiler::with_extensions(Config::default(), extensions);
//! let executable = compiler.executable(&program, stub.target());
//! let artifact = executable.kernel("k", Variant::Vector)?.artifact.clone();
//! let module = cloom_ir::parse(std::str::from_utf8(&artifact.code)?)?;
//! let kernel = module.find(&artifact.entry);    // for cloom_interp::Machine::run_kernel
//! ```

use crate::backend::{Backend, Capabilities, Generated, KernelInput, Position};
use crate::error::CompileError;
use crate::stage::StageLog;
use cloom_artifact::{GpuLaunch, KernelArtifact, KernelCode, LaunchForm};
use cloom_ir::Space;
use cloom_target::{Target, TargetError};

/// A backend whose code is the IR.
#[derive(Debug)]
pub struct StubBackend {
    target: Target,
}

impl StubBackend {
    /// For a target by its name, such as `stub:ir`, which may describe the machine ([`cloom_target::machine`]). Equal
    /// names are the same kind of device.
    pub fn new(name: &str) -> Result<StubBackend, TargetError> {
        Ok(StubBackend { target: name.parse()? })
    }
}

impl Backend for StubBackend {
    fn target(&self) -> &Target {
        &self.target
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { baseline_tier: false, tier_up: false, variants: false }
    }

    fn compile(&self, mut input: KernelInput<'_>, log: &mut StageLog) -> Result<Generated, CompileError> {
        input.run_hooks(Position::BeforePasses, log);
        input.run_hooks(Position::AfterPasses, log);
        let KernelInput { module, kernel, options, .. } = input;
        let text = module.to_string();
        log.stage("stub", || text.clone());
        let locals = module.globals.values().filter(|g| g.space == Space::Local);
        let code = KernelCode {
            target: self.target.clone(),
            code: text.into_bytes(),
            entry: module.funcs[kernel].name.clone(),
            local_size: locals.fold(0, |sum: u64, g| sum.next_multiple_of(u64::from(g.align.max(1))) + g.size),
            private_size: 0,
            subgroup_size: self.target.machine().simd_group().and_then(|size| size.try_into().ok()),
            denorms_are_zero: options.denorms_are_zero,
            launch: LaunchForm::WorkItem(GpuLaunch::default()),
        };
        let artifact = KernelArtifact::new(&module, kernel, code)?;
        Ok(Generated {
            artifact,
            decisions: Vec::new(),
            statistics: cloom_passes::Statistics::default(),
            internal_error: None,
        })
    }
}
