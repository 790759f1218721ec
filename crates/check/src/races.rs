//! Data races of a launch, by OpenCL's memory model.
//!
//! Two accesses of one byte by different work-items race if one of them writes, they are not both atomic (with scopes
//! that include each other), and neither happens before the other. The order in which the interpreter ran them does
//! not matter: a racy kernel is right every time on a device that runs work-items in turns.
//!
//! For each word the detector keeps the last write and the last reads of two work-items, atomic ones apart, with what
//! is needed to decide whether they happened before a later access ([`Stamp`]). Two reads suffice where only barriers
//! order accesses: a write conflicts with any read of the same interval by another work-item, and one of two readers
//! is another one. If atomics order some reads and not others, a race with a third reader can be missed; none is
//! invented.
//!
//! Local and global memory are ordered apart, as `barrier(CLK_LOCAL_MEM_FENCE)` does not order global memory. A fence
//! and an atomic operation order both here, which the model promises only if the flags of the fence say so.
//!
//! Programs that are built for the checker have the scopes that the source names; in others an atomic operation has the
//! scope of its memory.

use crate::happens_before::{Known, Stamp};
use crate::history::{Event, History};
use cloom_interp::{Access, AccessKind, NdRange, Observer, Point};
use cloom_ir::{BarrierMemory, Order, Scope, Space, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Races of different places that are kept; further ones are only counted.
const MAX_RACES: usize = 100;
/// Barriers of a group that are kept for the sentences of findings.
const MAX_WEAK: usize = 1 << 16;

/// One of the two accesses of a race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Party {
    /// Whether it writes.
    pub writes: bool,
    /// Order and scope, if it is atomic.
    pub atomic: Option<(Order, Scope)>,
    /// Whether an asynchronous copy does it, on behalf of the group.
    pub is_copy: bool,
    /// How many bytes it touches.
    pub size: u64,
    /// By whom, and where.
    pub at: Point,
}

/// A barrier that does not order all memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WeakBarrier {
    /// What it orders.
    pub memory: BarrierMemory,
    /// Where.
    pub span: Span,
}

/// Two accesses that race, the earlier one of this run first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Race {
    /// Whether the memory is local.
    pub is_local: bool,
    /// Whether the work-items are of different groups, which no barrier orders.
    pub between_groups: bool,
    /// The access that this run executed first,
    pub first: Party,
    /// and second.
    pub second: Party,
    /// The byte that both access, the first that was seen.
    pub address: u64,
    /// Whether both write, always the same value.
    pub same_value: bool,
    /// The first barrier between the two that does not order this memory, if there is one.
    pub barrier: Option<WeakBarrier>,
    /// How many accesses at these two places raced.
    pub count: u64,
    /// In how many groups.
    pub groups: u64,
}

impl Race {
    /// Whether a barrier comes between a read and a later write. It lacks the fence, but few devices let the write
    /// overtake the read.
    pub fn is_read_before_barrier(&self) -> bool {
        self.barrier.is_some() && !self.first.writes && self.second.writes
    }

    /// How much harm it does, in comparison with another one at the same places.
    fn harm(&self) -> u8 {
        match () {
            () if self.same_value => 0,
            () if self.is_read_before_barrier() => 1,
            () => 2,
        }
    }
}

/// An asynchronous copy that was begun and not waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenCopy {
    /// Its event: the same number in all work-items of the group.
    pub event: u64,
    /// Where, and by the first work-item that was seen.
    pub at: Point,
    /// The linear number of the group.
    pub group: u32,
}

/// What is equal in all accesses of one place.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Site {
    span: Span,
    calls: u32,
    size: u64,
    /// Order and scope, if it is atomic.
    atomic: Option<(Order, Scope)>,
    /// The event of the asynchronous copy that it is a part of.
    copy: Option<u64>,
}

/// What a release has published.
#[derive(Clone)]
struct Release {
    known: [Known; 2],
    scope: Scope,
    group: u32,
}

/// A work-item of the running group, as far as it synchronises by atomics.
#[derive(Default)]
struct Item {
    /// Releases so far.
    releases: u32,
    /// What it has acquired since the last barrier.
    known: [Known; 2],
    /// What relaxed loads have read that was released: known after an acquire fence.
    read: [Known; 2],
    /// What its last release fence published: later relaxed stores carry it.
    fence: Option<Release>,
    /// The address of its last atomic load. A store to it that follows at once belongs to the same operation.
    loaded: Option<u64>,
}

/// The index of what is kept apart for local and global memory.
const LOCAL: usize = 0;
const GLOBAL: usize = 1;

