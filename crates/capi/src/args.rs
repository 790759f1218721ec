//! Pointer arguments of the entry points, as types whose methods are safe.
//!
//! These types are `repr(transparent)`, so that an entry point's pointer argument is one, and there is no other way to
//! make one. Calling an entry point is `unsafe`: the caller promises what the specification says of each pointer, that
//! it is null or points to as many values as the call says. That promise is what every `SAFETY` comment here refers to.

use cloom_runtime::host_mem::HostPtr;
use cloom_runtime::{Error, Result, Status};
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// A pointer to room for one result, or null.
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Writes, unless it is null.
    pub fn set(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: the pointer is not null, so that it has room for a value, as the application promises;
            // `write_unaligned` asks for no more.
            unsafe { ptr::write_unaligned(self.0, value) };
        }
    }
}

/// A pointer to room for several results, or null.
#[repr(transparent)]
pub struct OutArray<T>(*mut T);

impl<T> Clone for OutArray<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for OutArray<T> {}

impl<T> OutArray<T> {
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Writes one value, unless it is null. There must be room for more than `index` values.
    pub fn set(self, index: usize, value: T) {
        if !self.0.is_null() {
            // SAFETY: the pointer is not null, so that it has room for more than `index` values, as the application
            // promises.
            unsafe { ptr::write_unaligned(self.0.add(index), value) };
        }
    }
}

/// A pointer to room for bytes, or null.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct OutBytes(*mut c_void);

impl OutBytes {
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Writes bytes, unless it is null. There must be room for them.
    pub fn write(self, bytes: &[u8]) {
        if !self.0.is_null() {
            // SAFETY: the pointer is not null, so that it has room for these bytes, as the application promises.
            unsafe { ptr::copy(bytes.as_ptr(), self.0.cast(), bytes.len()) };
        }
    }

    /// Reads a pointer of the caller's array of pointers.
    pub fn pointer_at(self, index: usize) -> OutBytes {
        let array = self.0.cast::<*mut c_void>();
        // SAFETY: the application promises an array of as many pointers as it said.
        OutBytes(unsafe { ptr::read_unaligned(array.add(index)) })
    }
}

/// Several values to read, or null.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T: Copy> In<T> {
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The first `count` values; none if it is null.
    pub fn take(self, count: usize) -> Result<Vec<T>> {
        self.collect(count, Ok)
    }

    /// Converts the first `count` values; none if it is null. Stops at the first error. The count is the application's
    /// and may be absurd: running out of memory is an error here and does not end the process.
    pub fn collect<U>(self, count: usize, mut each: impl FnMut(T) -> Result<U>) -> Result<Vec<U>> {
        let mut values = Vec::new();
        for i in 0..if self.0.is_null() { 0 } else { count } {
            // One at a time: the count may be wrong, and then the list ends, by an error of `each`, before that much is
            // needed.
            if values.try_reserve(1).is_err() {
                let why = format!("there is no memory for a list of {count} entries");
                return Err(Error::new(Status::OutOfHostMemory, why));
            }
            // SAFETY: the application promises so many values. Their types take any bits, and need not be aligned.
            values.push(each(unsafe { ptr::read_unaligned(self.0.add(i)) })?);
        }
        Ok(values)
    }

    /// Reads as many values as there is room for; none if it is null.
    pub fn read(self, to: &mut [T]) {
        if !self.0.is_null() {
            for (i, value) in to.iter_mut().enumerate() {
                // SAFETY: the application promises so many values. Their types take any bits, and need not be aligned.
                *value = unsafe { ptr::read_unaligned(self.0.add(i)) };
            }
        }
    }

    /// Hands over one value after the other, as long as the answer is that another one follows; none if it is null.
    pub fn walk(self, mut more: impl FnMut(T) -> Result<bool>) -> Result<()> {
        let mut at = 0;
        // SAFETY: the application promises a list with an end, which `more` recognises.
        while !self.0.is_null() && more(unsafe { ptr::read_unaligned(self.0.add(at)) })? {
            at += 1;
        }
        Ok(())
    }

    /// The value, unless it is null.
    pub fn get(self) -> Option<T> {
        // SAFETY: the application promises a value. Its type takes any bits, and need not be aligned.
        (!self.0.is_null()).then(|| unsafe { ptr::read_unaligned(self.0) })
    }

    /// The values of a terminated list, without its terminator; `None` if it is null, or if it does not end within
    /// `limit` values.
    pub fn until(self, step: usize, limit: usize, is_end: impl Fn(&T) -> bool) -> Option<Vec<T>> {
        if self.0.is_null() {
            return None;
        }
        let mut values = Vec::new();
        while values.len() < limit {
            // SAFETY: the application promises a list with an end, which has not come yet.
            let key = unsafe { ptr::read_unaligned(self.0.add(values.len())) };
            if is_end(&key) {
                break;
            }
            values.push(key);
            for _ in 1..step {
                // SAFETY: the application promises a value after each key.
                values.push(unsafe { ptr::read_unaligned(self.0.add(values.len())) });
            }
        }
        Some(values)
    }

    /// Three values, if it is not null.
    pub fn three(self) -> Option<[T; 3]> {
        // SAFETY: the application promises three values. Their type takes any bits, and need not be aligned.
        (!self.0.is_null()).then(|| std::array::from_fn(|i| unsafe { ptr::read_unaligned(self.0.add(i)) }))
    }
}

