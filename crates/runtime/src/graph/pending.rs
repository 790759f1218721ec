//! Pending launches: those that are still running on a device when the work of their command returns.
//!
//! The thread that ran the command is free. The device reports the end to a [`Tail`], which keeps everything alive
//! until then (the kernel, the memory of its arguments) and sets the command's final status.

use crate::graph::execute::Command;
use crate::graph::packed::Packed;
use crate::graph::print::Printed;
use crate::{Device, Error, Result, Status};
use cloom_hal::{Finish, HalError, Kernel, Pending, PrintSink};
use std::sync::Arc;
use std::time::Duration;

/// A pending launch, and what it keeps alive.
pub(crate) struct PendingLaunch {
    pub pending: Box<dyn Pending>,
    pub device: Arc<Device>,
    pub kernel: Arc<dyn Kernel>,
    pub packed: Packed,
    /// Its output so far.
    pub printed: Printed,
}

/// The result of a launch: the specification has one code for all failures.
pub(crate) fn outcome(result: std::result::Result<(), HalError>) -> Result<()> {
    result.map_err(|e| Error::new(Status::OutOfResources, e.to_string()))
}

impl PendingLaunch {
    /// Concludes a command, which began at the time `begin`, when the launch ends.
    pub fn conclude_at_end(self: Box<Self>, command: Arc<Command>, begin: Option<u64>) {
        let PendingLaunch { pending, device, kernel, packed, printed } = *self;
        // From here on the device owns everything: it may report the end, on its own thread, before `on_end` returns.
        let tail = Tail { device, kernel, packed: Some(packed), printed, command, begin, ended: false };
        pending.on_end(Box::new(tail));
    }
}

/// The rest of a launch, kept by the device until it ends.
struct Tail {
    device: Arc<Device>,
    kernel: Arc<dyn Kernel>,
    packed: Option<Packed>,
    printed: Printed,
    command: Arc<Command>,
    begin: Option<u64>,
    ended: bool,
}

impl Tail {
    fn end(&mut self, result: std::result::Result<Option<Duration>, HalError>) {
        self.ended = true;
        if let Ok(Some(time)) = result {
            self.command.event.note_time(time);
        }
        // Before the event completes: the output is flushed by then (OpenCL C 3.0, section 6.15.14).
        self.printed.flush(&self.device, &*self.kernel);
        // Before the event: after waiting for it, the application may rely on the buffers being released.
        self.packed = None;
        drop(self.command.event.take_appended());
        self.command.conclude(outcome(result.map(drop)), self.begin, None);
    }
}

impl PrintSink for Tail {
    fn print(&self, format: u32, item: u64, args: &[u8], text: &dyn Fn(u64) -> Option<Vec<u8>>) {
        self.printed.add(&self.device, &*self.kernel, (format, item), args, text);
    }
}

impl Finish for Tail {
    fn finish(mut self: Box<Self>, result: std::result::Result<Option<Duration>, HalError>) {
        self.end(result);
    }
}

impl Drop for Tail {
    /// A device that forgets a launch, because a thread of it panicked, must not leave the application waiting.
    fn drop(&mut self) {
        if !self.ended {
            self.end(Err(HalError::Device("it dropped a launch".into())));
        }
    }
}
