//! Commands that move bytes.

use super::{fail, fill_pattern, give, wait_list};
use crate::args::{HostMemory, In, Out};
use crate::handle::Handle;
use cloom_runtime::{Buffer, Event, Queue, RectSide, Result, Status};
use std::ffi::c_void;

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn read(
    queue: Handle<Queue>,
    buffer: Handle<Buffer>,
    blocking: u32,
    offset: usize,
    size: usize,
    to: HostMemory,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    let (queue, buffer, wait) = (queue.get()?, buffer.get()?, wait_list(count, list)?);
    give(queue.read(&buffer, blocking != 0, offset as u64, size as u64, to.get(), &wait)?, event)
}

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn write(
    queue: Handle<Queue>,
    buffer: Handle<Buffer>,
    blocking: u32,
    offset: usize,
    size: usize,
    from: HostMemory,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    let (queue, buffer, wait) = (queue.get()?, buffer.get()?, wait_list(count, list)?);
    give(queue.write(&buffer, blocking != 0, offset as u64, size as u64, from.get(), &wait)?, event)
}

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn copy(
    queue: Handle<Queue>,
    source: Handle<Buffer>,
    target: Handle<Buffer>,
    from: usize,
    to: usize,
    size: usize,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    let (queue, source, target) = (queue.get()?, source.get()?, target.get()?);
    let wait = wait_list(count, list)?;
    give(queue.copy(&source, &target, from as u64, to as u64, size as u64, &wait)?, event)
}

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn fill(
    queue: Handle<Queue>,
    buffer: Handle<Buffer>,
    pattern: HostMemory,
    pattern_size: usize,
    offset: usize,
    size: usize,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    let (queue, buffer, wait) = (queue.get()?, buffer.get()?, wait_list(count, list)?);
    let pattern = fill_pattern(pattern, pattern_size)?;
    give(queue.fill(&buffer, &pattern, offset as u64, size as u64, &wait)?, event)
}

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn map(
    queue: Handle<Queue>,
    buffer: Handle<Buffer>,
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

pub fn unmap(
    queue: Handle<Queue>,
    memory: Handle<Buffer>,
    mapped: HostMemory,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    let (queue, buffer, wait) = (queue.get()?, memory.get()?, wait_list(count, list)?);
    give(queue.unmap(&buffer, mapped.address(), &wait)?, event)
}

pub fn migrate(
    queue: Handle<Queue>,
    num: u32,
    memory: In<Handle<Buffer>>,
    flags: u64,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    let queue = queue.get()?;
    let buffers = super::list(num, memory)?.unwrap_or_default();
    let wait = wait_list(count, list)?;
    give(queue.migrate(&buffers, flags, &wait)?, event)
}

/// Three sizes of the application.
fn three(values: In<usize>, what: &str) -> Result<[u64; 3]> {
    match values.three() {
        Some(values) => Ok(values.map(|v| v as u64)),
        None => fail(Status::InvalidValue, format!("the {what} is NULL")),
    }
}

fn side(origin: In<usize>, row_pitch: usize, slice_pitch: usize) -> Result<RectSide> {
    let origin = three(origin, "origin")?;
    Ok(RectSide { origin, row_pitch: row_pitch as u64, slice_pitch: slice_pitch as u64 })
}

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn read_rect(
    queue: Handle<Queue>,
    buffer: Handle<Buffer>,
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
    let (queue, buffer, wait) = (queue.get()?, buffer.get()?, wait_list(count, list)?);
    let at = side(buffer_origin, buffer_row, buffer_slice)?;
    let host = side(host_origin, host_row, host_slice)?;
    give(queue.read_rect(&buffer, blocking != 0, &at, &host, three(region, "region")?, to.get(), &wait)?, event)
}

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn write_rect(
    queue: Handle<Queue>,
    buffer: Handle<Buffer>,
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
    let (queue, buffer, wait) = (queue.get()?, buffer.get()?, wait_list(count, list)?);
    let at = side(buffer_origin, buffer_row, buffer_slice)?;
    let host = side(host_origin, host_row, host_slice)?;
    give(queue.write_rect(&buffer, blocking != 0, &at, &host, three(region, "region")?, from.get(), &wait)?, event)
}

#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn copy_rect(
    queue: Handle<Queue>,
    source: Handle<Buffer>,
    target: Handle<Buffer>,
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
    let (queue, source, target) = (queue.get()?, source.get()?, target.get()?);
    let wait = wait_list(count, list)?;
    let from = side(from, source_row, source_slice)?;
    let to = side(to, target_row, target_slice)?;
    give(queue.copy_rect(&source, &target, &from, &to, three(region, "region")?, &wait)?, event)
}
