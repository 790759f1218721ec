//! A stream with its timeline, and the launches on it whose completion is to be notified.
//!
//! Launches of a queue go to a stream. `cloom_hal_gpu::timeline` orders them and decides which thread notifies. This
//! module has what a launch keeps alive until it has ended. At its end, its time is read, its output is delivered, and
//! its error is reported.
//!
//! A launch whose completion nobody asks for separately is appended to the last launch of its queue
//! ([`Stream::append`]). Both then have one completion, which is notified once.

use crate::context::{Current, Event, Gpu};
use crate::error::InFlight;
use crate::library::RawStream;
use crate::memory::DeviceBlock;
use crate::print::Printing;
use crate::stream_wait::StreamWait;
use crate::timeline::{CudaStream, Entered, Timeline};
use cloom_hal::{Finish, HalError, Pending, PrintSink, conclude};
use cloom_hal_gpu::timeline::completions::{self, Completions, Notify, StreamOwner};
use cloom_hal_gpu::tuning::{QUICK_LAUNCH_TIME, SLOW_LAUNCH_TIME};
use smallvec::SmallVec;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The beginning and the end of a timed launch.
pub type Times = Option<(Event, Arc<Event>)>;

/// A stream, and the launches on it.
pub struct Stream {
    timeline: Timeline,
    completions: Completions<Ending>,
    /// The stream wait of timed launches, made by the first of them.
    wait: OnceLock<Option<StreamWait>>,
}

impl Stream {
    /// A timeline on a new stream of the driver.
    pub fn new(gpu: &Arc<Gpu>) -> Result<Stream, HalError> {
        let timeline = Timeline::new(CudaStream::new(gpu)?);
        Ok(Stream { timeline, completions: Completions::default(), wait: OnceLock::new() })
    }

    /// The stream wait of timed launches; `None` if there is no memory for it.
    pub fn stream_wait(&self) -> Option<&StreamWait> {
        self.wait.get_or_init(|| StreamWait::new(self.gpu()).ok()).as_ref()
    }

    /// The driver's stream.
    pub fn raw(&self) -> RawStream {
        self.timeline.stream().raw()
    }

    /// All launches are submitted through it.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The stream, for a thread that has entered the context of its GPU.
    pub fn entered<'a>(&'a self, current: &'a Current<'a>) -> Entered<'a> {
        self.timeline.stream().entered(current)
    }

    fn gpu(&self) -> &Arc<Gpu> {
        self.timeline.stream().gpu()
    }

    /// Appends a launch of a queue to the queue's last one. `defer` defers the launch and returns its number. Returns
    /// false if the queue's last launch is not the last one of the stream that is to be notified, or if `defer` does
    /// not defer.
    pub fn append(&self, queue: u64, kernel: &Arc<str>, defer: impl FnOnce() -> Option<u64>) -> bool {
        self.completions.append(|Ending { launch: last, .. }| {
            // The events of a timed launch enclose one launch, and a print buffer belongs to one launch.
            if last.queue != queue || last.times.is_some() || last.print.is_some() {
                return false;
            }
            // Deferring calls no driver, so that it may happen under the lock of the list. Submitting may not.
            let Some(number) = defer() else { return false };
            last.append(number, kernel);
            true
        })
    }

    /// Waits for one of these launches, and notifies completions meanwhile. Returns whether `done` holds.
    pub fn wait(&self, done: &dyn Fn() -> bool) -> bool {
        completions::wait(self, done)
    }
}

impl StreamOwner for Stream {
    type Stream = CudaStream;
    type Launch = Ending;
    const THREAD: &'static str = "cloom-gpu";

    fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    fn completions(&self) -> &Completions<Ending> {
        &self.completions
    }

    fn try_submit_deferred(&self) {
        if let Ok(current) = self.gpu().enter() {
            self.timeline.try_submit_deferred(&self.entered(&current));
        }
    }

    fn poll_completions(&self) {
        if let Ok(current) = self.gpu().enter() {
            self.timeline.poll_completions(&self.entered(&current));
        }
    }
}

/// A launch whose completion is to be notified, and who is to be told.
pub struct Ending {
    launch: Running,
    finish: Box<dyn Finish>,
}

impl Notify for Ending {
    fn last(&self) -> u64 {
        self.launch.last()
    }

    fn is_timed(&self) -> bool {
        self.launch.times.is_some()
    }

    fn notify(self) {
        let Ending { launch, finish } = self;
        conclude(finish, |sink| launch.end(sink));
    }
}

