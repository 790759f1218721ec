//! A pool of threads that share the chunks of a [job] with its owner, the thread that submits it.
//!
//! Launches come in bursts, so a thread without work spins for a moment before it sleeps. The owner of a job
//!
//! 1. *offers* it to threads that spin, each in a [mailbox] of its own, which costs next to nothing;
//! 2. works on it, until no chunk is left to claim;
//! 3. *wakes* sleeping threads only if the rest of the job is worth it. Waking a thread takes as long as many a job,
//!    above all from deep sleep states, and the system may queue it on the waker's core ([`crate::cores`]);
//! 4. waits for threads that are in the middle of a chunk, and for no others: a thread that was offered the job and has
//!    not begun finds nothing to do when it comes.
//!
//! Step 4 is where a shared machine hurts: a thread that loses its core in the middle of a chunk comes back some time
//! slices later. So threads whose cores other processes want ([`contention`]) are woken only for jobs of several time
//! slices.
//!
//! Threads that wait for a job's end in any case are offered it first, if they are on another core than its owner. How
//! many threads are asked follows from the time that the job is expected to take. Several threads may own jobs at the
//! same time; a worker that becomes free takes the oldest.
//!
//! [`shared`] has the protocol, which `tests/handoff` checks; this file decides how many threads are asked.

mod contention;
mod job;
mod mailbox;
mod shared;
mod sync;

use crate::cores::{self, Cores};
use cloom_hal::TUNING;
use cloom_hal::lock::Mutex;
pub use contention::{Clock, Contention, waiting};
use job::Job;
pub use job::Work;
use shared::{Shared, Wake};
use std::sync::Arc;
use std::thread::{self, JoinHandle, ThreadId};
use std::time::{Duration, Instant};
pub use sync::spin;

/// Whether waking threads pays after this time, in which `done` equal parts of the work were done, with so many left:
/// then returns how long these would take one thread.
pub fn worth_waking(time: Duration, done: u64, left: impl FnOnce() -> u64) -> Option<Duration> {
    if time < TUNING.solo_time {
        return None;
    }
    let rest = u128::from(left()).saturating_mul(time.as_nanos()) / u128::from(done.max(1));
    let rest = Duration::from_nanos(u64::try_from(rest).unwrap_or(u64::MAX));
    (rest >= TUNING.wake_min_rest).then_some(rest)
}

/// Which sleeping threads are woken for work that would take one thread so long.
fn wake_for(time: Duration) -> Wake {
    if time >= TUNING.contended_long_job { Wake::Everybody } else { Wake::Punctual }
}

/// How many threads share work of this time if each is to get so much of it.
fn threads_for(time: Duration, each: Duration) -> usize {
    usize::try_from(time.as_nanos() / each.as_nanos()).unwrap_or(usize::MAX)
}

/// The threads.
pub struct Pool {
    shared: Arc<Shared>,
    burst: Mutex<Burst>,
    workers: Vec<JoinHandle<()>>,
    threads: usize,
    process: u32,
}

/// The last job, and the burst that it is a part of: jobs that followed each other without a pause.
struct Burst {
    owner: ThreadId,
    /// The owner's core.
    core: i32,
    /// When the last job ended.
    end: Instant,
    /// Time of the jobs of the burst since the last one that a second thread joined.
    alone: Duration,
}

impl Burst {
    /// Whether the jobs before now were enough work for one thread to wake others for the next.
    fn is_long(&mut self) -> bool {
        // After such a pause the workers sleep: the next job begins a new burst.
        if self.end.elapsed() > TUNING.spin_time {
            self.alone = Duration::ZERO;
        }
        self.alone >= TUNING.burst_time
    }

    /// Records the time of a job, and whether a second thread joined it.
    fn ended(&mut self, time: Duration, shared: bool) {
        self.end = Instant::now();
        self.alone = if shared { Duration::ZERO } else { self.alone.saturating_add(time) };
    }
}

