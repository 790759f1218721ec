//! Native kernels: functions of the application as commands.

use crate::execute::{CommandType, Progress};
use crate::status::ensure;
use crate::{Buffer, Event, Queue, Result};
use std::sync::Arc;

/// What runs, given the host address of each buffer.
pub type NativeFunction = Box<dyn FnOnce(&[usize]) + Send>;

/// A function of the application, with the buffers that it works on.
pub struct NativeKernel {
    /// The buffers, held until it has run; some may be none.
    pub buffers: Vec<Option<Arc<Buffer>>>,
    /// Called with the host address of each buffer, 0 for none.
    pub run: NativeFunction,
}

impl Queue {
    /// Runs a native kernel.
    pub fn native(self: &Arc<Queue>, kernel: NativeKernel, wait: &[Arc<Event>]) -> Result<Arc<Event>> {
        kernel.buffers.iter().flatten().try_for_each(|b| self.check_buffer(b))?;
        let address = |b: &Option<Arc<Buffer>>| b.as_ref().map_or(Some(0), |b| b.host_address());
        let addresses: Option<Vec<usize>> = kernel.buffers.iter().map(address).collect();
        ensure!(addresses.is_some(), InvalidOperation, "the device's memory is not in the host's address space");
        let addresses = addresses.unwrap_or_default();
        let work = Box::new(move || {
            (kernel.run)(&addresses);
            drop(kernel.buffers);
            Ok(Progress::Done)
        });
        self.enqueue(CommandType::NativeKernel, wait, false, work)
    }
}
