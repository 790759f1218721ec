//! Queues: on which device launches run, and in which order.

use crate::{Device, Error};
use cloom_runtime as rt;
use std::fmt;
use std::sync::Arc;

/// How a queue works.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueOptions {
    /// Whether events have times. Launches then wait for the optimised code of their kernel.
    pub profiling: bool,
    /// Whether commands may run in any order and at the same time. A launch that needs another one's results then waits
    /// for its event.
    pub out_of_order: bool,
}

/// A queue of commands on one device. Cheap to clone; all clones are one queue. Usable from any thread.
#[derive(Clone)]
pub struct Queue {
    pub(crate) runtime: Arc<rt::Queue>,
}

impl Queue {
    pub(crate) fn new(
        context: &Arc<rt::Context>,
        device: &Arc<rt::Device>,
        options: QueueOptions,
    ) -> Result<Queue, Error> {
        let mut flags = rt::QueueFlags::empty();
        flags.set(rt::QueueFlags::PROFILING, options.profiling);
        flags.set(rt::QueueFlags::OUT_OF_ORDER, options.out_of_order);
        Ok(Queue { runtime: rt::Queue::new(context, device, flags, None)? })
    }

    /// Its device.
    pub fn device(&self) -> Device {
        Device { runtime: self.runtime.device().clone() }
    }

    /// Waits until all its commands have ended.
    pub fn finish(&self) {
        self.runtime.finish();
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("device", &self.device()).finish_non_exhaustive()
    }
}
