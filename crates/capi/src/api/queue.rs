//! Command queues.

use super::fail;
use crate::args::{In, Out, OutBytes};
use crate::cl;
use crate::handle::{self, Handle};
use crate::info::Info;
use cloom_runtime::{Context, Device, Queue, QueueFlags, Result, Status};

/// Reads the properties of a queue of the host: unknown bits are an error, and so are those of queues on the device.
fn flags(bits: u64) -> Result<QueueFlags> {
    let flags = any_flags(bits)?;
    if flags.intersects(QueueFlags::ON_DEVICE | QueueFlags::ON_DEVICE_DEFAULT) {
        return fail(Status::InvalidValue, "clCreateCommandQueueWithProperties makes queues on the device");
    }
    Ok(flags)
}

/// Reads the properties of any queue.
fn any_flags(bits: u64) -> Result<QueueFlags> {
    match QueueFlags::from_bits(bits) {
        Some(flags) => Ok(flags),
        None => fail(Status::InvalidValue, format!("the properties {bits:#x} have unknown bits")),
    }
}

/// Checks a hint: high, medium or low. All queues share one pool of threads, so nothing follows from it.
fn hint(key: u32, value: u64) -> Result<()> {
    match value {
        1 | 2 | 4 => Ok(()),
        _ => fail(Status::InvalidValue, format!("{value:#x} is no value of the property {key:#x}")),
    }
}

// OpenCL 3.0 API, 5.1: Command-Queues.
pub fn create(context: Handle<Context>, device: Handle<Device>, properties: u64) -> Result<Handle<Queue>> {
    let (context, device) = (context.get()?, device.get()?);
    handle::create(Queue::new(&context, &device, flags(properties)?, None)?)
}

/// Longer than the number of known properties: the list has no end.
const MAX_PROPERTIES: usize = 64;

// OpenCL 3.0 API, 5.1: Command-Queues.
pub fn create_with_properties(
    context: Handle<Context>,
    device: Handle<Device>,
    list: In<u64>,
) -> Result<Handle<Queue>> {
    let (context, device) = (context.get()?, device.get()?);
    let mut set = QueueFlags::empty();
    let given = list.until(2, MAX_PROPERTIES, |key| *key == 0);
    let mut seen = Vec::new();
    let (mut size, mut hinted) = (None, false);
    for pair in given.iter().flat_map(|flat| flat.chunks_exact(2)) {
        if seen.contains(&pair[0]) {
            return fail(Status::InvalidValue, format!("the property {:#x} is given twice", pair[0]));
        }
        seen.push(pair[0]);
        match u32::try_from(pair[0]) {
            Ok(cl::QUEUE_PROPERTIES) => set = any_flags(pair[1])?,
            Ok(key @ (cl::QUEUE_PRIORITY_KHR | cl::QUEUE_THROTTLE_KHR)) => {
                hint(key, pair[1])?;
                hinted = true;
            }
            Ok(cl::QUEUE_SIZE) => size = Some(u32::try_from(pair[1]).unwrap_or(u32::MAX)),
            _ => return fail(Status::InvalidValue, format!("the property {:#x} is unknown", pair[0])),
        }
    }
    let given = given.map(|mut flat| {
        flat.push(0);
        flat
    });
    let on_device = set.contains(QueueFlags::ON_DEVICE);
    if set.contains(QueueFlags::ON_DEVICE_DEFAULT) && !on_device {
        return fail(Status::InvalidValue, "CL_QUEUE_ON_DEVICE_DEFAULT goes with CL_QUEUE_ON_DEVICE");
    }
    if size.is_some() && !on_device {
        return fail(Status::InvalidValue, "CL_QUEUE_SIZE is for queues on the device");
    }
    if hinted && on_device {
        return fail(Status::InvalidQueueProperties, "hints of priority and throttling are for queues of the host");
    }
    handle::create(match on_device {
        true => Queue::new_on_device(&context, &device, set, size, given)?,
        false => Queue::new(&context, &device, set, given)?,
    })
}

// OpenCL 3.0 API, 5.1: Command-Queues.
pub fn set_default(context: Handle<Context>, device: Handle<Device>, queue: Handle<Queue>) -> Result<()> {
    let (context, device) = (context.get()?, device.get()?);
    // Without such queues there is none to be valid.
    context.may_have_default_queue(&device)?;
    queue.get()?.make_default(&context, &device)
}

// OpenCL 3.0 API, 5.1: Command-Queues.
pub fn info(queue: Handle<Queue>, name: u32, size: usize, value: OutBytes, size_ret: Out<usize>) -> Result<()> {
    let object = queue.get()?;
    let info = Info::new(size, value, size_ret);
    match name {
        cl::QUEUE_CONTEXT => info.value(handle::borrow(object.context())?),
        cl::QUEUE_DEVICE => info.value(handle::borrow(object.device())?),
        cl::QUEUE_REFERENCE_COUNT => info.value(queue.references()?),
        cl::QUEUE_PROPERTIES => info.value(object.flags().bits()),
        cl::QUEUE_SIZE => match object.on_device() {
            Some(on_device) => info.value(on_device.size()),
            None => return fail(Status::InvalidCommandQueue, "CL_QUEUE_SIZE is of queues on the device"),
        },
        cl::QUEUE_DEVICE_DEFAULT => info.value(match object.default_on_device() {
            Some(queue) => handle::borrow(&queue)?,
            None => Handle::NULL,
        }),
        cl::QUEUE_PROPERTIES_ARRAY => info.array(object.properties().unwrap_or_default()),
        _ => info.unknown(name),
    }
    .map(drop)
}

// OpenCL 3.0 API, 5.1: Command-Queues.
pub fn set_property(queue: Handle<Queue>, properties: u64, enable: u32, old: Out<u64>) -> Result<()> {
    let queue = queue.get()?;
    queue.check_host()?;
    let flags = flags(properties)?;
    old.set(queue.flags().bits());
    queue.set_flags(flags, enable != 0);
    Ok(())
}

// OpenCL 3.0 API, 5.15: Flush and Finish.
pub fn flush(queue: Handle<Queue>) -> Result<()> {
    let queue = queue.get()?;
    queue.check_host()?;
    queue.flush();
    Ok(())
}

// OpenCL 3.0 API, 5.15: Flush and Finish.
pub fn finish(queue: Handle<Queue>) -> Result<()> {
    let queue = queue.get()?;
    queue.check_host()?;
    queue.finish();
    Ok(())
}
