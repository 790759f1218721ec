//! Reading, writing, copying and filling buffers, plain and rectangular; migration.
//!
//! A command works in the memory space of its queue's device, and first makes the bytes that it reads valid there.
//! Bytes for the host are read from any valid copy, without making another one. A box counts as the range from its
//! first to its last byte.

use crate::checker::MemoryUse;
use crate::graph::execute::{Job, Progress};
use crate::host_mem::HostPtr;
use crate::memory::region::RectPair;
use crate::memory::residency::AccessMode;
use crate::objects::space::Space;
use crate::status::{bail, ensure};
use crate::transfer::rect::{Direction, HostRect, copy_rect_job};
use crate::{CommandType, Event, MemFlags, MemObject, MigrationFlags, Queue, Result};
use std::sync::Arc;

/// A pointer that must be there.
pub(crate) fn need(pointer: Option<HostPtr>, what: &str) -> Result<HostPtr> {
    match pointer {
        Some(pointer) => Ok(pointer),
        None => bail!(InvalidValue, "the {what} is NULL"),
    }
}

// OpenCL 3.0 API, 5.2.3: Filling Buffer Objects.
/// Checks a pattern and that `size` bytes from `at` on are whole ones.
pub(crate) fn check_pattern(pattern: &[u8], at: u64, size: u64) -> Result<()> {
    let unit = pattern.len() as u64;
    ensure!(
        // The largest type is a vector of 16 components with 8 bytes each.
        unit.is_power_of_two() && unit <= 128,
        InvalidValue,
        "a pattern of {unit} bytes; 1, 2, 4, … 128 are possible"
    );
    let whole = at.is_multiple_of(unit) && size.is_multiple_of(unit);
    ensure!(whole, InvalidValue, "offset {at} or size {size} is not a multiple of the pattern of {unit} bytes");
    Ok(())
}

impl Queue {
    // OpenCL 3.0 API, 5.2.2: Reading, Writing and Copying Buffer Objects.
    fn may_read(&self, buffer: &MemObject) -> Result<()> {
        self.check_buffer(buffer)?;
        let denied = buffer.flags().intersects(MemFlags::HOST_WRITE_ONLY | MemFlags::HOST_NO_ACCESS);
        ensure!(!denied, InvalidOperation, "the buffer's flags forbid the host to read it");
        Ok(())
    }

    fn may_write(&self, buffer: &MemObject) -> Result<()> {
        self.check_buffer(buffer)?;
        let denied = MemFlags::HOST_READ_ONLY | MemFlags::HOST_NO_ACCESS | MemFlags::IMMUTABLE;
        let denied = buffer.flags().intersects(denied);
        ensure!(!denied, InvalidOperation, "the buffer's flags forbid the host to write it");
        Ok(())
    }

    /// Checks a buffer that a command on the device writes.
    pub(crate) fn may_change(&self, buffer: &MemObject) -> Result<()> {
        self.check_buffer(buffer)?;
        ensure!(!buffer.is_immutable(), InvalidOperation, "the buffer is immutable (CL_MEM_IMMUTABLE_EXT)");
        Ok(())
    }

    /// Copies bytes of a buffer to the host.
    pub fn read(
        self: &Arc<Queue>,
        buffer: &Arc<MemObject>,
        blocking: bool,
        offset: u64,
        size: u64,
        to: Option<HostPtr>,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.may_read(buffer)?;
        let to = need(to, "host pointer")?;
        buffer.check_range(offset, size)?;
        let uses = self.uses(|| Ok([buffer.used(offset, size, false), MemoryUse::host(to.address(), size, true)]))?;
        let buffer = buffer.clone();
        let work = Box::new(move || {
            buffer.read(offset, size, to, 0)?;
            Ok(Progress::Done)
        });
        self.enqueue_using(CommandType::ReadBuffer, wait, blocking, uses, work)
    }

