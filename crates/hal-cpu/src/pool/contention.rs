//! Contention: whether a thread that is asked for help gets a core in time.
//!
//! On a machine with more runnable threads than cores, a thread that is woken waits for the end of another one's time
//! slice, some milliseconds, and it loses its core again in the middle of its work, for which others then wait. So a
//! launch of less than some time slices gains nothing from it, and may lose much.
//!
//! A process cannot see the other threads of the machine. It sees what they do to its own: each thread that can be
//! asked for help has a [`Contention`], which records
//!
//! * how long the thread took to come when it was last woken: more than [`late_time`](cloom_hal::Tuning::late_time)
//!   means that it had to wait for a core. A thread that was woken so long ago and has not come counts as late already.
//!   It is excused if launches had all cores meanwhile;
//! * for how long it had no core while it spun or worked: by how much the clock went further than the thread's own CPU
//!   time, if that is a considerable part. (A count of preemptions would not do. Threads lose their core for some
//!   microseconds now and then, to the system or to each other, and nobody is hurt.)
//!
//! Either, twice in a row, makes its core count as contended for
//! [`contended_time`](cloom_hal::Tuning::contended_time). Meanwhile it is asked only for work that is worth the risk.
//! (Once happens on an idle virtual machine, too, whose host has other work. While once was enough, 16 of 95 short
//! launches on 16 virtual cores took more than twice their shortest time in the median, against 6 without any of this.)
//! After that time it is tried again; each time in a row that it fails, the time doubles (exponential backoff, as
//! networks do it), up to [`contended_time_max`](cloom_hal::Tuning::contended_time_max). The record is kept for each
//! thread by itself, because on many cores a few busy processes leave most threads undisturbed.
//!
//! Others decide less: Rayon, oneTBB and crossbeam's `Backoff` spin with `sched_yield`, which on a core that others
//! want gives whole time slices away, and wake threads for any work; Go wakes one thread at a time, and only if a core
//! is idle, which its own scheduler knows.

use cloom_hal::TUNING;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Nanoseconds since a moment that all threads of a device agree on.
#[derive(Clone, Copy)]
pub struct Clock(Instant);

impl Clock {
    /// Begins now, with 1.
    pub fn new() -> Clock {
        Clock(Instant::now())
    }

    /// The time; never 0.
    pub fn now(self) -> u64 {
        self.0.elapsed().as_nanos() as u64 + 1
    }
}

/// A thread that had no core for less than this part of its work does not delay others.
const LOST_PART: u64 = 8;

/// What happened to a thread between two readings of its clocks, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Read {
    time: u64,
    /// For how long it wanted a core and had none.
    without_core: u64,
}

/// What is known of one thread, or of some of which any may come. All times are those of a [`Clock`].
pub struct Contention {
    clock: Clock,
    /// The process has one core: nobody can come while the asking thread runs.
    always: bool,
    /// When the thread was woken, if it has not come since; else 0.
    woken: AtomicU64,
    /// Until then its core counts as contended.
    until: AtomicU64,
    /// For how long it last did.
    period: AtomicU64,
    /// Whether it came late when it was last woken.
    was_late: AtomicBool,
    /// Whether it lost its core in the last work that took long enough to tell.
    lost_core: AtomicBool,
    /// The time and the thread's CPU time when it last began or ended work; zeros if that is not known.
    read: (AtomicU64, AtomicU64),
}

impl Contention {
    /// Nothing is known; on one core there `always` is contention.
    pub fn new(clock: Clock, always: bool) -> Contention {
        Contention {
            clock,
            always,
            woken: AtomicU64::new(0),
            until: AtomicU64::new(0),
            period: AtomicU64::new(0),
            was_late: AtomicBool::new(false),
            lost_core: AtomicBool::new(false),
            read: Default::default(),
        }
    }

