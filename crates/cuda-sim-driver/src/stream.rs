//! Streams and events: each stream is a thread that executes its work in order.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A piece of work for a stream.
pub type Work = Box<dyn FnOnce() + Send>;

/// A stream.
pub struct Stream {
    work: Sender<Work>,
    /// The number of its device.
    pub device: u32,
}

impl Stream {
    /// A new one, with a thread of its own.
    pub fn new(device: u32) -> Stream {
        let (work, received) = channel::<Work>();
        // The thread ends when the sender is dropped, which never happens to a stream with a handle.
        std::thread::spawn(move || received.into_iter().for_each(|work| work()));
        Stream { work, device }
    }

    /// Adds work.
    pub fn push(&self, work: Work) {
        // The thread lives as long as the sender.
        let _ = self.work.send(work);
    }

    /// Waits until everything has been done.
    pub fn synchronize(&self) {
        let mark = Arc::new(Mark::default());
        mark.record(self);
        mark.wait();
    }
}

/// A point of a stream.
#[derive(Default)]
pub struct Mark {
    state: Mutex<State>,
    came: Condvar,
}

#[derive(Default)]
struct State {
    /// How often it was recorded, and how often it was reached.
    recorded: u64,
    arrived: u64,
    time: Option<Instant>,
}

impl Mark {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records it after everything on the stream now.
    pub fn record(self: &Arc<Mark>, stream: &Stream) {
        // Counted in the call and not on the stream: a wait that follows must not be content with an earlier recording.
        self.state().recorded += 1;
        let mark = self.clone();
        stream.push(Box::new(move || {
            let mut state = mark.state();
            state.arrived += 1;
            state.time = Some(Instant::now());
            mark.came.notify_all();
        }));
    }

    /// Whether it was reached.
    pub fn has_come(&self) -> bool {
        let state = self.state();
        state.arrived == state.recorded
    }

    /// Waits for it.
    pub fn wait(&self) {
        let mut state = self.state();
        while state.arrived != state.recorded {
            state = self.came.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// When it was reached.
    pub fn time(&self) -> Option<Instant> {
        self.state().time
    }
}
