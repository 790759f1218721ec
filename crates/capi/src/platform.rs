//! The platform of this process: made at the first call, never destroyed.

use cloom_caps::env;
use cloom_hal::Device;
use cloom_hal_cpu::{Choice, fpenv};
use cloom_runtime::{Compiler, Engine, Hooks, Platform};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static PLATFORM: LazyLock<Arc<Platform>> = LazyLock::new(|| {
    // The first call may come from a thread with another rounding mode or traps.
    let _float_env = fpenv::enter(false);
    let hooks = Hooks { print: Box::new(print), enter_float_env: || Box::new(fpenv::enter(false)) };
    let engine = Engine::new(Compiler::from_env(), hooks);
    let Choice { device, warnings } = Choice::new(0, None);
    warnings.iter().for_each(|warning| eprintln!("cloom: {warning}"));
    let devices: Vec<Arc<dyn Device>> = match device {
        Ok(cpu) => vec![Arc::new(cpu)],
        Err(why) => {
            eprintln!("cloom: {}: {why}; no device is offered", env::CPU.name);
            Vec::new()
        }
    };
    // SAFETY: the functions are ours and take nothing; the one for the child takes no lock and starts no thread.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork_in_child)) };
    Platform::new(engine, devices)
});

/// The platform.
pub fn get() -> &'static Arc<Platform> {
    &PLATFORM
}

static ORPHAN: AtomicBool = AtomicBool::new(false);

/// Whether this process is the child of a fork and would need threads that only its parent has.
pub fn is_orphan() -> bool {
    ORPHAN.load(Ordering::Relaxed)
}

// A process that cannot use the engine may have its locks as another thread of its parent left them.

extern "C" fn before_fork() {
    if !is_orphan() {
        PLATFORM.engine().before_fork();
    }
}

extern "C" fn after_fork() {
    if !is_orphan() {
        PLATFORM.engine().after_fork();
    }
}

extern "C" fn after_fork_in_child() {
    if !PLATFORM.engine().after_fork_in_child() {
        ORPHAN.store(true, Ordering::Relaxed);
    }
}

unsafe extern "C" {
    /// The C library's stream.
    static stdout: *mut libc::FILE;
}

/// Output of kernels goes through the C library's stream, so that it is in order with that of the application.
fn print(text: &[u8]) {
    // SAFETY: the stream exists while the process does, and is locked by the functions.
    unsafe {
        libc::fwrite(text.as_ptr().cast(), 1, text.len(), stdout);
        libc::fflush(stdout);
    }
}
