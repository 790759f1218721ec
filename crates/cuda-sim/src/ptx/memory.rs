//! The device's global memory and the map of the address spaces.
//!
//! In: byte blocks of the caller. Out: 64-bit addresses, and slices of bytes for addresses. Blocks lie far apart, so an
//! index that runs past a block does not hit the next one by chance. The other state spaces have windows in the
//! generic address space. A window begins at a multiple of 2^40, so the low half of a generic address of shared or
//! local memory is its address in that space, as kernels assume that keep such addresses in 32 bits.

use super::op::Space;
use super::texture::Texture;

/// First address of global memory.
const GLOBAL_START: u64 = 0x7000_0000_0000;
/// Unmapped bytes after a block.
const GAP: u64 = 1 << 20;
const BLOCK_ALIGN: u64 = 256;

/// Bytes of a window of the generic address space.
const WINDOW_SIZE: u64 = 1 << 32;
pub(super) const SHARED_WINDOW: u64 = 0x0100_0000_0000;
pub(super) const LOCAL_WINDOW: u64 = 0x0200_0000_0000;
pub(super) const CONST_WINDOW: u64 = 0x0300_0000_0000;
pub(super) const PARAM_WINDOW: u64 = 0x0400_0000_0000;
/// Addresses of functions; they are only called, never read.
pub(super) const FUNCTION_WINDOW: u64 = 0x0500_0000_0000;
/// Distance between the addresses of two functions.
pub(super) const FUNCTION_STRIDE: u64 = 16;

/// First offset of shared variables. Devices since sm_80 reserve the first KiB of a block's shared memory. So no
/// variable has address 0, which kernels compare with null.
pub(super) const SHARED_START: u64 = 1024;
/// First offset of constant variables.
pub(super) const CONST_START: u64 = 256;
/// First offset of a thread's local memory.
pub(super) const LOCAL_START: u64 = 256;

/// Rounds up to a multiple of a power of two.
pub(super) fn align_up(value: u64, align: u64) -> u64 {
    value.next_multiple_of(align.max(1))
}

/// Splits a generic address into its space and the address in that space.
pub(super) fn resolve(address: u64) -> (Space, u64) {
    for (space, window) in [
        (Space::Shared, SHARED_WINDOW),
        (Space::Local, LOCAL_WINDOW),
        (Space::Const, CONST_WINDOW),
        (Space::Param, PARAM_WINDOW),
    ] {
        // Below the window, the difference wraps to a large number.
        if address.wrapping_sub(window) < WINDOW_SIZE {
            return (space, address - window);
        }
    }
    (Space::Global, address)
}

/// The start of a space's window in the generic address space; zero for the spaces that need no conversion.
pub(super) fn window(space: Space) -> u64 {
    match space {
        Space::Shared => SHARED_WINDOW,
        Space::Local => LOCAL_WINDOW,
        Space::Const => CONST_WINDOW,
        Space::Param => PARAM_WINDOW,
        Space::Global | Space::Generic => 0,
    }
}

#[derive(Clone, Debug)]
struct Block {
    address: u64,
    bytes: Vec<u8>,
}

/// Global memory, as launches see it.
pub trait GlobalMemory {
    /// The bytes from an address to the end of its block. Empty if the address is in no block.
    fn bytes(&self, address: u64) -> &[u8];

    /// The bytes from an address to the end of its block, to change them.
    fn bytes_mut(&mut self, address: u64) -> &mut [u8];

    /// The texture with a handle, if there is one.
    fn texture(&self, handle: u64) -> Option<Texture> {
        let _ = handle;
        None
    }

    /// Adds a block, for a variable of a module, and returns its address. `align` is a power of two.
    fn add_block(&mut self, bytes: Vec<u8>, align: u64) -> u64;
}

/// The device's global memory: blocks of bytes with gaps between them.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Sorted by address.
    blocks: Vec<Block>,
    next: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Memory::new()
    }
}

impl Memory {
    /// Memory without blocks.
    pub fn new() -> Memory {
        Memory { blocks: Vec::new(), next: GLOBAL_START }
    }

    /// Adds a block and returns its address, a multiple of 256. No two blocks are ever adjacent, and an address is
    /// never given out twice.
    pub fn allocate(&mut self, bytes: Vec<u8>) -> u64 {
        self.allocate_aligned(bytes, BLOCK_ALIGN)
    }

    fn allocate_aligned(&mut self, bytes: Vec<u8>, align: u64) -> u64 {
        let address = align_up(self.next, align.max(BLOCK_ALIGN));
        // Addresses only grow: one that was freed stays invalid, and its use is found.
        self.next = align_up(address + bytes.len() as u64 + GAP, BLOCK_ALIGN);
        self.blocks.push(Block { address, bytes });
        address
    }

    /// Removes the block that begins at an address and returns its bytes.
    pub fn free(&mut self, address: u64) -> Option<Vec<u8>> {
        let index = self.blocks.binary_search_by_key(&address, |block| block.address).ok()?;
        Some(self.blocks.remove(index).bytes)
    }

    fn find(&self, address: u64) -> Option<&Block> {
        let index = self.blocks.partition_point(|block| block.address <= address);
        let block = self.blocks.get(index.checked_sub(1)?)?;
        // The end of a block counts as in it, with no bytes: so an empty block has an address, too.
        (address - block.address <= block.bytes.len() as u64).then_some(block)
    }
}

impl GlobalMemory for Memory {
    fn bytes(&self, address: u64) -> &[u8] {
        match self.find(address) {
            Some(block) => &block.bytes[(address - block.address) as usize..],
            None => &[],
        }
    }

    fn bytes_mut(&mut self, address: u64) -> &mut [u8] {
        let index = self.blocks.partition_point(|block| block.address <= address);
        match index.checked_sub(1).and_then(|index| self.blocks.get_mut(index)) {
            Some(block) => {
                let at = (address - block.address) as usize;
                block.bytes.get_mut(at..).unwrap_or_default()
            }
            None => &mut [],
        }
    }

    fn add_block(&mut self, bytes: Vec<u8>, align: u64) -> u64 {
        self.allocate_aligned(bytes, align)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_apart_and_aligned() {
        let mut memory = Memory::new();
        let first = memory.allocate(vec![1; 10]);
        let second = memory.allocate(vec![2; 300]);
        let empty = memory.allocate(Vec::new());
        assert_eq!((first % 256, second % 256), (0, 0));
        assert!(second > first + 4096);
        assert_eq!(memory.bytes(first + 8), [1, 1]);
        assert_eq!(memory.bytes(first + 10), []);
        assert_eq!(memory.bytes(first + 11), []);
        assert_eq!(memory.bytes(first - 1), []);
        assert_eq!(memory.bytes(empty), []);
        memory.bytes_mut(second + 299)[0] = 7;
        assert_eq!(memory.bytes(second + 298), [2, 7]);
        assert!(memory.bytes_mut(second + 301).is_empty());
        assert_eq!(memory.free(first), Some(vec![1; 10]));
        assert_eq!(memory.free(first), None);
        assert_eq!(memory.bytes(first), []);
    }

    #[test]
    fn windows_are_apart() {
        assert_eq!(resolve(SHARED_WINDOW + 5), (Space::Shared, 5));
        assert_eq!(resolve(LOCAL_WINDOW), (Space::Local, 0));
        assert_eq!(resolve(0), (Space::Global, 0));
        assert_eq!(resolve(GLOBAL_START), (Space::Global, GLOBAL_START));
        assert_eq!(resolve(LOCAL_WINDOW + WINDOW_SIZE), (Space::Global, LOCAL_WINDOW + WINDOW_SIZE));
    }
}
