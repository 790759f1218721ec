//! Mapping buffers into the host's address space. Nothing is copied: the device shares the host's memory.
//!
//! A mapping is registered by the call that enqueues it and removed by the call that enqueues its end, so that of two
//! calls that contradict each other the second fails at once. A map command that never runs, because an event of its
//! wait list fails, removes its mapping again.

use crate::execute::{CommandType, Progress};
use crate::status::{bail, ensure};
use crate::{Buffer, Event, MapFlags, MemFlags, Queue, Result};
use std::sync::Arc;

/// A mapped range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping {
    /// Differs between mappings of one address.
    id: u64,
    address: usize,
    offset: u64,
    size: u64,
    flags: MapFlags,
    /// Its command never ran. It counts as no mapping, but may still be unmapped: the application has the pointer.
    failed: bool,
}

impl Mapping {
    /// Whether it maps anything.
    pub(crate) fn is_live(&self) -> bool {
        !self.failed
    }
}

/// The mapping of a map command that has not run. The command owns it: when the command is dropped before it ran,
/// nothing is mapped.
struct Pending {
    buffer: Arc<Buffer>,
    id: u64,
    ran: bool,
}

impl Pending {
    /// The command runs: the mapping lasts until it is unmapped.
    fn keep(mut self) {
        self.ran = true;
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.ran {
            let mut mappings = self.buffer.mappings.lock();
            let Some(at) = mappings.iter().position(|m| m.id == self.id) else { return };
            // One for each address is enough.
            match mappings.iter().any(|m| m.failed && m.address == mappings[at].address) {
                true => drop(mappings.remove(at)),
                false => mappings[at].failed = true,
            }
        }
    }
}

impl Queue {
    /// Maps bytes of a buffer. Returns where they are, which holds as soon as the event is complete.
    pub fn map(
        self: &Arc<Queue>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        bits: u64,
        offset: u64,
        size: u64,
        wait: &[Arc<Event>],
    ) -> Result<(usize, Arc<Event>)> {
        self.check_buffer(buffer)?;
        let Some(flags) = MapFlags::from_bits(bits) else {
            bail!(InvalidValue, "cl_map_flags {bits:#x} has unknown bits");
        };
        let writes = flags.intersects(MapFlags::WRITE | MapFlags::WRITE_INVALIDATE_REGION);
        let both =
            flags.contains(MapFlags::WRITE_INVALIDATE_REGION) && flags.intersects(MapFlags::READ | MapFlags::WRITE);
        ensure!(!both, InvalidValue, "CL_MAP_WRITE_INVALIDATE_REGION excludes CL_MAP_READ and CL_MAP_WRITE");
        ensure!(size > 0, InvalidValue, "a map of 0 bytes");
        buffer.check_range(offset, size)?;
        let denied = |f: MemFlags| buffer.flags().intersects(f | MemFlags::HOST_NO_ACCESS);
        let reads = flags.contains(MapFlags::READ);
        ensure!(
            !(reads && denied(MemFlags::HOST_WRITE_ONLY)),
            InvalidOperation,
            "the buffer's flags forbid the host to read it"
        );
        ensure!(
            !(writes && denied(MemFlags::HOST_READ_ONLY)),
            InvalidOperation,
            "the buffer's flags forbid the host to write it"
        );
        let Some(base) = buffer.host_address() else {
            bail!(MapFailure, "the device's memory cannot be mapped");
        };
        let address = base + offset as usize;
        let id = self.context().engine().id();
        {
            let mut mappings = buffer.mappings.lock();
            let overlaps = mappings.iter().any(|m| {
                let theirs = m.flags.intersects(MapFlags::WRITE | MapFlags::WRITE_INVALIDATE_REGION);
                m.is_live() && writes && theirs && offset < m.offset + m.size && m.offset < offset + size
            });
            ensure!(!overlaps, InvalidOperation, "bytes {offset}+{size} overlap a region that is mapped for writing");
            mappings.push(Mapping { id, address, offset, size, flags, failed: false });
        }
        let pending = Pending { buffer: buffer.clone(), id, ran: false };
        let work = Box::new(move || {
            pending.keep();
            Ok(Progress::Done)
        });
        let event = self.enqueue(CommandType::MapBuffer, wait, blocking, work)?;
        Ok((address, event))
    }

    /// Ends a mapping.
    pub fn unmap(self: &Arc<Queue>, buffer: &Arc<Buffer>, address: usize, wait: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.check_buffer(buffer)?;
        let Some(mapping) = remove(buffer, address) else {
            bail!(InvalidValue, "{address:#x} is not where this buffer is mapped");
        };
        let held = buffer.clone();
        let work = Box::new(move || {
            drop(held);
            Ok(Progress::Done)
        });
        let result = self.enqueue(CommandType::UnmapMemObject, wait, false, work);
        if result.is_err() {
            buffer.mappings.lock().push(mapping);
        }
        result
    }

    /// Checks that a buffer is of the queue's context.
    pub(crate) fn check_buffer(&self, buffer: &Buffer) -> Result<()> {
        let same = Arc::ptr_eq(buffer.context(), self.context());
        ensure!(same, InvalidContext, "the buffer is of another context than the queue");
        Ok(())
    }
}

/// Removes a mapping of an address; one that failed only if there is no other.
fn remove(buffer: &Buffer, address: usize) -> Option<Mapping> {
    let mut mappings = buffer.mappings.lock();
    let of_address = |m: &&Mapping| m.address == address;
    let id = mappings.iter().filter(of_address).min_by_key(|m| m.failed)?.id;
    let at = mappings.iter().position(|m| m.id == id)?;
    Some(mappings.remove(at))
}
