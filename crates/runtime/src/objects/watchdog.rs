//! The watchdog: ends launches of kernels that nobody trusts and that take too long.
//!
//! Code with [polls](cloom_ir::Hidden::Stop) ends once a word of its launch is not 0. In come the words of launches
//! when they begin; when one has run for the limit, its word is set. A launch that ends in time takes its word back.
//!
//! The thread is started by the first launch, and ends when there has been none for a while.

use cloom_hal::lock::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// The word of a launch: not 0 when it must end.
#[derive(Default)]
pub(crate) struct StopWord(AtomicI32);

impl StopWord {
    /// Its address, for the kernel.
    pub fn address(&self) -> u64 {
        self.0.as_ptr().expose_provenance() as u64
    }

    /// Whether the launch was asked to end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

/// The launches that are watched.
#[derive(Default)]
struct Watched {
    next: u64,
    /// The words, and when they are set, in the order in which the launches began.
    launches: BTreeMap<u64, (Instant, Arc<StopWord>)>,
    has_thread: bool,
}

#[derive(Default)]
struct Shared {
    watched: Mutex<Watched>,
    /// Notified when there is a launch with a short limit.
    begun: Condvar,
}

/// Watches launches.
#[derive(Default)]
pub(crate) struct Watchdog(Arc<Shared>);

/// A year: longer than any program waits for a launch.
const NEVER: Duration = Duration::from_secs(365 * 86_400);

/// How often the thread looks, and how long it waits for another launch.
const PERIOD: Duration = Duration::from_secs(5);

impl Watchdog {
    /// Watches a launch, from now until the result is dropped.
    pub fn watch(&self, word: &Arc<StopWord>, limit: Duration) -> Watch<'_> {
        // A limit that no clock counts to is none.
        let now = Instant::now();
        let at = now.checked_add(limit).unwrap_or(now + NEVER);
        let mut watched = self.0.watched.lock();
        let number = watched.next;
        watched.next += 1;
        watched.launches.insert(number, (at, word.clone()));
        if !std::mem::replace(&mut watched.has_thread, true) {
            let shared = self.0.clone();
            let thread = std::thread::Builder::new().name("cloom-watchdog".into()).spawn(move || run(&shared));
            // Without a thread nothing ends the launch, which is how other kernels run; the next one tries again.
            watched.has_thread = thread.is_ok();
        }
        // The thread looks every five seconds anyway: most launches need not wake it.
        if limit < PERIOD {
            self.0.begun.notify_one();
        }
        Watch { shared: &self.0, number }
    }
}

/// A launch that is watched.
pub(crate) struct Watch<'a> {
    shared: &'a Shared,
    number: u64,
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.shared.watched.lock().launches.remove(&self.number);
    }
}

fn run(shared: &Shared) {
    let mut watched = shared.watched.lock();
    let mut last = Instant::now();
    loop {
        let now = Instant::now();
        // Limits may differ, so that the first launch is not always the first to be ended.
        let over: Vec<u64> = watched.launches.iter().filter(|(_, (at, _))| *at <= now).map(|(&n, _)| n).collect();
        for (_, word) in over.iter().filter_map(|n| watched.launches.remove(n)) {
            word.0.store(1, Ordering::Relaxed);
        }
        let next = watched.launches.values().map(|(at, _)| *at).min();
        if next.is_some() {
            last = now;
        } else if now.duration_since(last) >= PERIOD {
            watched.has_thread = false;
            return;
        }
        let wait = next.map_or(PERIOD, |at| at.saturating_duration_since(now).min(PERIOD));
        (watched, _) = shared.begun.wait_for(watched, wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_that_takes_too_long_is_asked_to_end_and_no_other() {
        let watchdog = Watchdog::default();
        let [slow, fast, patient] = [(); 3].map(|()| Arc::new(StopWord::default()));
        let _slow = watchdog.watch(&slow, Duration::from_millis(20));
        let _patient = watchdog.watch(&patient, Duration::from_secs(3600));
        drop(watchdog.watch(&fast, Duration::from_millis(20)));
        let begin = Instant::now();
        while !slow.is_set() && begin.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!([&slow, &fast, &patient].map(|word| word.is_set()), [true, false, false]);
    }
}
