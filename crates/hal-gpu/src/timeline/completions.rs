//! Decides which thread notifies that launches have ended: the thread of their stream, or a thread that waits for one
//! of them.
//!
//! The input is launches whose completion is to be notified; the output is the notifications ([`Notify::notify`]), in
//! the order of the launches, each once, and without a lock held. One thread at a time *serves* the list. The stream's
//! thread is started with the first launch. It spins for a moment after each launch, then sleeps, and ends when it had
//! nothing to do for a while. While launches follow each other and no thread waits for one, it calls the driver rarely,
//! because its calls delay those of the launching threads. The completion of a timed launch is notified as soon as it
//! is reached.

use super::order::Timeline;
use super::stream::GpuStream;
use super::sync::{
    AtomicBool, AtomicUsize, Condvar, Instant, Mutex, MutexGuard, Ordering, pause, sleep, spawn, spin_loop,
};
use super::tuning::{
    MAX_NOTIFIED_LAUNCHES, NAP_AFTER_WAITS, NAP_TIME, NEXT_LAUNCH_TIME, POLL_INTERVAL, SPIN_TIME, THREAD_IDLE_TIME,
    WAITER_HEAD_START,
};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// A launch whose completion is to be notified, or several launches with one completion.
pub trait Notify: Send + 'static {
    /// The number of its last launch.
    fn last(&self) -> u64;

    /// Whether its time is asked for.
    fn is_timed(&self) -> bool;

    /// Waits for its completion and notifies its owner. It must not panic.
    fn notify(self);
}

/// Has a stream with its timeline and its list, and can call the driver.
pub trait StreamOwner: Send + Sync + Sized + 'static {
    /// The stream.
    type Stream: GpuStream;
    /// The launches in the list.
    type Launch: Notify;
    /// The name of the stream's thread.
    const THREAD: &'static str;

    /// The timeline.
    fn timeline(&self) -> &Timeline<Self::Stream>;

    /// The list.
    fn completions(&self) -> &Completions<Self::Launch>;

    /// [`Timeline::try_submit_deferred`], if the driver can be called.
    fn try_submit_deferred(&self);

    /// [`Timeline::poll_completions`], if the driver can be called.
    fn poll_completions(&self);
}

/// The launches of a stream whose completion is to be notified.
pub struct Completions<L> {
    pub(super) work: Mutex<Work<L>>,
    /// Launches in `work` that no thread serves, for threads that spin and do not take the lock.
    pub(super) queued: AtomicUsize,
    /// Whether the last launch is timed.
    is_timed: AtomicBool,
    /// Threads that wait for launches.
    waiters: AtomicUsize,
    /// The stream's thread sleeps on this condition.
    pub(super) changed: Condvar,
}

/// The list, and the state of the threads that serve it.
pub struct Work<L> {
    pub(super) launches: VecDeque<L>,
    has_thread: bool,
    is_asleep: bool,
    /// A thread has taken the first launches and notifies them.
    pub(super) is_served: bool,
}

impl<L> Work<L> {
    /// Whether the stream's thread sleeps although it has something to do. The caller then wakes it.
    #[must_use]
    fn wakes(&mut self) -> bool {
        // Taking the flag leaves the wake-up to one thread, however many add launches before the sleeper runs.
        !self.launches.is_empty() && !self.is_served && std::mem::take(&mut self.is_asleep)
    }
}

impl<L> Default for Completions<L> {
    fn default() -> Self {
        let work = Work { launches: VecDeque::new(), has_thread: false, is_asleep: false, is_served: false };
        Completions {
            work: Mutex::new(work),
            queued: AtomicUsize::new(0),
            is_timed: AtomicBool::new(false),
            waiters: AtomicUsize::new(0),
            changed: Condvar::new(),
        }
    }
}

impl<L: Notify> Completions<L> {
    /// Appends a launch to the last one of the list by `extend`, and returns what that returns, or false if the list is
    /// empty. It holds the lock, so that no thread notifies the last launch meanwhile.
    pub fn append(&self, extend: impl FnOnce(&mut L) -> bool) -> bool {
        self.work.lock().launches.back_mut().is_some_and(extend)
    }