    /// The thread is being woken.
    pub fn woke(&self) {
        // Of several wake-ups, the one that has waited longest counts.
        let _ = self.woken.compare_exchange(0, self.clock.now(), Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The thread, if it was woken, has come. `excused` says whether launches have had all cores since a time.
    pub fn came(&self, excused: impl FnOnce(u64) -> bool) {
        self.came_at(self.clock.now(), excused);
    }

    fn came_at(&self, now: u64, excused: impl FnOnce(u64) -> bool) {
        // 0 if the thread came by itself: a parked thread may wake up without reason, and is not judged then.
        let woken = self.woken.swap(0, Ordering::Relaxed);
        if woken != 0 {
            self.judge(&self.was_late, is_late(woken, now) && !excused(woken), now);
        }
    }

    /// The thread, which calls this, has slept; see [`came`](Self::came).
    pub fn slept(&self, excused: impl FnOnce(u64) -> bool) {
        self.came(excused);
        self.read(self.clock.now(), cpu_time());
    }

    /// The thread, which calls this, has worked, and has not slept since it last told of either.
    pub fn worked(&self) {
        let now = self.clock.now();
        let Read { time, without_core } = self.read(now, cpu_time());
        let long_enough = TUNING.late_time.as_nanos() as u64;
        if time > long_enough {
            self.judge(&self.lost_core, without_core > long_enough.max(time / LOST_PART), now);
        }
    }

    /// Reads both clocks. Returns what happened since they were last read.
    fn read(&self, now: u64, cpu: u64) -> Read {
        let (was, used) = (self.read.0.swap(now, Ordering::Relaxed), self.read.1.swap(cpu, Ordering::Relaxed));
        // Taken in any case: a wait from before this reading must not count later.
        let waited = WAITED.take();
        if was == 0 || cpu == 0 {
            return Read::default();
        }
        let time = now.saturating_sub(was);
        Read { time, without_core: time.saturating_sub(cpu.saturating_sub(used)).saturating_sub(waited) }
    }

    /// It failed or not, after it did or not. Once in doubt, a single failure is enough.
    fn judge(&self, before: &AtomicBool, failed: bool, now: u64) {
        let again = before.swap(failed, Ordering::Relaxed);
        if failed && (again || self.is_in_doubt(now)) {
            self.found(now);
        }
    }

    /// Whether its core counted as contended a short time ago.
    fn is_in_doubt(&self, now: u64) -> bool {
        now < self.until.load(Ordering::Relaxed).saturating_add(self.period.load(Ordering::Relaxed))
    }

    /// Its core is contended.
    fn found(&self, now: u64) {
        let (least, most) = (TUNING.contended_time.as_nanos() as u64, TUNING.contended_time_max.as_nanos() as u64);
        let period = self.period.load(Ordering::Relaxed);
        let period = if self.is_in_doubt(now) { (2 * period).clamp(least, most) } else { least };
        self.period.store(period, Ordering::Relaxed);
        self.until.store(now + period, Ordering::Relaxed);
    }

    /// Whether its core is contended; see [`came`](Self::came) for `excused`.
    pub fn is_contended(&self, excused: impl FnOnce(u64) -> bool) -> bool {
        self.always || self.is_contended_at(self.clock.now(), excused)
    }

    fn is_contended_at(&self, now: u64, excused: impl FnOnce(u64) -> bool) -> bool {
        let woken = self.woken.load(Ordering::Relaxed);
        // A thread that was woken and has still not come is late already, although nobody has judged it.
        now < self.until.load(Ordering::Relaxed) || woken != 0 && is_late(woken, now) && !excused(woken)
    }

    /// How long a thread, which has come, spins before it sleeps.
    pub fn spin_time(&self) -> Duration {
        if self.is_contended(|_| true) { TUNING.contended_spin_time } else { TUNING.spin_time }
    }
}

thread_local! {
    /// Nanoseconds for which this thread has waited in its work, since a [`Contention`] last read the clocks.
    static WAITED: Cell<u64> = const { Cell::new(0) };
}

/// Lets the calling thread, which is at work, wait for something else than a core.
pub fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = wait();
    WAITED.set(WAITED.get().saturating_add(begin.elapsed().as_nanos() as u64));
    result
}

/// Whether a thread that was woken then is late now.
fn is_late(woken: u64, now: u64) -> bool {
    now.saturating_sub(woken) > TUNING.late_time.as_nanos() as u64
}

/// The nanoseconds for which the calling thread has had a core; 0 if the system does not tell.
#[cfg(target_os = "linux")]
fn cpu_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure lives through the call.
    match unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) } {
        0 => time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64,
        _ => 0,
    }
}

