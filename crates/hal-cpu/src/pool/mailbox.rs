//! A mailbox: through it an idle thread is offered jobs.
//!
//! The owner of a job puts it into the mailboxes of the threads that it asks, one after the other. Each thread spins on
//! its own mailbox only, a cache line that nobody else touches meanwhile. If all spun on one list, contention for its
//! cache line would take longer than a short job.
//!
//! The mode says whether an offer can be made:
//!
//! ```text
//!            enter                  sleep
//!   Busy ─────────────▶ Spinning ─────────────▶ Asleep
//!    ▲                     │                      │
//!    └── offer, or leave ──┴── offer and unpark ──┘
//! ```
//!
//! An offer takes the mode back to `Busy`, so that a mailbox holds at most one job. Whoever offers a job has listed it
//! before, and the thread looks through the list after `enter`. The list's counter and the mode are sequentially
//! consistent: either the owner sees the thread spin, or the thread sees the job in the list. No wake-up is lost.

use super::cores;
use super::job::Job;
use super::sync::{
    AtomicBool, AtomicI32, AtomicU8, AtomicU64, Clock, Contention, Mutex, Ordering, Thread, current, park,
};
use std::sync::Arc;

/// The state of a mailbox's thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Mode {
    /// It works, or has just been offered a job.
    Busy,
    /// It spins on the mailbox.
    Spinning,
    /// It sleeps and has to be woken.
    Asleep,
}

/// The mailbox of one thread.
#[repr(align(128))]
pub struct Mailbox {
    /// Whether an offer has been made: what the thread spins on.
    filled: AtomicBool,
    /// A [`Mode`]. Changes only while `content` is locked.
    mode: AtomicU8,
    content: Mutex<Content>,
    /// The thread, as the system names it, and its core, both as of when it began to spin or sleep.
    tid: AtomicI32,
    core: AtomicI32,
    /// The only queue of which it wants jobs; 0: any.
    queue: AtomicU64,
    /// Whether the thread comes in time when it is woken.
    pub contention: Contention,
}

#[derive(Default)]
struct Content {
    job: Option<Arc<Job>>,
    /// The thread, if it sleeps.
    sleeper: Option<Thread>,
}

impl Mailbox {
    /// An empty one, whose thread is busy. On `one_core` it never comes in time.
    pub fn new(clock: Clock, one_core: bool) -> Mailbox {
        Mailbox {
            filled: AtomicBool::new(false),
            mode: AtomicU8::new(Mode::Busy as u8),
            content: Mutex::new(Content::default()),
            tid: AtomicI32::new(0),
            core: AtomicI32::new(-1),
            queue: AtomicU64::new(0),
            contention: Contention::new(clock, one_core),
        }
    }

    /// The thread's state.
    pub fn mode(&self) -> Mode {
        match self.mode.load(Ordering::SeqCst) {
            m if m == Mode::Spinning as u8 => Mode::Spinning,
            m if m == Mode::Asleep as u8 => Mode::Asleep,
            _ => Mode::Busy,
        }
    }

    /// The thread, as the system names it, and the core on which it began to spin or sleep.
    pub fn thread_and_core(&self) -> (i32, i32) {
        (self.tid.load(Ordering::Relaxed), self.core.load(Ordering::Relaxed))
    }

    /// The only queue of which its thread wants jobs; 0: any.
    pub fn queue(&self) -> u64 {
        self.queue.load(Ordering::Relaxed)
    }

    /// Offers a job to a thread in this mode, and wakes it if it sleeps. Returns whether it was in this mode: then it
    /// will look at the job.
    pub fn offer(&self, job: &Arc<Job>, mode: Mode) -> bool {
        if self.mode() != mode {
            return false;
        }
        let mut content = self.content.lock();
        if self.mode() != mode {
            return false;
        }
        content.job = Some(job.clone());
        self.mode.store(Mode::Busy as u8, Ordering::Relaxed);
        let sleeper = content.sleeper.take();
        if sleeper.is_some() {
            // Before the thread can see the offer: it may be about to park, and would come before it was woken.
            self.contention.woke();
        }
        drop(content);
        // After the unlock, or the thread would run into the lock. If the thread left between the two, it has the job
        // already, and this flag makes its next stay end at once.
        self.filled.store(true, Ordering::Release);
        if let Some(sleeper) = sleeper {
            sleeper.unpark();
        }
        true
    }

    /// The thread begins to spin, for jobs of a queue or, with 0, any job. It must look through the list of jobs after
    /// this.
    pub fn enter(&self, queue: u64) {
        self.tid.store(cores::this_thread(), Ordering::Relaxed);
        self.core.store(cores::here(), Ordering::Relaxed);
        self.queue.store(queue, Ordering::Relaxed);
        let _content = self.content.lock();
        // Last: whoever sees the mode then sees thread, core and queue of this stay.
        self.mode.store(Mode::Spinning as u8, Ordering::SeqCst);
    }

    /// Whether an offer has been made.
    pub fn filled(&self) -> bool {
        self.filled.load(Ordering::Acquire)
    }

    /// The thread stops spinning or sleeping, with the job that it was offered.
    pub fn leave(&self) -> Option<Arc<Job>> {
        let mut content = self.content.lock();
        self.mode.store(Mode::Busy as u8, Ordering::Relaxed);
        self.filled.store(false, Ordering::Relaxed);
        content.job.take()
    }

    /// The thread, which spun, sleeps until it is offered a job or is unparked and finds that it is `called` away.
    pub fn sleep(&self, called: impl Fn() -> bool) {
        {
            let mut content = self.content.lock();
            // An offer came after the last look at `filled`. Its owner saw a spinning thread, and would not unpark.
            if content.job.is_some() {
                return;
            }
            content.sleeper = Some(current());
            self.core.store(cores::here(), Ordering::Relaxed);
            self.mode.store(Mode::Asleep as u8, Ordering::Relaxed);
        }
        while !self.filled() && !called() {
            park();
        }
    }
}
