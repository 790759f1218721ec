//! Whether a thread is about to end.
//!
//! The destructors of a program's static objects run when the thread that ends the process has lost what it kept for itself: each thread's
//! memory for kernels, and Rust's own name for it. They may use the driver all the same, and wait for kernels; which
//! other threads then run.

use std::thread::LocalKey;

struct Alive;

impl Drop for Alive {
    fn drop(&mut self) {}
}

thread_local! {
    /// Has a destructor, so that it can be seen to be gone.
    static ALIVE: Alive = const { Alive };
}

/// Whether this thread has lost what it kept. Who enqueues asks, so that this is known of a thread before it ends.
pub(crate) fn ends() -> bool {
    LocalKey::try_with(&ALIVE, |_| ()).is_err()
}
