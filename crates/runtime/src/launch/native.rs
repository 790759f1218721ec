//! Native kernels: functions of the application as commands.

use crate::graph::execute::Progress;
use crate::memory::residency::AccessMode;
use crate::objects::space::Space;
use crate::status::ensure;
use crate::{CommandType, Event, MemObject, Queue, Result};
use std::sync::Arc;

/// The function; its argument has the host address of each buffer.
pub type NativeFunction = Box<dyn FnOnce(&[usize]) + Send>;

/// A function of the application, with the buffers that it works on.
pub struct NativeKernel {
    /// The buffers, held until it has run; some may be none.
    pub buffers: Vec<Option<Arc<MemObject>>>,
    /// Called with the host address of each buffer, 0 for none.
    pub run: NativeFunction,
}

impl Queue {
    // OpenCL 3.0 API, 5.10: Executing Kernels.
    /// Runs a native kernel.
    pub fn native(self: &Arc<Queue>, kernel: NativeKernel, wait: &[Arc<Event>]) -> Result<Arc<Event>> {
        kernel.buffers.iter().flatten().try_for_each(|b| self.check_buffer(b))?;
        let runs = self.device().caps().native_kernels;
        ensure!(runs, InvalidOperation, "the device runs no native kernels (CL_EXEC_NATIVE_KERNEL)");
        let address = |b: &Option<Arc<MemObject>>| b.as_ref().map_or(Ok(0), |b| b.host_address());
        let addresses = kernel.buffers.iter().map(address).collect::<Result<Vec<usize>>>()?;
        let work = Box::new(move || {
            for buffer in kernel.buffers.iter().flatten() {
                // Here and not when it is enqueued: commands before it may still write the buffers on a device.
                buffer.acquire(Space::HOST, 0, buffer.size(), AccessMode::Update)?;
            }
            (kernel.run)(&addresses);
            drop(kernel.buffers);
            Ok(Progress::Done)
        });
        self.enqueue(CommandType::NativeKernel, wait, false, work)
    }
}
