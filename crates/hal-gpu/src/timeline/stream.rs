//! What a back end brings: the types of a stream, and the calls of its driver.

use cloom_hal::HalError;

/// A stream of a GPU, as far as it can be asked without a call of the driver.
pub trait GpuStream {
    /// The end of what a stream had when the event was recorded.
    type Event;
    /// A launch with all that it needs, which waits to be put on the stream.
    type Launch;
    /// What the back end keeps under the lock of submissions, such as graphs of launches.
    type State: Default;
    /// Launches that are put on the stream by one call, if the back end can.
    const BATCH: usize;

    /// The timeline value: the last number that the GPU wrote into the host's memory, 0 at first. Always 0 if it writes
    /// none.
    fn value(&self) -> u64;

    /// Waits until the stream is empty. The timeline is being dropped while the GPU still writes the value.
    fn drain(&self);
}

/// A stream for a thread that may call the driver.
pub trait Submission<S: GpuStream> {
    /// Records an event behind what is on the stream. `sleeps`: a thread is to sleep on it, for which the GPU
    /// interrupts the host.
    fn record(&self, sleeps: bool) -> Result<S::Event, HalError>;

    /// Whether a thread can sleep on an event.
    fn can_sleep_on(&self, event: &S::Event) -> bool;

    /// Whether an event has come.
    fn has_come(&self, event: &S::Event) -> Result<bool, HalError>;

    /// Sleeps until an event comes; returns at once if it has come.
    fn sleep_on(&self, event: &S::Event) -> Result<(), HalError>;

    /// Lets the GPU write a timeline value behind what is on the stream. False if it cannot.
    fn write(&self, value: u64) -> bool;

    /// Puts a launch on the stream.
    fn put(&self, state: &mut S::State, launch: &S::Launch) -> Result<(), HalError>;

    /// Whether [`BATCH`](GpuStream::BATCH) launches may be put on the stream by one call.
    fn can_batch(&self, state: &S::State, launches: &[S::Launch]) -> bool;

    /// Puts them there. False if it fails: then none was.
    fn put_batch(&self, state: &mut S::State, launches: &[S::Launch]) -> bool;
}
