//! Which bytes of the host's objects a launch has accessed, for checks between commands.
//!
//! In come accesses; out come ranges of bytes. A bit stands for each byte, in pages that are made when they are needed.

use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// How bytes are accessed. Atomic operations of two commands do not race.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mode {
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is atomic.
    pub is_atomic: bool,
}

impl Mode {
    /// All of them.
    pub const ALL: [Mode; 4] = [
        Mode { writes: false, is_atomic: false },
        Mode { writes: false, is_atomic: true },
        Mode { writes: true, is_atomic: false },
        Mode { writes: true, is_atomic: true },
    ];

    fn index(self) -> usize {
        usize::from(self.writes) * 2 + usize::from(self.is_atomic)
    }
}

type Bits = [u64; PAGE as usize / 64];

/// The bytes of a page, for each mode.
type Page = Box<[Bits; 4]>;

/// The bytes that were accessed.
#[derive(Default)]
pub struct Footprint {
    /// The upper halves of the addresses of what is watched.
    watched: FxHashSet<u64>,
    pages: FxHashMap<u64, Page>,
}

impl Footprint {
    /// Watches an object.
    pub fn watch(&mut self, address: u64, size: u64) {
        self.watched.extend(address >> 32..=address.saturating_add(size) >> 32);
    }

    /// An access, at an address without a tag.
    pub fn access(&mut self, address: u64, size: u64, mode: Mode) {
        if !self.watched.contains(&(address >> 32)) {
            return;
        }
        for at in address..address.saturating_add(size) {
            let page = self.pages.entry(at / PAGE).or_insert_with(|| Box::new([[0; PAGE as usize / 64]; 4]));
            let bit = at % PAGE;
            page[mode.index()][bit as usize / 64] |= 1 << (bit % 64);
        }
    }

    /// The bytes of an object that were accessed so, as offsets in it.
    pub fn ranges(&self, begin: u64, size: u64, mode: Mode) -> Vec<Range<u64>> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let end = begin.saturating_add(size);
        for number in begin / PAGE..end.div_ceil(PAGE) {
            let Some(page) = self.pages.get(&number) else { continue };
            for at in (number * PAGE).max(begin)..((number + 1) * PAGE).min(end) {
                let bit = at % PAGE;
                if page[mode.index()][bit as usize / 64] >> (bit % 64) & 1 == 0 {
                    continue;
                }
                let offset = at - begin;
                match ranges.last_mut() {
                    Some(last) if last.end == offset => last.end += 1,
                    _ => ranges.push(offset..offset + 1),
                }
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_watched_objects_are_kept_by_mode() {
        let [read, _, write, atomic] = Mode::ALL;
        let begin = 5 << 32 | 100;
        let mut f = Footprint::default();
        f.watch(begin, 8192);
        f.access(begin + 4, 4, read);
        f.access(begin + 8, 4, read);
        f.access(begin + 4090, 16, write);
        f.access(begin, 1, atomic);
        f.access(6 << 32, 4, write);
        let ranges = |size, mode| f.ranges(begin, size, mode).iter().map(|r| (r.start, r.end)).collect::<Vec<_>>();
        assert_eq!(ranges(8192, read), [(4, 12)]);
        assert_eq!(ranges(4096, write), [(4090, 4096)], "no more than was asked for");
        assert_eq!(ranges(8192, write), [(4090, 4106)], "across pages");
        assert_eq!(ranges(8192, atomic), [(0, 1)]);
        assert!(f.ranges(6 << 32, 16, write).is_empty(), "nobody watches it");
    }
}
