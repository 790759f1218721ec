//! The implementations of the entry points, one file per kind of object.
//!
//! Comments name the section of the OpenCL API specification that an entry point's checks and results follow. Numbers
//! and titles are those of version 3.0, without the sections of extensions.

pub mod buffer;
pub mod command_buffer;
pub mod context;
pub mod device;
pub mod event;
pub mod image;
pub mod image_transfer;
pub mod kernel;
pub mod launch;
pub mod mutable;
pub mod partition;
pub mod pipe;
pub mod platform;
pub mod program;
pub mod queue;
pub mod sampler;
pub mod semaphore;
pub mod svm;
pub mod transfer;
pub mod unsupported;
pub mod usm;

use crate::args::{HostMemory, In, Out};
use crate::handle::{self, Handle, Object};
use cloom_runtime::{Device, Error, Event, Queue, Result, Status};
use std::sync::Arc;

/// An error with its reason.
fn fail<T>(status: Status, why: impl Into<std::borrow::Cow<'static, str>>) -> Result<T> {
    Err(Error::new(status, why))
}

/// The events of a wait list.
fn wait_list(count: u32, list: In<Handle<Event>>) -> Result<Vec<Arc<Event>>> {
    if (count == 0) != list.is_null() {
        let why =
            format!("num_events_in_wait_list is {count}, and the list is {}NULL", if count == 0 { "not " } else { "" });
        return fail(Status::InvalidEventWaitList, why);
    }
    // In a wait list a wrong event has a status of its own, not `CL_INVALID_EVENT`.
    let invalid = |e: Error| Error::new(Status::InvalidEventWaitList, e.why);
    list.collect(count as usize, |event| event.get().map_err(invalid))
}

/// Enqueues a command: looks up the queue and the events of the wait list, and returns the command's event to the
/// application.
fn enqueue(
    queue: Handle<Queue>,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
    call: impl FnOnce(&Arc<Queue>, &[Arc<Event>]) -> Result<Arc<Event>>,
) -> Result<()> {
    let (queue, wait) = (queue.get()?, wait_list(count, list)?);
    give(call(&queue, &wait)?, event)
}

/// Returns the event to the application, if wanted.
fn give(event: Arc<Event>, out: Out<Handle<Event>>) -> Result<()> {
    if !out.is_null() {
        out.set(handle::create(event)?);
    }
    Ok(())
}

/// A list of objects with its length; either both are absent or neither.
fn list<T: Object>(count: u32, list: In<Handle<T>>) -> Result<Option<Vec<Arc<T>>>> {
    if (count == 0) != list.is_null() {
        return fail(
            Status::InvalidValue,
            format!("a list of {count} {}s that is {}NULL", T::NAME, if count == 0 { "not " } else { "" }),
        );
    }
    if count == 0 {
        return Ok(None);
    }
    list.collect(count as usize, Handle::get).map(Some)
}

/// A list of devices, which must not be absent.
fn devices(count: u32, devices: In<Handle<Device>>) -> Result<Vec<Arc<Device>>> {
    match list(count, devices)? {
        Some(devices) => Ok(devices),
        None => fail(Status::InvalidValue, "there are no devices"),
    }
}

/// The bytes of a pattern to fill with. The runtime checks its size; no more than the longest valid pattern is read.
fn fill_pattern(pattern: HostMemory, size: usize) -> Result<Vec<u8>> {
    if pattern.is_null() || size > 128 {
        return fail(Status::InvalidValue, format!("a pattern that is NULL or of {size} bytes, more than 128"));
    }
    pattern.bytes(size)
}

/// Writes handles of objects to an array of the application, by the rules of `clGetPlatformIDs`.
fn give_all<T: Object>(
    objects: &[Arc<T>],
    room: u32,
    to: crate::args::OutArray<Handle<T>>,
    count: Out<u32>,
) -> Result<()> {
    if to.is_null() && count.is_null() {
        return fail(Status::InvalidValue, "there is neither an array nor a place for the number");
    }
    if room == 0 && !to.is_null() {
        return fail(Status::InvalidValue, "an array of 0 entries");
    }
    if !to.is_null() {
        // As many as there is room for; the number told below is that of all.
        for (i, object) in objects.iter().take(room as usize).enumerate() {
            to.set(i, handle::borrow(object)?);
        }
    }
    count.set(objects.len() as u32);
    Ok(())
}
