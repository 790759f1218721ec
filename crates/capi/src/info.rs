//! The protocol of queries: room for the value with its size, and room for the size of the value. A [`Written`] proves
//! that a query was answered.

use crate::args::{Out, OutBytes};
use crate::handle::Handle;
use cloom_runtime::{Error, Result, Status};

/// Proof that an answer was written.
pub struct Written(());

/// The destination of an answer.
#[derive(Clone, Copy)]
pub struct Info {
    size: usize,
    value: OutBytes,
    size_ret: Out<usize>,
}

/// Values whose bytes are the answer.
///
/// # Safety
/// The type has no padding.
pub unsafe trait Plain: Copy {}

// SAFETY: numbers have no padding.
unsafe impl Plain for u8 {}
// SAFETY: numbers have no padding.
unsafe impl Plain for i32 {}
// SAFETY: numbers have no padding.
unsafe impl Plain for u32 {}
// SAFETY: numbers have no padding.
unsafe impl Plain for u64 {}
// SAFETY: numbers have no padding.
unsafe impl Plain for usize {}
// SAFETY: numbers have no padding.
unsafe impl Plain for isize {}
// SAFETY: an address.
unsafe impl<T> Plain for Handle<T> {}

/// `cl_name_version`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct NameVersion {
    version: u32,
    name: [u8; 64],
}

// SAFETY: four bytes and 64 bytes, aligned to four: no padding.
unsafe impl Plain for NameVersion {}

impl From<&cloom_caps::Named> for NameVersion {
    fn from(named: &cloom_caps::Named) -> Self {
        let mut name = [0; 64];
        // The last byte stays zero, as terminator.
        let n = named.name.len().min(63);
        name[..n].copy_from_slice(&named.name.as_bytes()[..n]);
        NameVersion { version: named.version, name }
    }
}

impl Info {
    pub fn new(size: usize, value: OutBytes, size_ret: Out<usize>) -> Info {
        Info { size, value, size_ret }
    }

    /// Answers with bytes.
    pub fn bytes(self, bytes: &[u8]) -> Result<Written> {
        if !self.value.is_null() {
            if self.size < bytes.len() {
                // Nothing is written then, not even the size.
                let why = format!("the answer has {} bytes, param_value_size is {}", bytes.len(), self.size);
                return Err(Error::new(Status::InvalidValue, why));
            }
            self.value.write(bytes);
        }
        // The size is told whether the value is wanted or not: applications ask for it first.
        self.size_ret.set(bytes.len());
        Ok(Written(()))
    }

    /// Answers with an array.
    pub fn array<T: Plain>(self, values: &[T]) -> Result<Written> {
        // SAFETY: the type has no padding, so every byte is initialised.
        self.bytes(unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) })
    }

    /// Answers with a value.
    pub fn value<T: Plain>(self, value: T) -> Result<Written> {
        self.array(&[value])
    }

    /// Answers with a `cl_bool`.
    pub fn bool(self, value: bool) -> Result<Written> {
        self.value(u32::from(value))
    }

    /// Answers with a string and its zero.
    pub fn text(self, text: &str) -> Result<Written> {
        let mut bytes = Vec::with_capacity(text.len() + 1);
        // A zero byte in it would end it for the application anyway.
        bytes.extend(text.bytes().filter(|&b| b != 0));
        bytes.push(0);
        self.bytes(&bytes)
    }

    /// Answers with names and versions.
    pub fn names(self, names: &[cloom_caps::Named]) -> Result<Written> {
        self.array(&names.iter().map(NameVersion::from).collect::<Vec<_>>())
    }

    /// The query of a program's binaries: the application passes a pointer for each.
    pub fn scatter(self, parts: &[Vec<u8>]) -> Result<Written> {
        let size = parts.len() * size_of::<usize>();
        if !self.value.is_null() {
            if self.size < size {
                return Err(Error::new(Status::InvalidValue, format!("there are {} binaries", parts.len())));
            }
            for (i, part) in parts.iter().enumerate() {
                // A NULL among the pointers skips one binary: `write` does nothing then.
                self.value.pointer_at(i).write(part);
            }
        }
        self.size_ret.set(size);
        Ok(Written(()))
    }

    /// Fails: there is no such query.
    pub fn unknown(self, param_name: u32) -> Result<Written> {
        Err(Error::new(Status::InvalidValue, format!("there is no query {param_name:#x} of this object")))
    }
}
