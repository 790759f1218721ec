//! The platform of this process: made at the first call, never undone.

use cloom_caps::env;
use cloom_hal::Device as _;
use cloom_hal_cpu::CpuDevice;
use cloom_runtime::{Cloom, Engine, Hooks, Platform};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static PLATFORM: LazyLock<Arc<Platform>> = LazyLock::new(|| {
    let hooks = Hooks { print: Box::new(print) };
    let engine = Engine::new(Cloom::from_env(), hooks);
    let threads = env::THREADS.get().map_or(0, |text| {
        text.trim().parse().unwrap_or_else(|_| {
            eprintln!("cloom: {}={text} is not a number of threads; using all cores", env::THREADS.name);
            0
        })
    });
    let level = env::CPU.get();
    let cpu = CpuDevice::new(threads, level.as_deref());
    if let Some(level) = &level
        && !matches!(level.as_str(), "sse4.2" | "avx2" | "avx512")
    {
        let target = &cpu.info().target;
        eprintln!("cloom: {}={level} is unknown (sse4.2, avx2, avx512); using {target}", env::CPU.name);
    }
    // SAFETY: both functions are ours, take nothing and may run at these moments.
    unsafe {
        libc::atexit(at_exit);
        libc::pthread_atfork(None, None, Some(in_child));
    }
    Platform::new(engine, vec![Arc::new(cpu)])
});

/// The platform.
pub fn get() -> &'static Arc<Platform> {
    &PLATFORM
}

static ORPHAN: AtomicBool = AtomicBool::new(false);

/// Whether this process is the child of a fork after threads had been started, which it does not have.
pub fn is_orphan() -> bool {
    ORPHAN.load(Ordering::Relaxed)
}

extern "C" fn in_child() {
    if PLATFORM.engine().is_active() {
        ORPHAN.store(true, Ordering::Relaxed);
    }
}

/// Threads must not run kernels or compile while the process tears down what they use.
extern "C" fn at_exit() {
    if !is_orphan() {
        PLATFORM.engine().stop();
    }
}

unsafe extern "C" {
    /// The C library's stream.
    static stdout: *mut libc::FILE;
}

/// What kernels print goes through the C library's stream, so that it stands in order with what the application prints.
fn print(text: &[u8]) {
    // SAFETY: the stream exists while the process does, and is locked by the functions.
    unsafe {
        libc::fwrite(text.as_ptr().cast(), 1, text.len(), stdout);
        libc::fflush(stdout);
    }
}
