//! Unified shared memory (`cl_intel_unified_shared_memory`).

use super::{enqueue, fail, fill_pattern};
use crate::args::{HostMemory, In, Out, OutBytes};
use crate::cl;
use crate::handle::{self, Handle};
use crate::info::{Info, Written};
use cloom_runtime::{Context, Device, Event, Kernel, Queue, Result, Status, UsmKind};
use std::ffi::c_void;

/// More than there are properties: the list has no end.
const MAX_PROPERTIES: usize = 16;

/// The flags in a list of properties.
fn flags(list: In<u64>) -> Result<u64> {
    let mut found = None;
    for pair in list.until(2, MAX_PROPERTIES, |key| *key == 0).unwrap_or_default().chunks_exact(2) {
        if pair[0] != u64::from(cl::MEM_ALLOC_FLAGS_INTEL) || found.is_some() {
            return fail(Status::InvalidProperty, format!("the property {:#x} is unknown or given twice", pair[0]));
        }
        found = Some(pair[1]);
    }
    Ok(found.unwrap_or(0))
}

pub fn host_alloc(context: Handle<Context>, list: In<u64>, size: usize, alignment: u32) -> Result<*mut c_void> {
    let context = context.get()?;
    let address = context.usm_allocate(UsmKind::Host, None, flags(list)?, size as u64, alignment)?;
    Ok(std::ptr::with_exposed_provenance_mut(address))
}

pub fn device_alloc(
    context: Handle<Context>,
    device: Handle<Device>,
    list: In<u64>,
    size: usize,
    alignment: u32,
) -> Result<*mut c_void> {
    let (context, device) = (context.get()?, device.get()?);
    let address = context.usm_allocate(UsmKind::Device, Some(device), flags(list)?, size as u64, alignment)?;
    Ok(std::ptr::with_exposed_provenance_mut(address))
}

pub fn shared_alloc(
    context: Handle<Context>,
    device: Handle<Device>,
    list: In<u64>,
    size: usize,
    alignment: u32,
) -> Result<*mut c_void> {
    let context = context.get()?;
    let device = if device.is_null() { None } else { Some(device.get()?) };
    let address = context.usm_allocate(UsmKind::Shared, device, flags(list)?, size as u64, alignment)?;
    Ok(std::ptr::with_exposed_provenance_mut(address))
}

pub fn free(context: Handle<Context>, memory: HostMemory) -> Result<()> {
    context.get()?.usm_free(memory.address(), false)
}

pub fn blocking_free(context: Handle<Context>, memory: HostMemory) -> Result<()> {
    context.get()?.usm_free(memory.address(), true)
}

pub fn info(
    context: Handle<Context>,
    memory: HostMemory,
    name: u32,
    size: usize,
    value: OutBytes,
    size_ret: Out<usize>,
) -> Result<()> {
    let found = context.get()?.usm_at(memory.address());
    let info = Info::new(size, value, size_ret);
    let usm = found.as_ref().map(|(_, usm)| usm);
    match name {
        cl::MEM_ALLOC_TYPE_INTEL => info.value(match usm.map(|usm| usm.kind) {
            None => cl::MEM_TYPE_UNKNOWN_INTEL,
            Some(UsmKind::Host) => cl::MEM_TYPE_HOST_INTEL,
            Some(UsmKind::Device) => cl::MEM_TYPE_DEVICE_INTEL,
            Some(UsmKind::Shared) => cl::MEM_TYPE_SHARED_INTEL,
        }),
        cl::MEM_ALLOC_BASE_PTR_INTEL => info.value(found.as_ref().map_or(0, |(begin, _)| *begin)),
        cl::MEM_ALLOC_SIZE_INTEL => info.value(usm.map_or(0, |usm| usm.size as usize)),
        cl::MEM_ALLOC_DEVICE_INTEL => {
            let device = usm.and_then(|usm| usm.device.as_ref());
            info.value(device.map(handle::borrow).transpose()?.unwrap_or(Handle::NULL))
        }
        cl::MEM_ALLOC_FLAGS_INTEL => info.value(usm.map_or(0, |usm| usm.flags)),
        _ => info.unknown(name),
    }
    .map(drop)
}

pub fn set_arg(kernel: Handle<Kernel>, index: u32, value: HostMemory) -> Result<()> {
    kernel.with(|kernel| kernel.set_svm_arg(index, value.address()))
}

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn fill(
    queue: Handle<Queue>,
    memory: HostMemory,
    pattern: HostMemory,
    pattern_size: usize,
    size: usize,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        queue.usm_fill(memory.get(), &fill_pattern(pattern, pattern_size)?, size as u64, wait)
    })
}

/// Every byte becomes the low byte of the value, as with C's `memset`.
pub fn set(
    queue: Handle<Queue>,
    memory: HostMemory,
    value: i32,
    size: usize,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| queue.usm_fill(memory.get(), &[value as u8], size as u64, wait))
}

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn memcpy(
    queue: Handle<Queue>,
    blocking: u32,
    to: HostMemory,
    from: HostMemory,
    size: usize,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        queue.usm_copy(blocking != 0, to.get(), from.get(), size as u64, wait)
    })
}

/// Any range is good: it is a hint.
pub fn migrate(
    queue: Handle<Queue>,
    _: HostMemory,
    _: usize,
    flags: u64,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| queue.usm_migrate(flags, wait))
}

/// Any range is good: it is a hint.
pub fn advise(
    queue: Handle<Queue>,
    _: HostMemory,
    _: usize,
    advice: u32,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| queue.usm_advise(advice, wait))
}

/// Queries of a device about what it can do with such memory.
pub(super) fn device_info(device: &Device, name: u32, info: Info) -> Result<Option<Written>> {
    Ok(Some(match name {
        cl::DEVICE_HOST_MEM_CAPABILITIES_INTEL
        | cl::DEVICE_DEVICE_MEM_CAPABILITIES_INTEL
        | cl::DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL
        | cl::DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL => info.value(device.usm_capabilities())?,
        cl::DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL => info.value(device.system_usm_capabilities())?,
        _ => return Ok(None),
    }))
}
