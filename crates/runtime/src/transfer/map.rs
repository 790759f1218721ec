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

use crate::checker::{MappedRegion, Uses};
use crate::graph::execute::Progress;
use crate::memory::mapping::{MapTarget, Mapping, UnrunMap, UnrunUnmap, remove};
use crate::memory::residency::AccessMode;
use crate::objects::space::Space;
use crate::status::{bail, ensure};
use crate::{CommandType, Event, MapFlags, MemObject, Queue, Result};
use std::sync::{Arc, OnceLock};

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
        // The lock ends with the block: a blocking call runs other commands, and they may map and unmap.
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
        let region = || MappedRegion {
            object: Arc::as_ptr(buffer).addr(),
            storage: buffer.storage(),
            range: buffer.origin() + offset..buffer.origin() + offset + size,
            is_image: kind == CommandType::MapImage,
            address,
            writes,
        };
        let uses = self.context().engine().checker().map(|_| Box::new(Uses::Map(region())));
        let event = self.enqueue_using(kind, wait, blocking, uses, work)?;
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
            // Taken, so that the drop of `unmap` does not put the mapping back.
            if let Some(mapping) = unmap.mapping.take()
                && mapping.ran.get() == Some(&true)
                && mapping.writes()
            {
                let (offset, size) = mapping.target.range();
                // Overwrite: the host's copy is the valid one as it is; those of devices become invalid.
                unmap.buffer.acquire(Space::HOST, offset, size, AccessMode::Overwrite)?;
            }
            Ok(Progress::Done)
        });
        let ends = || Uses::Unmap { object: Arc::as_ptr(buffer).addr(), address };
        let uses = self.context().engine().checker().map(|_| Box::new(ends()));
        self.enqueue_using(CommandType::UnmapMemObject, wait, false, uses, work)
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
