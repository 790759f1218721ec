//! Memory: segments whose addresses are numbers.
//!
//! An address is a segment's handle in the upper half and an offset in the lower half. The two highest bits are the tag
//! of a generic pointer, which accesses do not look at. The handle carries a generation, so an address into a freed
//! segment is invalid even when the slot is used again. An offset that underflows names
//! another handle, at an offset far beyond that segment's end. Segments count as aligned to any alignment.
//!
//! Memory that is older than the machine, and that pointers in memory refer to, keeps the addresses that the host has
//! for it ([`Memory::place`]). No segment gets a slot whose addresses could be among these.

use crate::fault::FaultKind;
use cloom_ir::Space;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct Segment {
    data: Vec<u8>,
    /// The bits of each byte that no defined value was written to; empty if all are defined.
    undefined: Vec<u8>,
    /// For each byte where its undefined bits come from: 0 if it was never written. Empty if that is so for all bytes.
    origins: Vec<u32>,
    /// Whether other groups or the host see what is stored here.
    shared: bool,
    generation: u32,
    live: bool,
    protection: Protection,
}

/// What a write to a segment does.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Protection {
    /// It is right.
    #[default]
    None,
    /// It is a fault. If the run goes on, the write is done.
    Guarded,
    /// It is a fault and is not done.
    ReadOnly,
}

/// Memory at an address of the host.
struct Placed {
    size: u64,
    /// The slot of its bytes; `None` if its life has ended.
    slot: Option<u32>,
}

/// All memory of one machine.
pub struct Memory {
    segments: Vec<Segment>,
    /// What lies at addresses of the host.
    placed: BTreeMap<u64, Placed>,
    /// The slots that stay empty, as addresses of the host look like theirs.
    reserved: BTreeSet<u32>,
    free: Vec<u32>,
    used: u64,
    limit: u64,
    canary: u8,
}

const SLOT_BITS: u32 = 20;
// An address has 20 bits for the slot and 10 for the generation. So an address into a freed segment seems to be valid
// again after its slot was used 1024 times more.
const GENERATIONS: u32 = 1 << (Space::TAG_SHIFT - 32 - SLOT_BITS);
/// So far from an object at an address of the host, an access counts as one of that object.
const NEAR: u64 = 64 << 10;

fn split(address: u64) -> (u32, u32, u64) {
    let handle = ((address & Space::ADDRESS_MASK) >> 32) as u32;
    (handle & ((1 << SLOT_BITS) - 1), handle >> SLOT_BITS, address & 0xffff_ffff)
}

impl Memory {
    /// Memory of at most `limit` bytes. Fresh memory holds the canary.
    pub fn new(limit: u64, canary: u8) -> Self {
        // Slot 0 is never given out: it holds null.
        let segments = vec![Segment::default()];
        Self { segments, placed: BTreeMap::new(), reserved: BTreeSet::new(), free: Vec::new(), used: 0, limit, canary }
    }

    /// A segment with unwritten bytes.
    pub fn allocate(&mut self, size: u64) -> Result<u64, FaultKind> {
        // A cost for each segment itself, so that the number of empty ones is limited.
        let cost = size.saturating_add(64);
        // An offset has 32 bits.
        if size > u64::from(u32::MAX) || self.used.saturating_add(cost) > self.limit {
            return Err(FaultKind::Memory);
        }
        let slot = match self.free.pop() {
            // The slot that was freed last is used first, and its bytes are allocated already.
            Some(slot) => slot,
            None => {
                while self.reserved.contains(&(self.segments.len() as u32)) {
                    self.segments.push(Segment::default());
                }
                if self.segments.len() >= 1 << SLOT_BITS {
                    return Err(FaultKind::Memory);
                }
                self.segments.push(Segment::default());
                (self.segments.len() - 1) as u32
            }
        };
        self.used += cost;
        let s = &mut self.segments[slot as usize];
        s.data.clear();
        s.data.resize(size as usize, self.canary);
        s.undefined.clear();
        s.undefined.resize(size as usize, 0xff);
        s.origins.clear();
        (s.live, s.protection, s.shared) = (true, Protection::None, false);
        Ok((u64::from(s.generation) << SLOT_BITS | u64::from(slot)) << 32)
    }

