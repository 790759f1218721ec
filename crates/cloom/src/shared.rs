//! What the objects of a context share: its queue, and what a launch has to know of its memory.

use crate::Queue;
use cloom_runtime as rt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The state of a context.
pub struct Shared {
    pub runtime: Arc<rt::Context>,
    /// The context's own queue.
    pub queue: Queue,
    has_svm: AtomicBool,
}

impl Shared {
    /// The state of a new context.
    pub fn new(runtime: Arc<rt::Context>, queue: Queue) -> Shared {
        Shared { runtime, queue, has_svm: AtomicBool::new(false) }
    }

    /// There is shared virtual memory from now on.
    pub fn note_svm(&self) {
        // Relaxed is enough: a thread can launch with an allocation only after it has got it from the one that made it,
        // by means that order the accesses.
        self.has_svm.store(true, Ordering::Relaxed);
    }

    /// Whether there has been shared virtual memory, to which any memory may hold pointers.
    pub fn has_svm(&self) -> bool {
        self.has_svm.load(Ordering::Relaxed)
    }
}
