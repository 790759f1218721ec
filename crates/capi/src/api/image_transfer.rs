//! Commands that move elements of images.

use super::transfer::three;
use super::{enqueue, fail, give, wait_list};
use crate::args::{HostMemory, In, Out};
use crate::handle::Handle;
use cloom_runtime::{Event, ImageBox, MemObject, Pitches, Queue, Result, Status};
use std::ffi::c_void;

pub(super) fn image_box(origin: In<usize>, region: In<usize>) -> Result<ImageBox> {
    Ok(ImageBox { origin: three(origin, "origin")?, region: three(region, "region")? })
}

// OpenCL 3.0 API, 5.3.3: Reading, Writing and Copying Image Objects.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn read(
    queue: Handle<Queue>,
    image: Handle<MemObject>,
    blocking: u32,
    origin: In<usize>,
    region: In<usize>,
    row_pitch: usize,
    slice_pitch: usize,
    to: HostMemory,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    let pitches = Pitches { row: row_pitch as u64, slice: slice_pitch as u64 };
    enqueue(queue, count, list, event, |queue, wait| {
        queue.read_image(&image.get()?, blocking != 0, image_box(origin, region)?, pitches, to.get(), wait)
    })
}

// OpenCL 3.0 API, 5.3.3: Reading, Writing and Copying Image Objects.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn write(
    queue: Handle<Queue>,
    image: Handle<MemObject>,
    blocking: u32,
    origin: In<usize>,
    region: In<usize>,
    row_pitch: usize,
    slice_pitch: usize,
    from: HostMemory,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    let pitches = Pitches { row: row_pitch as u64, slice: slice_pitch as u64 };
    enqueue(queue, count, list, event, |queue, wait| {
        queue.write_image(&image.get()?, blocking != 0, image_box(origin, region)?, pitches, from.get(), wait)
    })
}

// OpenCL 3.0 API, 5.3.3: Reading, Writing and Copying Image Objects.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn copy(
    queue: Handle<Queue>,
    source: Handle<MemObject>,
    target: Handle<MemObject>,
    from: In<usize>,
    to: In<usize>,
    region: In<usize>,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        let (source, target) = (source.get()?, target.get()?);
        let (from, to, region) = (three(from, "origin")?, three(to, "origin")?, three(region, "region")?);
        queue.copy_image(&source, &target, from, to, region, wait)
    })
}

// OpenCL 3.0 API, 5.3.4: Copying between Image and Buffer Objects.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn to_buffer(
    queue: Handle<Queue>,
    source: Handle<MemObject>,
    target: Handle<MemObject>,
    origin: In<usize>,
    region: In<usize>,
    offset: usize,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        let (source, target) = (source.get()?, target.get()?);
        queue.copy_image_to_buffer(&source, &target, image_box(origin, region)?, offset as u64, wait)
    })
}

// OpenCL 3.0 API, 5.3.4: Copying between Image and Buffer Objects.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn from_buffer(
    queue: Handle<Queue>,
    source: Handle<MemObject>,
    target: Handle<MemObject>,
    offset: usize,
    origin: In<usize>,
    region: In<usize>,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        let (source, target) = (source.get()?, target.get()?);
        queue.copy_buffer_to_image(&source, &target, offset as u64, image_box(origin, region)?, wait)
    })
}

// OpenCL 3.0 API, 5.3.5: Filling Image Objects.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn fill(
    queue: Handle<Queue>,
    image: Handle<MemObject>,
    color: HostMemory,
    origin: In<usize>,
    region: In<usize>,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<()> {
    enqueue(queue, count, list, event, |queue, wait| {
        let image = image.get()?;
        queue.fill_image(&image, fill_color(&image, color)?, image_box(origin, region)?, wait)
    })
}

/// The colour to fill an image with.
pub(super) fn fill_color(image: &MemObject, color: HostMemory) -> Result<[u32; 4]> {
    if color.is_null() {
        return fail(Status::InvalidValue, "the fill colour is NULL");
    }
    // The colour of a depth image is one float.
    let is_depth = image.image()?.format.order == cloom_caps::image::order::DEPTH;
    let bytes = color.bytes(if is_depth { 4 } else { 16 })?;
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_ne_bytes(*bytes);
    }
    Ok(words)
}

// OpenCL 3.0 API, 5.3.6: Mapping Image Objects.
#[allow(clippy::too_many_arguments, reason = "the specification's")]
pub fn map(
    queue: Handle<Queue>,
    image: Handle<MemObject>,
    blocking: u32,
    flags: u64,
    origin: In<usize>,
    region: In<usize>,
    row_pitch: Out<usize>,
    slice_pitch: Out<usize>,
    count: u32,
    list: In<Handle<Event>>,
    event: Out<Handle<Event>>,
) -> Result<*mut c_void> {
    let (queue, object, wait) = (queue.get()?, image.get()?, wait_list(count, list)?);
    let image = object.image()?;
    object.may_map(flags)?;
    if row_pitch.is_null() || slice_pitch.is_null() && image.told_slice_pitch() != 0 {
        return fail(Status::InvalidValue, "a place for a pitch is NULL");
    }
    let (address, done) = queue.map_image(&object, blocking != 0, flags, image_box(origin, region)?, &wait)?;
    row_pitch.set(image.row_pitch as usize);
    slice_pitch.set(image.told_slice_pitch() as usize);
    give(done, event)?;
    Ok(std::ptr::with_exposed_provenance_mut(address))
}
