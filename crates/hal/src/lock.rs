//! Locks whose waiters sleep: those of the standard library, which spin for a moment with pauses and then wait in a
//! futex.
//!
//! The locks of `parking_lot` call `sched_yield` before they sleep. If other processes want the core, each call gives
//! it away for whole time slices, some milliseconds, while the lock is held for less than a microsecond.
//!
//! There is no poisoning: what a panic under a lock leaves is whole, because no code that may panic runs between two
//! changes that belong together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{self, PoisonError, TryLockError};
use std::time::Duration;

/// The lock's holder.
pub type MutexGuard<'a, T> = sync::MutexGuard<'a, T>;

/// A lock around a value.
#[derive(Default, Debug)]
pub struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Unlocked.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(sync::Mutex::new(value))
    }

    /// Waits until nobody else has the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock, unless somebody has it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The value, which nobody else can reach.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A condition variable. Notifying it is a call of the system only while a thread waits.
///
/// What is waited for changes under the lock, so a thread that found it unchanged counts as a waiter before it can
/// change.
#[derive(Default, Debug)]
pub struct Condvar {
    inner: sync::Condvar,
    waiters: AtomicUsize,
}

/// A thread that waits, as long as this lives.
struct Waiter<'a>(&'a AtomicUsize);

impl<'a> Waiter<'a> {
    fn new(waiters: &'a AtomicUsize) -> Waiter<'a> {
        waiters.fetch_add(1, Ordering::Relaxed);
        Waiter(waiters)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Condvar {
    /// Without waiters.
    pub const fn new() -> Condvar {
        Condvar { inner: sync::Condvar::new(), waiters: AtomicUsize::new(0) }
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        // What is waited for was changed under the lock. A thread that saw it unchanged has counted itself under that
        // lock before, so that a relaxed read finds the count.
        if self.waiters.load(Ordering::Relaxed) > 0 {
            self.inner.notify_one();
        }
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        if self.waiters.load(Ordering::Relaxed) > 0 {
            self.inner.notify_all();
        }
    }

    /// Sleeps until it is woken, or for no reason, with the lock released meanwhile.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let _waiter = Waiter::new(&self.waiters);
        self.inner.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    /// [`wait`](Self::wait) for at most this time. Returns whether it has passed.
    pub fn wait_for<'a, T>(&self, guard: MutexGuard<'a, T>, time: Duration) -> (MutexGuard<'a, T>, bool) {
        let _waiter = Waiter::new(&self.waiters);
        let (guard, result) = self.inner.wait_timeout(guard, time).unwrap_or_else(PoisonError::into_inner);
        (guard, result.timed_out())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn a_panic_under_a_lock_does_not_close_it() {
        let mut lock = Mutex::new(1);
        let failed = catch_unwind(AssertUnwindSafe(|| {
            let mut value = lock.lock();
            *value = 2;
            panic!("expected in this test");
        }));
        assert!(failed.is_err());
        assert_eq!(*lock.lock(), 2);
        assert_eq!(lock.try_lock().as_deref().copied(), Some(2));
        {
            let _held = lock.lock();
            assert!(lock.try_lock().is_none());
        }
        assert_eq!((*lock.get_mut(), lock.into_inner()), (2, 2));
    }

    #[test]
    fn a_waiter_sleeps_until_it_is_woken_or_its_time_has_passed() {
        let (lock, changed) = (Mutex::new(false), Condvar::new());
        assert!(changed.wait_for(lock.lock(), Duration::from_millis(1)).1);
        std::thread::scope(|s| {
            s.spawn(|| {
                *lock.lock() = true;
                changed.notify_all();
            });
            let mut done = lock.lock();
            while !*done {
                done = changed.wait(done);
            }
        });
        assert!(lock.into_inner());
    }
}
