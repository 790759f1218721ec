//! The end of the process waits for calls of the driver.
//!
//! Kernels are loaded by threads in the background, and the last owner of a stream or of memory may be such a thread,
//! which gives it back after the application has released it. If the process ends meanwhile, the driver's library tears
//! down what it uses. So a handler, registered after the driver's own and therefore called before them, waits for the
//! calls of other threads that have begun and lets no other begin. What is not given back goes with the process.
//!
//! The compiler is a library of its own, which the driver opens when PTX is first translated, and which has such
//! handlers too. It is opened before, so that ours can be registered between its own and its first use.

use crate::library::is_forked;
use cloom_hal::HalError;
use cloom_hal_gpu::timeline::ExitGate;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::{Duration, Instant};

/// The end of the process waits at most so long; most calls take less. A process that hangs is worse than one that
/// crashes at its end.
const MAX_EXIT_DELAY: Duration = Duration::from_secs(10);
/// The end of the process looks once in this time whether a call is still under way. It takes no lock: a handler of a
/// signal may end the process, and the thread that it has interrupted could hold the lock.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The driver's compiler of PTX.
const COMPILER: &str = "libnvidia-ptxjitcompiler.so.1";

/// Stands before the driver.
static GATE: ExitGate = ExitGate::new(AtomicUsize::new(0), AtomicBool::new(false));

thread_local! {
    /// Those of this thread.
    static OWN: Cell<usize> = const { Cell::new(0) };
}

/// A call, or several, of this thread, for which the end of the process waits.
pub struct Call(PhantomData<*const ()>);

impl Call {
    /// One that begins; an error if the process ends. The driver must have been initialised.
    pub fn begin() -> Result<Call, HalError> {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(wait_at_end);
        if !GATE.begin() {
            return Err(HalError::Device("the process ends".into()));
        }
        OWN.set(OWN.get() + 1);
        Ok(Call(PhantomData))
    }

    /// One that uses the driver's compiler. `Call::begin` otherwise.
    pub fn begin_compiling() -> Result<Call, HalError> {
        static OPENED: Once = Once::new();
        OPENED.call_once(|| {
            // SAFETY: the library's initialisers are the driver's own, which any process may run. It stays open.
            // Without it, the driver says what is wrong.
            if let Ok(compiler) = unsafe { Library::open(Some(COMPILER), RTLD_NOW | RTLD_LOCAL) } {
                std::mem::forget(compiler);
                wait_at_end();
            }
        });
        Call::begin()
    }

    /// The compiler has made what it makes on its first use: what it registered is called after our handler only if
    /// that is registered once more.
    pub fn has_compiled(&self) {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(wait_at_end);
    }
}

/// Lets the end of the process wait for calls. Handlers are called in the reverse order.
fn wait_at_end() {
    // Not `atexit`, whose calls do not reach the C library from everywhere that LLVM is linked to.
    // SAFETY: a function that is always there, since what contains it is never unloaded.
    unsafe { on_exit(at_end, std::ptr::null_mut()) };
}

impl Drop for Call {
    fn drop(&mut self) {
        OWN.set(OWN.get() - 1);
        GATE.end();
    }
}

unsafe extern "C" {
    /// Of the C library: like `atexit`.
    fn on_exit(call: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

extern "C" fn at_end(_: c_int, _: *mut c_void) {
    // The threads of its parent are not there.
    if is_forked() {
        return;
    }
    GATE.close();
    let begin = Instant::now();
    while !GATE.is_quiet(OWN.get()) && begin.elapsed() < MAX_EXIT_DELAY {
        std::thread::sleep(EXIT_POLL_INTERVAL);
    }
}
