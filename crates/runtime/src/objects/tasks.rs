//! Thread pools for tasks that may take long or block: threads are made on demand up to a limit, and end when idle.
//!
//! The number is not fixed because a task may wait for a later one. Tasks that panic are caught.

use crate::objects::engine::EnterFloatEnv;
use cloom_hal::lock::{Condvar, Mutex};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// How long an idle thread lives.
const IDLE: Duration = Duration::from_secs(10);

/// A task.
pub type Task = Box<dyn FnOnce() + Send>;

struct State {
    tasks: VecDeque<Task>,
    threads: usize,
    idle: usize,
    stopped: bool,
}

struct Shared {
    name: &'static str,
    limit: usize,
    enter: EnterFloatEnv,
    state: Mutex<State>,
    wake: Condvar,
}

/// Threads that run tasks.
pub struct Tasks(Arc<Shared>);

impl Tasks {
    /// No thread is started before the first task.
    pub fn new(name: &'static str, limit: usize, enter: EnterFloatEnv) -> Tasks {
        let state = State { tasks: VecDeque::new(), threads: 0, idle: 0, stopped: false };
        let (state, wake) = (Mutex::new(state), Condvar::new());
        Tasks(Arc::new(Shared { name, limit: limit.max(1), enter, state, wake }))
    }

    /// Queues a task. If the system has no thread left, runs it here.
    pub fn submit(&self, task: Task) {
        let shared = &self.0;
        let mut state = shared.state.lock();
        state.tasks.push_back(task);
        // Each idle thread takes one task, so there is one for this task as well.
        if state.idle >= state.tasks.len() {
            shared.wake.notify_one();
            return;
        }
        if state.threads < shared.limit {
            state.threads += 1;
            let worker = shared.clone();
            let builder = thread::Builder::new().name(shared.name.to_owned());
            if builder.spawn(move || worker.work()).is_ok() {
                return;
            }
            state.threads -= 1;
        }
        // The system gives no thread and there is none that would come to the task: it runs here.
        if state.threads == 0 {
            let task = state.tasks.pop_back();
            drop(state);
            if let Some(task) = task {
                run(task);
            }
        } else {
            // The threads are busy; the first that is done takes the task.
            shared.wake.notify_one();
        }
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.0.state.lock().stopped = true;
        self.0.wake.notify_all();
    }
}

impl Shared {
    fn work(&self) {
        // A thread inherits the floating-point environment of its creator.
        let _float_env = (self.enter)();
        let mut state = self.state.lock();
        loop {
            if let Some(task) = state.tasks.pop_front() {
                drop(state);
                run(task);
                state = self.state.lock();
                continue;
            }
            // Only with an empty list: tasks that were submitted run even when the pool is dropped.
            if state.stopped {
                break;
            }
            state.idle += 1;
            let timed_out;
            (state, timed_out) = self.wake.wait_for(state, IDLE);
            state.idle -= 1;
            // A task may have come between the end of the time and the lock: `submit` counted this thread as idle.
            if timed_out && state.tasks.is_empty() {
                break;
            }
        }
        state.threads -= 1;
    }
}

fn run(task: Task) {
    // The panic hook has printed the message; the task's own guards clean up.
    drop(catch_unwind(AssertUnwindSafe(task)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_task_may_wait_for_a_later_one() {
        let tasks = Tasks::new("test", 4, || Box::new(()));
        let (send, receive) = mpsc::channel::<()>();
        let (done, finished) = mpsc::channel::<()>();
        tasks.submit(Box::new(move || {
            receive.recv().unwrap();
            done.send(()).unwrap();
        }));
        tasks.submit(Box::new(move || send.send(()).unwrap()));
        finished.recv_timeout(Duration::from_secs(20)).expect("the second task ran while the first one waited");
    }

    #[test]
    fn a_panicking_task_takes_no_thread_with_it() {
        let tasks = Tasks::new("test", 1, || Box::new(()));
        let (done, finished) = mpsc::channel::<()>();
        tasks.submit(Box::new(|| panic!("expected in this test")));
        tasks.submit(Box::new(move || done.send(()).unwrap()));
        finished.recv_timeout(Duration::from_secs(20)).expect("the next task ran");
    }

    #[test]
    fn more_tasks_than_threads_all_run() {
        let tasks = Tasks::new("test", 3, || Box::new(()));
        let (done, finished) = mpsc::channel::<usize>();
        for i in 0..200 {
            let done = done.clone();
            tasks.submit(Box::new(move || done.send(i).unwrap()));
        }
        let mut seen: Vec<usize> = (0..200).map(|_| finished.recv_timeout(Duration::from_secs(20)).unwrap()).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..200).collect::<Vec<_>>());
    }
}
