//! The compiler of the simulated driver, a library of its own as NVIDIA's is: whoever uses it after its exit handlers
//! have been called uses what was freed. Here, the process is then aborted.
//!
//! It only takes time: `CUDA_SIM_TRANSLATES_MS` milliseconds for each text. Put a link to it beside that to the driver,
//! `libnvidia-ptxjitcompiler.so.1`.

#![allow(unsafe_code, reason = "it has the interface of a library in C")]

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Threads that translate.
static WORKING: AtomicUsize = AtomicUsize::new(0);

/// Translates a text.
// SAFETY: no other library has this name.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_translate() {
    let time = std::env::var("CUDA_SIM_TRANSLATES_MS").ok().and_then(|ms| ms.parse().ok());
    WORKING.fetch_add(1, Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(time.unwrap_or(0)));
    WORKING.fetch_sub(1, Ordering::SeqCst);
}

extern "C" fn at_end(_: c_int, _: *mut c_void) {
    if WORKING.load(Ordering::SeqCst) > 0 {
        std::process::abort();
    }
}

/// Called when the library is opened, as the constructors of objects with static storage are.
extern "C" fn start() {
    unsafe extern "C" {
        /// Of the C library: like `atexit`.
        fn on_exit(call: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    }
    // SAFETY: a function that is always there, since the driver never closes the library.
    unsafe { on_exit(at_end, std::ptr::null_mut()) };
}

// SAFETY: the section is a list of such functions.
#[unsafe(link_section = ".init_array")]
#[used]
static START: extern "C" fn() = start;
