//! A job: chunks of work, divided among the threads that come.
//!
//! There are as many parts as threads may come, each a run of chunks with a counter on a cache line of its own, and each core has one
//! that is its own. A thread takes the chunks of its core's part from the first on and then those that are left of other parts from the
//! last on. So threads meet at a counter only at the end (one counter for all costs more than the work in a job of some microseconds on
//! sixteen cores), and a core finds the same part of the next kernel's data in its own cache, since kernels that follow each other mostly
//! work on the same. (Static schedules that steal, as OpenMP runtimes have them.)

use super::Work;
use crate::cores;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Chunks that threads share.
pub struct Job {
    work: &'static dyn Work,
    chunks: u64,
    threads: usize,
    parts: Box<[Part]>,
    ends: Ends,
    /// Who waits for it.
    pub owner: Thread,
    /// Which waiting threads may help; 0: none.
    pub stream: u64,
    /// The owner's core.
    pub core: i32,
}

/// Counts what is taken from either end of a part: from the last one in the upper half. Who finds nothing counts too, but once each.
#[repr(align(128))]
#[derive(Default)]
struct Part {
    taken: AtomicU64,
}

/// What threads change when they come and go.
#[repr(align(128))]
struct Ends {
    /// How many more threads may work on it.
    places: AtomicUsize,
    /// The parts of which every chunk is taken.
    empty: AtomicUsize,
    done: AtomicU64,
    /// Whether a chunk ended in a panic.
    failed: AtomicBool,
    /// Nanoseconds that threads spent here, all together.
    busy: AtomicU64,
}

/// What comes of the attempt to take a chunk.
enum Taken {
    Chunk(u64),
    Nothing {
        /// There is none in any part, and this thread is the first to know.
        last: bool,
    },
}

/// Where the upper half of a counter begins, and the lower half of it.
const HALF: u32 = 32;
const LOWER: u64 = (1 << HALF) - 1;

impl Job {
    /// Of so many chunks, for no more than so many threads.
    pub fn new(work: &'static dyn Work, chunks: u64, threads: usize, stream: u64) -> Job {
        debug_assert!(chunks < 1 << (HALF - 1), "some chunks for each thread");
        let parts = chunks.min(threads.max(1) as u64);
        Job {
            work,
            chunks,
            threads,
            parts: (0..parts).map(|_| Part::default()).collect(),
            ends: Ends {
                places: AtomicUsize::new(threads),
                empty: AtomicUsize::new(0),
                done: AtomicU64::new(0),
                failed: AtomicBool::new(false),
                busy: AtomicU64::new(0),
            },
            owner: thread::current(),
            stream,
            core: cores::here(),
        }
    }

    /// Whether this thread may work on it; the place stays taken: who leaves found no chunk.
    pub fn take_place(&self) -> bool {
        self.ends.places.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
    }

    /// Runs chunks until none is left, for who has taken a place. What `between` does follows each; it gets their number and when they
    /// began. Whether this thread was the one to find that there are no more.
    pub fn run(&self, mut between: impl FnMut(u64, Instant)) -> bool {
        let (begin, mut run, mut closed) = (Instant::now(), 0, false);
        let parts = self.parts.len();
        let own = usize::try_from(cores::here()).unwrap_or(0) % parts;
        for part in (0..parts).map(|k| (own + k) % parts) {
            if self.ends.empty.load(Ordering::Relaxed) == parts {
                break;
            }
            loop {
                match self.take(part, part != own) {
                    // Whatever happens in a chunk, it is counted: the owner waits for all, whose memory they work on.
                    Taken::Chunk(chunk) => {
                        if catch_unwind(AssertUnwindSafe(|| self.work.run(chunk))).is_err() {
                            self.ends.failed.store(true, Ordering::Relaxed);
                        }
                    }
                    Taken::Nothing { last } => {
                        closed |= last;
                        break;
                    }
                }
                run += 1;
                between(run, begin);
            }
        }
        if run > 0 {
            self.ends.busy.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
            if self.ends.done.fetch_add(run, Ordering::AcqRel) + run == self.chunks {
                self.owner.unpark();
            }
        }
        closed
    }

    /// The chunks of a part: the first one, and how many.
    fn part(&self, part: usize) -> (u64, u64) {
        let (at, parts) = (part as u64, self.parts.len() as u64);
        let first = |part: u64| part * self.chunks / parts;
        (first(at), first(at + 1) - first(at))
    }

    /// Takes a chunk of a part.
    fn take(&self, part: usize, from_last: bool) -> Taken {
        let (first, len) = self.part(part);
        let taken = self.parts[part].taken.fetch_add(if from_last { 1 << HALF } else { 1 }, Ordering::Relaxed);
        let (front, back) = (taken & LOWER, taken >> HALF);
        if front + back >= len {
            // One thread is the first to find it so.
            let first = front + back == len;
            let last = first && self.ends.empty.fetch_add(1, Ordering::Relaxed) + 1 == self.parts.len();
            return Taken::Nothing { last };
        }
        Taken::Chunk(first + if from_last { len - 1 - back } else { front })
    }

    /// The chunks that nobody has taken.
    pub fn left(&self) -> u64 {
        let left = |part: usize| {
            let taken = self.parts[part].taken.load(Ordering::Relaxed);
            self.part(part).1.saturating_sub((taken & LOWER) + (taken >> HALF))
        };
        (0..self.parts.len()).map(left).sum()
    }

    /// Whether there is something to do for one more thread.
    pub fn open(&self) -> bool {
        self.ends.places.load(Ordering::Relaxed) > 0 && self.ends.empty.load(Ordering::Relaxed) < self.parts.len()
    }

    /// How many threads have taken a place.
    pub fn comers(&self) -> usize {
        self.threads - self.ends.places.load(Ordering::Relaxed)
    }

    /// Whether every chunk is done.
    pub fn finished(&self) -> bool {
        self.ends.done.load(Ordering::Acquire) == self.chunks
    }

    /// Whether a chunk ended in a panic, once all are done.
    pub fn failed(&self) -> bool {
        self.ends.failed.load(Ordering::Relaxed)
    }

    /// The time that threads spent here, all together.
    pub fn busy(&self) -> Duration {
        Duration::from_nanos(self.ends.busy.load(Ordering::Relaxed))
    }
}
