//! Software prefetch for scattered accesses, where a kernel does little else.
//!
//! In comes the function of a work-item of a kernel that [`crate::cost`] found to scatter; out goes one that, before it
//! accesses an address that it computes from its id alone, prefetches the address that a later work-item will access:
//!
//! ```c
//! const uint i = get_global_id(0) * 2654435761u & size - 1;
//! a[i] += 1;          // before: prefetch a[(get_global_id(0) + 128) * 2654435761u & size - 1]
//! ```
//!
//! No hardware prefetcher foresees such addresses, and a core has fewer misses under way by itself than memory could
//! serve. (3 M floats far apart, on two cores that share their third cache with others: 10 ms; with prefetches 32, 64
//! and 128 work-items ahead 6, 4 and 2.3.)
//!
//! Addresses are computed twice, which costs little beside a miss, but pays only where there are misses. So the
//! addresses of a few work-items are evaluated here, with likely sizes, to see how far apart they are. (S. Ainsworth
//! and T. M. Jones, "Software Prefetching for Indirect Memory Accesses", CGO 2017, without the loads on the way.)

use crate::params::Param;
use cloom_ir::eval;
use cloom_ir::{
    BinOp, Block, Builder, CastOp, CloneMap, Flags, Function, Inst, Op, Query, Scalar, Space, Span, Value, ValueDef,
};
use rustc_hash::FxHashMap;

/// How many work-items ahead.
const DISTANCE: u64 = 128;

/// At most so many accesses of a function get prefetches.
const MAX_ACCESSES: usize = 4;

/// Instructions that are computed twice for an address, at most.
const MAX_INSTS: usize = 32;

/// Work-items whose addresses are evaluated,
const SAMPLE: u64 = 64;

/// the value of each size that only the launch tells,
const LIKELY: u64 = 1 << 22;

/// and how many different pages of 2^12 bytes the addresses must be on: closer ones are in a cache soon.
const MIN_PAGES: usize = SAMPLE as usize / 2;
const PAGE_BITS: u32 = 12;

/// An access that gets a prefetch.
struct Access {
    block: Block,
    inst: Inst,
    /// What computes its address, each instruction after those that it uses.
    slice: Vec<Inst>,
}

/// Adds the prefetches. Gives where in the source the accesses are.
pub fn run(func: &mut Function, params: &[Param]) -> Vec<Span> {
    let params: FxHashMap<Value, Param> = func.param_values().iter().copied().zip(params.iter().copied()).collect();
    let mut accesses: Vec<Access> = Vec::new();
    for (block, &inst) in func.layout.iter().flat_map(|&b| func.blocks[b].insts.iter().map(move |i| (b, i))) {
        let data = &func.insts[inst];
        let (Op::Load { .. } | Op::Store { .. }) = data.op else { continue };
        let p = data.args[0];
        // `a[i] += 1` is a load and a store of one line.
        let is_known = accesses.iter().any(|a| func.insts[a.inst].args[0] == p);
        if is_known || accesses.len() == MAX_ACCESSES || func.ty(p).space() != Some(Space::Global) {
            continue;
        }
        let mut slice = Slice { func, params: &params, insts: Vec::new() };
        if slice.add(p) && slice.is_scattered(p) {
            accesses.push(Access { block, inst, slice: slice.insts });
        }
    }
    for access in &accesses {
        write(func, &params, access);
    }
    accesses.iter().map(|a| func.insts[a.inst].span).collect()
}

/// Writes a prefetch before an access, with the instructions that compute its address for a later work-item.
fn write(func: &mut Function, params: &FxHashMap<Value, Param>, access: &Access) {
    let &Access { block, inst, ref slice } = access;
    let at = func.blocks[block].insts.iter().position(|&i| i == inst).unwrap_or(0);
    let rest = func.blocks[block].insts.split_off(at);
    let (p, span) = (func.insts[inst].args[0], func.insts[inst].span);
    let mut later = CloneMap::default();
    let mut b = Builder { span, ..Builder::new(func, block) };
    for &id in params.iter().filter(|(_, p)| is_id(**p)).map(|(id, _)| id) {
        // Beyond the last work-item, too: a prefetch of any address is harmless.
        let by = b.iconst(b.ty(id), DISTANCE);
        // The id of a later work-item; all else that the address is made of is the same for the group.
        let sum = b.binary(BinOp::Add, id, by);
        later.values.insert(id, sum);
    }
    for &i in slice {
        let copy = later.clone_inst(func, i, block);
        // What the source promises of this work-item, it does not promise of the later one.
        func.insts[copy].flags = Flags::empty();
    }
    let mut b = Builder { span, ..Builder::new(func, block) };
    // A scattered address depends on the id, so that it has a copy.
    b.prefetch(later.value(p));
    func.blocks[block].insts.extend(rest);
}

