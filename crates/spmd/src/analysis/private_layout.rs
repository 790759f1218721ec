//! The layout of private arrays: how the copies of the lanes lie in memory.
//!
//! In comes the function of one work-item; out goes one of two layouts for each of its arrays.
//!
//! * *By unit*: the first unit of all lanes, then the second unit of all lanes, and so on (structure of arrays). A unit
//!   is as large as the largest access. An access at a uniform index is then one vector access if it has the size of
//!   a unit, and a strided one if it is smaller; by lane it would be in as many cache lines as there are lanes.
//! * *By lane*: one whole object for each lane, one after the other (array of structures). Addresses may be used in
//!   any way, and accesses may have any alignment.
//!
//! ```text
//! struct { int a; short b[2]; } s, 4 lanes     by unit of 4    a a a a  b0b1 b0b1 b0b1 b0b1
//!                                              by lane         a b0b1  a b0b1  a b0b1  a b0b1
//! ```
//!
//! The byte at offset `x` of lane `l`'s copy is at `x / unit * unit * lanes + l * unit + x % unit`. Each access must
//! be inside of one unit: aligned at least to its size, rounded up to a power of two. Addresses must be derived from
//! the array by `ptradd`, `select` and block parameters only, so that each is known to point into one lane's copy, and
//! be compared with each other only. Where units have several parts, an address is computed from its whole offset, so
//! it must be derived by `ptradd` alone.
//!
//! Larger accesses, copies and fills are made of accesses to units by [`crate::transform::unit_accesses`], which asks
//! [`Arrays::wanted`] for the units: those of the accesses at indices that are not constant, as loops over arrays
//! matter most.

use crate::analysis::loop_form::Unspecified;
use cloom_ir::{Entity, Flags, Function, Inst, InstData, Op, Type, Value};

/// The arrays that are laid out by unit.
#[derive(Default)]
pub struct Arrays {
    /// For each address into such an array, where it points.
    places: Vec<Option<Place>>,
}

/// An address into an array that is laid out by unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The array: the result of its `alloca`.
    pub array: Value,
    /// Bytes of a unit.
    pub unit: u32,
    /// Whether some access to the array is smaller than a unit: addresses need not be multiples of it.
    pub mixed: bool,
}

/// The largest unit of an array that is only copied.
const MAX_COPIED: u32 = 8;
/// A number that is larger than a unit has so many units at most.
const MAX_PARTS: u32 = 2;

/// What is known of an array while its uses are visited.
#[derive(Clone, Copy, Default)]
struct Uses {
    /// The size of an access, rounded up to a power of two.
    size: Option<u32>,
    /// The largest of them.
    largest: u32,
    /// Accesses have several sizes, or one that is no power of two.
    mixed: bool,
    /// The largest number that is accessed, as a whole or in a short vector.
    number: u32,
    /// The smallest.
    smallest: Option<u32>,
    /// The same of accesses at offsets that are not constant.
    indexed: u32,
    /// The least alignment of accesses with a smaller one than [`unit_of`] says.
    aligned: Option<u32>,
    /// The least alignment of copies and fills.
    copied: Option<u32>,
    /// Some address is a block parameter or selected.
    merged: bool,
    /// It is used in some other way.
    by_lane: bool,
}

impl Uses {
    /// The unit, if all uses are accesses to units.
    fn unit(&self) -> Option<u32> {
        // Copies and accesses with less alignment may cross units. Where units have parts, the address must be derived
        // by `ptradd` alone (see above).
        let fits = !self.by_lane && self.copied.is_none() && self.aligned.is_none() && !(self.merged && self.mixed);
        self.size.map(|_| self.largest).filter(|_| fits)
    }

    /// The unit that the array should have, where copies and larger accesses are made of accesses to units.
    fn wanted(&self) -> Option<u32> {
        if self.by_lane {
            return None;
        }
        if self.size.is_none() {
            // It is only copied.
            return self.copied.map(|align| align.min(MAX_COPIED));
        }
        // With accesses of several sizes, the unit is the size of those at an index, as loops matter most. Merged
        // addresses allow no parts: there it is the smallest number.
        let unit = match self.mixed || self.aligned.is_some() {
            false => self.largest,
            true if self.merged => self.smallest.unwrap_or(self.number),
            true if self.indexed > 0 => self.indexed,
            true => self.number,
        };
        // An access with less alignment than the unit would cross units.
        let unit = unit.min(self.aligned.unwrap_or(unit));
        // A number of 64 bits in units of 16 would be four accesses to put together; by lane it is one.
        (self.number <= MAX_PARTS * unit).then_some(unit)
    }
}

