//! Source or SPIR-V, options and target to artifact: the one pipeline.
//!
//! ```text
//! source ─ front ─▶ Program (IR) ─ link ─▶ Program ─ executable ─▶ kernel: library ▸ Backend ─▶ KernelArtifact
//!                      ▲ │ binary                                      │ ▲      CPU: passes ▸ spmd ▸ llvm
//!                      └─┘                                             disk cache    GPU: passes ▸ llvm
//! ```
//!
//! A [`Compiler`] is shared by everything that compiles in a process; it owns the disk cache and the threads that
//! compile ahead. The front end runs at once and reports. Code is made for one kernel and one [`SpecializationKey`] at
//! a time, by the thread that needs it first, or ahead of time by a background thread. A [`Backend`] makes it. Those
//! for CPUs and GPUs are built in; others are given as [`Extensions`].

#![forbid(unsafe_code)]

mod backend;
mod cache;
mod cpu_backend;
mod descriptors;
mod diagnostic;
mod executable;
mod frames;
mod front;
mod gpu_backend;
mod images;
mod includes;
mod kept;
mod kernel;
mod key;
mod library;
mod load;
pub mod passes;
mod program;
mod queue;
mod remarks;
#[cfg(feature = "testing")]
pub mod testing;

pub use backend::{Backend, Capabilities, Explanation, Extensions, Generated, IrHook, KernelInput, Position, StageLog};
pub use cache::CacheFolder;
pub use cloom_artifact::{FolderError, ImageKind};
pub use cloom_clc::layout::{KernelLayout, Layout, Member};
pub use cloom_clc::options::{BuildOptions, OptionSet};
pub use cloom_spirv::{SpecConstant, Spirv, is_spirv, spec_constants};
pub use cloom_spmd::decisions;
pub use cpu_backend::CpuBackend;
pub use diagnostic::{Diagnostic, Location};
pub use executable::Executable;
pub use front::{BuildTarget, Il, Source};
pub use gpu_backend::GpuBackend;
pub use images::{ArgState, ArgStates};
pub use includes::Header;
pub use kernel::{Built, Stage};
pub use key::{CodeOptions, SpecializationKey, SubgroupSize, Tier, Variant};
pub use program::{LoadError, Program};
pub use remarks::{place, with_remarks};

use cache::Cache;
pub use cloom_llvm::give_up as give_up_compiling;
use cloom_target::Target;
use includes::IncludeRules;
use kernel::Request;
use passes::{Disabled, PassOptions};
use queue::Queue;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Makes the backend for a target, if it is for this target.
type MakeBackend = fn(&Target) -> Option<Arc<dyn Backend>>;

/// The backends that are built in. The first one that takes a target makes its code.
const BUILT_IN: &[MakeBackend] = &[CpuBackend::of, GpuBackend::of];

/// How a compiler behaves.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Config {
    /// The folder of the disk cache; `None`: there is no cache.
    pub cache_dir: Option<PathBuf>,
    /// How many threads compile in the background.
    pub background_threads: usize,
    /// The cores that the process may use. While none of them is free, work waits for a moment, so that the thread that
    /// needs it can take it before a background thread begins with it. 0: work never waits.
    pub cores: usize,
    /// The number of work-items of a vector; `None`: the cost model chooses.
    pub lanes: Option<u16>,
    /// Whether [`Executable::remarks`] returns remarks.
    pub remarks: bool,
    /// Whether kernels may begin with code of the baseline tier ([`Executable::baseline_kernel`]).
    pub baseline_tier: bool,
    /// Passes that do not run.
    pub disabled: Disabled,
    /// Whether code counts the operations that it executes, for the device to report. The code is optimised, and
    /// several times slower than without counts.
    pub count: bool,
    /// Whether bugs of the compiler that cost only speed are reported on standard error.
    pub log: bool,
    /// Whether `#include` finds files in the folders of `-I` only, as it always does in a set-user-ID program.
    pub confine_includes: bool,
}

