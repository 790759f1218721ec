//! Events: when a launch has ended, how, and how long it took.

use crate::Error;
use cloom_runtime as rt;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The launch that [`Kernel::launch`](crate::Kernel::launch) began.
#[derive(Clone)]
pub struct Event {
    pub(crate) runtime: Arc<rt::Event>,
}

/// The times of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Times {
    /// From the call to the start: waiting for commands before it, and for code.
    pub waiting: Duration,
    /// From the start to the end.
    pub running: Duration,
}

impl Event {
    pub(crate) fn new(runtime: Arc<rt::Event>) -> Event {
        Event { runtime }
    }

    /// Waits until the launch has ended.
    ///
    /// # Errors
    /// When the launch failed: out of memory, or a fault of the device.
    pub fn wait(&self) -> Result<(), Error> {
        let status = self.runtime.wait();
        if status >= 0 {
            return Ok(());
        }
        Err(match self.runtime.failure() {
            Some(failure) => failure.clone().into(),
            // It did not run itself.
            None => Error::OpenCl {
                status: rt::Status::ExecStatusErrorForEventsInWaitList,
                why: "a command that it waits for failed".into(),
            },
        })
    }

    /// Whether the launch has ended.
    pub fn is_done(&self) -> bool {
        // `CL_COMPLETE` is 0, errors are negative, and what has not ended is positive.
        self.runtime.status() <= 0
    }

    /// The times of the launch, once it has ended, on a queue with
    /// [`QueueOptions::profiling`](crate::QueueOptions::profiling).
    pub fn times(&self) -> Option<Times> {
        let times = self.runtime.profiling().ok()?;
        Some(Times {
            waiting: Duration::from_nanos(times.start.saturating_sub(times.queued)),
            running: Duration::from_nanos(times.end.saturating_sub(times.start)),
        })
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("is_done", &self.is_done()).finish_non_exhaustive()
    }
}
