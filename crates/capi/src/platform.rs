//! The platform of this process: made at the first call, never undone.

use cloom_caps::cpu::{named, names};
use cloom_caps::env;
use cloom_hal::Device;
use cloom_hal_cpu::{CpuDevice, fpenv};
use cloom_runtime::{Cloom, Engine, Hooks, Platform};
use cloom_target::Target;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static PLATFORM: LazyLock<Arc<Platform>> = LazyLock::new(|| {
    // The first call may come from a thread that rounds or traps in its own way.
    let _float_env = fpenv::enter(false);
    let hooks = Hooks { print: Box::new(print), enter_float_env: || Box::new(fpenv::enter(false)) };
    let engine = Engine::new(Cloom::from_env(), hooks);
    let threads = env::THREADS.get().map_or(0, |text| {
        text.trim().parse().unwrap_or_else(|_| {
            eprintln!("cloom: {}={text} is not a number of threads; using all cores", env::THREADS.name);
            0
        })
    });
    let cpu = CpuDevice::new(threads, env::CPU.get().as_deref());
    let devices: Vec<Arc<dyn Device>> = if may_use(&cpu.info().target) { vec![Arc::new(cpu)] } else { Vec::new() };
    // SAFETY: the function is ours, takes nothing and may run in a child.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    Platform::new(engine, devices)
});

/// Whether what would run is what `CLOOM_CPU` asks for. A level that the machine lacks is refused: a lower one in its
/// place would let a test or a measurement pass for what it is not.
fn may_use(target: &Target) -> bool {
    let Some(wanted) = env::CPU.get() else { return true };
    match named(&wanted) {
        Some(wanted) if target.level() == wanted.level() => true,
        Some(_) => {
            let name = env::CPU.name;
            eprintln!(
                "cloom: {name}={wanted}: this machine cannot run such code ({target} is its best); no device is offered"
            );
            false
        }
        None => {
            eprintln!("cloom: {}={wanted} is unknown ({}); using {target}", env::CPU.name, names().join(", "));
            true
        }
    }
}

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
