//! A job: chunks of work, numbered from 0, that several threads claim one by one.
//!
//! The chunks are divided into as many ranges as threads may come, each with a counter on a cache line of its own, and
//! each core has one range of its own. A thread claims the chunks of its own range from the first on, then what is left
//! of other ranges from the last on (work stealing over static ranges, as OpenMP runtimes do it):
//!
//! ```text
//!   range 0             range 1             range 2
//!   0 1 2 3 4 5 6 7     8 9 …               16 …
//!   owner ──▶ ◀── thief
//! ```
//!
//! So threads meet at a counter only at the end: with one counter for all, counting costs more than the work in a job
//! of some microseconds on sixteen cores. And a core finds the same part of the next kernel's data in its own cache,
//! since consecutive kernels mostly work on the same data.

use super::cores;
use super::sync::{AtomicBool, AtomicU64, AtomicUsize, Ordering, Thread, current};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// What runs a chunk of a job.
pub trait Work: Send + Sync {
    /// Runs one chunk on this thread.
    fn run(&self, chunk: u64);
}

/// Chunks that threads share.
pub struct Job {
    work: &'static dyn Work,
    chunks: u64,
    threads: usize,
    ranges: Box<[ChunkRange]>,
    progress: Progress,
    /// The thread that brought it and waits for its end.
    pub owner: Thread,
    /// Threads that wait for this queue may assist; 0: none.
    pub queue: u64,
    /// The owner's core; negative if it is not known.
    pub core: i32,
}

/// Counts the claims at either end of a range: those at the front in the lower half, those at the back in the upper.
/// A claim that fails counts too; each thread fails once at most.
#[repr(align(128))]
#[derive(Default)]
struct ChunkRange {
    claims: AtomicU64,
}

/// What threads change when they join and when they have run out of chunks.
#[repr(align(128))]
struct Progress {
    /// How many more threads may join.
    slots: AtomicUsize,
    /// Ranges of which every chunk is claimed.
    exhausted: AtomicUsize,
    /// Chunks that have ended.
    done: AtomicU64,
    /// Whether a chunk ended in a panic.
    failed: AtomicBool,
    /// Nanoseconds that threads spent here, added up.
    busy: AtomicU64,
}

/// The result of an attempt to claim a chunk.
enum Claim {
    Chunk(u64),
    None {
        /// No range has a chunk left, and this thread is the first to know.
        last: bool,
    },
}

/// Where the upper half of [`ChunkRange::claims`] begins, and a mask for the lower half.
const HALF: u32 = 32;
const LOWER: u64 = (1 << HALF) - 1;

impl Job {
    /// A job of so many chunks for at most so many threads, owned by the calling one.
    pub fn new(work: &'static dyn Work, chunks: u64, threads: usize, queue: u64) -> Job {
        debug_assert!(chunks < 1 << (HALF - 1), "some chunks for each thread");
        let ranges = chunks.min(threads.max(1) as u64);
        Job {
            work,
            chunks,
            threads,
            ranges: (0..ranges).map(|_| ChunkRange::default()).collect(),
            progress: Progress {
                slots: AtomicUsize::new(threads),
                exhausted: AtomicUsize::new(0),
                done: AtomicU64::new(0),
                failed: AtomicBool::new(false),
                busy: AtomicU64::new(0),
            },
            owner: current(),
            queue,
            core: cores::here(),
        }
    }

    /// Whether this thread may work on it. The slot is never given back: a thread leaves when no chunk is left.
    pub fn join(&self) -> bool {
        self.progress.slots.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
    }

