//! Device memory: blocks of bytes that kernels access, and transfers.
//!
//! Transfers are blocking. The runtime calls them on a thread that may wait, after all their dependences have ended;
//! two queues transfer at the same time from two threads. A device with streams copies on a stream of the calling
//! thread and synchronises with that; a device in the host's memory just copies.

use crate::{HalError, Rect};
use std::any::Any;

/// Panics if a range is not inside a memory of `bytes`.
pub fn assert_in_range(offset: u64, size: u64, bytes: u64) {
    let end = offset.checked_add(size).filter(|&end| end <= bytes);
    assert!(end.is_some(), "bytes {offset}+{size} of a memory of {bytes}");
}

/// Device memory. Ranges have been checked against its size by the caller.
pub trait Memory: Send + Sync + Any {
    /// Bytes.
    fn size(&self) -> u64;

    /// The device address of offset 0, as it goes into an argument block.
    fn device_address(&self) -> u64;

    /// The address of offset 0 in the host's address space, if the host can use it.
    fn host_address(&self) -> Option<usize>;

    /// Copies bytes out. Panics when out of range.
    fn read(&self, offset: u64, to: &mut [u8]) -> Result<(), HalError>;

    /// Copies bytes in. Panics when out of range.
    fn write(&self, offset: u64, from: &[u8]) -> Result<(), HalError>;

    /// Copies from memory of the same device, where ranges may overlap, from memory with a host address, from that of a
    /// [peer](Self::is_peer_of), or into this one if it has a host address. Other pairs are copied by
    /// [`copy_through_host`]. Panics when out of range.
    fn copy_from(&self, offset: u64, source: &dyn Memory, source_offset: u64, size: u64) -> Result<(), HalError>;

    /// Whether it copies from memory of another device without the host's help.
    fn is_peer_of(&self, source: &dyn Memory) -> bool {
        let _ = source;
        false
    }

    /// Repeats a pattern; `size` is a multiple of its length.
    fn fill(&self, offset: u64, size: u64, pattern: &[u8]) -> Result<(), HalError>;

    /// Copies a box out; `to` has its rows without gaps.
    fn read_rect(&self, from: &Rect, to: &mut [u8]) -> Result<(), HalError> {
        let width = from.region[0] as usize;
        from.rows().zip(to.chunks_exact_mut(width.max(1))).try_for_each(|(row, part)| self.read(row, part))
    }

    /// Copies a box in; `from` has its rows without gaps.
    fn write_rect(&self, to: &Rect, from: &[u8]) -> Result<(), HalError> {
        let width = to.region[0] as usize;
        to.rows().zip(from.chunks_exact(width.max(1))).try_for_each(|(row, part)| self.write(row, part))
    }

    /// Copies a box of memory of the same device; the boxes have one region and do not overlap.
    fn copy_rect(&self, to: &Rect, source: &dyn Memory, from: &Rect) -> Result<(), HalError> {
        to.rows().zip(from.rows()).try_for_each(|(to, row)| self.copy_from(to, source, row, from.region[0]))
    }

    /// Repeats a pattern in each row of a box; a row is a multiple of its length.
    fn fill_rect(&self, to: &Rect, pattern: &[u8]) -> Result<(), HalError> {
        to.rows().try_for_each(|row| self.fill(row, to.region[0], pattern))
    }
}

/// The size in bytes of the staging buffer of [`copy_through_host`].
const STAGING: u64 = 4 << 20;

/// Copies between memories neither of which the host can address, of different devices.
pub fn copy_through_host(
    to: &dyn Memory,
    offset: u64,
    from: &dyn Memory,
    source_offset: u64,
    size: u64,
) -> Result<(), HalError> {
    // One buffer for all parts: the transfers are blocking, so that it is free again after each write.
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
