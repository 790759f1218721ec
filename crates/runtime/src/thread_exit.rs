//! Whether the calling thread is exiting.
//!
//! The destructors of a program's static objects run on the thread that ends the process after its thread-local storage
//! has been destroyed: each thread's memory for kernels, and Rust's handle of the thread. They may use the driver all
//! the same, and wait for kernels, which then run on other threads.

use std::thread::LocalKey;

struct Alive;

impl Drop for Alive {
    fn drop(&mut self) {}
}

thread_local! {
    /// Has a destructor, so that its destruction can be observed.
    static ALIVE: Alive = const { Alive };
}

/// Whether this thread's thread-local storage is destroyed. Called when commands are enqueued, which initialises the
/// variable before the thread exits.
pub(crate) fn is_exiting() -> bool {
    LocalKey::try_with(&ALIVE, |_| ()).is_err()
}
