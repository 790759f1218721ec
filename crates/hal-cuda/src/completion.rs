//! How the end of a launch is noticed and told.
//!
//! Launches of a queue go to a *lane*: a stream, and a thread that waits for the ends of its launches in order. The
//! thread is started when somebody wants to be called back, spins for a moment between launches and then sleeps, and
//! ends after it had nothing to do for a while. A thread that waits itself needs no lane's thread.

use crate::context::{Event, Gpu, OwnedStream, SPIN};
use crate::error::OnItsWay;
use crate::library::RawStream;
use crate::memory::DeviceBlock;
use crate::print::Printing;
use cloom_hal::lock::{Condvar, Mutex};
use cloom_hal::{Finish, HalError, Pending, PrintSink};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A lane's thread ends after so long without work.
const IDLE: Duration = Duration::from_secs(5);

/// A stream, and the launches on it whose end is to be told.
pub struct Lane {
    stream: OwnedStream,
    work: Mutex<Work>,
    /// Launches in `work`, for the thread that spins.
    queued: AtomicUsize,
    changed: Condvar,
}

#[derive(Default)]
struct Work {
    launches: VecDeque<(Running, Box<dyn Finish>)>,
    has_thread: bool,
    is_asleep: bool,
}

impl Lane {
    /// A lane with a stream of its own.
    pub fn new(gpu: &Arc<Gpu>) -> Result<Lane, HalError> {
        let (work, queued, changed) = (Mutex::default(), AtomicUsize::new(0), Condvar::new());
        Ok(Lane { stream: OwnedStream::new(gpu)?, work, queued, changed })
    }

    /// Its stream.
    pub fn stream(&self) -> RawStream {
        self.stream.raw
    }

    /// Calls back when a launch has ended.
    fn tell(self: &Arc<Lane>, running: Running, finish: Box<dyn Finish>) {
        let mut work = self.work.lock();
        work.launches.push_back((running, finish));
        self.queued.fetch_add(1, Ordering::Release);
        if !work.has_thread {
            let lane = self.clone();
            let thread = std::thread::Builder::new().name("cloom-gpu".into());
            work.has_thread = thread.spawn(move || lane.serve()).is_ok();
            if !work.has_thread {
                // Nobody else would: what is here is told by this thread.
                drop(work);
                self.tell_all();
            }
        } else if work.is_asleep {
            self.changed.notify_one();
        }
    }

    fn tell_all(&self) {
        loop {
            let next = self.work.lock().launches.pop_front();
            let Some((running, finish)) = next else { return };
            self.queued.fetch_sub(1, Ordering::Relaxed);
            conclude(running, finish);
        }
    }

    /// The thread.
    fn serve(&self) {
        while let Some((running, finish)) = self.next() {
            conclude(running, finish);
        }
    }

    /// The next launch; `None` after there was none for long.
    fn next(&self) -> Option<(Running, Box<dyn Finish>)> {
        let begin = Instant::now();
        while self.queued.load(Ordering::Acquire) == 0 && begin.elapsed() < SPIN {
            std::hint::spin_loop();
        }
        let mut work = self.work.lock();
        loop {
            if let Some(next) = work.launches.pop_front() {
                self.queued.fetch_sub(1, Ordering::Relaxed);
                return Some(next);
            }
            work.is_asleep = true;
            let (awake, is_late) = self.changed.wait_for(work, IDLE);
            work = awake;
            work.is_asleep = false;
            if is_late && work.launches.is_empty() {
                work.has_thread = false;
                return None;
            }
        }
    }
}

/// Waits for a launch and tells its end. A panic of the callback is the callback's: others are told theirs.
fn conclude(running: Running, finish: Box<dyn Finish>) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let result = running.end(&*finish);
        finish.finish(result);
    }));
}

/// A launch on its way.
pub struct Running {
    /// The GPU.
    pub gpu: Arc<Gpu>,
    /// Where it runs.
    pub lane: Arc<Lane>,
    /// Its end.
    pub event: Event,
    /// Names the kernel as long as it runs.
    pub on_its_way: Option<OnItsWay>,
    /// What it prints into.
    pub print: Option<(Arc<Printing>, DeviceBlock)>,
}

impl Running {
    fn end(mut self, sink: &dyn PrintSink) -> Result<(), HalError> {
        let gpu = self.gpu.clone();
        let current = gpu.enter()?;
        self.event.wait(&current)?;
        self.on_its_way = None;
        match self.print.take() {
            Some((printing, block)) => printing.deliver(&current, block, sink),
            None => Ok(()),
        }
    }

    fn has_ended(&self) -> bool {
        // What cannot be asked any more has ended.
        self.gpu.enter().map_or(true, |current| self.event.has_come(&current))
    }
}

impl Drop for Running {
    /// The buffer of a launch that nobody waits for is still written.
    fn drop(&mut self) {
        if self.print.is_some()
            && let Ok(current) = self.gpu.enter()
        {
            let _ = self.event.wait(&current);
        }
    }
}

impl Pending for Running {
    fn wait(self: Box<Self>, print: &dyn PrintSink) -> Result<(), HalError> {
        self.end(print)
    }

    fn on_end(self: Box<Self>, finish: Box<dyn Finish>) {
        if self.has_ended() {
            return conclude(*self, finish);
        }
        let lane = self.lane.clone();
        lane.tell(*self, finish);
    }
}
