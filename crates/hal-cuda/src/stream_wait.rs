//! Stream waits: commands that are submitted together also begin together.
//!
//! A timed launch begins with an event before its first grid. On an idle GPU, that event is reached at once, but the
//! grid begins only when the host has submitted it, some microseconds later. That delay would count as time of the
//! launch. So the stream first waits until a word of host memory has reached a number (`cuStreamWaitValue32`). The host
//! writes the number when it has submitted both events and the grids between them.
//!
//! The driver may wait for the GPU while it submits: to give kernels more local memory, to load them, or because
//! another thread frees something. It would wait for the stream, and the stream for the number, which is written only
//! after the call: a deadlock. So the stream does not wait before kernels whose submission may wait
//! ([`CudaKernel::may_be_held`](crate::module::CudaKernel::may_be_held)), and a *watchdog*, a thread that makes no
//! driver calls, writes numbers that streams have waited for too long.

use crate::context::{Current, Gpu};
use crate::library::RawStream;
use crate::memory::HostBlock;
use cloom_cuda_abi::constants::STREAM_WAIT_VALUE_GEQ;
use cloom_hal::HalError;
use cloom_hal::lock::{Condvar, Mutex, MutexGuard};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The interval at which the watchdog looks. A stream wait therefore ends after two intervals at the latest. Submitting
/// a launch takes a hundredth of one.
const WATCHDOG_INTERVAL: Duration = Duration::from_millis(1);
/// The watchdog ends after this many looks without a waiting stream, which is a second.
const MAX_IDLE_LOOKS: u32 = 1000;

/// The word that one stream waits for.
pub struct StreamWait {
    block: HostBlock,
    word: Arc<Word>,
    /// The number of the last wait.
    last: Mutex<u32>,
    watched: Arc<State>,
}

/// A word of host memory that a stream waits for. The watchdog refers to the word without its block, so that the
/// watchdog never frees a block: that is a driver call, which may wait for a stream that only the watchdog can release.
struct Word {
    /// Its address; null once the block is freed. It changes under the watchdog's lock.
    value: AtomicPtr<u32>,
    /// The number that the stream waits for. It equals the word's value if the stream does not wait.
    wanted: AtomicU32,
}

impl Word {
    /// A word of four aligned bytes, which stay valid until it is [withdrawn](State::withdraw).
    fn new(value: *mut u32) -> Arc<Word> {
        Arc::new(Word { value: AtomicPtr::new(value), wanted: AtomicU32::new(0) })
    }

    /// The word, for its owner, or with the lock of the watchdog.
    fn value(&self) -> Option<&AtomicU32> {
        let value = self.value.load(Ordering::Relaxed);
        // SAFETY: a word that is not null has four aligned bytes, which only this writes. They are freed by the owner,
        // or after the owner has made it null under the lock that another caller has.
        (!value.is_null()).then(|| unsafe { AtomicU32::from_ptr(value) })
    }

    /// Releases the streams that wait for numbers up to this one.
    fn release(&self, number: u32) {
        // The difference is compared, and not the numbers, which wrap. A number never goes back: the watchdog may
        // release one that the owner has passed meanwhile.
        let later = |value: u32| (number.wrapping_sub(value) as i32 > 0).then_some(number);
        if let Some(value) = self.value() {
            // An error means that the word has reached this number already.
            let _ = value.fetch_update(Ordering::Release, Ordering::Relaxed, later);
        }
    }

    /// The number for which a stream waits.
    fn awaited(&self) -> Option<u32> {
        let wanted = self.wanted.load(Ordering::Acquire);
        (wanted != self.value()?.load(Ordering::Relaxed)).then_some(wanted)
    }
}

/// A stream that waits. Dropping this releases it, also if submitting failed: otherwise it would wait for ever.
pub struct Held<'a> {
    wait: &'a StreamWait,
    last: MutexGuard<'a, u32>,
}

impl StreamWait {
    /// A word that no stream waits for yet.
    pub fn new(gpu: &Arc<Gpu>) -> Result<StreamWait, HalError> {
        let block = HostBlock::allocate(gpu, size_of::<u32>())?;
        let word = Word::new(block.pointer().cast());
        let watched = gpu.watchdog.state.clone();
        watched.looks.lock().words.push(Arc::downgrade(&word));
        Ok(StreamWait { block, word, last: Mutex::new(0), watched })
    }