    /// Takes the first launches, up to the one with this number. With `waits`, it takes at least the first one.
    fn take(work: &mut Work<L>, ended: u64, waits: bool) -> Vec<L> {
        let has_ended = |launch: &&L| launch.last() <= ended;
        // A stream runs its launches in order, so that behind one that has not ended there is hardly one that has.
        let count = work.launches.iter().take(MAX_NOTIFIED_LAUNCHES).take_while(has_ended).count();
        let count = if waits { count.max(1) } else { count };
        work.launches.drain(..count.min(work.launches.len())).collect()
    }

    /// Stops serving the list, and wakes the stream's thread if launches came meanwhile.
    fn give_back(&self, mut work: MutexGuard<'_, Work<L>>) {
        work.is_served = false;
        self.queued.store(work.launches.len(), Ordering::Release);
        if work.wakes() {
            drop(work);
            self.changed.notify_one();
        }
    }
}

/// Adds a launch to the list, so that its completion is notified.
pub fn notify_end<O: StreamOwner>(owner: &Arc<O>, launch: O::Launch) {
    let completions = owner.completions();
    let mut work = completions.work.lock();
    completions.is_timed.store(launch.is_timed(), Ordering::Release);
    work.launches.push_back(launch);
    // While a thread serves the list, `queued` stays 0, so that spinning threads do not take the lock in vain.
    // `give_back` sets it.
    if !work.is_served {
        completions.queued.store(work.launches.len(), Ordering::Release);
    }
    if !work.has_thread {
        let thread = owner.clone();
        // The thread begins by looking for launches, so that it finds this one.
        work.has_thread = spawn(O::THREAD, move || serve(&*thread));
        if !work.has_thread {
            // No other thread would notify, so this one does.
            drop(work);
            while notify_some(&**owner, true, &|| false) {}
        }
    } else if work.wakes() {
        drop(work);
        completions.changed.notify_one();
    }
}

/// Notifies launches that have ended, until `done` holds. With `waits`, it waits for the first launch of the list.
/// Returns false if another thread serves the list, or if the list is empty. It takes many launches at a time, so that
/// launching threads find the list unlocked.
pub fn notify_some<O: StreamOwner>(owner: &O, waits: bool, done: &dyn Fn() -> bool) -> bool {
    let completions = owner.completions();
    let mut work = completions.work.lock();
    if work.is_served {
        return false;
    }
    // Another thread may just have notified the launch that this one waits for. The next launch may end much later, or
    // only after the caller has gone on.
    if waits && done() {
        return true;
    }
    let mut taken = Completions::take(&mut work, owner.timeline().ended(), waits);
    if taken.is_empty() {
        return false;
    }
    // The launches are notified without the lock: a callback may launch, which adds to the list.
    work.is_served = true;
    completions.queued.store(0, Ordering::Release);
    drop(work);
    while !taken.is_empty() {
        taken.into_iter().for_each(Notify::notify);
        let is_done = done();
        let mut work = completions.work.lock();
        taken = if is_done { Vec::new() } else { Completions::take(&mut work, owner.timeline().ended(), false) };
        if taken.is_empty() {
            completions.give_back(work);
        }
    }
    true
}

/// For a thread that waits for a launch: it notifies completions meanwhile, until `done` holds. Returns whether `done`
/// holds. If it does not, the caller should sleep until it is notified.
pub fn wait<O: StreamOwner>(owner: &O, done: &dyn Fn() -> bool) -> bool {
    let completions = owner.completions();
    owner.timeline().begin_to_wait();
    // From here on the stream's thread leaves the list to this one.
    completions.waiters.fetch_add(1, Ordering::AcqRel);
    let begin = Instant::now();
    let is_done = loop {
        if done() {
            break true;
        }
        // `queued` is 0 as long as another thread serves the list. That thread may be notifying the awaited launch.
        if completions.queued.load(Ordering::Acquire) == 0 || !notify_some(owner, true, done) {
            if begin.elapsed() >= SPIN_TIME {
                break false;
            }
            spin_loop();
        }
    };
    completions.waiters.fetch_sub(1, Ordering::AcqRel);
    is_done
}

