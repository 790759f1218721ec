//! Residency: which memories hold the bytes of a memory object, and which of these copies are valid.
//!
//! A context has *memory spaces*: the host's memory, which all devices share that work there, and the memory of each
//! other device. A memory object has at most one copy in each space, allocated when a device of that space first uses
//! it. A copy is valid in ranges:
//!
//! ```text
//! bytes    0 ──────────── 1024 ──────────── 4096
//! valid    host, gpu      gpu
//! ```
//!
//! Before a command uses a range in a space, it *acquires* it there: what is not valid in that space is copied from one
//! in which it is (a migration, a part of the command, so that the order of events orders it too); if the command
//! writes the range, the copies of all other spaces become invalid. Ranges, not whole objects, because devices may work
//! on sub-buffers of one buffer at the same time, as long as these do not overlap (OpenCL 3.0, section 5.2.1); a
//! sub-buffer shares the copies of its parent.
//!
//! A context whose devices all work in the host's memory has one space, in which everything is valid: nothing is
//! tracked or locked.

use crate::flags::MemFlags;
use crate::host_mem;
use crate::objects::space::Space;
use crate::{Context, Result};
use cloom_hal::lock::Mutex;
use cloom_hal::{self as hal, HalError, Memory};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// How a command accesses a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AccessMode {
    /// Reads it.
    Read,
    /// Writes all of it; the old content is not needed.
    Overwrite,
    /// Reads it, or writes some of it.
    Update,
}

/// The copies of a memory object and of its sub-buffers.
pub(crate) struct Residency {
    size: u64,
    /// By space.
    copies: SmallVec<[OnceLock<Arc<dyn Memory>>; 1]>,
    /// Whether spaces have copies of their own: else, all bytes are valid in each.
    is_tracked: bool,
    /// Whether the copy on the host is to be pinned, where no device works in it.
    is_pinned: bool,
    /// Not used if they have not.
    valid: Mutex<ValidRanges>,
}

impl Residency {
    /// Of an object without content, and with these flags. Where there is one space, it is allocated at once.
    pub fn new(context: &Context, size: u64, flags: MemFlags) -> Result<Residency> {
        let copies: SmallVec<_> = (0..context.spaces()).map(|_| OnceLock::new()).collect();
        let is_tracked = copies.len() > 1;
        let is_pinned = flags.contains(MemFlags::ALLOC_HOST_PTR);
        let residency = Residency { size, copies, is_tracked, is_pinned, valid: Mutex::default() };
        if !residency.is_tracked {
            residency.copy(context, Space::HOST)?;
        }
        Ok(residency)
    }

    /// Of an object whose copy on the host is this memory, and has the content.
    pub fn on_host(context: &Context, memory: Arc<dyn Memory>) -> Residency {
        let size = memory.size();
        let others = (1..context.spaces()).map(|_| OnceLock::new());
        let copies: SmallVec<_> = std::iter::once(OnceLock::from(memory)).chain(others).collect();
        // With one space the ranges are never asked, and so not noted.
        let mut valid = ValidRanges::default();
        if context.has_device_memory() {
            valid.update(0..size, |_| Space::HOST.bit());
        }
        Residency { size, is_tracked: copies.len() > 1, is_pinned: false, copies, valid: Mutex::new(valid) }
    }

    /// Of an object whose memory is the same in all spaces, under one address: shared virtual memory.
    pub fn everywhere(context: &Context, memory: &Arc<dyn Memory>) -> Residency {
        let copies = (0..context.spaces()).map(|_| OnceLock::from(memory.clone())).collect();
        Residency { size: memory.size(), copies, is_tracked: false, is_pinned: false, valid: Mutex::default() }
    }

    /// The copy in a space, valid or not; allocated if there is none.
    pub fn copy(&self, context: &Context, space: Space) -> Result<&Arc<dyn Memory>> {
        let slot = &self.copies[usize::from(space.0)];
        if let Some(memory) = slot.get() {
            return Ok(memory);
        }
        let pinned = if self.is_pinned && space == Space::HOST { context.allocate_pinned(self.size) } else { None };
        // Outside of the cell: its initialisation cannot fail, an allocation can.
        let fresh = pinned.map_or_else(|| context.allocate(space, self.size), Ok)?;
        // If another thread was faster, its copy counts.
        Ok(slot.get_or_init(|| fresh))
    }

