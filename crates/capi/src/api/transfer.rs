//! Commands that move bytes.

use super::{enqueue, fail, fill_pattern, give, wait_list};
use crate::args::{HostMemory, In, Out};
use crate::handle::Handle;
use cloom_runtime::{Event, MemObject, Queue, RectPair, RectSide, Result, Status};
use std::ffi::c_void;

// OpenCL 3.0 API, 5.2.2: Reading, Writing and Copying Buffer Objects.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn read(
    queue: Handle<Queue>,
    buffer: Handle<MemObject>,
    blocking: u32,
    offset: usize,
    size: usize,
    to: HostMemory,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        queue.read(&buffer.get()?, blocking != 0, offset as u64, size as u64, to.get(), wait)
    })
}

// OpenCL 3.0 API, 5.2.2: Reading, Writing and Copying Buffer Objects.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn write(
    queue: Handle<Queue>,
    buffer: Handle<MemObject>,
    blocking: u32,
    offset: usize,
    size: usize,
    from: HostMemory,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        queue.write(&buffer.get()?, blocking != 0, offset as u64, size as u64, from.get(), wait)
    })
}

// OpenCL 3.0 API, 5.2.2: Reading, Writing and Copying Buffer Objects.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn copy(
    queue: Handle<Queue>,
    source: Handle<MemObject>,
    target: Handle<MemObject>,
    from: usize,
    to: usize,
    size: usize,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        queue.copy(&source.get()?, &target.get()?, from as u64, to as u64, size as u64, wait)
    })
}

// OpenCL 3.0 API, 5.2.3: Filling Buffer Objects.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn fill(
    queue: Handle<Queue>,
    buffer: Handle<MemObject>,
    pattern: HostMemory,
    pattern_size: usize,
    offset: usize,
    size: usize,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        let pattern = fill_pattern(pattern, pattern_size)?;
        queue.fill(&buffer.get()?, &pattern, offset as u64, size as u64, wait)
    })
}

// OpenCL 3.0 API, 5.2.4: Mapping Buffer Objects.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn map(
    queue: Handle<Queue>,
    buffer: Handle<MemObject>,
    blocking: u32,
    flags: u64,
    offset: usize,
    size: usize,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<*mut c_void> {
    let (queue, buffer, wait) = (queue.get()?, buffer.get()?, wait_list(count, list)?);
    let (address, done) = queue.map(&buffer, blocking != 0, flags, offset as u64, size as u64, &wait)?;
    give(done, event)?;
    Ok(std::ptr::with_exposed_provenance_mut(address))
}

// OpenCL 3.0 API, 5.5.2: Unmapping Mapped Memory Objects.
pub fn unmap(
    queue: Handle<Queue>,
    memory: Handle<MemObject>,
    mapped: HostMemory,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| queue.unmap(&memory.get()?, mapped.address(), wait))
}

// OpenCL 3.0 API, 5.5.4: Migrating Memory Objects.
pub fn migrate(
    queue: Handle<Queue>,
    num: u32,
    memory: In<Handle<MemObject>>,
    flags: u64,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        queue.migrate(&super::list(num, memory)?.unwrap_or_default(), flags, wait)
    })
}

/// Three sizes of the application.
pub(super) fn three(values: In<usize>, what: &str) -> Result<[u64; 3]> {
    match values.three() {
        Some(values) => Ok(values.map(|v| v as u64)),
        None => fail(Status::InvalidValue, format!("the {what} is NULL")),
    }
}

/// One side of a rectangular transfer: its origin, row pitch and slice pitch.
type Side = (In<usize>, usize, usize);

/// A box as the application gives it, on both sides.
pub(super) fn rects(source: Side, target: Side, region: In<usize>) -> Result<RectPair> {
    let side = |(origin, row_pitch, slice_pitch): Side| -> Result<RectSide> {
        let origin = three(origin, "origin")?;
        Ok(RectSide { origin, row_pitch: row_pitch as u64, slice_pitch: slice_pitch as u64 })
    };
    Ok(RectPair { source: side(source)?, target: side(target)?, region: three(region, "region")? })
}

// OpenCL 3.0 API, 5.2.2: Reading, Writing and Copying Buffer Objects.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn read_rect(
    queue: Handle<Queue>,
    buffer: Handle<MemObject>,
    blocking: u32,
    buffer_origin: In<usize>,
    host_origin: In<usize>,
    region: In<usize>,
    buffer_row: usize,
    buffer_slice: usize,
    host_row: usize,
    host_slice: usize,
    to: HostMemory,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        let (at, host) = ((buffer_origin, buffer_row, buffer_slice), (host_origin, host_row, host_slice));
        queue.read_rect(&buffer.get()?, blocking != 0, &rects(at, host, region)?, to.get(), wait)
    })
}

// OpenCL 3.0 API, 5.2.2: Reading, Writing and Copying Buffer Objects.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn write_rect(
    queue: Handle<Queue>,
    buffer: Handle<MemObject>,
    blocking: u32,
    buffer_origin: In<usize>,
    host_origin: In<usize>,
    region: In<usize>,
    buffer_row: usize,
    buffer_slice: usize,
    host_row: usize,
    host_slice: usize,
    from: HostMemory,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        let (at, host) = ((buffer_origin, buffer_row, buffer_slice), (host_origin, host_row, host_slice));
        queue.write_rect(&buffer.get()?, blocking != 0, &rects(host, at, region)?, from.get(), wait)
    })
}

// OpenCL 3.0 API, 5.2.2: Reading, Writing and Copying Buffer Objects.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn copy_rect(
    queue: Handle<Queue>,
    source: Handle<MemObject>,
    target: Handle<MemObject>,
    from: In<usize>,
    to: In<usize>,
    region: In<usize>,
    source_row: usize,
    source_slice: usize,
    target_row: usize,
    target_slice: usize,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        let rects = rects((from, source_row, source_slice), (to, target_row, target_slice), region)?;
        queue.copy_rect(&source.get()?, &target.get()?, &rects, wait)
    })
}
