//! What devices do not have so far: images, samplers, pipes, sub-devices, sub-groups, intermediate languages
//! and sharing with graphics. The arguments that can be checked are checked, and then comes the error that the specification names.

use super::{device, fail};
use crate::args::{HostMemory, In, Out, OutArray, OutBytes, UserData};
use crate::handle::Handle;
use cloom_runtime::{Buffer, Context, Device, Event, Program, Queue, Result, Status};
use std::ffi::c_void;

fn no_images<T>(context: Handle<Context>) -> Result<T> {
    context.get()?;
    fail(Status::InvalidOperation, "no device of the context has images")
}

pub fn image_2d(
    context: Handle<Context>,
    _flags: u64,
    _format: UserData,
    _width: usize,
    _height: usize,
    _pitch: usize,
    _host: HostMemory,
) -> Result<Handle<Buffer>> {
    no_images(context)
}

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn image_3d(
    context: Handle<Context>,
    _flags: u64,
    _format: UserData,
    _width: usize,
    _height: usize,
    _depth: usize,
    _row_pitch: usize,
    _slice_pitch: usize,
    _host: HostMemory,
) -> Result<Handle<Buffer>> {
    no_images(context)
}

pub fn image(
    context: Handle<Context>,
    _flags: u64,
    _format: UserData,
    _description: UserData,
    _host: HostMemory,
) -> Result<Handle<Buffer>> {
    no_images(context)
}

pub fn image_with_properties(
    context: Handle<Context>,
    _properties: In<u64>,
    _flags: u64,
    _format: UserData,
    _description: UserData,
    _host: HostMemory,
) -> Result<Handle<Buffer>> {
    no_images(context)
}

/// There are no formats, which is no error.
pub fn image_formats(
    context: Handle<Context>,
    _flags: u64,
    kind: u32,
    room: u32,
    formats: OutBytes,
    count: Out<u32>,
) -> Result<()> {
    context.get()?;
    // CL_MEM_OBJECT_IMAGE2D to CL_MEM_OBJECT_IMAGE1D_BUFFER.
    if !(0x10F1..=0x10F6).contains(&kind) {
        return fail(Status::InvalidValue, format!("{kind:#x} is not a type of image"));
    }
    if room == 0 && !formats.is_null() {
        return fail(Status::InvalidValue, "an array of 0 entries");
    }
    count.set(0);
    Ok(())
}

fn not_an_image<T>(image: Handle<Buffer>) -> Result<T> {
    image.get()?;
    fail(Status::InvalidMemObject, "the memory object is a buffer, not an image")
}

pub fn image_info(image: Handle<Buffer>, _: u32, _: usize, _: OutBytes, _: Out<usize>) -> Result<()> {
    not_an_image(image)
}

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn transfer_image(
    queue: Handle<Queue>,
    image: Handle<Buffer>,
    _blocking: u32,
    _origin: In<usize>,
    _region: In<usize>,
    _row_pitch: usize,
    _slice_pitch: usize,
    _host: HostMemory,
    _count: u32,
    _list: In<Handle<Event>>,
    _event: Out<Handle<Event>>,
) -> Result<()> {
    queue.get()?;
    not_an_image(image)
}

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn copy_image(
    queue: Handle<Queue>,
    source: Handle<Buffer>,
    target: Handle<Buffer>,
    _from: In<usize>,
    _to: In<usize>,
    _region: In<usize>,
    _count: u32,
    _list: In<Handle<Event>>,
    _event: Out<Handle<Event>>,
) -> Result<()> {
    queue.get()?;
    target.get()?;
    not_an_image(source)
}

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn copy_image_to_buffer(
    queue: Handle<Queue>,
    source: Handle<Buffer>,
    target: Handle<Buffer>,
    _from: In<usize>,
    _region: In<usize>,
    _to: usize,
    _count: u32,
    _list: In<Handle<Event>>,
    _event: Out<Handle<Event>>,
) -> Result<()> {
    queue.get()?;
    target.get()?;
    not_an_image(source)
}

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn copy_buffer_to_image(
    queue: Handle<Queue>,
    source: Handle<Buffer>,
    target: Handle<Buffer>,
    _from: usize,
    _to: In<usize>,
    _region: In<usize>,
    _count: u32,
    _list: In<Handle<Event>>,
    _event: Out<Handle<Event>>,
) -> Result<()> {
    queue.get()?;
    source.get()?;
    not_an_image(target)
}

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn map_image(
    queue: Handle<Queue>,
    image: Handle<Buffer>,
    _blocking: u32,
    _flags: u64,
    _origin: In<usize>,
    _region: In<usize>,
    _row_pitch: Out<usize>,
    _slice_pitch: Out<usize>,
    _count: u32,
    _list: In<Handle<Event>>,
    _event: Out<Handle<Event>>,
) -> Result<*mut c_void> {
    queue.get()?;
    not_an_image(image)
}

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn fill_image(
    queue: Handle<Queue>,
    image: Handle<Buffer>,
    _color: UserData,
    _origin: In<usize>,
    _region: In<usize>,
    _count: u32,
    _list: In<Handle<Event>>,
    _event: Out<Handle<Event>>,
) -> Result<()> {
    queue.get()?;
    not_an_image(image)
}

