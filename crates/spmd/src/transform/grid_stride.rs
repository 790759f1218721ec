//! Grid-stride loops: the work-items of several groups take each step together (work-group batching).
//!
//! In comes a kernel that was split at its barriers; out goes, if it has such loops, one with a synthetic barrier in
//! each, at which work-items wait every few iterations.
//!
//! ```c
//! for (uint i = get_global_id(0); i < n; i += get_global_size(0))
//!     sum += data[i];
//! ```
//!
//! On a GPU all work-items take a step together, and memory is read in order. A vector of them that runs the whole
//! loop before the next one starts reads a few cache lines out of each step; the next ones that it reads are thousands
//! of bytes further on. Memory bandwidth is a third lower then, however early lines are prefetched: a core has few
//! line-fill buffers, while sequential lines are fetched by hardware. (Pieces of
//! 256 bytes, 32 KiB apart, on two cores: 29 GB/s; of 1 KiB 38, of 4 KiB 49, all in a row the same.) So the loop becomes one in
//! which all work-items do [`ITERATIONS`] iterations and wait until the others did as many; what is left at the end
//! runs the original loop. What lives across a synthetic barrier is in the frame, which costs less than memory gains
//! if it comes once in so many iterations. (A sum of 64 MiB in groups of 64, which take steps together by eights: 36
//! GB/s before,
//! 50 to 57 with barriers every eight iterations, 28 every iteration. Prefetching would slow it down by a sixth then.)
//!
//! Groups can do that together as long as none of their work-items waits anywhere else: up to the first barrier. They
//! agree on each branch there that decides where to go on, see [`crate::analysis::divergence::between_groups`]. How
//! many there are is the launcher's choice.
//!
//! What is in the caches anyway gains nothing, so short loops have no synthetic barriers. Nor do Intel's processors
//! gain: there, software prefetching ([`crate::transform::prefetch_loop`]) is as fast. (The same sums on two and on
//! sixteen cores of a Xeon: 0.77 to 1.05 times as fast with barriers, of short vectors 1.2.)

use crate::analysis::counted_loop::Counted;
use crate::analysis::divergence::{self, Divergence};
use crate::split::continuations::Barrier;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::{Loop, Loops};
use cloom_ir::{
    BinOp, Block, Builder, CastOp, Edge, Entity, Flags, Function, IntCc, Op, Query, Space, Term, Type, Value,
};
use rustc_hash::FxHashMap;

/// Iterations between two synthetic barriers.
const ITERATIONS: u64 = 8;

/// Loops that read or write more bytes with one access have pieces of memory so long that hints do as well, and better.
const MOST_BYTES: u32 = 8;

/// Loops with more instructions do so much between two iterations that memory is not what they wait for.
const MAX_INSTS: usize = 48;

/// What a work-item keeps across a synthetic barrier, in bytes: more takes longer to load and store than is gained.
const MAX_KEPT: u32 = 32;

/// Loops over fewer elements find them in the caches,
pub const MIN_ELEMENTS: u64 = 1 << 18;
/// and steps of one in so many of these are those of few work-items, which read in order as they are.
const SHORT: u64 = 1 << 10;

/// How far back expressions are followed.
const DEPTH: u32 = 8;

/// The synthetic barriers in a kernel.
pub struct GridStride {
    /// One for each loop.
    pub barriers: Vec<Barrier>,
    /// Bytes that a work-item reads or writes in a iteration, next to its neighbours': the most that any access has.
    pub bytes: u32,
}

/// Whether a kernel asks how large the grid is: one that does not has no such loops.
pub fn asks_for_grid(func: &Function) -> bool {
    let mut ops = func.layout.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i].op);
    ops.any(|op| matches!(op, Op::Query { what: Query::GlobalSize | Query::NumGroups, .. }))
}

/// Puts synthetic barriers into the loops of a kernel that was split at these barriers, if it has such loops. Loops
/// over fewer elements than `least` do get none, nor do loops with much smaller strides than that.
pub fn insert(func: &mut Function, barriers: &[Barrier], least: u64) -> Option<GridStride> {
    let strides = find(func, barriers);
    let bytes = strides.iter().map(|s| s.bytes).max()?;
    let barriers = strides.iter().map(|s| s.write(func, least)).collect();
    Some(GridStride { barriers, bytes })
}

fn find(func: &Function, barriers: &[Barrier]) -> Vec<Stride> {
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
    let candidates: Vec<Counted> = loops
        .loops
        .iter()
        .filter(|l: &&Loop| l.parent.is_none() && cfg.preds(l.header).len() == 2)
        .filter_map(|l| Counted::find(func, l))
        .collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let divergence = divergence::between_groups(func);
    let behind = behind(func, barriers);
    let first = candidates.into_iter().filter(|l| !behind[l.header.index()]);
    first.filter_map(|l| Stride::find(func, &cfg, &divergence, l)).collect()
}

