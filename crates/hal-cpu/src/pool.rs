//! A pool of threads that share the chunks of a job with the thread that brings it.
//!
//! A job is a counter of chunks, which are taken from both ends: by threads on even cores from the first on, by the others from the last.
//! Kernels that follow each other work on the same data mostly, and a core finds its part of them in its own cache again, whichever thread
//! runs on it. The bringing thread lists the job, sees to it that as many threads come as there is work for, takes
//! chunks itself, and leaves when every chunk is done. Several threads may bring jobs at once; workers take the oldest first. Idle
//! workers look for work for a moment before they sleep, because kernels come in rows.
//!
//! To wake a thread takes as long as many a job, above all where cores sleep deeply; and it may wake behind the thread that wakes it
//! ([`crate::cores`]). So threads that wait for a job's end in any case look for it and help, if they have another core than its owner, and
//! workers are only woken in place of those that do not look. No more threads than the pool was made for work on a job, whoever comes
//! first.

use crate::cores::{self, Cores};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle, Thread, ThreadId};
use std::time::{Duration, Instant};

/// What runs a chunk of a job.
pub trait Work: Send + Sync {
    /// Runs one chunk on this thread.
    fn run(&self, chunk: u64);
}

/// Kernels may use this much stack for private memory; pages cost nothing until touched.
pub const WORKER_STACK: usize = 64 << 20;
/// A thread looks so many times before it sleeps: some 50 microseconds.
const SPIN: u32 = 2000;
/// And so many times if it waits for something that is under way: as long as it takes to wake a thread, which may be what it waits for.
const LOOKS: u32 = 2500;
/// And so many times for those that are awake to come to its job: some 4 microseconds.
const AWAIT: u32 = 100;
/// One of so many looks lets others have the core, which may be those that are waited for: without, they wait for the clock to tick.
const YIELD: u32 = 32;

/// Looks so many times whether something is so.
fn look(times: u32, mut is_so: impl FnMut() -> bool) -> bool {
    (0..times).any(|looks| {
        match looks.is_multiple_of(YIELD) {
            true => thread::yield_now(),
            false => std::hint::spin_loop(),
        }
        is_so()
    })
}

/// Looks for a moment whether something is done.
pub fn wait(done: &dyn Fn() -> bool) -> bool {
    look(LOOKS, done)
}

/// When a thread that works asks for others.
#[derive(Clone, Copy, Default)]
pub struct Patience {
    /// After so long,
    pub alone: Duration,
    /// if what is left will take as long as this.
    pub rest: Duration,
}

impl Patience {
    /// Whether it is over after this time, in which so many things were done and so many were left.
    pub fn is_over(self, time: Duration, done: u64, left: u64) -> bool {
        let rest = u128::from(left) * time.as_nanos() / u128::from(done.max(1));
        time >= self.alone && rest >= self.rest.as_nanos()
    }
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
    wake: Condvar,
    /// Counts jobs listed, so that a spinning worker notices one without the lock.
    listed: AtomicU64,
    /// Jobs that end before this count: there is none under way if it is `listed`.
    unlisted: AtomicU64,
    stop: AtomicBool,
    /// The threads that look for jobs of a stream, and their cores.
    lookers: Mutex<Vec<(u64, i32)>>,
    /// The thread from which the last job came, and its core.
    owner: Mutex<(ThreadId, i32)>,
    /// Where each worker slept last.
    beds: Vec<Bed>,
    cores: Option<Cores>,
}

/// Where a worker sleeps: its name to the system, and its core.
struct Bed {
    thread: AtomicI32,
    core: AtomicI32,
}

struct Job {
    work: &'static dyn Work,
    chunks: u64,
    /// How many are taken from either end: from the last one in the upper half.
    taken: AtomicU64,
    done: AtomicU64,
    owner: Thread,
    /// Which waiting threads may help; 0: none.
    stream: u64,
    /// The owner's core.
    core: i32,
    /// How many more threads may work on it.
    places: AtomicUsize,
}

/// Where the upper half of a counter begins, and the lower half of it.
const HALF: u32 = 32;
const LOWER: u64 = (1 << HALF) - 1;

