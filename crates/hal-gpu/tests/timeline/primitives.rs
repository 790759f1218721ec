//! The primitives of `src/timeline/sync.rs`, made of Loom's types.

use loom::sync::atomic::{self, fence};
pub use loom::sync::atomic::{AtomicU64, Ordering};
use std::ops::Sub;
use std::time::Duration;

/// A lock that is not poisoned, like `cloom_hal::lock::Mutex`.
pub struct Mutex<T>(loom::sync::Mutex<T>);

pub type MutexGuard<'a, T> = loom::sync::MutexGuard<'a, T>;

impl<T> Mutex<T> {
    pub fn new(value: T) -> Mutex<T> {
        Mutex(loom::sync::Mutex::new(value))
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().expect("no thread panics while it holds a lock")
    }

    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok()
    }

    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().expect("no thread panics while it holds a lock")
    }
}

/// A condition variable. Its time-outs expire when the scenario says so, at the end.
pub struct Condvar {
    inner: loom::sync::Condvar,
    expired: atomic::AtomicBool,
}

impl Condvar {
    pub fn new() -> Condvar {
        Condvar { inner: loom::sync::Condvar::new(), expired: atomic::AtomicBool::new(false) }
    }

    pub fn notify_one(&self) {
        self.inner.notify_one();
    }

    pub fn notify_all(&self) {
        self.inner.notify_all();
    }

    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.inner.wait(guard).expect("no thread panics while it holds a lock")
    }

    pub fn wait_for<'a, T>(&self, guard: MutexGuard<'a, T>, _time: Duration) -> (MutexGuard<'a, T>, bool) {
        if self.expired.load(Ordering::Relaxed) {
            return (guard, true);
        }
        let guard = self.wait(guard);
        (guard, self.expired.load(Ordering::Relaxed))
    }

    /// Lets the time-outs of all waits expire, also of later ones. Called under the lock.
    pub fn expire(&self) {
        self.expired.store(true, Ordering::Relaxed);
        self.inner.notify_all();
    }
}

/// Loom takes sequentially consistent accesses for acquire and release, but knows sequentially consistent fences. With
/// `SC`, an access is put between such fences, as compilers do it for machines that have nothing better.
macro_rules! sequentially_consistent {
    ($name:ident, $value:ty, $($rmw:ident),*) => {
        pub struct $name<const SC: bool>(atomic::$name);

        #[allow(dead_code, reason = "not every type needs every access")]
        impl<const SC: bool> $name<SC> {
            pub fn new(value: $value) -> Self {
                $name(atomic::$name::new(value))
            }

            fn fenced<T>(order: Ordering, access: impl FnOnce() -> T) -> T {
                let fenced = SC && order == Ordering::SeqCst;
                if fenced {
                    fence(Ordering::SeqCst);
                }
                let result = access();
                if fenced {
                    fence(Ordering::SeqCst);
                }
                result
            }

            pub fn load(&self, order: Ordering) -> $value {
                Self::fenced(order, || self.0.load(order))
            }

            pub fn store(&self, value: $value, order: Ordering) {
                Self::fenced(order, || self.0.store(value, order));
            }

            $(pub fn $rmw(&self, value: $value, order: Ordering) -> $value {
                Self::fenced(order, || self.0.$rmw(value, order))
            })*
        }
    };
}

sequentially_consistent!(AtomicBool, bool,);
sequentially_consistent!(AtomicUsize, usize, fetch_add, fetch_sub);

/// Every time has passed whenever somebody looks: who spins looks once. As every order is tried, this sees a condition
/// hold, and fail to hold.
#[derive(Clone, Copy)]
pub struct Instant;

const PASSED: Duration = Duration::from_secs(1);

impl Instant {
    pub fn now() -> Instant {
        Instant
    }

    pub fn elapsed(self) -> Duration {
        PASSED
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, _: Instant) -> Duration {
        PASSED
    }
}

pub fn spin_loop() {
    loom::thread::yield_now();
}

pub fn pause() {
    loom::thread::yield_now();
}

pub fn sleep(_time: Duration) {
    loom::thread::yield_now();
}

pub fn spawn(_name: &str, run: impl FnOnce() + Send + 'static) -> bool {
    loom::thread::spawn(run);
    true
}
