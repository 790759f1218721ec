//! Features that no device has so far: sharing with graphics. These entry points check the
//! handles, and then return the error that the specification names.

use super::fail;
use crate::args::{In, Out, OutArray, OutBytes, UserData};
use crate::handle::Handle;
use cloom_runtime::{Context, Device, Event, MemObject, Queue, Result, Status};

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
    gl_buffer(context: Context; u64, u32) -> Handle<MemObject>
        = InvalidOperation "no device shares objects with graphics";
    gl_texture(context: Context; u64, u32, i32, u32) -> Handle<MemObject>
        = InvalidOperation "no device shares objects with graphics";
    gl_object_info(memory: MemObject; Out<u32>, Out<u32>) -> ()
        = InvalidMemObject "the memory object was not made from one of graphics";
    gl_texture_info(memory: MemObject; u32, usize, OutBytes, Out<usize>) -> ()
        = InvalidMemObject "the memory object was not made from one of graphics";
    gl_objects(queue: Queue; u32, In<Handle<MemObject>>, u32, In<Handle<Event>>, Out<Handle<Event>>) -> ()
        = InvalidOperation "no device shares objects with graphics";
    gl_context_info(; In<isize>, u32, usize, OutBytes, Out<usize>) -> ()
        = InvalidOperation "no device shares objects with graphics";
    gl_sync(context: Context; UserData) -> Handle<Event> = InvalidOperation "no device shares objects with graphics";
    egl_image(context: Context; UserData, UserData, u64, In<isize>) -> Handle<MemObject>
        = InvalidOperation "no device shares objects with graphics";
    egl_sync(context: Context; UserData, UserData) -> Handle<Event>
        = InvalidOperation "no device shares objects with graphics";
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
