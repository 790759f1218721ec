//! Background compilation: threads that compile queued kernels of executables in order.
//!
//! Threads exist while there is work, so that an idle process has none and nothing needs to be stopped at the end. An
//! executable that was dropped is skipped.

use crate::Executable;
use crate::key::SpecializationKey;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// The queued work and the number of threads.
pub struct Queue {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    work: VecDeque<(Weak<Executable>, usize, SpecializationKey)>,
    threads: usize,
}

impl Queue {
    /// A queue with at most `limit` threads.
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, state: Mutex::default() })
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
        let mut state = self.state.lock();
        let is_it = |(e, i, k): &(Weak<Executable>, usize, SpecializationKey)| {
            *i == kernel && *k == key && std::ptr::eq(e.as_ptr(), Arc::as_ptr(executable))
        };
        let waits = state.work.iter().position(is_it);
        if first {
            waits.and_then(|at| state.work.remove(at));
            state.work.push_front((Arc::downgrade(executable), kernel, key));
        } else if waits.is_none() {
            state.work.push_back((Arc::downgrade(executable), kernel, key));
        }
        if state.threads < self.limit.min(state.work.len()) {
            let queue = self.clone();
            let builder = std::thread::Builder::new().name("cloom-compile".into());
            // Without threads, kernels are compiled when they are needed.
            if builder.spawn(move || queue.run()).is_ok() {
                state.threads += 1;
            }
        }
    }

    fn run(&self) {
        loop {
            let next = {
                let mut state = self.state.lock();
                let next = state.work.pop_front();
                if next.is_none() {
                    state.threads -= 1;
                }
                next
            };
            let Some((executable, i, key)) = next else { return };
            if let Some(executable) = executable.upgrade() {
                executable.prepare(i, key);
            }
        }
    }
}
