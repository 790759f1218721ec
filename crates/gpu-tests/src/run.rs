//! A launch of a kernel with its arguments, one after the other.

use cloom_hal::{Completion, Device, HalError, Kernel, Launch, Memory, NdRange, Pending, PrintSink};
use cloom_hal_cuda::CudaDevice;

/// Prints nothing.
pub struct Silent;

impl PrintSink for Silent {
    fn print(&self, _: u32, _: u64, _: &[u8], _: &dyn Fn(u64) -> Option<Vec<u8>>) {}
}

/// A launch in the making.
pub struct Run<'a> {
    kernel: &'a dyn Kernel,
    range: NdRange,
    args: Vec<u8>,
    local_size: u64,
    queue: u64,
    sink: &'a dyn PrintSink,
}

impl<'a> Run<'a> {
    /// Without arguments so far.
    pub fn new(kernel: &'a dyn Kernel, range: NdRange) -> Run<'a> {
        Run { kernel, range, args: Vec::new(), local_size: 0, queue: 0, sink: &Silent }
    }

    /// The next argument: its bytes.
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        // Each argument is aligned to its size, as the parameters of a kernel of PTX are.
        self.args.resize(self.args.len().next_multiple_of(bytes.len()), 0);
        self.args.extend(bytes);
        self
    }

    /// The next argument: an address.
    pub fn address(self, memory: &dyn Memory) -> Self {
        self.bytes(&memory.device_address().to_le_bytes())
    }

    /// Local memory of a group.
    pub fn local(self, local_size: u64) -> Self {
        Run { local_size, ..self }
    }

    /// The queue that it comes from.
    pub fn queue(self, queue: u64) -> Self {
        Run { queue, ..self }
    }

    /// Where prints go.
    pub fn sink(self, sink: &'a dyn PrintSink) -> Self {
        Run { sink, ..self }
    }

    fn with<R>(&self, call: impl FnOnce(&Launch<'_>) -> R) -> R {
        call(&Launch {
            local_size: self.local_size,
            queue: self.queue,
            ..Launch::new(self.kernel, self.range, &self.args, self.sink)
        })
    }

    /// Runs it to its end.
    pub fn launch(self, device: &CudaDevice) -> Result<(), HalError> {
        self.with(|launch| device.launch(launch))
    }

    /// Starts it; `None` if it has ended.
    pub fn submit(self, device: &CudaDevice) -> Result<Option<Box<dyn Pending>>, HalError> {
        self.with(|launch| device.submit(launch)).map(|completion| match completion {
            Completion::Done => None,
            Completion::Pending(pending) => Some(pending),
        })
    }
}