/// A launch in progress, with those that were appended to it.
pub struct Running {
    /// The GPU.
    pub gpu: Arc<Gpu>,
    /// The stream that it runs on.
    pub stream: Arc<Stream>,
    /// The queue that it comes from.
    pub queue: u64,
    /// Their numbers on the stream. Numbers between them may belong to another queue.
    pub numbers: SmallVec<[RangeInclusive<u64>; 1]>,
    /// Its beginning and its end, if it is timed.
    pub times: Times,
    /// Names the kernels in errors as long as they run.
    pub kernels: SmallVec<[InFlight; 1]>,
    /// The buffer that it prints into.
    pub print: Option<(Arc<Printing>, DeviceBlock)>,
    /// The time of its submission, its work-items, and the most work-items with which its kernel was quick.
    pub quick: (Instant, u64, Arc<AtomicU64>),
}

impl Running {
    fn wait(&self) -> Result<(), HalError> {
        match self.stream.timeline.has_ended(self.last()) {
            true => Ok(()),
            false => self.stream.timeline.wait(&self.stream.entered(&self.gpu.enter()?), self.last()),
        }
    }

    /// The last of its numbers on the stream.
    fn last(&self) -> u64 {
        self.numbers.last().map_or(0, |numbers| *numbers.end())
    }

    /// Adds a launch, which completes with this one.
    fn append(&mut self, number: u64, kernel: &Arc<str>) {
        match self.numbers.last_mut() {
            // Mostly the queue is alone on its stream, and one range of numbers is enough for all its launches.
            Some(last) if *last.end() + 1 == number => *last = *last.start()..=number,
            _ => self.numbers.push(number..=number),
        }
        if self.kernels.last().is_none_or(|last| !last.is_of(kernel)) {
            self.kernels.push(InFlight::new(kernel));
        }
    }

    /// Learns whether the kernel is quick.
    fn learn(&self) {
        // The time includes the wait for earlier launches: a kernel does not become quick while the GPU is busy.
        let (begin, items, quick) = &self.quick;
        let (known, time) = (quick.load(Ordering::Relaxed), begin.elapsed());
        // The time of several launches with one completion says little about each of them.
        let is_alone = self.numbers.first().is_some_and(|first| *first.start() == self.last());
        if *items > known && time < QUICK_LAUNCH_TIME && is_alone {
            quick.store(*items, Ordering::Relaxed);
        // Between the two thresholds nothing changes, so that one late notification does not end the deferring.
        } else if known > 0 && time > SLOW_LAUNCH_TIME {
            quick.store(0, Ordering::Relaxed);
        }
    }

    fn end(mut self, sink: &dyn PrintSink) -> Result<Option<Duration>, HalError> {
        self.wait()?;
        // The launch has ended: a later fault is not that of its kernels.
        self.kernels.clear();
        // Only after the wait: a launch that could not be submitted counts as ended.
        if let Some(failure) = self.stream.timeline.take_failure(&self.numbers) {
            return Err(failure);
        }
        self.learn();
        if self.times.is_none() && self.print.is_none() {
            return Ok(None);
        }
        let gpu = self.gpu.clone();
        let current = gpu.enter()?;
        let time = self.times.as_ref().and_then(|(begin, end)| begin.time_to(&current, end));
        if let Some((printing, block)) = self.print.take() {
            printing.deliver(&current, block, sink)?;
        }
        Ok(time)
    }
}

impl Drop for Running {
    /// Waits if the kernel still writes its output, and submits a deferred launch, because the kernel may be dropped
    /// after this.
    fn drop(&mut self) {
        // The buffer is freed with this value, so that the kernel must have ended before.
        if self.print.is_some() {
            let _ = self.wait();
        }
        let timeline = &self.stream.timeline;
        if !timeline.has_ended(self.last())
            && timeline.deferred() > 0
            && let Ok(current) = self.gpu.enter()
        {
            timeline.submit_deferred(&self.stream.entered(&current));
        }
    }
}

impl Pending for Running {
    fn wait(self: Box<Self>, print: &dyn PrintSink) -> Result<(), HalError> {
        self.end(print).map(drop)
    }

    fn on_end(self: Box<Self>, finish: Box<dyn Finish>) {
        // A clone, because the launch with its own reference moves into the list.
        let stream = self.stream.clone();
        completions::notify_end(&stream, Ending { launch: *self, finish });
    }
}
