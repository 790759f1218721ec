//! The compiler of a process: what users call.

use crate::backend::{Backend, CpuBackend, Extensions, GpuBackend};
use crate::cache::Cache;
use crate::compilation::{Compilation, Failure};
use crate::config::Config;
use crate::error::CompileError;
use crate::executable::Executable;
use crate::front::{self, BuildTarget, Header, Il, IncludeRules, Source};
use crate::kernel::{self, Built, Request};
use crate::key::SpecializationKey;
use crate::link::link;
use crate::options;
use crate::passes::{self, PassOptions};
use crate::program::{LoadError, Program};
use crate::queue::Queue;
use crate::shared::{SMALL_PROGRAM_SIZE, Shared};
use cloom_artifact::ImageKind;
use cloom_clc::layout::KernelLayout;
use cloom_clc::options::OptionSet;
use cloom_target::Target;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Makes the backend for a target, if it is for this target.
type MakeBackend = fn(&Target) -> Option<Arc<dyn Backend>>;

/// The backends that are built in. The first one that takes a target makes its code.
const BUILT_IN: &[MakeBackend] = &[CpuBackend::of, GpuBackend::of];

/// The compiler of a process.
pub struct Compiler {
    confine_includes: bool,
    backends: Vec<Arc<dyn Backend>>,
    shared: Arc<Shared>,
}

