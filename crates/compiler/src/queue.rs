//! Background compilation: threads that compile queued kernels of executables in order.
//!
//! Threads exist while there is work, so that an idle process has none and nothing needs to be stopped at the end. An
//! executable that is gone is passed over.
//!
//! Around a `fork` the queue is paused, so that the child gets no kernel that a thread, which it does not have, has
//! begun to compile.

use crate::Executable;
use crate::key::SpecializationKey;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The work and the threads at it.
#[derive(Default)]
pub struct Queue {
    limit: usize,
    work: Mutex<VecDeque<(Weak<Executable>, usize, SpecializationKey)>>,
    /// Threads at work. Changed under the lock; a child of `fork`, which may take no lock yet, reads it without.
    threads: AtomicUsize,
    /// While this is not 0, threads end after the kernel that they compile, and none is started. Changed like
    /// `threads`.
    pauses: AtomicUsize,
    /// The last thread has ended.
    idle: Condvar,
}

impl Queue {
    /// A queue with at most `limit` threads.
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, ..Self::default() })
    }

    /// Whether there are background threads.
    pub fn is_active(&self) -> bool {
        self.limit > 0
    }

    /// Adds a kernel of an executable.
    pub fn push(self: &Arc<Self>, executable: &Arc<Executable>, kernel: usize, key: SpecializationKey) {
        self.add(executable, kernel, key, false);
    }

    /// Moves a kernel of an executable to the front of the queue, or adds it there.
    pub fn hurry(self: &Arc<Self>, executable: &Arc<Executable>, kernel: usize, key: SpecializationKey) {
        self.add(executable, kernel, key, true);
    }

    fn add(self: &Arc<Self>, executable: &Arc<Executable>, kernel: usize, key: SpecializationKey, first: bool) {
        if self.limit == 0 {
            return;
        }
        let mut work = self.work.lock();
        let is_it = |(e, i, k): &(Weak<Executable>, usize, SpecializationKey)| {
            *i == kernel && *k == key && std::ptr::eq(e.as_ptr(), Arc::as_ptr(executable))
        };
        let waits = work.iter().position(is_it);
        if first {
            waits.and_then(|at| work.remove(at));
            work.push_front((Arc::downgrade(executable), kernel, key));
        } else if waits.is_none() {
            work.push_back((Arc::downgrade(executable), kernel, key));
        }
        self.start_threads(work.len());
    }

    /// Starts threads for so much work, under the lock.
    fn start_threads(self: &Arc<Self>, work: usize) {
        while self.pauses.load(Ordering::Relaxed) == 0 && self.threads.load(Ordering::Relaxed) < self.limit.min(work) {
            let queue = self.clone();
            let builder = std::thread::Builder::new().name("cloom-compile".into());
            // Without threads everything is compiled when it is asked for.
            if builder.spawn(move || queue.run()).is_err() {
                break;
            }
            self.threads.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn run(&self) {
        loop {
            let next = {
                let mut work = self.work.lock();
                let is_paused = self.pauses.load(Ordering::Relaxed) > 0;
                let next = if is_paused { None } else { work.pop_front() };
                if next.is_none() && self.threads.fetch_sub(1, Ordering::Relaxed) == 1 {
                    self.idle.notify_all();
                }
                next
            };
            let Some((executable, i, key)) = next else { return };
            if let Some(executable) = executable.upgrade() {
                executable.prepare(i, key);
            }
        }
    }

    /// Before a `fork`: lets threads end, each after the kernel that it compiles, and waits for that, at most so long.
    pub fn pause(&self, limit: Duration) {
        let mut work = self.work.lock();
        self.pauses.fetch_add(1, Ordering::Relaxed);
        let is_busy = |_: &mut _| self.threads.load(Ordering::Relaxed) > 0;
        self.idle.wait_while_for(&mut work, is_busy, limit);
    }

    /// After a `fork`, in the parent: goes on.
    pub fn resume(self: &Arc<Self>) {
        let work = self.work.lock();
        self.pauses.fetch_sub(1, Ordering::Relaxed);
        self.start_threads(work.len());
    }

    /// After a `fork`, in the child: goes on when there is more to compile. False if a thread was compiling: the child
    /// does not have it, and what it began will never be done.
    pub fn resume_in_child(&self) -> bool {
        self.pauses.store(0, Ordering::Relaxed);
        self.threads.load(Ordering::Relaxed) == 0
    }
}
