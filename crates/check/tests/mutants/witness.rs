//! What a run shows by itself: an observer that knows nothing of the checker.
//!
//! In come the accesses of a launch; out come the pairs of places whose accesses conflict. It compares every two
//! accesses to a byte and keeps all of them, with none of the checker's clocks, cells and limits. It knows barriers
//! only: what atomic operations, fences and sub-groups order counts as a conflict here. Such pairs are those of the
//! kernel before its mutation, too, and do not count.

use cloom_interp::{Access, AccessKind, NdRange, Observer, Printed};
use cloom_ir::{BarrierMemory, Space, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Two places in the source, and whether they access local memory.
pub type Conflict = (Span, Span, bool);

/// The objects that several work-items can access, by the upper half of their addresses. All other memory is private.
#[derive(Clone, Default)]
pub struct Shared {
    global: FxHashSet<u64>,
    /// Those of the group that runs.
    local: FxHashSet<u64>,
}

fn object(address: u64) -> u64 {
    (address & Space::ADDRESS_MASK) >> 32
}

impl Shared {
    /// Those outside of the groups, by their addresses.
    pub fn new(addresses: impl IntoIterator<Item = u64>) -> Shared {
        Shared { global: addresses.into_iter().map(object).collect(), local: FxHashSet::default() }
    }

    fn group(&mut self, local: &[(u64, u64)]) {
        self.local = local.iter().map(|&(address, _)| object(address)).collect();
    }

    /// Whether memory is local; `None` if it is private.
    fn is_local(&self, address: u64) -> Option<bool> {
        let object = object(address);
        if self.local.contains(&object) { Some(true) } else { self.global.contains(&object).then_some(false) }
    }
}

/// The shared bytes that a run stores to, and what it prints.
#[derive(Default)]
pub struct Stores {
    pub shared: Shared,
    pub bytes: FxHashSet<u64>,
    pub printed: Vec<Printed>,
}

impl Observer for Stores {
    fn access(&mut self, access: &Access) {
        if access.kind == AccessKind::Store && self.shared.is_local(access.address).is_some() {
            let first = access.address & Space::ADDRESS_MASK;
            self.bytes.extend(first..first + access.size);
        }
    }

    fn group(&mut self, _group: [u64; 3], local: &[(u64, u64)]) {
        self.shared.group(local);
    }

    fn printf(&mut self, printed: Printed) {
        self.printed.push(printed);
    }
}

/// An access to a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Touch {
    group: u32,
    item: [u64; 3],
    /// How many barriers that order this memory came before, in the group.
    interval: u32,
    writes: bool,
    is_atomic: bool,
    value: Option<u8>,
    span: Span,
}

/// Looks for conflicts.
pub struct Witness {
    /// No other byte can be in conflict.
    stored: FxHashSet<u64>,
    range: NdRange,
    group: u32,
    shared: Shared,
    /// Barriers of the group that have ordered local memory, and global memory.
    intervals: [u32; 2],
    /// By the upper half of the address, which names an object, and by the address.
    touches: FxHashMap<u64, FxHashMap<u64, Vec<Touch>>>,
    /// Conflicts in which it matters who is first.
    pub conflicts: BTreeSet<Conflict>,
    /// Pairs of stores of one value.
    pub same_values: BTreeSet<Conflict>,
}

impl Witness {
    pub fn new(range: NdRange, stores: Stores) -> Witness {
        Witness {
            stored: stores.bytes,
            range,
            group: 0,
            shared: stores.shared,
            intervals: [0; 2],
            touches: FxHashMap::default(),
            conflicts: BTreeSet::new(),
            same_values: BTreeSet::new(),
        }
    }

    fn record(&mut self, access: &Access, bytes: &[u8]) {
        let first = access.address & Space::ADDRESS_MASK;
        let Some(is_local) = self.shared.is_local(first) else { return };
        for (n, byte) in (first..first + access.size).enumerate() {
            if !self.stored.contains(&byte) {
                continue;
            }
            let touch = Touch {
                group: self.group,
                item: access.at.item,
                interval: self.intervals[usize::from(!is_local)],
                writes: access.kind == AccessKind::Store,
                is_atomic: access.atomic.is_some(),
                value: bytes.get(n).copied(),
                span: access.at.span,
            };
            let earlier = self.touches.entry(byte >> 32).or_default().entry(byte).or_default();
            for e in earlier.iter() {
                let is_ordered = e.item == touch.item || e.group == touch.group && e.interval != touch.interval;
                if is_ordered || !(e.writes || touch.writes) || e.is_atomic && touch.is_atomic {
                    continue;
                }
                let pair = (e.span.min(touch.span), e.span.max(touch.span), is_local);
                let is_same = e.writes && touch.writes && e.value.is_some() && e.value == touch.value;
                let list = if is_same { &mut self.same_values } else { &mut self.conflicts };
                list.insert(pair);
            }
            if !earlier.contains(&touch) {
                earlier.push(touch);
            }
        }
    }
}

impl Observer for Witness {
    fn access(&mut self, access: &Access) {
        self.record(access, &[]);
    }

    fn stored(&mut self, access: &Access, bytes: &[u8]) {
        self.record(access, bytes);
    }

    fn group(&mut self, group: [u64; 3], local: &[(u64, u64)]) {
        let [x, y, _] = self.range.groups();
        self.group = (group[0] + x * (group[1] + y * group[2])) as u32;
        self.shared.group(local);
        self.intervals = [0; 2];
    }

    fn barrier(&mut self, _group: [u64; 3], memory: BarrierMemory, _span: Span) {
        self.intervals[0] += u32::from(matches!(memory, BarrierMemory::Local | BarrierMemory::Both));
        self.intervals[1] += u32::from(matches!(memory, BarrierMemory::Global | BarrierMemory::Both));
    }

    fn freed(&mut self, address: u64) {
        // Another object may get the address.
        self.touches.remove(&object(address));
    }
}
