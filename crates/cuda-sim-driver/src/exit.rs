//! The end of the process, at which the driver tears down data that its calls use. Here, a call that is in progress
//! then, or begins after that, aborts the process.

use std::ffi::{c_int, c_void};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// The calls in progress.
static CALLS: AtomicUsize = AtomicUsize::new(0);
static IS_OVER: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    /// A function of the C library, similar to `atexit`.
    fn on_exit(call: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

extern "C" fn at_end(_: c_int, _: *mut c_void) {
    // First the flag, then the count; `unload` does it the other way round. In the single order of sequentially
    // consistent accesses, at least one of the two threads sees what the other has written.
    IS_OVER.store(true, Ordering::SeqCst);
    if CALLS.load(Ordering::SeqCst) > 0 {
        std::process::abort();
    }
    // Tearing down takes time, in which other threads go on.
    std::thread::sleep(unload_time());
}

/// Called when the driver is started.
pub fn start() {
    static REGISTERED: Once = Once::new();
    // SAFETY: a function that is always there, since the driver never closes the library.
    REGISTERED.call_once(|| _ = unsafe { on_exit(at_end, std::ptr::null_mut()) });
}

/// How long the unloading of a module takes.
fn unload_time() -> Duration {
    Duration::from_millis(crate::settings::number("CUDA_SIM_UNLOADS_MS").unwrap_or(0))
}

/// Takes that long.
pub fn unload() {
    CALLS.fetch_add(1, Ordering::SeqCst);
    if IS_OVER.load(Ordering::SeqCst) {
        std::process::abort();
    }
    std::thread::sleep(unload_time());
    CALLS.fetch_sub(1, Ordering::SeqCst);
}
