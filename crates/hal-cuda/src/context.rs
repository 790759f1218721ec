//! One GPU in this process: its primary context, and the streams and events that threads share.
//!
//! The primary context is the one that CUDA libraries of the application use too; it is retained by the first call that
//! needs it. A call *enters* it: the driver keeps a current context for each thread, and an application that uses CUDA
//! itself finds its own again afterwards. After a fault or a fork, entering is an error.

use crate::error::{self, Failure};
use crate::exit::Call;
use crate::library::{
    Absent, Code, Driver, PoolProperties, RawContext, RawDevice, RawEvent, RawPool, RawStream, Table, is_forked,
};
use crate::stream_wait::Watchdog;
use cloom_cuda_abi::constants::{
    ERROR_NOT_READY, EVENT_BLOCKING_SYNC, EVENT_DISABLE_TIMING, MEM_ALLOCATION_TYPE_PINNED, MEM_LOCATION_TYPE_DEVICE,
    MEMPOOL_ATTR_RELEASE_THRESHOLD, STREAM_NON_BLOCKING, SUCCESS,
};
use cloom_hal::HalError;
use cloom_hal::lock::Mutex;
use cloom_hal_gpu::grids::GpuSize;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Bytes of freed memory that a pool keeps for the next allocation.
const POOL_KEPT_BYTES: u64 = 256 << 20;

/// A GPU.
pub struct Gpu {
    /// The driver.
    pub driver: &'static Driver,
    /// Its number.
    pub device: RawDevice,
    /// Its multiprocessors and warps.
    pub size: GpuSize,
    /// Ends stream waits that take too long.
    pub watchdog: Watchdog,
    /// The number of blocks that kernels and the host may use at the same time.
    pub shared: AtomicUsize,
    context: OnceLock<RawContext>,
    retaining: Mutex<()>,
    /// None where the driver has no pools.
    pool: OnceLock<Option<RawPool>>,
    /// GPUs with larger numbers to which a link has been looked for.
    pub linked: Mutex<Vec<RawDevice>>,
    free_streams: Mutex<Vec<RawStream>>,
    /// Events that nobody uses, by their kind.
    free_events: [Mutex<Vec<RawEvent>>; 4],
}

impl Gpu {
    /// Without a context so far.
    pub fn new(driver: &'static Driver, device: RawDevice, size: GpuSize) -> Gpu {
        Gpu {
            driver,
            device,
            size,
            watchdog: Watchdog::default(),
            shared: AtomicUsize::new(0),
            context: OnceLock::new(),
            retaining: Mutex::new(()),
            pool: OnceLock::new(),
            linked: Mutex::default(),
            free_streams: Mutex::default(),
            free_events: Default::default(),
        }
    }

    /// Makes its context the thread's until the value is dropped.
    pub fn enter(&self) -> Result<Current<'_>, HalError> {
        if is_forked() {
            return Err(HalError::Device(Absent::Forked.to_string()));
        }
        if let Some(lost) = error::lost() {
            return Err(lost);
        }
        let context = self.context()?;
        // `before` is set last: if a call below fails, dropping `current` changes nothing.
        let mut current = Current { gpu: self, before: None };
        let mut before = RawContext::NULL;
        // SAFETY: it writes a handle.
        let code = unsafe { (self.driver.table.ctx_get_current)(&mut before) };
        current.check("cuCtxGetCurrent", code)?;
        // Most threads use one GPU, and find its context current from their last call.
        if before != context {
            // SAFETY: the context is retained as long as `self` lives.
            current.check("cuCtxSetCurrent", unsafe { (self.driver.table.ctx_set_current)(context) })?;
            // If the thread had no context, ours stays current: its next call finds it.
            current.before = (before != RawContext::NULL).then_some(before);
        }
        Ok(current)
    }

    /// Its context.
    pub fn context(&self) -> Result<RawContext, HalError> {
        if let Some(&context) = self.context.get() {
            return Ok(context);
        }
        // A lock beside the cell: `get_or_init` cannot return an error, an error must not be kept, and the context must
        // be retained only once, because it is released once.
        let _one = self.retaining.lock();
        if let Some(&context) = self.context.get() {
            return Ok(context);
        }
        let mut context = RawContext::NULL;
        // SAFETY: it writes a handle; the device is one that the driver named.
        match unsafe { (self.driver.table.primary_retain)(&mut context, self.device) } {
            SUCCESS => Ok(*self.context.get_or_init(|| context)),
            code => Err(Failure::new(self.driver, "cuDevicePrimaryCtxRetain", code).into()),
        }
    }

    /// Returns an object to the driver, unless the driver can no longer be called. Errors are ignored, since the object
    /// is gone in either case. The end of the process waits for this call.
    pub fn release(&self, call: &'static str, release: impl FnOnce(&Table) -> Code) {
        let Ok(_end_waits) = Call::begin() else { return };
        if let Ok(current) = self.enter() {
            let _ = current.check(call, release(&self.driver.table));
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        if self.context.get().is_none() || error::is_lost() || is_forked() {
            return;
        }
        // The context is released last: destroying what was made in it needs it.
        for stream in std::mem::take(self.free_streams.get_mut()) {
            // SAFETY: a free stream has no owner.
            self.release("cuStreamDestroy", |table| unsafe { (table.stream_destroy)(stream) });
        }
        let events = self.free_events.each_mut().map(|events| std::mem::take(events.get_mut()));
        for event in events.into_iter().flatten() {
            // SAFETY: a free event has no owner.
            self.release("cuEventDestroy", |table| unsafe { (table.event_destroy)(event) });
        }
        if let Some(pool) = self.pool.take().flatten() {
            // SAFETY: all blocks of it hold the GPU, so that none is left.
            self.release("cuMemPoolDestroy", |table| unsafe { (table.pool_destroy)(pool) });
        }
        // The end of the process waits for this call, as for those in `release`.
        let Ok(_end_waits) = Call::begin() else { return };
        // SAFETY: it was retained once, and everything in it that is ours has been given back.
        unsafe { (self.driver.table.primary_release)(self.device) };
    }
}

