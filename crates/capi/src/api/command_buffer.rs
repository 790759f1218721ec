//! Command buffers: creating, recording, enqueuing and queries. Recording launches is in `mutable`.
//!
//! A command has the checks of the function that enqueues the same; the functions here read the arguments that all
//! recording functions have in common.

use super::image_transfer::{fill_color, image_box};
use super::transfer::{rects, three};
use super::{fail, fill_pattern, give, wait_list};
use crate::args::{HostMemory, In, Out, OutBytes};
use crate::cl;
use crate::handle::{self, Handle};
use crate::info::{Info, Written};
use cloom_runtime::{
    CommandBuffer, CommandBufferFlags, Device, Event, MemObject, MutableCommand, MutableFields, Queue, QueueFlags,
    Recorded, Result, Status, SyncPoint,
};
use std::sync::Arc;

/// Longer than the number of known properties: the list has no end.
const MAX_PROPERTIES: usize = 64;

/// Properties as they were given, with the terminating zero.
type Given = Option<Vec<u64>>;

/// The properties of a command buffer or a command as given, and as names and values; each name at most once.
pub(super) fn properties(list: In<u64>) -> Result<(Given, Vec<(u32, u64)>)> {
    let Some(mut flat) = list.until(2, MAX_PROPERTIES, |key| *key == 0) else { return Ok((None, Vec::new())) };
    let mut pairs: Vec<(u32, u64)> = Vec::new();
    for pair in flat.chunks_exact(2) {
        let Ok(name) = u32::try_from(pair[0]) else {
            return fail(Status::InvalidValue, format!("the property {:#x} is unknown", pair[0]));
        };
        if pairs.iter().any(|(known, _)| *known == name) {
            return fail(Status::InvalidValue, format!("the property {name:#x} is given twice"));
        }
        pairs.push((name, pair[1]));
    }
    flat.push(0);
    Ok((Some(flat), pairs))
}

/// Reads `CL_MUTABLE_DISPATCH_ASSERTS_KHR` and its like for command buffers.
pub(super) fn asserts(bits: u64) -> Result<bool> {
    match bits {
        0 => Ok(false),
        cl::MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR => Ok(true),
        _ => fail(Status::InvalidValue, format!("the assertions {bits:#x} have unknown bits")),
    }
}

// OpenCL 3.0 API, Creating Command-Buffer Objects.
pub fn create(count: u32, queues: In<Handle<Queue>>, list: In<u64>) -> Result<Handle<CommandBuffer>> {
    if count != 1 || queues.is_null() {
        return fail(Status::InvalidValue, format!("a command buffer has one queue, not {count}, or the list is NULL"));
    }
    let queue = queues.get().unwrap_or(Handle::NULL).get()?;
    let (given, pairs) = properties(list)?;
    let (mut flags, mut no_more_groups) = (CommandBufferFlags::empty(), false);
    for (name, value) in pairs {
        match name {
            cl::COMMAND_BUFFER_FLAGS_KHR => match CommandBufferFlags::from_bits(value) {
                Some(known) => flags = known,
                None => return fail(Status::InvalidValue, format!("the flags {value:#x} have unknown bits")),
            },
            cl::COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR => no_more_groups = asserts(value)?,
            _ => return fail(Status::InvalidValue, format!("the property {name:#x} is unknown")),
        }
    }
    queue.check_host()?;
    handle::create(CommandBuffer::new(&queue, flags, no_more_groups, given))
}

// OpenCL 3.0 API, Enqueuing a Command-Buffer.
pub fn finalize(buffer: Handle<CommandBuffer>) -> Result<()> {
    buffer.get()?.finalize()
}