impl Job {
    /// Takes and runs chunks until none is left, if there is a place. It stays taken: who leaves found no chunk.
    fn help(&self) -> bool {
        let (place, last) = (self.take_place(), Job::from_last());
        if place {
            while self.run_one(last) {}
        }
        place
    }

    fn take_place(&self) -> bool {
        self.places.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
    }

    /// Whether this thread takes chunks from the last one on.
    fn from_last() -> bool {
        cores::here() % 2 == 1
    }

    /// Takes and runs a chunk, if one is left.
    fn run_one(&self, last: bool) -> bool {
        // Those who find nothing count too, but once each.
        let taken = self.taken.fetch_add(if last { 1 << HALF } else { 1 }, Ordering::Relaxed);
        let (first, from_last) = (taken & LOWER, taken >> HALF);
        if first + from_last >= self.chunks {
            return false;
        }
        self.work.run(if last { self.chunks - 1 - from_last } else { first });
        if self.done.fetch_add(1, Ordering::AcqRel) + 1 == self.chunks {
            self.owner.unpark();
        }
        true
    }

    /// The chunks that nobody has taken.
    fn left(&self) -> u64 {
        let taken = self.taken.load(Ordering::Relaxed);
        self.chunks.saturating_sub((taken & LOWER) + (taken >> HALF))
    }

    fn open(&self) -> bool {
        self.left() > 0 && self.places.load(Ordering::Relaxed) > 0
    }

    fn finished(&self) -> bool {
        self.done.load(Ordering::Acquire) == self.chunks
    }
}

impl Pool {
    /// A pool in which `threads` threads work on a job, the one that brings it included. There is always one worker, for
    /// jobs that need its stack.
    pub fn new(threads: usize) -> Pool {
        let shared = Arc::new(Shared {
            jobs: Mutex::new(Vec::new()),
            wake: Condvar::new(),
            listed: AtomicU64::new(0),
            unlisted: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            lookers: Mutex::default(),
            owner: Mutex::new((thread::current().id(), -1)),
            beds: (1..threads.max(2)).map(|_| Bed { thread: AtomicI32::new(0), core: AtomicI32::new(-1) }).collect(),
            cores: Cores::allowed(),
        });
        let workers = (0..shared.beds.len())
            .filter_map(|i| {
                let shared = shared.clone();
                // A thread that the system refuses is one worker less; with none, the bringing thread does all.
                let builder = thread::Builder::new().name(format!("cloom-{i}")).stack_size(WORKER_STACK);
                builder.spawn(move || shared.work(i)).ok()
            })
            .collect();
        Pool { shared, workers, threads: threads.max(1), process: std::process::id() }
    }

    /// Whether there are workers: not in a child after `fork`, where threads do not survive.
    pub fn alive(&self) -> bool {
        !self.workers.is_empty() && self.process == std::process::id()
    }

