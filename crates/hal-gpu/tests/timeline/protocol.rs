//! The timeline's source files, compiled with primitives of Loom. The module above says by `SOUND` whether its
//! sequentially consistent atomics are that, or only acquire and release.

/// The primitives that the files find.
pub mod sync {
    use super::super::SOUND;
    pub use crate::primitives::{AtomicU64, Condvar, Instant, Mutex, MutexGuard, Ordering};
    pub use crate::primitives::{pause, sleep, spawn, spin_loop};
    pub type AtomicBool = crate::primitives::AtomicBool<SOUND>;
    pub type AtomicUsize = crate::primitives::AtomicUsize<SOUND>;
}

use cloom_hal_gpu::tuning;

#[path = "../../src/timeline/completions.rs"]
mod completions;
#[path = "../../src/timeline/deferred.rs"]
mod deferred;
#[path = "../../src/timeline/exit.rs"]
mod exit;
#[path = "../../src/timeline/order.rs"]
#[allow(dead_code, reason = "when a launch is deferred is not here")]
mod order;
#[path = "../../src/timeline/pace.rs"]
#[allow(dead_code, reason = "when a launch is deferred is not here")]
mod pace;
#[path = "../../src/timeline/stream.rs"]
mod stream;

#[path = "ends.rs"]
pub mod ends;
#[path = "gpu.rs"]
mod gpu;
#[path = "scenarios.rs"]
pub mod scenarios;