// OpenCL 3.0 API, Enqueuing a Command-Buffer.
pub fn enqueue(
    num_queues: u32,
    queues: In<Handle<Queue>>,
    buffer: Handle<CommandBuffer>,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    let buffer = buffer.get()?;
    if (num_queues == 0) != queues.is_null() || num_queues > 1 {
        return fail(
            Status::InvalidValue,
            format!("the command buffer has one queue, and the call names {num_queues}"),
        );
    }
    let queue = queues.get().map(Handle::get).transpose()?;
    let made = buffer.enqueue(queue.as_ref(), &wait_list(count, list)?, !event.is_null())?;
    made.map_or(Ok(()), |made| give(made, event))
}

/// What every recording function is given.
pub(super) struct Place {
    pub buffer: Arc<CommandBuffer>,
    pub wait: Vec<SyncPoint>,
}

/// Checks the arguments that every recording function has.
pub(super) fn place(buffer: Handle<CommandBuffer>, queue: Handle<Queue>, count: u32, points: In<u32>) -> Result<Place> {
    let buffer = buffer.get()?;
    if !queue.is_null() {
        return fail(Status::InvalidCommandQueue, "commands go to the command buffer's queue: the queue must be NULL");
    }
    if (count == 0) != points.is_null() {
        let why = format!("there are {count} sync-points, and the list says something else");
        return fail(Status::InvalidSyncPointWaitList, why);
    }
    let wait = points.take(count as usize)?;
    buffer.check_recording(&wait)?;
    Ok(Place { buffer, wait })
}

/// The arguments at the end of every recording function: the sync-points to wait for and their number, the command's
/// own sync-point, its handle.
type Tail = (u32, In<u32>, Out<u32>, Out<Handle<MutableCommand>>);

/// Records a command that cannot be updated, and that has no properties.
fn record(
    (buffer, queue, list): (Handle<CommandBuffer>, Handle<Queue>, In<u64>),
    (count, points, point, mutable_handle): Tail,
    record: impl FnOnce(&dyn Fn(&Recorded<'_>) -> Result<SyncPoint>) -> Result<SyncPoint>,
) -> Result<()> {
    let place = place(buffer, queue, count, points)?;
    if !properties(list)?.1.is_empty() {
        return fail(Status::InvalidValue, "commands other than launches have no properties");
    }
    if !mutable_handle.is_null() {
        return fail(Status::InvalidValue, "only launches can be updated: the place for a handle must be NULL");
    }
    point.set(record(&|command| place.buffer.record(command, &place.wait))?);
    Ok(())
}

/// The entry points that record a command: arguments of its own, and what is recorded.
macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) |$add:ident| $record:expr;)*) => {$(
        $(#[$doc])*
        #[allow(clippy::too_many_arguments, reason = "the specification's")]
        pub fn $name(
            buffer: Handle<CommandBuffer>,
            queue: Handle<Queue>,
            properties: In<u64>,
            $($arg: $ty,)*
            count: u32,
            points: In<u32>,
            point: Out<u32>,
            mutable_handle: Out<Handle<MutableCommand>>,
        ) -> Result<()> {
            record((buffer, queue, properties), (count, points, point, mutable_handle), |$add| $record)
        }
    )*};
}

