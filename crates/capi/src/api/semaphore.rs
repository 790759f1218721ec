//! Semaphores.

use super::{enqueue, fail};
use crate::args::{In, Out, OutBytes};
use crate::cl;
use crate::handle::{self, Handle};
use crate::info::Info;
use cloom_runtime::{Context, Device, Error, Event, Queue, Result, Semaphore, Status};
use std::sync::Arc;

/// Longer than the number of known properties: the list has no end.
const MOST_PROPERTIES: usize = 64;

/// A list of properties while it is read: name and value by turns, or a name and a list of devices.
#[derive(Default)]
struct Properties {
    given: Vec<u64>,
    names: Vec<u32>,
    kind: Option<u64>,
    devices: Option<Vec<u64>>,
    /// Whether the list of devices has not ended.
    in_devices: bool,
}

impl Properties {
    /// Takes the next entry. Returns whether another one follows.
    fn take(&mut self, entry: u64) -> Result<bool> {
        if self.given.len() >= MOST_PROPERTIES {
            return fail(Status::InvalidProperty, "the list of properties has no end");
        }
        self.given.push(entry);
        if self.in_devices {
            self.in_devices = entry != 0;
            if self.in_devices {
                self.devices.get_or_insert_default().push(entry);
            }
        } else if self.names.last() == Some(&cl::SEMAPHORE_TYPE_KHR) && self.kind.is_none() {
            self.kind = Some(entry);
        } else {
            match u32::try_from(entry) {
                Ok(0) => return Ok(false),
                Ok(name) if self.names.contains(&name) => {
                    return fail(Status::InvalidProperty, format!("the property {name:#x} is given twice"));
                }
                Ok(name @ cl::SEMAPHORE_TYPE_KHR) => self.names.push(name),
                Ok(name @ cl::SEMAPHORE_DEVICE_HANDLE_LIST_KHR) => {
                    self.names.push(name);
                    (self.devices, self.in_devices) = (Some(Vec::new()), true);
                }
                _ => return fail(Status::InvalidProperty, format!("the property {entry:#x} is unknown")),
            }
        }
        Ok(true)
    }
}

// OpenCL 3.0 API, Creating Semaphores.
pub fn create(context: Handle<Context>, list: In<u64>) -> Result<Handle<Semaphore>> {
    let context = context.get()?;
    if list.is_null() {
        return fail(Status::InvalidValue, "the properties are NULL");
    }
    let mut properties = Properties::default();
    list.walk(|entry| properties.take(entry))?;
    match properties.kind {
        Some(cl::SEMAPHORE_TYPE_BINARY_KHR) => {}
        Some(kind) => return fail(Status::InvalidProperty, format!("{kind:#x} is no type of semaphores")),
        None => return fail(Status::InvalidValue, "CL_SEMAPHORE_TYPE_KHR is not given"),
    }
    let device = match properties.devices.as_deref() {
        None => None,
        Some([device]) => Some(Handle::<Device>::from_address(*device as usize).get()?),
        Some(devices) => {
            return fail(Status::InvalidDevice, format!("there are {} devices in the list, not one", devices.len()));
        }
    };
    handle::create(Semaphore::new(&context, device, properties.given)?)
}

/// The semaphores of a call.
fn semaphores(count: u32, list: In<Handle<Semaphore>>) -> Result<Vec<Arc<Semaphore>>> {
    if count == 0 || list.is_null() {
        return fail(Status::InvalidValue, "there are no semaphores");
    }
    list.collect(count as usize, Handle::get)
}

// OpenCL 3.0 API, Waiting On and Signaling Semaphores.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn wait(
    queue: Handle<Queue>,
    num: u32,
    list: In<Handle<Semaphore>>,
    _payloads: In<u64>,
    count: u32,
    events: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, events, event, |queue, wait| queue.wait_semaphores(&semaphores(num, list)?, wait))
}

// OpenCL 3.0 API, Waiting On and Signaling Semaphores.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn signal(
    queue: Handle<Queue>,
    num: u32,
    list: In<Handle<Semaphore>>,
    _payloads: In<u64>,
    count: u32,
    events: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, events, event, |queue, wait| queue.signal_semaphores(&semaphores(num, list)?, wait))
}

// OpenCL 3.0 API, Semaphore Queries.
pub fn info(semaphore: Handle<Semaphore>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>) -> Result<()> {
    let object = semaphore.get()?;
    let info = Info::new(size, value, size_ret);
    match name {
        cl::SEMAPHORE_CONTEXT_KHR => info.value(handle::borrow(object.context())?),
        cl::SEMAPHORE_REFERENCE_COUNT_KHR => info.value(semaphore.references()?),
        cl::SEMAPHORE_PROPERTIES_KHR => info.array(object.properties()),
        cl::SEMAPHORE_PAYLOAD_KHR => info.value(u64::from(object.is_signalled())),
        cl::SEMAPHORE_TYPE_KHR => info.value(cl::SEMAPHORE_TYPE_BINARY_KHR as u32),
        cl::SEMAPHORE_DEVICE_HANDLE_LIST_KHR => {
            info.array(&object.devices().iter().map(handle::borrow).collect::<Result<Vec<_>>>()?)
        }
        _ => info.unknown(name),
    }
    .map(drop)
}

/// `clGetSemaphoreHandleForTypeKHR` of `cl_khr_external_semaphore`, which no device has. Programs that use semaphores
/// look for it all the same.
pub fn external_handle(
    semaphore: Handle<Semaphore>,
    _device: Handle<Device>,
    _kind: u32,
    _size: usize,
    _value: OutBytes,
    _size_ret: Out<usize>,
) -> Result<()> {
    semaphore.get()?;
    Err(Error::new(Status::InvalidValue, "semaphores have no handles outside of OpenCL"))
}