    /// A segment with these bytes, which other groups and the host see.
    pub fn allocate_with(&mut self, bytes: &[u8]) -> Result<u64, FaultKind> {
        let address = self.allocate(bytes.len() as u64)?;
        self.segments[split(address).0 as usize].data.copy_from_slice(bytes);
        self.share(address);
        Ok(address)
    }

    /// Memory with these bytes at an address of the host, which other groups and the host see. It must come before
    /// what the slots of such addresses would be given to, and must not overlap with memory that was placed before.
    pub fn place(&mut self, address: u64, bytes: &[u8]) -> Result<(), FaultKind> {
        let size = bytes.len() as u64;
        self.reserve(address, size)?;
        let slot = split(self.allocate_with(bytes)?).0;
        self.placed.insert(address, Placed { size, slot: Some(slot) });
        Ok(())
    }

    /// Memory was at an address of the host, and its life has ended.
    pub fn place_ended(&mut self, address: u64, size: u64) -> Result<(), FaultKind> {
        self.reserve(address, size)?;
        self.placed.insert(address, Placed { size, slot: None });
        Ok(())
    }

    /// Whether an object begins at this address of the host.
    pub fn is_placed(&self, address: u64) -> bool {
        self.placed.contains_key(&address)
    }

    /// Keeps the slots that look like addresses of the host from being used.
    fn reserve(&mut self, address: u64, size: u64) -> Result<(), FaultKind> {
        for handle in address >> 32..=address.saturating_add(size) >> 32 {
            let slot = split(handle << 32).0;
            // Slot 0 is never used.
            if slot != 0 && (slot as usize) < self.segments.len() && !self.reserved.contains(&slot) {
                return Err(FaultKind::Memory);
            }
            self.reserved.insert(slot);
        }
        Ok(())
    }

    /// What was placed last before an address, or at it.
    fn placed_before(&self, address: u64) -> Option<(u64, &Placed)> {
        self.placed.range(..=address & Space::ADDRESS_MASK).next_back().map(|(&base, placed)| (base, placed))
    }

    /// The slot of the segment that an address lies in.
    fn slot_of(&self, address: u64) -> usize {
        let (slot, generation, _) = split(address);
        let fits = |s: &Segment| s.live && s.generation == generation;
        if self.placed.is_empty() || self.segments.get(slot as usize).is_some_and(fits) {
            return slot as usize;
        }
        self.placed_before(address).and_then(|(_, placed)| placed.slot).unwrap_or(slot) as usize
    }

    /// The upper half of an address, by which a pointer knows its object; 0 for an address of the host, where objects
    /// lie side by side.
    pub fn segment_of(&self, address: u64) -> u32 {
        let is_host = !self.placed.is_empty() && self.reserved.contains(&split(address).0);
        if is_host { 0 } else { ((address & Space::ADDRESS_MASK) >> 32) as u32 }
    }

    /// Other groups and the host see a segment, all bytes of which are defined.
    pub fn share(&mut self, address: u64) {
        let s = &mut self.segments[split(address).0 as usize];
        s.undefined.clear();
        s.shared = true;
    }

    /// Nothing has written these bytes.
    pub fn forget(&mut self, address: u64, size: u64) {
        let Ok((slot, at)) = self.find(address, size) else { return };
        let s = &mut self.segments[slot];
        s.undefined.resize(s.data.len(), 0);
        s.undefined[at..at + size as usize].fill(0xff);
    }

    /// Makes a segment read-only.
    pub fn protect(&mut self, address: u64) {
        self.set_protection(address, Protection::ReadOnly);
    }

    /// Makes a write to a segment a fault. The memory itself is as any other: devices write such a buffer, too.
    pub fn guard(&mut self, address: u64) {
        self.set_protection(address, Protection::Guarded);
    }

    /// Takes the guard away, if there is one. Whether there was.
    pub fn lift_guard(&mut self, address: u64) -> bool {
        let is_guarded = self.segments.get(self.slot_of(address)).is_some_and(|s| s.protection == Protection::Guarded);
        if is_guarded {
            self.set_protection(address, Protection::None);
        }
        is_guarded
    }

    fn set_protection(&mut self, address: u64, protection: Protection) {
        let slot = self.slot_of(address);
        self.segments[slot].protection = protection;
    }