// OpenCL 3.0 API, Recording Commands to a Command-Buffer.
commands! {
    barrier() |add| add(&Recorded::Barrier);
    copy(source: Handle<MemObject>, target: Handle<MemObject>, from: usize, to: usize, size: usize) |add| {
        let (source, target) = (&source.get()?, &target.get()?);
        add(&Recorded::Copy { source, target, from: from as u64, to: to as u64, size: size as u64 })
    };
    copy_rect(source: Handle<MemObject>, target: Handle<MemObject>, from: In<usize>, to: In<usize>, region: In<usize>,
        source_row: usize, source_slice: usize, target_row: usize, target_slice: usize) |add| {
        let (source, target) = (&source.get()?, &target.get()?);
        let rects = rects((from, source_row, source_slice), (to, target_row, target_slice), region)?;
        add(&Recorded::CopyRect { source, target, rects })
    };
    copy_buffer_to_image(source: Handle<MemObject>, target: Handle<MemObject>, offset: usize, origin: In<usize>,
        region: In<usize>) |add| {
        let (source, target) = (&source.get()?, &target.get()?);
        add(&Recorded::CopyBufferToImage { source, target, offset: offset as u64, at: image_box(origin, region)? })
    };
    copy_image(source: Handle<MemObject>, target: Handle<MemObject>, from: In<usize>, to: In<usize>,
        region: In<usize>) |add| {
        let (source, target) = (&source.get()?, &target.get()?);
        let (from, to, region) = (three(from, "origin")?, three(to, "origin")?, three(region, "region")?);
        add(&Recorded::CopyImage { source, target, from, to, region })
    };
    copy_image_to_buffer(source: Handle<MemObject>, target: Handle<MemObject>, origin: In<usize>, region: In<usize>,
        offset: usize) |add| {
        let (source, target) = (&source.get()?, &target.get()?);
        add(&Recorded::CopyImageToBuffer { source, target, at: image_box(origin, region)?, offset: offset as u64 })
    };
    fill(memory: Handle<MemObject>, pattern: HostMemory, pattern_size: usize, offset: usize, size: usize) |add| {
        let (memory, pattern) = (&memory.get()?, &fill_pattern(pattern, pattern_size)?);
        add(&Recorded::Fill { buffer: memory, pattern, offset: offset as u64, size: size as u64 })
    };
    fill_image(image: Handle<MemObject>, color: HostMemory, origin: In<usize>, region: In<usize>) |add| {
        let image = &image.get()?;
        add(&Recorded::FillImage { image, color: fill_color(image, color)?, at: image_box(origin, region)? })
    };
    svm_copy(to: HostMemory, from: HostMemory, size: usize) |add| {
        add(&Recorded::SvmCopy { to: to.get(), from: from.get(), size: size as u64 })
    };
    svm_fill(memory: HostMemory, pattern: HostMemory, pattern_size: usize, size: usize) |add| {
        let pattern = &fill_pattern(pattern, pattern_size)?;
        add(&Recorded::SvmFill { at: memory.get(), pattern, size: size as u64 })
    };
}

// OpenCL 3.0 API, Command-Buffer Queries.
pub fn info(
    buffer: Handle<CommandBuffer>,
    name: u32,
    size: usize,
    value: OutBytes,
    size_ret: Out<usize>,
) -> Result<()> {
    let object = buffer.get()?;
    let info = Info::new(size, value, size_ret);
    match name {
        cl::COMMAND_BUFFER_NUM_QUEUES_KHR => info.value(1u32),
        cl::COMMAND_BUFFER_QUEUES_KHR => info.value(handle::borrow(object.queue())?),
        cl::COMMAND_BUFFER_REFERENCE_COUNT_KHR => info.value(buffer.references()?),
        cl::COMMAND_BUFFER_STATE_KHR => info.value(object.state() as u32),
        cl::COMMAND_BUFFER_PROPERTIES_ARRAY_KHR => info.array(object.properties().unwrap_or_default()),
        cl::COMMAND_BUFFER_CONTEXT_KHR => info.value(handle::borrow(object.context())?),
        _ => info.unknown(name),
    }
    .map(drop)
}

/// Queries of a device: what command buffers can do is the runtime's, and the same for all devices that can do it.
pub(super) fn device_info(device: &Device, name: u32, info: Info) -> Result<Option<Written>> {
    Ok(Some(match name {
        cl::DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR => {
            let all =
                cl::COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR | cl::COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR;
            let enqueue = cl::COMMAND_BUFFER_CAPABILITY_DEVICE_SIDE_ENQUEUE_KHR;
            info.value(all | if device.has_device_queues() { enqueue } else { 0 })?
        }
        cl::DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR => {
            info.value((QueueFlags::OUT_OF_ORDER | QueueFlags::PROFILING).bits())?
        }
        cl::DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR => info.value(QueueFlags::empty().bits())?,
        cl::DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR => info.value(MutableFields::all().bits())?,
        _ => return Ok(None),
    }))
}
