//! The driver's memory, with a reserve for when the system has none left.
//!
//! Rust ends the process if a small allocation fails: a list cannot grow, an event cannot be made. An application that
//! has run out of memory should get an error code instead. So the driver allocates from the system and, where that
//! fails, from a reserve, which is address space until then. While a part of the reserve is in use and the system still
//! refuses memory, calls that make or enqueue something fail with `CL_OUT_OF_HOST_MEMORY` before they begin
//! ([`is_short`]); releases, waits and queries go on. What is released comes back, so the application can recover.
//!
//! Allocations whose size the application decides do not get here: memory objects come from the system alone
//! (`hal-cpu`), copies of sources and lists are made with `try_reserve`, and nothing larger than [`LARGEST`] comes from
//! the reserve. What LLVM allocates is not Rust's: [`crate::wrapped`].
//!
//! The reserve hands out blocks whose sizes are powers of two, from lists of free ones or else from its unused end. When
//! all are back, it begins anew, which undoes all fragmentation.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::hint::black_box;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Bytes of address space.
const SIZE: usize = 64 << 20;
/// The smallest block, and the largest.
const SMALLEST: usize = 16;
const LARGEST: usize = 4 << 20;
/// Larger alignments are not provided.
const MAX_ALIGN: usize = 4096;
const CLASSES: usize = (LARGEST / SMALLEST).trailing_zeros() as usize + 1;

/// What must be free for calls to go on.
const NEEDED: usize = 1 << 20;

/// A block that is free begins with the address of the next one.
struct Blocks {
    free: [usize; CLASSES],
    /// Bytes before this one have been handed out.
    end: usize,
}

/// The reserve.
struct Reserve {
    /// Its address; 0: there is none.
    base: AtomicUsize,
    locked: AtomicBool,
    blocks: UnsafeCell<Blocks>,
    /// Bytes that are handed out.
    used: AtomicUsize,
}

// SAFETY: `blocks` is accessed under `locked` alone.
unsafe impl Sync for Reserve {}

/// The class of a layout: the exponent of its block's size above the smallest.
fn class(layout: Layout) -> Option<usize> {
    let size = layout.size().max(layout.align()).max(SMALLEST).checked_next_power_of_two()?;
    (size <= LARGEST && layout.align() <= MAX_ALIGN).then(|| (size / SMALLEST).trailing_zeros() as usize)
}

impl Reserve {
    const fn new() -> Reserve {
        let blocks = UnsafeCell::new(Blocks { free: [0; CLASSES], end: 0 });
        Reserve { base: AtomicUsize::new(0), locked: AtomicBool::new(false), blocks, used: AtomicUsize::new(0) }
    }

