//! A pool of threads that share the chunks of a job with the thread that brings it.
//!
//! A job is a counter of chunks. The bringing thread lists the job, wakes as many workers as there is work for, takes chunks
//! itself, and leaves when every chunk is done. Several threads may bring jobs at
//! once; workers take the oldest first. Idle workers look for work for a moment before they sleep, because kernels come in
//! rows.

use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
    process: u32,
}

struct Shared {
    jobs: Mutex<Vec<Arc<Job>>>,
    wake: Condvar,
    /// Counts jobs listed, so that a spinning worker notices one without the lock.
    listed: AtomicU64,
    stop: AtomicBool,
}

struct Job {
    work: &'static dyn Work,
    chunks: u64,
    next: AtomicU64,
    done: AtomicU64,
    owner: Thread,
}

impl Job {
    /// Takes and runs chunks until none is left.
    fn help(&self) {
        loop {
            // Once the counter has passed the end it stays there: u64 does not wrap in practice.
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            if chunk >= self.chunks {
                return;
            }
            self.work.run(chunk);
            if self.done.fetch_add(1, Ordering::AcqRel) + 1 == self.chunks {
                self.owner.unpark();
            }
        }
    }

    fn open(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.chunks
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
        Pool { shared, workers, process: std::process::id() }
    }

    /// Whether there are workers: not in a child after `fork`, where threads do not survive.
    pub fn alive(&self) -> bool {
        !self.workers.is_empty() && self.process == std::process::id()
    }

    /// Runs chunks `0..chunks` and returns when all are done. With `join` false the calling thread only waits.
    pub fn run(&self, work: &dyn Work, chunks: u64, join: bool) {
        if !self.alive() || (chunks == 1 && join) {
            (0..chunks).for_each(|c| work.run(c));
            return;
        }
        // SAFETY: the reference is used only by threads that took a chunk below `chunks`, and this function does not return
        // before all of these are done. A worker that still holds the job afterwards only reads its counters.
        let work: &'static dyn Work = unsafe { std::mem::transmute::<&dyn Work, &'static dyn Work>(work) };
        let job =
            Arc::new(Job { work, chunks, next: AtomicU64::new(0), done: AtomicU64::new(0), owner: thread::current() });
        self.shared.jobs.lock().push(job.clone());
        self.shared.listed.fetch_add(1, Ordering::Release);
        let helpers = (chunks - u64::from(join)).min(self.workers.len() as u64);
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
            if let Some(job) = job {
                job.help();
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
                        pool.run(&count, n, round % 3 != 0);
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
        pool.run(&work, 3, false);
        let seen = work.0.into_inner();
        assert!(seen.len() == 3 && !seen.contains(&thread::current().id()));
    }

    #[test]
    fn a_pool_ends_while_its_workers_sleep() {
        let pool = Pool::new(3);
        thread::sleep(std::time::Duration::from_millis(5));
        drop(pool);
    }
}
