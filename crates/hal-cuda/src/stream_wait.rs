//! Stream waits: what is put on a stream begins only when all of it is there.
//!
//! The beginning of a timed launch is an event before its first grid. On an idle GPU that event comes at once, and the
//! grid only when the host has submitted it, some microseconds later, which would count as the launch's. So the stream
//! first waits until a word of the host's memory has reached a number (`cuStreamWaitValue32`), and the host writes the
//! number when event, grids and event are submitted.
//!
//! The driver may wait for the GPU while it submits: to give kernels more local memory, to load them, or because
//! another thread frees something. The driver would wait for the stream, and the stream for the number that is written
//! after the call. So the stream does not wait before kernels whose submission may wait
//! ([`CudaKernel::may_be_held`](crate::module::CudaKernel::may_be_held)), and a *watchdog*, a thread that calls no
//! driver, writes numbers that streams have waited for too long.

use crate::context::{Current, Gpu};
use crate::library::RawStream;
use crate::memory::HostBlock;
use cloom_cuda_abi::constants::STREAM_WAIT_VALUE_GEQ;
use cloom_hal::HalError;
use cloom_hal::lock::{Condvar, Mutex, MutexGuard};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The watchdog looks once in this time, and so ends a wait after twice the time at the latest. Submitting a launch
/// takes a hundredth of it.
const WATCHDOG_INTERVAL: Duration = Duration::from_millis(1);
/// The watchdog ends after so many looks without a stream that waits: a second.
const MAX_IDLE_LOOKS: u32 = 1000;

/// What one stream waits for.
pub struct StreamWait {
    block: HostBlock,
    word: Arc<Word>,
    /// The number that was last waited for.
    last: Mutex<u32>,
    watched: Arc<State>,
}

/// A word of the host's memory that a stream waits for. The watchdog has it without the block, so that it never frees
/// one: that is a call of the driver, which may wait for a stream that only the watchdog lets go on.
struct Word {
    /// Where it is; null when the block goes, which changes under the lock of the watchdog.
    value: AtomicPtr<u32>,
    /// The number that the stream waits for; that of the word if it waits for none.
    wanted: AtomicU32,
}

impl Word {
    /// A word of four aligned bytes, which are there until it is [withdrawn](State::withdraw).
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

    /// Lets those go on that wait for numbers up to this one.
    fn release(&self, number: u32) {
        let later = |value: u32| (number.wrapping_sub(value) as i32 > 0).then_some(number);
        if let Some(value) = self.value() {
            // An error says that it has the number already.
            let _ = value.fetch_update(Ordering::Release, Ordering::Relaxed, later);
        }
    }

    /// The number for which a stream waits.
    fn awaited(&self) -> Option<u32> {
        let wanted = self.wanted.load(Ordering::Acquire);
        (wanted != self.value()?.load(Ordering::Relaxed)).then_some(wanted)
    }
}

/// A stream that waits. It goes on when this is dropped, also if submitting failed: else it would wait for ever.
pub struct Held<'a> {
    wait: &'a StreamWait,
    last: MutexGuard<'a, u32>,
}

impl StreamWait {
    /// Nobody waits so far.
    pub fn new(gpu: &Arc<Gpu>) -> Result<StreamWait, HalError> {
        let block = HostBlock::allocate(gpu, size_of::<u32>())?;
        let word = Word::new(block.pointer().cast());
        let watched = gpu.watchdog.state.clone();
        watched.looks.lock().words.push(Arc::downgrade(&word));
        Ok(StreamWait { block, word, last: Mutex::new(0), watched })
    }

    /// Lets the stream wait until the result is dropped. `None` if the driver cannot, or there would be no watchdog.
    pub fn hold(&self, current: &Current<'_>, stream: RawStream) -> Option<Held<'_>> {
        let mut last = self.last.lock();
        let next = last.wrapping_add(1);
        if !State::start(&self.watched) {
            return None;
        }
        self.word.wanted.store(next, Ordering::Release);
        // SAFETY: the word lives as long as the stream, and the host's memory has the same address on the GPU.
        let code =
            unsafe { (current.table().stream_wait_value)(stream, self.block.address(), next, STREAM_WAIT_VALUE_GEQ) };
        *last = next;
        if current.check("cuStreamWaitValue32", code).is_err() {
            self.word.release(next);
            return None;
        }
        Some(Held { wait: self, last })
    }
}

impl Drop for StreamWait {
    fn drop(&mut self) {
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
    /// Whether there is a thread.
    runs: bool,
    /// Looks since a stream waited last.
    idle: u32,
    /// The GPU is given back.
    ends: bool,
}

impl State {
    /// Sees to it that there is a thread. False if there can be none.
    fn start(this: &Arc<State>) -> bool {
        let mut looks = this.looks.lock();
        looks.idle = 0;
        if !looks.runs {
            let state = this.clone();
            let thread = std::thread::Builder::new().name("cloom-watchdog".into());
            looks.runs = thread.spawn(move || watch(&state)).is_ok();
        }
        looks.runs
    }

    /// A word goes.
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

/// The thread: at each look it ends the waits that it saw at the last one already.
fn watch(state: &State) {
    let mut before: Vec<(Weak<Word>, u32)> = Vec::new();
    let mut looks = state.looks.lock();
    loop {
        looks = state.ended.wait_for(looks, WATCHDOG_INTERVAL).0;
        for (word, number) in before.drain(..) {
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
