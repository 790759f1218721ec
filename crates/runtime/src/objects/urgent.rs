//! Urgent work: code that a launch waits for. What is made in the background meanwhile would take its time: compilers
//! that run in one process wait for each other's memory.

use cloom_hal::lock::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// How much urgent work there is.
#[derive(Default)]
pub(crate) struct Urgent {
    count: Mutex<usize>,
    none_left: Condvar,
}

impl Urgent {
    /// Does urgent work.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Ends it, also if it panics.
        struct Running<'a>(&'a Urgent);

        impl Drop for Running<'_> {
            fn drop(&mut self) {
                *self.0.count.lock() -= 1;
                self.0.none_left.notify_all();
            }
        }

        *self.count.lock() += 1;
        let _running = Running(self);
        work()
    }

    /// Waits until there is no urgent work and the time is over in which some may come.
    pub fn make_way(&self, grace: Duration) {
        let begin = Instant::now();
        let mut count = self.count.lock();
        loop {
            let left = grace.saturating_sub(begin.elapsed());
            if *count > 0 {
                count = self.none_left.wait(count);
            } else if left.is_zero() {
                return;
            } else {
                // Not under the lock, so that urgent work can begin meanwhile; then the loop waits for it.
                drop(count);
                std::thread::sleep(left);
                count = self.count.lock();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn background_work_comes_after_urgent_work_that_begins_soon() {
        let (urgent, is_over) = (Urgent::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                urgent.make_way(Duration::from_millis(500));
                assert!(is_over.load(Ordering::Relaxed));
            });
            urgent.run(|| {
                std::thread::sleep(Duration::from_millis(50));
                is_over.store(true, Ordering::Relaxed);
            });
        });
        urgent.make_way(Duration::ZERO);
    }

    #[test]
    fn work_that_panics_is_over() {
        let urgent = Urgent::default();
        let run = std::panic::AssertUnwindSafe(|| urgent.run(|| panic!("expected in this test")));
        assert!(std::panic::catch_unwind(run).is_err());
        urgent.make_way(Duration::ZERO);
    }
}