    /// Runs chunks `0..chunks` and returns when all are done. With `join` false the calling thread only waits, and workers alone
    /// run chunks; else threads that wait for this `stream` may [help](Pool::help), and no worker is woken before the calling thread has
    /// worked for as long as `patience` says, and then only if what is left will take it so much longer.
    pub fn run(&self, work: &dyn Work, chunks: u64, join: bool, stream: u64, patience: Patience) {
        if !self.alive() || (chunks == 1 && join) {
            (0..chunks).for_each(|c| work.run(c));
            return;
        }
        debug_assert!(chunks < 1 << (HALF - 1), "some chunks for each thread");
        // SAFETY: the reference is used only by threads that took a chunk below `chunks`, and this function does not return
        // before all of these are done. A worker that still holds the job afterwards only reads its counters.
        let work: &'static dyn Work = unsafe { std::mem::transmute::<&dyn Work, &'static dyn Work>(work) };
        let job = Arc::new(Job {
            work,
            chunks,
            taken: AtomicU64::new(0),
            done: AtomicU64::new(0),
            owner: thread::current(),
            stream: if join { stream } else { 0 },
            core: cores::here(),
            places: AtomicUsize::new(self.threads),
        });
        *self.shared.owner.lock() = (job.owner.id(), job.core);
        self.shared.jobs.lock().push(job.clone());
        self.shared.listed.fetch_add(1, Ordering::Release);
        let joined = join && job.take_place();
        let last = Job::from_last();
        if !joined || patience.alone.is_zero() {
            self.call(&job, joined);
        } else {
            let (begin, mut run) = (Instant::now(), 0);
            while job.run_one(last) {
                run += 1;
                if job.open() && patience.is_over(begin.elapsed(), run, job.left()) {
                    self.call(&job, joined);
                    break;
                }
            }
        }
        while joined && job.run_one(last) {}
        let arrived = || job.places.load(Ordering::Relaxed) + usize::from(joined) < self.threads;
        // The first look lets others have the core. Who was to come and did not waits there perhaps, and then moves away.
        let over = job.finished() && arrived();
        if !over && !look(SPIN, || job.finished()) {
            while !job.finished() {
                thread::park();
            }
        }
        self.shared.jobs.lock().retain(|j| !Arc::ptr_eq(j, &job));
        self.shared.unlisted.fetch_add(1, Ordering::Relaxed);
    }

    /// Sees to it that threads come to a job that has just been listed, or on which only its owner works.
    fn call(&self, job: &Job, joined: bool) {
        let places = (self.threads - usize::from(joined)).min(self.workers.len());
        let left = job.left().saturating_sub(u64::from(joined));
        // To wake a thread takes as long as a good part of many a launch: those that look already come first.
        let helpers = left.min(places.saturating_sub(self.arrived(job, joined)) as u64);
        if helpers > 0 {
            self.shared.move_away(job.core);
        }
        for _ in 0..helpers {
            self.shared.wake.notify_one();
        }
    }

    /// How many of those that look for this job have found it. Who looks does so some times in a microsecond, unless its core was taken
    /// from it: nobody waits for such a one.
    fn arrived(&self, job: &Job, joined: bool) -> usize {
        let look = |l: &&(u64, i32)| l.0 == job.stream && l.1 != job.core;
        let awake = if job.stream == 0 { 0 } else { self.shared.lookers.lock().iter().filter(look).count() };
        let arrived = || self.threads - usize::from(joined) - job.places.load(Ordering::Relaxed);
        let mut looks = 0;
        while arrived() < awake.min(self.threads - 1) && looks < AWAIT {
            looks += 1;
            std::hint::spin_loop();
        }
        arrived()
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
            let (owner, core) = *shared.owner.lock();
            if owner != thread::current().id() {
                shared.stay_off(core);
            }
        }
        let here = cores::here();
        shared.lookers.lock().push((stream, here));
        let (mut found, mut in_the_way) = (None, false);
        let came = look(LOOKS, || {
            if shared.listed.load(Ordering::Relaxed) != shared.unlisted.load(Ordering::Relaxed) {
                // Those that bring and take jobs come first.
                let jobs = shared.jobs.try_lock();
                let job = jobs.and_then(|jobs| jobs.iter().find(|j| j.stream == stream && j.open()).cloned());
                // Here it would only take time from its owner.
                in_the_way = job.as_ref().is_some_and(|j| j.core >= 0 && j.core == cores::here());
                found = job.filter(|_| !in_the_way);
            }
            found.is_some() || in_the_way || done()
        });
        let mut lookers = shared.lookers.lock();
        if let Some(at) = lookers.iter().position(|l| *l == (stream, here)) {
            lookers.swap_remove(at);
        }
        drop(lookers);
        if in_the_way {
            return false;
        }
        // If others have taken all places meanwhile, there is nothing left to look for but the end.
        found.map_or(came, |job| job.help() || done())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if self.process != std::process::id() {
            // The threads do not exist here, and joining would wait for ever.
            return self.workers.drain(..).for_each(std::mem::forget);
        }
        // The lock orders the flag before the look of a worker that is about to sleep.
        drop(self.shared.jobs.lock());
        self.shared.wake.notify_all();
        for worker in self.workers.drain(..) {
            // A worker never panics: work does not unwind.
            let _ = worker.join();
        }
    }
}

impl Shared {
    /// Keeps workers that sleep on a core off it.
    fn move_away(&self, core: i32) {
        let Some(cores) = &self.cores else { return };
        for bed in self.beds.iter().filter(|b| core >= 0 && b.core.load(Ordering::Relaxed) == core) {
            cores.keep_off(bed.thread.load(Ordering::Relaxed), core);
            // Once is enough: it wakes elsewhere.
            bed.core.store(-1, Ordering::Relaxed);
        }
    }