    /// Copies bytes of the host to a buffer.
    pub fn write(
        self: &Arc<Queue>,
        buffer: &Arc<MemObject>,
        blocking: bool,
        offset: u64,
        size: u64,
        from: Option<HostPtr>,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.may_write(buffer)?;
        let from = need(from, "host pointer")?;
        buffer.check_range(offset, size)?;
        let uses = self.uses(|| Ok([MemoryUse::host(from.address(), size, false), buffer.used(offset, size, true)]))?;
        let (buffer, space) = (buffer.clone(), self.space());
        let work = Box::new(move || {
            // The old content is not needed, so nothing migrates for bytes that are all written.
            let (memory, at) = buffer.acquire(space, offset, size, AccessMode::Overwrite)?;
            from.read(0, size, |bytes| memory.write(at, bytes))?;
            Ok(Progress::Done)
        });
        self.enqueue_using(CommandType::WriteBuffer, wait, blocking, uses, work)
    }

    /// Fills a slice from a buffer and waits until that is done.
    pub fn read_slice(
        self: &Arc<Queue>,
        buffer: &Arc<MemObject>,
        offset: u64,
        to: &mut [u8],
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let target = HostPtr::of_slice_mut(to);
        let event = self.read(buffer, true, offset, to.len() as u64, Some(target), wait)?;
        // A blocking call returns when the command has ended, or was never enqueued: the borrow outlives it.
        Ok(event)
    }

    /// Fills a part of a buffer from a slice and waits until that is done.
    pub fn write_slice(
        self: &Arc<Queue>,
        buffer: &Arc<MemObject>,
        offset: u64,
        from: &[u8],
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let source = HostPtr::of_slice(from);
        self.write(buffer, true, offset, from.len() as u64, Some(source), wait)
    }

    // OpenCL 3.0 API, 5.2.2: Reading, Writing and Copying Buffer Objects.
    /// Copies bytes from buffer to buffer.
    pub fn copy(
        self: &Arc<Queue>,
        source: &Arc<MemObject>,
        target: &Arc<MemObject>,
        source_offset: u64,
        target_offset: u64,
        size: u64,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let job = self.copy_job(source, target, source_offset, target_offset, size)?;
        let uses =
            self.uses(|| Ok([source.used(source_offset, size, false), target.used(target_offset, size, true)]))?;
        self.enqueue_job(CommandType::CopyBuffer, wait, false, uses, job)
    }

    /// The checked work of [`copy`](Self::copy), which may be done any number of times.
    pub(crate) fn copy_job(
        &self,
        source: &Arc<MemObject>,
        target: &Arc<MemObject>,
        source_offset: u64,
        target_offset: u64,
        size: u64,
    ) -> Result<impl Job + use<>> {
        self.check_buffer(source)?;
        self.may_change(target)?;
        source.check_range(source_offset, size)?;
        target.check_range(target_offset, size)?;
        if source.same_storage(target) {
            let (a, b) = (source.origin() + source_offset, target.origin() + target_offset);
            ensure!(
                a.abs_diff(b) >= size,
                MemCopyOverlap,
                "the source, {a}+{size}, overlaps the destination, {b}+{size}"
            );
        }
        let (source, target, space) = (source.clone(), target.clone(), self.space());
        Ok(move || {
            // The target first: whether the source has to move depends on whether its memory is a peer of the
            // target's.
            let (to, b) = target.acquire(space, target_offset, size, AccessMode::Overwrite)?;
            let (from, a) = source.acquire_source(space, source_offset, size, to)?;
            Ok(to.copy_from(b, from, a, size)?)
        })
    }

    /// Repeats a pattern of 1, 2, 4, … 128 bytes.
    pub fn fill(
        self: &Arc<Queue>,
        buffer: &Arc<MemObject>,
        pattern: &[u8],
        offset: u64,
        size: u64,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let job = self.fill_job(buffer, pattern, offset, size)?;
        let uses = self.uses(|| Ok([buffer.used(offset, size, true)]))?;
        self.enqueue_job(CommandType::FillBuffer, wait, false, uses, job)
    }

    /// The checked work of [`fill`](Self::fill).
    pub(crate) fn fill_job(
        &self,
        buffer: &Arc<MemObject>,
        pattern: &[u8],
        offset: u64,
        size: u64,
    ) -> Result<impl Job + use<>> {
        self.may_change(buffer)?;
        check_pattern(pattern, offset, size)?;
        buffer.check_range(offset, size)?;
        let (buffer, pattern, space) = (buffer.clone(), pattern.to_vec(), self.space());
        Ok(move || {
            let (memory, at) = buffer.acquire(space, offset, size, AccessMode::Overwrite)?;
            Ok(memory.fill(at, size, &pattern)?)
        })
    }

