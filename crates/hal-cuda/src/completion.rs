//! How the end of a launch is noticed and told.
//!
//! Launches of a queue go to a *lane*: a stream, and a thread that waits for the ends of its launches and tells them in
//! order. The thread is started when somebody wants to be called back. It spins for a moment after each launch, then
//! sleeps, and ends after it had nothing to do for a while. A thread that waits for a launch does the same meanwhile,
//! so that it need not be woken, and comes first.
//!
//! A launch that nobody asks about alone is appended to the last one of its queue ([`Lane::append`]): they have one
//! end, which is told once.
//!
//! While launches follow each other and nobody waits for one, the thread calls the driver rarely, because its calls
//! hold up those that launch. The ends of timed launches are told as soon as they have come.

use crate::context::{Gpu, OwnedStream, SPIN};
use crate::error::OnItsWay;
use crate::gate::Gate;
use crate::library::RawStream;
use crate::marks::{Marks, Times};
use crate::memory::DeviceBlock;
use crate::print::Printing;
use cloom_hal::lock::{Condvar, Mutex};
use cloom_hal::{Finish, HalError, Pending, PrintSink};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// A lane's thread ends after so long without work.
const IDLE: Duration = Duration::from_secs(5);
/// The thread begins to wait for a launch after this time, in which the one who submitted it may begin to.
const LEAVES: Duration = Duration::from_micros(4);
/// If launches follow each other, it waits so long for the next one,
const FOLLOWS: Duration = Duration::from_micros(10);
/// and looks for ends only once in this time.
const LOOK: Duration = Duration::from_micros(100);

/// If threads waited themselves for so many launches in a row, the lane's thread naps between looking for others: it
/// would only take time from them, all the more on a core that it shares with one.
const HELPED: u32 = 8;
/// A nap; the system adds as much.
const NAP: Duration = Duration::from_micros(50);

/// Launches whose ends are told at a time.
const MOST_TOLD: usize = 64;

/// A thread that looks at what other threads write pauses for about a microsecond between, so that it does not hold
/// them up.
fn pause() {
    (0..32).for_each(|_| std::hint::spin_loop());
}

/// A launch whose end is told after this time is a quick one.
const QUICK: Duration = Duration::from_micros(200);
/// If it is told only after this time, the kernel may be none any more, or the GPU is busy anyway.
const SLOW: Duration = Duration::from_millis(20);

/// A stream, and the launches on it whose end is to be told.
pub struct Lane {
    /// Of `stream`, and dropped first.
    marks: Marks,
    stream: OwnedStream,
    /// Of timed launches; made by the first.
    gate: OnceLock<Option<Gate>>,
    work: Mutex<Work>,
    /// Launches in `work` that no thread serves, for threads that spin.
    queued: AtomicUsize,
    /// Whether the last launch is timed.
    is_timed: AtomicBool,
    /// Threads that wait for launches.
    helpers: AtomicUsize,
    changed: Condvar,
}

#[derive(Default)]
struct Work {
    launches: VecDeque<(Running, Box<dyn Finish>)>,
    has_thread: bool,
    is_asleep: bool,
    /// A thread tells the ends of the first launches.
    is_served: bool,
}

impl Lane {
    /// A lane with a stream of its own.
    pub fn new(gpu: &Arc<Gpu>) -> Result<Lane, HalError> {
        let stream = OwnedStream::new(gpu)?;
        Ok(Lane {
            marks: Marks::new(gpu, stream.raw),
            stream,
            gate: OnceLock::new(),
            work: Mutex::default(),
            queued: AtomicUsize::new(0),
            is_timed: AtomicBool::new(false),
            helpers: AtomicUsize::new(0),
            changed: Condvar::new(),
        })
    }

    /// Its gate; `None` if there is no memory for one.
    pub fn gate(&self, gpu: &Arc<Gpu>) -> Option<&Gate> {
        self.gate.get_or_init(|| Gate::new(gpu).ok()).as_ref()
    }

    /// Its stream.
    pub fn stream(&self) -> RawStream {
        self.stream.raw
    }

