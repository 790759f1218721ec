//! The application's memory, by address. The one module of the runtime that may use `unsafe`.
//!
//! A [`HostPtr`] is made from a pointer that an application passed to an entry point; the specification requires the
//! application to keep that memory valid until the command is complete, which makes the accesses here sound.

#![allow(unsafe_code, reason = "it reaches memory of the application")]

use cloom_hal::{HostVisible, PinnedBlock};

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
/// device, or the application's. The owner frees it.
pub(crate) type HostBlock = HostVisible<Box<dyn Send + Sync>>;

/// Fresh zeros; `None` if there is no memory.
pub(crate) fn allocate(size: u64) -> Option<HostBlock> {
    let length = usize::try_from(size).ok()?.checked_add(ALIGN)?;
    let mut owned = Vec::<u8>::new();
    owned.try_reserve_exact(length).ok()?;
    owned.resize(length, 0);
    let start = owned.as_mut_ptr().expose_provenance().next_multiple_of(ALIGN);
    // SAFETY: the vector has room for `size` bytes after the first multiple of the alignment. It is not touched until
    // it is dropped.
    Some(unsafe { HostVisible::new(start, size, Box::new(owned)) })
}

/// Pinned memory of so many bytes.
pub(crate) fn pinned(block: Box<dyn PinnedBlock>, size: u64) -> HostBlock {
    // SAFETY: whoever has the block may read and write its bytes, which begin as zeros; it was made with this size.
    unsafe { HostVisible::new(block.address(), size, Box::new(block)) }
}

/// The application's memory.
pub(crate) fn wrap(start: HostPtr, size: u64) -> HostBlock {
    // SAFETY: the application keeps the memory as long as the memory object, as the caller of `HostPtr::new` promised.
    unsafe { HostVisible::new(start.0, size, Box::new(())) }
}
