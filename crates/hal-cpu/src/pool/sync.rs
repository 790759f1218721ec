//! The primitives that the hand-off protocol is made of, in one place.
//!
//! [`job`](super::job), [`mailbox`](super::mailbox) and [`shared`](super::shared) take every atomic, lock and thread
//! operation from here. `tests/handoff` compiles the same three files with another `sync` module, made of the types of
//! Loom, which runs them in every order that the memory model allows.

pub use super::contention::{Clock, Contention};
pub use cloom_hal::lock::Mutex;
pub use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU64, AtomicUsize, Ordering};
pub use std::thread::{Thread, current, park};

use cloom_hal::TUNING;
use std::time::{Duration, Instant};

/// Spins until a condition holds, for at most this time. Returns whether it holds.
///
/// It never calls `sched_yield`: on a core that other processes want, that call gives the core away for their whole
/// time slices, some milliseconds each, while a thread that parks and is woken comes before threads that have used
/// their share. Spinning saves the system calls and context switches of parking, if the awaited event is near and the
/// thread that brings it runs on another core.
pub fn spin(time: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let mut tests = || {
        (0..TUNING.spins_per_clock).any(|_| {
            let holds = condition();
            if !holds {
                std::hint::spin_loop();
            }
            holds
        })
    };
    // Waits that end at once need no clock.
    if tests() {
        return true;
    }
    let begin = Instant::now();
    while begin.elapsed() < time {
        if tests() {
            return true;
        }
    }
    tests()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spinning_ends_without_the_event_and_with_it() {
        let begin = Instant::now();
        assert!(!spin(Duration::from_micros(50), || false));
        assert!(begin.elapsed() >= Duration::from_micros(50));
        let mut tests = 0;
        let holds = spin(Duration::ZERO, || {
            tests += 1;
            tests == 3
        });
        assert!(holds && tests == 3, "{tests}");
    }
}
