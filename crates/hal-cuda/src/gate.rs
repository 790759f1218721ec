//! Gates: what is put on a stream waits until all of it is there.
//!
//! The beginning of a timed launch is an event before its first grid. On an idle GPU that event comes at once, and the
//! grid only when the host has submitted it, some microseconds later, which would count as the launch's. So the stream
//! first waits for a word of the host's memory to reach a number, and the host writes the number when event, grids and
//! event are submitted.
//!
//! The driver may wait for the GPU while it submits: to give kernels more local memory, to load them, or because
//! another thread frees something. It would wait for the gate, and the gate for it. So kernels whose submission may
//! wait get no gate ([`CudaKernel::may_be_gated`](crate::module::CudaKernel::may_be_gated)), and a *keeper*, a thread
//! that calls no driver, opens gates that are closed for long.

use crate::context::{Current, Gpu};
use crate::library::RawStream;
use crate::memory::HostBlock;
use cloom_cuda_abi::constants::STREAM_WAIT_VALUE_GEQ;
use cloom_hal::HalError;
use cloom_hal::lock::{Condvar, Mutex, MutexGuard};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A gate is open after twice this time at the latest. Submitting a launch takes a hundredth of it.
const TICK: Duration = Duration::from_millis(1);
/// The keeper ends after so many ticks without a closed gate.
const IDLE_TICKS: u32 = 1000;

/// The gate of one stream.
pub struct Gate {
    word: Arc<Word>,
    /// The number that was last waited for.
    last: Mutex<u32>,
}

/// What a stream waits for.
struct Word {
    block: HostBlock,
    /// The number that the stream waits for; that of the word if it waits for none.
    wanted: AtomicU32,
}

impl Word {
    fn value(&self) -> &AtomicU32 {
        // SAFETY: the block has four bytes, aligned to pages, and lives as long as `self`; only this writes them.
        unsafe { AtomicU32::from_ptr(self.block.pointer().cast()) }
    }

    /// Lets those go on that wait for numbers up to this one.
    fn open(&self, number: u32) {
        let later = |value: u32| (number.wrapping_sub(value) as i32 > 0).then_some(number);
        // An error says that it is open already.
        let _ = self.value().fetch_update(Ordering::Release, Ordering::Relaxed, later);
    }

    /// The number for which a stream waits.
    fn closed(&self) -> Option<u32> {
        let wanted = self.wanted.load(Ordering::Acquire);
        (wanted != self.value().load(Ordering::Relaxed)).then_some(wanted)
    }
}

/// A closed gate. It opens when this is dropped, also if submitting failed: else the stream would wait for ever.
pub struct Closed<'a> {
    gate: &'a Gate,
    last: MutexGuard<'a, u32>,
}

impl Gate {
    /// An open one.
    pub fn new(gpu: &Arc<Gpu>) -> Result<Gate, HalError> {
        let block = HostBlock::allocate(gpu, size_of::<u32>())?;
        let word = Arc::new(Word { block, wanted: AtomicU32::new(0) });
        gpu.keeper.add(&word);
        Ok(Gate { word, last: Mutex::new(0) })
    }

    /// Lets the stream wait until the result is dropped. `None` if the driver cannot, or nobody would keep the gate.
    pub fn close(&self, current: &Current<'_>, stream: RawStream) -> Option<Closed<'_>> {
        let mut last = self.last.lock();
        let next = last.wrapping_add(1);
        if !current.gpu.keeper.start() {
            return None;
        }
        self.word.wanted.store(next, Ordering::Release);
        // SAFETY: the word lives as long as the stream, and the host's memory has the same address on the GPU.
        let code = unsafe {
            (current.table().stream_wait_value)(stream, self.word.block.address(), next, STREAM_WAIT_VALUE_GEQ)
        };
        *last = next;
        if current.check("cuStreamWaitValue32", code).is_err() {
            self.word.open(next);
            return None;
        }
        Some(Closed { gate: self, last })
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.gate.word.open(*self.last);
    }
}

/// Opens gates that are closed for long.
#[derive(Default)]
pub struct Keeper {
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    rounds: Mutex<Rounds>,
    ended: Condvar,
}

#[derive(Default)]
struct Rounds {
    words: Vec<Weak<Word>>,
    /// Whether there is a thread.
    runs: bool,
    /// Ticks since a gate was closed last.
    idle: u32,
    /// The GPU is given back.
    ends: bool,
}

impl Keeper {
    fn add(&self, word: &Arc<Word>) {
        self.state.rounds.lock().words.push(Arc::downgrade(word));
    }

    /// Sees to it that there is a thread. False if there can be none.
    fn start(&self) -> bool {
        let mut rounds = self.state.rounds.lock();
        rounds.idle = 0;
        if !rounds.runs {
            let state = self.state.clone();
            let thread = std::thread::Builder::new().name("cloom-gates".into());
            rounds.runs = thread.spawn(move || keep(&state)).is_ok();
        }
        rounds.runs
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.state.rounds.lock().ends = true;
        self.state.ended.notify_all();
    }
}

/// The thread: each tick it opens what was closed at the last one already.
fn keep(state: &State) {
    let mut before: Vec<(Weak<Word>, u32)> = Vec::new();
    let mut rounds = state.rounds.lock();
    loop {
        rounds = state.ended.wait_for(rounds, TICK).0;
        for (word, number) in before.drain(..) {
            if let Some(word) = word.upgrade().filter(|word| word.closed() == Some(number)) {
                word.open(number);
            }
        }
        rounds.words.retain(|word| word.strong_count() > 0);
        for word in &rounds.words {
            if let Some(number) = word.upgrade().and_then(|word| word.closed()) {
                before.push((word.clone(), number));
            }
        }
        rounds.idle = if before.is_empty() { rounds.idle + 1 } else { 0 };
        if rounds.ends || rounds.idle >= IDLE_TICKS {
            rounds.runs = false;
            return;
        }
    }
}