/// Which blocks work-items may reach after a barrier.
fn behind(func: &Function, barriers: &[Barrier]) -> Vec<bool> {
    let mut behind = vec![false; func.blocks.len()];
    let mut stack: Vec<Block> = barriers.iter().map(|b| b.after).collect();
    while let Some(b) = stack.pop() {
        if !std::mem::replace(&mut behind[b.index()], true) {
            stack.extend(func.blocks[b].term.edges().iter().map(|e| e.block));
        }
    }
    behind
}

/// A loop whose counter begins with the work-item's place and grows by what all groups know.
struct Stride {
    l: Counted,
    /// What the counter begins with,
    init: Value,
    /// and what is added to it in each iteration, before the loop.
    step: Value,
    /// Whether the kernel computes the place itself.
    computed: bool,
    bytes: u32,
}

impl Stride {
    fn find(func: &Function, cfg: &Cfg, groups: &Divergence, l: Counted) -> Option<Stride> {
        let before = cfg.preds(l.header).iter().find(|&&p| p != l.body)?;
        let edges = func.blocks[*before].term.edges();
        let [entry] = &edges.iter().filter(|e| e.block == l.header).collect::<Vec<_>>()[..] else { return None };
        let init = entry.args[l.counter];
        let counter = func.blocks[l.header].params[l.counter];
        let next = &func.insts[func.def_inst(l.next(func, l.counter)?)?];
        let step = match (&next.op, &next.args[..]) {
            (Op::Binary(BinOp::Add), &[a, b]) if a == counter => b,
            (Op::Binary(BinOp::Add), &[a, b]) if b == counter => a,
            _ => return None,
        };
        let known = |v: Value| groups.is_uniform(v) && !l.is_inside(func, v);
        let ty = func.ty(counter);
        if !matches!(ty, Type::I32 | Type::I64) || !known(step) || !known(l.bound) || func.const_bits(step).is_some() {
            return None;
        }
        if !is_place(func, init) || l.insts(func).count() > MAX_INSTS {
            return None;
        }
        let kept = func.blocks[l.header].params.iter().filter(|&&p| p != counter).map(|&p| func.ty(p).bytes());
        if kept.sum::<u32>() > MAX_KEPT {
            return None;
        }
        let mut bytes = 0;
        for i in l.insts(func) {
            let data = &func.insts[i];
            if data.op.is_pure() {
                continue;
            }
            let is_access = matches!(data.op, Op::Load { .. } | Op::Store { .. });
            let outside = || matches!(func.ty(data.args[0]).space(), Some(Space::Global | Space::Constant));
            if !is_access || data.flags.contains(Flags::VOLATILE) || !outside() {
                return None;
            }
            // What lies elsewhere in each lane takes longer than what comes in order can gain.
            if !follows(func, &l, data.args[0], DEPTH) {
                return None;
            }
            let value = data.result.or(data.args.get(1).copied())?;
            bytes = bytes.max(func.ty(value).bytes());
        }
        (1..=MOST_BYTES).contains(&bytes).then_some(Stride {
            l,
            init,
            step,
            computed: !is_query(func, init, &[Query::GlobalId]),
            bytes,
        })
    }