/// Unknown on this system.
#[cfg(not(target_os = "linux"))]
fn cpu_time() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATE: u64 = TUNING.late_time.as_nanos() as u64 + 1;
    const MIN_PERIOD_NS: u64 = TUNING.contended_time.as_nanos() as u64;
    const MAX_PERIOD_NS: u64 = TUNING.contended_time_max.as_nanos() as u64;

    fn new(always: bool) -> Contention {
        Contention::new(Clock::new(), always)
    }

    fn until(contention: &Contention) -> u64 {
        contention.until.load(Ordering::Relaxed)
    }

    #[test]
    fn a_thread_that_does_not_come_in_time_finds_contention() {
        let contention = new(false);
        assert!(!contention.is_contended_at(1, |_| false));
        contention.woken.store(5, Ordering::Relaxed);
        assert!(!contention.is_contended_at(4 + LATE, |_| false), "it may still come in time");
        assert!(contention.is_contended_at(5 + LATE, |_| false), "it has not come yet");
        assert!(!contention.is_contended_at(5 + LATE, |woken| woken == 5), "it could not come");
        contention.came(|_| true);
        assert_eq!((contention.woken.load(Ordering::Relaxed), until(&contention)), (0, 0));
        contention.came(|_| false);
        assert_eq!(until(&contention), 0, "nobody woke it");
        // The test's own time: the machine's may pass as it likes.
        let time = Cell::new(1000);
        let comes_after = |nanos: u64| {
            contention.woken.store(time.get(), Ordering::Relaxed);
            time.set(time.get() + nanos);
            contention.came_at(time.get(), |_| false);
        };
        comes_after(LATE);
        assert_eq!(until(&contention), 0, "once may happen");
        comes_after(0);
        comes_after(LATE);
        assert_eq!(until(&contention), 0, "it came in time in between");
        comes_after(LATE);
        assert!(contention.is_contended_at(until(&contention) - 1, |_| true));
        assert!(!contention.is_contended_at(until(&contention), |_| true));
        let first = until(&contention);
        comes_after(0);
        comes_after(LATE);
        assert!(until(&contention) > first, "in doubt, once is enough");
    }

    #[test]
    fn a_thread_that_had_no_core_finds_contention() {
        let contention = new(false);
        let without_core = |now, cpu| contention.read(now, cpu).without_core;
        assert_eq!(without_core(100, 7), 0, "nothing to compare with");
        assert_eq!(without_core(150, 57), 0, "it had a core all the time");
        assert_eq!(without_core(250, 67), 90);
        assert_eq!(without_core(300, 0), 0, "the system does not tell");
        // This thread has no core while it sleeps. It wants none if it waits.
        contention.slept(|_| false);
        waiting(|| std::thread::sleep(Duration::from_nanos(LATE)));
        contention.worked();
        assert_eq!(until(&contention), 0);
        for found in [false, true] {
            std::thread::sleep(Duration::from_nanos(2 * LATE));
            contention.worked();
            assert_eq!(until(&contention) > 0, found && cfg!(target_os = "linux"));
        }
    }

    #[test]
    fn contention_in_a_row_counts_for_longer_each_time() {
        let contention = new(false);
        let mut now = 1000;
        let mut period = || {
            contention.found(now);
            let period = until(&contention) - now;
            // Shortly after the end of the period.
            now += period + 10;
            period
        };
        let periods: Vec<u64> = (0..12).map(|_| period()).collect();
        assert_eq!(periods[..3], [MIN_PERIOD_NS, 2 * MIN_PERIOD_NS, 4 * MIN_PERIOD_NS]);
        assert_eq!(periods[11], MAX_PERIOD_NS);
        let later = until(&contention) + MAX_PERIOD_NS;
        contention.found(later);
        assert_eq!(until(&contention), later + MIN_PERIOD_NS, "it came in time in between");
    }

    #[test]
    fn a_single_core_is_always_contended() {
        let one = new(true);
        assert!(one.is_contended(|_| true));
        assert_eq!(one.spin_time(), TUNING.contended_spin_time);
        assert_eq!(new(false).spin_time(), TUNING.spin_time);
    }
}