    /// Moves this thread away from a core.
    fn stay_off(&self, core: i32) {
        if let Some(cores) = self.cores.as_ref().filter(|_| core >= 0 && core == cores::here()) {
            cores.keep_off(cores::this_thread(), core);
        }
    }

    fn work(&self, worker: usize) {
        let bed = &self.beds[worker];
        bed.thread.store(cores::this_thread(), Ordering::Relaxed);
        loop {
            let seen = self.listed.load(Ordering::Acquire);
            let job = self.jobs.lock().iter().find(|j| j.open()).cloned();
            if let Some(job) = &job {
                self.stay_off(job.core);
            }
            if job.is_some_and(|job| job.help()) {
                continue;
            }
            if self.stop.load(Ordering::Acquire) {
                return;
            }
            let fresh = || self.listed.load(Ordering::Acquire) != seen || self.stop.load(Ordering::Acquire);
            if look(SPIN, fresh) {
                continue;
            }
            bed.core.store(cores::here(), Ordering::Relaxed);
            let mut jobs = self.jobs.lock();
            while !jobs.iter().any(|j| j.open()) && !self.stop.load(Ordering::Acquire) {
                self.wake.wait(&mut jobs);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                        let patience =
                            Patience { alone: Duration::from_nanos(round % 2 * 1000), ..Patience::default() };
                        let count = Count((0..n).map(|_| AtomicU64::new(0)).collect());
                        pool.run(&count, n, round % 3 != 0, 0, patience);
                        assert!(count.0.iter().all(|c| c.load(Ordering::Relaxed) == 1));
                    }
                });
            }
        });
    }

    #[test]
    fn a_caller_that_does_not_join_leaves_the_work_to_the_workers() {
        struct Where(Mutex<Vec<thread::ThreadId>>);
        impl Work for Where {
            fn run(&self, _: u64) {
                self.0.lock().push(thread::current().id());
            }
        }
        let pool = Pool::new(1);
        let work = Where(Mutex::new(Vec::new()));
        pool.run(&work, 3, false, 0, Patience::default());
        let seen = work.0.into_inner();
        assert!(seen.len() == 3 && !seen.contains(&thread::current().id()));
    }

    /// Chunks that wait, some seconds, until so many of them run at a time.
    struct Together {
        wanted: usize,
        inside: Mutex<Vec<thread::ThreadId>>,
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
            self.changed.wait_while_for(&mut inside, |i| i.len() < self.wanted, std::time::Duration::from_secs(10));
        }
    }

    #[test]
    fn a_thread_that_waits_takes_the_place_of_a_worker_that_does_not_come() {
        let pool = Pool::new(2);
        let (held, shared) = (Together::new(3), Together::new(2));
        thread::scope(|s| {
            // The only worker is held up until the third thread arrives in the first job.
            s.spawn(|| pool.run(&held, 2, true, 1, Patience::default()));
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
            pool.run(&shared, 2, true, 9, Patience::default());
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
                pool.run(&job, 1000, true, 9, Patience::default());
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
        let (short, long) = (Duration::from_nanos(1), Duration::from_secs(60));
        for (alone, rest) in [(long, Duration::ZERO), (short, long)] {
            let asleep = || pool.shared.beds.iter().all(|b| b.core.load(Ordering::Relaxed) != -1);
            while pool.shared.cores.is_some() && !asleep() {
                thread::yield_now();
            }
            thread::sleep(Duration::from_millis(5));
            pool.run(&work, 5, true, 0, Patience { alone, rest });
        }
        let seen = work.inside.into_inner();
        assert!(seen.len() == 10 && seen.iter().all(|&id| id == thread::current().id()));
    }

    #[test]
    fn a_thread_that_may_be_moved_leaves_the_core_of_who_brings_jobs() {
        let pool = Pool::new(2);
        if pool.shared.cores.is_none() {
            return;
        }
        let moves = || {
            let before = cores::here();
            *pool.shared.owner.lock() = (pool.workers[0].thread().id(), before);
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
        thread::sleep(std::time::Duration::from_millis(5));
        drop(pool);
    }
}
