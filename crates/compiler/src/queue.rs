//! Compiling ahead: threads that take kernels of executables in order, as long as there are any.
//!
//! Threads exist while there is work, so that an idle process has none and nothing needs to be stopped at the end. An
//! executable that is gone is passed over.

use crate::Executable;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// The work and the threads at it.
pub struct Queue {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    work: VecDeque<(Weak<Executable>, usize)>,
    threads: usize,
}

impl Queue {
    /// A queue that at most `limit` threads work at.
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, state: Mutex::default() })
    }

    /// Whether anything is compiled ahead.
    pub fn is_active(&self) -> bool {
        self.limit > 0
    }

    /// Adds all kernels of an executable.
    pub fn push(self: &Arc<Self>, executable: &Arc<Executable>) {
        if self.limit == 0 {
            return;
        }
        let mut state = self.state.lock();
        state.work.extend((0..executable.len()).map(|i| (Arc::downgrade(executable), i)));
        while state.threads < self.limit.min(state.work.len()) {
            let queue = self.clone();
            let builder = std::thread::Builder::new().name("cloom-compile".into());
            if builder.spawn(move || queue.run()).is_err() {
                // Without threads everything is compiled when it is asked for.
                break;
            }
            state.threads += 1;
        }
    }

    /// Takes a kernel of an executable next, if it is still waiting.
    pub fn hurry(&self, executable: &Arc<Executable>, kernel: usize) {
        let mut state = self.state.lock();
        let is_it =
            |(e, i): &(Weak<Executable>, usize)| *i == kernel && std::ptr::eq(e.as_ptr(), Arc::as_ptr(executable));
        if let Some(job) = state.work.iter().position(is_it).and_then(|at| state.work.remove(at)) {
            state.work.push_front(job);
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
            let Some((executable, i)) = next else { return };
            if let Some(executable) = executable.upgrade() {
                executable.prepare(i);
            }
        }
    }
}
