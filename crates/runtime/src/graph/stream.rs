//! Launches on a device that keeps the order of launches: how an event takes part in such a stream.
//!
//! The command of such a launch only submits it, on the enqueuing thread. The next launch of the queue is submitted
//! after that, and does not wait for the end of this one. A launch whose event nobody asks for is appended to an open
//! launch before it: it has neither a command nor an event of its own, and what it needs is kept until that one ends.

use crate::graph::packed::Buffers;
use cloom_hal::Kernel;
use std::sync::Arc;

/// Launches that are appended to one at most: what they need is kept until the last of them ends.
const MAX_APPENDED: usize = 64;

/// Whether the command of an event only submits a launch to a device that keeps the order of launches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InStream {
    /// It does something else.
    No,
    /// It does, and its event is for this launch alone.
    Closed,
    /// It does, and later launches may be appended to it, because nobody asks about it alone.
    Open,
}

/// The launch of such a command: whether it was submitted, and what was appended to it.
#[derive(Default)]
pub(crate) struct StreamLaunch {
    is_submitted: bool,
    /// The number of launches that were appended.
    appended: usize,
    /// What they need until the end; equal neighbours once.
    needs: Vec<Needs>,
}

/// What a launch needs until its end.
pub(crate) struct Needs {
    kernel: Arc<dyn Kernel>,
    buffers: Buffers,
}

impl Needs {
    /// Whether it is a launch of this kernel with these buffers.
    fn is_of(&self, kernel: &Arc<dyn Kernel>, buffers: &Buffers) -> bool {
        Arc::ptr_eq(&self.kernel, kernel)
            && self.buffers.len() == buffers.len()
            && self.buffers.iter().zip(buffers).all(|((one, _), (other, _))| Arc::ptr_eq(one, other))
    }
}

impl StreamLaunch {
    /// It was submitted.
    pub fn submitted(&mut self) {
        self.is_submitted = true;
    }

    /// Whether it was submitted.
    pub fn is_submitted(&self) -> bool {
        self.is_submitted
    }

    /// Whether there is room for another launch, if this one has not ended.
    pub fn has_room(&self) -> bool {
        self.is_submitted && self.appended < MAX_APPENDED
    }

    /// A launch of a kernel with these buffers was appended.
    pub fn appended(&mut self, kernel: &Arc<dyn Kernel>, buffers: &Buffers) {
        self.appended += 1;
        // A loop that launches one kernel again and again keeps its buffers once, not for each launch.
        if self.needs.last().is_none_or(|last| !last.is_of(kernel, buffers)) {
            self.needs.push(Needs { kernel: kernel.clone(), buffers: buffers.clone() });
        }
    }

    /// Takes what appended launches needed, which have ended.
    pub fn take_needs(&mut self) -> Vec<Needs> {
        std::mem::take(&mut self.needs)
    }
}
