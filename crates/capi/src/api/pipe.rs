//! Pipes.

use super::fail;
use crate::args::{In, Out, OutBytes};
use crate::cl;
use crate::handle::{self, Handle};
use crate::info::{Info, Written};
use cloom_caps::PipeLimits;
use cloom_runtime::{Context, Device, MemObject, Result, Status};

// OpenCL 3.0 API, 4.2: Querying Devices.
/// Queries of a device: zeros where there are no pipes.
pub fn device_info(device: &Device, name: u32, info: Info) -> Result<Option<Written>> {
    let pipes = device.caps().pipes;
    let count = |of: fn(&PipeLimits) -> u32| info.value(pipes.as_ref().map_or(0, of));
    Ok(Some(match name {
        cl::DEVICE_PIPE_SUPPORT => info.bool(pipes.is_some())?,
        cl::DEVICE_MAX_PIPE_ARGS => count(|p| p.args)?,
        cl::DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS => count(|p| p.active_reservations)?,
        cl::DEVICE_PIPE_MAX_PACKET_SIZE => count(|p| p.packet_size)?,
        _ => return Ok(None),
    }))
}

// OpenCL 3.0 API, 5.4.1: Creating Pipe Objects.
pub fn create(
    context: Handle<Context>,
    flags: u64,
    packet_size: u32,
    max_packets: u32,
    properties: In<isize>,
) -> Result<Handle<MemObject>> {
    let context = context.get()?;
    if !properties.is_null() {
        return fail(Status::InvalidValue, "there are no properties of pipes: the list must be NULL");
    }
    handle::create(MemObject::new_pipe(&context, flags, packet_size, max_packets)?)
}

// OpenCL 3.0 API, 5.4.2: Pipe Object Queries.
pub fn info(pipe: Handle<MemObject>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>) -> Result<()> {
    let object = pipe.get()?;
    let pipe = object.pipe()?;
    let info = Info::new(size, value, size_ret);
    match name {
        cl::PIPE_PACKET_SIZE => info.value(pipe.packet_size),
        cl::PIPE_MAX_PACKETS => info.value(pipe.max_packets),
        // Those given at its creation: none.
        cl::PIPE_PROPERTIES => info.array::<isize>(&[]),
        _ => info.unknown(name),
    }
    .map(drop)
}
