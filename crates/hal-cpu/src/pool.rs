//! A pool of threads that share the chunks of a [job] with the thread that brings it.
//!
//! Kernels come in rows, so that threads look for the next job for a moment before they sleep. Who brings a job offers it to those that
//! look, each in a [seat] of its own, which costs next to nothing; works on it; and wakes sleeping threads only if what is left is worth
//! it: to wake one takes as long as many a job, above all where cores sleep deeply, and it may wake behind the thread that wakes it
//! ([`crate::cores`]). So threads that wait for a job's end in any case are asked first, if they have another core than its owner. How many
//! are asked follows from the time that the job will take. Several threads may bring jobs at once; who is free again takes the oldest.

mod job;
mod seat;

use crate::cores::{self, Cores};
use cloom_hal::TUNING;
use job::Job;
use parking_lot::Mutex;
use seat::{Mode, Seat};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::{Duration, Instant};

/// What runs a chunk of a job.
pub trait Work: Send + Sync {
    /// Runs one chunk on this thread.
    fn run(&self, chunk: u64);
}

/// Looks for a time whether something is so.
fn look(time: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    loop {
        thread::yield_now();
        for _ in 0..TUNING.spins_per_yield {
            if is_so() {
                return true;
            }
            std::hint::spin_loop();
        }
        if begin.elapsed() >= time {
            return is_so();
        }
    }
}

/// Looks for a moment whether something is done.
pub fn wait(done: &dyn Fn() -> bool) -> bool {
    look(TUNING.spin_time, done)
}

/// Whether it is time to ask for help after this time, in which so many things were done and so many were left: then gives how long these
/// take one thread.
pub fn worth_help(time: Duration, done: u64, left: impl FnOnce() -> u64) -> Option<Duration> {
    if time < TUNING.solo_time {
        return None;
    }
    let rest = u128::from(left()).saturating_mul(time.as_nanos()) / u128::from(done.max(1));
    let rest = Duration::from_nanos(u64::try_from(rest).unwrap_or(u64::MAX));
    (rest >= TUNING.wake_min_rest).then_some(rest)
}

/// How many threads share a time if each is to get as much as this.
fn share(time: Duration, each: Duration) -> usize {
    usize::try_from(time.as_nanos() / each.as_nanos()).unwrap_or(usize::MAX)
}

/// The threads.
pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    threads: usize,
    process: u32,
}

struct Shared {
    jobs: Mutex<Vec<Arc<Job>>>,
    /// How many jobs there are that have chunks to take, so that nobody looks for one in vain.
    open: AtomicUsize,
    stop: AtomicBool,
    /// Each worker's seat.
    seats: Vec<Seat>,
    lookers: Mutex<Lookers>,
    last: Mutex<Last>,
    cores: Option<Cores>,
}

/// The last job.
struct Last {
    owner: ThreadId,
    /// The owner's core.
    core: i32,
    /// When it ended.
    end: Instant,
    /// What it and those before it in a row took, of which nobody came to share any.
    alone: Duration,
}

impl Last {
    /// Whether what followed each other without a rest until now was enough work without help.
    fn is_enough(&mut self) -> bool {
        if self.end.elapsed() > TUNING.spin_time {
            self.alone = Duration::ZERO;
        }
        self.alone >= TUNING.burst_time
    }

    /// A job ended that took so long, and somebody came to share it or not.
    fn ended(&mut self, time: Duration, shared: bool) {
        self.end = Instant::now();
        self.alone = if shared { Duration::ZERO } else { self.alone.saturating_add(time) };
    }
}

/// The seats of threads that wait for the end of a stream's commands.
#[derive(Default)]
struct Lookers {
    taken: Vec<Arc<Seat>>,
    free: Vec<Arc<Seat>>,
}

impl Pool {
    /// A pool in which `threads` threads work on a job, the one that brings it included. There is always one worker, for
    /// jobs that need its stack.
    pub fn new(threads: usize) -> Pool {
        let shared = Arc::new(Shared {
            jobs: Mutex::new(Vec::new()),
            open: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            seats: (1..threads.max(2)).map(|_| Seat::new()).collect(),
            lookers: Mutex::default(),
            last: Mutex::new(Last {
                owner: thread::current().id(),
                core: -1,
                end: Instant::now(),
                alone: Duration::ZERO,
            }),
            cores: Cores::allowed(),
        });
        let workers = (0..shared.seats.len())
            .filter_map(|i| {
                let shared = shared.clone();
                // A thread that the system refuses is one worker less; with none, the bringing thread does all.
                let builder = thread::Builder::new().name(format!("cloom-{i}")).stack_size(TUNING.worker_stack);
                builder.spawn(move || shared.work(&shared.seats[i])).ok()
            })
            .collect();
        Pool { shared, workers, threads: threads.max(1), process: std::process::id() }
    }