    /// Ends the life of a segment. The address is what `allocate` gave.
    pub fn free(&mut self, address: u64) {
        let (slot, ..) = split(address);
        let s = &mut self.segments[slot as usize];
        s.live = false;
        s.generation = (s.generation + 1) % GENERATIONS;
        self.used -= s.data.len() as u64 + 64;
        // Small ones are kept for the next frame, large ones are given back.
        if s.data.capacity() > 4096 {
            (s.data, s.undefined, s.origins) = (Vec::new(), Vec::new(), Vec::new());
        }
        self.free.push(slot);
    }

    /// Begins the lifetime of a variable again: none of its bytes has a value.
    pub fn begin(&mut self, address: u64) {
        let s = &mut self.segments[split(address).0 as usize];
        s.live = true;
        s.undefined.clear();
        s.undefined.resize(s.data.len(), 0xff);
        s.origins.clear();
        s.data.fill(self.canary);
    }

    /// Ends the lifetime of a variable whose memory stays.
    pub fn end(&mut self, address: u64) {
        self.segments[split(address).0 as usize].live = false;
    }

    #[inline]
    fn find(&self, address: u64, size: u64) -> Result<(usize, usize), FaultKind> {
        let (slot, generation, offset) = split(address);
        match self.segments.get(slot as usize) {
            // The sum does not overflow: an offset has 32 bits, and the verifier limits sizes to 4 GiB (V41) and
            // vectors to 1024 lanes (V9).
            Some(s) if s.live && s.generation == generation && offset + size <= s.data.len() as u64 => {
                Ok((slot as usize, offset as usize))
            }
            _ => self.find_placed(address, size),
        }
    }

    /// The same for an address of the host.
    fn find_placed(&self, address: u64, size: u64) -> Result<(usize, usize), FaultKind> {
        if let Some((base, &Placed { size: whole, slot: Some(slot) })) = self.placed_before(address) {
            let offset = (address & Space::ADDRESS_MASK) - base;
            if offset.saturating_add(size) <= whole {
                return Ok((slot as usize, offset as usize));
            }
        }
        Err(self.no_access(address, size))
    }

    /// Why an access at an offset of an object, which leaves it, is none.
    pub fn outside(&self, object: u64, offset: i64, size: u64) -> FaultKind {
        let slot = self.slot_of(object);
        match self.segments.get(slot) {
            Some(s) if s.live && (self.is_placed(object) || s.generation == split(object).1) => {
                FaultKind::OutOfBounds { offset, size, object: s.data.len() as u64, base: object }
            }
            _ => self.no_access(object.wrapping_add_signed(offset), size),
        }
    }

    /// Why an access near an object at an address of the host is none; `None` where no such object is near.
    fn no_placed_access(&self, address: u64, size: u64) -> Option<FaultKind> {
        let at = address & Space::ADDRESS_MASK;
        let outside = |base: u64, object: u64| {
            let offset = at.wrapping_sub(base) as i64;
            FaultKind::OutOfBounds { offset, size, object, base }
        };
        let before = self.placed_before(address);
        if let Some((base, placed)) = before {
            let offset = at - base;
            match placed.slot {
                None if offset < placed.size => return Some(FaultKind::Ended { address, size }),
                Some(_) if offset < placed.size.saturating_add(NEAR) => return Some(outside(base, placed.size)),
                _ => {}
            }
        }
        let (&base, placed) = self.placed.range(at..=at.saturating_add(NEAR)).next()?;
        placed.slot.map(|_| outside(base, placed.size))
    }

    /// Why an access is none.
    #[cold]
    fn no_access(&self, address: u64, size: u64) -> FaultKind {
        if let Some(fault) = self.no_placed_access(address, size) {
            return fault;
        }
        let object = |address: u64| {
            let (slot, generation, _) = split(address);
            self.segments.get(slot as usize).filter(|s| s.live && s.generation == generation)
        };
        let outside = |s: &Segment, base: u64, offset: i64| FaultKind::OutOfBounds {
            offset,
            size,
            object: s.data.len() as u64,
            base,
        };
        let (slot, generation, offset) = split(address);
        // An offset that underflows has borrowed from the handle: it lies less than 2 GiB before the next one.
        let next = (address & Space::ADDRESS_MASK).wrapping_sub(offset).wrapping_add(1 << 32);
        if offset >= 1 << 31
            && let Some(s) = object(next)
        {
            return outside(s, next, offset as i64 - (1 << 32));
        }
        if let Some(s) = object(address) {
            return outside(s, (address & Space::ADDRESS_MASK) - offset, offset as i64);
        }
        match self.segments.get(slot as usize) {
            Some(_) if slot == 0 || self.reserved.contains(&slot) => FaultKind::NoObject { address, size },
            Some(s) if generation != s.generation || !s.live => FaultKind::Ended { address, size },
            _ => FaultKind::NoObject { address, size },
        }
    }