/// Whether it grows by one from work-item to work-item.
fn is_id(p: Param) -> bool {
    matches!(p, Param::LocalId(0) | Param::GlobalId(0))
}

/// What computes an address from the work-item's id and what is the same for the group (a backward slice).
struct Slice<'a> {
    func: &'a Function,
    params: &'a FxHashMap<Value, Param>,
    /// Each after those that it uses.
    insts: Vec<Inst>,
}

impl Slice<'_> {
    /// Adds what computes a value. False if it cannot be computed for another work-item.
    fn add(&mut self, v: Value) -> bool {
        let i = match self.func.values[v].def {
            ValueDef::Param(..) => return self.params.get(&v).is_some_and(|p| p.is_shared() || is_id(*p)),
            ValueDef::Inst(i) => i,
        };
        if self.insts.contains(&i) {
            return true;
        }
        let data = &self.func.insts[i];
        let pure = match data.op {
            Op::Const(_) | Op::PtrAdd | Op::Select | Op::Icmp(_) => true,
            Op::Cast(op) => matches!(op, CastOp::Trunc | CastOp::Zext | CastOp::Sext),
            // Another work-item's divisor may be zero.
            Op::Binary(BinOp::Udiv | BinOp::Urem) => self.func.const_bits(data.args[1]).is_some_and(|by| by != 0),
            Op::Binary(BinOp::Sdiv | BinOp::Srem) => false,
            Op::Binary(_) => data.result.is_some_and(|r| self.func.ty(r).is_int()),
            _ => false,
        };
        pure && data.result.is_some_and(|r| self.func.ty(r).lanes == 1)
            && data.args.iter().all(|&a| self.add(a))
            // After its operands, so that the order is that of computation.
            && self.insts.len() < MAX_INSTS
            && {
                self.insts.push(i);
                true
            }
    }

    /// Whether the addresses of neighbouring work-items are far apart.
    fn is_scattered(&self, p: Value) -> bool {
        // Addresses of neighbouring work-items, as they would be with sizes that are typical.
        let mut pages: Vec<u64> = (0..SAMPLE).map(|id| self.address(p, id) >> PAGE_BITS).collect();
        pages.sort_unstable();
        pages.dedup();
        pages.len() >= MIN_PAGES
    }

    /// The address for a work-item, if buffers begin at 0 and sizes are likely ones.
    fn address(&self, p: Value, id: u64) -> u64 {
        let mut known: FxHashMap<Value, u64> = FxHashMap::default();
        let bits = |known: &FxHashMap<Value, u64>, v: Value| {
            known.get(&v).copied().unwrap_or_else(|| match self.params.get(&v) {
                Some(&p) if is_id(p) => id,
                Some(Param::Query(Query::GlobalSize, 0)) => LIKELY,
                Some(Param::Kernel(_)) if self.func.ty(v).scalar.is_int() => LIKELY,
                _ => 0,
            })
        };
        for &i in &self.insts {
            let data = &self.func.insts[i];
            let Some(r) = data.result else { continue };
            let of = |k: usize| data.args.get(k).map_or(0, |&a| bits(&known, a));
            let ty = |v: Value| self.func.ty(v).scalar;
            let first = data.args.first().map_or(Scalar::I64, |&a| ty(a));
            let made = match data.op {
                Op::PtrAdd => of(0).wrapping_add(of(1)),
                Op::Select if of(0) & 1 == 1 => of(1),
                Op::Select => of(2),
                Op::Icmp(cc) => u64::from(eval::icmp(cc, first, of(0), of(1))),
                Op::Cast(op) => eval::cast(op, first, ty(r), of(0)),
                Op::Binary(op) => eval::binary(op, ty(r), of(0), of(1)),
                _ => self.func.const_bits(r).unwrap_or(0),
            };
            known.insert(r, made);
        }
        bits(&known, p)
    }
}
