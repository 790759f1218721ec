//! How the end of a launch is noticed and told.
//!
//! Launches of a queue go to a *lane*: a stream, and a thread that waits for the ends of its launches and tells them in
//! order. The thread is started when somebody wants to be called back, spins for a moment between launches and then
//! sleeps, and ends after it had nothing to do for a while. A thread that waits for a launch does the same meanwhile,
//! so that it need not be woken.

use crate::context::{Event, Gpu, OwnedStream, SPIN, spin_until};
use crate::error::OnItsWay;
use crate::gate::Gate;
use crate::library::RawStream;
use crate::memory::DeviceBlock;
use crate::print::Printing;
use cloom_hal::lock::{Condvar, Mutex};
use cloom_hal::{Finish, HalError, Pending, PrintSink};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// A lane's thread ends after so long without work.
const IDLE: Duration = Duration::from_secs(5);

/// A stream, and the launches on it whose end is to be told.
pub struct Lane {
    stream: OwnedStream,
    /// Of timed launches; made by the first.
    gate: OnceLock<Option<Gate>>,
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
    /// A thread tells the end of the launch that was the first.
    is_served: bool,
}

impl Lane {
    /// A lane with a stream of its own.
    pub fn new(gpu: &Arc<Gpu>) -> Result<Lane, HalError> {
        let (work, queued, changed) = (Mutex::default(), AtomicUsize::new(0), Condvar::new());
        Ok(Lane { stream: OwnedStream::new(gpu)?, gate: OnceLock::new(), work, queued, changed })
    }

    /// Its gate; `None` if there is no memory for one.
    pub fn gate(&self, gpu: &Arc<Gpu>) -> Option<&Gate> {
        self.gate.get_or_init(|| Gate::new(gpu).ok()).as_ref()
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
                while self.tell_one() {}
            }
        } else if work.is_asleep {
            self.changed.notify_one();
        }
    }

    /// Waits for the first launch and tells its end, unless another thread does or there is none.
    fn tell_one(&self) -> bool {
        let mut work = self.work.lock();
        if work.is_served {
            return false;
        }
        let Some((running, finish)) = work.launches.pop_front() else { return false };
        work.is_served = true;
        drop(work);
        conclude(finish, |sink| running.end(sink));
        self.queued.fetch_sub(1, Ordering::Release);
        let mut work = self.work.lock();
        work.is_served = false;
        if !work.launches.is_empty() && work.is_asleep {
            self.changed.notify_one();
        }
        true
    }

    /// A thread that waits for one of these launches tells their ends meanwhile. Returns whether it waits no more.
    pub fn help(&self, done: &dyn Fn() -> bool) -> bool {
        let begin = Instant::now();
        loop {
            if done() {
                return true;
            }
            if !self.tell_one() {
                if begin.elapsed() >= SPIN {
                    return false;
                }
                std::hint::spin_loop();
            }
        }
    }

    /// The thread.
    fn serve(&self) {
        while self.is_wanted() {
            if !self.tell_one() {
                std::hint::spin_loop();
            }
        }
    }

    /// Waits until there is a launch, or until there was none for long.
    fn is_wanted(&self) -> bool {
        spin_until(|| self.queued.load(Ordering::Acquire) > 0);
        let mut work = self.work.lock();
        loop {
            if !work.launches.is_empty() && !work.is_served {
                return true;
            }
            work.is_asleep = true;
            let (awake, is_late) = self.changed.wait_for(work, IDLE);
            work = awake;
            work.is_asleep = false;
            if is_late && work.launches.is_empty() {
                work.has_thread = false;
                return false;
            }
        }
    }
}

/// Waits for a launch and tells its end. A panic of the callback is the callback's: others are told theirs.
pub fn conclude(finish: Box<dyn Finish>, end: impl FnOnce(&dyn PrintSink) -> Result<Option<Duration>, HalError>) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let result = end(&*finish);
        finish.finish(result);
    }));
}

/// A launch on its way.
pub struct Running {
    /// The GPU.
    pub gpu: Arc<Gpu>,
    /// Where it runs.
    pub lane: Arc<Lane>,
    /// Its beginning, if it is timed.
    pub begin: Option<Event>,
    /// Its end.
    pub event: Event,
    /// Names the kernel as long as it runs.
    pub on_its_way: Option<OnItsWay>,
    /// What it prints into.
    pub print: Option<(Arc<Printing>, DeviceBlock)>,
}

impl Running {
    fn end(mut self, sink: &dyn PrintSink) -> Result<Option<Duration>, HalError> {
        let gpu = self.gpu.clone();
        let current = gpu.enter()?;
        self.event.wait(&current)?;
        self.on_its_way = None;
        let time = self.begin.as_ref().and_then(|begin| begin.time_to(&current, &self.event));
        if let Some((printing, block)) = self.print.take() {
            printing.deliver(&current, block, sink)?;
        }
        Ok(time)
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
        self.end(print).map(drop)
    }

    fn on_end(self: Box<Self>, finish: Box<dyn Finish>) {
        let lane = self.lane.clone();
        lane.tell(*self, finish);
    }
}
