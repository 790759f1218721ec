//! The interface to a back end: the types of a stream, and the calls of its driver.

use cloom_hal::HalError;

/// A stream of a GPU: the operations that need no call of the driver.
pub trait GpuStream {
    /// A point on the stream: the end of all work that the stream had when the event was recorded.
    type Event;
    /// A deferred launch, which owns everything that it needs.
    type Launch;
    /// State of the back end under the lock of submissions, such as graphs of launches.
    type State: Default;
    /// Launches that one call submits, if the back end has such a call.
    const BATCH: usize;

    /// The timeline value: the last number that the GPU wrote into the host's memory, 0 at first. Always 0 if it writes
    /// none.
    fn value(&self) -> u64;

    /// Waits until the stream is empty. Called when the timeline is dropped while the GPU still writes the value.
    fn drain(&self);
}

/// A stream for a thread that may call the driver.
pub trait Submission<S: GpuStream> {
    /// Records an event after everything on the stream. With `sleeps`, a thread will block on it, for which the GPU
    /// interrupts the host.
    fn record(&self, sleeps: bool) -> Result<S::Event, HalError>;

    /// Whether a thread can block on an event.
    fn can_sleep_on(&self, event: &S::Event) -> bool;

    /// Whether an event was reached.
    fn has_come(&self, event: &S::Event) -> Result<bool, HalError>;

    /// Blocks until an event is reached; returns at once if it was.
    fn sleep_on(&self, event: &S::Event) -> Result<(), HalError>;

    /// Lets the GPU write a timeline value after everything on the stream. Returns false if it cannot.
    fn write(&self, value: u64) -> bool;

    /// Submits a launch.
    fn put(&self, state: &mut S::State, launch: &S::Launch) -> Result<(), HalError>;

    /// Whether [`BATCH`](GpuStream::BATCH) launches can be submitted by one call.
    fn can_batch(&self, state: &S::State, launches: &[S::Launch]) -> bool;

    /// Submits a batch by one call. Returns false if that fails; then no launch was submitted.
    fn put_batch(&self, state: &mut S::State, launches: &[S::Launch]) -> bool;
}