pub fn sampler(context: Handle<Context>, _normalized: u32, _addressing: u32, _filter: u32) -> Result<*mut c_void> {
    no_images(context)
}

pub fn sampler_with_properties(context: Handle<Context>, _properties: In<u64>) -> Result<*mut c_void> {
    no_images(context)
}

pub fn sampler_handle(_sampler: HostMemory) -> Result<()> {
    fail(Status::InvalidSampler, "this is not a sampler: no device has images")
}

pub fn sampler_info(sampler: HostMemory, _: u32, _: usize, _: OutBytes, _: Out<usize>) -> Result<()> {
    sampler_handle(sampler)
}

pub fn pipe(context: Handle<Context>, _: u64, _: u32, _: u32, _: In<isize>) -> Result<Handle<Buffer>> {
    context.get()?;
    fail(Status::InvalidOperation, "no device of the context has pipes")
}

pub fn pipe_info(pipe: Handle<Buffer>, _: u32, _: usize, _: OutBytes, _: Out<usize>) -> Result<()> {
    pipe.get()?;
    fail(Status::InvalidMemObject, "the memory object is a buffer, not a pipe")
}

pub fn default_device_queue(context: Handle<Context>, device: Handle<Device>, _queue: Handle<Queue>) -> Result<()> {
    context.get()?;
    device.get()?;
    fail(Status::InvalidOperation, "the device has no queues of its own")
}

pub fn il(context: Handle<Context>, _il: HostMemory, _length: usize) -> Result<Handle<Program>> {
    context.get()?;
    fail(Status::InvalidOperation, "no device of the context takes an intermediate language")
}

pub fn specialization_constant(program: Handle<Program>, _: u32, _: usize, _: HostMemory) -> Result<()> {
    program.get()?;
    fail(Status::InvalidOperation, "no device of the program takes an intermediate language")
}

pub fn sub_devices(
    device: Handle<Device>,
    properties: In<isize>,
    _room: u32,
    _devices: OutArray<Handle<Device>>,
    _count: Out<u32>,
) -> Result<()> {
    device.get()?;
    match properties.get() {
        None | Some(0) => fail(Status::InvalidValue, "there are no properties"),
        Some(kind) => fail(Status::InvalidValue, format!("the device cannot be partitioned in the way {kind:#x}")),
    }
}

pub fn sub_devices_ext(
    device: Handle<Device>,
    _properties: In<u64>,
    _room: u32,
    _devices: OutArray<Handle<Device>>,
    _count: Out<u32>,
) -> Result<()> {
    device::count(device)?;
    fail(Status::InvalidValue, "the device cannot be partitioned")
}

fn no_graphics<T>(context: Handle<Context>) -> Result<T> {
    context.get()?;
    fail(Status::InvalidOperation, "no device shares objects with graphics")
}

pub fn gl_buffer(context: Handle<Context>, _flags: u64, _object: u32) -> Result<Handle<Buffer>> {
    no_graphics(context)
}

pub fn gl_texture(context: Handle<Context>, _: u64, _: u32, _: i32, _: u32) -> Result<Handle<Buffer>> {
    no_graphics(context)
}

pub fn gl_object_info(memory: Handle<Buffer>, _: Out<u32>, _: Out<u32>) -> Result<()> {
    memory.get()?;
    fail(Status::InvalidMemObject, "the memory object was not made from one of graphics")
}

pub fn gl_texture_info(memory: Handle<Buffer>, _: u32, _: usize, _: OutBytes, _: Out<usize>) -> Result<()> {
    memory.get()?;
    fail(Status::InvalidMemObject, "the memory object was not made from one of graphics")
}

pub fn gl_objects(
    queue: Handle<Queue>,
    _num: u32,
    _objects: In<Handle<Buffer>>,
    _count: u32,
    _list: In<Handle<Event>>,
    _event: Out<Handle<Event>>,
) -> Result<()> {
    queue.get()?;
    fail(Status::InvalidOperation, "no device shares objects with graphics")
}

pub fn gl_context_info(_: In<isize>, _: u32, _: usize, _: OutBytes, _: Out<usize>) -> Result<()> {
    fail(Status::InvalidOperation, "no device shares objects with graphics")
}

pub fn gl_sync(context: Handle<Context>, _sync: UserData) -> Result<Handle<Event>> {
    no_graphics(context)
}

pub fn egl_image(
    context: Handle<Context>,
    _display: UserData,
    _image: UserData,
    _flags: u64,
    _properties: In<isize>,
) -> Result<Handle<Buffer>> {
    no_graphics(context)
}

pub fn egl_sync(context: Handle<Context>, _sync: UserData, _display: UserData) -> Result<Handle<Event>> {
    no_graphics(context)
}
