//! What `src/pool/sync.rs` has, made of Loom's types.

use loom::sync::atomic::{self, fence};
pub use loom::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

/// A lock that is not poisoned, like `cloom_hal::lock::Mutex`.
pub struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub fn new(value: T) -> Mutex<T> {
        Mutex(loom::sync::Mutex::new(value))
    }

    pub fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
        self.0.lock().expect("no thread panics while it holds a lock")
    }
}

/// Loom takes sequentially consistent accesses for acquire and release, but knows sequentially consistent fences. With
/// `SC`, an access is put between such fences, as compilers do it for machines that have nothing better; this orders
/// the accesses to several such atomics, which is what the protocol needs of them.
macro_rules! sequentially_consistent {
    ($name:ident, $int:ty) => {
        pub struct $name<const SC: bool>(atomic::$name);

        #[allow(dead_code, reason = "not every type needs every access")]
        impl<const SC: bool> $name<SC> {
            pub fn new(value: $int) -> Self {
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

            pub fn load(&self, order: Ordering) -> $int {
                Self::fenced(order, || self.0.load(order))
            }

            pub fn store(&self, value: $int, order: Ordering) {
                Self::fenced(order, || self.0.store(value, order));
            }

            pub fn fetch_add(&self, value: $int, order: Ordering) -> $int {
                Self::fenced(order, || self.0.fetch_add(value, order))
            }

            pub fn fetch_sub(&self, value: $int, order: Ordering) -> $int {
                Self::fenced(order, || self.0.fetch_sub(value, order))
            }

            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                change: impl FnMut($int) -> Option<$int>,
            ) -> Result<$int, $int> {
                self.0.fetch_update(set, fetch, change)
            }
        }
    };
}

sequentially_consistent!(AtomicU8, u8);
sequentially_consistent!(AtomicUsize, usize);

/// A handle of a thread. Loom has one, but its `unpark` also ends a wait for a lock, and it does not try the orders of
/// `park` and `unpark`; so each thread has a token under a lock.
#[derive(Clone, Default)]
pub struct Thread(Arc<Token>);

#[derive(Default)]
struct Token {
    unparked: loom::sync::Mutex<bool>,
    changed: loom::sync::Condvar,
}

impl Thread {
    pub fn unpark(&self) {
        *self.0.unparked.lock().expect("nobody panics here") = true;
        self.0.changed.notify_one();
    }
}

loom::thread_local! {
    static CURRENT: RefCell<Option<Thread>> = RefCell::default();
}

pub fn current() -> Thread {
    CURRENT.with(|current| current.borrow_mut().get_or_insert_default().clone())
}

pub fn park() {
    let token = current().0;
    let mut unparked = token.unparked.lock().expect("nobody panics here");
    while !*unparked {
        unparked = token.changed.wait(unparked).expect("nobody panics here");
    }
    *unparked = false;
}

/// A thread and its handle.
pub fn spawn(run: impl FnOnce() + 'static) -> (loom::thread::JoinHandle<()>, Thread) {
    let thread = Thread::default();
    let this = thread.clone();
    let join = loom::thread::spawn(move || {
        CURRENT.with(|current| *current.borrow_mut() = Some(this));
        run();
    });
    (join, thread)
}

/// Spins by looking once. As every order is tried, this sees the condition hold, and fail to hold.
pub fn spin(_time: Duration, mut condition: impl FnMut() -> bool) -> bool {
    condition()
}

/// Time stands still.
#[derive(Clone, Copy)]
pub struct Clock;

impl Clock {
    pub fn now(self) -> u64 {
        0
    }
}

/// Every thread comes in time.
pub struct Contention;

impl Contention {
    pub fn new(_clock: Clock, _always: bool) -> Contention {
        Contention
    }

    pub fn woke(&self) {}

    pub fn slept(&self, _excused: impl FnOnce(u64) -> bool) {}

    pub fn worked(&self) {}

    pub fn is_contended(&self, _excused: impl FnOnce(u64) -> bool) -> bool {
        false
    }

    pub fn spin_time(&self) -> Duration {
        Duration::ZERO
    }
}

/// Nobody knows a core: `src/cores.rs` on a system that does not tell.
pub mod cores {
    pub enum Cores {}

    impl Cores {
        pub fn keep_off(&self, _thread: i32, _core: i32) {}
    }

    pub fn here() -> i32 {
        -1
    }

    pub fn this_thread() -> i32 {
        0
    }
}
