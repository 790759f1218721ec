//! Semaphores.

use super::{enqueue, fail};
use crate::args::{In, Out, OutBytes};
use crate::cl;
use crate::eventfd::EventFd;
use crate::handle::{self, Handle};
use crate::info::Info;
use cloom_runtime::{Context, Device, Event, Payload, Queue, Result, Semaphore, Status};
use std::sync::Arc;

/// Longer than the number of known properties: the list has no end.
const MAX_PROPERTIES: usize = 64;

/// A list of properties while it is read: name and value by turns, or a name and a list.
#[derive(Default)]
struct Properties {
    given: Vec<u64>,
    names: Vec<u32>,
    kind: Option<u64>,
    devices: Option<Vec<u64>>,
    /// `CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR`
    exports: Option<Vec<u64>>,
    /// The descriptor of `CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR`.
    imported: Option<u64>,
    /// What the next entry is.
    next: Next,
}

/// A place in a list of properties.
#[derive(Default, Clone, Copy)]
enum Next {
    #[default]
    Name,
    Kind,
    Descriptor,
    Device,
    Export,
}

impl Properties {
    /// Takes the next entry. Returns whether another one follows.
    fn take(&mut self, entry: u64) -> Result<bool> {
        if self.given.len() >= MAX_PROPERTIES {
            return fail(Status::InvalidProperty, "the list of properties has no end");
        }
        self.given.push(entry);
        let list = match self.next {
            Next::Name => return self.take_name(entry),
            Next::Kind => {
                (self.kind, self.next) = (Some(entry), Next::Name);
                return Ok(true);
            }
            Next::Descriptor => {
                (self.imported, self.next) = (Some(entry), Next::Name);
                return Ok(true);
            }
            Next::Device => &mut self.devices,
            Next::Export => &mut self.exports,
        };
        let list = list.get_or_insert_default();
        match entry {
            // Zero ends the list inside; a zero in place of a name ends the whole.
            0 => self.next = Next::Name,
            entry => list.push(entry),
        }
        Ok(true)
    }

    fn take_name(&mut self, entry: u64) -> Result<bool> {
        match u32::try_from(entry) {
            Ok(0) => return Ok(false),
            Ok(name) if self.names.contains(&name) => {
                return fail(Status::InvalidProperty, format!("the property {name:#x} is given twice"));
            }
            Ok(cl::SEMAPHORE_TYPE_KHR) => self.next = Next::Kind,
            Ok(cl::SEMAPHORE_HANDLE_OPAQUE_FD_KHR) => self.next = Next::Descriptor,
            Ok(cl::SEMAPHORE_DEVICE_HANDLE_LIST_KHR) => (self.devices, self.next) = (Some(Vec::new()), Next::Device),
            Ok(cl::SEMAPHORE_EXPORT_HANDLE_TYPES_KHR) => (self.exports, self.next) = (Some(Vec::new()), Next::Export),
            _ => return fail(Status::InvalidProperty, format!("the property {entry:#x} is unknown")),
        }
        self.names.push(entry as u32);
        Ok(true)
    }

    /// Whether the semaphore is to be exported.
    fn is_exportable(&self) -> Result<bool> {
        let Some(types) = self.exports.as_deref() else { return Ok(false) };
        if self.imported.is_some() {
            return fail(Status::InvalidOperation, "a semaphore that is imported cannot be exported");
        }
        match types {
            [] => Ok(false),
            [kind] if *kind == u64::from(cl::SEMAPHORE_HANDLE_OPAQUE_FD_KHR) => Ok(true),
            [kind] => fail(Status::InvalidProperty, format!("{kind:#x} is no type of handles of semaphores")),
            types => {
                fail(Status::InvalidValue, format!("there are {} types of handles to export, not one", types.len()))
            }
        }
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
    let exported = if properties.is_exportable()? { Some(EventFd::new()?) } else { None };
    let imported = properties.imported.map(EventFd::of_application).transpose()?;
    let shared = exported.clone().or(imported.clone()).map(|fd| fd as Arc<dyn Payload>);
    let semaphore = Semaphore::new(&context, device, properties.given, shared)?;
    let handle = handle::create(semaphore.clone())?;
    // What belongs to the interface: the descriptor of one that can be exported.
    if let Some(fd) = exported {
        semaphore.handle.get_or_init(|| fd);
    }
    // Only now, so that the application keeps its descriptor if the call fails.
    if let Some(fd) = imported {
        fd.adopt();
    }
    Ok(handle)
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
        cl::SEMAPHORE_EXPORTABLE_KHR => info.bool(exportable(&object).is_some()),
        cl::SEMAPHORE_EXPORT_HANDLE_TYPES_KHR => match exportable(&object) {
            Some(_) => info.value(cl::SEMAPHORE_HANDLE_OPAQUE_FD_KHR),
            None => info.array::<u32>(&[]),
        },
        cl::SEMAPHORE_DEVICE_HANDLE_LIST_KHR => {
            info.array(&object.devices().iter().map(handle::borrow).collect::<Result<Vec<_>>>()?)
        }
        _ => info.unknown(name),
    }
    .map(drop)
}

/// The descriptor of a semaphore that can be exported.
fn exportable(semaphore: &Semaphore) -> Option<&Arc<EventFd>> {
    semaphore.handle.get()
}

// OpenCL 3.0 API, Exporting Semaphore External Handles.
pub fn external_handle(
    semaphore: Handle<Semaphore>,
    device: Handle<Device>,
    kind: u32,
    size: usize,
    value: OutBytes,
    size_ret: Out<usize>,
) -> Result<()> {
    let (semaphore, device) = (semaphore.get()?, device.get()?);
    if !semaphore.devices().iter().any(|known| Arc::ptr_eq(known, &device)) {
        return fail(Status::InvalidDevice, "the semaphore is not for the device");
    }
    let Some(fd) = exportable(&semaphore).filter(|_| kind == cl::SEMAPHORE_HANDLE_OPAQUE_FD_KHR) else {
        return fail(Status::InvalidValue, format!("the semaphore was not made to export a handle of type {kind:#x}"));
    };
    if value.is_null() {
        size_ret.set(size_of::<i32>());
        return Ok(());
    }
    if size < size_of::<i32>() {
        return fail(Status::InvalidValue, format!("a descriptor has four bytes, handle_size is {size}"));
    }
    Info::new(size, value, size_ret).value(fd.duplicate()?).map(drop)
}