    /// Copies a box of a buffer to a box of the host's memory.
    pub fn read_rect(
        self: &Arc<Queue>,
        buffer: &Arc<MemObject>,
        blocking: bool,
        rects: &RectPair,
        to: Option<HostPtr>,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.may_read(buffer)?;
        let pointer = need(to, "host pointer")?;
        let (object, host) = rects.settle()?;
        buffer.check_range(object.start, object.span())?;
        let rect = HostRect { object, host, pointer };
        self.move_rect(CommandType::ReadBufferRect, Direction::ToHost, buffer, rect, blocking, wait)
    }

    /// Copies a box of the host's memory to a box of a buffer.
    pub fn write_rect(
        self: &Arc<Queue>,
        buffer: &Arc<MemObject>,
        blocking: bool,
        rects: &RectPair,
        from: Option<HostPtr>,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.may_write(buffer)?;
        let pointer = need(from, "host pointer")?;
        let (host, object) = rects.settle()?;
        buffer.check_range(object.start, object.span())?;
        let rect = HostRect { object, host, pointer };
        self.move_rect(CommandType::WriteBufferRect, Direction::FromHost, buffer, rect, blocking, wait)
    }

    // OpenCL 3.0 API, 5.2.2: Reading, Writing and Copying Buffer Objects.
    /// Copies a box of a buffer to a box of a buffer.
    pub fn copy_rect(
        self: &Arc<Queue>,
        source: &Arc<MemObject>,
        target: &Arc<MemObject>,
        rects: &RectPair,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let job = self.copy_rect_job(source, target, rects)?;
        let uses = self.uses(|| {
            let (a, b) = rects.settle()?;
            Ok([source.used_rect(&a, false), target.used_rect(&b, true)])
        })?;
        self.enqueue_job(CommandType::CopyBufferRect, wait, false, uses, job)
    }

    /// The checked work of [`copy_rect`](Self::copy_rect).
    pub(crate) fn copy_rect_job(
        &self,
        source: &Arc<MemObject>,
        target: &Arc<MemObject>,
        rects: &RectPair,
    ) -> Result<impl Job + use<>> {
        self.check_buffer(source)?;
        self.may_change(target)?;
        let (a, b) = rects.settle()?;
        source.check_range(a.start, a.span())?;
        target.check_range(b.start, b.span())?;
        if source.same_storage(target) {
            let same = a.row_pitch == b.row_pitch && a.slice_pitch == b.slice_pitch;
            let whole = Arc::ptr_eq(source, target);
            ensure!(same || !whole, InvalidValue, "a copy within one buffer needs equal pitches on both sides");
            let overlap = a.at(a.start + source.origin()).overlaps(&b.at(b.start + target.origin()));
            ensure!(!overlap, MemCopyOverlap, "the source box overlaps the destination box");
        }
        Ok(copy_rect_job(self.space(), (source, a), (target, b)))
    }

    // OpenCL 3.0 API, 5.5.4: Migrating Memory Objects.
    /// Makes buffers valid on the queue's device, or on the host, before they are used there
    /// (`clEnqueueMigrateMemObjects`). If their content is given up, nothing is copied.
    pub fn migrate(
        self: &Arc<Queue>,
        buffers: &[Arc<MemObject>],
        bits: u64,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        ensure!(!buffers.is_empty(), InvalidValue, "there is nothing to migrate");
        let Some(flags) = MigrationFlags::from_bits(bits) else {
            bail!(InvalidValue, "cl_mem_migration_flags {bits:#x} has unknown bits");
        };
        buffers.iter().try_for_each(|b| self.check_object(b))?;
        let space = if flags.contains(MigrationFlags::HOST) { Space::HOST } else { self.space() };
        let given_up = flags.contains(MigrationFlags::CONTENT_UNDEFINED);
        let access = if given_up { AccessMode::Overwrite } else { AccessMode::Read };
        let buffers = buffers.to_vec();
        let work = Box::new(move || {
            for buffer in &buffers {
                // An immutable buffer and a pipe would be lost: nothing writes them as a whole again.
                let access = if buffer.keeps_content() { AccessMode::Read } else { access };
                buffer.acquire(space, 0, buffer.size(), access)?;
            }
            Ok(Progress::Done)
        });
        self.enqueue(CommandType::MigrateMemObjects, wait, false, work)
    }
}
