//! The end of the process, for which driver calls must not be under way: the driver tears down what they use.
//!
//! A call begins and ends here. The end of the process closes the gate and waits until no call of another thread is
//! under way; after that no call begins.

use super::sync::{AtomicBool, AtomicUsize, Ordering};

/// Counts the calls that are under way.
pub struct ExitGate {
    running: AtomicUsize,
    is_closed: AtomicBool,
}

impl ExitGate {
    /// An open gate, of a count that is 0 and a flag that is false. (They are the caller's to make, as Loom makes none
    /// in a constant.)
    pub const fn new(running: AtomicUsize, is_closed: AtomicBool) -> ExitGate {
        ExitGate { running, is_closed }
    }

    /// A call begins, which [`end`](Self::end) ends. False if the process ends: the call must not be made.
    ///
    /// Counting comes before looking, and closing before counting, all sequentially consistent: either the end of the
    /// process sees that the call runs, or the call sees that end.
    pub fn begin(&self) -> bool {
        self.running.fetch_add(1, Ordering::SeqCst);
        let is_open = !self.is_closed.load(Ordering::SeqCst);
        if !is_open {
            self.end();
        }
        is_open
    }

    /// A call has ended.
    pub fn end(&self) {
        self.running.fetch_sub(1, Ordering::SeqCst);
    }

    /// The process ends.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }

    /// Whether no call is under way but so many of the calling thread, which a handler of a signal may have
    /// interrupted.
    pub fn is_quiet(&self, own: usize) -> bool {
        self.running.load(Ordering::SeqCst) <= own
    }
}