impl Config {
    /// The configuration from the environment.
    pub fn from_env() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let lanes = cloom_caps::env::LANES.get().and_then(|l| l.parse().ok()).map(|l: u16| l.clamp(1, 64));
        let remarks = cloom_caps::env::REMARKS.is_on();
        let background_threads = (cores / 2).clamp(1, 8);
        let baseline_tier = !cloom_caps::env::QUICK_START.is_off();
        let (disabled, _) = passes::from_env();
        let log = cloom_caps::env::LOG.is_on();
        let count = cloom_caps::env::COUNTS.get().is_some();
        let cache_dir = cache::folder_from_env();
        let confine_includes = cloom_caps::env::CONFINE_INCLUDES.is_on();
        Self {
            cache_dir,
            background_threads,
            cores,
            lanes,
            remarks,
            baseline_tier,
            disabled,
            count,
            log,
            confine_includes,
        }
    }
}

/// Why there is no code for a kernel.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CompileError {
    /// The program has no kernel of this name.
    #[error("the program has no kernel `{0}`")]
    NoKernel(String),
    /// Functions that are declared and called, but defined nowhere.
    #[error("undefined: {}", .0.join(", "))]
    Undefined(Vec<String>),
    /// The parts of the program cannot be linked.
    #[error("{0}")]
    Link(#[from] cloom_ir::import::ImportError),
    /// The library of built-in functions cannot be read: a bug of ours.
    #[error("the built-in library is damaged: {0}")]
    Library(String),
    /// The kernel exceeds a limit of the compiler.
    #[error("{0}")]
    Vectoriser(#[from] cloom_spmd::Error),
    /// The kernel has no code of the baseline tier.
    #[error("the kernel is too large for the baseline tier, or has sub-groups")]
    NoBaseline,
    /// The backend cannot make the sub-groups that the kernel requires.
    #[error("the kernel requires sub-groups of {0} work-items, which its code cannot have on this device")]
    SubgroupSize(u16),
    /// So large a launch runs one work-item at a time.
    #[error("the kernel requires a size of sub-groups, which launches with ids of more than 31 bits do not have")]
    SubgroupsOfManyItems,
    /// No backend makes code for the target.
    #[error("no code is made for {0}: its backend is not part of this compiler")]
    NoBackend(String),
    /// The kernel has parameters that no device supports.
    #[error("{0}")]
    Artifact(#[from] cloom_artifact::ArtifactError),
    /// No machine code.
    #[error("{0}")]
    Codegen(#[from] cloom_llvm::Error),
}

/// Which part of a build went wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The options; the source was not read.
    Options,
    /// The source, or linking.
    Program,
}

/// The result of a build.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// The program.
    pub result: Result<Arc<Program>, Failure>,
    /// The build log: diagnostics as text, empty if there are none.
    pub log: String,
    /// The diagnostics of the front end as data; those of linking are in the log only.
    pub diagnostics: Vec<Diagnostic>,
    /// What each stage of the front end took.
    pub times: Vec<Timing>,
}

impl Compilation {
    /// The result for a program that exists already, without diagnostics.
    pub fn of(program: Arc<Program>) -> Compilation {
        Compilation { result: Ok(program), log: String::new(), diagnostics: Vec::new(), times: Vec::new() }
    }

    /// The result of a failed build, with its diagnostics.
    pub fn failed(failure: Failure, log: String, diagnostics: Vec<Diagnostic>) -> Compilation {
        Compilation { result: Err(failure), log, diagnostics, times: Vec::new() }
    }
}

/// The limit of a small program. The front end is done with a source of at most this many bytes before LLVM could be
/// initialised. If its IR has at most this many instructions and one kernel, compiling that kernel initialises LLVM. On
/// such a kernel, the scalar passes take no noticeable time.
const SMALL_PROGRAM_SIZE: usize = 8 << 10;

/// The time of a stage of a compilation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Its name; a pass that runs twice is there twice.
    pub stage: String,
    /// Wall-clock time.
    pub time: Duration,
}

