//! Memory that the host addresses, of any device or of none: transfers are copies by the calling thread.

#![allow(unsafe_code, reason = "it copies from and to addresses that the maker of the memory vouches for")]

use crate::error::HalError;
use crate::memory::{Memory, assert_in_range};
use std::ptr;

/// Memory with a host address, which is its device address, too.
pub struct HostVisible<Owner> {
    address: usize,
    size: u64,
    /// Frees the bytes when it is dropped.
    _owner: Owner,
}

impl<Owner> HostVisible<Owner> {
    /// Memory of `size` bytes from an address on, with what frees them.
    ///
    /// # Safety
    ///
    /// These bytes are initialised, and may be read and written as long as the owner lives. (Whoever calls a method of
    /// [`Memory`] orders the accesses.)
    pub unsafe fn new(address: usize, size: u64, owner: Owner) -> HostVisible<Owner> {
        HostVisible { address, size, _owner: owner }
    }

    /// The address of a range, after checking that it lies inside.
    fn range(&self, offset: u64, size: u64) -> *mut u8 {
        assert_in_range(offset, size, self.size);
        // The address is all that is known of the memory, which may be the application's: there is no pointer to derive
        // this from.
        ptr::with_exposed_provenance_mut(self.address + offset as usize)
    }
}

impl<Owner: Send + Sync + 'static> Memory for HostVisible<Owner> {
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
        // SAFETY: the range was checked, and `new` was promised its bytes; `copy` allows overlap, which happens when
        // the application reads a buffer into memory that the buffer uses in place.
        unsafe { ptr::copy(from, to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn write(&self, offset: u64, from: &[u8]) -> Result<(), HalError> {
        let to = self.range(offset, from.len() as u64);
        // SAFETY: the range was checked, and `new` was promised its bytes; `copy` allows overlap, which happens when
        // the application writes a buffer from memory that the buffer uses in place.
        unsafe { ptr::copy(from.as_ptr(), to, from.len()) };
        Ok(())
    }

    fn copy_from(&self, offset: u64, source: &dyn Memory, source_offset: u64, size: u64) -> Result<(), HalError> {
        let to = self.range(offset, size);
        assert_in_range(source_offset, size, source.size());
        match source.host_address() {
            Some(address) => {
                let from = ptr::with_exposed_provenance::<u8>(address + source_offset as usize);
                // SAFETY: both ranges were checked; `copy` allows overlap.
                unsafe { ptr::copy(from, to, size as usize) };
                Ok(())
            }
            None => {
                // SAFETY: the range was checked, and `new` was promised its bytes. The caller guarantees that nobody
                // else uses them now, as for every transfer.
                let room = unsafe { std::slice::from_raw_parts_mut(to, size as usize) };
                source.read(source_offset, room)
            }
        }
    }

    fn fill(&self, offset: u64, size: u64, pattern: &[u8]) -> Result<(), HalError> {
        let to = self.range(offset, size);
        if size == 0 || pattern.is_empty() {
            return Ok(());
        }
        // SAFETY: the range was checked, and `new` was promised its bytes. The caller guarantees that nobody else uses
        // them now, as for every transfer.
        let room = unsafe { std::slice::from_raw_parts_mut(to, size as usize) };
        // Writes one pattern, then doubles the written range.
        let mut done = pattern.len().min(room.len());
        room[..done].copy_from_slice(&pattern[..done]);
        while done < room.len() {
            let (written, rest) = room.split_at_mut(done);
            let n = done.min(rest.len());
            rest[..n].copy_from_slice(&written[..n]);
            done += n;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zeros(size: usize) -> HostVisible<Vec<u8>> {
        let mut owner = vec![0u8; size];
        let address = owner.as_mut_ptr().expose_provenance();
        // SAFETY: the vector has these bytes, and is not touched until it is dropped.
        unsafe { HostVisible::new(address, size as u64, owner) }
    }

    fn bytes(m: &dyn Memory) -> Vec<u8> {
        let mut v = vec![0; m.size() as usize];
        m.read(0, &mut v).unwrap();
        v
    }

    #[test]
    fn fill_repeats_the_pattern_exactly() {
        let m = zeros(13);
        m.fill(1, 9, &[1, 2, 3]).unwrap();
        assert_eq!(bytes(&m), [0, 1, 2, 3, 1, 2, 3, 1, 2, 3, 0, 0, 0]);
        // A pattern that does not fit is cut off.
        m.fill(0, 2, &[7, 8, 9]).unwrap();
        m.fill(3, 0, &[7]).unwrap();
        m.fill(3, 4, &[]).unwrap();
        assert_eq!(bytes(&m), [7, 8, 2, 3, 1, 2, 3, 1, 2, 3, 0, 0, 0]);
    }

    #[test]
    fn overlapping_copies_are_as_if_through_a_third_memory() {
        let m = zeros(6);
        m.write(0, &[1, 2, 3, 4, 5, 6]).unwrap();
        m.copy_from(2, &m, 0, 4).unwrap();
        assert_eq!(bytes(&m), [1, 2, 1, 2, 3, 4]);
    }

    #[test]
    #[should_panic(expected = "of a memory of 4")]
    fn a_range_past_the_end_is_refused() {
        zeros(4).write(u64::MAX, &[1]).unwrap();
    }

    #[test]
    #[should_panic(expected = "of a memory of 4")]
    fn a_source_past_the_end_is_refused() {
        zeros(8).copy_from(0, &zeros(4), 0, 8).unwrap();
    }
}
