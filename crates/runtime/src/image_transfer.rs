//! Reading, writing, copying, filling and mapping images.
//!
//! A box of elements is a set of rows of bytes ([`Image::rect`](crate::Image)); each command moves these.

use crate::execute::{CommandType, Job, Progress};
use crate::host_mem::HostPtr;
use crate::image_color::{Color, element};
use crate::map::MapTarget;
use crate::region::Rect;
use crate::residency::AccessMode;
use crate::status::ensure;
use crate::transfer::need;
use crate::{Event, MemFlags, MemObject, Queue, Result};
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
        let to = need(to, "host pointer")?;
        let (from, host) = both_sides(image, at, pitches)?;
        let image = image.clone();
        let work = Box::new(move || {
            let (from, host) = Rect::merged(&from, &host);
            for (row, place) in from.rows().zip(host.rows()) {
                image.read(row, from.region[0], to, place)?;
            }
            Ok(Progress::Done)
        });
        self.enqueue(CommandType::ReadImage, wait, blocking, work)
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
        let from = need(from, "host pointer")?;
        let (to, host) = both_sides(image, at, pitches)?;
        let (image, space) = (image.clone(), self.space());
        let work = Box::new(move || {
            let (memory, start) = image.acquire(space, to.start, to.end - to.start, AccessMode::Update)?;
            let (to, host) = Rect::merged(&to, &host);
            for (row, place) in to.rows().zip(host.rows()) {
                from.read(place, to.region[0], |bytes| memory.write(start + row - to.start, bytes))?;
            }
            Ok(Progress::Done)
        });
        self.enqueue(CommandType::WriteImage, wait, blocking, work)
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
        self.enqueue_job(CommandType::CopyImage, wait, false, job)
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
            let shift = |r: Rect, by: u64| Rect { start: r.start + by, end: r.end + by, ..r };
            let overlap = shift(a, source.origin()).overlaps(&shift(b, target.origin()));
            ensure!(!overlap, MemCopyOverlap, "the source box overlaps the destination box");
        }
        Ok(self.copy_rows_job((source, a), (target, b)))
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
        self.enqueue_job(CommandType::CopyImageToBuffer, wait, false, job)
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
        Ok(self.copy_rows_job((source, image), (target, buffer)))
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
        self.enqueue_job(CommandType::CopyBufferToImage, wait, false, job)
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
        Ok(self.copy_rows_job((source, buffer), (target, image)))
    }

    fn copy_rows_job(
        &self,
        (source, a): (&Arc<MemObject>, Rect),
        (target, b): (&Arc<MemObject>, Rect),
    ) -> impl Job + use<> {
        let (source, target, space) = (source.clone(), target.clone(), self.space());
        move || {
            let (from, from_start) = source.acquire(space, a.start, a.end - a.start, AccessMode::Read)?;
            let (to, to_start) = target.acquire(space, b.start, b.end - b.start, AccessMode::Update)?;
            let (a, b) = Rect::merged(&a, &b);
            for (x, y) in a.rows().zip(b.rows()) {
                to.copy_from(to_start + y - b.start, from, from_start + x - a.start, a.region[0])?;
            }
            Ok(())
        }
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
        self.enqueue_job(CommandType::FillImage, wait, false, job)
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
        Ok(move || {
            let (memory, start) = image.acquire(space, rect.start, rect.end - rect.start, AccessMode::Update)?;
            for row in rect.rows() {
                memory.fill(start + row - rect.start, rect.region[0], &element)?;
            }
            Ok(())
        })
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
fn both_sides(image: &MemObject, at: ImageBox, pitches: Pitches) -> Result<(Rect, Rect)> {
    let image = image.image()?;
    let rect = image.rect(at.origin, at.region)?;
    Ok((rect, image.host_rect(at.region, pitches.row, pitches.slice)?))
}

/// A box of an image, and the same box packed in a buffer.
fn packed_in_buffer(image: &MemObject, buffer: &MemObject, at: ImageBox, offset: u64) -> Result<(Rect, Rect)> {
    let rect = image.image()?.rect(at.origin, at.region)?;
    let [width, height, depth] = rect.region;
    let slice = width * height;
    buffer.check_range(offset, slice * depth)?;
    let packed =
        Rect { start: offset, row_pitch: width, slice_pitch: slice, region: rect.region, end: offset + slice * depth };
    Ok((rect, packed))
}
