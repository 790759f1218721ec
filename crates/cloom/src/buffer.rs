//! Buffers: device memory that holds elements of one type. In come slices, out come slices.

use crate::shared::Shared;
use crate::{Error, Event, Pod};
use bytemuck::{cast_slice, cast_slice_mut};
use cloom_runtime as rt;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Device memory of `len` elements. Reads and writes wait for the launches before them. Cheap to clone; all clones are
/// one buffer.
pub struct Buffer<T> {
    pub(crate) runtime: Arc<rt::MemObject>,
    queue: Arc<rt::Queue>,
    len: usize,
    elements: PhantomData<fn() -> T>,
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Buffer { runtime: self.runtime.clone(), queue: self.queue.clone(), len: self.len, elements: PhantomData }
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len).finish_non_exhaustive()
    }
}

impl<T: Pod> Buffer<T> {
    /// Memory whose bytes are unspecified.
    fn new(context: &Shared, len: usize) -> Result<Self, Error> {
        // A size that overflows is more than any device has, and gets that error.
        let size = len.checked_mul(size_of::<T>()).map_or(u64::MAX, |n| n as u64);
        let runtime = rt::MemObject::buffer(&context.runtime, 0, size, None, None)?;
        Ok(Buffer { runtime, queue: context.queue.runtime.clone(), len, elements: PhantomData })
    }

    pub(crate) fn zeroed(context: &Shared, len: usize) -> Result<Self, Error> {
        let buffer = Self::new(context, len)?;
        let filled = buffer.queue.fill(&buffer.runtime, &[0], 0, buffer.runtime.size(), &[])?;
        // Launches on other queues do not wait for this one.
        Event::new(filled).wait()?;
        Ok(buffer)
    }

    pub(crate) fn copied(context: &Shared, data: &[T]) -> Result<Self, Error> {
        let buffer = Self::new(context, data.len())?;
        buffer.write(data)?;
        Ok(buffer)
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements; no buffer does.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies the buffer into a slice of the same length, when all launches before have ended.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn read(&self, to: &mut [T]) -> Result<(), Error> {
        self.check(to.len())?;
        self.queue.read_slice(&self.runtime, 0, cast_slice_mut(to), &[])?;
        Ok(())
    }

    /// A copy of the buffer, when all launches before have ended.
    ///
    /// # Errors
    /// When the device fails.
    pub fn to_vec(&self) -> Result<Vec<T>, Error> {
        let mut data = vec![T::zeroed(); self.len];
        self.read(&mut data)?;
        Ok(data)
    }

    /// Overwrites the buffer with a slice of the same length, when all launches before have ended.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn write(&self, from: &[T]) -> Result<(), Error> {
        self.check(from.len())?;
        self.queue.write_slice(&self.runtime, 0, cast_slice(from), &[])?;
        Ok(())
    }

    fn check(&self, slice: usize) -> Result<(), Error> {
        if slice == self.len { Ok(()) } else { Err(Error::Length { buffer: self.len, slice }) }
    }
}
