//! The primitives that the timeline is made of, in one place.
//!
//! The other files of this folder take every atomic, lock, clock and thread operation from here. `tests/timeline`
//! compiles the same files with another `sync` module, made of the types of Loom, which runs them in every order that
//! the memory model allows.

pub use cloom_hal::lock::{Condvar, Mutex, MutexGuard};
pub use std::hint::spin_loop;
pub use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
pub use std::thread::sleep;
pub use std::time::Instant;

/// A thread that looks at what other threads write pauses for about a microsecond between two looks, so that it does
/// not hold them up.
pub fn pause() {
    (0..32).for_each(|_| spin_loop());
}

/// Starts a thread of this name. False if the system gives none.
pub fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> bool {
    std::thread::Builder::new().name(name.into()).spawn(run).is_ok()
}