    /// The bytes at an address, and whether all were written.
    #[inline]
    pub fn read(&self, address: u64, size: u64) -> Result<(&[u8], bool), FaultKind> {
        let (slot, at) = self.find(address, size)?;
        let s = &self.segments[slot];
        let end = at + size as usize;
        let written = s.undefined.is_empty() || s.undefined[at..end].iter().all(|&bits| bits == 0);
        Ok((&s.data[at..end], written))
    }

    /// The bytes at an address, to be overwritten with what is defined.
    #[inline]
    pub fn write(&mut self, address: u64, size: u64) -> Result<&mut [u8], FaultKind> {
        let (slot, at) = self.find(address, size)?;
        let s = &mut self.segments[slot];
        if s.protection != Protection::None {
            return Err(FaultKind::ReadOnly(address));
        }
        let end = at + size as usize;
        if !s.undefined.is_empty() {
            s.undefined[at..end].fill(0);
        }
        Ok(&mut s.data[at..end])
    }

    /// Copies bytes, with the bits that are undefined. Returns whether all are defined.
    pub fn copy(&mut self, to: u64, from: u64, size: u64) -> Result<bool, FaultKind> {
        // A copy of the bytes, because both may be in one segment.
        let (bytes, defined) = self.read(from, size)?;
        let bytes = bytes.to_vec();
        let undefined = if defined { Vec::new() } else { self.undefined(from, size) };
        self.write(to, size)?.copy_from_slice(&bytes);
        self.set_undefined(to, &undefined);
        Ok(defined)
    }

    /// Whether other groups or the host see what is stored at an address.
    pub fn is_shared(&self, address: u64) -> bool {
        self.segments.get(self.slot_of(address)).is_some_and(|s| s.shared)
    }

    /// The undefined bits of each byte, and where they come from.
    pub fn undefined(&self, address: u64, size: u64) -> Vec<(u8, u32)> {
        let Ok((slot, at)) = self.find(address, size) else { return Vec::new() };
        let s = &self.segments[slot];
        let bits = s.undefined.get(at..at + size as usize).unwrap_or_default();
        (at..).zip(bits).map(|(i, &bits)| (bits, s.origins.get(i).copied().unwrap_or(0))).collect()
    }

    /// Sets them. Where all values are defined, they stay so.
    pub fn set_undefined(&mut self, address: u64, bytes: &[(u8, u32)]) {
        let Ok((slot, at)) = self.find(address, bytes.len() as u64) else { return };
        let s = &mut self.segments[slot];
        if s.undefined.is_empty() {
            return;
        }
        for (to, &(bits, _)) in s.undefined[at..].iter_mut().zip(bytes) {
            *to = bits;
        }
        if s.origins.is_empty() && bytes.iter().any(|&(_, origin)| origin != 0) {
            s.origins.resize(s.data.len(), 0);
        }
        if !s.origins.is_empty() {
            for (to, &(_, origin)) in s.origins[at..].iter_mut().zip(bytes) {
                *to = origin;
            }
        }
    }

