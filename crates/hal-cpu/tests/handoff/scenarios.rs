//! Small programs on the protocol: workers, owners and waiting threads, which do what `Pool` does.

use super::job::{Job, Work};
use super::shared::{Shared, Wake};
use crate::primitives::{Clock, Thread, spawn};
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// Chunks that count how often they run. Without an order of their own: what the owner sees is due to the protocol.
struct Count(Vec<AtomicU64>);

impl Work for Count {
    fn run(&self, chunk: u64) {
        self.0[chunk as usize].fetch_add(1, Ordering::Relaxed);
    }
}

/// The queue from which all jobs come.
const QUEUE: u64 = 1;

/// A thread that owns jobs.
pub struct Owner<'a>(&'a Shared);

impl Owner<'_> {
    pub fn new(shared: &Shared) -> Owner<'_> {
        Owner(shared)
    }

    /// Submits a job, as `Pool::run` does, and checks that each chunk has run once.
    pub fn run(&self, chunks: u64, join: bool, wake: bool) {
        let shared = self.0;
        let work: &'static Count = Box::leak(Box::new(Count((0..chunks).map(|_| AtomicU64::new(0)).collect())));
        let threads = shared.mailboxes.len() + 1;
        let job = Arc::new(Job::new(work, chunks, threads, if join { QUEUE } else { 0 }));
        shared.list(&job);
        shared.offer(&job, chunks as usize, if wake { Wake::Punctual } else { Wake::Nobody });
        if join && job.join() {
            shared.run(&job, |_, _| ());
        }
        shared.wait(&job);
        shared.unlist(&job);
        let runs: Vec<u64> = work.0.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        assert!(runs.iter().all(|&n| n == 1), "each chunk runs once, and the owner sees it: {runs:?}");
        assert!(!job.failed());
    }
}

/// Workers, as `Pool::new` starts them.
pub struct Workers {
    pub shared: Arc<Shared>,
    threads: Vec<(loom::thread::JoinHandle<()>, Thread)>,
}

impl Workers {
    pub fn start(count: usize) -> Workers {
        let shared = Arc::new(Shared::new(count, None, 2, Clock));
        let start = |i: usize| {
            let shared = shared.clone();
            spawn(move || shared.work(&shared.mailboxes[i]))
        };
        let threads = (0..count).map(start).collect();
        Workers { shared, threads }
    }

    /// As `Pool::drop` does it.
    pub fn shut_down(self) {
        self.shared.stop();
        self.threads.iter().for_each(|(_, thread)| thread.unpark());
        self.join();
    }

    /// A planted bug.
    pub fn shut_down_without_waking(self) {
        self.shared.stop();
        self.join();
    }

    fn join(self) {
        for (thread, _) in self.threads {
            thread.join().expect("a worker does not panic");
        }
    }
}

/// Jobs, one after the other, that only workers may run.
pub fn jobs_for_workers(workers: usize, jobs: usize) {
    let pool = Workers::start(workers);
    for _ in 0..jobs {
        Owner::new(&pool.shared).run(workers as u64, false, true);
    }
    pool.shut_down();
}

/// A job that its owner joins, offered to a worker that spins, or also to one that sleeps.
pub fn job_of_owner_and_worker(wake: bool) {
    let pool = Workers::start(1);
    Owner::new(&pool.shared).run(2, true, wake);
    pool.shut_down();
}

/// Two threads submit a job each, at the same time, to the same worker.
pub fn two_owners_with_one_worker() {
    let pool = Workers::start(1);
    let shared = pool.shared.clone();
    let (other, _) = spawn(move || Owner::new(&shared).run(1, false, true));
    Owner::new(&pool.shared).run(1, false, true);
    other.join().expect("the owner found each chunk run");
    pool.shut_down();
}

/// A thread waits for the queue from which a job comes, until it has ended.
pub fn waiting_thread_assists() {
    let (shared, ended) = (Arc::new(Shared::new(1, None, 2, Clock)), Arc::new(AtomicBool::new(false)));
    let (also, done) = (shared.clone(), ended.clone());
    let (waiting, _) = spawn(move || {
        for _ in 0..2 {
            also.assist(QUEUE, &|| done.load(Ordering::Acquire), Duration::ZERO);
        }
    });
    Owner::new(&shared).run(2, true, false);
    ended.store(true, Ordering::Release);
    waiting.join().expect("it does not panic");
}
