//! Which private arrays can become values, and in which slots.

use cloom_ir::cfg::Cfg;
use cloom_ir::{Entity, Flags, Function, Inst, Op, Scalar, Type, Value};
use rustc_hash::FxHashSet;

/// A range of bytes of an array that is accessed apart from the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub offset: u64,
    /// The type of its value; parts of it are lanes.
    pub ty: Type,
}

impl Slot {
    pub fn size(&self) -> u64 {
        u64::from(self.ty.bytes())
    }
}

/// An offset in an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    pub array: usize,
    pub offset: u64,
}

/// The result of the analysis.
#[derive(Default)]
pub(super) struct Slots {
    /// All slots; those of one array are adjacent, in order of offset.
    pub list: Vec<Slot>,
    /// The range in `list` of each array that becomes values.
    arrays: Vec<Option<(usize, usize)>>,
    /// Where a pointer points, by value index.
    locations: Vec<Option<Location>>,
}

impl Slots {
    /// Where a pointer into an array that becomes values points.
    pub fn location(&self, v: Value) -> Option<Location> {
        let location = (*self.locations.get(v.index())?)?;
        self.arrays[location.array].map(|_| location)
    }

    /// The slot that has the byte.
    pub fn slot_at(&self, location: Location) -> Option<usize> {
        self.slots_in(location, 1).next()
    }

    /// The slots within the range.
    pub fn slots_in(&self, location: Location, size: u64) -> impl Iterator<Item = usize> + use<> {
        let (start, end) = self.arrays[location.array].unwrap_or((0, 0));
        let list = &self.list[start..end];
        let first = list.partition_point(|s| s.offset + s.size() <= location.offset);
        let last = list.partition_point(|s| s.offset < location.offset.saturating_add(size));
        start + first..start + last.max(first)
    }
}

/// An array with more slots than this stays in memory.
const MAX_SLOTS: usize = 512;
/// A slot has at most so many parts.
const MAX_PARTS: u64 = 16;

struct Array {
    size: u64,
    good: bool,
    /// Typed accesses: offset and type.
    accesses: FxHashSet<(u64, Type)>,
    /// Ranges that are set or copied as a whole.
    ranges: Vec<(u64, u64)>,
}

struct Copy {
    to: Option<Location>,
    from: Option<Location>,
    size: u64,
}

struct Finder<'a> {
    func: &'a Function,
    locations: Vec<Option<Location>>,
    arrays: Vec<Array>,
    copies: Vec<Copy>,
}

pub(super) fn find(func: &Function) -> Slots {
    let mut finder = Finder { func, locations: vec![None; func.values.len()], arrays: Vec::new(), copies: Vec::new() };
    let cfg = Cfg::new(func);
    // In reverse postorder, a pointer has its location before its uses are looked at.
    for &b in cfg.rpo() {
        for &i in &func.blocks[b].insts {
            finder.look_at(i);
        }
        func.blocks[b].term.for_each_use(|v| finder.spoil(v));
    }
    // Each further round takes one array out at least.
    loop {
        finder.spread_copies();
        let mut stable = true;
        let mut slots = Slots { locations: Vec::new(), ..Slots::default() };
        for k in 0..finder.arrays.len() {
            let found = if finder.arrays[k].good { split(&finder.arrays[k]) } else { None };
            slots.arrays.push(found.map(|list| {
                let start = slots.list.len();
                slots.list.extend(list);
                (start, slots.list.len())
            }));
            // An array that cannot be split stays in memory, and then the arrays that are copied from or to it must be
            // looked at again.
            if finder.arrays[k].good && slots.arrays[k].is_none() {
                finder.arrays[k].good = false;
                stable = false;
            }
        }
        // If one array stays in memory, arrays copied from or to it need slots for every byte.
        if stable {
            slots.locations = finder.locations;
            return slots;
        }
    }
}