/// The stream's thread.
pub(super) fn serve<O: StreamOwner>(owner: &O) {
    let (completions, timeline) = (owner.completions(), owner.timeline());
    // `waits`: waits in a row that other threads did themselves.
    let (mut quiet, mut waits) = (WAITER_HEAD_START, 0u32);
    let is_helped = || completions.waiters.load(Ordering::Acquire) > 0;
    while is_wanted(owner, waits >= NAP_AFTER_WAITS) {
        submit_deferred(owner);
        let Some(is_quiet) = wait_for_launches(owner, quiet) else {
            waits = waits.saturating_add(1);
            spin_loop();
            continue;
        };
        waits = 0;
        let before = timeline.submitted();
        if !is_quiet {
            owner.poll_completions();
        }
        // As soon as a thread waits, the list is given back: that thread notifies for itself and need not be woken.
        notify_some(owner, is_quiet, &is_helped);
        // After launches that follow each other, the next one is awaited for longer before the thread waits in the
        // driver.
        quiet = if !is_quiet || timeline.submitted() > before { NEXT_LAUNCH_TIME } else { WAITER_HEAD_START };
    }
}

/// Submits the deferred launches.
fn submit_deferred<O: StreamOwner>(owner: &O) {
    if owner.timeline().deferred() > 0 {
        owner.try_submit_deferred();
    }
}

/// Waits until there is a launch that no thread waits for, and returns true; or false if there was none for a long
/// time.
fn is_wanted<O: StreamOwner>(owner: &O, naps: bool) -> bool {
    let (completions, timeline) = (owner.completions(), owner.timeline());
    // It spins first, so that a thread with many blocking launches need not wake it for each.
    let (mut last, mut begin) = (timeline.submitted(), Instant::now());
    while begin.elapsed() < SPIN_TIME {
        submit_deferred(owner);
        // A load and no lock, because launching threads take the lock for each launch.
        if completions.queued.load(Ordering::Acquire) > 0 {
            return true;
        }
        if naps {
            sleep(NAP_TIME);
        } else {
            pause();
        }
        let now = timeline.submitted();
        // A new launch begins the interval again: the thread stays awake while launches come.
        if now != last {
            (last, begin) = (now, Instant::now());
        }
    }
    let mut work = completions.work.lock();
    loop {
        if !work.launches.is_empty() && !work.is_served {
            return true;
        }
        work.is_asleep = true;
        let (awake, is_late) = completions.changed.wait_for(work, THREAD_IDLE_TIME);
        work = awake;
        work.is_asleep = false;
        // Under the lock under which `notify_end` looks, so that the next launch starts a new thread.
        if is_late && work.launches.is_empty() {
            work.has_thread = false;
            return false;
        }
    }
}

/// Returns true when no launch followed for a while, and false when it is time to poll for completions. `None` if
/// another thread waits for launches, or none are left.
fn wait_for_launches<O: StreamOwner>(owner: &O, quiet: Duration) -> Option<bool> {
    let (completions, timeline) = (owner.completions(), owner.timeline());
    // Launches that end while this thread waits are notified at once: the number is compared below.
    let ended = timeline.ended();
    let begin = Instant::now();
    let (mut last, mut since) = (timeline.submitted(), begin);
    loop {
        if completions.waiters.load(Ordering::Acquire) > 0 || completions.queued.load(Ordering::Acquire) == 0 {
            return None;
        }
        submit_deferred(owner);
        let (number, now) = (timeline.submitted(), Instant::now());
        if number != last {
            (last, since) = (number, now);
        }
        // No launch followed: waiting in the driver delays nobody. A timed launch is waited for at once, because its
        // end is to be noticed at once.
        if now - since >= quiet || completions.is_timed.load(Ordering::Acquire) {
            return Some(true);
        }
        if now - begin >= POLL_INTERVAL || timeline.ended() > ended {
            return Some(false);
        }
        pause();
    }
}