    /// Lets the stream wait until the result is dropped. `None` if the driver has no stream waits, or no watchdog can
    /// be started.
    pub fn hold(&self, current: &Current<'_>, stream: RawStream) -> Option<Held<'_>> {
        // `Held` keeps this lock until the wait is released: two threads that submit timed launches to one stream take
        // turns, so that one number is awaited at a time.
        let mut last = self.last.lock();
        let next = last.wrapping_add(1);
        // Without a watchdog nothing would end a wait for which the driver itself waits.
        if !State::start(&self.watched) {
            return None;
        }
        // Before the call, so that the watchdog knows of the wait from its beginning.
        self.word.wanted.store(next, Ordering::Release);
        // SAFETY: the word lives as long as the stream, and the host's memory has the same address on the GPU.
        let code =
            unsafe { (current.table().stream_wait_value)(stream, self.block.address(), next, STREAM_WAIT_VALUE_GEQ) };
        *last = next;
        if current.check("cuStreamWaitValue32", code).is_err() {
            // The word gets the number although no stream waits for it, so that the watchdog sees no wait.
            self.word.release(next);
            return None;
        }
        Some(Held { wait: self, last })
    }
}

impl Drop for StreamWait {
    fn drop(&mut self) {
        // This runs before the block is freed, since fields are dropped after this function.
        self.watched.withdraw(&self.word);
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.wait.word.release(*self.last);
    }
}

/// Ends waits that are too long.
#[derive(Default)]
pub struct Watchdog {
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    looks: Mutex<Looks>,
    ended: Condvar,
}

#[derive(Default)]
struct Looks {
    words: Vec<Weak<Word>>,
    /// Whether the thread runs.
    runs: bool,
    /// Looks since the last one that saw a waiting stream.
    idle: u32,
    /// Whether the GPU is being released.
    ends: bool,
}

impl State {
    /// Starts the thread, unless it runs. Returns false if it cannot be started.
    fn start(this: &Arc<State>) -> bool {
        let mut looks = this.looks.lock();
        // Under the lock under which the thread decides to end: it either sees the 0 and goes on, or `runs` is false
        // here.
        looks.idle = 0;
        if !looks.runs {
            let state = this.clone();
            let thread = std::thread::Builder::new().name("cloom-watchdog".into());
            looks.runs = thread.spawn(move || watch(&state)).is_ok();
        }
        looks.runs
    }

    /// Removes a word whose block is about to be freed.
    fn withdraw(&self, word: &Arc<Word>) {
        let mut looks = self.looks.lock();
        looks.words.retain(|other| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(word)));
        word.value.store(std::ptr::null_mut(), Ordering::Relaxed);
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.state.looks.lock().ends = true;
        self.state.ended.notify_all();
    }
}

/// The watchdog's thread. Each look ends the waits that the previous look already saw.
fn watch(state: &State) {
    let mut before: Vec<(Weak<Word>, u32)> = Vec::new();
    let mut looks = state.looks.lock();
    loop {
        looks = state.ended.wait_for(looks, WATCHDOG_INTERVAL).0;
        for (word, number) in before.drain(..) {
            // A number that was awaited at the previous look and still is has been awaited for a whole interval.
            if let Some(word) = word.upgrade().filter(|word| word.awaited() == Some(number)) {
                word.release(number);
            }
        }
        looks.words.retain(|word| word.strong_count() > 0);
        for word in &looks.words {
            if let Some(number) = word.upgrade().and_then(|word| word.awaited()) {
                before.push((word.clone(), number));
            }
        }
        looks.idle = if before.is_empty() { looks.idle + 1 } else { 0 };
        // `runs` changes under the lock, so that the next wait of a stream starts a new thread.
        if looks.ends || looks.idle >= MAX_IDLE_LOOKS {
            looks.runs = false;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// Waits until the watchdog has written a number.
    fn is_released(value: &AtomicU32, number: u32) -> bool {
        let begin = Instant::now();
        while value.load(Ordering::Acquire) != number && begin.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(WATCHDOG_INTERVAL);
        }
        value.load(Ordering::Acquire) == number
    }

    #[test]
    fn the_watchdog_ends_a_wait_that_is_too_long() {
        let (watchdog, value) = (Watchdog::default(), AtomicU32::new(0));
        let word = Word::new(value.as_ptr());
        watchdog.state.looks.lock().words.push(Arc::downgrade(&word));
        assert!(State::start(&watchdog.state));
        for number in [1, 2, 7] {
            word.wanted.store(number, Ordering::Release);
            assert!(is_released(&value, number), "{number}");
        }
        word.release(5);
        assert_eq!(value.load(Ordering::Relaxed), 7, "it never goes back");
    }

    #[test]
    fn the_watchdog_does_not_touch_a_word_that_has_gone() {
        let (watchdog, value, other) = (Watchdog::default(), AtomicU32::new(0), AtomicU32::new(0));
        let (gone, word) = (Word::new(value.as_ptr()), Word::new(other.as_ptr()));
        watchdog.state.looks.lock().words.extend([Arc::downgrade(&gone), Arc::downgrade(&word)]);
        gone.wanted.store(1, Ordering::Release);
        watchdog.state.withdraw(&gone);
        assert!(State::start(&watchdog.state));
        word.wanted.store(1, Ordering::Release);
        assert!(is_released(&other, 1));
        assert_eq!((value.load(Ordering::Relaxed), gone.awaited()), (0, None));
        drop(gone);
        assert_eq!(watchdog.state.looks.lock().words.len(), 1);
    }
}
