//! Features that no device has so far: sharing with graphics. These entry points check the arguments that they can, and
//! then return the error that the specification names.
//!
//! No context comes from graphics here: `clCreateContext` refuses the properties that would make it one. So functions
//! that need such a context say `CL_INVALID_CONTEXT`, as they do for any other context without graphics.

use super::{fail, give, wait_list};
use crate::args::{In, Out, OutArray, OutBytes, UserData};
use crate::handle::Handle;
use cloom_runtime::{Context, Device, Event, MemFlags, MemObject, Queue, Result, Status};
use std::sync::Arc;

/// Entry points that check the handles, which are their first arguments, ignore the others, and fail.
macro_rules! not_supported {
    ($($name:ident($($handle:ident: $object:ty),*; $($other:ty),*) -> $out:ty = $status:ident $why:literal;)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "the specification's")]
        pub fn $name($($handle: Handle<$object>,)* $(_: $other),*) -> Result<$out> {
            $($handle.get()?;)*
            fail(Status::$status, $why)
        }
    )*};
}

not_supported! {
    // Sharing with graphics: extensions.
    gl_object_info(memory: MemObject; Out<u32>, Out<u32>) -> ()
        = InvalidGlObject "the memory object was not made from one of graphics";
    gl_texture_info(memory: MemObject; u32, usize, OutBytes, Out<usize>) -> ()
        = InvalidGlObject "the memory object was not made from one of graphics";
    gl_sync(context: Context; UserData) -> Handle<Event>
        = InvalidContext "the context was not created from one of OpenGL";
    egl_sync(context: Context; UserData, UserData) -> Handle<Event>
        = InvalidContext "the context was not created from one of OpenGL";
}

/// The flags of a memory object made from one of graphics.
fn check_flags(flags: u64) -> Result<()> {
    let known = MemFlags::READ_WRITE | MemFlags::WRITE_ONLY | MemFlags::READ_ONLY;
    match MemFlags::from_bits(flags).is_some_and(|f| known.contains(f) && f.bits().count_ones() <= 1) {
        true => Ok(()),
        false => fail(Status::InvalidValue, format!("memory flags {flags:#x} are not those of an object of graphics")),
    }
}

/// `clCreateFromGLBuffer` and `clCreateFromGLRenderbuffer`
pub fn gl_buffer(context: Handle<Context>, flags: u64, _object: u32) -> Result<Handle<MemObject>> {
    context.get()?;
    check_flags(flags)?;
    fail(Status::InvalidContext, "the context was not created from one of OpenGL")
}

/// `clCreateFromGLTexture` and its older forms.
pub fn gl_texture(
    context: Handle<Context>,
    flags: u64,
    _target: u32,
    _level: i32,
    _texture: u32,
) -> Result<Handle<MemObject>> {
    gl_buffer(context, flags, 0)
}

/// Checks the arguments of a call that acquires or releases objects. Returns the queue and the wait list.
fn check_objects(
    queue: Handle<Queue>,
    num: u32,
    objects: In<Handle<MemObject>>,
    count: u32,
    events: In<Handle<Event>>,
) -> Result<(Arc<Queue>, Vec<Arc<Event>>)> {
    let queue = queue.get()?;
    super::list(num, objects)?;
    Ok((queue, wait_list(count, events)?))
}

/// `clEnqueueAcquireGLObjects` and `clEnqueueReleaseGLObjects`
pub fn gl_objects(
    queue: Handle<Queue>,
    num: u32,
    objects: In<Handle<MemObject>>,
    count: u32,
    events: In<Handle<Event>>,
    _event: Out<Handle<Event>>,
) -> Result<()> {
    check_objects(queue, num, objects, count, events)?;
    fail(Status::InvalidContext, "the queue's context was not created from one of OpenGL")
}

/// `clEnqueueAcquireEGLObjectsKHR` and `clEnqueueReleaseEGLObjectsKHR`: any context may have such objects, but there
/// are none.
pub fn egl_objects(
    queue: Handle<Queue>,
    num: u32,
    objects: In<Handle<MemObject>>,
    count: u32,
    events: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    let (queue, wait) = check_objects(queue, num, objects, count, events)?;
    if num > 0 {
        return fail(Status::InvalidEglObject, "a memory object was not made from one of EGL");
    }
    give(queue.marker(&wait)?, event)
}

/// `clCreateFromEGLImageKHR`
pub fn egl_image(
    context: Handle<Context>,
    _display: UserData,
    _image: UserData,
    flags: u64,
    _properties: In<isize>,
) -> Result<Handle<MemObject>> {
    context.get()?;
    check_flags(flags)?;
    fail(Status::InvalidEglObject, "the image is not one of an EGL that shares with the devices")
}

/// The properties of a context that `clGetGLContextInfoKHR` takes: the platform, and those of OpenGL's.
const GL_CONTEXT_PROPERTIES: [isize; 6] = [0x1084, 0x2008, 0x2009, 0x200A, 0x200B, 0x200C];
/// `CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR` and `CL_DEVICES_FOR_GL_CONTEXT_KHR`
const GL_CONTEXT_QUERIES: [u32; 2] = [0x2006, 0x2007];

/// `clGetGLContextInfoKHR`
pub fn gl_context_info(
    properties: In<isize>,
    name: u32,
    _size: usize,
    _value: OutBytes,
    _size_ret: Out<usize>,
) -> Result<()> {
    let flat = properties.until(2, 64, |key| *key == 0).unwrap_or_default();
    if let Some(pair) = flat.chunks_exact(2).find(|pair| !GL_CONTEXT_PROPERTIES.contains(&pair[0])) {
        return fail(Status::InvalidValue, format!("the property {:#x} is unknown", pair[0]));
    }
    if !GL_CONTEXT_QUERIES.contains(&name) {
        return fail(Status::InvalidValue, format!("there is no query {name:#x} of a context of OpenGL"));
    }
    fail(Status::InvalidGlSharegroupReference, "no device shares objects with a context of OpenGL")
}

// OpenCL 3.0 API, 4.3: Partitioning a Device.
pub fn sub_devices_ext(
    device: Handle<Device>,
    _properties: In<u64>,
    _room: u32,
    _devices: OutArray<Handle<Device>>,
    _count: Out<u32>,
) -> Result<()> {
    device.get()?;
    fail(Status::InvalidValue, "devices are divided by clCreateSubDevices")
}
