//! The pace of launches: whether they follow each other so closely that the next one should be deferred.

use super::sync::{AtomicU64, Instant, Ordering};
use super::tuning::{CLOSE_LAUNCH_TIME, DEFER_FROM_LAUNCHES};

/// When launches came. It is only a heuristic: of two threads that launch at the same time, one may overwrite the note
/// of the other.
///
/// The functions are on the path of every launch, and the back end that calls them is another crate: they are inlined.
pub struct Pace {
    /// Launches that followed each other closely since a thread waited.
    followed: AtomicU64,
    /// When the last launch came, in nanoseconds since `begin`.
    last: AtomicU64,
    begin: Instant,
}

impl Pace {
    /// Without launches so far.
    pub fn new() -> Pace {
        Pace { followed: AtomicU64::new(0), last: AtomicU64::new(0), begin: Instant::now() }
    }

    /// Nanoseconds since `begin`.
    #[inline]
    pub fn now(&self) -> u64 {
        self.begin.elapsed().as_nanos() as u64
    }

    /// Whether a launch that comes now follows the last one closely.
    fn is_close(&self, now: u64) -> bool {
        now.saturating_sub(self.last.load(Ordering::Relaxed)) < CLOSE_LAUNCH_TIME.as_nanos() as u64
    }

    /// Notes a launch that comes now.
    #[inline]
    pub fn note(&self, now: u64) {
        match self.is_close(now) {
            true => _ = self.followed.fetch_add(1, Ordering::Relaxed),
            false => self.followed.store(0, Ordering::Relaxed),
        }
        self.last.store(now, Ordering::Relaxed);
    }

    /// Notes that a thread begins to wait: its next launch does not follow another one closely.
    #[inline]
    pub fn begin_to_wait(&self) {
        self.followed.store(0, Ordering::Relaxed);
    }

    /// The time, if a launch that comes now should be deferred. `under_way` launches have not ended.
    #[inline]
    pub fn defer_at(&self, under_way: u64) -> Option<u64> {
        // The counters decide most calls without the clock.
        let is_behind = under_way >= DEFER_FROM_LAUNCHES;
        if !is_behind && self.followed.load(Ordering::Relaxed) < DEFER_FROM_LAUNCHES {
            return None;
        }
        let now = self.now();
        (is_behind || self.is_close(now)).then_some(now)
    }
}