    /// The bytes of a text that ends in a zero byte.
    pub fn text(&self, address: u64) -> Option<&[u8]> {
        let (slot, at) = self.find(address, 0).ok()?;
        let rest = &self.segments[slot].data[at..];
        rest.iter().position(|&b| b == 0).map(|end| &rest[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_dies_with_its_segment() {
        let mut m = Memory::new(1 << 20, 0xa5);
        let a = m.allocate(8).unwrap();
        assert_eq!(m.read(a, 8), Ok((&[0xa5u8; 8][..], false)));
        m.write(a + 4, 4).unwrap().fill(1);
        assert_eq!(m.read(a + 4, 4), Ok((&[1u8; 4][..], true)));
        assert!(!m.read(a + 3, 2).unwrap().1);
        assert_eq!(m.read(a + 5, 4), Err(FaultKind::OutOfBounds { offset: 5, size: 4, object: 8, base: a }));
        assert_eq!(m.read(a - 3, 4), Err(FaultKind::OutOfBounds { offset: -3, size: 4, object: 8, base: a }));
        assert!(m.read(a.wrapping_sub(1), 1).is_err() && m.read(0, 1).is_err());
        m.free(a);
        let b = m.allocate(8).unwrap();
        assert_ne!(a, b);
        assert!(matches!(m.read(a, 1), Err(FaultKind::Ended { .. })));
        assert!(m.read(b, 8).is_ok());
    }

    #[test]
    fn constant_memory_is_read_only_and_memory_has_an_end() {
        let mut m = Memory::new(1000, 0);
        let a = m.allocate_with(b"ab\0").unwrap();
        m.protect(a);
        assert_eq!(m.write(a, 1), Err(FaultKind::ReadOnly(a)));
        assert_eq!(m.text(a + 1), Some(&b"b"[..]));
        assert_eq!(m.allocate(1000), Err(FaultKind::Memory));
        for _ in 0..100 {
            let b = m.allocate(500).unwrap();
            m.free(b);
        }
    }

    #[test]
    fn a_guard_can_be_lifted_and_a_protection_cannot() {
        let mut m = Memory::new(1 << 20, 0);
        let (a, b) = (m.allocate_with(&[0; 4]).unwrap(), m.allocate_with(&[0; 4]).unwrap());
        m.guard(a);
        m.protect(b);
        assert_eq!(m.write(a + 1, 1), Err(FaultKind::ReadOnly(a + 1)));
        assert!(m.lift_guard(a + 1) && m.write(a + 1, 1).is_ok() && !m.lift_guard(a));
        assert!(!m.lift_guard(b) && m.write(b, 1).is_err());
    }

    #[test]
    fn memory_of_the_host_keeps_its_addresses() {
        const BASE: u64 = 0x0007_fff0;
        let mut m = Memory::new(1 << 20, 0);
        // Its addresses look like those of slot 2.
        let host = 2 << 32 | BASE;
        m.place(host, &[1, 2, 3, 4]).unwrap();
        m.place_ended(host + 0x100, 16).unwrap();
        let others: Vec<u64> = (0..4).map(|_| m.allocate(8).unwrap()).collect();
        assert!(others.iter().all(|a| a >> 32 != 2), "{others:x?}");
        m.write(host + 1, 1).unwrap().fill(9);
        let generic = host | 1 << Space::TAG_SHIFT;
        assert_eq!(m.read(generic, 4), Ok((&[1u8, 9, 3, 4][..], true)));
        assert!(m.is_shared(host + 3) && !m.is_shared(others[0]) && m.is_placed(host) && !m.is_placed(host + 1));
        let outside = |offset: i64, size| FaultKind::OutOfBounds { offset, size, object: 4, base: host };
        assert_eq!(m.read(host + 2, 4), Err(outside(2, 4)));
        assert_eq!(m.read(host - 8, 4), Err(outside(-8, 4)));
        assert_eq!(m.outside(host, 12, 4), outside(12, 4));
        assert!(matches!(m.read(host + 0x104, 4), Err(FaultKind::Ended { .. })));
        assert!(matches!(m.read(host + (1 << 20), 4), Err(FaultKind::NoObject { .. })));
        m.protect(host);
        assert_eq!(m.write(host, 1), Err(FaultKind::ReadOnly(host)));
        // A slot that is in use cannot become the host's.
        assert_eq!(m.place(1 << 32, &[0]), Err(FaultKind::Memory));
    }

    #[test]
    fn a_part_of_a_buffer_is_unwritten() {
        let mut m = Memory::new(1 << 20, 0);
        let a = m.allocate_with(&[0; 8]).unwrap();
        m.forget(a + 4, 2);
        assert!(m.read(a, 4).unwrap().1 && !m.read(a + 3, 2).unwrap().1 && m.read(a + 6, 2).unwrap().1);
        m.write(a + 4, 2).unwrap().fill(1);
        assert!(m.read(a, 8).unwrap().1 && m.is_shared(a));
    }

    #[test]
    fn a_copy_carries_what_is_unwritten() {
        let mut m = Memory::new(1 << 20, 7);
        let (a, b) = (m.allocate(4).unwrap(), m.allocate_with(&[0; 4]).unwrap());
        let c = m.allocate(4).unwrap();
        m.write(a, 2).unwrap().fill(9);
        assert_eq!(m.copy(c, a, 4), Ok(false));
        assert!(m.read(c, 2).unwrap().1 && !m.read(c, 3).unwrap().1);
        assert_eq!(m.copy(b, a, 2), Ok(true));
    }
}