    /// Whether there are workers: not in a child after `fork`, where threads do not survive.
    pub fn alive(&self) -> bool {
        !self.workers.is_empty() && self.process == std::process::id()
    }

    /// Runs chunks `0..chunks` and returns when all are done, and what time they took all threads together. With `join` false the calling
    /// thread only waits, and workers alone run chunks; else threads that wait for this `stream` may [help](Pool::help). How many threads
    /// come is a matter of the time that it takes one thread, as far as is known: `Duration::MAX` if it is not. A panic in a chunk
    /// is one of this function, when all others are done.
    pub fn run(&self, work: &dyn Work, chunks: u64, join: bool, stream: u64, expected: Duration) -> Duration {
        if !self.alive() || (chunks == 1 && join) {
            let begin = Instant::now();
            (0..chunks).for_each(|c| work.run(c));
            return begin.elapsed();
        }
        // SAFETY: the reference is used only by threads that took a chunk below `chunks`, and this function does not return
        // before all of these are done. A worker that still holds the job afterwards only reads its counters.
        let work: &'static dyn Work = unsafe { std::mem::transmute::<&dyn Work, &'static dyn Work>(work) };
        let job = Arc::new(Job::new(work, chunks, self.threads, if join { stream } else { 0 }));
        let shared = &*self.shared;
        let row_is_enough = {
            let mut last = shared.last.lock();
            (last.owner, last.core) = (job.owner.id(), job.core);
            last.is_enough()
        };
        {
            let mut jobs = shared.jobs.lock();
            // Who finds it in the list may be the one to count it as closed.
            shared.open.fetch_add(1, Ordering::SeqCst);
            jobs.push(job.clone());
        }
        let most = chunks.min(self.threads as u64) as usize - usize::from(join);
        let mut awake_only = join && expected < TUNING.long_job;
        let wanted =
            share(expected, if awake_only { TUNING.work_per_spinning } else { TUNING.work_per_woken }).max(1).min(most);
        let mut asked = shared.ask(&job, wanted, !awake_only);
        if asked == 0 && awake_only && row_is_enough {
            asked = shared.ask(&job, wanted, true);
        }
        if join && job.take_place() {
            shared.run(&job, |done, begin| {
                if awake_only && let Some(rest) = worth_help(begin.elapsed(), done, || job.left()) {
                    asked += shared.ask(&job, share(rest, TUNING.work_per_woken).min(most).saturating_sub(asked), true);
                    awake_only = false;
                }
            });
        }
        // Who was asked to come and did not waits for this core perhaps, and then moves away.
        let shares = job.comers() > usize::from(join);
        if job.finished() && !shares {
            thread::yield_now();
        }
        if !job.finished() && !look(TUNING.spin_time, || job.finished()) {
            while !job.finished() {
                thread::park();
            }
        }
        shared.jobs.lock().retain(|j| !Arc::ptr_eq(j, &job));
        let busy = job.busy();
        shared.last.lock().ended(busy, shares);
        assert!(!job.failed(), "a part of a launch failed");
        busy
    }

    /// Looks for a moment until `done` says so, or until there is a job of this stream that has a place and whose owner has another
    /// core: then runs chunks of it until none is left. Says whether something came of it. A thread that is `movable` leaves the core from
    /// which jobs come: it would be woken there again, behind the very thread that it is to help.
    pub fn help(&self, stream: u64, done: &dyn Fn() -> bool, movable: bool) -> bool {
        let shared = &*self.shared;
        if stream == 0 || !self.alive() {
            return wait(done);
        }
        if movable {
            let (owner, core) = {
                let last = shared.last.lock();
                (last.owner, last.core)
            };
            if owner != thread::current().id() {
                shared.stay_off(core);
            }
        }
        let seat = shared.sit(stream);
        let listed = shared.open_job(|j| j.stream == stream);
        let came = listed.is_some() || look(TUNING.spin_time, || seat.filled() || done());
        let came = match seat.leave().or(listed) {
            // Here it would only take time from its owner.
            Some(job) if job.core >= 0 && job.core == cores::here() => false,
            Some(job) if !done() && job.take_place() => {
                shared.run(&job, |_, _| ());
                true
            }
            // If others have taken all places meanwhile, there is nothing left to look for but the end.
            Some(_) => done(),
            None => came,
        };
        shared.get_up(seat);
        came
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
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

impl Shared {
    /// Asks so many threads to come to a job: those that look for jobs and, if wished, those that sleep. How many were there.
    fn ask(&self, job: &Arc<Job>, wanted: usize, wake: bool) -> usize {
        let mut asked = 0;
        if wanted > 0 && job.stream != 0 {
            for seat in self.lookers.lock().taken.iter().filter(|s| s.stream() == job.stream) {
                // One on the owner's core is told, so that it goes, but not counted on.
                asked += usize::from(seat.offer(job, Mode::Looking) && seat.place().1 != job.core);
            }
        }
        // Always the same ones first: others may sleep deeply.
        for mode in [Mode::Looking, Mode::Asleep].into_iter().take(if wake { 2 } else { 1 }) {
            for seat in &self.seats {
                if asked >= wanted {
                    return asked;
                }
                if seat.mode() == mode {
                    if mode == Mode::Asleep {
                        self.move_away(seat, job.core);
                    }
                    asked += usize::from(seat.offer(job, mode));
                }
            }
        }
        asked
    }

    /// Keeps a worker that sits on a core off it.
    fn move_away(&self, seat: &Seat, core: i32) {
        let (thread, place) = seat.place();
        if let Some(cores) = self.cores.as_ref().filter(|_| core >= 0 && place == core) {
            cores.keep_off(thread, core);
        }
    }

    /// Moves this thread away from a core.
    fn stay_off(&self, core: i32) {
        if let Some(cores) = self.cores.as_ref().filter(|_| core >= 0 && core == cores::here()) {
            cores.keep_off(cores::this_thread(), core);
        }
    }

    /// Runs chunks of a job in which the thread has a place.
    fn run(&self, job: &Job, between: impl FnMut(u64, Instant)) {
        if job.run(between) {
            self.open.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The oldest job that has a place and chunks left.
    fn open_job(&self, wanted: impl Fn(&Job) -> bool) -> Option<Arc<Job>> {
        if self.open.load(Ordering::SeqCst) == 0 {
            return None;
        }
        self.jobs.lock().iter().find(|j| j.open() && wanted(j)).cloned()
    }

    /// A seat for a thread that waits.
    fn sit(&self, stream: u64) -> Arc<Seat> {
        let mut lookers = self.lookers.lock();
        let seat = lookers.free.pop().unwrap_or_else(|| Arc::new(Seat::new()));
        seat.sit(stream);
        lookers.taken.push(seat.clone());
        seat
    }

    /// Gives a seat back that its thread has left.
    fn get_up(&self, seat: Arc<Seat>) {
        let mut lookers = self.lookers.lock();
        lookers.taken.retain(|s| !Arc::ptr_eq(s, &seat));
        lookers.free.push(seat);
    }

    fn work(&self, seat: &Seat) {
        let stop = || self.stop.load(Ordering::Acquire);
        while !stop() {
            seat.sit(0);
            // What was listed before others could see that it looks.
            let listed = self.open_job(|_| true);
            if listed.is_none() && !look(TUNING.spin_time, || seat.filled() || stop()) {
                seat.sleep(stop);
            }
            if let Some(job) = seat.leave().or(listed) {
                self.stay_off(job.core);
                if job.take_place() {
                    self.run(&job, |_, _| ());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Condvar;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::AtomicU64;

    const UNKNOWN: Duration = Duration::MAX;

    struct Count(Vec<AtomicU64>);

    impl Work for Count {
        fn run(&self, chunk: u64) {
            self.0[chunk as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn every_chunk_runs_exactly_once_from_many_callers() {
        let pool = Pool::new(4);
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
        let pool = Pool::new(3);
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
        let pool = Pool::new(1);
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
            self.changed.wait_while_for(&mut inside, |i| i.len() < self.wanted, Duration::from_secs(10));
        }
    }

    #[test]
    fn a_thread_that_waits_takes_the_place_of_a_worker_that_does_not_come() {
        let pool = Pool::new(2);
        let (held, shared) = (Together::new(3), Together::new(2));
        thread::scope(|s| {
            // The only worker is held up until the third thread arrives in the first job.
            s.spawn(|| pool.run(&held, 2, true, 1, UNKNOWN));
            held.changed.wait_while(&mut held.inside.lock(), |i| i.len() < 2);
            let waiting = s.spawn(|| {
                if let Some(cores) = &pool.shared.cores {
                    cores.keep_off(cores::this_thread(), 0);
                }
                (0..1000).any(|_| pool.help(9, &|| false, false))
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
    fn no_more_threads_work_on_a_job_than_the_pool_was_made_for() {
        for threads in [1, 2] {
            let (pool, job, over) = (Pool::new(threads), Together::new(threads), AtomicBool::new(false));
            thread::scope(|s| {
                for _ in 0..3 {
                    s.spawn(|| {
                        while !over.load(Ordering::Relaxed) {
                            pool.help(9, &|| over.load(Ordering::Relaxed), false);
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
    fn no_worker_is_woken_for_what_is_soon_over() {
        let (pool, work) = (Pool::new(4), Together::new(1));
        while pool.shared.seats.iter().any(|s| s.mode() != Mode::Asleep) {
            thread::yield_now();
        }
        pool.run(&work, 5, true, 0, TUNING.long_job - Duration::from_nanos(1));
        let seen = work.inside.into_inner();
        assert!(seen.len() == 5 && seen.iter().all(|&id| id == thread::current().id()));
        assert!(pool.shared.seats.iter().all(|s| s.mode() == Mode::Asleep));
    }

    #[test]
    fn as_many_threads_are_asked_as_are_wanted() {
        struct Nothing;
        impl Work for Nothing {
            fn run(&self, _: u64) {}
        }
        let pool = Pool::new(8);
        for wanted in [0, 1, 5, 7, 9] {
            while pool.shared.seats.iter().any(|s| s.mode() != Mode::Asleep) {
                thread::yield_now();
            }
            // No chunk is left: those that come go again.
            let job = Arc::new(Job::new(&Nothing, 1, 8, 0));
            job.run(|_, _| ());
            assert_eq!(pool.shared.ask(&job, wanted, false), 0, "they sleep");
            assert_eq!(pool.shared.ask(&job, wanted, true), wanted.min(7));
        }
    }

    #[test]
    fn a_row_of_short_jobs_is_enough_to_wake_for() {
        let mut last = Last { owner: thread::current().id(), core: -1, end: Instant::now(), alone: Duration::ZERO };
        let mut row = |rest: bool, shared: &[bool]| {
            let mut job = |&shared: &bool| {
                last.ended(TUNING.burst_time / 3 + TUNING.work_per_spinning, shared);
                let ago = Instant::now().checked_sub(2 * TUNING.spin_time).expect("the machine has run for longer");
                // As if nothing else took time.
                last.end = if rest { ago } else { Instant::now() + TUNING.spin_time };
                last.is_enough()
            };
            shared.iter().map(&mut job).collect::<Vec<bool>>()
        };
        assert_eq!(row(false, &[false; 5]), [false, false, true, true, true]);
        assert_eq!(row(false, &[true, false, false, false]), [false, false, false, true]);
        assert_eq!(row(true, &[false; 5]), [false; 5]);
    }

    #[test]
    fn help_is_worth_its_time() {
        let us = Duration::from_micros;
        assert_eq!(worth_help(us(9), 1, || 1000), None);
        assert_eq!(worth_help(us(10), 10, || 29), None);
        assert_eq!(worth_help(us(10), 10, || 30), Some(us(30)));
        assert_eq!(worth_help(us(1000), 1, || 1), Some(us(1000)));
        assert_eq!(worth_help(Duration::MAX, 1, || u64::MAX), Some(Duration::from_nanos(u64::MAX)));
        assert_eq!(
            (
                share(us(100), TUNING.work_per_woken),
                share(us(3), TUNING.work_per_spinning),
                share(Duration::MAX, TUNING.work_per_woken) > 1000
            ),
            (6, 1, true)
        );
    }

    #[test]
    fn a_thread_that_may_be_moved_leaves_the_core_of_who_brings_jobs() {
        let pool = Pool::new(2);
        if pool.shared.cores.is_none() {
            return;
        }
        let moves = || {
            let before = cores::here();
            (pool.shared.last.lock().owner, pool.shared.last.lock().core) = (pool.workers[0].thread().id(), before);
            pool.help(1, &|| true, true);
            before != cores::here()
        };
        // The system may move it too, in between.
        let moved = thread::scope(|s| s.spawn(|| (0..100).filter(|_| moves()).count()).join().unwrap());
        assert!(moved > 90, "{moved} times of 100");
    }

    #[test]
    fn a_pool_ends_while_its_workers_sleep() {
        let pool = Pool::new(3);
        thread::sleep(Duration::from_millis(5));
        drop(pool);
    }
}