/// Watches a launch for data races.
pub struct RaceDetector {
    range: NdRange,
    /// The running group.
    group: u32,
    /// Address and size of its local memory.
    local: Vec<(u64, u64)>,
    /// Barriers that it has passed,
    passed: u32,
    /// and those of them up to the last one that orders this memory.
    ordered: [u32; 2],
    /// Those that do not order all memory, with how many were passed before.
    weak: Vec<(u32, WeakBarrier)>,
    /// What all its work-items know, because some of them knew it at a barrier.
    base: [Known; 2],
    items: BTreeMap<u32, Item>,
    history: History,
    /// The places of accesses, and their numbers.
    sites: Vec<Site>,
    by_site: FxHashMap<Site, u32>,
    /// The number of the access, and of the last one that each race was counted for.
    access: u64,
    counted: Vec<u64>,
    releases: FxHashMap<u64, Release>,
    races: Vec<Race>,
    /// The races by their places: numbers in the list, and the last group.
    by_place: FxHashMap<(Span, Span, bool, bool), (usize, u32)>,
    /// The asynchronous copies of the group that were waited for, by their events,
    ended: FxHashSet<u64>,
    /// those that some work-item waits for: all have waited when the barrier of the wait is passed,
    ending: Vec<u64>,
    /// and those that were begun.
    open: Vec<OpenCopy>,
    /// Those that were never waited for.
    not_waited: Vec<OpenCopy>,
}

impl RaceDetector {
    /// A detector for a launch over a range.
    pub fn new(range: NdRange) -> RaceDetector {
        RaceDetector {
            range,
            group: 0,
            local: Vec::new(),
            passed: 0,
            ordered: [0; 2],
            weak: Vec::new(),
            base: Default::default(),
            items: BTreeMap::new(),
            history: History::default(),
            sites: Vec::new(),
            by_site: FxHashMap::default(),
            access: 0,
            counted: Vec::new(),
            releases: FxHashMap::default(),
            races: Vec::new(),
            by_place: FxHashMap::default(),
            ended: FxHashSet::default(),
            ending: Vec::new(),
            open: Vec::new(),
            not_waited: Vec::new(),
        }
    }

    /// What was found: one race for each pair of places, in the order in which they were seen.
    pub fn races(&self) -> &[Race] {
        &self.races
    }

    /// Asynchronous copies that were not waited for when their group ended, one for each place.
    pub fn not_waited(&mut self) -> &[OpenCopy] {
        self.end_group();
        &self.not_waited
    }

    fn end_group(&mut self) {
        for open in std::mem::take(&mut self.open) {
            if self.not_waited.len() < MAX_RACES && self.not_waited.iter().all(|o| o.at.span != open.at.span) {
                self.not_waited.push(open);
            }
        }
    }

    /// A work-item begins an asynchronous copy with this event.
    pub fn copy_begins(&mut self, event: u64, at: &Point) {
        if self.open.iter().all(|o| o.event != event) {
            self.open.push(OpenCopy { event, at: *at, group: self.group });
        }
    }

    /// A work-item waits for asynchronous copies.
    pub fn copies_end(&mut self, events: &[u64]) {
        self.ending.extend(events);
    }

    /// An access of an asynchronous copy: whichever work-item makes it here, another one may on a device, and at any
    /// time before the wait.
    pub fn copy_access(&mut self, access: &Access, event: u64) {
        self.record(access, &[], Some(event));
    }

    /// The linear number of a work-item in the range.
    fn number(&self, item: [u64; 3]) -> u32 {
        let at = |d: usize| item[d] - self.range.offset[d];
        let [x, y, _] = self.range.global;
        // Launches of so many work-items are not interpreted.
        (at(0) + x * (at(1) + y * at(2))) as u32
    }

    /// The global id of a work-item by its number.
    fn item(&self, number: u32) -> [u64; 3] {
        let [x, y, _] = self.range.global.map(|n| n.max(1));
        let n = u64::from(number);
        let at = [n % x, n / x % y, n / (x * y)];
        std::array::from_fn(|d| at[d] + self.range.offset[d])
    }

    /// The point that a work-item has reached.
    fn now(&self, item: u32) -> Stamp {
        let releases = self.items.get(&item).map_or(0, |item| item.releases);
        Stamp { group: self.group, item, interval: self.passed, releases }
    }

    /// The first barrier after an earlier point of the group, if it does not order all memory.
    fn weak_barrier(&self, earlier: &Stamp) -> Option<WeakBarrier> {
        let first = self.weak.partition_point(|(passed, _)| *passed < earlier.interval);
        self.weak.get(first).filter(|_| earlier.group == self.group).map(|(_, barrier)| *barrier)
    }

    /// Whether something happened before what a work-item does now.
    fn is_ordered(&self, (earlier, by): (&Stamp, &Site), (now, site): (&Stamp, &Site), memory: usize) -> bool {
        if let Some(copy) = by.copy
            && earlier.group == now.group
        {
            // Only the wait ends a copy, not a barrier.
            return site.copy == Some(copy) || self.ended.contains(&copy);
        }
        earlier.item == now.item && site.copy.is_none()
            || earlier.group == now.group && earlier.interval < self.ordered[memory]
            || self.base[memory].has(earlier)
            || self.items.get(&now.item).is_some_and(|item| item.known[memory].has(earlier))
    }