impl Pool {
    /// A pool in which `threads` threads work on a job, its owner included. There is always one worker, for jobs that
    /// need its stack. The process may use `cores` cores; if the pool is `bound` to some, its workers run there alone.
    pub fn new(threads: usize, cores: usize, bound: Option<Cores>, clock: Clock) -> Pool {
        // Without `bound`, the cores only say where a worker may be moved to when it is kept off one.
        let is_bound = bound.is_some();
        let shared = Arc::new(Shared::new(threads.max(2) - 1, bound.or_else(Cores::allowed), cores, clock));
        let burst = Burst { owner: thread::current().id(), core: -1, end: Instant::now(), alone: Duration::ZERO };
        let workers = (0..shared.mailboxes.len())
            .filter_map(|i| {
                let shared = shared.clone();
                // If the system refuses a thread, there is one worker less; without any, the owner does all work.
                let builder = thread::Builder::new().name(format!("cloom-{i}")).stack_size(TUNING.worker_stack);
                let work = move || {
                    let bound = shared.cores.as_ref().filter(|_| is_bound).map(Cores::bind);
                    shared.work(&shared.mailboxes[i]);
                    drop(bound);
                };
                builder.spawn(work).ok()
            })
            .collect();
        Pool { shared, burst: Mutex::new(burst), workers, threads: threads.max(1), process: std::process::id() }
    }

    /// Whether there are workers: not in a child after `fork`, where threads do not survive.
    pub fn alive(&self) -> bool {
        !self.workers.is_empty() && self.process == std::process::id()
    }