    /// Makes a range usable in a space.
    pub fn acquire(
        &self,
        context: &Context,
        space: Space,
        range: Range<u64>,
        access: AccessMode,
    ) -> Result<&dyn Memory> {
        let memory = &**self.copy(context, space)?;
        if self.is_tracked {
            // Held while bytes are copied: another command that needs them waits, and does not copy them again.
            let mut valid = self.valid.lock();
            // As most commands find it: the last one was of the same space.
            if valid.run(&range).is_some_and(|holders| match access {
                AccessMode::Read => holders & space.bit() != 0,
                AccessMode::Overwrite | AccessMode::Update => holders == space.bit(),
            }) {
                return Ok(memory);
            }
            if access != AccessMode::Overwrite {
                for (part, holders) in valid.within(range.clone()) {
                    // No holder: nobody has written these bytes, so there is nothing to copy.
                    if holders != 0 && holders & space.bit() == 0 {
                        self.migrate(memory, space, holders, part)?;
                    }
                }
                // The copies that were read from stay valid.
                valid.update(range.clone(), |holders| holders | space.bit());
            }
            if access != AccessMode::Read {
                valid.update(range, |_| space.bit());
            }
        }
        Ok(memory)
    }

    /// Makes a range usable as what is copied to this memory of a space. Where another device holds it, and the memory
    /// copies from that one by itself, it stays there.
    pub fn acquire_source(
        &self,
        context: &Context,
        space: Space,
        range: Range<u64>,
        to: &dyn Memory,
    ) -> Result<&dyn Memory> {
        if self.is_tracked {
            let holders = self.valid.lock().run(&range).filter(|&holders| holders != 0 && holders & space.bit() == 0);
            if let Some((Some(peer), holder)) = holders.map(|holders| self.holder(holders))
                && holder != Space::HOST
                && to.is_peer_of(peer)
            {
                return Ok(peer);
            }
        }
        self.acquire(context, space, range, AccessMode::Read)
    }

    /// Copies bytes into a space from one of those that hold them.
    fn migrate(&self, to: &dyn Memory, space: Space, holders: u64, range: Range<u64>) -> Result<()> {
        let (from, holder) = self.holder(holders);
        let Some(from) = from else { return Ok(()) };
        let size = range.end - range.start;
        // Each device copies from and to the host's memory itself. Two devices without peer access go through the
        // host.
        match space == Space::HOST || holder == Space::HOST || to.is_peer_of(from) {
            true => to.copy_from(range.start, from, range.start, size)?,
            false => hal::copy_through_host(to, range.start, from, range.start, size)?,
        }
        Ok(())
    }

    /// The memory of one of the spaces in a mask, the host's if it is among them.
    fn holder(&self, holders: u64) -> (Option<&dyn Memory>, Space) {
        // A mask without a bit gives 64, which is the number of no space.
        let space = Space(holders.trailing_zeros() as u8);
        let copy = self.copies.get(usize::from(space.0)).and_then(OnceLock::get);
        (copy.map(|memory| &**memory), space)
    }

    /// The memory that has all of a range, if one has.
    pub fn single(&self, range: Range<u64>) -> Option<&dyn Memory> {
        let holders = match self.is_tracked {
            true => match self.valid.lock().within(range).as_slice() {
                [(_, holders)] => *holders,
                _ => return None,
            },
            false => Space::HOST.bit(),
        };
        self.holder(holders).0
    }

    /// Reads a range from wherever it is valid, part by part: `read` gets the memory and the part. A part that has
    /// never been written has no content, and `read` does not get it.
    pub fn read(
        &self,
        range: Range<u64>,
        mut read: impl FnMut(&dyn Memory, Range<u64>) -> std::result::Result<(), HalError>,
    ) -> Result<()> {
        let parts = match self.is_tracked {
            true => self.valid.lock().within(range),
            false => SmallVec::from_iter([(range, Space::HOST.bit())]),
        };
        for (part, holders) in parts {
            if let (Some(memory), _) = self.holder(holders) {
                read(memory, part)?;
            }
        }
        Ok(())
    }
}

/// The valid spaces of each byte.
///
/// The map has the beginning of each run of bytes that are valid in the same spaces, with a bit for each space;
/// neighbours differ. Bytes before the first run are valid nowhere, so that the empty map, which costs no allocation,
/// is that of an object without content.
#[derive(Default)]
struct ValidRanges(BTreeMap<u64, u64>);

type Parts = SmallVec<[(Range<u64>, u64); 2]>;