    /// All that a work-item knows now, and its own actions.
    fn snapshot(&mut self, item: u32, scope: Scope) -> Release {
        let mut known = self.base.clone();
        for (memory, known) in known.iter_mut().enumerate() {
            // What the group did before the last barrier that orders this memory is known.
            known.learn(&Stamp { interval: self.ordered[memory], ..self.now(item) });
        }
        let state = self.items.entry(item).or_default();
        for (known, own) in known.iter_mut().zip(&state.known) {
            known.join(own);
        }
        state.releases += 1;
        Release { known, scope, group: self.group }
    }

    /// The order that an atomic access establishes.
    fn synchronise(&mut self, access: &Access, item: u32, (order, scope): (Order, Scope)) {
        let acquires = matches!(order, Order::Acquire | Order::AcqRel | Order::SeqCst);
        let releases = matches!(order, Order::Release | Order::AcqRel | Order::SeqCst);
        let group = self.group;
        if access.kind == AccessKind::Load {
            let state = self.items.entry(item).or_default();
            state.loaded = Some(access.address);
            if let Some(release) = self.releases.get(&access.address)
                && includes(release.scope, scope, release.group == group)
            {
                let into = if acquires { &mut state.known } else { &mut state.read };
                for (into, known) in into.iter_mut().zip(&release.known) {
                    into.join(known);
                }
            }
            return;
        }
        let is_rmw = self.items.get_mut(&item).and_then(|state| state.loaded.take()) == Some(access.address);
        let published = match releases {
            true => Some(self.snapshot(item, scope)),
            false => self.items.get(&item).and_then(|state| state.fence.clone()),
        };
        match (published, self.releases.get_mut(&access.address)) {
            // An operation that reads and writes continues the release sequence of what it read.
            (Some(new), Some(old)) if is_rmw => {
                for (old, new) in old.known.iter_mut().zip(&new.known) {
                    old.join(new);
                }
                (old.scope, old.group) = (old.scope.min(new.scope), group);
            }
            (Some(new), _) => {
                self.releases.insert(access.address, new);
            }
            (None, Some(_)) if !is_rmw => {
                self.releases.remove(&access.address);
            }
            (None, _) => {}
        }
    }

    fn found(&mut self, pair: [(Event, bool); 2], is_local: bool, address: u64) {
        let [(first, first_writes), (second, second_writes)] = pair;
        let between_groups = first.stamp.group != second.stamp.group;
        let same_value = first_writes && second_writes && first.value.is_some() && first.value == second.value;
        let spans = [first, second].map(|e| self.sites[e.site as usize].span);
        let key = (spans[0].min(spans[1]), spans[0].max(spans[1]), is_local, between_groups);
        let barrier = self.weak_barrier(&first.stamp);
        let [first, second] = [self.party(first, first_writes), self.party(second, second_writes)];
        // No barrier orders a copy.
        let barrier = barrier.filter(|_| !first.is_copy && !second.is_copy);
        let new = Race { is_local, between_groups, first, second, address, same_value, barrier, count: 1, groups: 1 };
        if let Some((n, last)) = self.by_place.get_mut(&key) {
            let race = &mut self.races[*n];
            // Once for an access, however many words it has.
            if self.counted[*n] != self.access {
                self.counted[*n] = self.access;
                race.count += 1;
            }
            race.groups += u64::from(*last != self.group);
            *last = self.group;
            if new.harm() > race.harm() {
                *race = Race { count: race.count, groups: race.groups, ..new };
            }
        } else if self.races.len() < MAX_RACES {
            self.by_place.insert(key, (self.races.len(), self.group));
            self.counted.push(self.access);
            self.races.push(new);
        }
    }

    fn party(&self, e: Event, writes: bool) -> Party {
        let site = &self.sites[e.site as usize];
        let at = Point {
            item: self.item(e.stamp.item),
            span: site.span,
            calls: site.calls,
            iteration: e.iteration.map(u64::from),
        };
        Party { writes, atomic: site.atomic, is_copy: site.copy.is_some(), size: site.size, at }
    }

    /// The number of a place.
    fn site(&mut self, site: Site) -> u32 {
        let next = self.sites.len() as u32;
        let number = *self.by_site.entry(site).or_insert(next);
        if number == next {
            self.sites.push(site);
        }
        number
    }

