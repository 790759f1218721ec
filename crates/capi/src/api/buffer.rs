//! Buffers and sub-buffers.

use super::fail;
use crate::args::{HostMemory, In, Out, OutBytes, UserData};
use crate::callback::{self, ObjectNotify};
use crate::cl;
use crate::handle::{self, Handle};
use crate::info::Info;
use cloom_runtime::{Context, MemObject, Result, Status};

// OpenCL 3.0 API, 5.2.1: Creating Buffer Objects.
pub fn create(context: Handle<Context>, flags: u64, size: usize, host: HostMemory) -> Result<Handle<MemObject>> {
    handle::create(MemObject::buffer(&context.get()?, flags, size as u64, host.get(), None)?)
}

/// More than there are properties: the list has no end.
const MAX_PROPERTIES: usize = 16;

/// The properties of a buffer, with the terminating zero.
fn properties(list: In<u64>) -> Result<Option<Vec<u64>>> {
    let Some(mut flat) = list.until(2, MAX_PROPERTIES, |key| *key == 0) else { return no_properties(list) };
    for (i, pair) in flat.chunks_exact(2).enumerate() {
        let is_known = pair[0] == cl::MEM_DEVICE_PRIVATE_ADDRESS_EXT && matches!(pair[1], 0 | 1);
        if !is_known || flat[..2 * i].chunks_exact(2).any(|earlier| earlier[0] == pair[0]) {
            let why = format!("the property {:#x} is unknown, given twice or has no value {:#x}", pair[0], pair[1]);
            return fail(Status::InvalidProperty, why);
        }
    }
    flat.push(0);
    Ok(Some(flat))
}

/// The properties of an object that has none.
pub fn no_properties(list: In<u64>) -> Result<Option<Vec<u64>>> {
    match list.get() {
        None => Ok(None),
        Some(0) => Ok(Some(vec![0])),
        Some(key) => fail(Status::InvalidProperty, format!("the property {key:#x} is unknown")),
    }
}

// OpenCL 3.0 API, 5.2.1: Creating Buffer Objects.
pub fn create_with_properties(
    context: Handle<Context>,
    list: In<u64>,
    flags: u64,
    size: usize,
    host: HostMemory,
) -> Result<Handle<MemObject>> {
    let context = context.get()?;
    let properties = properties(list)?;
    handle::create(MemObject::buffer(&context, flags, size as u64, host.get(), properties)?)
}

// OpenCL 3.0 API, 5.2.1: Creating Buffer Objects.
pub fn create_sub(
    buffer: Handle<MemObject>,
    flags: u64,
    kind: u32,
    region: In<[usize; 2]>,
) -> Result<Handle<MemObject>> {
    let buffer = buffer.get()?;
    if kind != cl::BUFFER_CREATE_TYPE_REGION {
        return fail(Status::InvalidValue, format!("{kind:#x} is not CL_BUFFER_CREATE_TYPE_REGION"));
    }
    match region.get() {
        Some([origin, size]) => handle::create(buffer.sub_buffer(flags, origin as u64, size as u64)?),
        None => fail(Status::InvalidValue, "the region is NULL"),
    }
}

// OpenCL 3.0 API, 5.5.5: Memory Object Queries.
pub fn info(memory: Handle<MemObject>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>) -> Result<()> {
    let object = memory.get()?;
    let info = Info::new(size, value, size_ret);
    match name {
        cl::MEM_TYPE => info.value(match (object.as_image(), object.as_pipe()) {
            (Some(image), _) => image.image_type as u32,
            (None, Some(_)) => cl::MEM_OBJECT_PIPE,
            (None, None) => cl::MEM_OBJECT_BUFFER,
        }),
        cl::MEM_FLAGS => info.value(object.flags().bits()),
        cl::MEM_SIZE => info.value(object.size() as usize),
        cl::MEM_HOST_PTR => info.value(object.host_ptr().unwrap_or(0)),
        cl::MEM_MAP_COUNT => info.value(object.map_count()),
        cl::MEM_REFERENCE_COUNT => info.value(memory.references()?),
        cl::MEM_CONTEXT => info.value(handle::borrow(object.context())?),
        cl::MEM_ASSOCIATED_MEMOBJECT => {
            info.value(object.parent().map(handle::borrow).transpose()?.unwrap_or(Handle::NULL))
        }
        cl::MEM_OFFSET => info.value(object.origin() as usize),
        cl::MEM_USES_SVM_POINTER => {
            info.bool(object.host_ptr().is_some_and(|p| object.context().svm_room(p).is_some()))
        }
        cl::MEM_DEVICE_ADDRESS_EXT => info.array(&object.device_addresses()?),
        cl::MEM_PROPERTIES => info.array(object.properties().unwrap_or_default()),
        _ => info.unknown(name),
    }
    .map(drop)
}

// OpenCL 3.0 API, 5.5.1: Retaining and Releasing Memory Objects.
pub fn set_destructor(memory: Handle<MemObject>, notify: Option<ObjectNotify>, user_data: UserData) -> Result<()> {
    let object = memory.get()?;
    let call = callback::object(memory, callback::needed(notify)?, user_data);
    object.on_destruction(call);
    Ok(())
}