    /// Takes the address space, once. Without it, there is no reserve.
    fn prepare(&self) {
        if self.base.load(Ordering::Relaxed) != 0 {
            return;
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping, wherever there is room.
        let place = unsafe { libc::mmap(ptr::null_mut(), SIZE, protection, flags, -1, 0) };
        if place == libc::MAP_FAILED {
            return;
        }
        let made = self.base.compare_exchange(0, place.expose_provenance(), Ordering::Release, Ordering::Relaxed);
        if made.is_err() {
            // SAFETY: the mapping that was just made, and that nobody uses: another thread was first.
            unsafe { libc::munmap(place, SIZE) };
        }
    }

    fn owns(&self, block: *const u8) -> bool {
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
            if tries.is_multiple_of(100) {
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
    fn take(&self, layout: Layout) -> *mut u8 {
        let (Some(class), base @ 1..) = (class(layout), self.base.load(Ordering::Acquire)) else {
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
            let at = blocks.end.next_multiple_of(size.min(MAX_ALIGN));
            if at + size > SIZE {
                return 0;
            }
            blocks.end = at + size;
            self.used.fetch_add(size, Ordering::Relaxed);
            base + at
        });
        ptr::with_exposed_provenance_mut(taken.unwrap_or(0))
    }

    /// Takes a block back.
    fn give(&self, block: *mut u8, layout: Layout) {
        let Some(class) = class(layout) else { return };
        // If the lock does not come, the block is lost.
        let _ = self.with(|blocks| {
            let size = SMALLEST << class;
            if self.used.fetch_sub(size, Ordering::Relaxed) == size {
                *blocks = Blocks { free: [0; CLASSES], end: 0 };
                return;
            }
            // SAFETY: the block was handed out for this layout, is given back, and has room for an address.
            unsafe { block.cast::<usize>().write(blocks.free[class]) };
            blocks.free[class] = block.expose_provenance();
        });
    }
}

static RESERVE: Reserve = Reserve::new();

/// The driver's allocator.
pub struct Allocator;

// SAFETY: a block is the system's or the reserve's, has at least the size and alignment of its layout, and is given back
// to where it came from. Nothing here allocates or unwinds.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the same.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() { RESERVE.take(layout) } else { block }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the same.
        let mut block = unsafe { System.alloc_zeroed(layout) };
        if block.is_null() {
            block = RESERVE.take(layout);
            if !block.is_null() {
                // SAFETY: a block of at least this size.
                unsafe { block.write_bytes(0, layout.size()) };
            }
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if RESERVE.owns(block) {
            RESERVE.give(block, layout);
        } else {
            // SAFETY: it is the system's.
            unsafe { System.dealloc(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let is_reserve = RESERVE.owns(block);
        if !is_reserve {
            // SAFETY: it is the system's, and the caller's promise is the same.
            let larger = unsafe { System.realloc(block, layout, size) };
            if !larger.is_null() {
                return larger;
            }
        }
        // SAFETY: the caller promises that the new size is good with this alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if is_reserve && class(wanted).is_some() && class(wanted) == class(layout) {
            return block;
        }
        // SAFETY: the size is not 0, by the caller's promise.
        let other = unsafe { self.alloc(wanted) };
        if !other.is_null() {
            // SAFETY: two blocks with at least so many bytes; the old one is given up.
            unsafe {
                ptr::copy_nonoverlapping(block, other, layout.size().min(size));
                self.dealloc(block, layout);
            }
        }
        other
    }
}

/// Sees to it that there is a reserve.
pub fn prepare() {
    RESERVE.prepare();
}

/// Whether the reserve is in use, and the system still has no memory: calls should not begin anything.
pub fn is_short() -> bool {
    if RESERVE.used.load(Ordering::Relaxed) == 0 {
        return false;
    }
    // SAFETY: an allocation that is freed at once.
    unsafe {
        let probe = black_box(libc::malloc(NEEDED));
        libc::free(probe);
        probe.is_null()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static UNDER_TEST: Allocator = Allocator;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    #[test]
    fn blocks_are_aligned_apart_and_come_back() {
        let reserve = Reserve::new();
        assert!(reserve.take(layout(8, 8)).is_null(), "there is no address space yet");
        reserve.prepare();
        let sizes = [(1, 1), (16, 16), (17, 8), (100, 64), (5000, 4096), (LARGEST, 8), (24, 8)];
        let mut blocks = Vec::new();
        for round in 0..3 {
            for (i, (size, align)) in sizes.into_iter().enumerate() {
                let block = reserve.take(layout(size, align));
                assert!(reserve.owns(block) && block.addr().is_multiple_of(align));
                // SAFETY: the block has this size.
                unsafe { block.write_bytes(i as u8 + round, size) };
                blocks.push((block, size, align, i as u8 + round));
            }
        }
        for (block, size, align, byte) in blocks.drain(..) {
            // SAFETY: as above.
            assert!(unsafe { std::slice::from_raw_parts(block, size) }.iter().all(|b| *b == byte));
            reserve.give(block, layout(size, align));
        }
        assert_eq!(reserve.used.load(Ordering::Relaxed), 0);
        let again = reserve.take(layout(LARGEST, 8));
        assert_eq!(again.addr(), reserve.base.load(Ordering::Relaxed), "it begins anew");
    }

    #[test]
    fn it_ends_somewhere() {
        let reserve = Reserve::new();
        reserve.prepare();
        assert!(reserve.take(layout(LARGEST + 1, 8)).is_null());
        assert!(reserve.take(layout(8, MAX_ALIGN * 2)).is_null());
        let all: Vec<*mut u8> = std::iter::repeat_with(|| reserve.take(layout(LARGEST, 8))).take_while(|b| !b.is_null()).collect();
        assert_eq!(all.len(), SIZE / LARGEST);
        reserve.give(all[3], layout(LARGEST, 8));
        assert_eq!(reserve.take(layout(LARGEST, 8)), all[3]);
    }

    #[test]
    fn a_list_may_move_from_the_system_to_the_reserve_and_grow_there() {
        RESERVE.prepare();
        let small = layout(24, 8);
        // SAFETY: blocks are used with the layouts that they were allocated with.
        unsafe {
            let mut block = RESERVE.take(small);
            block.write_bytes(7, 24);
            block = Allocator.realloc(block, small, 30);
            assert!(RESERVE.owns(block), "it stays where it is");
            block = Allocator.realloc(block, layout(30, 8), 40_000);
            assert!(!RESERVE.owns(block), "the system has memory");
            assert_eq!(std::slice::from_raw_parts(block, 24), [7; 24]);
            Allocator.dealloc(block, layout(40_000, 8));
        }
        assert!(!is_short());
    }
}