    /// Runs chunks until none is left to claim, on a thread that has joined. `between` is called after each chunk, with
    /// the number of chunks that this thread has run and when it began. Returns whether this thread was the one to find
    /// that none is left.
    pub fn run(&self, mut between: impl FnMut(u64, Instant)) -> bool {
        let (begin, mut run, mut closed) = (Instant::now(), 0, false);
        let ranges = self.ranges.len();
        // If there are more cores than ranges, some cores share one and meet at its counter.
        let own = usize::try_from(cores::here()).unwrap_or(0) % ranges;
        for range in (0..ranges).map(|k| (own + k) % ranges) {
            // Without this test each thread would touch every counter at the end, only to fail there.
            if self.progress.exhausted.load(Ordering::Relaxed) == ranges {
                break;
            }
            loop {
                match self.claim(range, range != own) {
                    // Whatever happens in a chunk, it is counted: the owner, whose memory it works on, waits for all.
                    Claim::Chunk(chunk) => {
                        if catch_unwind(AssertUnwindSafe(|| self.work.run(chunk))).is_err() {
                            self.progress.failed.store(true, Ordering::Relaxed);
                        }
                    }
                    Claim::None { last } => {
                        closed |= last;
                        break;
                    }
                }
                run += 1;
                between(run, begin);
            }
        }
        if run > 0 {
            // Before `done`: the owner reads the sum as soon as all chunks have ended.
            self.progress.busy.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
            // Once for all chunks of this thread, so that threads do not meet here after each chunk. The release makes
            // what the chunks wrote visible to the owner.
            if self.progress.done.fetch_add(run, Ordering::AcqRel) + run == self.chunks {
                self.owner.unpark();
            }
        }
        closed
    }

    /// The chunks of a range: the first one, and how many.
    fn range(&self, range: usize) -> (u64, u64) {
        let (at, ranges) = (range as u64, self.ranges.len() as u64);
        let first = |range: u64| range * self.chunks / ranges;
        (first(at), first(at + 1) - first(at))
    }

    /// Claims a chunk of a range, at its front or at its back.
    fn claim(&self, range: usize, at_back: bool) -> Claim {
        let (first, len) = self.range(range);
        // One counter for both ends makes a claim one atomic operation: front and back cannot pass each other.
        let claims = self.ranges[range].claims.fetch_add(if at_back { 1 << HALF } else { 1 }, Ordering::Relaxed);
        let (front, back) = (claims & LOWER, claims >> HALF);
        if front + back >= len {
            // Exactly one thread is the first to fail here, and of these exactly one is the last.
            let exhausts = front + back == len;
            let last = exhausts && self.progress.exhausted.fetch_add(1, Ordering::Relaxed) + 1 == self.ranges.len();
            return Claim::None { last };
        }
        Claim::Chunk(first + if at_back { len - 1 - back } else { front })
    }

    /// How many chunks nobody has claimed.
    pub fn unclaimed(&self) -> u64 {
        let unclaimed = |range: usize| {
            let claims = self.ranges[range].claims.load(Ordering::Relaxed);
            // Claims that failed are in the counter too, so that it may exceed the length.
            self.range(range).1.saturating_sub((claims & LOWER) + (claims >> HALF))
        };
        (0..self.ranges.len()).map(unclaimed).sum()
    }

    /// Whether one more thread may join and would find a chunk.
    pub fn is_open(&self) -> bool {
        let progress = &self.progress;
        progress.slots.load(Ordering::Relaxed) > 0 && progress.exhausted.load(Ordering::Relaxed) < self.ranges.len()
    }

    /// How many threads have joined.
    pub fn joined(&self) -> usize {
        self.threads - self.progress.slots.load(Ordering::Relaxed)
    }

    /// Whether every chunk has ended.
    pub fn is_finished(&self) -> bool {
        self.progress.done.load(Ordering::Acquire) == self.chunks
    }

    /// Whether a chunk ended in a panic, once all have ended.
    pub fn failed(&self) -> bool {
        self.progress.failed.load(Ordering::Relaxed)
    }

    /// The time that threads spent here, added up.
    pub fn busy(&self) -> Duration {
        Duration::from_nanos(self.progress.busy.load(Ordering::Relaxed))
    }
}
