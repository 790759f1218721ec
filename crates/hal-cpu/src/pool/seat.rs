//! A seat: where a thread that has nothing to do is offered jobs.
//!
//! Whoever brings a job puts it into the seats of threads that it wants, one after the other. Each looks at its own seat only, a cache line
//! that nobody else touches meanwhile: threads that all look at one list hold up each other and who wants to write it, for longer than a
//! short job takes.

use super::job::Job;
use crate::cores;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU64, Ordering};
use std::thread::{self, Thread};

/// What the thread does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Mode {
    /// It works, or is not there.
    Away,
    /// It looks at its seat.
    Looking,
    /// It has to be woken.
    Asleep,
}

/// A thread's place to be offered jobs.
#[repr(align(128))]
pub struct Seat {
    /// Whether there is something to see in `inside`.
    filled: AtomicBool,
    /// Changes while `inside` is locked.
    mode: AtomicU8,
    inside: Mutex<Inside>,
    /// The thread and its core, as others name them to the system, when it began to look.
    tid: AtomicI32,
    core: AtomicI32,
    /// The only jobs that it wants; 0: any.
    stream: AtomicU64,
}

#[derive(Default)]
struct Inside {
    job: Option<Arc<Job>>,
    /// The thread that sleeps.
    thread: Option<Thread>,
}

impl Seat {
    /// An empty one.
    pub fn new() -> Seat {
        Seat {
            filled: AtomicBool::new(false),
            mode: AtomicU8::new(Mode::Away as u8),
            inside: Mutex::default(),
            tid: AtomicI32::new(0),
            core: AtomicI32::new(-1),
            stream: AtomicU64::new(0),
        }
    }

    /// What the thread does. Who has made a job known before finds a thread that looks or sleeps, or the thread finds the job.
    pub fn mode(&self) -> Mode {
        match self.mode.load(Ordering::SeqCst) {
            m if m == Mode::Looking as u8 => Mode::Looking,
            m if m == Mode::Asleep as u8 => Mode::Asleep,
            _ => Mode::Away,
        }
    }

    /// Where the thread looked or slept last: its name and core.
    pub fn place(&self) -> (i32, i32) {
        (self.tid.load(Ordering::Relaxed), self.core.load(Ordering::Relaxed))
    }

    /// The only jobs that its thread wants; 0: any.
    pub fn stream(&self) -> u64 {
        self.stream.load(Ordering::Relaxed)
    }

    /// Offers a job to a thread in this mode; a sleeping one is woken. Whether it was there.
    pub fn offer(&self, job: &Arc<Job>, mode: Mode) -> bool {
        if self.mode() != mode {
            return false;
        }
        let mut inside = self.inside.lock();
        if self.mode() != mode {
            return false;
        }
        inside.job = Some(job.clone());
        self.mode.store(Mode::Away as u8, Ordering::Relaxed);
        let thread = inside.thread.take();
        drop(inside);
        // Not before: the thread would come to a locked door. One that has left meanwhile finds nothing when it sits down again.
        self.filled.store(true, Ordering::Release);
        if let Some(thread) = thread {
            thread.unpark();
        }
        true
    }

    /// The thread begins to look for jobs of a stream.
    pub fn sit(&self, stream: u64) {
        self.tid.store(cores::this_thread(), Ordering::Relaxed);
        self.core.store(cores::here(), Ordering::Relaxed);
        self.stream.store(stream, Ordering::Relaxed);
        let _inside = self.inside.lock();
        // Others that see it so find what was written before, and this thread sees their jobs from now on.
        self.mode.store(Mode::Looking as u8, Ordering::SeqCst);
    }

    /// Whether there is something to see.
    pub fn filled(&self) -> bool {
        self.filled.load(Ordering::Acquire)
    }

    /// The thread gets up, with what it was offered.
    pub fn leave(&self) -> Option<Arc<Job>> {
        let mut inside = self.inside.lock();
        self.mode.store(Mode::Away as u8, Ordering::Relaxed);
        self.filled.store(false, Ordering::Relaxed);
        inside.job.take()
    }

    /// The thread sleeps until there is something to see, or until it is called for another reason.
    pub fn sleep(&self, called: impl Fn() -> bool) {
        {
            let mut inside = self.inside.lock();
            if inside.job.is_some() {
                return;
            }
            inside.thread = Some(thread::current());
            self.core.store(cores::here(), Ordering::Relaxed);
            self.mode.store(Mode::Asleep as u8, Ordering::Relaxed);
        }
        while !self.filled() && !called() {
            thread::park();
        }
    }
}
