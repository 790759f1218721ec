//! Hints of what later work-items touch, where a kernel does little but touch memory far apart.
//!
//! In comes the function of a work-item of a kernel that [`crate::cost`] found to scatter; out goes one that, where it
//! reads or writes at a place that it computes from its id alone, says at which place a later work-item will:
//!
//! ```c
//! const uint i = get_global_id(0) * 2654435761u & size - 1;
//! a[i] += 1;          // says before: soon a[(get_global_id(0) + 128) * 2654435761u & size - 1]
//! ```
//!
//! No processor foresees such places, and what it has under way by itself is less than memory could serve. (3 M floats
//! far apart, on two cores that share their third cache with others: 10 ms, with hints 32, 64 and 128 work-items
//! before 6, 4 and 2.3.)
//!
//! The places are computed twice, which costs little beside a miss, but pays only where misses are: so a few
//! work-items' places are computed here, with likely sizes, to see how far apart they are. (Software prefetching for
//! indirect accesses, as Ainsworth and Jones describe it, without the loads on the way.)

use crate::split::continuation_fn::Param;
use cloom_ir::eval;
use cloom_ir::{BinOp, Block, Builder, CastOp, Function, Inst, Op, Query, Scalar, Space, Span, Value, ValueDef};
use rustc_hash::FxHashMap;

/// So many work-items later.
const LATER: u64 = 128;

/// So many places get hints.
const PLACES: usize = 4;

/// Instructions that are computed twice for a place, at most.
const MAX_INSTS: usize = 32;

/// Work-items whose places are looked at,
const SAMPLE: u64 = 64;

/// how large everything is for that which only the launch tells,
const LIKELY: u64 = 1 << 22;

/// and the pages that they should be on, at least, of so many bytes: closer ones are in a cache soon.
const PAGES: (usize, u32) = (SAMPLE as usize / 2, 12);

/// Adds the hints. Gives where in the source they are.
pub fn hint(func: &mut Function, params: &[Param]) -> Vec<Span> {
    let ids: FxHashMap<Value, Param> = func.param_values().iter().copied().zip(params.iter().copied()).collect();
    let mut places: Vec<(Block, Inst, Vec<Inst>)> = Vec::new();
    for &block in &func.layout {
        for &i in &func.blocks[block].insts {
            let data = &func.insts[i];
            let (Op::Load { .. } | Op::Store { .. }) = data.op else { continue };
            let p = data.args[0];
            let known = places.iter().any(|&(_, other, _)| func.insts[other].args[0] == p);
            if known || places.len() == PLACES || func.ty(p).space() != Some(Space::Global) {
                continue;
            }
            let mut slice = Slice { func, params: &ids, insts: Vec::new() };
            if slice.add(p) && slice.is_far(p) {
                places.push((block, i, slice.insts));
            }
        }
    }
    for (block, access, insts) in &places {
        write(func, &ids, *block, *access, insts);
    }
    places.iter().map(|&(_, access, _)| func.insts[access].span).collect()
}

/// Writes a hint before an access: the instructions that make its place, for a later work-item.
fn write(func: &mut Function, params: &FxHashMap<Value, Param>, block: Block, access: Inst, insts: &[Inst]) {
    let at = func.blocks[block].insts.iter().position(|&i| i == access).unwrap_or(0);
    let behind = func.blocks[block].insts.split_off(at);
    let mut b = Builder::new(func, block);
    b.span = b.func.insts[access].span;
    let mut later = FxHashMap::default();
    for (&id, _) in params.iter().filter(|(_, p)| is_id(**p)) {
        let by = b.iconst(b.ty(id), LATER);
        let sum = b.binary(BinOp::Add, id, by);
        later.insert(id, sum);
    }
    for &i in insts {
        let data = b.func.insts[i].clone();
        let args = data.args.iter().map(|a| later.get(a).copied().unwrap_or(*a)).collect();
        // Without what the source promises of it: no promise is made for this work-item.
        let ty = data.result.map(|r| b.ty(r));
        let copy = b.func.make_inst(data.op, args, ty, Default::default(), data.span);
        b.func.blocks[block].insts.push(copy);
        if let (Some(r), Some(v)) = (data.result, b.func.insts[copy].result) {
            later.insert(r, v);
        }
    }
    let p = b.func.insts[access].args[0];
    if let Some(&place) = later.get(&p) {
        b.prefetch(place);
    }
    func.blocks[block].insts.extend(behind);
}

/// Whether it grows by one from work-item to work-item.
fn is_id(p: Param) -> bool {
    matches!(p, Param::LocalId(0) | Param::GlobalId(0))
}

/// What computes a place from the work-item's id and what is the same for all.
struct Slice<'a> {
    func: &'a Function,
    params: &'a FxHashMap<Value, Param>,
    /// Each after those that it needs.
    insts: Vec<Inst>,
}

impl Slice<'_> {
    /// Adds what a value needs. False if it cannot be computed for another work-item.
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
            && self.insts.len() < MAX_INSTS
            && {
                self.insts.push(i);
                true
            }
    }

    /// Whether neighbours' places are far apart.
    fn is_far(&self, p: Value) -> bool {
        let mut pages: Vec<u64> = (0..SAMPLE).map(|id| self.place(p, id) >> PAGES.1).collect();
        pages.sort_unstable();
        pages.dedup();
        pages.len() >= PAGES.0
    }

    /// The place of a work-item, if buffers begin at 0 and sizes are likely ones.
    fn place(&self, p: Value, id: u64) -> u64 {
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

#[cfg(test)]
mod tests {
    use cloom_ir::Op;

    /// The hints in a kernel that adds one to the float at an offset, computed in the lines before.
    fn hints(offset: &str) -> usize {
        let text = format!(
            "func external @k(ptr<global>, i64) kernel {{
  param \"p\" \"float*\" global size 8 align 8
  param \"n\" \"ulong\" value size 8 align 8
}} {{
bb0(v0: ptr<global>, v1: i64):
    v2: i64 = query global_id 0
    v3: i64 = const 0x3779b1
    v4: i64 = const 0xffffc
    v5: i64 = const 0x7c
    v6: i64 = const 0x11
{offset}
    v10: ptr<global> = ptradd v0, v9
    v11: i32 = load v10 align 4
    v12: i32 = add v11, v11
    store v10, v12 align 4
    ret
}}"
        );
        let mut module = cloom_ir::parse(&text).unwrap();
        let kernel = module.kernels().next().unwrap();
        let target = "x86_64-unknown-linux-gnu:x86-64-v3".parse().unwrap();
        let (options, passes) = Default::default();
        let made = crate::work_group_function(&mut module, kernel, options, &target, &passes).unwrap();
        let func = &module.funcs[made.func];
        let insts = func.layout.iter().flat_map(|&b| &func.blocks[b].insts);
        insts.filter(|&&i| func.insts[i].op == Op::Prefetch).count()
    }

    #[test]
    fn places_far_apart_get_a_hint_and_places_close_by_none() {
        assert_eq!(hints("    v8: i64 = mul v2, v3\n    v9: i64 = and v8, v4"), 1);
        assert_eq!(hints("    v8: i64 = mul v2, v6\n    v9: i64 = and v8, v5"), 0);
        // Divided by what may be zero for another work-item: by a number alone.
        assert_eq!(hints("    v7: i64 = mul v2, v3\n    v8: i64 = urem v7, v4\n    v9: i64 = and v8, v4"), 1);
        assert_eq!(hints("    v7: i64 = mul v2, v3\n    v8: i64 = urem v7, v2\n    v9: i64 = and v8, v4"), 0);
    }
}
