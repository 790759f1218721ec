//! Launches: what is run, and how its end is told.

use crate::HalError;
use cloom_artifact::{KernelArtifact, NdRange};
use std::any::Any;
use std::sync::Arc;

/// A loaded kernel.
pub trait Kernel: Send + Sync + Any {
    /// What it was loaded from (without the code, perhaps).
    fn artifact(&self) -> &KernelArtifact;

    /// The most work-items of a group that the device has registers or memory for.
    fn max_group_size(&self) -> u64 {
        u64::MAX
    }
}

/// Gets what kernels print. Called from many threads.
pub trait PrintSink: Send + Sync {
    /// One `printf` of the work-item with this global linear id. `args` as `cloom_ir::abi::printf_layout` says; `text`
    /// reads a zero-terminated string of the kernel's constant data (a `%s` argument).
    fn print(&self, format: u32, item: u64, args: &[u8], text: &dyn Fn(u64) -> Option<Vec<u8>>);
}

/// Code of a higher tier for the same kernel, once it is compiled; does not wait for it.
pub type TierUp<'a> = dyn Fn() -> Option<Arc<dyn Kernel>> + Sync + 'a;

/// One launch.
pub struct Launch<'a> {
    /// What to run; loaded by the same device.
    pub kernel: &'a dyn Kernel,
    /// How many work-items; no size is 0.
    pub range: NdRange,
    /// The argument block.
    pub args: &'a [u8],
    /// Local memory of a group, static and arguments.
    pub local_size: u64,
    /// Where prints go while [`Device::submit`](crate::Device::submit) runs; later ones go to the sink of the
    /// [`Pending`] launch.
    pub print: &'a dyn PrintSink,
    /// If the kernel's code is of the baseline tier: gives better code. Groups that begin after that run it, if the
    /// device can.
    pub tier_up: Option<&'a TierUp<'a>>,
    /// The queue that it comes from, for [`Assist`](crate::Assist); 0: none.
    pub queue: u64,
}

/// What became of a submitted launch.
pub enum Completion {
    /// It has ended, inside of [`Device::submit`](crate::Device::submit).
    Done,
    /// It goes on.
    Pending(Box<dyn Pending>),
}

/// A launch that goes on. One of its methods is called, once.
pub trait Pending: Send {
    /// Waits for the end on this thread; what the kernel prints goes to `print`.
    fn wait(self: Box<Self>, print: &dyn PrintSink) -> Result<(), HalError>;

    /// Has the end told to `finish`, on a thread of the device, or on this one if it has come already.
    fn on_end(self: Box<Self>, finish: Box<dyn Finish>);
}

/// Is told of the end of a launch. It gets what the kernel printed first.
pub trait Finish: PrintSink {
    /// The launch has ended like this. Does not wait, because the thread is the device's.
    fn finish(self: Box<Self>, result: Result<(), HalError>);
}
