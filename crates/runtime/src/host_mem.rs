//! The application's memory, by address. The one module of the runtime that may use `unsafe`.
//!
//! A [`HostPtr`] is made from a pointer that an application passed to an entry point; the specification makes the application
//! keep that memory good until the command is complete, and that promise is what makes the accesses here sound.

#![allow(unsafe_code, reason = "it reaches memory of the application")]

/// The start of memory that the application owns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HostPtr(usize);

impl HostPtr {
    /// From an address; `None` for null.
    ///
    /// # Safety
    /// Whoever uses the result for a range must have the application's promise that the range is its memory, readable or writable
    /// as the use requires, until that use ends.
    pub unsafe fn new(address: usize) -> Option<HostPtr> {
        (address != 0).then_some(HostPtr(address))
    }

    /// The start of a slice. A command that uses it must have ended when the borrow does: only for calls that wait for it.
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
        // SAFETY: as above; that commands which write overlap is a race of the application, as it would be in C.
        use_bytes(unsafe { std::slice::from_raw_parts_mut(address, size as usize) })
    }
}