impl Arrays {
    /// The layout of a function's arrays. `unspecified` are values that may be anything.
    pub fn find(func: &Function, unspecified: &Unspecified) -> Arrays {
        Arrays::choose(func, unspecified, Uses::unit)
    }

    /// The layout that they should have.
    pub fn wanted(func: &Function) -> Arrays {
        Arrays::choose(func, &Unspecified::default(), Uses::wanted)
    }

    fn choose(func: &Function, unspecified: &Unspecified, unit: impl Fn(&Uses) -> Option<u32>) -> Arrays {
        let origins = origins(func, unspecified);
        if origins.is_empty() {
            return Arrays::default();
        }
        let root_of = |v: Value| match origins[v.index()] {
            Origin::Array(root) => Some(root),
            _ => None,
        };
        let mut uses = vec![Uses::default(); func.values.len()];
        for (_, data) in func.insts_in_layout() {
            // Each operand, as `memcopy` may have two addresses into arrays.
            for root in data.args.iter().filter_map(|&a| root_of(a)) {
                uses[root.array.index()].add(func, data, root, &root_of);
            }
        }
        for &b in &func.layout {
            let term = &func.blocks[b].term;
            for e in term.edges() {
                for (&arg, &param) in e.args.iter().zip(&func.blocks[e.block].params) {
                    let Some(root) = root_of(arg) else { continue };
                    let uses = &mut uses[root.array.index()];
                    // The whole offset of a block parameter is not known, so that units cannot have parts.
                    uses.merged = true;
                    // The parameter may be an address into something else, too: its accesses could not be told apart.
                    uses.by_lane |= root_of(param).is_none();
                }
            }
            // A returned address, or one that is branched on, leaves what is followed here.
            if let Some(root) = term.operand().and_then(root_of) {
                uses[root.array.index()].by_lane = true;
            }
        }
        let place = |v: usize| {
            let Origin::Array(root) = origins[v] else { return None };
            let uses = &uses[root.array.index()];
            Some(Place { array: root.array, unit: unit(uses)?, mixed: uses.mixed })
        };
        Arrays { places: (0..origins.len()).map(place).collect() }
    }

    /// Where an address points, if into an array that is laid out by unit.
    pub fn place(&self, v: Value) -> Option<Place> {
        self.places.get(v.index()).copied().flatten()
    }

    /// Bytes of a unit, if this is an address into an array that is laid out by unit.
    pub fn unit(&self, v: Value) -> Option<u32> {
        self.place(v).map(|place| place.unit)
    }
}

impl Uses {
    /// Adds a use of an address into the array.
    fn add(&mut self, func: &Function, data: &InstData, root: Root, root_of: &dyn Fn(Value) -> Option<Root>) {
        let is_same = |v: Value| root_of(v).is_some_and(|other| other.array == root.array);
        let access = match data.op {
            // Volatile accesses are done by each lane on its own, on the address that the source computes.
            _ if data.flags.contains(Flags::VOLATILE) => None,
            Op::PtrAdd => return,
            // The layout keeps the order of offsets inside one array, and only there.
            Op::Icmp(_) if data.args.iter().all(|&a| is_same(a)) => return,
            Op::Select if data.result.is_some_and(is_same) => {
                self.merged = true;
                return;
            }
            Op::Load { align } => data.result.map(|r| (func.ty(r), align)),
            // A store of the address itself lets it escape.
            Op::Store { align } if root_of(data.args[1]).is_none() => Some((func.ty(data.args[1]), align)),
            Op::MemSet { align, .. } | Op::MemCopy { align, .. } => {
                self.copied = Some(self.copied.map_or(align, |least| least.min(align)));
                return;
            }
            _ => None,
        };
        let Some((ty, align)) = access else {
            self.by_lane = true;
            return;
        };
        let unit = unit_of(ty);
        self.mixed |= ty.bytes() != unit || self.size.is_some_and(|size| size != unit);
        self.size = Some(unit);
        self.largest = self.largest.max(unit);
        let number = ty.scalar.bytes();
        self.number = self.number.max(number);
        self.smallest = Some(self.smallest.map_or(number, |least| least.min(number)));
        // Constant offsets are often those of fields that are accessed once, and indices those of loops.
        if root.indexed {
            self.indexed = self.indexed.max(number);
        }
        if align < unit {
            self.aligned = Some(self.aligned.map_or(align, |least| least.min(align)));
        }
    }
}