/// A string that ends with a zero, or null.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text(*const c_char);

impl Text {
    /// Its bytes, without the zero.
    pub fn bytes<'a>(self) -> Option<&'a [u8]> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: the application promises a string that ends with a zero and lives through the call.
        Some(unsafe { CStr::from_ptr(self.0) }.to_bytes())
    }

    /// The text.
    pub fn string(self) -> Option<String> {
        Some(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    /// So many bytes from here.
    pub fn sized<'a>(self, length: usize) -> Option<&'a [u8]> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: the application promises so many bytes, which live through the call.
        Some(unsafe { std::slice::from_raw_parts(self.0.cast(), length) })
    }
}

/// A pointer to memory of the application that commands use later, or null.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct HostMemory(*mut c_void);

impl HostMemory {
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn address(self) -> usize {
        self.0.expose_provenance()
    }

    /// The memory, unless it is null.
    pub fn get(self) -> Option<HostPtr> {
        // SAFETY: the application promises memory that stays until the command is complete.
        unsafe { HostPtr::new(self.address()) }
    }

    /// Copies bytes from there.
    pub fn bytes(self, size: usize) -> Result<Vec<u8>> {
        In(self.0.cast::<u8>().cast_const()).take(size)
    }
}

/// The user data of a callback.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct UserData(*mut c_void);

// SAFETY: never dereferenced here; it is passed back to the application, which is responsible for its use in threads.
unsafe impl Send for UserData {}
// SAFETY: never dereferenced here, so that sharing it between threads is sharing a number.
unsafe impl Sync for UserData {}

impl UserData {
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn pointer(self) -> *mut c_void {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absurd_count_ends_at_the_first_error() {
        let values = [1u32, 2, 0];
        let list = In(values.as_ptr());
        let mut read = 0;
        let result = list.collect(usize::MAX, |value| {
            read += 1;
            if value == 0 { Err(Error::new(Status::InvalidEvent, "the end")) } else { Ok(value) }
        });
        assert!(result.is_err_and(|e| e.status == Status::InvalidEvent) && read == 3);
        assert_eq!(list.take(2), Ok(vec![1, 2]));
        assert_eq!(list.three(), Some([1, 2, 0]));
        assert_eq!(In::<u32>(ptr::null()).take(7), Ok(Vec::new()));
        assert_eq!(In::<u32>(ptr::null()).get(), None);
    }
}
