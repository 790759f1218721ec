//! The engine: the state that all objects of a platform share: thread pools, the clock, the compiler, and hooks to the
//! process.

use crate::checker::LaunchChecker;
use crate::objects::device::Device;
use crate::objects::tasks::Tasks;
use crate::objects::urgent::Urgent;
use crate::objects::watchdog::Watchdog;
use cloom_compiler::Compiler;
use cloom_hal::Expected;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Native kernels that run at a time; more wait. Large, because they may wait for each other.
const NATIVE_THREADS: usize = 64;
/// Callbacks that run at a time. Large, because they may block.
const CALLBACK_THREADS: usize = 64;

/// Kernels that are made ahead at a time at most: cores are for those that somebody waits for.
const MAX_LOADS: usize = 8;

/// A fork waits at most so long for kernels that are being compiled: most take less. A child that can use its parent's
/// kernels profits.
const MAX_FORK_DELAY: Duration = Duration::from_secs(2);
/// The same if the child starts afresh: it only must not meet the code generator in the middle of something.
const ACTIVE_FORK_DELAY: Duration = Duration::from_millis(200);

/// Takes what kernels printed.
pub type Printer = Box<dyn Fn(&[u8]) + Send + Sync>;

/// Gives the calling thread the default floating-point environment (rounding to nearest, no traps, denormals kept)
/// until the result is dropped.
pub type EnterFloatEnv = fn() -> Box<dyn Any>;

/// Hooks of the runtime into its process.
pub struct Hooks {
    /// Writes what kernels printed.
    pub print: Printer,
    /// Entered before anything is compiled, and by each thread: what an application sets for its own computations
    /// (`fesetround`, `feenableexcept`, `-ffast-math`) must not change what the compiler computes.
    pub enter_float_env: EnterFloatEnv,
    /// Runs launches in place of their devices, and hears of failures.
    pub checker: Option<Arc<dyn LaunchChecker>>,
    /// Whether all kernels check their accesses ([`Kernel::bounds_checked`](crate::Kernel::bounds_checked)).
    pub bounds_checks: bool,
    /// How long launches of such kernels may take.
    pub time_limit: Duration,
}

/// State shared by all objects of a platform.
pub struct Engine {
    /// Runs commands that only compute and copy: as many at a time as there are cores.
    pub(crate) commands: Tasks,
    /// Runs native kernels.
    pub(crate) natives: Tasks,
    /// Calls the application.
    pub(crate) callbacks: Tasks,
    /// Compiles.
    pub(crate) builds: Tasks,
    /// Makes and loads kernels ahead.
    pub(crate) loads: Tasks,
    /// What these make way for.
    pub(crate) urgent: Urgent,
    compiler: Arc<Compiler>,
    pub(crate) hooks: Hooks,
    pub(crate) watchdog: Watchdog,
    epoch: Instant,
    next_id: AtomicU64,
    active: AtomicBool,
}

impl Engine {
    /// An engine without a running thread.
    pub fn new(compiler: Arc<Compiler>, hooks: Hooks) -> Arc<Engine> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let tasks = |name, limit| Tasks::new(name, limit, hooks.enter_float_env);
        Arc::new(Engine {
            // One more than the least, so that a long command of one queue does not hold up another queue on a single
            // core.
            commands: tasks("cloom-command", cores.max(2)),
            natives: tasks("cloom-native", NATIVE_THREADS),
            callbacks: tasks("cloom-callback", CALLBACK_THREADS),
            builds: tasks("cloom-build", cores),
            loads: tasks("cloom-load", (cores / 2).clamp(1, MAX_LOADS)),
            urgent: Urgent::default(),
            compiler,
            hooks,
            watchdog: Watchdog::default(),
            epoch: Instant::now(),
            next_id: AtomicU64::new(1),
            active: AtomicBool::new(false),
        })
    }

    /// Nanoseconds of the one clock that profiling and the timer queries share; never 0.
    pub fn now(&self) -> u64 {
        // One more, because 0 stands for a time that was not taken (`Profiling`).
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// What checks launches, if there is something.
    pub fn checker(&self) -> Option<&Arc<dyn LaunchChecker>> {
        self.hooks.checker.as_ref()
    }

    /// Calls the compiler, or what it made, in the floating-point environment that it needs.
    pub(crate) fn compile<T>(&self, call: impl FnOnce(&Arc<Compiler>) -> T) -> T {
        let _float_env = (self.hooks.enter_float_env)();
        call(&self.compiler)
    }

    /// Prepares the compiler for a device, in the background. Nobody waits for the threads: devices that ask for it are
    /// those of the driver, which leaves LLVM's global data alone when the process ends.
    pub(crate) fn prepare_compiler(self: &Arc<Self>, device: &Arc<Device>, expected: Expected) {
        let prepare = |part: fn(&Compiler, &Device)| {
            let (engine, device) = (self.clone(), device.clone());
            let prepare = move || engine.compile(|compiler| part(compiler, &device));
            // Without a thread, what is first compiled prepares it.
            let _ = std::thread::Builder::new().name("cloom-prepare".into()).spawn(prepare);
        };
        prepare(|compiler, device| compiler.prepare_front_end(&device.info().target));
        if expected == Expected::NewCode {
            prepare(|compiler, device| compiler.prepare(&device.info().target));
        }
    }

    /// A number that no other object of this engine has.
    pub(crate) fn id(&self) -> u64 {
        // Relaxed: the numbers only have to differ. Commands of one queue take theirs under its lock, in order.
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes that threads may exist from now on.
    pub(crate) fn activate(&self) {
        self.active.store(true, Ordering::Relaxed);
    }

    /// Before the application forks. A child cannot use an engine that has been active, and makes a new one; of one
    /// that has only compiled ahead it gets everything that was begun complete.
    pub fn before_fork(&self) {
        self.compiler.before_fork(if self.is_active() { ACTIVE_FORK_DELAY } else { MAX_FORK_DELAY });
    }

    /// After a fork, in the parent.
    pub fn after_fork(&self) {
        self.compiler.after_fork();
    }

    /// After a fork, in the child; takes no lock that another thread may have had. Returns whether the child can use
    /// the engine: not if it needs threads that only the parent has.
    pub fn after_fork_in_child(&self) -> bool {
        self.compiler.after_fork_in_child() && !self.is_active()
    }

    /// Whether a command, or a build with a callback, may have started a thread.
    pub fn is_active(&self) -> bool {
        self.active.load(Ordering::Relaxed)
    }
}
