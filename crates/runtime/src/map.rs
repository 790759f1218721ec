//! Mapping buffers into the host's address space: what is mapped is the copy of the buffer on the host (see
//! `residency`), which with `CL_MEM_USE_HOST_PTR` is the application's memory.
//!
//! The command that maps makes the range valid on the host, unless its content is given up; the one that ends the
//! mapping makes the copies of devices invalid, if the host could write. Devices in the host's memory use the same
//! copy, so that nothing moves.
//!
//! A mapping is registered by the call that enqueues it and removed by the call that enqueues its end, so that of two
//! calls that contradict each other the second fails at once. A command that never runs, because an event of its wait
//! list fails, has no effect: if it maps, there is no mapping; if it unmaps, the mapping stays. What became of the map
//! command is known when the one that unmaps runs, not yet when it is enqueued.

use crate::execute::{CommandType, Progress};
use crate::residency::{AccessMode, Space};
use crate::status::{bail, ensure};
use crate::{Event, MapFlags, MemFlags, MemObject, Queue, Result};
use cloom_hal::Rect;
use std::sync::{Arc, OnceLock};

/// What is mapped, in bytes of its memory object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MapTarget {
    /// A range of a buffer.
    Bytes { offset: u64, size: u64 },
    /// A box of an image.
    Image(Rect),
}

impl MapTarget {
    /// Offset and size of the range from the first to the last byte.
    fn range(&self) -> (u64, u64) {
        match *self {
            MapTarget::Bytes { offset, size } => (offset, size),
            MapTarget::Image(rect) => (rect.start, rect.span()),
        }
    }

    /// Whether the range has nothing else.
    fn is_packed(&self) -> bool {
        match self {
            MapTarget::Bytes { .. } => true,
            MapTarget::Image(rect) => rect.is_packed(),
        }
    }

    fn overlaps(&self, other: &MapTarget) -> bool {
        if let (MapTarget::Image(a), MapTarget::Image(b)) = (self, other) {
            return a.overlaps(b);
        }
        let ((a, m), (b, n)) = (self.range(), other.range());
        a < b + n && b < a + m
    }
}

/// A mapping.
#[derive(Clone, Debug)]
pub(crate) struct Mapping {
    address: usize,
    target: MapTarget,
    flags: MapFlags,
    /// Whether its command ran, as soon as that is known. One whose command never ran counts as no mapping, but may
    /// still be unmapped: the application has the pointer.
    ran: Arc<OnceLock<bool>>,
}

impl Mapping {
    /// Whether it maps something, or will.
    pub(crate) fn is_live(&self) -> bool {
        self.ran.get() != Some(&false)
    }

    fn writes(&self) -> bool {
        self.flags.intersects(MapFlags::WRITE | MapFlags::WRITE_INVALIDATE_REGION)
    }
}

/// The mapping of a map command that has not run. The command owns it: when the command is dropped before it ran,
/// nothing is mapped.
struct UnrunMap {
    buffer: Arc<MemObject>,
    ran: Arc<OnceLock<bool>>,
}

impl Drop for UnrunMap {
    fn drop(&mut self) {
        if self.ran.set(false).is_ok() {
            let mut mappings = self.buffer.mappings.lock();
            let at = mappings.iter().position(|m| Arc::ptr_eq(&m.ran, &self.ran));
            if let Some(mapping) = at.map(|at| mappings.remove(at)) {
                put(&mut mappings, mapping);
            }
        }
    }
}

/// The mapping of an unmap command that has not run. When the command is dropped before it ran, the mapping stays.
struct UnrunUnmap {
    buffer: Arc<MemObject>,
    mapping: Option<Mapping>,
}

impl Drop for UnrunUnmap {
    fn drop(&mut self) {
        if let Some(mapping) = self.mapping.take() {
            put(&mut self.buffer.mappings.lock(), mapping);
        }
    }
}

/// Adds a mapping. Of those that failed, one for each address is enough.
fn put(mappings: &mut Vec<Mapping>, mapping: Mapping) {
    let is_known = |m: &Mapping| !m.is_live() && m.address == mapping.address;
    if mapping.is_live() || !mappings.iter().any(is_known) {
        mappings.push(mapping);
    }
}

impl MemObject {
    /// Whether the object's flags and the bits themselves allow to map it so.
    pub fn may_map(&self, bits: u64) -> Result<MapFlags> {
        let Some(flags) = MapFlags::from_bits(bits) else {
            bail!(InvalidValue, "cl_map_flags {bits:#x} has unknown bits");
        };
        let writes = flags.intersects(MapFlags::WRITE | MapFlags::WRITE_INVALIDATE_REGION);
        let both =
            flags.contains(MapFlags::WRITE_INVALIDATE_REGION) && flags.intersects(MapFlags::READ | MapFlags::WRITE);
        ensure!(!both, InvalidValue, "CL_MAP_WRITE_INVALIDATE_REGION excludes CL_MAP_READ and CL_MAP_WRITE");
        let denied = |f: MemFlags| self.flags().intersects(f | MemFlags::HOST_NO_ACCESS);
        ensure!(
            !(flags.contains(MapFlags::READ) && denied(MemFlags::HOST_WRITE_ONLY)),
            InvalidOperation,
            "the memory object's flags forbid the host to read it"
        );
        ensure!(
            !(writes && denied(MemFlags::HOST_READ_ONLY | MemFlags::IMMUTABLE)),
            InvalidOperation,
            "the memory object's flags forbid the host to write it"
        );
        Ok(flags)
    }
}