impl Finder<'_> {
    /// The array is used in a way that needs its address.
    fn spoil(&mut self, v: Value) {
        if let Some(location) = self.locations[v.index()] {
            self.arrays[location.array].good = false;
        }
    }

    fn access(&mut self, location: Location, ty: Type) {
        let array = &mut self.arrays[location.array];
        let inside = location.offset.checked_add(ty.bytes().into()).is_some_and(|end| end <= array.size);
        array.good &= inside;
        if inside {
            array.accesses.insert((location.offset, ty));
        }
    }

    fn range(&mut self, location: Location, size: u64) {
        let array = &mut self.arrays[location.array];
        array.good &= location.offset.checked_add(size).is_some_and(|end| end <= array.size);
        array.ranges.push((location.offset, size));
    }

    fn look_at(&mut self, i: Inst) {
        let data = &self.func.insts[i];
        if let (Op::Alloca { size, .. }, Some(r)) = (&data.op, data.result) {
            self.locations[r.index()] = Some(Location { array: self.arrays.len(), offset: 0 });
            self.arrays.push(Array { size: *size, good: true, accesses: FxHashSet::default(), ranges: Vec::new() });
            return;
        }
        let Some(location) = data.args.iter().find_map(|a| self.locations[a.index()]) else { return };
        let plain = !data.flags.contains(Flags::VOLATILE);
        match (&data.op, data.result) {
            (Op::PtrAdd, Some(r)) => match self.func.const_bits(data.args[1]) {
                Some(c) => {
                    self.locations[r.index()] = Some(Location { offset: location.offset.wrapping_add(c), ..location });
                }
                // An index that is no constant: `a[i]` may be any slot.
                None => self.spoil(data.args[0]),
            },
            (Op::Load { .. }, Some(r)) if plain => self.access(location, self.func.ty(r)),
            (Op::Store { .. }, _) if plain => {
                // What is stored may be the address of another array, which then stays.
                self.spoil(data.args[1]);
                if let Some(to) = self.locations[data.args[0].index()] {
                    self.access(to, self.func.ty(data.args[1]));
                }
            }
            (Op::MemSet { size, .. }, _) if plain => self.range(location, *size),
            (Op::MemCopy { size, .. }, _) if plain => {
                let (to, from) = (self.locations[data.args[0].index()], self.locations[data.args[1].index()]);
                for location in [to, from].into_iter().flatten() {
                    self.range(location, *size);
                }
                self.copies.push(Copy { to, from, size: *size });
            }
            _ => {
                for &a in &data.args {
                    self.spoil(a);
                }
            }
        }
    }

    /// Copies propagate accesses: those of one end count for the other; if the other end is memory, every byte is
    /// accessed.
    fn spread_copies(&mut self) {
        let copies = std::mem::take(&mut self.copies);
        // A copy may carry on what another copy brought, so this runs until nothing changes. The number of slots
        // bounds it.
        let mut changed = true;
        while changed {
            changed = false;
            for c in &copies {
                let good = |p: &Location| self.arrays[p.array].good;
                match (c.to.filter(good), c.from.filter(good)) {
                    // In both directions, so that both ends are split at the same places, and slot can be copied to
                    // slot.
                    (Some(a), Some(b)) => {
                        changed |= self.spread(a, b, c.size);
                        changed |= self.spread(b, a, c.size);
                    }
                    (Some(a), None) | (None, Some(a)) => changed |= self.fill(a, c.size),
                    (None, None) => {}
                }
            }
        }
        self.copies = copies;
    }

    fn spread(&mut self, from: Location, to: Location, size: u64) -> bool {
        let moved: Vec<(u64, Type)> = self.arrays[from.array]
            .accesses
            .iter()
            .filter(|(at, ty)| *at >= from.offset && at + u64::from(ty.bytes()) <= from.offset + size)
            .map(|&(at, ty)| (at - from.offset + to.offset, ty))
            .collect();
        let target = &mut self.arrays[to.array];
        let before = target.accesses.len();
        target.accesses.extend(moved);
        // Several accesses may share a slot, so the bound is looser than that of slots. It also ends the rounds of
        // `spread_copies`.
        target.good &= target.accesses.len() <= 2 * MAX_SLOTS;
        target.accesses.len() != before
    }

    /// Adds slots for bytes of the range that no access covers, as large as alignment allows.
    fn fill(&mut self, location: Location, size: u64) -> bool {
        let array = &mut self.arrays[location.array];
        let mut taken: Vec<(u64, u64)> =
            array.accesses.iter().map(|&(at, ty)| (at, at + u64::from(ty.bytes()))).collect();
        taken.sort_unstable();
        let (mut at, end) = (location.offset, location.offset + size);
        let mut holes = Vec::new();
        for (from, to) in taken.into_iter().chain([(end, end)]) {
            while at < from.min(end) && holes.len() < MAX_SLOTS {
                let room = from.min(end) - at;
                // Pieces are aligned to their size within the array.
                let piece = 8u64.min(1 << at.trailing_zeros().min(3)).min(1 << room.ilog2());
                holes.push((at, Type::scalar(Scalar::int(piece as u32 * 8).unwrap_or(Scalar::I8))));
                at += piece;
            }
            at = at.max(to);
        }
        array.accesses.extend(holes.iter().copied());
        array.good &= array.accesses.len() <= 2 * MAX_SLOTS;
        !holes.is_empty() && array.good
    }
}

