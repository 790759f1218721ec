//! A reserve of memory for when the system has none left.
//!
//! Rust ends the process if a small allocation fails: a list cannot grow, an event cannot be made. An application that
//! has run out of memory should get an error code instead. So the driver allocates from the C library and, where that
//! fails, from a reserve, which is address space until then ([`crate::wrapped`]). While a part of the reserve is in use
//! and the system still refuses memory, calls that make or enqueue something fail with `CL_OUT_OF_HOST_MEMORY` before
//! they begin ([`crate::wrapped::is_short`]); releases, waits and queries go on. What is released comes back, so the
//! application can recover. Nothing larger than [`LARGEST`] comes from the reserve: what has a size of the
//! application's choice is allocated where a failure is an error code.
//!
//! The reserve is divided into spans. A span has blocks of one size, a power of two; a larger block has several spans.
//! When all blocks are back, it begins anew, which undoes all fragmentation.

use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Bytes of address space.
const SIZE: usize = 64 << 20;
/// The smallest block, and the largest.
const SMALLEST: usize = 16;
const LARGEST: usize = 4 << 20;
const CLASSES: usize = (LARGEST / SMALLEST).trailing_zeros() as usize + 1;
const SPAN: usize = 64 << 10;

/// Where blocks are.
struct Blocks {
    /// The class of the blocks of each span.
    classes: [u8; SIZE / SPAN],
    /// Spans before this one have a class.
    spans: usize,
    /// The first free block of each class, which begins with the address of the next one; 0: there is none.
    free: [usize; CLASSES],
    /// For each class, the offset of what has never been handed out of its last span, and the end of that.
    open: [(usize, usize); CLASSES],
}

impl Blocks {
    const EMPTY: Blocks = Blocks { classes: [0; SIZE / SPAN], spans: 0, free: [0; CLASSES], open: [(0, 0); CLASSES] };
}

/// A reserve.
pub struct Reserve {
    /// Its address; 0: there is none.
    base: AtomicUsize,
    locked: AtomicBool,
    blocks: UnsafeCell<Blocks>,
    /// Bytes that are handed out.
    used: AtomicUsize,
}

// SAFETY: `blocks` is accessed under `locked` alone.
unsafe impl Sync for Reserve {}

/// Blocks are aligned to their size, up to a span.
fn class_of(size: usize, align: usize) -> Option<usize> {
    let size = size.max(align).max(SMALLEST).checked_next_power_of_two()?;
    (size <= LARGEST && align <= SPAN).then(|| (size / SMALLEST).trailing_zeros() as usize)
}

impl Reserve {
    const fn new() -> Reserve {
        let blocks = UnsafeCell::new(Blocks::EMPTY);
        Reserve { base: AtomicUsize::new(0), locked: AtomicBool::new(false), blocks, used: AtomicUsize::new(0) }
    }