    /// Runs chunks `0..chunks`. Returns when all have ended, with the time that they took, added up over the threads.
    ///
    /// With `join` false the calling thread only waits, and workers alone run chunks; else threads that wait for this
    /// `queue` may [assist](Pool::assist). How many threads are asked follows from the time that the job would take one
    /// thread, `expected`; `Duration::MAX` if it is not known. If a chunk panics, this function does, when all others
    /// have ended.
    pub fn run(&self, work: &dyn Work, chunks: u64, join: bool, queue: u64, expected: Duration) -> Duration {
        // Nothing to share, or nobody to share it with: the job needs no list and no counters.
        if !self.alive() || (chunks == 1 && join) {
            let begin = Instant::now();
            (0..chunks).for_each(|c| work.run(c));
            return begin.elapsed();
        }
        // SAFETY: the reference is used only by threads that claimed a chunk below `chunks`, and this function does not
        // return before all of these have ended. A worker that still holds the job afterwards only reads its counters.
        let work: &'static dyn Work = unsafe { std::mem::transmute::<&dyn Work, &'static dyn Work>(work) };
        let job = Arc::new(Job::new(work, chunks, self.threads, if join { queue } else { 0 }));
        let shared = &*self.shared;
        let burst_is_long = {
            let mut burst = self.burst.lock();
            // Threads that wait for a queue leave this core before they spin, see `assist`.
            (burst.owner, burst.core) = (job.owner.id(), job.core);
            burst.is_long()
        };
        // Listed before it is offered: a worker that enters its mailbox too late for an offer finds the job in the
        // list.
        shared.list(&job);
        // More threads than chunks would find nothing. If the owner joins, it is one of the threads.
        let most = chunks.min(self.threads as u64) as usize - usize::from(join);
        // A short job ends before a sleeping thread comes. If the owner only waits, somebody has to come.
        let mut spinning_only = join && expected < TUNING.long_job;
        // A thread that spins costs the owner a store. A thread that sleeps costs a call of the system, so that it must
        // have more to do.
        let each = if spinning_only { TUNING.work_per_spinning } else { TUNING.work_per_woken };
        // At least one: the estimate is that of the last launch, and may be too short.
        let wanted = threads_for(expected, each).max(1).min(most);
        // A job that its owner does not join needs a worker, when it may come.
        let wake = if join { wake_for(expected) } else { Wake::Everybody };
        let mut offered = shared.offer(&job, wanted, if spinning_only { Wake::Nobody } else { wake });
        // Each job is too short to wake a thread for, but the jobs of a burst together are not.
        if offered == 0 && spinning_only && burst_is_long {
            offered = shared.offer(&job, wanted, Wake::Punctual);
        }
        if join && job.join() {
            shared.run(&job, |done, begin| {
                // The job was expected to be short: what its first chunks have taken decides now. Once is enough, since
                // `spinning_only` ends here.
                if spinning_only && let Some(rest) = worth_waking(begin.elapsed(), done, || job.unclaimed()) {
                    let wanted = threads_for(rest, TUNING.work_per_woken).min(most).saturating_sub(offered);
                    offered += shared.offer(&job, wanted, wake_for(rest));
                    spinning_only = false;
                }
            });
        }
        let is_shared = job.joined() > usize::from(join);
        shared.wait(&job);
        shared.unlist(&job);
        let busy = job.busy();
        // After the job: no lock is held while chunks run.
        self.burst.lock().ended(busy, is_shared);
        assert!(!job.failed(), "a part of a launch failed");
        busy
    }

    /// Whether launches have had all cores at some moment since then, by the [`Clock`] that the pool was made with.
    pub fn had_all_cores(&self, since: u64) -> bool {
        self.shared.had_all_cores(since)
    }

    /// Spins for at most `time`, until `done` holds or there is a job of this queue that has a free slot and whose
    /// owner is on another core: then runs chunks of it until none is left. Returns whether either happened.
    ///
    /// A thread that `may_migrate` leaves the core of the last job's owner: else it would be woken there again, and
    /// wait for the thread that it is to assist.
    pub fn assist(&self, queue: u64, done: &dyn Fn() -> bool, may_migrate: bool, time: Duration) -> bool {
        if queue == 0 || !self.alive() {
            return spin(time, done);
        }
        if may_migrate {
            let (owner, core) = {
                let burst = self.burst.lock();
                (burst.owner, burst.core)
            };
            // A thread that launches and waits in turn is the owner itself, and has no reason to leave its core.
            if owner != thread::current().id() {
                self.shared.stay_off(core);
            }
        }
        self.shared.assist(queue, done, time)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Before the workers are unparked: a worker that wakes up looks at the flag.
        self.shared.stop();
        if self.process != std::process::id() {
            // The threads do not exist here, and joining would wait for ever.
            return self.workers.drain(..).for_each(std::mem::forget);
        }
        self.workers.iter().for_each(|w| w.thread().unpark());
        for worker in self.workers.drain(..) {
            // A worker never panics: a job catches what its work throws.
            let _ = worker.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::mailbox::Mode;
    use super::*;
    use cloom_hal::lock::Condvar;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    fn pool_of(threads: usize) -> Pool {
        Pool::new(threads, threads.max(2), None, Clock::new())
    }

    const UNKNOWN: Duration = Duration::MAX;

    struct Count(Vec<AtomicU64>);

    impl Work for Count {
        fn run(&self, chunk: u64) {
            self.0[chunk as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    struct Nothing;

    impl Work for Nothing {
        fn run(&self, _: u64) {}
    }

    #[test]
    fn every_chunk_runs_exactly_once_for_many_owners() {
        let pool = pool_of(4);
        thread::scope(|s| {
            for caller in 0..4 {
                let pool = &pool;
                s.spawn(move || {
                    for round in 0..200u64 {
                        let n = 1 + (round * 7 + caller) % 50;
                        let expected = [Duration::ZERO, TUNING.solo_time, TUNING.long_job, UNKNOWN][round as usize % 4];
                        let count = Count((0..n).map(|_| AtomicU64::new(0)).collect());
                        pool.run(&count, n, round % 3 != 0, 0, expected);
                        assert!(count.0.iter().all(|c| c.load(Ordering::Relaxed) == 1));
                    }
                });
            }
        });
    }

    #[test]
    fn a_chunk_that_fails_fails_its_job_when_all_others_are_done() {
        struct Fails(Count);
        impl Work for Fails {
            fn run(&self, chunk: u64) {
                self.0.run(chunk);
                assert_ne!(chunk % 10, 3, "expected in this test");
            }
        }
        let pool = pool_of(3);
        for join in [true, false] {
            let work = Fails(Count((0..40).map(|_| AtomicU64::new(0)).collect()));
            let ran = catch_unwind(AssertUnwindSafe(|| pool.run(&work, 40, join, 0, UNKNOWN)));
            assert!(ran.is_err() && work.0.0.iter().all(|c| c.load(Ordering::Relaxed) == 1));
        }
        let count = Count((0..40).map(|_| AtomicU64::new(0)).collect());
        pool.run(&count, 40, false, 0, UNKNOWN);
        assert!(count.0.iter().all(|c| c.load(Ordering::Relaxed) == 1));
    }

    #[test]
    fn a_caller_that_does_not_join_leaves_the_work_to_the_workers() {
        struct Where(Mutex<Vec<ThreadId>>);
        impl Work for Where {
            fn run(&self, _: u64) {
                self.0.lock().push(thread::current().id());
            }
        }
        let pool = pool_of(1);
        let work = Where(Mutex::new(Vec::new()));
        pool.run(&work, 3, false, 0, UNKNOWN);
        let seen = work.0.into_inner();
        assert!(seen.len() == 3 && !seen.contains(&thread::current().id()));
    }

    /// Chunks that wait, some seconds, until so many of them run at a time.
    struct Together {
        wanted: usize,
        inside: Mutex<Vec<ThreadId>>,
        changed: Condvar,
    }

    impl Together {
        fn new(wanted: usize) -> Together {
            Together { wanted, inside: Mutex::default(), changed: Condvar::new() }
        }
    }

    impl Work for Together {
        fn run(&self, _: u64) {
            let mut inside = self.inside.lock();
            inside.push(thread::current().id());
            self.changed.notify_all();
            let end = Instant::now() + Duration::from_secs(10);
            while inside.len() < self.wanted && Instant::now() < end {
                (inside, _) = self.changed.wait_for(inside, Duration::from_secs(1));
            }
        }
    }

    #[test]
    fn a_thread_that_waits_takes_the_place_of_a_worker_that_does_not_come() {
        let pool = pool_of(2);
        let (held, shared) = (Together::new(3), Together::new(2));
        thread::scope(|s| {
            // The only worker is held up until the third thread arrives in the first job.
            s.spawn(|| pool.run(&held, 2, true, 1, UNKNOWN));
            let mut inside = held.inside.lock();
            while inside.len() < 2 {
                inside = held.changed.wait(inside);
            }
            drop(inside);
            let waiting = s.spawn(|| {
                if let Some(cores) = &pool.shared.cores {
                    cores.keep_off(cores::this_thread(), 0);
                }
                let begin = Instant::now();
                std::iter::repeat_with(|| pool.assist(9, &|| false, false, TUNING.spin_time))
                    .take_while(|_| begin.elapsed() < Duration::from_secs(10))
                    .any(|came| came)
            });
            if let Some(cores) = &pool.shared.cores {
                cores.keep_off(cores::this_thread(), 1);
            }
            pool.run(&shared, 2, true, 9, UNKNOWN);
            assert!(waiting.join().unwrap(), "the thread found nothing to help with");
            held.run(2);
        });
        let threads = shared.inside.into_inner();
        assert!(threads.len() == 2 && threads[0] != threads[1], "one thread ran both chunks");
    }

    #[test]
    fn an_owner_does_not_wait_for_a_thread_that_has_not_begun() {
        let shared = Shared::new(1, None, 2, Clock::new());
        // A worker that spins and has lost its core: it is offered the job and does not come.
        shared.mailboxes[0].enter(0);
        let work: &'static Count = Box::leak(Box::new(Count((0..9).map(|_| AtomicU64::new(0)).collect())));
        let job = Arc::new(Job::new(work, 9, 2, 1));
        shared.list(&job);
        assert_eq!(shared.offer(&job, 1, Wake::Nobody), 1);
        assert!(job.join());
        shared.run(&job, |_, _| ());
        shared.wait(&job);
        shared.unlist(&job);
        assert!(work.0.iter().all(|c| c.load(Ordering::Relaxed) == 1));
        // When it comes, there is nothing left.
        assert!(shared.mailboxes[0].leave().is_some_and(|late| !late.is_open()));
    }

    #[test]
    fn no_more_threads_work_on_a_job_than_the_pool_was_made_for() {
        for threads in [1, 2] {
            let (pool, job, over) = (pool_of(threads), Together::new(threads), AtomicBool::new(false));
            thread::scope(|s| {
                for _ in 0..3 {
                    s.spawn(|| {
                        while !over.load(Ordering::Relaxed) {
                            pool.assist(9, &|| over.load(Ordering::Relaxed), false, TUNING.spin_time);
                        }
                    });
                }
                pool.run(&job, 1000, true, 9, UNKNOWN);
                over.store(true, Ordering::Relaxed);
            });
            let mut seen = job.inside.into_inner();
            seen.sort_by_key(|id| format!("{id:?}"));
            seen.dedup();
            assert_eq!(seen.len(), threads);
        }
    }

    #[test]
    fn no_worker_is_woken_for_a_short_job() {
        let pool = pool_of(4);
        let stays_asleep = || {
            let work = Together::new(1);
            while pool.shared.mailboxes.iter().any(|m| m.mode() != Mode::Asleep) {
                thread::yield_now();
            }
            pool.run(&work, 5, true, 0, TUNING.long_job - Duration::from_nanos(1));
            let seen = work.inside.into_inner();
            assert!(seen.len() == 5 && seen.iter().all(|&id| id == thread::current().id()));
            pool.shared.mailboxes.iter().all(|m| m.mode() == Mode::Asleep)
        };
        // A worker may also wake by itself: a parked thread may do so at any time.
        assert!((0..20).any(|_| stays_asleep()), "it is woken each time");
    }

    #[test]
    fn as_many_threads_are_offered_a_job_as_are_wanted() {
        let pool = pool_of(8);
        for wanted in [0, 1, 5, 7, 9] {
            while pool.shared.mailboxes.iter().any(|m| m.mode() != Mode::Asleep) {
                thread::yield_now();
            }
            // No chunk is left: those that come go again.
            let job = Arc::new(Job::new(&Nothing, 1, 8, 0));
            job.run(|_, _| ());
            assert_eq!(pool.shared.offer(&job, wanted, Wake::Nobody), 0, "they sleep");
            assert_eq!(pool.shared.offer(&job, wanted, Wake::Everybody), wanted.min(7));
        }
    }

    #[test]
    fn a_thread_whose_core_others_want_is_woken_only_for_long_jobs() {
        // On one core, every thread's core is wanted by the asking thread.
        let pool = Pool::new(3, 1, None, Clock::new());
        while pool.shared.mailboxes.iter().any(|m| m.mode() != Mode::Asleep) {
            thread::yield_now();
        }
        let job = Arc::new(Job::new(&Nothing, 1, 8, 0));
        job.run(|_, _| ());
        assert_eq!(pool.shared.offer(&job, 2, wake_for(TUNING.contended_long_job - Duration::from_nanos(1))), 0);
        assert_eq!(pool.shared.offer(&job, 2, wake_for(TUNING.contended_long_job)), 2);
        // What the owner does not run itself has to be run by somebody.
        let count = Count((0..3).map(|_| AtomicU64::new(0)).collect());
        pool.run(&count, 3, false, 0, Duration::ZERO);
        assert!(count.0.iter().all(|c| c.load(Ordering::Relaxed) == 1));
    }

    #[test]
    fn a_long_burst_of_short_jobs_wakes_workers() {
        let mut burst = Burst { owner: thread::current().id(), core: -1, end: Instant::now(), alone: Duration::ZERO };
        let mut jobs = |rest: bool, shared: &[bool]| {
            let mut job = |&shared: &bool| {
                burst.ended(TUNING.burst_time / 3 + TUNING.work_per_spinning, shared);
                let ago = Instant::now().checked_sub(2 * TUNING.spin_time).expect("the machine has run for longer");
                // No other time counts.
                burst.end = if rest { ago } else { Instant::now() + TUNING.spin_time };
                burst.is_long()
            };
            shared.iter().map(&mut job).collect::<Vec<bool>>()
        };
        assert_eq!(jobs(false, &[false; 5]), [false, false, true, true, true]);
        assert_eq!(jobs(false, &[true, false, false, false]), [false, false, false, true]);
        assert_eq!(jobs(true, &[false; 5]), [false; 5]);
    }

    #[test]
    fn the_work_says_how_many_threads_are_asked() {
        let us = Duration::from_micros;
        assert_eq!(threads_for(us(100), TUNING.work_per_woken), 6);
        assert_eq!(threads_for(us(3), TUNING.work_per_spinning), 1);
        assert!(threads_for(Duration::MAX, TUNING.work_per_woken) > 1000);
    }

    #[test]
    fn a_thread_that_may_migrate_leaves_the_core_of_the_owner() {
        let pool = pool_of(2);
        if pool.shared.cores.is_none() {
            return;
        }
        let moves = || {
            let before = cores::here();
            (pool.burst.lock().owner, pool.burst.lock().core) = (pool.workers[0].thread().id(), before);
            pool.assist(1, &|| true, true, TUNING.spin_time);
            before != cores::here()
        };
        // The system may move it too, in between.
        let moved = thread::scope(|s| s.spawn(|| (0..100).filter(|_| moves()).count()).join().unwrap());
        assert!(moved > 90, "{moved} times of 100");
    }

    #[test]
    fn a_pool_ends_while_its_workers_sleep() {
        let pool = pool_of(3);
        thread::sleep(Duration::from_millis(5));
        drop(pool);
    }
}
