//! What the entry points do, one file per kind of object.

pub mod buffer;
pub mod context;
pub mod device;
pub mod event;
pub mod kernel;
pub mod launch;
pub mod platform;
pub mod program;
pub mod queue;
pub mod svm;
pub mod transfer;
pub mod unsupported;

use crate::args::{HostMemory, In, Out};
use crate::handle::{self, Handle, Object};
use cloom_runtime::{Device, Error, Event, Queue, Result, Status};
use std::sync::Arc;

/// An error that says why.
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
    let invalid = |e: Error| Error::new(Status::InvalidEventWaitList, e.why);
    list.collect(count as usize, |event| event.get().map_err(invalid))
}

/// Enqueues a command: finds the queue and the events of the wait list, and gives the application the command's event.
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

/// Gives the application the event, if it wants it.
fn give(event: Arc<Event>, out: Out<Handle<Event>>) -> Result<()> {
    if !out.is_null() {
        out.set(handle::create(event)?);
    }
    Ok(())
}

/// A list of objects with its length; both may be absent, but not one of them.
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

/// A list of devices that must be there.
fn devices(count: u32, devices: In<Handle<Device>>) -> Result<Vec<Arc<Device>>> {
    match list(count, devices)? {
        Some(devices) => Ok(devices),
        None => fail(Status::InvalidValue, "there are no devices"),
    }
}

/// The bytes of a pattern to fill with. The runtime has the rules for its size; nothing longer than the longest is
/// read.
fn fill_pattern(pattern: HostMemory, size: usize) -> Result<Vec<u8>> {
    if pattern.is_null() || size > 128 {
        return fail(Status::InvalidValue, format!("a pattern that is NULL or of {size} bytes, more than 128"));
    }
    pattern.bytes(size)
}

/// Gives objects to an array of the application, in the way of `clGetPlatformIDs`.
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
        for (i, object) in objects.iter().take(room as usize).enumerate() {
            to.set(i, handle::borrow(object)?);
        }
    }
    count.set(objects.len() as u32);
    Ok(())
}
