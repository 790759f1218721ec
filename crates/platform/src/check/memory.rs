//! The buffers and images of a launch, in the interpreter's memory.
//!
//! Each has a segment of its own, so that an access outside of it is seen; sub-buffers too, which lie in one buffer.
//! Only objects that overlap share a segment, so that a write to one is seen in the other.

use super::command::Used;
use super::unwritten::Unwritten;
use cloom_check::interpreted::footprint::{Footprint, Mode};
use cloom_interp::{FaultKind, Machine};
use cloom_runtime::{CheckedArg, CheckedLaunch, CheckedMemory, Error, UsedMemory};
use std::ops::Range;

/// A range of the memory of some objects, with its bytes before the launch.
struct Segment {
    storage: usize,
    begin: u64,
    bytes: Vec<u8>,
    is_read_only: bool,
    is_write_only: bool,
}

impl Segment {
    fn end(&self) -> u64 {
        self.begin + self.bytes.len() as u64
    }
}

/// The memory of a launch.
pub struct Memory<'a> {
    segments: Vec<Segment>,
    /// For each argument its object, with the number of the segment.
    objects: Vec<Option<(&'a dyn CheckedMemory, usize)>>,
}

/// Where an object is in the interpreter's memory.
#[derive(Clone, Copy)]
pub struct Place {
    /// The address of the object,
    pub address: u64,
    /// of its segment,
    pub segment: u64,
    /// and the segment's size.
    pub segment_bytes: u64,
    /// Whether kernels may only write the segment.
    pub is_write_only: bool,
}

impl<'a> Memory<'a> {
    /// Reads the memory objects.
    pub fn read(launch: &'a CheckedLaunch) -> Result<Memory<'a>, Error> {
        let mut segments: Vec<Segment> = Vec::new();
        let objects: Vec<Option<&dyn CheckedMemory>> = launch.args.iter().map(object).collect();
        for memory in objects.iter().flatten() {
            let (mut begin, size) = memory.range();
            let mut bytes = memory.read()?;
            let (mut is_read_only, mut is_write_only) = (memory.is_read_only(), memory.is_write_only());
            // What overlaps becomes one segment. Two ranges that the new one joins overlap with it, too.
            while let Some(n) = segments
                .iter()
                .position(|s| s.storage == memory.storage() && s.begin < begin + bytes.len() as u64 && begin < s.end())
            {
                let other = segments.swap_remove(n);
                let first = begin.min(other.begin);
                let end = (begin + bytes.len() as u64).max(other.end());
                let mut joined = vec![0; (end - first) as usize];
                let at = (other.begin - first) as usize;
                joined[at..at + other.bytes.len()].copy_from_slice(&other.bytes);
                let at = (begin - first) as usize;
                joined[at..at + bytes.len()].copy_from_slice(&bytes);
                (begin, bytes) = (first, joined);
                is_read_only &= other.is_read_only;
                is_write_only &= other.is_write_only;
            }
            debug_assert!(bytes.len() as u64 >= size);
            segments.push(Segment { storage: memory.storage(), begin, bytes, is_read_only, is_write_only });
        }
        let of = |memory: &'a dyn CheckedMemory| {
            let (begin, _) = memory.range();
            let holds = |s: &Segment| s.storage == memory.storage() && (s.begin..=s.end()).contains(&begin);
            segments.iter().position(holds).map(|n| (memory, n))
        };
        let objects = objects.into_iter().map(|memory| memory.and_then(of)).collect();
        Ok(Memory { segments, objects })
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> u64 {
        self.segments.iter().map(|s| s.bytes.len() as u64).sum()
    }

    /// Puts the objects into the machine's memory. Gives the place of each argument that is one.
    pub fn place(&self, machine: &mut Machine<'_>, unwritten: &Unwritten) -> Result<Vec<Option<Place>>, FaultKind> {
        let mut addresses = Vec::new();
        for segment in &self.segments {
            let address = machine.buffer(&segment.bytes)?;
            for range in unwritten.of(segment.storage) {
                let (begin, end) = (range.start.max(segment.begin), range.end.min(segment.end()));
                if begin < end {
                    machine.memory.forget(address + begin - segment.begin, end - begin);
                }
            }
            if segment.is_read_only {
                machine.memory.guard(address);
            }
            addresses.push(address);
        }
        let place = |(memory, n): (&dyn CheckedMemory, usize)| Place {
            address: addresses[n] + memory.range().0 - self.segments[n].begin,
            segment: addresses[n],
            segment_bytes: self.segments[n].bytes.len() as u64,
            is_write_only: self.segments[n].is_write_only,
        };
        Ok(self.objects.iter().map(|object| object.map(place)).collect())
    }

    /// What the launch has used.
    pub fn used(&self, footprint: &Footprint, places: &[Option<Place>]) -> Vec<Used> {
        let mut used = Vec::new();
        for (n, segment) in self.segments.iter().enumerate() {
            let is_it = |object: &Option<(&dyn CheckedMemory, usize)>| object.is_some_and(|(_, m)| m == n);
            let Some(place) = self.objects.iter().position(is_it).and_then(|i| places[i]) else { continue };
            for mode in Mode::ALL {
                let mut ranges = footprint.ranges(place.segment, place.segment_bytes, mode);
                for range in &mut ranges {
                    *range = range.start + segment.begin..range.end + segment.begin;
                }
                used.push(Used { memory: UsedMemory::Object(segment.storage), ranges, mode });
            }
        }
        used
    }

    /// Takes over what the launch has written.
    pub fn write(&self, machine: &Machine<'_>, places: &[Option<Place>]) -> Result<(), Error> {
        for (object, place) in self.objects.iter().zip(places) {
            let (Some((memory, n)), Some(place)) = (object, place) else { continue };
            let (begin, size) = memory.range();
            let at = (begin - self.segments[*n].begin) as usize;
            let before = &self.segments[*n].bytes[at..at + size as usize];
            let Ok((after, _)) = machine.memory.read(place.address, size) else { continue };
            for range in changes(before, after) {
                memory.write(range.start as u64, &after[range])?;
            }
        }
        Ok(())
    }
}

/// Where bytes differ: what a launch did not change, another one may change at the same time.
pub fn changes(before: &[u8], after: &[u8]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (i, _) in before.iter().zip(after).enumerate().filter(|(_, (a, b))| a != b) {
        match ranges.last_mut() {
            Some(last) if last.end == i => last.end = i + 1,
            _ => ranges.push(i..i + 1),
        }
    }
    ranges
}

fn object(arg: &CheckedArg) -> Option<&dyn CheckedMemory> {
    match arg {
        CheckedArg::Buffer(memory) | CheckedArg::Image(memory) => Some(&**memory),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_written() {
        assert_eq!(changes(b"abcdefg", b"aXXdefY"), [1..3, 6..7]);
        assert!(changes(b"abc", b"abc").is_empty());
    }
}