impl ValidRanges {
    /// The spaces of a byte.
    fn at(&self, offset: u64) -> u64 {
        self.0.range(..=offset).next_back().map_or(0, |(_, &holders)| holders)
    }

    /// The spaces of all bytes of a range, if it is a part of one run that begins in the map.
    fn run(&self, range: &Range<u64>) -> Option<u64> {
        let (&begin, &holders) = self.0.range(..range.end).next_back()?;
        (begin <= range.start).then_some(holders)
    }

    /// The runs of a range, with their spaces.
    fn within(&self, range: Range<u64>) -> Parts {
        let mut parts = Parts::new();
        if range.is_empty() {
            return parts;
        }
        let (mut begin, mut holders) = (range.start, self.at(range.start));
        for (&next, &next_holders) in self.0.range(range.start + 1..range.end.max(range.start + 1)) {
            parts.push((begin..next, holders));
            (begin, holders) = (next, next_holders);
        }
        parts.push((begin..range.end, holders));
        parts
    }

    /// Changes the spaces of each byte of a range.
    fn update(&mut self, range: Range<u64>, change: impl Fn(u64) -> u64) {
        if range.is_empty() {
            return;
        }
        // With runs that begin at both ends, the change affects whole runs only.
        self.split(range.start);
        self.split(range.end);
        self.0.range_mut(range.clone()).for_each(|(_, holders)| *holders = change(*holders));
        // Merges runs that equal their predecessor.
        let mut before = range.start.checked_sub(1).map_or(0, |last| self.at(last));
        // Noted first and removed below, since the map is borrowed by the loop.
        let mut merged = SmallVec::<[u64; 8]>::new();
        // The run at `range.end` is not changed, but may equal the last changed one now.
        for (&begin, &holders) in self.0.range(range.start..=range.end) {
            if before == holders {
                merged.push(begin);
            }
            before = holders;
        }
        for begin in merged {
            self.0.remove(&begin);
        }
    }

    /// Splits a run here.
    fn split(&mut self, at: u64) {
        let holders = self.at(at);
        self.0.entry(at).or_insert(holders);
    }
}

impl Context {
    /// Fresh memory in a space.
    pub(crate) fn allocate(&self, space: Space, size: u64) -> Result<Arc<dyn Memory>> {
        match self.allocator(space) {
            Some(device) => Ok(device.hal().allocate(size)?),
            None => Ok(Arc::new(host_mem::allocate(size).ok_or(HalError::OutOfMemory(size))?)),
        }
    }

    /// Fresh memory of the host that is pinned. `None` if no device has any, or if one works in the host's memory and
    /// is to allocate it.
    fn allocate_pinned(&self, size: u64) -> Option<Arc<dyn Memory>> {
        if self.allocator(Space::HOST).is_some() {
            return None;
        }
        let block = self.devices().iter().find_map(|device| device.hal().as_pinned()?.allocate(size).ok())?;
        Some(Arc::new(host_mem::pinned(block, size)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_split_changed_and_merged_like_bytes_one_by_one() {
        const SIZE: u64 = 40;
        let mut seed = 1u64;
        let mut below = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        for _ in 0..200 {
            let (mut valid, mut model) = (ValidRanges::default(), vec![0u64; SIZE as usize]);
            for _ in 0..30 {
                let start = below(SIZE + 1);
                let range = start..start + below(SIZE + 1 - start);
                let bits = below(8);
                let change = |holders: u64| if bits < 4 { bits } else { holders | bits };
                valid.update(range.clone(), change);
                model[range.start as usize..range.end as usize].iter_mut().for_each(|h| *h = change(*h));
                let start = below(SIZE + 1);
                let asked = start..start + below(SIZE + 1 - start);
                let mut at = asked.start;
                for (part, holders) in valid.within(asked.clone()) {
                    assert!(part.start == at && part.end > at);
                    assert!(model[part.start as usize..part.end as usize].iter().all(|&h| h == holders));
                    at = part.end;
                }
                assert_eq!(at, asked.end);
                if let (Some(holders), false) = (valid.run(&asked), asked.is_empty()) {
                    assert_eq!(valid.within(asked.clone()).as_slice(), [(asked, holders)]);
                }
                let runs: Vec<u64> = valid.0.range(..SIZE).map(|(_, &holders)| holders).collect();
                assert!(runs.windows(2).all(|pair| pair[0] != pair[1]), "neighbours differ: {runs:?}");
            }
        }
    }
}
