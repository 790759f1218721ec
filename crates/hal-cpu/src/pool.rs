//! A pool of threads that share the chunks of a job with the thread that brings it.
//!
//! A job is a counter of chunks. The bringing thread lists the job, wakes as many workers as there is work for, takes chunks
//! itself, and leaves when every chunk is done. Several threads may bring jobs at
//! once; workers take the oldest first. Idle workers look for work for a moment before they sleep, because kernels come in
//! rows.
//!
//! A thread of the application that waits for a job's end may help too. It is awake and has a core, while a worker that is woken
//! in that moment may be put behind the thread that brought the job, and stay there until the job is over. No more threads than
//! the pool was made for work on a job, whoever comes first.

use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle, Thread};

/// What runs a chunk of a job.
pub trait Work: Send + Sync {
    /// Runs one chunk on this thread.
    fn run(&self, chunk: u64);
}

/// Kernels may use this much stack for private memory; pages cost nothing until touched.
pub const WORKER_STACK: usize = 64 << 20;
const SPIN: u32 = 2000;

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
}

struct Job {
    work: &'static dyn Work,
    chunks: u64,
    next: AtomicU64,
    done: AtomicU64,
    owner: Thread,
    /// Which waiting threads may help; 0: none.
    stream: u64,
    /// How many more threads may work on it.
    places: AtomicUsize,
}

impl Job {
    /// Takes and runs chunks until none is left, if there is a place. It stays taken: who leaves found no chunk.
    fn help(&self) -> bool {
        let place = self.places.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        if place.is_err() {
            return false;
        }
        loop {
            // Once the counter has passed the end it stays there: u64 does not wrap in practice.
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            if chunk >= self.chunks {
                return true;
            }
            self.work.run(chunk);
            if self.done.fetch_add(1, Ordering::AcqRel) + 1 == self.chunks {
                self.owner.unpark();
            }
        }
    }

    fn open(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.chunks && self.places.load(Ordering::Relaxed) > 0
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
        });
        let workers = (0..threads.saturating_sub(1).max(1))
            .filter_map(|i| {
                let shared = shared.clone();
                // A thread that the system refuses is one worker less; with none, the bringing thread does all.
                let builder = thread::Builder::new().name(format!("cloom-{i}")).stack_size(WORKER_STACK);
                builder.spawn(move || shared.work()).ok()
            })
            .collect();
        Pool { shared, workers, threads: threads.max(1), process: std::process::id() }
    }

    /// Whether there are workers: not in a child after `fork`, where threads do not survive.
    pub fn alive(&self) -> bool {
        !self.workers.is_empty() && self.process == std::process::id()
    }

    /// Runs chunks `0..chunks` and returns when all are done. With `join` false the calling thread only waits, and workers alone
    /// run chunks; else threads that wait for this `stream` may [help](Pool::help).
    pub fn run(&self, work: &dyn Work, chunks: u64, join: bool, stream: u64) {
        if !self.alive() || (chunks == 1 && join) {
            (0..chunks).for_each(|c| work.run(c));
            return;
        }
        // SAFETY: the reference is used only by threads that took a chunk below `chunks`, and this function does not return
        // before all of these are done. A worker that still holds the job afterwards only reads its counters.
        let work: &'static dyn Work = unsafe { std::mem::transmute::<&dyn Work, &'static dyn Work>(work) };
        let job = Arc::new(Job {
            work,
            chunks,
            next: AtomicU64::new(0),
            done: AtomicU64::new(0),
            owner: thread::current(),
            stream: if join { stream } else { 0 },
            places: AtomicUsize::new(self.threads),
        });
        self.shared.jobs.lock().push(job.clone());
        self.shared.listed.fetch_add(1, Ordering::Release);
        let places = (self.threads - usize::from(join)).min(self.workers.len()) as u64;
        let helpers = (chunks - u64::from(join)).min(places);
        for _ in 0..helpers {
            self.shared.wake.notify_one();
        }
        if join {
            job.help();
        }
        let mut spins = 0;
        while !job.finished() {
            if spins < SPIN {
                spins += 1;
                std::hint::spin_loop();
            } else {
                thread::park();
            }
        }
        self.shared.jobs.lock().retain(|j| !Arc::ptr_eq(j, &job));
        self.shared.unlisted.fetch_add(1, Ordering::Relaxed);
    }

    /// Runs chunks of the oldest job of this stream on the calling thread, until none is left. False if there is no such job, or
    /// if it has all the threads that it may have.
    pub fn help(&self, stream: u64) -> bool {
        let shared = &*self.shared;
        if stream == 0
            || shared.listed.load(Ordering::Relaxed) == shared.unlisted.load(Ordering::Relaxed)
            || !self.alive()
        {
            return false;
        }
        let job = shared.jobs.lock().iter().find(|j| j.stream == stream && j.open()).cloned();
        job.is_some_and(|job| job.help())
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
    fn work(&self) {
        loop {
            let seen = self.listed.load(Ordering::Acquire);
            let job = self.jobs.lock().iter().find(|j| j.open()).cloned();
            if job.is_some_and(|job| job.help()) {
                continue;
            }
            if self.stop.load(Ordering::Acquire) {
                return;
            }
            let fresh = || self.listed.load(Ordering::Acquire) != seen || self.stop.load(Ordering::Acquire);
            if (0..SPIN).any(|_| {
                std::hint::spin_loop();
                fresh()
            }) {
                continue;
            }
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
                        let count = Count((0..n).map(|_| AtomicU64::new(0)).collect());
                        pool.run(&count, n, round % 3 != 0, 0);
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
        pool.run(&work, 3, false, 0);
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
            s.spawn(|| pool.run(&held, 2, true, 1));
            held.changed.wait_while(&mut held.inside.lock(), |i| i.len() < 2);
            let waiting = s.spawn(|| {
                (0..100_000).any(|_| {
                    thread::yield_now();
                    pool.help(9)
                })
            });
            pool.run(&shared, 2, true, 9);
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
                            pool.help(9);
                            thread::yield_now();
                        }
                    });
                }
                pool.run(&job, 1000, true, 9);
                over.store(true, Ordering::Relaxed);
            });
            let mut seen = job.inside.into_inner();
            seen.sort_by_key(|id| format!("{id:?}"));
            seen.dedup();
            assert_eq!(seen.len(), threads);
        }
    }

    #[test]
    fn a_pool_ends_while_its_workers_sleep() {
        let pool = Pool::new(3);
        thread::sleep(std::time::Duration::from_millis(5));
        drop(pool);
    }
}
