//! The platform of this process: made at the first call, never destroyed.
//!
//! Threads do not survive a `fork`. A child whose parent had none, and was in no call, has everything that its parent
//! had. Any other child has a platform of its own, made at its first call, with new objects of the runtime below the
//! old handles of platform and devices, which the application and the ICD loader have kept. All other objects are the
//! parent's ([`handle`]).

use crate::dispatch::{self, Slot};
use crate::handle;
use crate::interrupt;
use crate::reserve::RESERVE;
use cloom_platform::Options;
use cloom_runtime::{Error, LaunchChecker, Platform};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// What a process has, in which no lost thread has locked anything.
#[derive(Default)]
struct Process {
    /// Its platform.
    platform: OnceLock<Arc<Platform>>,
    /// Calls of the interface that are under way, as long as the engine is not active: what they lock, no child could
    /// use. (An active engine is of no use to a child anyway.)
    calls: AtomicUsize,
}

static FIRST: Process = Process { platform: OnceLock::new(), calls: AtomicUsize::new(0) };
/// That of a child that started afresh; null: the first one.
static FRESH: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

fn process() -> &'static Process {
    // SAFETY: null, or one that was leaked.
    unsafe { FRESH.load(Ordering::Acquire).as_ref() }.unwrap_or(&FIRST)
}

/// A call of the interface, until it is dropped.
pub struct Call(&'static AtomicUsize);

/// A call of a function of this table begins; `None` if nobody counts them.
pub fn begin_call(table: &'static [Slot]) -> Option<Call> {
    // Once in a process: the load keeps the later calls from an exchange of the shared word.
    if dispatch::table().is_null() && dispatch::set_table(table) {
        // SAFETY: the functions are ours and take nothing; what the one for the child does is allowed there.
        unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork_in_child)) };
    }
    let process = process();
    if process.platform.get().is_some_and(|platform| platform.engine().is_active()) {
        return None;
    }
    process.calls.fetch_add(1, Ordering::AcqRel);
    let call = Call(&process.calls);
    // The first call of a child may be about a device that its parent has left to it.
    if !std::ptr::eq(process, &FIRST) {
        get();
    }
    Some(call)
}

impl Drop for Call {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn make() -> Arc<Platform> {
    // Before anything of the runtime is made, which may already be short of memory.
    RESERVE.prepare();
    let (platform, warnings) = cloom_platform::platform(&Options::default(), Box::new(print));
    warnings.iter().for_each(|warning| eprintln!("cloom: {warning}"));
    if platform.engine().checker().is_some() {
        interrupt::before_end(|| checker().into_iter().for_each(|checker| checker.interrupted()));
    }
    // In a child of a fork the application and the loader go on with the handles of the parent.
    handle::inherit(&platform);
    platform
}

/// What checks the launches of this process, if something does.
fn checker() -> Option<&'static Arc<dyn LaunchChecker>> {
    process().platform.get()?.engine().checker()
}

/// The process ends: the checker writes its report.
extern "C" fn at_end() {
    let end = || checker().into_iter().for_each(|checker| checker.end());
    if let Err(panic) = std::panic::catch_unwind(end) {
        std::mem::forget(panic);
    }
}

/// The C library calls it after all that the program has registered: destructors of C++ release objects until then.
// SAFETY: the section is a list of such functions.
#[unsafe(link_section = ".fini_array")]
#[used]
static AT_END: extern "C" fn() = at_end;

/// A call has failed.
pub fn failed(call: &str, error: &Error) {
    if let Some(checker) = checker() {
        checker.failed(call, error);
    }
}

/// The platform.
pub fn get() -> &'static Arc<Platform> {
    process().platform.get_or_init(make)
}

extern "C" fn before_fork() {
    if let Some(platform) = process().platform.get() {
        platform.engine().before_fork();
    }
}

extern "C" fn after_fork() {
    if let Some(platform) = process().platform.get() {
        platform.engine().after_fork();
    }
}

extern "C" fn after_fork_in_child() {
    let Process { platform, calls } = process();
    // Without a platform there is nothing that could be incomplete.
    let is_whole = platform.get().is_none_or(|platform| platform.engine().after_fork_in_child());
    if !is_whole || calls.load(Ordering::Acquire) > 0 {
        // The parent's objects are left as they are: their locks may be those of threads that are not here.
        handle::leave_to_parent(platform.get());
        FRESH.store(Box::leak(Box::default()), Ordering::Release);
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