impl Timing {
    pub(crate) fn new(stage: &str, time: Duration) -> Self {
        Self { stage: stage.to_owned(), time }
    }
}

/// The compiler of a process.
pub struct Compiler {
    lanes: Option<u16>,
    remarks: bool,
    baseline_tier: bool,
    count: bool,
    passes: PassOptions,
    log: bool,
    confine_includes: bool,
    internal_errors: AtomicU64,
    backends: Vec<Arc<dyn Backend>>,
    hooks: Vec<Arc<dyn IrHook>>,
    cache: Option<Cache>,
    queue: Arc<Queue>,
    before_code: OnceLock<BeforeCode>,
}

/// The disk cache in a folder, if that can be used.
fn open_cache(folder: &Path, log: bool) -> Option<Cache> {
    let opened = Cache::open(folder);
    if let (Err(why), true) = (&opened, log) {
        eprintln!("cloom: compiled kernels are not kept in {}: {why}", folder.display());
    }
    opened.ok()
}

/// Called when code for a target is about to be made.
type BeforeCode = Box<dyn Fn(&Target) + Send + Sync>;

impl Compiler {
    /// A compiler for CPUs.
    pub fn new(config: Config) -> Arc<Self> {
        Self::with_extensions(config, Extensions::default())
    }

    /// A compiler for CPUs as the environment says. Reports wrong values of the environment on the standard error
    /// stream.
    pub fn from_env() -> Arc<Self> {
        for warning in passes::warnings() {
            eprintln!("cloom: {warning}");
        }
        Self::new(Config::from_env())
    }

    /// A compiler for CPUs and for the targets of other backends.
    pub fn with_extensions(config: Config, extensions: Extensions) -> Arc<Self> {
        Arc::new(Self {
            lanes: config.lanes,
            remarks: config.remarks,
            baseline_tier: config.baseline_tier && !config.count,
            count: config.count,
            passes: PassOptions::without(config.disabled),
            log: config.log,
            confine_includes: config.confine_includes || cloom_caps::secure::is_privileged(),
            internal_errors: AtomicU64::new(0),
            backends: extensions.backends,
            hooks: extensions.hooks,
            cache: config.cache_dir.and_then(|folder| open_cache(&folder, config.log)),
            queue: Queue::new(config.background_threads, config.cores),
            before_code: OnceLock::new(),
        })
    }

    /// Calls back whenever code that is not in the cache is about to be made, on the thread that makes it. Only the
    /// first call has an effect.
    pub fn before_code(&self, call: impl Fn(&Target) + Send + Sync + 'static) {
        let _ = self.before_code.set(Box::new(call));
    }