    /// What tells the ends of launches, all of which are submitted through it.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Calls back when a launch has ended.
    fn tell(self: &Arc<Lane>, running: Running, finish: Box<dyn Finish>) {
        let mut work = self.work.lock();
        self.is_timed.store(running.times.is_some(), Ordering::Release);
        work.launches.push_back((running, finish));
        if !work.is_served {
            self.queued.store(work.launches.len(), Ordering::Release);
        }
        if !work.has_thread {
            let lane = self.clone();
            let thread = std::thread::Builder::new().name("cloom-gpu".into());
            work.has_thread = thread.spawn(move || lane.serve()).is_ok();
            if !work.has_thread {
                // Nobody else would: what is here is told by this thread.
                drop(work);
                while self.tell_some(true, &|| false) {}
            }
        } else if work.is_asleep && !work.is_served {
            work.is_asleep = false;
            drop(work);
            self.changed.notify_one();
        }
    }

    /// Makes a launch of a queue, which `defer` defers and numbers, a part of the queue's last one. False if that is
    /// not the last of the lane whose end is to be told, or if the launch is not deferred.
    pub fn append(&self, queue: u64, kernel: &Arc<str>, defer: impl FnOnce() -> Option<u64>) -> bool {
        // Under the lock, so that nobody tells the end of the last one meanwhile.
        let mut work = self.work.lock();
        let Some((last, _)) = work.launches.back_mut() else { return false };
        if last.queue != queue || last.times.is_some() || last.print.is_some() {
            return false;
        }
        let Some(number) = defer() else { return false };
        last.append(number, kernel);
        true
    }

    /// Tells the ends of launches that have ended, until `done` holds; waits for the first one if that is asked for.
    /// False if another thread does or there is none. Many are taken at a time, so that those who launch find the list
    /// free.
    fn tell_some(&self, waits: bool, done: &dyn Fn() -> bool) -> bool {
        let take = |work: &mut Work, waits: bool| {
            let ended = self.marks.ended();
            let count = work.launches.iter().take(MOST_TOLD).take_while(|(running, _)| running.last() <= ended).count();
            let count = if waits { count.max(1) } else { count };
            work.launches.drain(..count.min(work.launches.len())).collect::<Vec<_>>()
        };
        let mut work = self.work.lock();
        if work.is_served {
            return false;
        }
        // Another thread may just have told what is waited for, and the launch behind it may end much later, or not
        // before the caller goes on.
        if waits && done() {
            return true;
        }
        let mut taken = take(&mut work, waits);
        if taken.is_empty() {
            return false;
        }
        work.is_served = true;
        self.queued.store(0, Ordering::Release);
        drop(work);
        while !taken.is_empty() {
            for (running, finish) in taken {
                conclude(finish, |sink| running.end(sink));
            }
            let is_done = done();
            let mut work = self.work.lock();
            taken = if is_done { Vec::new() } else { take(&mut work, false) };
            if taken.is_empty() {
                work.is_served = false;
                self.queued.store(work.launches.len(), Ordering::Release);
                if !work.launches.is_empty() && std::mem::take(&mut work.is_asleep) {
                    drop(work);
                    self.changed.notify_one();
                }
            }
        }
        true
    }

    /// A thread that waits for one of these launches tells their ends meanwhile. Returns whether it waits no more.
    pub fn help(&self, done: &dyn Fn() -> bool) -> bool {
        self.marks.begin_to_wait();
        self.helpers.fetch_add(1, Ordering::AcqRel);
        let begin = Instant::now();
        let is_done = loop {
            if done() {
                break true;
            }
            if self.queued.load(Ordering::Acquire) == 0 || !self.tell_some(true, done) {
                if begin.elapsed() >= SPIN {
                    break false;
                }
                std::hint::spin_loop();
            }
        };
        self.helpers.fetch_sub(1, Ordering::AcqRel);
        is_done
    }

    /// The thread.
    fn serve(&self) {
        let (mut quiet, mut helped) = (LEAVES, 0u32);
        let is_helped = || self.helpers.load(Ordering::Acquire) > 0;
        while self.is_wanted(helped >= HELPED) {
            self.submit_deferred();
            let Some(is_quiet) = self.wait_for_launches(quiet) else {
                helped = helped.saturating_add(1);
                continue;
            };
            helped = 0;
            let before = self.marks.submitted();
            if !is_quiet && let Ok(current) = self.marks.gpu().enter() {
                self.marks.look_for_ends(&current);
            }
            self.tell_some(is_quiet, &is_helped);
            quiet = if !is_quiet || self.marks.submitted() > before { FOLLOWS } else { LEAVES };
        }
    }

