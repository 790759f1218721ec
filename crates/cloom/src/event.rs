//! Events: when a launch has ended, how, and how long it took.

use crate::Error;
use crate::context::LastError;
use cloom_runtime as rt;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// The launch that [`Kernel::launch`](crate::Kernel::launch) began.
#[derive(Clone)]
pub struct Event {
    runtime: Arc<rt::Event>,
    last_error: LastError,
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
    pub(crate) fn new(runtime: Arc<rt::Event>, last_error: LastError) -> Event {
        Event { runtime, last_error }
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
        let known = rt::Status::ALL.iter().find(|s| s.code() == status);
        let why = self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Err(Error::OpenCl {
            status: known.map_or("an unknown status", |s| s.name()),
            why: why.unwrap_or_else(|| "the launch failed".into()),
        })
    }

    /// Whether the launch has ended.
    pub fn is_done(&self) -> bool {
        self.runtime.status() <= 0
    }

    /// The times of the launch, once it has ended, in a context made with
    /// [`Options::profiling`](crate::Options::profiling).
    pub fn times(&self) -> Option<Times> {
        let times = self.runtime.profiling().ok()?;
        Some(Times {
            waiting: Duration::from_nanos(times.start.saturating_sub(times.queued)),
            running: Duration::from_nanos(times.end.saturating_sub(times.start)),
        })
    }
}