    /// Writes the loop with the synthetic barrier before the one that is there.
    ///
    /// ```text
    /// before ─▶ test ─▶ barrier ┄▶ head ─▶ iterations ─▶ test_iteration ─▶ iteration ⟲
    ///             │       ▲       │                   │
    ///             │       └───────┼───────────────────┘
    ///             │               └▶ rest ─▶ header, as it was
    ///             └─────────────────────────▶ header
    /// ```
    fn write(&self, func: &mut Function, least: u64) -> Barrier {
        let &Stride { ref l, init, step, .. } = self;
        let span = func.blocks[l.header].term_span;
        let params = func.blocks[l.header].params.clone();
        let types: Vec<Type> = params.iter().map(|&p| func.ty(p)).collect();
        let ty = types[l.counter];
        let signed = matches!(l.less, IntCc::Slt | IntCc::Sle);
        let [test, barrier, head, iterations, test_iteration, iteration, rest] =
            std::array::from_fn(|_| func.add_block());
        let outside: Vec<Block> = func.layout.iter().copied().filter(|&b| b != l.body).collect();
        for b in outside {
            func.blocks[b].term.edges_mut().into_iter().filter(|e| e.block == l.header).for_each(|e| e.block = test);
        }
        let first: Vec<Value> = types.iter().map(|&ty| func.add_block_param(test, ty)).collect();
        let far = func.add_block_param(barrier, Type::I64);
        let others = (0..types.len()).filter(|&k| k != l.counter);
        let kept: Vec<Value> = others.clone().map(|k| func.add_block_param(barrier, types[k])).collect();

        // How far the first work-item of all may be so that for the last one, too, so many iterations are to come. No number wraps: ids and
        // sizes have 31 bits.
        let mut b = Builder { span, ..Builder::new(func, test) };
        let wide = |b: &mut Builder<'_>, v: Value| match (ty == Type::I64, signed) {
            (true, _) => v,
            (false, true) => b.cast(CastOp::Sext, v, Type::I64),
            (false, false) => b.cast(CastOp::Zext, v, Type::I64),
        };
        let (mut bound, step64) = (wide(&mut b, l.bound), wide(&mut b, step));
        let (zero, one) = (b.iconst(Type::I64, 0), b.iconst(Type::I64, 1));
        if matches!(l.less, IntCc::Sle | IntCc::Ule) {
            bound = b.binary(BinOp::Add, bound, one);
        }
        let last = last_place(&mut b);
        let per_barrier = b.iconst(Type::I64, ITERATIONS);
        let ahead = b.binary(BinOp::Mul, step64, per_barrier);
        let limit = b.binary(BinOp::Sub, bound, last);
        let limit = b.binary(BinOp::Sub, limit, ahead);
        let (most, few) = (b.iconst(Type::I64, crate::MAX_ID), b.iconst(Type::I64, least));
        let shortest = b.iconst(Type::I64, (least / SHORT).max(1));
        let is_step = b.binary(BinOp::Sub, step64, shortest);
        let is_step = b.icmp(IntCc::Ult, is_step, most);
        let is_long = b.icmp(IntCc::Sge, bound, few);
        let more = b.icmp(IntCc::Sge, limit, zero);
        let mut all = b.binary(BinOp::And, is_step, is_long);
        all = b.binary(BinOp::And, all, more);
        if self.computed {
            let same = is_global_id(&mut b);
            all = b.binary(BinOp::And, all, same);
        }
        let some = Edge::new(barrier, [zero].into_iter().chain(others.clone().map(|k| first[k])));
        b.term(Term::Branch { cond: all, then: some, els: Edge::new(l.header, first.iter().copied()) });

        b.switch_to(barrier);
        b.jump(head, &[]);
        b.switch_to(head);
        let more = b.icmp(IntCc::Sle, far, limit);
        b.branch(more, iterations, rest);

        b.switch_to(iterations);
        let end = b.binary_flags(BinOp::Add, far, ahead, Flags::NSW | Flags::NUW);
        // What the kernel computes is this, but nobody would see that neighbours have neighbouring numbers.
        let narrow = |b: &mut Builder<'_>, v| if ty == Type::I64 { v } else { b.cast(CastOp::Trunc, v, ty) };
        let mut first = init;
        if self.computed {
            let id = b.query(Query::GlobalId, 0);
            first = narrow(&mut b, id);
        }
        b.term(Term::Jump(Edge::new(test_iteration, [far].into_iter().chain(kept.iter().copied()))));
        b.switch_to(test_iteration);
        let at = b.func.add_block_param(test_iteration, Type::I64);
        let values: Vec<Value> = others.clone().map(|k| b.func.add_block_param(test_iteration, types[k])).collect();
        let more = b.icmp(IntCc::Ult, at, end);
        let back = Edge::new(barrier, [end].into_iter().chain(values.iter().copied()));
        b.term(Term::Branch { cond: more, then: Edge::new(iteration, []), els: back });
        b.switch_to(iteration);
        let promise = if signed { Flags::NSW | Flags::NUW } else { Flags::NUW };
        let by = narrow(&mut b, at);
        let counter = b.binary_flags(BinOp::Add, first, by, promise);
        let mut map: FxHashMap<Value, Value> = others.clone().map(|k| params[k]).zip(values).collect();
        map.insert(params[l.counter], counter);
        let (done, next) = self.write_iteration(func, iteration, map);
        let mut b = Builder { span, ..Builder::new(func, done) };
        let at = b.binary_flags(BinOp::Add, at, step64, Flags::NSW | Flags::NUW);
        b.term(Term::Jump(Edge::new(test_iteration, [at].into_iter().chain(others.clone().map(|k| next[k])))));