/// What a value is an address into.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Root {
    /// The array.
    array: Value,
    /// Whether its offset is not constant.
    indexed: bool,
}

/// What is known of where a value points, while this is found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Nothing yet.
    Unknown,
    /// It is an address into an array.
    Array(Root),
    /// It is something else, or an address into one of several arrays.
    Other,
}

impl Origin {
    /// The origin of what is one of two values.
    fn join(self, other: Origin) -> Origin {
        match (self, other) {
            (Origin::Unknown, x) | (x, Origin::Unknown) => x,
            (Origin::Array(a), Origin::Array(b)) if a.array == b.array => {
                Origin::Array(Root { indexed: a.indexed | b.indexed, ..a })
            }
            _ => Origin::Other,
        }
    }

    /// With an offset that is not constant.
    fn indexed(self) -> Origin {
        match self {
            Origin::Array(root) => Origin::Array(Root { indexed: true, ..root }),
            other => other,
        }
    }
}

/// For each value, what it points into; empty if there is no array. Optimistic: pointers that loops carry begin
/// unknown, and fall until nothing changes.
fn origins(func: &Function, unspecified: &Unspecified) -> Vec<Origin> {
    let mut origin = vec![Origin::Other; func.values.len()];
    let mut any = false;
    for (_, data) in func.insts_in_layout() {
        let Some(r) = data.result.filter(|&r| func.ty(r).is_ptr() && !func.ty(r).is_vector()) else { continue };
        origin[r.index()] = match data.op {
            Op::Alloca { .. } => Origin::Array(Root { array: r, indexed: false }),
            // Optimistic: it is an address into the array of its operand, until something else flows in.
            Op::PtrAdd | Op::Select => Origin::Unknown,
            _ => Origin::Other,
        };
        any |= matches!(data.op, Op::Alloca { .. });
    }
    if !any {
        return Vec::new();
    }
    // Pointers that come in from outside stay `Other`.
    for &b in func.layout.iter().filter(|&&b| b != func.entry()) {
        for &p in func.blocks[b].params.iter().filter(|&&p| func.ty(p).is_ptr() && !func.ty(p).is_vector()) {
            origin[p.index()] = Origin::Unknown;
        }
    }
    loop {
        let mut changed = false;
        let mut set = |origin: &mut Vec<Origin>, v: Value, new: Origin| {
            let joined = origin[v.index()].join(new);
            changed |= origin[v.index()] != joined;
            origin[v.index()] = joined;
        };
        for &b in &func.layout {
            for data in func.blocks[b].insts.iter().map(|&i| &func.insts[i]) {
                let Some(r) = data.result.filter(|r| origin[r.index()] != Origin::Other) else { continue };
                let of = |k: usize| origin[data.args[k].index()];
                let new = match data.op {
                    Op::PtrAdd if func.const_bits(data.args[1]).is_some() => of(0),
                    Op::PtrAdd => of(0).indexed(),
                    // One of two constant offsets is not constant.
                    Op::Select => of(1).join(of(2)).indexed(),
                    // An `alloca` is an address into itself from the start, and other results never are one.
                    _ => continue,
                };
                set(&mut origin, r, new);
            }
            for e in func.blocks[b].term.edges() {
                for (&arg, &p) in e.args.iter().zip(&func.blocks[e.block].params) {
                    if !unspecified.contains(&arg) && origin[p.index()] != Origin::Other {
                        let new = origin[arg.index()].indexed();
                        set(&mut origin, p, new);
                    }
                }
            }
        }
        if !changed {
            return origin;
        }
    }
}

/// The smallest unit that an access of a type fits into.
fn unit_of(ty: Type) -> u32 {
    ty.bytes().next_power_of_two()
}

/// The stride in bytes from one lane's copy to the next one's, as applied to the address of the array.
pub fn stride(func: &Function, arrays: &Arrays, alloca: Inst) -> i64 {
    let data = &func.insts[alloca];
    match (&data.op, data.result.and_then(|r| arrays.unit(r))) {
        (_, Some(unit)) => i64::from(unit),
        (&Op::Alloca { size, align, .. }, None) => object_stride(size, align),
        _ => 0,
    }
}

/// The stride in bytes between whole objects.
pub fn object_stride(size: u64, align: u32) -> i64 {
    size.max(1).next_multiple_of(u64::from(align.max(1))) as i64
}

