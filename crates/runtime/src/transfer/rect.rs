//! Moves boxes of bytes: between a memory object and the host, and between memory objects.
//!
//! In come boxes that have been checked. Rows that follow one another on both sides are moved as one. What is left are
//! rows with gaps: a device whose memory the host cannot address gets many of them in one call, since each call waits
//! for the device ([`Memory::read_rect`] and its like). The host's side of such a call has no gaps; where the
//! application's has, rows pass through a block between.

use crate::checker::{MemoryUse, UsedMemory};
use crate::graph::execute::{Job, Progress};
use crate::host_mem::HostPtr;
use crate::memory::residency::AccessMode;
use crate::objects::space::Space;
use crate::{CommandType, Event, MemObject, Queue, Result};
use cloom_hal::{Memory, Rect};
use std::sync::Arc;

/// Bytes of the block that rows with gaps pass through.
const BLOCK: u64 = 4 << 20;

/// Whether calls for single rows are as good as one for all: the host works in the memory itself.
fn is_near(memory: &dyn Memory) -> bool {
    memory.host_address().is_some()
}

/// Which way bytes go between a memory object and the host's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    ToHost,
    FromHost,
}

/// A box of a memory object, and the same box of the host's memory.
pub(crate) struct HostRect {
    pub object: Rect,
    pub host: Rect,
    pub pointer: HostPtr,
}

impl Queue {
    /// Moves a box between a memory object and the host's memory. The caller has checked both.
    pub(crate) fn move_rect(
        self: &Arc<Queue>,
        command: CommandType,
        direction: Direction,
        object: &Arc<MemObject>,
        rect: HostRect,
        blocking: bool,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let writes = direction == Direction::FromHost;
        let uses = self.uses(|| {
            let host = MemoryUse::rect(UsedMemory::Host, rect.pointer.address() as u64, &rect.host, !writes);
            Ok([object.used_rect(&rect.object, writes), host])
        })?;
        let (object, space) = (object.clone(), self.space());
        let work = Box::new(move || {
            match direction {
                Direction::ToHost => object.read_rect(&rect.object, rect.pointer, &rect.host)?,
                Direction::FromHost => write_rect(&object, space, &rect.object, rect.pointer, &rect.host)?,
            }
            Ok(Progress::Done)
        });
        self.enqueue_using(command, wait, blocking, uses, work)
    }
}

impl MemObject {
    /// Copies a box to the host's memory, from wherever it is valid.
    fn read_rect(&self, from: &Rect, to: HostPtr, host: &Rect) -> Result<()> {
        // Fewer and longer rows first: whatever follows, each row is a call or a copy of its own.
        let (from, host) = Rect::merged(from, host);
        let shift = self.origin();
        let whole = self.residency.single(from.start + shift..from.end() + shift);
        // `None`: the box is valid in several memories, and each row is read from the one that holds it.
        match whole.filter(|&memory| !is_near(memory)) {
            Some(memory) => read_far(memory, &from.at(from.start + shift), to, &host),
            None => from.rows().zip(host.rows()).try_for_each(|(row, place)| self.read(row, from.region[0], to, place)),
        }
    }
}

/// Copies a box of memory that the host cannot address.
fn read_far(memory: &dyn Memory, from: &Rect, to: HostPtr, host: &Rect) -> Result<()> {
    // Without gaps on the host's side, the device writes straight into the application's memory.
    if host.is_packed() {
        return Ok(to.write(host.start, host.bytes(), |bytes| memory.read_rect(from, bytes))?);
    }
    let width = from.region[0];
    let mut block = Vec::new();
    for (from, host) in from.parts(BLOCK).zip(host.parts(BLOCK)) {
        block.resize(from.bytes() as usize, 0);
        memory.read_rect(&from, &mut block)?;
        for (row, place) in block.chunks_exact(width as usize).zip(host.rows()) {
            to.write(place, width, |bytes| bytes.copy_from_slice(row));
        }
    }
    Ok(())
}

/// How a box is accessed that is written.
fn writes(rect: &Rect) -> AccessMode {
    if rect.is_packed() { AccessMode::Overwrite } else { AccessMode::Update }
}

/// Copies a box of the host's memory to one of a memory object.
fn write_rect(object: &MemObject, space: Space, to: &Rect, from: HostPtr, host: &Rect) -> Result<()> {
    if space == Space::HOST {
        // Row by row, as the memory may be that which is copied: its content must not come from elsewhere before.
        let (to, host) = Rect::merged(to, host);
        let width = to.region[0];
        return to.rows().zip(host.rows()).try_for_each(|(row, place)| {
            let (memory, start) = object.acquire(space, row, width, AccessMode::Overwrite)?;
            Ok(from.read(place, width, |bytes| memory.write(start, bytes))?)
        });
    }
    // The whole range at once: on a device, a box with gaps keeps the bytes between its rows, so these must be there.
    let (memory, start) = object.acquire(space, to.start, to.span(), writes(to))?;
    let (to, host) = Rect::merged(&to.at(start), host);
    let width = to.region[0];
    if is_near(memory) {
        let mut rows = to.rows().zip(host.rows());
        return Ok(rows.try_for_each(|(row, place)| from.read(place, width, |bytes| memory.write(row, bytes)))?);
    }
    if host.is_packed() {
        return Ok(from.read(host.start, host.bytes(), |bytes| memory.write_rect(&to, bytes))?);
    }
    // One block after the other, so that a large image does not take its size in memory a second time.
    let mut block = Vec::new();
    for (to, host) in to.parts(BLOCK).zip(host.parts(BLOCK)) {
        block.clear();
        host.rows().for_each(|place| from.read(place, width, |bytes| block.extend_from_slice(bytes)));
        memory.write_rect(&to, &block)?;
    }
    Ok(())
}

/// The work of copying a box of one memory object to another one, which may be done any number of times.
pub(crate) fn copy_rect_job(
    space: Space,
    (source, a): (&Arc<MemObject>, Rect),
    (target, b): (&Arc<MemObject>, Rect),
) -> impl Job + use<> {
    let (source, target) = (source.clone(), target.clone());
    move || {
        let (from, from_start) = source.acquire(space, a.start, a.span(), AccessMode::Read)?;
        let (to, to_start) = target.acquire(space, b.start, b.span(), writes(&b))?;
        let (a, b) = Rect::merged(&a.at(from_start), &b.at(to_start));
        Ok(to.copy_rect(&b, from, &a)?)
    }
}

/// Repeats a pattern in each row of a box.
pub(crate) fn fill_rect(object: &MemObject, space: Space, rect: &Rect, pattern: &[u8]) -> Result<()> {
    let (memory, start) = object.acquire(space, rect.start, rect.span(), writes(rect))?;
    Ok(memory.fill_rect(&rect.at(start), pattern)?)
}
