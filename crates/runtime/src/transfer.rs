//! Reading, writing, copying and filling buffers, plain and rectangular; migration.

use crate::execute::{CommandType, Progress};
use crate::host_mem::HostPtr;
use crate::region::{Rect, RectSide};
use crate::status::{bail, ensure};
use crate::{Buffer, Event, MemFlags, MigrationFlags, Queue, Result};
use std::sync::Arc;

/// A pointer that must be there.
pub(crate) fn need(pointer: Option<HostPtr>, what: &str) -> Result<HostPtr> {
    match pointer {
        Some(pointer) => Ok(pointer),
        None => bail!(InvalidValue, "the {what} is NULL"),
    }
}

/// Checks a pattern and that `size` bytes from `at` on are whole ones.
pub(crate) fn check_pattern(pattern: &[u8], at: u64, size: u64) -> Result<()> {
    let unit = pattern.len() as u64;
    ensure!(
        unit.is_power_of_two() && unit <= 128,
        InvalidValue,
        "a pattern of {unit} bytes; 1, 2, 4, … 128 are possible"
    );
    let whole = at.is_multiple_of(unit) && size.is_multiple_of(unit);
    ensure!(whole, InvalidValue, "offset {at} or size {size} is not a multiple of the pattern of {unit} bytes");
    Ok(())
}

impl Queue {
    fn may_read(&self, buffer: &Buffer) -> Result<()> {
        self.check_buffer(buffer)?;
        let denied = buffer.flags().intersects(MemFlags::HOST_WRITE_ONLY | MemFlags::HOST_NO_ACCESS);
        ensure!(!denied, InvalidOperation, "the buffer's flags forbid the host to read it");
        Ok(())
    }

    fn may_write(&self, buffer: &Buffer) -> Result<()> {
        self.check_buffer(buffer)?;
        let denied = buffer.flags().intersects(MemFlags::HOST_READ_ONLY | MemFlags::HOST_NO_ACCESS);
        ensure!(!denied, InvalidOperation, "the buffer's flags forbid the host to write it");
        Ok(())
    }

    /// Copies bytes of a buffer to the host.
    pub fn read(
        self: &Arc<Queue>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        offset: u64,
        size: u64,
        to: Option<HostPtr>,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.may_read(buffer)?;
        let to = need(to, "host pointer")?;
        buffer.check_range(offset, size)?;
        let buffer = buffer.clone();
        let work = Box::new(move || {
            let (storage, origin) = buffer.storage();
            to.write(0, size, |bytes| storage.read(origin + offset, bytes))?;
            Ok(Progress::Done)
        });
        self.enqueue(CommandType::ReadBuffer, wait, blocking, work)
    }

    /// Copies bytes of the host to a buffer.
    pub fn write(
        self: &Arc<Queue>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        offset: u64,
        size: u64,
        from: Option<HostPtr>,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.may_write(buffer)?;
        let from = need(from, "host pointer")?;
        buffer.check_range(offset, size)?;
        let buffer = buffer.clone();
        let work = Box::new(move || {
            let (storage, origin) = buffer.storage();
            from.read(0, size, |bytes| storage.write(origin + offset, bytes))?;
            Ok(Progress::Done)
        });
        self.enqueue(CommandType::WriteBuffer, wait, blocking, work)
    }

    /// Fills a slice from a buffer and waits until that is done.
    pub fn read_slice(
        self: &Arc<Queue>,
        buffer: &Arc<Buffer>,
        offset: u64,
        to: &mut [u8],
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let target = HostPtr::of_slice_mut(to);
        let event = self.read(buffer, true, offset, to.len() as u64, Some(target), wait)?;
        // A blocking call returns when the command has ended, or was never begun: the borrow outlives it.
        Ok(event)
    }

    /// Fills a part of a buffer from a slice and waits until that is done.
    pub fn write_slice(
        self: &Arc<Queue>,
        buffer: &Arc<Buffer>,
        offset: u64,
        from: &[u8],
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let source = HostPtr::of_slice(from);
        self.write(buffer, true, offset, from.len() as u64, Some(source), wait)
    }

    /// Copies bytes from buffer to buffer.
    pub fn copy(
        self: &Arc<Queue>,
        source: &Arc<Buffer>,
        target: &Arc<Buffer>,
        source_offset: u64,
        target_offset: u64,
        size: u64,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_buffer(source)?;
        self.check_buffer(target)?;
        source.check_range(source_offset, size)?;
        target.check_range(target_offset, size)?;
        if source.same_storage(target) {
            let a = source.storage().1 + source_offset;
            let b = target.storage().1 + target_offset;
            ensure!(
                a.abs_diff(b) >= size,
                MemCopyOverlap,
                "the source, {a}+{size}, overlaps the destination, {b}+{size}"
            );
        }
        let (source, target) = (source.clone(), target.clone());
        let work = Box::new(move || {
            let ((from, a), (to, b)) = (source.storage(), target.storage());
            to.copy_from(b + target_offset, from, a + source_offset, size)?;
            Ok(Progress::Done)
        });
        self.enqueue(CommandType::CopyBuffer, wait, false, work)
    }

