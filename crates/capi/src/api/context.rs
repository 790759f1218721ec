//! Contexts.

use super::{device, devices, fail};
use crate::args::{In, Out, OutBytes, UserData};
use crate::callback::{self, ContextNotify, ObjectNotify};
use crate::cl;
use crate::handle::{self, Handle};
use crate::info::Info;
use cloom_runtime::{Context, ContextProperty, Device, Platform, Result, Status};
use std::sync::Arc;

/// Longer than the number of known properties: the list has no end.
const MAX_PROPERTIES: usize = 64;

/// Reads and checks a list of properties.
fn properties(list: In<isize>) -> Result<Option<Vec<ContextProperty>>> {
    let Some(flat) = list.until(2, MAX_PROPERTIES, |key| *key == 0) else { return Ok(None) };
    let mut pairs: Vec<ContextProperty> = Vec::new();
    for pair in flat.chunks_exact(2) {
        let (key, value) = (pair[0], pair[1]);
        if pairs.iter().any(|(k, _)| *k == key) {
            return fail(Status::InvalidProperty, format!("the property {key:#x} is given twice"));
        }
        match u32::try_from(key) {
            // There is one platform, so that only its handle is right.
            Ok(cl::CONTEXT_PLATFORM) => {
                Handle::<Platform>::from_address(value as usize).get()?;
            }
            Ok(cl::CONTEXT_INTEROP_USER_SYNC) if matches!(value, 0 | 1) => {}
            // The runtime looks at it.
            Ok(cl::CONTEXT_MEMORY_INITIALIZE_KHR) => {}
            _ => {
                return fail(
                    Status::InvalidProperty,
                    format!("the property {key:#x} with the value {value:#x} is unknown"),
                );
            }
        }
        pairs.push((key, value));
    }
    Ok(Some(pairs))
}

fn with_devices(
    list: In<isize>,
    devices: impl FnOnce() -> Result<Vec<Arc<Device>>>,
    notify: Option<ContextNotify>,
    user_data: UserData,
) -> Result<Handle<Context>> {
    let properties = properties(list)?;
    let notify = callback::pair(notify, user_data)?;
    let notify = notify.map(|f| callback::context(f, user_data));
    // The devices are looked up after the properties have been checked: that decides which error a call with several
    // gets.
    handle::create(Context::new(&devices()?, properties, notify)?)
}

// OpenCL 3.0 API, 4.4: Contexts.
pub fn create(
    list: In<isize>,
    count: u32,
    handles: In<Handle<Device>>,
    notify: Option<ContextNotify>,
    user_data: UserData,
) -> Result<Handle<Context>> {
    with_devices(list, || devices(count, handles), notify, user_data)
}

// OpenCL 3.0 API, 4.4: Contexts.
pub fn create_from_type(
    list: In<isize>,
    kind: u64,
    notify: Option<ContextNotify>,
    user_data: UserData,
) -> Result<Handle<Context>> {
    with_devices(list, || device::of_type(kind), notify, user_data)
}

// OpenCL 3.0 API, 4.4: Contexts.
pub fn info(context: Handle<Context>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>) -> Result<()> {
    let object = context.get()?;
    let info = Info::new(size, value, size_ret);
    match name {
        cl::CONTEXT_REFERENCE_COUNT => info.value(context.references()?),
        cl::CONTEXT_NUM_DEVICES => info.value(object.devices().len() as u32),
        cl::CONTEXT_DEVICES => info.array(&object.devices().iter().map(handle::borrow).collect::<Result<Vec<_>>>()?),
        cl::CONTEXT_PROPERTIES => match object.properties() {
            None => info.array::<isize>(&[]),
            Some(pairs) => {
                let mut flat: Vec<isize> = pairs.iter().flat_map(|(k, v)| [*k, *v]).collect();
                flat.push(0);
                info.array(&flat)
            }
        },
        _ => info.unknown(name),
    }
    .map(drop)
}

// OpenCL 3.0 API, 4.4: Contexts.
pub fn set_destructor(context: Handle<Context>, notify: Option<ObjectNotify>, user_data: UserData) -> Result<()> {
    let object = context.get()?;
    let call = callback::object(context, callback::needed(notify)?, user_data);
    object.on_destruction(call);
    Ok(())
}