#[cfg(test)]
mod tests {
    use super::Arrays;

    /// The unit of array `v0` of 64 bytes and the one that it should have, and whether it is accessed in several sizes.
    /// `v1` is an index; `v2` and `v3` are addresses in the array, at a constant and at that index.
    fn units(body: &str) -> (Option<u32>, Option<u32>, bool) {
        let text = format!(
            "func internal @f(i64, ptr<global>) {{
             bb0(v1: i64, v9: ptr<global>):
                 v0: ptr<private> = alloca 64 align 16
                 v4: i64 = const 0x10
                 v2: ptr<private> = ptradd v0, v4
                 v3: ptr<private> = ptradd v0, v1
                 v5: i32 = const 0x5
                 v6: i16 = const 0x5
             {body}
                 ret
             }}"
        );
        let module = cloom_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(cloom_ir::verify(&module), []);
        let func = module.funcs.values().next().unwrap();
        let array = func.insts_in_layout().find_map(|(_, data)| data.result.filter(|&r| func.ty(r).is_ptr())).unwrap();
        let (found, wanted) = (Arrays::find(func, &Default::default()), Arrays::wanted(func));
        (found.unit(array), wanted.unit(array), wanted.place(array).is_some_and(|place| place.mixed))
    }

    #[test]
    fn the_unit_is_that_of_the_accesses() {
        for (body, want) in [
            ("store v2, v5 align 4", (Some(4), Some(4), false)),
            ("v10: f32x4 = load v3 align 16", (Some(16), Some(16), false)),
            // Several sizes: what is indexed counts, else the largest number.
            ("store v2, v5 align 4\n v10: i16 = load v3 align 2", (Some(4), Some(2), true)),
            ("store v2, v6 align 2\n v10: i32 = load v3 align 4", (Some(4), Some(4), true)),
            ("v10: f64 = load v2 align 8\n v11: i32 = load v3 align 4", (Some(8), Some(4), true)),
            ("v10: f32x4 = load v2 align 16\n v11: i32 = load v0 align 4", (Some(16), Some(4), true)),
            // A vector of three has the unit of four, but is not as large.
            ("v10: f32x3 = load v3 align 16", (Some(16), Some(4), true)),
            ("v10: f32x3 = load v3 align 4", (None, Some(4), true)),
            ("v10: f32x4 = load v3 align 4", (None, Some(4), false)),
            // Copies and fills.
            ("memset 64 0 v0 align 16\n v10: i32 = load v3 align 4", (None, Some(4), false)),
            ("memset 64 0 v0 align 16", (None, Some(8), false)),
            ("memcopy 64 v0, v9 align 4", (None, Some(4), false)),
            // One of two addresses in it.
            (
                "v10: i1 = icmp eq v2, v3\n v11: ptr<private> = select v10, v2, v3\n v12: i32 = load v11 align 4",
                (Some(4), Some(4), false),
            ),
            (
                "v10: i1 = icmp eq v2, v3\n v11: ptr<private> = select v10, v2, v3\n v12: i32 = load v11 align 4
                 v13: f64 = load v0 align 8",
                (None, Some(4), true),
            ),
            // A pointer that a loop carries.
            (
                "jump bb1(v0)\n bb1(v10: ptr<private>):\n v11: ptr<private> = ptradd v10, v4
                 v12: i32 = load v10 align 4\n v13: i1 = icmp ult v11, v2\n br v13, bb1(v11), bb2\n bb2:",
                (Some(4), Some(4), false),
            ),
        ] {
            assert_eq!(units(body), want, "{body}");
        }
    }

    #[test]
    fn an_array_stays_by_lane() {
        for body in [
            // A number would be in too many units.
            "v10: i64 = load v2 align 8\n v11: i16 = load v3 align 2",
            "v10: i64 = load v2 align 2",
            "v10: i32 = load volatile v2 align 4",
            "v10: i32 = atomic_load relaxed group v2",
            // It may be another array; or it is compared with something else.
            "v7: ptr<private> = alloca 64 align 16\n v10: i1 = icmp eq v1, v4
             v11: ptr<private> = select v10, v2, v7\n v12: i32 = load v11 align 4",
            "v7: ptr<private> = inttoptr v1\n v10: i1 = icmp eq v2, v7",
            "v10: i64 = cast v2",
        ] {
            let body = body.replace("cast v2", "ptrtoint v2");
            assert_eq!(units(&body).1, None, "{body}");
        }
    }
}