    /// Puts on the stream what was deferred.
    fn submit_deferred(&self) {
        if self.marks.deferred() > 0
            && let Ok(current) = self.marks.gpu().enter()
        {
            self.marks.try_submit_deferred(&current);
        }
    }

    /// Waits until there is a launch that no thread waits for, or until there was none for long.
    fn is_wanted(&self, naps: bool) -> bool {
        // Who launches and waits again and again should not have to wake it again and again.
        let (mut last, mut begin) = (self.marks.submitted(), Instant::now());
        while begin.elapsed() < SPIN {
            self.submit_deferred();
            if self.queued.load(Ordering::Acquire) > 0 {
                return true;
            }
            if naps {
                std::thread::sleep(NAP);
            } else {
                pause();
            }
            let now = self.marks.submitted();
            if now != last {
                (last, begin) = (now, Instant::now());
            }
        }
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

    /// Waits until no launch followed for a while, which is true then, or until it is time to look for ends. `None` if
    /// another thread waits for launches.
    fn wait_for_launches(&self, quiet: Duration) -> Option<bool> {
        let ended = self.marks.ended();
        let begin = Instant::now();
        let (mut last, mut since) = (self.marks.submitted(), begin);
        loop {
            if self.helpers.load(Ordering::Acquire) > 0 || self.queued.load(Ordering::Acquire) == 0 {
                return None;
            }
            self.submit_deferred();
            let (number, now) = (self.marks.submitted(), Instant::now());
            if number != last {
                (last, since) = (number, now);
            }
            if now - since >= quiet || self.is_timed.load(Ordering::Acquire) {
                return Some(true);
            }
            if now - begin >= LOOK || self.marks.ended() > ended {
                return Some(false);
            }
            pause();
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

/// A launch on its way, with those that were appended to it.
pub struct Running {
    /// The GPU.
    pub gpu: Arc<Gpu>,
    /// Where it runs.
    pub lane: Arc<Lane>,
    /// The queue that it comes from.
    pub queue: u64,
    /// Their numbers there. Those between may be another queue's.
    pub numbers: SmallVec<[RangeInclusive<u64>; 1]>,
    /// Its beginning and its end, if it is timed.
    pub times: Times,
    /// Names the kernels as long as they run.
    pub kernels: SmallVec<[OnItsWay; 1]>,
    /// What it prints into.
    pub print: Option<(Arc<Printing>, DeviceBlock)>,
    /// When it was submitted, and the number of work-items with which its kernel was seen to be quick.
    pub quick: (Instant, u64, Arc<AtomicU64>),
}

impl Running {
    fn wait(&self) -> Result<(), HalError> {
        match self.lane.marks.has_ended(self.last()) {
            true => Ok(()),
            false => self.lane.marks.wait(&self.gpu.enter()?, self.last()),
        }
    }

    /// The last of its numbers.
    fn last(&self) -> u64 {
        self.numbers.last().map_or(0, |numbers| *numbers.end())
    }

    /// The end is that of one more launch.
    fn append(&mut self, number: u64, kernel: &Arc<str>) {
        match self.numbers.last_mut() {
            Some(last) if *last.end() + 1 == number => *last = *last.start()..=number,
            _ => self.numbers.push(number..=number),
        }
        if self.kernels.last().is_none_or(|last| !last.is_of(kernel)) {
            self.kernels.push(OnItsWay::new(kernel));
        }
    }

    /// Learns whether the kernel is quick.
    fn learn(&self) {
        let (begin, items, quick) = &self.quick;
        let (known, time) = (quick.load(Ordering::Relaxed), begin.elapsed());
        let is_alone = self.numbers.first().is_some_and(|first| *first.start() == self.last());
        if *items > known && time < QUICK && is_alone {
            quick.store(*items, Ordering::Relaxed);
        } else if known > 0 && time > SLOW {
            quick.store(0, Ordering::Relaxed);
        }
    }

    fn end(mut self, sink: &dyn PrintSink) -> Result<Option<Duration>, HalError> {
        self.wait()?;
        self.kernels.clear();
        if let Some(failure) = self.lane.marks.take_failure(&self.numbers) {
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
    /// The buffer of a launch that nobody waits for is still written, and its kernel may go now.
    fn drop(&mut self) {
        if self.print.is_some() {
            let _ = self.wait();
        }
        if !self.lane.marks.has_ended(self.last())
            && self.lane.marks.deferred() > 0
            && let Ok(current) = self.gpu.enter()
        {
            self.lane.marks.submit_deferred(&current);
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
