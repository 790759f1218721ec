//! Memory: blocks of bytes that kernels work on, and how bytes get in and out.
//!
//! Transfers return when they are done. The runtime calls them on a thread that may wait, after everything has ended
//! that they depend on; two queues transfer at the same time from two threads. A device with streams copies on a stream
//! of the calling thread and synchronises with that; a device in the host's memory just copies.

use crate::HalError;

/// Device memory. Ranges have been checked against its size by the caller.
pub trait Memory: Send + Sync {
    /// Bytes.
    fn size(&self) -> u64;

    /// What stands in an argument block for offset 0.
    fn device_address(&self) -> u64;

    /// The address of offset 0 in the host's address space, if the host can use it.
    fn host_address(&self) -> Option<usize>;

    /// Copies bytes out. Panics when out of range.
    fn read(&self, offset: u64, to: &mut [u8]) -> Result<(), HalError>;

    /// Copies bytes in. Panics when out of range.
    fn write(&self, offset: u64, from: &[u8]) -> Result<(), HalError>;

    /// Copies from memory of the same device, where ranges may overlap, from memory with a host address, or into this
    /// one if it has a host address. Between others [`copy_through_host`] copies. Panics when out of range.
    fn copy_from(&self, offset: u64, source: &dyn Memory, source_offset: u64, size: u64) -> Result<(), HalError>;

    /// Repeats a pattern; `size` is a multiple of its length.
    fn fill(&self, offset: u64, size: u64, pattern: &[u8]) -> Result<(), HalError>;
}

/// Bytes that [`copy_through_host`] has on the host at a time.
const STAGING: u64 = 4 << 20;

/// Copies between memories neither of which the host can address, of different devices.
pub fn copy_through_host(
    to: &dyn Memory,
    offset: u64,
    from: &dyn Memory,
    source_offset: u64,
    size: u64,
) -> Result<(), HalError> {
    let mut staging = vec![0; size.min(STAGING) as usize];
    let mut done = 0;
    while done < size {
        let part = &mut staging[..(size - done).min(STAGING) as usize];
        from.read(source_offset + done, part)?;
        to.write(offset + done, part)?;
        done += part.len() as u64;
    }
    Ok(())
}
