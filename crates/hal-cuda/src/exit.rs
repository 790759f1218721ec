//! The end of the process waits for calls of the driver.
//!
//! Background threads load kernels. Such a thread may also be the last owner of a stream or of memory, and then
//! releases it after the application did. If the process ends meanwhile, the driver's library tears down what these
//! calls still use. So a handler, registered after the driver's own and therefore called before them, waits for the
//! calls of other threads that have begun, and lets no other call begin. Objects that are not released then go with the
//! process.
//!
//! The JIT compiler for PTX is a library of its own, which the driver opens when it first translates PTX, and which has
//! such handlers too. It is opened earlier here, so that our handler can be registered after its own and before its
//! first use.

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

/// The end of the process waits at most this long. Most calls take less. A process that hangs is worse than one that
/// crashes at its end.
const MAX_EXIT_DELAY: Duration = Duration::from_secs(10);
/// The interval at which the end of the process polls for calls in progress. It takes no lock: a signal handler may end
/// the process, and the interrupted thread could hold the lock.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The JIT compiler for PTX, which is a part of the driver.
const COMPILER: &str = "libnvidia-ptxjitcompiler.so.1";

/// All calls of the driver pass this gate.
static GATE: ExitGate = ExitGate::new(AtomicUsize::new(0), AtomicBool::new(false));

thread_local! {
    /// The calls of this thread that are in progress.
    static OWN: Cell<usize> = const { Cell::new(0) };
}

/// One or several nested calls of this thread, for which the end of the process waits.
pub struct Call(PhantomData<*const ()>);

impl Call {
    /// Begins a call; an error if the process is ending. The driver must have been initialised.
    pub fn begin() -> Result<Call, HalError> {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(wait_at_end);
        if !GATE.begin() {
            return Err(HalError::Device("the process ends".into()));
        }
        // Counted by thread too: if this thread itself ends the process, it must not wait for its own call.
        OWN.set(OWN.get() + 1);
        Ok(Call(PhantomData))
    }

    /// Begins a call that uses the JIT compiler. Otherwise it is like `Call::begin`.
    pub fn begin_compiling() -> Result<Call, HalError> {
        static OPENED: Once = Once::new();
        OPENED.call_once(|| {
            // SAFETY: the library's initialisers are the driver's own, which any process may run. It stays open. If it
            // is missing, the driver reports that.
            if let Ok(compiler) = unsafe { Library::open(Some(COMPILER), RTLD_NOW | RTLD_LOCAL) } {
                std::mem::forget(compiler);
                wait_at_end();
            }
        });
        Call::begin()
    }

    /// Says that the JIT compiler has been used. Its first use registers more handlers, so that ours is registered once
    /// more, to be called before those.
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
    /// A function of the C library, similar to `atexit`.
    fn on_exit(call: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

extern "C" fn at_end(_: c_int, _: *mut c_void) {
    // A forked child does not have the threads of its parent.
    if is_forked() {
        return;
    }
    // Closed before the count is read: a call that begins now is either seen or refused.
    GATE.close();
    let begin = Instant::now();
    while !GATE.is_quiet(OWN.get()) && begin.elapsed() < MAX_EXIT_DELAY {
        std::thread::sleep(EXIT_POLL_INTERVAL);
    }
}
