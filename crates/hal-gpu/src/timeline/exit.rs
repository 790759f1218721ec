//! The end of the process, before which all driver calls must end: the driver tears down data that they use.
//!
//! A call begins and ends here. The end of the process closes the gate and waits until no call of another thread is in
//! progress; after that, no call begins.

use super::sync::{AtomicBool, AtomicUsize, Ordering};

/// Counts the calls in progress.
pub struct ExitGate {
    running: AtomicUsize,
    is_closed: AtomicBool,
}

impl ExitGate {
    /// An open gate, of a count that is 0 and a flag that is false. (The caller makes both, since Loom's types cannot
    /// be made in a constant.)
    pub const fn new(running: AtomicUsize, is_closed: AtomicBool) -> ExitGate {
        ExitGate { running, is_closed }
    }

    /// Begins a call, which [`end`](Self::end) ends. Returns false if the process is ending: then the call must not be
    /// made.
    ///
    /// A call counts itself and then looks at the gate; the end of the process closes the gate and then looks at the
    /// count. All four are sequentially consistent: either the end of the process sees the call, or the call sees the
    /// closed gate.
    pub fn begin(&self) -> bool {
        self.running.fetch_add(1, Ordering::SeqCst);
        let is_open = !self.is_closed.load(Ordering::SeqCst);
        if !is_open {
            self.end();
        }
        is_open
    }

    /// Ends a call.
    pub fn end(&self) {
        self.running.fetch_sub(1, Ordering::SeqCst);
    }

    /// Closes the gate: the process is ending.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }

    /// Whether no call is in progress except `own` calls of the calling thread, which a signal handler may have
    /// interrupted.
    pub fn is_quiet(&self, own: usize) -> bool {
        self.running.load(Ordering::SeqCst) <= own
    }
}
