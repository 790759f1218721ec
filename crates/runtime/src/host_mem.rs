//! The application's memory, by address. The one module of the runtime that may use `unsafe`.
//!
//! A [`HostPtr`] is made from a pointer that an application passed to an entry point; the specification requires the
//! application to keep that memory valid until the command is complete, which makes the accesses here sound.

#![allow(unsafe_code, reason = "it reaches memory of the application")]

use cloom_hal::{HalError, Memory, PinnedBlock, assert_in_range};

/// The start of memory that the application owns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HostPtr(usize);

impl HostPtr {
    /// From an address; `None` for null.
    ///
    /// # Safety
    ///
    /// Every use of the result for a range needs the application's promise that the range is its memory,
    /// readable or writable as required, until the use ends.
    pub unsafe fn new(address: usize) -> Option<HostPtr> {
        (address != 0).then_some(HostPtr(address))
    }

    /// The start of memory that is never freed, and that nothing else refers to.
    pub fn of_static(bytes: &'static mut [u8]) -> HostPtr {
        HostPtr(bytes.as_mut_ptr() as usize)
    }

    /// The start of a slice. A command that uses it must have ended when the borrow does: only for calls that wait for
    /// it.
    pub(crate) fn of_slice(bytes: &[u8]) -> HostPtr {
        HostPtr(bytes.as_ptr() as usize)
    }

    /// The start of a slice that a command writes; as [`HostPtr::of_slice`].
    pub(crate) fn of_slice_mut(bytes: &mut [u8]) -> HostPtr {
        HostPtr(bytes.as_mut_ptr() as usize)
    }

    /// The address.
    pub fn address(self) -> usize {
        self.0
    }

    /// Lends `size` bytes at an offset to read.
    pub(crate) fn read<R>(self, offset: u64, size: u64, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
        if size == 0 {
            return use_bytes(&[]);
        }
        let address = self.0.wrapping_add(offset as usize) as *const u8;
        // SAFETY: the promise of `new`: the application's memory, kept until the command that calls this is done.
        use_bytes(unsafe { std::slice::from_raw_parts(address, size as usize) })
    }

    /// Lends `size` bytes at an offset to write.
    pub(crate) fn write<R>(self, offset: u64, size: u64, use_bytes: impl FnOnce(&mut [u8]) -> R) -> R {
        if size == 0 {
            return use_bytes(&mut []);
        }
        let address = self.0.wrapping_add(offset as usize) as *mut u8;
        // SAFETY: the application's memory is kept until the command that calls this is done, as the caller of `new`
        // promised. Overlapping writes of commands are a race of the application, as in C.
        use_bytes(unsafe { std::slice::from_raw_parts_mut(address, size as usize) })
    }
}

/// Alignment of allocations: that of the largest type of OpenCL C.
const ALIGN: usize = 128;

/// The copy of a memory object on the host, in contexts none of whose devices works there: allocated, pinned by a
/// device, or the application's.
pub(crate) struct HostBlock {
    start: HostPtr,
    size: u64,
    /// What frees the bytes when it is dropped; none if the application owns them.
    _owner: Option<Box<dyn Send + Sync>>,
}

impl HostBlock {
    /// Fresh zeros; `None` if there is no memory.
    pub fn allocate(size: u64) -> Option<HostBlock> {
        let length = usize::try_from(size).ok()?.checked_add(ALIGN)?;
        let mut owned = Vec::new();
        owned.try_reserve_exact(length).ok()?;
        owned.resize(length, 0);
        let start = HostPtr((owned.as_mut_ptr() as usize).next_multiple_of(ALIGN));
        Some(HostBlock { start, size, _owner: Some(Box::new(owned)) })
    }

    /// Pinned memory of so many bytes.
    pub fn pinned(block: Box<dyn PinnedBlock>, size: u64) -> HostBlock {
        HostBlock { start: HostPtr(block.address()), size, _owner: Some(block) }
    }

    /// The application's memory.
    pub fn wrap(start: HostPtr, size: u64) -> HostBlock {
        HostBlock { start, size, _owner: None }
    }

    /// The address of a range, after checking that it lies inside.
    fn range(&self, offset: u64, size: u64) -> *mut u8 {
        assert_in_range(offset, size, self.size);
        (self.start.0 + offset as usize) as *mut u8
    }
}

impl Memory for HostBlock {
    fn size(&self) -> u64 {
        self.size
    }

    fn device_address(&self) -> u64 {
        self.start.0 as u64
    }

    fn host_address(&self) -> Option<usize> {
        Some(self.start.0)
    }

    fn read(&self, offset: u64, to: &mut [u8]) -> Result<(), HalError> {
        let from = self.range(offset, to.len() as u64);
        // SAFETY: the range was checked; `copy` allows overlap, which there is if an application reads a buffer into
        // its own memory.
        unsafe { std::ptr::copy(from, to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn write(&self, offset: u64, from: &[u8]) -> Result<(), HalError> {
        let to = self.range(offset, from.len() as u64);
        // SAFETY: the range was checked; `copy` allows overlap, which there is if an application writes a buffer from
        // its own memory.
        unsafe { std::ptr::copy(from.as_ptr(), to, from.len()) };
        Ok(())
    }

    fn copy_from(&self, offset: u64, source: &dyn Memory, source_offset: u64, size: u64) -> Result<(), HalError> {
        // SAFETY: the range was checked, the bytes are initialised, and the order of commands guarantees that nobody
        // else uses them now.
        source.read(source_offset, unsafe { std::slice::from_raw_parts_mut(self.range(offset, size), size as usize) })
    }

    fn fill(&self, offset: u64, size: u64, pattern: &[u8]) -> Result<(), HalError> {
        // SAFETY: the range was checked, the bytes are initialised, and the order of commands guarantees that nobody
        // else uses them now.
        let room = unsafe { std::slice::from_raw_parts_mut(self.range(offset, size), size as usize) };
        room.chunks_mut(pattern.len().max(1)).for_each(|part| part.copy_from_slice(&pattern[..part.len()]));
        Ok(())
    }
}
