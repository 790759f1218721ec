//! A program whose launches are checked has its report also if a signal ends it, as Ctrl-C does.
//!
//! Only signals that nobody handles are taken: a handler of the application stays, and one that it installs later takes
//! the place of ours. Ours does what a handler may do: it writes to a pipe. A thread that waits there has the report
//! written, and then ends the process by the same signal, as if there were no handler. A second signal does so at once.

use std::io::Read;
use std::os::fd::IntoRawFd;
use std::sync::atomic::{AtomicI32, Ordering};

/// What ends programs that run too long: Ctrl-C, and other programs that wait for them.
const SIGNALS: [libc::c_int; 2] = [libc::SIGINT, libc::SIGTERM];

/// The process that has the thread. A child of a fork has the handler only.
static OWNER: AtomicI32 = AtomicI32::new(0);
/// The end of the pipe that the handler writes to.
static PIPE: AtomicI32 = AtomicI32::new(-1);

extern "C" fn handle(signal: libc::c_int) {
    // SAFETY: functions that a handler may call. The byte exists during the call.
    unsafe {
        let errno = *libc::__errno_location();
        libc::signal(signal, libc::SIG_DFL);
        let byte = signal as u8;
        let is_own = libc::getpid() == OWNER.load(Ordering::Acquire);
        if !is_own || libc::write(PIPE.load(Ordering::Acquire), (&raw const byte).cast(), 1) != 1 {
            // It comes when the handler has returned.
            libc::raise(signal);
        }
        *libc::__errno_location() = errno;
    }
}

/// Ends this process by a signal, as without a handler.
fn end_by(signal: libc::c_int) -> ! {
    // SAFETY: they take numbers only.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::kill(libc::getpid(), signal);
        // All threads may have blocked it.
        libc::sleep(1);
        libc::_exit(128 + signal)
    }
}

/// Calls `report` before a signal ends the process.
pub fn before_end(report: fn()) {
    let Ok((mut reader, writer)) = std::io::pipe() else { return };
    let wait = move || {
        let mut signal = [0];
        // The other end is never closed.
        if reader.read_exact(&mut signal).is_ok() {
            report();
            end_by(signal[0].into());
        }
    };
    if std::thread::Builder::new().name("cloom-interrupt".into()).spawn(wait).is_err() {
        return;
    }
    PIPE.store(writer.into_raw_fd(), Ordering::Release);
    // SAFETY: it takes nothing.
    OWNER.store(unsafe { libc::getpid() }, Ordering::Release);
    for signal in SIGNALS {
        take(signal);
    }
}

/// Handles a signal that nobody handles.
fn take(signal: libc::c_int) {
    // SAFETY: all bytes of the structure may be zero; the handler does what one may do.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, std::ptr::null(), &raw mut action) != 0 || action.sa_sigaction != libc::SIG_DFL {
            return;
        }
        action.sa_sigaction = handle as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // The calls that it interrupts go on: the process ends in a moment.
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}
