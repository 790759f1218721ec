//! Buffers: owned blocks, or the application's memory used in place.

use crate::arena::Block;
use cloom_hal::{HalError, Memory, assert_in_range};
use std::ptr;

/// Memory that kernels address directly.
pub struct CpuMemory {
    /// Kept for its destructor; `None` when the application owns the bytes.
    _owned: Option<Block>,
    address: usize,
    size: u64,
}

impl CpuMemory {
    /// Fresh zeros.
    pub fn allocate(size: u64) -> Option<Self> {
        let block = Block::zeroed(size)?;
        Some(Self { address: block.ptr() as usize, size, _owned: Some(block) })
    }

    /// The application's.
    pub fn wrap(address: usize, size: u64) -> Self {
        Self { _owned: None, address, size }
    }

    /// The address of a range, after checking that it lies inside.
    fn range(&self, offset: u64, size: u64) -> *mut u8 {
        assert_in_range(offset, size, self.size);
        (self.address + offset as usize) as *mut u8
    }
}

impl Memory for CpuMemory {
    fn size(&self) -> u64 {
        self.size
    }

    fn device_address(&self) -> u64 {
        self.address as u64
    }

    fn host_address(&self) -> Option<usize> {
        Some(self.address)
    }

    fn read(&self, offset: u64, to: &mut [u8]) -> Result<(), HalError> {
        let from = self.range(offset, to.len() as u64);
        // SAFETY: the range was checked; `copy` allows overlap, which happens when the application reads a buffer
        // into the memory that the buffer uses in place.
        unsafe { ptr::copy(from, to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn write(&self, offset: u64, from: &[u8]) -> Result<(), HalError> {
        let to = self.range(offset, from.len() as u64);
        // SAFETY: the range was checked; `copy` allows overlap, which happens when the application writes a buffer from
        // the memory that the buffer uses in place.
        unsafe { ptr::copy(from.as_ptr(), to, from.len()) };
        Ok(())
    }

    fn copy_from(&self, offset: u64, source: &dyn Memory, source_offset: u64, size: u64) -> Result<(), HalError> {
        let to = self.range(offset, size);
        assert_in_range(source_offset, size, source.size());
        match source.host_address() {
            // SAFETY: both ranges were checked; `copy` allows overlap.
            Some(address) => unsafe { ptr::copy((address + source_offset as usize) as *const u8, to, size as usize) },
            // SAFETY: the range was checked, and its bytes are initialised: they are allocated as zeros or the
            // application's. The caller guarantees that nobody else uses them now, as for every transfer.
            None => source.read(source_offset, unsafe { std::slice::from_raw_parts_mut(to, size as usize) })?,
        }
        Ok(())
    }

    fn fill(&self, offset: u64, size: u64, pattern: &[u8]) -> Result<(), HalError> {
        let to = self.range(offset, size);
        let (size, unit) = (size as usize, pattern.len());
        if size == 0 || unit == 0 {
            return Ok(());
        }
        // Writes one pattern, then doubles the written range.
        let mut done = unit.min(size);
        // SAFETY: all within the checked range; source and destination of the doubling do not overlap.
        unsafe {
            ptr::copy(pattern.as_ptr(), to, done);
            while done < size {
                let n = done.min(size - done);
                ptr::copy_nonoverlapping(to, to.add(done), n);
                done += n;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(m: &CpuMemory) -> Vec<u8> {
        let mut v = vec![0; m.size() as usize];
        m.read(0, &mut v).unwrap();
        v
    }

    #[test]
    fn fill_repeats_the_pattern_exactly() {
        let m = CpuMemory::allocate(13).unwrap();
        m.fill(1, 9, &[1, 2, 3]).unwrap();
        assert_eq!(bytes(&m), [0, 1, 2, 3, 1, 2, 3, 1, 2, 3, 0, 0, 0]);
    }

    #[test]
    fn overlapping_copies_are_as_if_through_a_third_place() {
        let m = CpuMemory::allocate(6).unwrap();
        m.write(0, &[1, 2, 3, 4, 5, 6]).unwrap();
        m.copy_from(2, &m, 0, 4).unwrap();
        assert_eq!(bytes(&m), [1, 2, 1, 2, 3, 4]);
    }

    #[test]
    #[should_panic(expected = "of a memory of 4")]
    fn a_range_past_the_end_is_refused() {
        CpuMemory::allocate(4).unwrap().write(u64::MAX, &[1]).unwrap();
    }
}
