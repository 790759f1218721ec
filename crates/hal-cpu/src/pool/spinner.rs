//! How a thread waits for another one: it spins for a bounded time, then its caller parks it.
//!
//! Spinning saves the two system calls and the two context switches of parking, if the awaited event is near and the
//! thread that brings it runs on another core. It never calls `sched_yield`: on a core that other processes want, that
//! call gives the core away for their whole time slices, some milliseconds each, while a parked thread that is woken
//! comes before threads that have used their share.
//!
//! On a machine with more runnable threads than cores ("contended") spinning does harm: the awaited thread may be
//! waiting for this very core, and the time is taken from the thread's own share. So a contended thread spins for
//! `contended_spin_time` only, the time of a chunk of work on another core.
//!
//! The sign of contention is that the system has preempted a thread of ours: its count of involuntary context switches
//! (`getrusage`) has grown since it was last read. A thread that always has a core is hardly ever preempted; one that
//! shares its core is preempted in each time slice. The count is read where a wait or a launch of some microseconds
//! is about to begin, so the system call does not matter, and one reading counts for `contended_time`, longer than a
//! time slice, for all threads of the device.
//!
//! Others decide it so: Rayon and crossbeam's `Backoff` spin with `sched_yield` a fixed number of times, then sleep;
//! oneTBB yields, too; glibc's adaptive mutex spins with pauses, for as long as it paid lately; Go spins with pauses, a
//! few times, and only if there are several cores and another one is idle. This is Go's rule, with preemption in place
//! of idle cores, which a process cannot see.

use cloom_hal::TUNING;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The rule by which the threads of a device spin.
pub struct Spinner {
    /// The process has one core: the awaited thread can only run when the waiting one does not.
    one_core: bool,
    epoch: Instant,
    /// Until then, in nanoseconds since `epoch`, the machine counts as contended.
    contended_until: AtomicU64,
}

thread_local! {
    /// How often this thread had been preempted when it last looked; negative before it has looked.
    static PREEMPTIONS: Cell<i64> = const { Cell::new(-1) };
}

impl Spinner {
    /// For a process that may use so many cores.
    pub fn new(cores: usize) -> Spinner {
        Spinner { one_core: cores <= 1, epoch: Instant::now(), contended_until: AtomicU64::new(0) }
    }

    /// Whether other threads want the cores of this device.
    pub fn is_contended(&self) -> bool {
        self.one_core || self.contended_after(preemptions())
    }

    /// [`is_contended`](Self::is_contended) for a calling thread that has been preempted so often.
    fn contended_after(&self, preemptions: i64) -> bool {
        let now = self.epoch.elapsed().as_nanos() as u64;
        let before = PREEMPTIONS.replace(preemptions);
        if before >= 0 && preemptions > before {
            self.contended_until.fetch_max(now + TUNING.contended_time.as_nanos() as u64, Ordering::Relaxed);
            return true;
        }
        now < self.contended_until.load(Ordering::Relaxed)
    }

    /// Spins until a condition holds, for a bounded time. Returns whether it holds.
    pub fn spin(&self, mut condition: impl FnMut() -> bool) -> bool {
        let mut tests = || {
            (0..TUNING.spins_per_clock).any(|_| {
                let holds = condition();
                if !holds {
                    std::hint::spin_loop();
                }
                holds
            })
        };
        // Waits that end at once need neither clock nor system call.
        if tests() {
            return true;
        }
        let limit = if self.is_contended() { TUNING.contended_spin_time } else { TUNING.spin_time };
        let begin = Instant::now();
        while begin.elapsed() < limit {
            if tests() {
                return true;
            }
        }
        tests()
    }

    /// Whether waking threads pays after this time, in which `done` equal parts of the work were done, with so many
    /// left: then returns how long these would take one thread.
    pub fn worth_waking(&self, time: Duration, done: u64, left: impl FnOnce() -> u64) -> Option<Duration> {
        if time < TUNING.solo_time {
            return None;
        }
        let rest = u128::from(left()).saturating_mul(time.as_nanos()) / u128::from(done.max(1));
        let rest = Duration::from_nanos(u64::try_from(rest).unwrap_or(u64::MAX));
        let pays = if rest < TUNING.long_job {
            rest >= TUNING.wake_min_rest && !self.is_contended()
        } else {
            self.is_long(rest)
        };
        pays.then_some(rest)
    }

    /// Whether work that would take one thread so long is worth waking threads for at once. On a contended machine, a
    /// thread that shares the work may lose its core in the middle of a chunk, for some time slices, and its owner has
    /// to wait for it; so work that fits into a time slice stays with the thread that has a core now.
    pub fn is_long(&self, time: Duration) -> bool {
        time >= TUNING.contended_long_job || time >= TUNING.long_job && !self.is_contended()
    }
}

/// How often the system has taken the core from the calling thread, for another one.
#[cfg(target_os = "linux")]
fn preemptions() -> i64 {
    // SAFETY: a plain structure of numbers, for which zeros are values.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the structure lives through the call.
    match unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) } {
        0 => usage.ru_nivcsw,
        _ => 0,
    }
}

/// Unknown on this system: no machine counts as contended.
#[cfg(not(target_os = "linux"))]
fn preemptions() -> i64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_thread_that_was_preempted_finds_the_machine_contended_for_a_while() {
        thread::spawn(|| {
            let spinner = Spinner::new(4);
            assert!(!spinner.contended_after(7), "the first reading has nothing to compare with");
            assert!(!spinner.contended_after(7));
            assert!(spinner.contended_after(8));
            assert!(spinner.contended_until.load(Ordering::Relaxed) > 0);
            // As if this were later.
            spinner.contended_until.store(0, Ordering::Relaxed);
            assert!(!spinner.contended_after(8));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_single_core_is_always_contended() {
        assert!(Spinner::new(1).is_contended());
    }

    /// Under `limit` there is no upper bound that a busy machine keeps, so only the least and the result are tested.
    #[test]
    fn spinning_ends_without_the_event_and_with_it() {
        let (spinner, begin) = (Spinner::new(2), Instant::now());
        assert!(!spinner.spin(|| false));
        assert!(begin.elapsed() >= TUNING.contended_spin_time);
        let mut tests = 0;
        let holds = spinner.spin(|| {
            tests += 1;
            tests == 3
        });
        assert!(holds && tests == 3, "{tests}");
    }

    #[test]
    fn workers_are_woken_only_when_it_pays() {
        let us = Duration::from_micros;
        let (idle, contended) = (Spinner { contended_until: AtomicU64::new(0), ..Spinner::new(2) }, Spinner::new(1));
        let worth = |time, done, left: u64| {
            PREEMPTIONS.set(i64::MAX);
            (idle.worth_waking(time, done, || left), contended.worth_waking(time, done, || left))
        };
        assert_eq!(worth(us(9), 1, 1000), (None, None));
        assert_eq!(worth(us(10), 10, 29), (None, None));
        assert_eq!(worth(us(10), 10, 30), (Some(us(30)), None));
        assert_eq!(worth(us(10), 10, 200), (Some(us(200)), None));
        assert_eq!(worth(us(10), 1, 299), (Some(us(2990)), None));
        assert_eq!(worth(us(1000), 1, 3), (Some(us(3000)), Some(us(3000))));
        assert_eq!(worth(Duration::MAX, 1, u64::MAX).0, Some(Duration::from_nanos(u64::MAX)));
    }
}
