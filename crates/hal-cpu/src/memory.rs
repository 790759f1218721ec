//! Buffers: owned blocks, or the application's memory used in place.

use crate::arena::Block;
use cloom_hal::HostVisible;

/// Fresh zeros; `None` if there is no memory.
pub fn allocate(size: u64) -> Option<HostVisible<Block>> {
    let block = Block::zeroed(size)?;
    let address = block.ptr().expose_provenance();
    // SAFETY: the block has these bytes, zeroed, until it is dropped; nothing else uses it.
    Some(unsafe { HostVisible::new(address, size, block) })
}

/// The application's memory, used in place.
pub fn wrap(address: usize, size: u64) -> HostVisible<()> {
    // SAFETY: the application keeps the memory of a buffer that uses it in place (`HostShared::wrap`).
    unsafe { HostVisible::new(address, size, ()) }
}
