//! The end of the process waits for the driver's compiler.
//!
//! Kernels are loaded by threads in the background too. If the process ends meanwhile, the driver's library tears down
//! what its compiler uses. So a handler, registered after the driver's own and therefore called before them, waits for
//! the loads that have begun and lets no other begin.
//!
//! The compiler is a library of its own, which the driver opens when PTX is first translated, and which has such
//! handlers too. It is opened before, so that ours can be registered between its own and its first use.

use crate::library::is_forked;
use cloom_hal::HalError;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{c_int, c_void};
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

/// Most loads take less. A process that hangs is worse than one that crashes at its end.
const LIMIT: Duration = Duration::from_secs(10);

/// The driver's compiler of PTX.
const COMPILER: &str = "libnvidia-ptxjitcompiler.so.1";

struct Loads {
    running: usize,
    /// The process ends.
    is_over: bool,
}

static LOADS: Mutex<Loads> = Mutex::new(Loads { running: 0, is_over: false });
static NONE_LEFT: Condvar = Condvar::new();

fn loads() -> MutexGuard<'static, Loads> {
    LOADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A load for which the end of the process waits.
pub struct Load(());

impl Load {
    /// One that begins; an error if the process ends. The driver must have been initialised.
    pub fn begin() -> Result<Load, HalError> {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(wait_at_end);
        let mut loads = loads();
        if loads.is_over {
            return Err(HalError::Device("the process ends".into()));
        }
        loads.running += 1;
        Ok(Load(()))
    }

    /// One that uses the driver's compiler. `Load::begin` otherwise.
    pub fn begin_compiling() -> Result<Load, HalError> {
        static OPENED: Once = Once::new();
        OPENED.call_once(|| {
            // SAFETY: the library's initialisers are the driver's own, which any process may run. It stays open.
            // Without it, the driver says what is wrong.
            if let Ok(compiler) = unsafe { Library::open(Some(COMPILER), RTLD_NOW | RTLD_LOCAL) } {
                std::mem::forget(compiler);
                wait_at_end();
            }
        });
        Load::begin()
    }

    /// The compiler has made what it makes on its first use: what it registered is called after our handler only if
    /// that is registered once more.
    pub fn has_compiled(&self) {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(wait_at_end);
    }
}

/// Lets the end of the process wait for loads. Handlers are called in the reverse order.
fn wait_at_end() {
    // Not `atexit`, whose calls do not reach the C library from everywhere that LLVM is linked to.
    // SAFETY: a function that is always there, since what contains it is never unloaded.
    unsafe { on_exit(at_end, std::ptr::null_mut()) };
}

impl Drop for Load {
    fn drop(&mut self) {
        loads().running -= 1;
        NONE_LEFT.notify_all();
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
    let mut loads = loads();
    loads.is_over = true;
    drop(NONE_LEFT.wait_timeout_while(loads, LIMIT, |loads| loads.running > 0));
}