    /// Compiles a source and links it alone (`clBuildProgram`). It is preprocessed for the target's device. `a * b + c`
    /// is contracted if the target has the instruction.
    pub fn build<'a>(&self, source: &Source<'_>, options: &str, target: impl Into<BuildTarget<'a>>) -> Compilation {
        let target = target.into();
        let front =
            || front::compile(source, options, OptionSet::Build, self.includes(&[]), target, self.cache.as_ref());
        self.build_by(&front, source.text.len(), target)
    }

    /// Compiles a module of SPIR-V and links it alone. For the target see [`Compiler::build`].
    pub fn build_il<'a>(&self, il: Il<'_>, options: &str, target: impl Into<BuildTarget<'a>>) -> Compilation {
        let target = target.into();
        let front = || front::compile_il(il, options, OptionSet::Build, target, self.cache.as_ref());
        self.build_by(&front, il.binary.len(), target)
    }

    /// Compiles by a front end, and links. For a large program, LLVM is initialised meanwhile.
    fn build_by(&self, front: &dyn Fn() -> Compilation, size: usize, target: BuildTarget<'_>) -> Compilation {
        let compiled = match self.backend(target.target) {
            Ok(backend) if size > SMALL_PROGRAM_SIZE => {
                let mut compiled = None;
                backend.prepare_meanwhile(&mut || compiled = Some(front()));
                compiled.unwrap_or_else(front)
            }
            _ => front(),
        };
        match compiled.result {
            Ok(program) => {
                let linked = program::link(vec![program], ImageKind::Executable, None);
                Compilation { result: linked.result, log: compiled.log + &linked.log, ..compiled }
            }
            Err(_) => compiled,
        }
    }

    /// Compiles a source (`clCompileProgram`). For the target see [`Compiler::build`].
    pub fn compile<'a>(
        &self,
        source: &Source<'_>,
        options: &str,
        headers: &[Header],
        target: impl Into<BuildTarget<'a>>,
    ) -> Compilation {
        front::compile(source, options, OptionSet::Compile, self.includes(headers), target.into(), self.cache.as_ref())
    }

    fn includes<'a>(&self, headers: &'a [Header]) -> IncludeRules<'a> {
        IncludeRules { headers, confined: self.confine_includes }
    }

    /// The files that a source includes, each once, for the dependencies of a build.
    pub fn included<'a>(&self, source: &Source<'_>, options: &str, target: impl Into<BuildTarget<'a>>) -> Vec<String> {
        front::included(source, options, self.includes(&[]), target.into())
    }

    /// How the arguments of a source's kernels lie in memory, for tools; nothing if it does not compile.
    pub fn kernel_layouts<'a>(
        &self,
        source: &Source<'_>,
        options: &str,
        target: impl Into<BuildTarget<'a>>,
    ) -> Vec<KernelLayout> {
        front::kernel_layouts(source, options, self.includes(&[]), target.into())
    }

    /// Compiles a module of SPIR-V (`clCompileProgram`). For the target see [`Compiler::build`].
    pub fn compile_il<'a>(&self, il: Il<'_>, options: &str, target: impl Into<BuildTarget<'a>>) -> Compilation {
        front::compile_il(il, options, OptionSet::Compile, target.into(), self.cache.as_ref())
    }

    /// Links compiled programs and libraries (`clLinkProgram`).
    pub fn link(&self, inputs: &[Arc<Program>], options: &str) -> Compilation {
        let (options, log, _) = match front::options(options, OptionSet::Link) {
            Ok(parsed) => parsed,
            Err((log, diagnostics)) => return Compilation::failed(Failure::Options, log, diagnostics),
        };
        let kind = if options.create_library { ImageKind::Library } else { ImageKind::Executable };
        let linked = program::link(inputs.to_vec(), kind, Some(&options));
        Compilation { log: log + &linked.log, ..linked }
    }

    /// Reads a program's binary.
    pub fn load(&self, bytes: &[u8]) -> Result<Arc<Program>, LoadError> {
        Program::decode(bytes).map(Arc::new)
    }

    /// Gets a linked program ready to run on a target.
    pub fn executable(self: &Arc<Self>, program: &Arc<Program>, target: &Target) -> Arc<Executable> {
        let backend = self.backend(target);
        // If launches cannot switch to other code, a launch decides which code is needed.
        let is_needed = |b: &Arc<dyn Backend>| !b.is_prepared() && b.capabilities().tier_up && self.queue.is_active();
        let unprepared = backend.as_ref().ok().filter(|b| is_needed(b)).cloned();
        let executable = Executable::new(self.clone(), program.clone(), target.clone(), backend);
        if let Some(backend) = unprepared {
            // The first use of LLVM takes long, and the process must not exit meanwhile, so that it is not left to
            // another thread.
            let is_made = program.module().size() <= SMALL_PROGRAM_SIZE && executable.prepare_only();
            if !is_made && !executable.has_kept_code() {
                backend.prepare();
            }
        }
        executable
    }

    /// Prepares the front end: for the first source of a process, loading its pages and making its tables takes half as
    /// long as compiling the source.
    pub fn prepare_front_end(&self, target: &Target) {
        let source = Source { name: "prepare.cl", text: front::TYPICAL };
        let get_ready =
            |cache| drop(front::compile(&source, "", OptionSet::Build, self.includes(&[]), target.into(), cache));
        get_ready(None);
        // Looking a source up in the cache needs other parts.
        if self.cache.is_some() {
            get_ready(self.cache.as_ref());
        }
    }

    /// Prepares the backend for a target, which takes as long as compiling a small kernel.
    pub fn prepare(&self, target: &Target) {
        if let Ok(backend) = self.backend(target) {
            backend.prepare();
        }
    }

    /// The backend for a target: one that was registered, or a built-in one.
    fn backend(&self, target: &Target) -> Result<Arc<dyn Backend>, CompileError> {
        match self.backends.iter().find(|b| b.target() == target) {
            Some(backend) => Ok(backend.clone()),
            None => {
                let backend = BUILT_IN.iter().find_map(|backend| backend(target));
                backend.ok_or_else(|| CompileError::NoBackend(target.name().to_owned()))
            }
        }
    }

    /// Whether a program's kernels may begin with baseline code: there are background threads, and no option fixes the
    /// kind of code.
    fn may_tier_up(&self, program: &Program, backend: &dyn Backend) -> bool {
        self.baseline_tier
            && self.queue.is_active()
            && self.lanes.is_none()
            && !program.options().opt_disable
            && backend.capabilities().baseline_tier
    }

    /// Before a `fork`: lets the threads that compile ahead end after their current kernel, and waits for that, at most
    /// this long. [`Compiler::after_fork`] continues with the work that they have not begun.
    pub fn before_fork(&self, limit: Duration) {
        self.queue.pause(limit);
        cloom_builtins::table::make_index();
        cloom_llvm::before_fork(limit);
    }

    /// After a `fork`, in the parent.
    pub fn after_fork(&self) {
        cloom_llvm::after_fork();
        self.queue.resume();
    }

    /// After a `fork`, in the child; takes no lock that another thread may have had. Returns whether the child can use
    /// the compiler: it cannot if a thread took longer than the limit.
    pub fn after_fork_in_child(&self) -> bool {
        cloom_llvm::after_fork_in_child();
        self.queue.resume_in_child()
    }

    /// How many kernels run one work-item at a time because of a bug in the vectoriser: right results, but slow.
    pub fn internal_errors(&self) -> u64 {
        self.internal_errors.load(Ordering::Relaxed)
    }

    /// Counts and reports a bug that costs only speed.
    fn note_internal_error(&self, kernel: &str, bug: &cloom_spmd::InternalError) {
        self.internal_errors.fetch_add(1, Ordering::Relaxed);
        let text = format!("kernel `{kernel}` runs one work-item at a time: {bug}");
        if self.log {
            eprintln!("cloom: {text}");
        }
        if let Some(cache) = &self.cache {
            cache.note_bug(&format!("Cloom {}: {text}", env!("CARGO_PKG_VERSION")));
        }
    }

    /// A kernel of a program with all that it calls, before any pass.
    pub fn linked(&self, program: &Program, kernel: &str) -> Result<cloom_ir::Module, CompileError> {
        kernel::linked(program, kernel)
    }

    /// Compiles a kernel once more, without the cache, and keeps the text of every stage, for people to read.
    pub fn stages(
        &self,
        program: &Program,
        kernel: &str,
        target: &Target,
        key: impl Into<SpecializationKey>,
    ) -> Result<Built, CompileError> {
        let backend = self.backend(target)?;
        let key = key.into();
        let request = Request { compiler: self, backend: &*backend, program, name: kernel, states: &key.states };
        request.show(&request.canonical(key.clone()))
    }
}
