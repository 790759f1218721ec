//! Launching kernels and native kernels.

use super::{fail, give, wait_list};
use crate::args::{HostMemory, In, Out, OutArray};
use crate::callback::{self, NativeFn};
use crate::handle::Handle;
use cloom_runtime::{CommandType, Event, Kernel, MemObject, NativeKernel, Queue, RangeInput, Result, Status};
use std::sync::Arc;

/// The sizes of the used dimensions.
pub(super) fn sizes(values: In<usize>, dim: u32) -> Option<[u64; 3]> {
    if values.is_null() {
        return None;
    }
    // Of a wrong number of dimensions, which is reported later, none is read: nobody knows how many there are.
    let mut three = [0; 3];
    values.read(&mut three[..if dim > 3 { 0 } else { dim as usize }]);
    Some(three.map(|size| size as u64))
}

/// Returns the event of a launch to the application, if wanted.
fn launched(made: Option<Arc<Event>>, event: Out<Handle<Event>>) -> Result<()> {
    made.map_or(Ok(()), |made| give(made, event))
}

// OpenCL 3.0 API, 5.10: Executing Kernels.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn nd_range(
    queue: Handle<Queue>,
    kernel: Handle<Kernel>,
    dim: u32,
    offset: In<usize>,
    global: In<usize>,
    local: In<usize>,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    let (queue, kernel, wait) = (queue.get()?, kernel.get()?, wait_list(count, list)?);
    let dim_sizes = |values| sizes(values, dim);
    let range =
        RangeInput { work_dim: dim, offset: dim_sizes(offset), global: dim_sizes(global), local: dim_sizes(local) };
    launched(queue.launch(CommandType::NdRangeKernel, &kernel, &range, &wait, !event.is_null())?, event)
}

// OpenCL 3.1 API, 5.9: Kernel Objects.
pub fn suggested_local_size(
    queue: Handle<Queue>,
    kernel: Handle<Kernel>,
    dim: u32,
    offset: In<usize>,
    global: In<usize>,
    local: OutArray<usize>,
) -> Result<()> {
    let (queue, kernel) = (queue.get()?, kernel.get()?);
    if local.is_null() {
        return fail(Status::InvalidValue, "the place for the local size is NULL");
    }
    let range = RangeInput { work_dim: dim, offset: sizes(offset, dim), global: sizes(global, dim), local: None };
    let chosen = queue.suggested_local_size(&kernel, &range)?;
    chosen.iter().take(dim as usize).enumerate().for_each(|(d, &size)| local.set(d, size as usize));
    Ok(())
}

// OpenCL 3.0 API, 5.10: Executing Kernels.
pub fn task(
    queue: Handle<Queue>,
    kernel: Handle<Kernel>,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    let (queue, kernel, wait) = (queue.get()?, kernel.get()?, wait_list(count, list)?);
    // A task is a launch of one work-item.
    let range = RangeInput { work_dim: 1, offset: None, global: Some([1; 3]), local: Some([1; 3]) };
    launched(queue.launch(CommandType::Task, &kernel, &range, &wait, !event.is_null())?, event)
}

// OpenCL 3.0 API, 5.10: Executing Kernels.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn native(
    queue: Handle<Queue>,
    function: Option<NativeFn>,
    args: HostMemory,
    size: usize,
    num: u32,
    buffers: In<Handle<MemObject>>,
    places: In<usize>,
    count: u32,
    events: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    let queue = queue.get()?;
    let function = callback::needed(function)?;
    if args.is_null() != (size == 0) || (args.is_null() && num > 0) {
        return fail(
            Status::InvalidValue,
            format!("args, their size {size} and the number {num} of buffers contradict each other"),
        );
    }
    if (num == 0) != places.is_null() {
        return fail(Status::InvalidValue, format!("there are {num} buffers, and args_mem_loc says something else"));
    }
    if (num == 0) != buffers.is_null() {
        return fail(Status::InvalidValue, format!("there are {num} buffers, and mem_list says something else"));
    }
    // A handle may be NULL.
    let buffer = |h: Handle<MemObject>| if h.is_null() { Ok(None) } else { h.get().map(Some) };
    let buffers = buffers.collect(num as usize, buffer)?;
    let wait = wait_list(count, events)?;
    // The copy is aligned, so pointers in it stay aligned.
    let whole_word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_ne_bytes(word)
    };
    let block: Vec<u64> = args.bytes(size)?.chunks(8).map(whole_word).collect();
    let offset = |place: usize| match place
        .checked_sub(args.address())
        .filter(|o| o.checked_add(8).is_some_and(|end| end <= size))
    {
        Some(offset) => Ok(offset),
        None => fail(Status::InvalidValue, format!("args_mem_loc has {place:#x}, which is not inside of args")),
    };
    let offsets = places.collect(num as usize, offset)?;
    let run = callback::native(function, block, offsets);
    give(queue.native(NativeKernel { buffers, run }, &wait)?, event)
}
