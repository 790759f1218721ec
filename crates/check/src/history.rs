//! The accesses that later ones may race with, for each word of memory.
//!
//! A launch touches many bytes, so that what is kept of an access is small: numbers of the work-item and of the place
//! in the source. An object is kept in words of four bytes until something smaller is accessed in it, then in bytes,
//! because two work-items may write the bytes of one word.

use crate::happens_before::Stamp;
use rustc_hash::FxHashMap;

/// An access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// When, and by which work-item.
    pub stamp: Stamp,
    /// The number of its place.
    pub site: u32,
    /// The iteration of the innermost loop.
    pub iteration: Option<u32>,
    /// What a store leaves in this word or byte, if that is known.
    pub value: Option<u32>,
}

/// The accesses of a word that are remembered. Atomic and plain ones are kept apart, as each conflicts with accesses
/// that do not conflict with the other.
#[derive(Clone, Copy, Default, Debug)]
pub struct Cell {
    /// The last plain write.
    pub write: Option<Event>,
    /// The newest atomic write, and the newest one of another work-item.
    pub atomic_writes: [Option<Event>; 2],
    /// The newest plain read, and the newest one of another work-item.
    pub reads: [Option<Event>; 2],
    /// The newest atomic read.
    pub atomic_read: Option<Event>,
}

impl Cell {
    /// The accesses that one conflicts with, if they are not ordered: all writes, and for a write the reads.
    pub fn conflicts(&self, writes: bool) -> impl Iterator<Item = (Event, bool)> {
        let reads = self.reads.into_iter().chain([self.atomic_read]).flatten().filter(move |_| writes);
        let writes = [self.write].into_iter().chain(self.atomic_writes).flatten();
        writes.map(|e| (e, true)).chain(reads.map(|e| (e, false)))
    }

    /// Remembers an access. `is_other` tells whether an earlier access is another party's.
    pub fn add(&mut self, event: Event, writes: bool, is_atomic: bool, is_other: impl Fn(&Event) -> bool) {
        // A work-item's own access must not hide another one's.
        let add = |[newest, other]: [Option<Event>; 2]| [Some(event), newest.filter(is_other).or(other)];
        match (writes, is_atomic) {
            (true, false) => self.write = Some(event),
            (true, true) => self.atomic_writes = add(self.atomic_writes),
            (false, true) => self.atomic_read = Some(event),
            (false, false) => self.reads = add(self.reads),
        }
    }
}

/// The words of an object.
#[derive(Default)]
struct Object {
    is_in_bytes: bool,
    cells: FxHashMap<u32, Cell>,
}

/// The words of all objects.
#[derive(Default)]
pub struct History {
    /// By the upper half of the address, which names an object.
    objects: FxHashMap<u64, Object>,
}

/// Bytes of a word.
const WORD: u64 = 4;

impl History {
    /// An object has ended.
    pub fn forget(&mut self, address: u64) {
        self.objects.remove(&(address >> 32));
    }

    /// Visits the words, or the bytes, that an access touches: with the offset in the access, their size, and the cell.
    pub fn visit(&mut self, address: u64, size: u64, mut visit: impl FnMut(u64, u64, &mut Cell)) {
        let object = self.objects.entry(address >> 32).or_default();
        let begin = address & 0xffff_ffff;
        if !object.is_in_bytes && !(begin | size).is_multiple_of(WORD) {
            object.split();
        }
        let unit = if object.is_in_bytes { 1 } else { WORD };
        for at in (0..size).step_by(unit as usize) {
            visit(at, unit, object.cells.entry((begin + at) as u32).or_default());
        }
    }
}

impl Object {
    /// From words to bytes.
    fn split(&mut self) {
        self.is_in_bytes = true;
        let mut bytes = FxHashMap::default();
        #[expect(clippy::iter_over_hash_type, reason = "each word becomes four bytes of its own")]
        for (&at, cell) in &self.cells {
            for byte in 0..WORD as u32 {
                let part = |e: &mut Event| e.value = e.value.map(|value| value >> (8 * byte) & 0xff);
                let mut cell = *cell;
                let writes = [&mut cell.write].into_iter().chain(&mut cell.atomic_writes);
                writes.flatten().for_each(part);
                bytes.insert(at + byte, cell);
            }
        }
        self.cells = bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(item: u32) -> Event {
        let stamp = Stamp { group: 0, item, interval: 0, releases: 0 };
        Event { stamp, site: 1, iteration: None, value: Some(0x0403_0201) }
    }

    #[test]
    fn words_become_bytes_where_bytes_are_accessed() {
        let mut history = History::default();
        history.visit(7 << 32 | 8, 8, |_, unit, cell| {
            assert_eq!(unit, 4);
            cell.add(event(1), true, false, |_| true);
        });
        let mut seen = Vec::new();
        history.visit(7 << 32 | 14, 3, |at, unit, cell| {
            seen.push((at, unit, cell.write.map(|e| (e.stamp.item, e.value))));
        });
        assert_eq!(seen, [(0, 1, Some((1, Some(3)))), (1, 1, Some((1, Some(4)))), (2, 1, None)]);
        history.forget(7 << 32);
        history.visit(7 << 32 | 8, 4, |_, unit, cell| assert!(unit == 4 && cell.write.is_none()));
    }

    #[test]
    fn an_atomic_access_does_not_hide_a_plain_one() {
        let mut cell = Cell::default();
        cell.add(event(1), true, false, |_| true);
        cell.add(event(1), false, true, |_| true);
        cell.add(event(1), true, true, |_| true);
        cell.add(event(2), false, false, |e| e.stamp.item != 2);
        cell.add(event(3), false, false, |e| e.stamp.item != 3);
        assert_eq!(cell.conflicts(false).count(), 2);
        let items: Vec<u32> = cell.conflicts(true).map(|(e, _)| e.stamp.item).collect();
        assert_eq!(items, [1, 1, 3, 2, 1]);
    }
}