/// The thread works in the context of a GPU.
pub struct Current<'a> {
    /// The GPU.
    pub gpu: &'a Gpu,
    before: Option<RawContext>,
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: it was current before.
            unsafe { (self.gpu.driver.table.ctx_set_current)(before) };
        }
    }
}

impl<'a> Current<'a> {
    /// The functions of the driver.
    pub fn table(&self) -> &'static Table {
        &self.gpu.driver.table
    }

    /// The code that a function returned, as a result.
    pub fn check(&self, call: &'static str, code: Code) -> Result<(), Failure> {
        match code {
            SUCCESS => Ok(()),
            code => Err(Failure::new(self.gpu.driver, call, code)),
        }
    }

    /// The pool of the GPU's memory: what is freed stays in it for a while, and freeing does not wait for kernels. None
    /// if the driver has no pools for this GPU.
    pub fn pool(&self) -> Option<RawPool> {
        *self.gpu.pool.get_or_init(|| {
            let device = self.gpu.device;
            let security = std::ptr::null_mut();
            let properties = PoolProperties {
                kind: MEM_ALLOCATION_TYPE_PINNED,
                handles: 0,
                location: MEM_LOCATION_TYPE_DEVICE,
                device,
                security,
                reserved: [0; 8],
            };
            let mut pool = RawPool::NULL;
            // SAFETY: it writes a handle, and reads the properties.
            let code = unsafe { (self.table().pool_create)(&mut pool, &properties) };
            self.check("cuMemPoolCreate", code).ok()?;
            // By default a pool returns its free memory to the system when a stream is synchronised, which is after
            // each transfer.
            let mut kept = POOL_KEPT_BYTES;
            // SAFETY: the attribute is a number of 64 bits, which is read.
            unsafe { (self.table().pool_set_attribute)(pool, MEMPOOL_ATTR_RELEASE_THRESHOLD, (&raw mut kept).cast()) };
            Some(pool)
        })
    }

    /// A new stream.
    fn new_stream(&self) -> Result<RawStream, Failure> {
        // Non-blocking: the context is also that of the application's own CUDA code, whose default stream would
        // otherwise wait for this stream, and this stream for it.
        let mut raw = RawStream::NULL;
        // SAFETY: it writes a handle.
        self.check("cuStreamCreate", unsafe { (self.table().stream_create)(&mut raw, STREAM_NON_BLOCKING) })?;
        Ok(raw)
    }

    /// A stream for the caller alone.
    pub fn stream(&self) -> Result<BorrowedStream<'a>, Failure> {
        // Taken in a statement of its own, so that the lock is not held while a stream is created.
        let free = self.gpu.free_streams.lock().pop();
        let raw = match free {
            Some(raw) => raw,
            None => self.new_stream()?,
        };
        Ok(BorrowedStream { gpu: self.gpu, raw })
    }

    /// Waits until everything on a stream has ended.
    pub fn synchronize(&self, stream: RawStream) -> Result<(), Failure> {
        // SAFETY: the stream lives, as its owner is a borrower or a timeline.
        self.check("cuStreamSynchronize", unsafe { (self.table().stream_synchronize)(stream) })
    }

    /// An event for the caller alone.
    fn new_event(&self, kind: EventKind) -> Result<RawEvent, Failure> {
        let free = self.gpu.free_events[kind as usize].lock().pop();
        if let Some(event) = free {
            return Ok(event);
        }
        let mut raw = RawEvent::NULL;
        let flags = match kind {
            EventKind::Plain => EVENT_DISABLE_TIMING,
            EventKind::Sleeper => EVENT_BLOCKING_SYNC | EVENT_DISABLE_TIMING,
            // Without `EVENT_BLOCKING_SYNC`: an interrupt of the host between this event and the kernel after it would
            // count as time of the kernel.
            EventKind::Begin => 0,
            EventKind::Timer => EVENT_BLOCKING_SYNC,
        };
        // SAFETY: it writes a handle.
        self.check("cuEventCreate", unsafe { (self.table().event_create)(&mut raw, flags) })?;
        Ok(raw)
    }
}

