//! What a compiler shares with its executables: the configuration, the disk cache, the threads in the background.

use crate::backend::{Backend, IrHook};
use crate::cache::Cache;
use crate::passes::PassOptions;
use crate::program::Program;
use crate::queue::Queue;
use cloom_target::Target;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The limit of a small program. The front end is done with a source of at most this many bytes before LLVM could be
/// initialised. If its IR has at most this many instructions and one kernel, compiling that kernel initialises LLVM. On
/// such a kernel, the scalar passes take no noticeable time.
pub const SMALL_PROGRAM_SIZE: usize = 8 << 10;

/// Called when code for a target is about to be made.
pub type BeforeCode = Box<dyn Fn(&Target) + Send + Sync>;

/// What all executables of a compiler use. The fields of the [configuration](crate::Config) are described there.
pub struct Shared {
    pub lanes: Option<u16>,
    pub remarks: bool,
    pub baseline_tier: bool,
    pub count: bool,
    pub passes: PassOptions,
    pub log: bool,
    /// How many kernels run one work-item at a time because of a bug.
    pub internal_errors: AtomicU64,
    pub hooks: Vec<Arc<dyn IrHook>>,
    pub cache: Option<Cache>,
    pub queue: Arc<Queue>,
    pub before_code: OnceLock<BeforeCode>,
}

impl Shared {
    /// Whether a program's kernels may begin with baseline code: there are background threads, and no option fixes the
    /// kind of code.
    pub fn may_tier_up(&self, program: &Program, backend: &dyn Backend) -> bool {
        self.baseline_tier
            && self.queue.is_active()
            && self.lanes.is_none()
            && !program.options().opt_disable
            && backend.capabilities().baseline_tier
    }

    /// Counts and reports a bug that costs only speed.
    pub fn note_internal_error(&self, kernel: &str, bug: &cloom_spmd::InternalError) {
        self.internal_errors.fetch_add(1, Ordering::Relaxed);
        let text = format!("kernel `{kernel}` runs one work-item at a time: {bug}");
        if self.log {
            eprintln!("cloom: {text}");
        }
        if let Some(cache) = &self.cache {
            cache.note_bug(&format!("Cloom {}: {text}", env!("CARGO_PKG_VERSION")));
        }
    }
}