    /// Repeats a pattern of 1, 2, 4, … 128 bytes.
    pub fn fill(
        self: &Arc<Queue>,
        buffer: &Arc<Buffer>,
        pattern: &[u8],
        offset: u64,
        size: u64,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_buffer(buffer)?;
        check_pattern(pattern, offset, size)?;
        buffer.check_range(offset, size)?;
        let (buffer, pattern) = (buffer.clone(), pattern.to_vec());
        let work = Box::new(move || {
            let (storage, origin) = buffer.storage();
            storage.fill(origin + offset, size, &pattern)?;
            Ok(Progress::Done)
        });
        self.enqueue(CommandType::FillBuffer, wait, false, work)
    }

    /// Copies a box of a buffer to a box of the host's memory.
    #[allow(clippy::too_many_arguments, reason = "as many as the specification's function has")]
    pub fn read_rect(
        self: &Arc<Queue>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        at: &RectSide,
        host: &RectSide,
        region: [u64; 3],
        to: Option<HostPtr>,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.may_read(buffer)?;
        let to = need(to, "host pointer")?;
        let (at, host) = (Rect::new(at, region)?, Rect::new(host, region)?);
        buffer.check_range(at.start, at.end - at.start)?;
        let buffer = buffer.clone();
        let work = Box::new(move || {
            let (storage, origin) = buffer.storage();
            for (from, row) in at.rows().zip(host.rows()) {
                to.write(row, region[0], |bytes| storage.read(origin + from, bytes))?;
            }
            Ok(Progress::Done)
        });
        self.enqueue(CommandType::ReadBufferRect, wait, blocking, work)
    }

    /// Copies a box of the host's memory to a box of a buffer.
    #[allow(clippy::too_many_arguments, reason = "as many as the specification's function has")]
    pub fn write_rect(
        self: &Arc<Queue>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        at: &RectSide,
        host: &RectSide,
        region: [u64; 3],
        from: Option<HostPtr>,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.may_write(buffer)?;
        let from = need(from, "host pointer")?;
        let (at, host) = (Rect::new(at, region)?, Rect::new(host, region)?);
        buffer.check_range(at.start, at.end - at.start)?;
        let buffer = buffer.clone();
        let work = Box::new(move || {
            let (storage, origin) = buffer.storage();
            for (to, row) in at.rows().zip(host.rows()) {
                from.read(row, region[0], |bytes| storage.write(origin + to, bytes))?;
            }
            Ok(Progress::Done)
        });
        self.enqueue(CommandType::WriteBufferRect, wait, blocking, work)
    }

    /// Copies a box of a buffer to a box of a buffer.
    pub fn copy_rect(
        self: &Arc<Queue>,
        source: &Arc<Buffer>,
        target: &Arc<Buffer>,
        from: &RectSide,
        to: &RectSide,
        region: [u64; 3],
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_buffer(source)?;
        self.check_buffer(target)?;
        let (a, b) = (Rect::new(from, region)?, Rect::new(to, region)?);
        source.check_range(a.start, a.end - a.start)?;
        target.check_range(b.start, b.end - b.start)?;
        if source.same_storage(target) {
            let same = a.row_pitch == b.row_pitch && a.slice_pitch == b.slice_pitch;
            let whole = Arc::ptr_eq(source, target);
            ensure!(same || !whole, InvalidValue, "a copy within one buffer needs equal pitches on both sides");
            let shift = |r: Rect, by: u64| Rect { start: r.start + by, end: r.end + by, ..r };
            let overlap = shift(a, source.storage().1).overlaps(&shift(b, target.storage().1));
            ensure!(!overlap, MemCopyOverlap, "the source box overlaps the destination box");
        }
        let (source, target) = (source.clone(), target.clone());
        let work = Box::new(move || {
            let ((from, at), (to, bt)) = (source.storage(), target.storage());
            for (x, y) in a.rows().zip(b.rows()) {
                to.copy_from(bt + y, from, at + x, region[0])?;
            }
            Ok(Progress::Done)
        });
        self.enqueue(CommandType::CopyBufferRect, wait, false, work)
    }

    /// Moves buffers to the queue's device or to the host: a hint, and all memory is one here.
    pub fn migrate(self: &Arc<Queue>, buffers: &[Arc<Buffer>], bits: u64, wait: &[Arc<Event>]) -> Result<Arc<Event>> {
        ensure!(!buffers.is_empty(), InvalidValue, "there is nothing to migrate");
        ensure!(
            MigrationFlags::from_bits(bits).is_some(),
            InvalidValue,
            "cl_mem_migration_flags {bits:#x} has unknown bits"
        );
        buffers.iter().try_for_each(|b| self.check_buffer(b))?;
        let held = buffers.to_vec();
        let work = Box::new(move || {
            drop(held);
            Ok(Progress::Done)
        });
        self.enqueue(CommandType::MigrateMemObjects, wait, false, work)
    }
}