/// The purpose of an event.
#[derive(Clone, Copy)]
pub enum EventKind {
    /// It is only polled.
    Plain,
    /// A thread can block on it. The GPU interrupts the host when it reaches it.
    Sleeper,
    /// It has a timestamp, and no thread blocks on it.
    Begin,
    /// A thread can block on it, and it has a timestamp.
    Timer,
}

/// A point of a stream, which is reached when all work before it has ended. When this is dropped, the driver's event
/// goes back to the free ones.
pub struct Event {
    gpu: Arc<Gpu>,
    raw: RawEvent,
    kind: EventKind,
}

impl Event {
    /// Records an event after everything that is on the stream now.
    pub fn record(gpu: &Arc<Gpu>, current: &Current<'_>, stream: RawStream, kind: EventKind) -> Result<Event, Failure> {
        let event = Event { gpu: gpu.clone(), raw: current.new_event(kind)?, kind };
        // SAFETY: event and stream live, and no thread waits for an earlier recording of the event.
        current.check("cuEventRecord", unsafe { (current.table().event_record)(event.raw, stream) })?;
        Ok(event)
    }

    /// Whether a thread can block on it.
    pub fn can_be_slept_on(&self) -> bool {
        matches!(self.kind, EventKind::Sleeper | EventKind::Timer)
    }

    /// Whether the GPU has reached it.
    pub fn has_come(&self, current: &Current<'_>) -> Result<bool, Failure> {
        // SAFETY: the event lives.
        match unsafe { (current.table().event_query)(self.raw) } {
            ERROR_NOT_READY => Ok(false),
            code => current.check("cuEventQuery", code).map(|()| true),
        }
    }

    /// The time from this event to another one. Both have been reached, and both have timestamps.
    pub fn time_to(&self, current: &Current<'_>, end: &Event) -> Option<Duration> {
        let mut milliseconds = 0f32;
        // SAFETY: it writes a number; the events live.
        let code = unsafe { (current.table().event_elapsed_time)(&mut milliseconds, self.raw, end.raw) };
        current.check("cuEventElapsedTime", code).ok()?;
        Duration::try_from_secs_f32(milliseconds / 1000.0).ok()
    }

    /// Blocks until the GPU has reached it.
    pub fn wait(&self, current: &Current<'_>) -> Result<(), Failure> {
        // SAFETY: the event lives.
        current.check("cuEventSynchronize", unsafe { (current.table().event_synchronize)(self.raw) })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // No call of the driver: events are dropped on the path of every launch, also under the lock of a timeline.
        self.gpu.free_events[self.kind as usize].lock().push(self.raw);
    }
}

/// A stream of an owner who keeps it.
pub struct OwnedStream {
    gpu: Arc<Gpu>,
    /// The stream.
    pub raw: RawStream,
}

impl OwnedStream {
    /// A new stream.
    pub fn new(gpu: &Arc<Gpu>) -> Result<OwnedStream, HalError> {
        let raw = gpu.enter()?.new_stream()?;
        Ok(OwnedStream { gpu: gpu.clone(), raw })
    }
}

impl Drop for OwnedStream {
    fn drop(&mut self) {
        let raw = self.raw;
        // SAFETY: made by `new`; what runs on it goes on to its end.
        self.gpu.release("cuStreamDestroy", |table| unsafe { (table.stream_destroy)(raw) });
    }
}

/// A stream that goes back when it is dropped.
pub struct BorrowedStream<'a> {
    gpu: &'a Gpu,
    /// The stream.
    pub raw: RawStream,
}

impl Drop for BorrowedStream<'_> {
    fn drop(&mut self) {
        // Work may still be on the stream, such as an asynchronous free. The next borrower's calls come after it.
        self.gpu.free_streams.lock().push(self.raw);
    }
}
