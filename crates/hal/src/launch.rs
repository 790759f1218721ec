//! Launches: what is run, and how completion is reported.

use crate::HalError;
use cloom_artifact::{DeviceCall, KernelArtifact, NdRange};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// A loaded kernel.
pub trait Kernel: Send + Sync + Any {
    /// The artifact that it was loaded from (perhaps without the code).
    fn artifact(&self) -> &KernelArtifact;

    /// The largest work-group that the device has registers and memory for.
    fn max_group_size(&self) -> u64 {
        u64::MAX
    }

    /// The largest work-group that runs at full speed: a larger one may need code with fewer registers.
    fn best_group_size(&self) -> u64 {
        self.max_group_size()
    }
}

/// Receives the output of `printf`. Called from many threads.
pub trait PrintSink: Send + Sync {
    /// One `printf` of the work-item with this global linear id. `args` as `cloom_ir::abi::printf_layout` says; `text`
    /// reads a zero-terminated string of the kernel's constant data (a `%s` argument).
    fn print(&self, format: u32, item: u64, args: &[u8], text: &dyn Fn(u64) -> Option<Vec<u8>>);
}

/// Answers what kernels ask their launcher for, for device-side enqueue. Called from many threads.
pub trait DeviceCalls: Send + Sync {
    /// One call: its operands and its result are those of `cloom_ir::abi::device`. What operands point to is read and
    /// written through `memory`, perhaps later.
    fn call(&self, call: DeviceCall, words: &[u64], memory: &'static dyn KernelMemory) -> u64;
}

/// The memory that a kernel which calls its launcher addresses. The kernel vouches for the addresses, as it does for
/// those of its own accesses.
pub trait KernelMemory: Sync {
    /// So many bytes at an address.
    fn read(&self, address: u64, size: usize) -> Vec<u8>;

    /// Writes bytes at an address.
    fn write(&self, address: u64, bytes: &[u8]);
}

/// Code of a higher tier for the same kernel, which is being compiled.
pub trait TierUp: Sync {
    /// The code, once it exists and if it suits the launch. Does not wait.
    fn code(&self) -> Option<Arc<dyn Kernel>>;

    /// How long compiling it will still take, by estimate.
    fn remaining(&self) -> Duration;

    /// Whether the compiler has no core of its own: threads that run the current code slow it down.
    fn is_crowded(&self) -> bool;

    /// Compiles it on this thread if no other has begun.
    fn take_over(&self);

    /// Waits until it is compiled, or has failed to, at most so long.
    fn wait(&self, limit: Duration);
}

/// One launch.
pub struct Launch<'a> {
    /// What to run; loaded by the same device.
    pub kernel: &'a dyn Kernel,
    /// The range; no size is 0.
    pub range: NdRange,
    /// The argument block.
    pub args: &'a [u8],
    /// Local memory of a group, static and arguments.
    pub local_size: u64,
    /// Whether each group finds zeros in it.
    pub zero_local: bool,
    /// The sink of prints while [`Device::submit`](crate::Device::submit) runs; later ones go to the sink of the
    /// [`Pending`] launch.
    pub print: &'a dyn PrintSink,
    /// Answers the calls of the kernel, if it may enqueue ([`KernelArtifact::enqueues`]).
    pub device: Option<&'a dyn DeviceCalls>,
    /// Tier-up code, if the kernel's code is of the baseline tier. Groups that begin after it exists run it, if the
    /// device supports that.
    pub tier_up: Option<&'a dyn TierUp>,
    /// The queue that it comes from, for [`Assist`](crate::Assist) and [`Streams`](crate::Streams); 0: none.
    pub queue: u64,
    /// Whether the time that it takes is asked for.
    pub timed: bool,
}

impl<'a> Launch<'a> {
    /// A launch of no queue, without local memory and device calls.
    pub fn new(kernel: &'a dyn Kernel, range: NdRange, args: &'a [u8], print: &'a dyn PrintSink) -> Launch<'a> {
        Launch {
            kernel,
            range,
            args,
            local_size: 0,
            zero_local: false,
            print,
            device: None,
            tier_up: None,
            queue: 0,
            timed: false,
        }
    }
}

/// The state of a submitted launch.
pub enum Completion {
    /// It has ended, inside of [`Device::submit`](crate::Device::submit).
    Done,
    /// It is still running.
    Pending(Box<dyn Pending>),
}

/// A running launch. One of its methods is called, once.
pub trait Pending: Send {
    /// Waits for the end on this thread; prints go to `print`.
    fn wait(self: Box<Self>, print: &dyn PrintSink) -> Result<(), HalError>;

    /// Calls `finish` at the end, on a thread of the device, or on this one if the launch has ended already.
    fn on_end(self: Box<Self>, finish: Box<dyn Finish>);
}

/// The callback of a launch's end. It receives the prints first.
pub trait Finish: PrintSink {
    /// The launch has ended with this result: how long it ran, if that was asked for and the device measures it. Must
    /// not block, because the thread is the device's.
    fn finish(self: Box<Self>, result: Result<Option<Duration>, HalError>);
}

/// Waits for a launch by `end`, which may print, and notifies who asked for its end. A panic of the callback is the
/// callback's: others are notified of theirs.
pub fn conclude(finish: Box<dyn Finish>, end: impl FnOnce(&dyn PrintSink) -> Result<Option<Duration>, HalError>) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let result = end(&*finish);
        finish.finish(result);
    }));
}