/// The disk cache in a folder, if that can be used.
fn open_cache(folder: &Path, log: bool) -> Option<Cache> {
    let opened = Cache::open(folder);
    if let (Err(why), true) = (&opened, log) {
        eprintln!("cloom: compiled kernels are not kept in {}: {why}", folder.display());
    }
    opened.ok()
}

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
        let shared = Shared {
            lanes: config.lanes,
            remarks: config.remarks,
            // Only optimised code counts its operations.
            baseline_tier: config.baseline_tier && !config.count,
            count: config.count,
            passes: PassOptions::without(config.disabled),
            log: config.log,
            internal_errors: AtomicU64::new(0),
            hooks: extensions.hooks,
            cache: config.cache_dir.and_then(|folder| open_cache(&folder, config.log)),
            queue: Queue::new(config.background_threads, config.cores),
            before_code: OnceLock::new(),
        };
        Arc::new(Self {
            // A set-user-ID process may read files that its user may not, and diagnostics quote what is included.
            confine_includes: config.confine_includes || cloom_caps::secure::is_privileged(),
            backends: extensions.backends,
            shared: Arc::new(shared),
        })
    }

    /// Calls back whenever code that is not in the cache is about to be made, on the thread that makes it. Only the
    /// first call has an effect.
    pub fn before_code(&self, call: impl Fn(&Target) + Send + Sync + 'static) {
        let _ = self.shared.before_code.set(Box::new(call));
    }

    /// Compiles a source and links it alone (`clBuildProgram`). It is preprocessed for the target's device. `a * b + c`
    /// is contracted if the target has the instruction.
    pub fn build<'a>(&self, source: &Source<'_>, options: &str, target: impl Into<BuildTarget<'a>>) -> Compilation {
        let target = target.into();
        let front = || {
            front::compile(source, options, OptionSet::Build, self.includes(&[]), target, self.shared.cache.as_ref())
        };
        self.build_by(&front, source.text.len(), target)
    }

    /// Compiles a module of SPIR-V and links it alone. For the target see [`Compiler::build`].
    pub fn build_il<'a>(&self, il: Il<'_>, options: &str, target: impl Into<BuildTarget<'a>>) -> Compilation {
        let target = target.into();
        let front = || front::compile_il(il, options, OptionSet::Build, target, self.shared.cache.as_ref());
        self.build_by(&front, il.binary.len(), target)
    }

    /// Compiles by a front end, and links. For a large program, LLVM is initialised meanwhile.
    fn build_by(&self, front: &dyn Fn() -> Compilation, size: usize, target: BuildTarget<'_>) -> Compilation {
        let compiled = match self.backend(target.target) {
            // For a smaller source the front end is done before LLVM could be initialised.
            Ok(backend) if size > SMALL_PROGRAM_SIZE => {
                let mut compiled = None;
                backend.prepare_meanwhile(&mut || compiled = Some(front()));
                // A registered backend may not keep its promise to do the work.
                compiled.unwrap_or_else(front)
            }
            _ => front(),
        };
        match compiled.result {
            Ok(program) => {
                // Linking one program finds undefined symbols and gives the variables their places.
                let linked = link(vec![program], ImageKind::Executable, None);
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
        front::compile(
            source,
            options,
            OptionSet::Compile,
            self.includes(headers),
            target.into(),
            self.shared.cache.as_ref(),
        )
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
        front::compile_il(il, options, OptionSet::Compile, target.into(), self.shared.cache.as_ref())
    }

    /// Links compiled programs and libraries (`clLinkProgram`).
    pub fn link(&self, inputs: &[Arc<Program>], options: &str) -> Compilation {
        let (options, log, _) = match options::parse(options, OptionSet::Link) {
            Ok(parsed) => parsed,
            Err((log, diagnostics)) => return Compilation::failed(Failure::Options, log, diagnostics),
        };
        let kind = if options.create_library { ImageKind::Library } else { ImageKind::Executable };
        let linked = link(inputs.to_vec(), kind, Some(&options));
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
        let is_needed =
            |b: &Arc<dyn Backend>| !b.is_prepared() && b.capabilities().tier_up && self.shared.queue.is_active();
        let unprepared = backend.as_ref().ok().filter(|b| is_needed(b)).cloned();
        let executable = Executable::new(self.shared.clone(), program.clone(), target.clone(), backend);
        if let Some(backend) = unprepared {
            // The first use of LLVM takes long, and the process must not exit meanwhile, so that it is not left to
            // another thread.
            let is_made = program.module().size() <= SMALL_PROGRAM_SIZE && executable.prepare_only();
            // A program whose code is kept is spared LLVM's first use, which takes 5 to 6 ms.
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
        if self.shared.cache.is_some() {
            get_ready(self.shared.cache.as_ref());
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
        // Registered backends come first, so that one can take the place of a built-in one.
        match self.backends.iter().find(|b| b.target() == target) {
            Some(backend) => Ok(backend.clone()),
            None => {
                let backend = BUILT_IN.iter().find_map(|backend| backend(target));
                backend.ok_or_else(|| CompileError::NoBackend(target.name().to_owned()))
            }
        }
    }

    /// Before a `fork`: lets the threads that compile ahead end after their current kernel, and waits for that, at most
    /// this long. [`Compiler::after_fork`] continues with the work that they have not begun.
    pub fn before_fork(&self, limit: Duration) {
        // LLVM is last: it lets no code generation begin from then on, so that a thread of the queue that was about to
        // begin could not end. The index of names is made here because a child cannot wait for a thread that was making
        // it.
        self.shared.queue.pause(limit);
        cloom_builtins::table::make_index();
        cloom_llvm::before_fork(limit);
    }

    /// After a `fork`, in the parent.
    pub fn after_fork(&self) {
        cloom_llvm::after_fork();
        self.shared.queue.resume();
    }

    /// After a `fork`, in the child; takes no lock that another thread may have had. Returns whether the child can use
    /// the compiler: it cannot if a thread took longer than the limit.
    pub fn after_fork_in_child(&self) -> bool {
        cloom_llvm::after_fork_in_child();
        self.shared.queue.resume_in_child()
    }

    /// How many kernels run one work-item at a time because of a bug in the vectoriser: right results, but slow.
    pub fn internal_errors(&self) -> u64 {
        self.shared.internal_errors.load(Ordering::Relaxed)
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
        let passes = self.shared.passes.checked(key.bounds_checks);
        let (shared, states) = (&self.shared, &key.states);
        let request = Request { shared, backend: &*backend, program, name: kernel, states, passes: &passes };
        request.show(&request.canonical(key.clone()))
    }
}
