//! Blocks of raw memory: buffers, and each thread's reusable local memory and scratch.
//!
//! A block is followed by spare bytes, so that a kernel that writes a little past the end of its buffer corrupts
//! neither the allocator's records nor the application's data after it, and the host process survives:
//!
//! ```text
//! | size bytes | up to a multiple of ALIGN | GUARD bytes | next allocation
//! ```
//!
//! The typical case is a global size that is rounded up to the group size while the buffer is not. The bytes are not
//! checked; `cloom run --verify` finds such writes. Memory that the application owns (`CL_MEM_USE_HOST_PTR`) has no
//! spare bytes.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// Least alignment of every block: that of the largest vector, and two cache lines.
pub const ALIGN: usize = 128;

/// Alignment of blocks that are as large: a variable may ask for so much (`aligned(4096)`).
pub const LARGE_ALIGN: usize = 4096;

/// Spare bytes after every block: a store of four of the widest vectors. Small against a page, and never touched in a
/// large block.
const GUARD: usize = 256;

/// Huge pages, which a system may provide for large blocks on request. Without them, a kernel that accesses the columns
/// of a matrix touches another page for each element, and TLB misses take longer than the work: transposing 2048 x 2048
/// numbers took twice as long.
const HUGE_PAGE: usize = 2 << 20;

/// Blocks from this size on ask for huge pages: the unused part of the last page is then small.
const LARGE: usize = 2 * HUGE_PAGE;

/// An owned block of bytes, aligned to [`ALIGN`], or to as much as its size up to [`LARGE_ALIGN`].
pub struct Block {
    ptr: NonNull<u8>,
    size: usize,
    /// The allocation: `ptr` is its first aligned byte.
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a block is plain memory with one owner; concurrent access to its bytes is the OpenCL program's
// responsibility, and Rust code only copies bytes through raw pointers.
unsafe impl Send for Block {}
// SAFETY: a shared reference gives the address only, and Rust code copies the bytes through raw pointers.
unsafe impl Sync for Block {}

impl Block {
    /// A block of zeros, or nothing if there is no memory. Large ones come fresh from the system and cost nothing until
    /// touched.
    pub fn zeroed(size: u64) -> Option<Block> {
        Self::new(size, true)
    }

    /// A block whose bytes are not written.
    pub fn uninit(size: u64) -> Option<Block> {
        Self::new(size, false)
    }

    fn new(size: u64, zeroed: bool) -> Option<Block> {
        let size = usize::try_from(size.max(1)).ok()?;
        let reserved = size.checked_next_multiple_of(ALIGN)?.checked_add(GUARD)?;
        // A power of two that is not above the size.
        let align = (1usize << size.ilog2()).clamp(ALIGN, LARGE_ALIGN);
        if !zeroed {
            let layout = Layout::from_size_align(reserved, align).ok()?;
            // SAFETY: the layout's size is not 0.
            let ptr = NonNull::new(unsafe { alloc(layout) })?;
            return Some(Block { ptr, size, base: ptr, layout });
        }
        // The allocator writes zeros itself if it is asked for more alignment than it gives anyway; asked for less, it
        // takes fresh pages from the system, which cost nothing until they are touched.
        let align = if size >= LARGE { HUGE_PAGE } else { align };
        let layout = Layout::from_size_align(reserved.checked_add(align)?, align_of::<u64>()).ok()?;
        // SAFETY: the layout's size is not 0.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let skip = base.addr().get().wrapping_neg() % align;
        // SAFETY: less than `align` bytes are skipped, and there are as many more than `reserved`.
        let ptr = unsafe { base.add(skip) };
        if size >= LARGE {
            // Advice: it affects only the speed.
            // SAFETY: whole pages of this block, whose contents the advice leaves alone.
            unsafe { libc::madvise(ptr.as_ptr().cast(), size / HUGE_PAGE * HUGE_PAGE, libc::MADV_HUGEPAGE) };
        }
        Some(Block { ptr, size, base, layout })
    }

    /// The first byte.
    pub fn ptr(&self) -> *mut u8 {
        self.ptr.as_ptr()
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size as u64
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, freed once.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}

/// A block that grows on demand and is kept for the next launch, unless it became very large.
#[derive(Default)]
pub struct Arena {
    block: Option<Block>,
}

/// What an arena keeps between launches.
const KEEP: u64 = 32 << 20;

impl Arena {
    /// At least `size` bytes with no particular contents, aligned to [`LARGE_ALIGN`], good until the next call.
    pub fn get(&mut self, size: u64) -> Option<*mut u8> {
        if self.block.as_ref().is_none_or(|b| b.size() < size) {
            // The old block goes first, so that both are never held together.
            self.block = None;
            self.block = Some(Block::uninit(size.next_multiple_of(LARGE_ALIGN as u64))?);
        }
        self.block.as_ref().map(Block::ptr)
    }

    /// Gives back what is too large to keep.
    pub fn trim(&mut self) {
        if self.block.as_ref().is_some_and(|b| b.size() > KEEP) {
            self.block = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_impossible_sizes_are_refused() {
        for size in [0, 1, 127, 4096, 1 << 20] {
            let block = Block::zeroed(size).unwrap();
            assert_eq!(block.ptr() as usize % ALIGN, 0);
            assert!(block.size() >= size);
        }
        assert!(Block::zeroed(u64::MAX).is_none());
        assert!(Block::uninit(1 << 60).is_none());
    }

    #[test]
    fn a_write_past_the_end_stays_within_the_block() {
        for block in [Block::zeroed(100).unwrap(), Block::uninit(100).unwrap(), Block::zeroed(LARGE as u64).unwrap()] {
            let end = block.ptr() as usize + (block.size() as usize).next_multiple_of(ALIGN) + GUARD;
            assert!(end <= block.base.as_ptr() as usize + block.layout.size());
        }
    }

    #[test]
    fn zeros_cost_nothing_until_they_are_touched() {
        let resident = || -> u64 {
            let text = std::fs::read_to_string("/proc/self/statm").unwrap();
            text.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
        };
        let before = resident();
        let block = Block::zeroed(1 << 30).unwrap();
        assert!(resident().saturating_sub(before) < 1 << 28, "a block of 1 GiB was written");
        // SAFETY: the first and the last byte of the block.
        assert_eq!(unsafe { (*block.ptr(), *block.ptr().add((1 << 30) - 1)) }, (0, 0));
    }

    #[test]
    fn an_arena_grows_and_forgets_the_very_large() {
        let mut arena = Arena::default();
        let small = arena.get(100).unwrap();
        assert_eq!(arena.get(50), Some(small));
        arena.get(KEEP * 2).unwrap();
        arena.trim();
        assert!(arena.block.is_none());
    }
}