    /// Compares an access with earlier ones, and keeps it. `stored` are the bytes of a store.
    fn record(&mut self, access: &Access, stored: &[u8], copy: Option<u64>) {
        // A generic pointer has the tag of its address space in the highest bits.
        let access = &Access { address: access.address & Space::ADDRESS_MASK, ..*access };
        let item = self.number(access.at.item);
        let begins_in = |&(address, size): &(u64, u64)| access.address.wrapping_sub(address) < size;
        let is_local = self.local.iter().any(begins_in);
        let memory = if is_local { LOCAL } else { GLOBAL };
        self.access += 1;
        let stamp = self.now(item);
        let Point { span, calls, iteration, .. } = access.at;
        let site = Site { span, calls, size: access.size, atomic: access.atomic, copy };
        let number = self.site(site);
        let writes = access.kind == AccessKind::Store;
        let mut races = Vec::new();
        // The history is apart while what is known of the order is asked for.
        let mut history = std::mem::take(&mut self.history);
        history.visit(access.address, access.size, |at, unit, cell| {
            let value = stored.get(at as usize..(at + unit) as usize);
            let value = value.map(|bytes| bytes.iter().rev().fold(0, |x, &b| x << 8 | u32::from(b)));
            let iteration = iteration.and_then(|n| u32::try_from(n).ok());
            let event = Event { stamp, site: number, iteration, value };
            let races_with = |earlier: &Event| {
                let by = &self.sites[earlier.site as usize];
                let same_group = earlier.stamp.group == stamp.group;
                let both = by.atomic.zip(site.atomic);
                let both_atomic = both.is_some_and(|((_, a), (_, b))| includes(a, b, same_group));
                !both_atomic && !self.is_ordered((&earlier.stamp, by), (&stamp, &site), memory)
            };
            if let Some(earlier) = cell.conflicts(writes).find(|(earlier, _)| races_with(earlier)) {
                races.push((earlier, event, access.address + at));
            }
            let is_other = |e: &Event| e.stamp.item != item || self.sites[e.site as usize].copy != copy;
            cell.add(event, writes, site.atomic.is_some(), is_other);
        });
        self.history = history;
        for (earlier, event, address) in races {
            self.found([earlier, (event, writes)], is_local, address);
        }
        // A release orders what came before it, and an acquire what comes after it: not the acquire itself, which in
        // another order of the work-items reads before what it has read is written.
        if let Some(atomic) = access.atomic {
            self.synchronise(access, item, atomic);
        }
    }
}

/// Whether the scopes of two operations include both work-items.
fn includes(a: Scope, b: Scope, same_group: bool) -> bool {
    a.min(b) >= if same_group { Scope::SubGroup } else { Scope::Device }
}

impl Observer for RaceDetector {
    fn group(&mut self, group: [u64; 3], local: &[(u64, u64)]) {
        let [x, y, _] = self.range.groups();
        self.group = (group[0] + x * (group[1] + y * group[2])) as u32;
        self.local = local.to_vec();
        (self.passed, self.ordered) = (0, [0; 2]);
        self.weak.clear();
        self.base = Default::default();
        self.items.clear();
        self.end_group();
        self.ended.clear();
        self.ending.clear();
    }

    fn barrier(&mut self, _group: [u64; 3], memory: BarrierMemory, span: Span) {
        self.ended.extend(self.ending.drain(..));
        self.open.retain(|open| !self.ended.contains(&open.event));
        let orders = [
            matches!(memory, BarrierMemory::Local | BarrierMemory::Both),
            matches!(memory, BarrierMemory::Global | BarrierMemory::Both),
        ];
        if memory != BarrierMemory::Both && self.weak.len() < MAX_WEAK {
            self.weak.push((self.passed, WeakBarrier { memory, span }));
        }
        self.passed += 1;
        for memory in (0..2).filter(|&memory| orders[memory]) {
            self.ordered[memory] = self.passed;
            for item in self.items.values_mut().filter(|item| !item.known[memory].is_empty()) {
                self.base[memory].join(&std::mem::take(&mut item.known[memory]));
            }
        }
    }

    fn freed(&mut self, address: u64) {
        self.history.forget(address);
    }

    fn fence(&mut self, item: [u64; 3], order: Order, scope: Scope, _span: Span) {
        let item = self.number(item);
        if matches!(order, Order::Acquire | Order::AcqRel | Order::SeqCst) {
            let state = self.items.entry(item).or_default();
            for (known, read) in state.known.iter_mut().zip(&mut state.read) {
                known.join(&std::mem::take(read));
            }
        }
        if matches!(order, Order::Release | Order::AcqRel | Order::SeqCst) {
            let fence = self.snapshot(item, scope);
            self.items.entry(item).or_default().fence = Some(fence);
        }
    }

    fn access(&mut self, access: &Access) {
        self.record(access, &[], None);
    }

    fn stored(&mut self, access: &Access, bytes: &[u8]) {
        self.record(access, bytes, None);
    }
}