    /// Takes the address space, once. Without it, there is no reserve.
    pub fn prepare(&self) {
        if self.base.load(Ordering::Relaxed) != 0 {
            return;
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // Address space alone: memory is taken page by page when the reserve is used.
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // One span more, for the alignment.
        // SAFETY: a new mapping, wherever there is room.
        let place = unsafe { libc::mmap(ptr::null_mut(), SIZE + SPAN, protection, flags, -1, 0) };
        if place == libc::MAP_FAILED {
            return;
        }
        let base = place.expose_provenance().next_multiple_of(SPAN);
        if self.base.compare_exchange(0, base, Ordering::Release, Ordering::Relaxed).is_err() {
            // SAFETY: the mapping that was just made, and that nobody uses: another thread was first.
            unsafe { libc::munmap(place, SIZE + SPAN) };
        }
    }

    /// Whether a part of it is handed out.
    pub fn is_in_use(&self) -> bool {
        self.used.load(Ordering::Relaxed) > 0
    }

    /// Whether a block is of this reserve.
    pub fn owns(&self, block: *const u8) -> bool {
        let base = self.base.load(Ordering::Relaxed);
        base != 0 && block.addr().wrapping_sub(base) < SIZE
    }

    /// Calls a function with the blocks. `None` if the lock does not come: its holder may be a thread that a fork lost.
    fn with<T>(&self, call: impl FnOnce(&mut Blocks) -> T) -> Option<T> {
        let mut tries = 0u32;
        while self.locked.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            tries += 1;
            if tries > 10_000 {
                return None;
            }
            if tries.is_multiple_of(10) {
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
        // SAFETY: the lock is held, so nobody else has the blocks.
        let result = call(unsafe { &mut *self.blocks.get() });
        self.locked.store(false, Ordering::Release);
        Some(result)
    }

    /// A block; null if there is none.
    pub fn take(&self, size: usize, align: usize) -> *mut u8 {
        let (Some(class), base @ 1..) = (class_of(size, align), self.base.load(Ordering::Acquire)) else {
            return ptr::null_mut();
        };
        let size = SMALLEST << class;
        let taken = self.with(|blocks| {
            let first = blocks.free[class];
            if first != 0 {
                // SAFETY: a free block of this reserve, which begins with the address of the next.
                blocks.free[class] = unsafe { ptr::with_exposed_provenance::<usize>(first).read() };
                self.used.fetch_add(size, Ordering::Relaxed);
                return first;
            }
            // A new span, which has blocks of this class only: the size of a block then follows from its address.
            if blocks.open[class].0 == blocks.open[class].1 {
                let (spans, at) = (size.div_ceil(SPAN), blocks.spans);
                // The reserve is used up.
                let Some(new) = blocks.classes.get_mut(at..at + spans) else { return 0 };
                new.fill(class as u8);
                blocks.spans += spans;
                blocks.open[class] = (at * SPAN, (at + spans) * SPAN);
            }
            let at = blocks.open[class].0;
            blocks.open[class].0 += size;
            self.used.fetch_add(size, Ordering::Relaxed);
            base + at
        });
        ptr::with_exposed_provenance_mut(taken.unwrap_or(0))
    }

    /// The bytes of a block of this reserve.
    pub fn size(&self, block: *const u8) -> usize {
        let span = block.addr().wrapping_sub(self.base.load(Ordering::Relaxed)) / SPAN;
        self.with(|blocks| SMALLEST << blocks.classes[span]).unwrap_or(0)
    }

    /// Takes a block of this reserve back.
    pub fn give(&self, block: *mut u8) {
        let span = block.addr().wrapping_sub(self.base.load(Ordering::Relaxed)) / SPAN;
        // If the lock does not come, the block is lost.
        let _ = self.with(|blocks| {
            let class = usize::from(blocks.classes[span]);
            let size = SMALLEST << class;
            if self.used.fetch_sub(size, Ordering::Relaxed) == size {
                *blocks = Blocks::EMPTY;
                return;
            }
            // SAFETY: a block that was handed out, is given back, and has room for an address.
            unsafe { block.cast::<usize>().write(blocks.free[class]) };
            blocks.free[class] = block.expose_provenance();
        });
    }
}

/// The reserve of the driver.
pub static RESERVE: Reserve = Reserve::new();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_apart_and_come_back() {
        let reserve = Reserve::new();
        assert!(reserve.take(8, 8).is_null(), "there is no address space yet");
        reserve.prepare();
        let sizes = [(1, 1), (16, 16), (17, 8), (100, 64), (5000, 4096), (LARGEST, 8), (24, 8), (70_000, 65_536)];
        let mut blocks = Vec::new();
        for round in 0..3 {
            for (i, (size, align)) in sizes.into_iter().enumerate() {
                let block = reserve.take(size, align);
                assert!(reserve.owns(block) && block.addr().is_multiple_of(align) && reserve.size(block) >= size);
                // SAFETY: the block has this size.
                unsafe { block.write_bytes(i as u8 + round, size) };
                blocks.push((block, size, i as u8 + round));
            }
        }
        for (block, size, byte) in blocks.drain(..) {
            // SAFETY: the block has this size, and all its bytes were written above.
            assert!(unsafe { std::slice::from_raw_parts(block, size) }.iter().all(|b| *b == byte));
            reserve.give(block);
        }
        assert_eq!(reserve.used.load(Ordering::Relaxed), 0);
        let again = reserve.take(LARGEST, 8);
        assert_eq!(again.addr(), reserve.base.load(Ordering::Relaxed), "it begins anew");
    }

    #[test]
    fn it_ends_somewhere() {
        let reserve = Reserve::new();
        reserve.prepare();
        assert!(reserve.take(LARGEST + 1, 8).is_null() && reserve.take(usize::MAX, 8).is_null());
        assert!(reserve.take(8, SPAN * 2).is_null());
        let more = std::iter::repeat_with(|| reserve.take(LARGEST, 8));
        let all: Vec<*mut u8> = more.take_while(|block| !block.is_null()).collect();
        assert_eq!(all.len(), SIZE / LARGEST);
        assert!(reserve.take(16, 16).is_null());
        reserve.give(all[3]);
        assert_eq!(reserve.take(LARGEST, 8), all[3]);
    }
}
