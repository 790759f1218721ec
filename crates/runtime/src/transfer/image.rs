//! Reading, writing, copying, filling and mapping images.
//!
//! A box of elements is a set of rows of bytes ([`Image::rect`](crate::Image)); each command moves these.

use crate::graph::execute::Job;
use crate::host_mem::HostPtr;
use crate::memory::image_color::{Color, element};
use crate::memory::mapping::MapTarget;
use crate::status::ensure;
use crate::transfer::buffer::need;
use crate::transfer::rect::{Direction, HostRect, copy_rect_job, fill_rect};
use crate::{CommandType, Event, MemFlags, MemObject, Queue, Result};
use cloom_hal::Rect;
use std::sync::Arc;

/// A box of an image, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageBox {
    /// Where it begins.
    pub origin: [u64; 3],
    /// Its size.
    pub region: [u64; 3],
}

/// Pitches in the host's memory, in bytes; 0 if packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pitches {
    /// From row to row.
    pub row: u64,
    /// From slice to slice or layer to layer.
    pub slice: u64,
}

/// Rows and slices of the host's memory follow each other.
const PACKED: Pitches = Pitches { row: 0, slice: 0 };

/// Checks that a slice has as many bytes as a box of an image.
fn check_packed(image: &MemObject, at: ImageBox, bytes: usize) -> Result<()> {
    let size = at.region.iter().try_fold(image.image()?.element_size(), |size, &n| size.checked_mul(n));
    ensure!(size == Some(bytes as u64), InvalidValue, "the slice has {bytes} bytes, and the box {size:?}");
    Ok(())
}

impl Queue {
    /// Checks that a memory object is an image of the queue's context, and that its flags do not forbid what is done.
    fn check_image(&self, image: &MemObject, denied: MemFlags, verb: &str) -> Result<()> {
        self.check_object(image)?;
        image.image()?;
        ensure!(!image.flags().intersects(denied), InvalidOperation, "the image's flags forbid to {verb} it");
        Ok(())
    }

    // OpenCL 3.0 API, 5.3.3: Reading, Writing and Copying Image Objects.
    /// Copies a box of an image to the host.
    pub fn read_image(
        self: &Arc<Queue>,
        image: &Arc<MemObject>,
        blocking: bool,
        at: ImageBox,
        pitches: Pitches,
        to: Option<HostPtr>,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_image(image, MemFlags::HOST_WRITE_ONLY | MemFlags::HOST_NO_ACCESS, "read")?;
        let rect = host_rect(image, at, pitches, to)?;
        self.move_rect(CommandType::ReadImage, Direction::ToHost, image, rect, blocking, wait)
    }

    // OpenCL 3.0 API, 5.3.3: Reading, Writing and Copying Image Objects.
    /// Copies a box of the host's memory to an image.
    pub fn write_image(
        self: &Arc<Queue>,
        image: &Arc<MemObject>,
        blocking: bool,
        at: ImageBox,
        pitches: Pitches,
        from: Option<HostPtr>,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_image(image, MemFlags::HOST_READ_ONLY | MemFlags::HOST_NO_ACCESS | MemFlags::IMMUTABLE, "write")?;
        let rect = host_rect(image, at, pitches, from)?;
        self.move_rect(CommandType::WriteImage, Direction::FromHost, image, rect, blocking, wait)
    }

    /// Fills a slice from a box of an image, packed, and waits until that is done.
    pub fn read_image_slice(self: &Arc<Queue>, image: &Arc<MemObject>, at: ImageBox, to: &mut [u8]) -> Result<()> {
        check_packed(image, at, to.len())?;
        let target = HostPtr::of_slice_mut(to);
        // A blocking call returns when the command has ended, or was never enqueued: the borrow outlives it.
        self.read_image(image, true, at, PACKED, Some(target), &[]).map(drop)
    }

    /// Fills a box of an image from a slice, packed, and waits until that is done.
    pub fn write_image_slice(self: &Arc<Queue>, image: &Arc<MemObject>, at: ImageBox, from: &[u8]) -> Result<()> {
        check_packed(image, at, from.len())?;
        let source = HostPtr::of_slice(from);
        // As for reading.
        self.write_image(image, true, at, PACKED, Some(source), &[]).map(drop)
    }

    // OpenCL 3.0 API, 5.3.3: Reading, Writing and Copying Image Objects.
    /// Copies a box of an image to a box of an image of the same format.
    pub fn copy_image(
        self: &Arc<Queue>,
        source: &Arc<MemObject>,
        target: &Arc<MemObject>,
        from: [u64; 3],
        to: [u64; 3],
        region: [u64; 3],
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let job = self.copy_image_job(source, target, from, to, region)?;
        let uses = self.uses(|| {
            let (a, b) = (source.image()?.rect(from, region)?, target.image()?.rect(to, region)?);
            Ok([source.used_rect(&a, false), target.used_rect(&b, true)])
        })?;
        self.enqueue_job(CommandType::CopyImage, wait, false, uses, job)
    }

    /// The checked work of [`copy_image`](Self::copy_image), which may be done any number of times.
    pub(crate) fn copy_image_job(
        &self,
        source: &Arc<MemObject>,
        target: &Arc<MemObject>,
        from: [u64; 3],
        to: [u64; 3],
        region: [u64; 3],
    ) -> Result<impl Job + use<>> {
        self.check_image(source, MemFlags::empty(), "")?;
        self.check_image(target, MemFlags::IMMUTABLE, "change")?;
        let (a, b) = (source.image()?, target.image()?);
        ensure!(a.format == b.format, ImageFormatMismatch, "the images have different formats");
        let (a, b) = (a.rect(from, region)?, b.rect(to, region)?);
        if source.same_storage(target) {
            let overlap = a.at(a.start + source.origin()).overlaps(&b.at(b.start + target.origin()));
            ensure!(!overlap, MemCopyOverlap, "the source box overlaps the destination box");
        }
        Ok(copy_rect_job(self.space(), (source, a), (target, b)))
    }