        b.switch_to(rest);
        let by = narrow(&mut b, far);
        let counter = b.binary(BinOp::Add, init, by);
        let mut left = kept;
        left.insert(l.counter, counter);
        b.jump(l.header, &left);
        func.blocks[barrier].term_span = span;
        Barrier { before: barrier, after: head, span, synthetic: true }
    }

    /// One iteration at the end of a block, with the values that `map` has for the header's parameters. Gives the block
    /// after it and what the header gets next.
    fn write_iteration(&self, func: &mut Function, at: Block, mut map: FxHashMap<Value, Value>) -> (Block, Vec<Value>) {
        let header = self.l.header;
        let end = func.add_block();
        let types: Vec<Type> = func.blocks[header].params.iter().map(|&p| func.ty(p)).collect();
        let next = types.into_iter().map(|ty| func.add_block_param(end, ty)).collect();
        let mut homes: FxHashMap<Block, Block> = FxHashMap::default();
        for &block in &self.l.blocks {
            let copy = if block == header { at } else { func.add_block() };
            homes.insert(block, copy);
            if block != header {
                for p in func.blocks[block].params.clone() {
                    let ty = func.ty(p);
                    map.insert(p, func.add_block_param(copy, ty));
                }
            }
        }
        for &block in &self.l.blocks {
            Counted::copy(func, block, homes[&block], &mut map);
            let (mut term, span) = (func.blocks[block].term.clone(), func.blocks[block].term_span);
            if block == header {
                // The iteration is known to come.
                let stays = term.edges().into_iter().find(|e| homes.contains_key(&e.block)).cloned();
                stays.into_iter().for_each(|stays| term = Term::Jump(stays));
            }
            term.map_uses(|v| map.get(&v).copied().unwrap_or(v));
            for e in term.edges_mut() {
                e.block = if e.block == header { end } else { homes[&e.block] };
            }
            func.set_term(homes[&block], term, span);
        }
        (end, next)
    }
}

/// Whether a value is a work-item's place in the whole range: its global id, or what it asks for to compute it.
fn is_place(func: &Function, v: Value) -> bool {
    let is = |v: Value, what: &[Query]| is_query(func, v, what);
    // Whether a value is what an operation makes of such a pair, in either order.
    let makes = |v: Value, op: BinOp, pair: &dyn Fn(Value, Value) -> bool| {
        let data = func.def_inst(uncast(func, v)).map(|i| &func.insts[i]).filter(|data| data.op == Op::Binary(op));
        data.is_some_and(|data| pair(data.args[0], data.args[1]) || pair(data.args[1], data.args[0]))
    };
    let is_size = |v| is(v, &[Query::LocalSize, Query::EnqueuedLocalSize]);
    let is_first = |v| makes(v, BinOp::Mul, &|x, y| is(x, &[Query::GroupId]) && is_size(y));
    is(v, &[Query::GlobalId]) || makes(v, BinOp::Add, &|x, y| is_first(x) && is(y, &[Query::LocalId]))
}

/// Whether a value is one of these for dimension 0, perhaps with other bits.
fn is_query(func: &Function, v: Value, queries: &[Query]) -> bool {
    matches!(func.def_op(uncast(func, v)), Some(Op::Query { what, dim: 0 }) if queries.contains(what))
}

/// What a number is without conversions that keep it: ids and sizes have 31 bits.
fn uncast(func: &Function, mut v: Value) -> Value {
    while let Some(i) = func.def_inst(v).filter(|_| func.ty(v).scalar.bits() >= 32) {
        match func.insts[i].op {
            Op::Cast(CastOp::Trunc | CastOp::Zext | CastOp::Sext) => v = func.insts[i].args[0],
            _ => break,
        }
    }
    v
}

/// The place of the last work-item, in 64 bits. It is less than 2^31.
fn last_place(b: &mut Builder<'_>) -> Value {
    let (size, offset) = (b.query(Query::GlobalSize, 0), b.query(Query::GlobalOffset, 0));
    let (end, one) = (b.binary(BinOp::Add, size, offset), b.iconst(Type::I64, 1));
    b.binary(BinOp::Sub, end, one)
}

/// Whether the place that a work-item computes is its global id: in groups of the size that the launch says, and without an offset.
fn is_global_id(b: &mut Builder<'_>) -> Value {
    let (size, enqueued) = (b.query(Query::LocalSize, 0), b.query(Query::EnqueuedLocalSize, 0));
    let (offset, zero) = (b.query(Query::GlobalOffset, 0), b.iconst(Type::I64, 0));
    let (whole, from_zero) = (b.icmp(IntCc::Eq, size, enqueued), b.icmp(IntCc::Eq, offset, zero));
    b.binary(BinOp::And, whole, from_zero)
}

/// Whether an address is made of the counter: not of anything that was loaded.
fn follows(func: &Function, l: &Counted, v: Value, depth: u32) -> bool {
    if v == func.blocks[l.header].params[l.counter] {
        return true;
    }
    let Some(i) = func.def_inst(v).filter(|_| l.is_inside(func, v)) else { return false };
    let data = &func.insts[i];
    let simple = matches!(data.op, Op::PtrAdd | Op::Cast(_) | Op::Binary(BinOp::Add | BinOp::Mul | BinOp::Shl));
    simple && depth > 0 && data.args.iter().any(|&a| follows(func, l, a, depth - 1))
}
