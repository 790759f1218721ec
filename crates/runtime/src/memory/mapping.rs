//! The mappings of a memory object into the host's address space: what is mapped, and whether it may be.
//!
//! A mapping is registered by the call that enqueues it and removed by the call that enqueues its end. A command that
//! never runs has no effect: the commands own an [`UnrunMap`] or [`UnrunUnmap`], which undoes the call when it is
//! dropped. `transfer::map` has the commands.

use crate::status::{bail, ensure};
use crate::{MapFlags, MemFlags, MemObject, Result};
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
    pub fn range(&self) -> (u64, u64) {
        match *self {
            MapTarget::Bytes { offset, size } => (offset, size),
            MapTarget::Image(rect) => (rect.start, rect.span()),
        }
    }

    /// Whether the range has nothing else.
    pub fn is_packed(&self) -> bool {
        match self {
            MapTarget::Bytes { .. } => true,
            MapTarget::Image(rect) => rect.is_packed(),
        }
    }

    pub fn overlaps(&self, other: &MapTarget) -> bool {
        // Two boxes of one image may have rows between each other without a byte in common.
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
    pub address: usize,
    pub target: MapTarget,
    pub flags: MapFlags,
    /// Whether its command ran, as soon as that is known. One whose command never ran counts as no mapping, but may
    /// still be unmapped: the application has the pointer.
    pub ran: Arc<OnceLock<bool>>,
}

impl Mapping {
    /// Whether it maps something, or will.
    pub(crate) fn is_live(&self) -> bool {
        self.ran.get() != Some(&false)
    }

    pub fn writes(&self) -> bool {
        self.flags.intersects(MapFlags::WRITE | MapFlags::WRITE_INVALIDATE_REGION)
    }
}

/// The mapping of a map command that has not run. The command owns it: when the command is dropped before it ran,
/// nothing is mapped.
pub(crate) struct UnrunMap {
    pub buffer: Arc<MemObject>,
    pub ran: Arc<OnceLock<bool>>,
}

impl Drop for UnrunMap {
    fn drop(&mut self) {
        // If `ran` is set already, the command ran and there is nothing to undo.
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
pub(crate) struct UnrunUnmap {
    pub buffer: Arc<MemObject>,
    pub mapping: Option<Mapping>,
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
    // The application may map and fail again and again: such mappings must not pile up.
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

/// Removes a mapping of an address: one for writing, if there is one, whose end matters; one that failed only if there
/// is no other.
pub(crate) fn remove(buffer: &MemObject, address: usize) -> Option<Mapping> {
    let mut mappings = buffer.mappings.lock();
    let of_address = mappings.iter().enumerate().filter(|(_, m)| m.address == address);
    // `false` sorts first: live mappings before failed ones, and of the live ones those for writing.
    let (at, _) = of_address.min_by_key(|(_, m)| (!m.is_live(), !m.writes()))?;
    Some(mappings.remove(at))
}