/// The slots of an array, if it can be split.
fn split(array: &Array) -> Option<Vec<Slot>> {
    let mut accesses: Vec<(u64, Type)> = array.accesses.iter().copied().collect();
    // Sorted, since the order of a hash set must not show in the code.
    accesses.sort_unstable();
    let mut slots = Vec::new();
    let mut i = 0;
    while i < accesses.len() {
        let start = accesses[i].0;
        let mut end = start;
        let mut j = i;
        // Accesses that overlap, directly or through others, are one slot: a `float4` and its four components, for
        // instance.
        while j < accesses.len() && (accesses[j].0 < end || j == i) {
            end = end.max(accesses[j].0 + u64::from(accesses[j].1.bytes()));
            j += 1;
        }
        slots.push(slot_of(&accesses[i..j], start, end)?);
        i = j;
    }
    // A slot must be set or copied as a whole, or not at all.
    let whole = |&(at, size): &(u64, u64)| {
        slots.iter().all(|s| {
            let (from, to) = (s.offset, s.offset + s.size());
            to <= at || from >= at + size || from >= at && to <= at + size
        })
    };
    (slots.len() <= MAX_SLOTS && array.ranges.iter().all(whole)).then_some(slots)
}

/// One slot for accesses that overlap.
fn slot_of(accesses: &[(u64, Type)], start: u64, end: u64) -> Option<Slot> {
    let size = end - start;
    let vector_of_pointers = |t: &Type| t.is_ptr() && t.is_vector();
    if accesses.iter().all(|&(_, ty)| u64::from(ty.bytes()) == size) {
        // Vectors of pointers have no bitcast.
        if accesses.iter().any(|(_, ty)| vector_of_pointers(ty)) && accesses.len() > 1 {
            return None;
        }
        return Some(Slot { offset: start, ty: accesses[0].1 });
    }
    // A pointer is not made of parts.
    if accesses.iter().any(|(_, ty)| ty.is_ptr()) {
        return None;
    }
    // The largest part that all offsets and sizes are multiples of.
    let bits = accesses.iter().fold(8, |m, &(at, ty)| m | (at - start) | u64::from(ty.bytes()));
    let part = 1u64 << bits.trailing_zeros();
    let lanes = size / part;
    if lanes > MAX_PARTS {
        return None;
    }
    // A scalar that some access names, so that fewer bitcasts are needed.
    let named = accesses.iter().map(|&(_, ty)| ty.scalar).find(|s| u64::from(s.bytes()) == part);
    let scalar = named.or(Scalar::int(part as u32 * 8))?;
    Some(Slot { offset: start, ty: Type::vector(scalar, lanes as u16) })
}