impl Queue {
    // OpenCL 3.0 API, 5.2.4: Mapping Buffer Objects.
    /// Maps bytes of a buffer. Returns their address, which is valid when the event is complete.
    pub fn map(
        self: &Arc<Queue>,
        buffer: &Arc<MemObject>,
        blocking: bool,
        bits: u64,
        offset: u64,
        size: u64,
        wait: &[Arc<Event>],
    ) -> Result<(usize, Arc<Event>)> {
        self.check_buffer(buffer)?;
        buffer.check_range(offset, size)?;
        ensure!(size > 0, InvalidValue, "a map of 0 bytes");
        self.map_range(buffer, blocking, bits, MapTarget::Bytes { offset, size }, wait)
    }

    /// Maps bytes of a buffer or an image, whose range has been checked.
    pub(crate) fn map_range(
        self: &Arc<Queue>,
        buffer: &Arc<MemObject>,
        blocking: bool,
        bits: u64,
        target: MapTarget,
        wait: &[Arc<Event>],
    ) -> Result<(usize, Arc<Event>)> {
        let (offset, size) = target.range();
        let flags = buffer.may_map(bits)?;
        let writes = flags.intersects(MapFlags::WRITE | MapFlags::WRITE_INVALIDATE_REGION);
        let address = buffer.host_address()? + offset as usize;
        let ran = Arc::<OnceLock<bool>>::default();
        {
            let mut mappings = buffer.mappings.lock();
            let overlaps = mappings.iter().any(|m| {
                let both = m.is_live() && writes && m.writes();
                both && m.target.overlaps(&target)
            });
            ensure!(!overlaps, InvalidOperation, "bytes {offset}+{size} overlap a region that is mapped for writing");
            mappings.push(Mapping { address, target, flags, ran: ran.clone() });
        }
        // What lies between the rows of a box is not given up.
        let given_up = flags.contains(MapFlags::WRITE_INVALIDATE_REGION) && target.is_packed();
        let mode = if given_up { AccessMode::Overwrite } else { AccessMode::Read };
        let map = UnrunMap { buffer: buffer.clone(), ran };
        let work = Box::new(move || {
            map.buffer.acquire(Space::HOST, offset, size, mode)?;
            // From now on the mapping lasts until it is unmapped.
            let _ = map.ran.set(true);
            Ok(Progress::Done)
        });
        let kind = match target {
            MapTarget::Bytes { .. } => CommandType::MapBuffer,
            MapTarget::Image(_) => CommandType::MapImage,
        };
        let event = self.enqueue(kind, wait, blocking, work)?;
        Ok((address, event))
    }

    // OpenCL 3.0 API, 5.5.2: Unmapping Mapped Memory Objects.
    /// Ends a mapping.
    pub fn unmap(
        self: &Arc<Queue>,
        buffer: &Arc<MemObject>,
        address: usize,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_object(buffer)?;
        let Some(mapping) = remove(buffer, address) else {
            bail!(InvalidValue, "{address:#x} is not where this buffer is mapped");
        };
        let mut unmap = UnrunUnmap { buffer: buffer.clone(), mapping: Some(mapping) };
        let work = Box::new(move || {
            if let Some(mapping) = unmap.mapping.take()
                && mapping.ran.get() == Some(&true)
                && mapping.writes()
            {
                let (offset, size) = mapping.target.range();
                unmap.buffer.acquire(Space::HOST, offset, size, AccessMode::Overwrite)?;
            }
            Ok(Progress::Done)
        });
        self.enqueue(CommandType::UnmapMemObject, wait, false, work)
    }

    /// Checks that a memory object is of the queue's context.
    pub(crate) fn check_object(&self, object: &MemObject) -> Result<()> {
        let same = Arc::ptr_eq(object.context(), self.context());
        ensure!(same, InvalidContext, "the memory object is of another context than the queue");
        Ok(())
    }

    /// Checks that a memory object is a buffer of the queue's context.
    pub(crate) fn check_buffer(&self, buffer: &MemObject) -> Result<()> {
        self.check_object(buffer)?;
        buffer.check_is_buffer()
    }
}

/// Removes a mapping of an address: one for writing, if there is one, whose end matters; one that failed only if there
/// is no other.
fn remove(buffer: &MemObject, address: usize) -> Option<Mapping> {
    let mut mappings = buffer.mappings.lock();
    let of_address = mappings.iter().enumerate().filter(|(_, m)| m.address == address);
    let (at, _) = of_address.min_by_key(|(_, m)| (!m.is_live(), !m.writes()))?;
    Some(mappings.remove(at))
}