    // OpenCL 3.0 API, 5.3.4: Copying between Image and Buffer Objects.
    /// Copies a box of an image to a buffer, packed.
    pub fn copy_image_to_buffer(
        self: &Arc<Queue>,
        source: &Arc<MemObject>,
        target: &Arc<MemObject>,
        at: ImageBox,
        offset: u64,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let job = self.copy_image_to_buffer_job(source, target, at, offset)?;
        let uses = self.uses(|| {
            let (image, buffer) = packed_in_buffer(source, target, at, offset)?;
            Ok([source.used_rect(&image, false), target.used_rect(&buffer, true)])
        })?;
        self.enqueue_job(CommandType::CopyImageToBuffer, wait, false, uses, job)
    }

    /// The checked work of [`copy_image_to_buffer`](Self::copy_image_to_buffer).
    pub(crate) fn copy_image_to_buffer_job(
        &self,
        source: &Arc<MemObject>,
        target: &Arc<MemObject>,
        at: ImageBox,
        offset: u64,
    ) -> Result<impl Job + use<>> {
        self.check_image(source, MemFlags::empty(), "")?;
        self.may_change(target)?;
        let (image, buffer) = packed_in_buffer(source, target, at, offset)?;
        Ok(copy_rect_job(self.space(), (source, image), (target, buffer)))
    }

    // OpenCL 3.0 API, 5.3.4: Copying between Image and Buffer Objects.
    /// Copies a packed box of a buffer to an image.
    pub fn copy_buffer_to_image(
        self: &Arc<Queue>,
        source: &Arc<MemObject>,
        target: &Arc<MemObject>,
        offset: u64,
        at: ImageBox,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let job = self.copy_buffer_to_image_job(source, target, offset, at)?;
        let uses = self.uses(|| {
            let (image, buffer) = packed_in_buffer(target, source, at, offset)?;
            Ok([source.used_rect(&buffer, false), target.used_rect(&image, true)])
        })?;
        self.enqueue_job(CommandType::CopyBufferToImage, wait, false, uses, job)
    }

    /// The checked work of [`copy_buffer_to_image`](Self::copy_buffer_to_image).
    pub(crate) fn copy_buffer_to_image_job(
        &self,
        source: &Arc<MemObject>,
        target: &Arc<MemObject>,
        offset: u64,
        at: ImageBox,
    ) -> Result<impl Job + use<>> {
        self.check_buffer(source)?;
        self.check_image(target, MemFlags::IMMUTABLE, "change")?;
        let (image, buffer) = packed_in_buffer(target, source, at, offset)?;
        Ok(copy_rect_job(self.space(), (source, buffer), (target, image)))
    }

    // OpenCL 3.0 API, 5.3.5: Filling Image Objects.
    /// Gives each element of a box a colour.
    pub fn fill_image(
        self: &Arc<Queue>,
        image: &Arc<MemObject>,
        color: Color,
        at: ImageBox,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let job = self.fill_image_job(image, color, at)?;
        let uses = self.uses(|| Ok([image.used_rect(&image.image()?.rect(at.origin, at.region)?, true)]))?;
        self.enqueue_job(CommandType::FillImage, wait, false, uses, job)
    }

    /// The checked work of [`fill_image`](Self::fill_image).
    pub(crate) fn fill_image_job(
        &self,
        image: &Arc<MemObject>,
        color: Color,
        at: ImageBox,
    ) -> Result<impl Job + use<>> {
        self.check_image(image, MemFlags::IMMUTABLE, "change")?;
        let rect = image.image()?.rect(at.origin, at.region)?;
        let element = element(image.image()?.format, color);
        let (image, space) = (image.clone(), self.space());
        Ok(move || fill_rect(&image, space, &rect, &element))
    }

    // OpenCL 3.0 API, 5.3.6: Mapping Image Objects.
    /// Maps a box of an image. Returns its address, which is valid when the event is complete; its elements have the
    /// image's pitches.
    pub fn map_image(
        self: &Arc<Queue>,
        image: &Arc<MemObject>,
        blocking: bool,
        bits: u64,
        at: ImageBox,
        wait: &[Arc<Event>],
    ) -> Result<(usize, Arc<Event>)> {
        self.check_image(image, MemFlags::empty(), "")?;
        let rect = image.image()?.rect(at.origin, at.region)?;
        self.map_range(image, blocking, bits, MapTarget::Image(rect), wait)
    }
}

/// A box of an image, and of the host's memory.
fn host_rect(image: &MemObject, at: ImageBox, pitches: Pitches, pointer: Option<HostPtr>) -> Result<HostRect> {
    let pointer = need(pointer, "host pointer")?;
    let image = image.image()?;
    let object = image.rect(at.origin, at.region)?;
    Ok(HostRect { object, host: image.host_rect(at.region, pitches.row, pitches.slice)?, pointer })
}

/// A box of an image, and the same box packed in a buffer.
fn packed_in_buffer(image: &MemObject, buffer: &MemObject, at: ImageBox, offset: u64) -> Result<(Rect, Rect)> {
    let rect = image.image()?.rect(at.origin, at.region)?;
    let [width, height, _] = rect.region;
    let packed = Rect { start: offset, row_pitch: width, slice_pitch: width * height, region: rect.region };
    buffer.check_range(offset, packed.bytes())?;
    Ok((rect, packed))
}
