//! Memory for the variables of a program: made and initialised.

use crate::device::Device;
use crate::error::HalError;
use crate::memory::Memory;
use std::sync::Arc;

/// Fresh memory of a device with `init` at its offsets, zeros elsewhere, and then at each offset of `addresses` the
/// device address of the offset beside it: the variables of a program.
pub fn initialised(
    device: &dyn Device,
    size: u64,
    init: &[(u64, Vec<u8>)],
    addresses: &[(u64, i64)],
) -> Result<Arc<dyn Memory>, HalError> {
    // A whole number of the patterns of 16 bytes that `initialise` fills it with.
    let memory = device.allocate(size.next_multiple_of(16))?;
    initialise(&*memory, init, addresses)?;
    Ok(memory)
}

/// Gives memory that was made so its initial content again.
pub fn initialise(memory: &dyn Memory, init: &[(u64, Vec<u8>)], addresses: &[(u64, i64)]) -> Result<(), HalError> {
    // The memory may hold anything: `Device::allocate` promises no zeros.
    memory.fill(0, memory.size(), &[0; 16])?;
    for (offset, bytes) in init {
        memory.write(*offset, bytes)?;
    }
    // After the bytes, so that no initial value overwrites an address.
    for &(offset, target) in addresses {
        memory.write(offset, &memory.device_address().wrapping_add_signed(target).to_le_bytes())?;
    }
    Ok(())
}
