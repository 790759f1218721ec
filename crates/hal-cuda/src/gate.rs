//! Gates: what is put on a stream waits until all of it is there.
//!
//! The beginning of a timed launch is an event before its first grid. On an idle GPU that event comes at once, and the
//! grid only when the host has submitted it, some microseconds later, which would count as the launch's. So the stream
//! first waits for a word of the host's memory to reach a number, and the host writes the number when event, grids and
//! event are submitted.

use crate::context::{Current, Gpu};
use crate::library::RawStream;
use crate::memory::HostBlock;
use cloom_hal::HalError;
use cloom_hal::lock::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// `CU_STREAM_WAIT_VALUE_GEQ`: the difference counts, so that the number may wrap.
const GEQ: u32 = 0;

/// The gate of one stream.
pub struct Gate {
    word: HostBlock,
    /// The number that was last waited for.
    last: Mutex<u32>,
}

/// A closed gate. It opens when this is dropped, also if submitting failed: else the stream would wait for ever.
pub struct Closed<'a> {
    gate: &'a Gate,
    last: MutexGuard<'a, u32>,
}

impl Gate {
    /// An open one.
    pub fn new(gpu: &Arc<Gpu>) -> Result<Gate, HalError> {
        Ok(Gate { word: HostBlock::allocate(gpu, size_of::<u32>())?, last: Mutex::new(0) })
    }

    /// Lets the stream wait until the result is dropped. `None` if the driver cannot.
    pub fn close(&self, current: &Current<'_>, stream: RawStream) -> Option<Closed<'_>> {
        let mut last = self.last.lock();
        let next = last.wrapping_add(1);
        // SAFETY: the word lives as long as the stream, and the host's memory has the same address on the GPU.
        let code = unsafe { (current.table().stream_wait_value)(stream, self.word.address(), next, GEQ) };
        current.check("cuStreamWaitValue32", code).ok()?;
        *last = next;
        Some(Closed { gate: self, last })
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        // SAFETY: the block has four bytes, aligned to pages, and only gates write them.
        let word = unsafe { AtomicU32::from_ptr(self.gate.word.pointer().cast()) };
        word.store(*self.last, Ordering::Release);
    }
}
