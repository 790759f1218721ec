//! Grid-stride loops: the work-items of several groups advance through memory together (work-group batching).
//!
//! In comes a kernel that was split at its barriers; out goes, if it has such loops, one with a synthetic barrier in
//! each, at which work-items wait every few iterations.
//!
//! ```c
//! for (uint i = get_global_id(0); i < n; i += get_global_size(0))
//!     sum += data[i];
//! ```
//!
//! On a GPU all work-items run an iteration at the same time, and memory is read in order. On a CPU, a vector of them
//! that runs the whole loop before the next vector starts reads a few cache lines in each iteration, and those of the
//! next iteration are thousands of bytes further on. Memory bandwidth is a third lower then, however early lines are
//! prefetched: a core has few line-fill buffers, while sequential lines are fetched by hardware. (Blocks of 256 bytes,
//! 32 KiB apart, on two cores: 29 GB/s; of 1 KiB 38, of 4 KiB 49, sequential the same.)
//!
//! So the loop is strip-mined: all work-items of a batch of groups do a strip of [`ITERATIONS`] iterations and wait at
//! a synthetic barrier until the others did as many. The remaining iterations run in the original loop. What lives
//! across a synthetic barrier is in the frame, which costs less than memory gains if it comes once in so many
//! iterations. (A sum of 64 MiB in groups of 64, in batches of eight: 36 GB/s before, 50 to 57 with barriers every
//! eight iterations, 28 every iteration. Prefetching would slow it down by a sixth then.)
//!
//! Groups can be batched as long as none of their work-items waits anywhere else: up to the first barrier. They agree
//! on each branch there that decides where to go on, see [`crate::analysis::divergence::between_groups`]. How many
//! groups are in a batch is the launcher's choice.
//!
//! What is in the caches anyway gains nothing, so short loops have no synthetic barriers. Nor do Intel's processors
//! gain: there, software prefetching ([`crate::transform::prefetch_loop`]) is as fast. (The same sums on two and on
//! sixteen cores of a Xeon: 0.77 to 1.05 times as fast with barriers, of short vectors 1.2.)

use crate::analysis::divergence::{self, Divergence};
use crate::split::continuations::Barrier;
use cloom_ir::affine::{Affine, Counted, Ext, Facts, Form, HeaderTest};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::{Loop, Loops};
use cloom_ir::{
    BinOp, Block, Builder, CastOp, CloneMap, Edge, Entity, Flags, Function, IntCc, Op, Query, Space, Term, Type, Value,
};
use rustc_hash::FxHashSet;

/// Iterations between two synthetic barriers.
const ITERATIONS: u64 = 8;

/// Loops that read or write more bytes with one access touch memory in blocks so long that prefetching does as well,
/// and better.
const MAX_BYTES: u32 = 8;

/// Loops with more instructions do so much in an iteration that memory is not what they wait for.
const MAX_INSTS: usize = 48;

/// What a work-item keeps across a synthetic barrier, in bytes: more takes longer to load and store than is gained.
const MAX_KEPT: u32 = 32;

/// Loops over fewer elements find them in the caches,
pub const MIN_ELEMENTS: u64 = 1 << 18;
/// and steps smaller than this fraction of them are those of few work-items, which read in order as they are.
const SHORT: u64 = 1 << 10;

/// The synthetic barriers in a kernel.
pub struct GridStride {
    /// One for each loop.
    pub barriers: Vec<Barrier>,
    /// Bytes that a work-item reads or writes in an iteration, adjacent to its neighbours': the most of any access.
    pub bytes: u32,
}

/// Whether a kernel asks how large the grid is: one that does not has no such loops.
pub fn asks_for_grid(func: &Function) -> bool {
    func.insts_in_layout()
        .any(|(_, data)| matches!(data.op, Op::Query { what: Query::GlobalSize | Query::NumGroups, .. }))
}

/// Puts synthetic barriers into the loops of a kernel that was split at these barriers, if it has such loops. Loops
/// over fewer elements than `least` get none at run time, nor do loops with much smaller strides than that.
pub fn insert(func: &mut Function, barriers: &[Barrier], least: u64) -> Option<GridStride> {
    let loops = find(func, barriers);
    let bytes = loops.iter().map(|l| l.bytes).max()?;
    let barriers = loops.iter().map(|l| l.write(func, least)).collect();
    Some(GridStride { barriers, bytes })
}

fn find(func: &Function, barriers: &[Barrier]) -> Vec<GridLoop> {
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
    let numbered = loops.loops.iter().enumerate();
    let mut candidates: Vec<Candidate> = numbered.filter_map(|(n, l)| Candidate::find(func, &cfg, n, l)).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let after = after_barriers(func, barriers);
    let groups = divergence::between_groups(func);
    // Groups of a batch wait together only up to the first barrier, and all of them must leave the loop at one bound.
    candidates.retain(|c| !after[c.test.header.index()] && groups.is_uniform(c.test.bound));
    if candidates.is_empty() {
        return Vec::new();
    }
    // No id of a launch reaches 2^31 ([`crate::params::MAX_ID`]). So what is a position in the grid modulo 2^32 is that
    // number, and the kernel may convert it to other widths on the way to the counter.
    let queries = |v: Value| query_range(func, v);
    let modulo = Affine::new(func, &cfg, &loops, Facts { range: &queries, ..Facts::default() });
    let [in_32_bits, in_64_bits] = [32, 64].map(|bits| positions(&modulo, bits));
    // A second analysis, for which such a sum is the position itself in 64 bits: so the kernel may extend it or cut it
    // off on the way to the counter.
    let known = |v: Value| {
        let form = modulo.form(v, Ext::Own);
        let own = match form.bits() {
            32 => &in_32_bits,
            64 => &in_64_bits,
            _ => return None,
        };
        let mut pairs = own.iter().flatten().zip(in_64_bits.iter().flatten());
        pairs.find(|&(position, _)| *position == form).map(|(_, number)| number.clone())
    };
    let affine = Affine::new(func, &cfg, &loops, Facts { range: &queries, known: &known, ..Facts::default() });
    candidates.iter().filter_map(|c| GridLoop::find(func, &cfg, &loops, &affine, &groups, c)).collect()
}

/// Which blocks work-items may reach after a barrier.
fn after_barriers(func: &Function, barriers: &[Barrier]) -> Vec<bool> {
    let mut after = vec![false; func.blocks.len()];
    let mut stack: Vec<Block> = barriers.iter().map(|b| b.after).collect();
    while let Some(b) = stack.pop() {
        if !std::mem::replace(&mut after[b.index()], true) {
            stack.extend(func.blocks[b].term.edges().iter().map(|e| e.block));
        }
    }
    after
}

/// Between which numbers the answer to a query lies.
fn query_range(func: &Function, v: Value) -> Option<(i64, i64)> {
    matches!(func.def_op(v), Some(Op::Query { .. })).then_some((0, crate::params::MAX_ID as i64))
}

/// What kernels compute instead of asking for a global id in dimension 0, as forms of so many bits: the first id of
/// the group, and the work-item's. For both sizes that a group may be said to have; they are the same but in a partial
/// group.
fn positions(affine: &Affine<'_>, bits: u32) -> [[Form; 2]; 2] {
    let query = |what: Query| affine.query(what, 0, bits);
    [Query::LocalSize, Query::EnqueuedLocalSize].map(|size| {
        let first = query(Query::GroupId).times(&query(size));
        let own = first.plus(&query(Query::LocalId));
        [first, own]
    })
}

/// An outermost loop that may be one, as far as that is seen without an analysis of the function.
struct Candidate {
    /// Index into the function's loops.
    number: usize,
    test: HeaderTest,
    /// The largest access.
    bytes: u32,
}

impl Candidate {
    fn find(func: &Function, cfg: &Cfg, number: usize, l: &Loop) -> Option<Candidate> {
        let &[latch] = &l.latches[..] else { return None };
        // An inner loop would come to its barrier again and again, after few iterations each time.
        let is_simple = l.parent.is_none() && cfg.preds(l.header).len() == 2 && latch != l.header;
        if !is_simple || !matches!(func.blocks[latch].term, Term::Jump(_)) {
            return None;
        }
        // An order, not an equality: a counter that is below the bound at the end of a strip was below it all along.
        let test = HeaderTest::of(func, l).filter(|test| test.reading().is_some())?;
        // The counter is not kept: it is computed from the id and how far all counters are.
        let others = func.blocks[l.header].params.iter().filter(|&&p| p != test.counter);
        let kept: u32 = others.map(|&p| func.ty(p).bytes()).sum();
        let insts: Vec<_> = l.blocks.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i]).collect();
        if !matches!(func.ty(test.counter), Type::I32 | Type::I64) || kept > MAX_KEPT || insts.len() > MAX_INSTS {
            return None;
        }
        // What is computed of the counter, in the order of blocks.
        let mut of_counter = FxHashSet::from_iter([test.counter]);
        let mut bytes = 0;
        for data in insts {
            let is_sum = matches!(data.op, Op::PtrAdd | Op::Cast(_) | Op::Binary(BinOp::Add | BinOp::Mul | BinOp::Shl));
            if is_sum && data.args.iter().any(|a| of_counter.contains(a)) {
                of_counter.extend(data.result);
            }
            if data.op.is_pure() {
                continue;
            }
            let is_access = matches!(data.op, Op::Load { .. } | Op::Store { .. });
            let is_global = || matches!(func.ty(data.args[0]).space(), Some(Space::Global | Space::Constant));
            // Other effects would happen in another order between the groups: each runs some iterations before the next
            // group does.
            if !is_access || data.flags.contains(Flags::VOLATILE) || !is_global() {
                return None;
            }
            // A gather or scatter takes longer than sequential memory can gain.
            if !of_counter.contains(&data.args[0]) {
                return None;
            }
            let value = data.result.or(data.args.get(1).copied())?;
            bytes = bytes.max(func.ty(value).bytes());
        }
        // A loop without an access to memory has 0 bytes here.
        (1..=MAX_BYTES).contains(&bytes).then_some(Candidate { number, test, bytes })
    }
}

/// A loop whose counter begins with the work-item's position in the grid and grows by what all groups agree on.
struct GridLoop {
    counted: Counted,
    /// All blocks, the header first.
    blocks: Vec<Block>,
    /// What the counter begins with,
    init: Value,
    /// and what is added to it in each iteration, defined before the loop.
    step: Value,
    /// Whether the kernel computes the position itself.
    computed: bool,
    bytes: u32,
}

impl GridLoop {
    fn find(
        func: &Function,
        cfg: &Cfg,
        loops: &Loops,
        affine: &Affine<'_>,
        groups: &Divergence,
        c: &Candidate,
    ) -> Option<GridLoop> {
        let counted = affine.counted(c.number)?;
        let HeaderTest { header, counter, index, .. } = counted.test;
        let bits = counted.start.bits();
        // In a partial group, or with an offset, what the kernel computes is not the id (`is_global_id` tests that).
        let computed = counted.start != affine.query(Query::GlobalId, 0, bits);
        if computed && !positions(affine, bits).iter().any(|[_, own]| *own == counted.start) {
            return None;
        }
        let before = cfg.preds(header).iter().find(|&&p| p != counted.latch)?;
        let edges = func.blocks[*before].term.edges();
        let init = edges.iter().find(|e| e.block == header)?.args[index];
        let next = func.blocks[counted.latch].term.edge(0)?.args[index];
        let next = func.def_inst(next).map(|i| &func.insts[i]).filter(|data| data.op == Op::Binary(BinOp::Add))?;
        // The value that is added, not only its form: the code to write needs it.
        let step = match next.args[..] {
            [a, b] if a == counter => b,
            [a, b] if b == counter => a,
            _ => return None,
        };
        let blocks = loops.loops[c.number].blocks.clone();
        let is_known = groups.is_uniform(step) && !func.is_defined_in(step, &blocks);
        let found = GridLoop { counted, blocks, init, step, computed, bytes: c.bytes };
        // A constant step is not that of a grid: such loops read in order by themselves.
        (is_known && found.counted.step.as_const().is_none()).then_some(found)
    }

    /// Writes the loop over strips, with its synthetic barrier, before the original loop.
    ///
    /// ```text
    /// before ─▶ test ─▶ barrier ┄▶ head ─▶ strip ─▶ strip_head ─▶ iteration ⟲
    ///             │       ▲         │                   │
    ///             │       └─────────┼───────────────────┘
    ///             │                 └▶ rest ─▶ header, as it was
    ///             └──────────────────────────▶ header
    /// ```
    fn write(&self, func: &mut Function, least: u64) -> Barrier {
        let &GridLoop { init, step, computed, .. } = self;
        let HeaderTest { header, index, bound, .. } = self.counted.test;
        let span = func.blocks[header].term_span;
        let params = func.blocks[header].params.clone();
        let types: Vec<Type> = params.iter().map(|&p| func.ty(p)).collect();
        let ty = types[index];
        let is_signed = self.counted.test.reading() == Some(Ext::Signed);
        let [test, barrier, head, strip, strip_head, iteration, rest] = std::array::from_fn(|_| func.add_block());
        // The back edge stays: the original loop does the rest.
        let outside: Vec<Block> = func.layout.iter().copied().filter(|&b| b != self.counted.latch).collect();
        for b in outside {
            func.blocks[b].term.redirect(header, test);
        }
        let begin: Vec<Value> = types.iter().map(|&ty| func.add_block_param(test, ty)).collect();
        // How far the counters are from what they began with, which is the same for all work-items.
        let advanced = func.add_block_param(barrier, Type::I64);
        let others = (0..types.len()).filter(|&k| k != index);
        let kept: Vec<Value> = others.clone().map(|k| func.add_block_param(barrier, types[k])).collect();

        // How far the counters may be at most if a whole strip is to come for every work-item, the one with the largest
        // id included. No number wraps: ids and sizes have 31 bits.
        let mut b = Builder { span, ..Builder::new(func, test) };
        let wide = |b: &mut Builder<'_>, v: Value| match (ty == Type::I64, is_signed) {
            (true, _) => v,
            (false, true) => b.cast(CastOp::Sext, v, Type::I64),
            (false, false) => b.cast(CastOp::Zext, v, Type::I64),
        };
        // In 64 bits, where sums and products of ids, sizes and bounds do not wrap.
        let (mut bound, step64) = (wide(&mut b, bound), wide(&mut b, step));
        let (zero, one) = (b.iconst(Type::I64, 0), b.iconst(Type::I64, 1));
        // `i <= n` is `i < n + 1`.
        if self.counted.test.is_inclusive() {
            bound = b.binary(BinOp::Add, bound, one);
        }
        let last = last_id(&mut b);
        let per_barrier = b.iconst(Type::I64, ITERATIONS);
        // How far all counters move from one barrier to the next.
        let strip_length = b.binary(BinOp::Mul, step64, per_barrier);
        let limit = b.binary(BinOp::Sub, bound, last);
        let limit = b.binary(BinOp::Sub, limit, strip_length);
        let (most, few) = (b.iconst(Type::I64, crate::params::MAX_ID), b.iconst(Type::I64, least));
        let shortest = b.iconst(Type::I64, (least / SHORT).max(1));
        // One unsigned comparison tests `shortest <= step` and `step < shortest + MAX_ID`.
        let is_step = b.binary(BinOp::Sub, step64, shortest);
        let is_step = b.icmp(IntCc::Ult, is_step, most);
        let is_long = b.icmp(IntCc::Sge, bound, few);
        // Without room for one strip, the original loop does it all, without a barrier.
        let more = b.icmp(IntCc::Sge, limit, zero);
        let mut all = b.binary(BinOp::And, is_step, is_long);
        all = b.binary(BinOp::And, all, more);
        if computed {
            let same = is_global_id(&mut b);
            all = b.binary(BinOp::And, all, same);
        }
        let some = Edge::new(barrier, [zero].into_iter().chain(others.clone().map(|k| begin[k])));
        b.term(Term::Branch { cond: all, then: some, els: Edge::new(header, begin.iter().copied()) });

        // An empty block that ends at the barrier: the split takes its end for one.
        b.switch_to(barrier);
        b.jump(head, &[]);
        b.switch_to(head);
        let more = b.icmp(IntCc::Sle, advanced, limit);
        b.branch(more, strip, rest);

        b.switch_to(strip);
        let end = b.binary_flags(BinOp::Add, advanced, strip_length, Flags::NSW | Flags::NUW);
        let narrow = |b: &mut Builder<'_>, v| if ty == Type::I64 { v } else { b.cast(CastOp::Trunc, v, ty) };
        let mut first = init;
        if computed {
            // What the kernel computes is this, but the shape analysis would not see that it has unit stride.
            let id = b.query(Query::GlobalId, 0);
            first = narrow(&mut b, id);
        }
        b.term(Term::Jump(Edge::new(strip_head, [advanced].into_iter().chain(kept.iter().copied()))));
        b.switch_to(strip_head);
        let at = b.func.add_block_param(strip_head, Type::I64);
        let values: Vec<Value> = others.clone().map(|k| b.func.add_block_param(strip_head, types[k])).collect();
        let more = b.icmp(IntCc::Ult, at, end);
        let back = Edge::new(barrier, [end].into_iter().chain(values.iter().copied()));
        b.term(Term::Branch { cond: more, then: Edge::new(iteration, []), els: back });
        b.switch_to(iteration);
        // The strip ends below the bound, so that no counter of it wraps. The shape analysis needs to know.
        let promise = if is_signed { Flags::NSW | Flags::NUW } else { Flags::NUW };
        let by = narrow(&mut b, at);
        let counter = b.binary_flags(BinOp::Add, first, by, promise);
        // An iteration of the original loop whose counter is the id plus a number that all lanes share, so that it has
        // a unit stride from lane to lane.
        let mut map = CloneMap::new(others.clone().map(|k| params[k]).zip(values));
        map.values.insert(params[index], counter);
        let (done, next) = self.write_iteration(func, iteration, map);
        let mut b = Builder { span, ..Builder::new(func, done) };
        let at = b.binary_flags(BinOp::Add, at, step64, Flags::NSW | Flags::NUW);
        b.term(Term::Jump(Edge::new(strip_head, [at].into_iter().chain(others.clone().map(|k| next[k])))));

        b.switch_to(rest);
        let by = narrow(&mut b, advanced);
        let counter = b.binary(BinOp::Add, init, by);
        let mut left = kept;
        // In the place that it has among the header's parameters.
        left.insert(index, counter);
        b.jump(header, &left);
        func.blocks[barrier].term_span = span;
        Barrier { before: barrier, after: head, span, synthetic: true }
    }

    /// Writes an iteration at the end of a block, with the values that `map` has for the header's parameters. Gives the
    /// block after it and what the header would get for the next one.
    fn write_iteration(&self, func: &mut Function, at: Block, mut map: CloneMap) -> (Block, Vec<Value>) {
        let HeaderTest { header, stay, .. } = self.counted.test;
        let end = func.add_block();
        let types: Vec<Type> = func.blocks[header].params.iter().map(|&p| func.ty(p)).collect();
        let next = types.into_iter().map(|ty| func.add_block_param(end, ty)).collect();
        map.blocks.insert(header, at);
        let copies = map.clone_blocks(func, &self.blocks);
        func.layout.extend(&copies[1..]);
        // The iteration is known to come.
        let (edges, span) = (func.blocks[header].term.edges(), func.blocks[header].term_span);
        let first = edges.into_iter().find(|e| e.block == stay).cloned();
        func.set_term(at, first.map_or(Term::Unreachable, |e| map.term(&Term::Jump(e))), span);
        let latch = map.block(self.counted.latch);
        func.blocks[latch].term.edges_mut().into_iter().for_each(|e| e.block = end);
        (end, next)
    }
}

/// The largest global id, in 64 bits. It is less than 2^31.
fn last_id(b: &mut Builder<'_>) -> Value {
    let (size, offset) = (b.query(Query::GlobalSize, 0), b.query(Query::GlobalOffset, 0));
    let (end, one) = (b.binary(BinOp::Add, size, offset), b.iconst(Type::I64, 1));
    b.binary(BinOp::Sub, end, one)
}

/// Whether the position that a kernel computes ([`positions`]) is the global id: the group is not partial, and there is
/// no offset.
fn is_global_id(b: &mut Builder<'_>) -> Value {
    let (size, enqueued) = (b.query(Query::LocalSize, 0), b.query(Query::EnqueuedLocalSize, 0));
    let (offset, zero) = (b.query(Query::GlobalOffset, 0), b.iconst(Type::I64, 0));
    let (whole, from_zero) = (b.icmp(IntCc::Eq, size, enqueued), b.icmp(IntCc::Eq, offset, zero));
    b.binary(BinOp::And, whole, from_zero)
}

#[cfg(test)]
mod tests {
    use cloom_ir::{Entity, FuncRef, parse, verify};

    /// Queries: v1 global id, v2 group, v3 local size, v4 enqueued local size, v5 local id, v6 global size; and what
    /// they are of 32 bits: v11 to v16.
    const QUERIES: &str = "v1: i64 = query global_id 0 v2: i64 = query group_id 0 v3: i64 = query local_size 0
        v4: i64 = query enqueued_local_size 0 v5: i64 = query local_id 0 v6: i64 = query global_size 0
        v11: i32 = trunc v1 v12: i32 = trunc v2 v13: i32 = trunc v3 v14: i32 = trunc v4 v15: i32 = trunc v5
        v16: i32 = trunc v6 ";

    /// How many loops `for (i = init; i < n; i += step) sum += in[…]` get a synthetic barrier. The counter is v31, of a
    /// type; `before` computes what is not a query, and `address` v40;
    /// `step` says what is added.
    fn barriers(ty: &str, before: &str, init: &str, step: &str, address: &str) -> usize {
        let text = format!(
            "func internal @f(ptr<global>, ptr<global>, {ty}) {{
        bb0(v90: ptr<global>, v91: ptr<global>, v0: {ty}): v92: f32 = const 0x0 v93: i64 = const 0x4
            {QUERIES} {before}
            jump bb1({init}, v92)
        bb1(v31: {ty}, v32: f32): v33: i1 = icmp ult v31, v0 br v33, bb2, bb3
        bb2: {address}
            v41: f32 = load v40 align 4 v42: f32 = fadd v32, v41 v43: {ty} = add {step} jump bb1(v43, v42)
        bb3: store v91, v32 align 4 ret }}"
        );
        let mut module = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let found = super::insert(&mut module.funcs[FuncRef::new(0)], &[], 0);
        assert_eq!(verify(&module), [], "{module}");
        found.map_or(0, |found| found.barriers.len())
    }

    const SHORT: &str = "v38: i64 = zext v31 v39: i64 = mul v38, v93 v40: ptr<global> = ptradd v90, v39";
    const LONG: &str = "v39: i64 = mul v31, v93 v40: ptr<global> = ptradd v90, v39";

    /// Whether the loop of a counter that begins with this gets a barrier.
    fn begins(ty: &str, init: &str, before: &str) -> bool {
        let (step, address) = if ty == "i64" { ("v31, v6", LONG) } else { ("v31, v16", SHORT) };
        barriers(ty, before, init, step, address) == 1
    }

    #[test]
    fn a_counter_begins_with_a_position_however_it_is_computed() {
        assert!(begins("i64", "v1", ""));
        assert!(begins("i32", "v11", ""));
        assert!(begins("i64", "v20", "v20: i64 = zext v11"));
        assert!(begins("i64", "v21", "v20: i64 = mul v2, v3 v21: i64 = add v20, v5"));
        assert!(begins("i32", "v21", "v20: i32 = mul v14, v12 v21: i32 = add v15, v20"));
        assert!(begins("i32", "v22", "v20: i64 = mul v2, v3 v21: i64 = add v20, v5 v22: i32 = trunc v21"));
        // Of 32 bits, and then widened: no product of a position wraps.
        assert!(begins("i64", "v22", "v20: i32 = mul v12, v13 v21: i32 = add v20, v15 v22: i64 = zext v21"));
        assert!(begins("i64", "v22", "v20: i32 = mul v12, v13 v21: i64 = zext v20 v22: i64 = add v21, v5"));
        let through = "v20: i64 = mul v2, v3 v21: i64 = add v20, v5 v22: i32 = trunc v21 v23: i64 = sext v22";
        assert!(begins("i64", "v23", through));
        // Something that cancels out.
        let through = "v20: i64 = add v1, v0 v21: i64 = sub v20, v0";
        assert!(begins("i64", "v21", through));
    }

    #[test]
    fn other_counters_begin_elsewhere() {
        assert!(!begins("i32", "v15", ""));
        assert!(!begins("i64", "v20", "v20: i64 = add v1, v5"));
        assert!(!begins("i64", "v21", "v20: i64 = mul v2, v6 v21: i64 = add v20, v5"));
        assert!(!begins("i64", "v22", "v20: i64 = mul v2, v3 v21: i64 = add v20, v20 v22: i64 = add v21, v5"));
        // Numbers of 16 bits wrap.
        assert!(!begins("i64", "v21", "v20: i16 = trunc v1 v21: i64 = zext v20"));
        let narrow = "v20: i16 = trunc v2 v21: i16 = trunc v3 v22: i16 = mul v20, v21 v23: i64 = zext v22";
        assert!(!begins("i64", "v24", &format!("{narrow} v24: i64 = add v23, v5")));
        // So do squares of 32 bits, though in the end they cancel out.
        let square = "v20: i32 = mul v13, v13 v21: i32 = add v20, v11 v22: i64 = zext v21 v23: i64 = zext v20";
        assert!(!begins("i64", "v24", &format!("{square} v24: i64 = sub v22, v23")));
    }

    #[test]
    fn steps_are_the_same_for_all_and_not_constant() {
        let step = |before: &str, step: &str| barriers("i64", before, "v1", step, LONG);
        assert_eq!(step("", "v31, v6"), 1);
        assert_eq!(step("", "v6, v31"), 1);
        assert_eq!(step("v20: i64 = add v6, v6", "v31, v20"), 1);
        assert_eq!(step("", "v31, v0"), 1);
        assert_eq!(step("", "v31, v5"), 0);
        assert_eq!(step("", "v31, v93"), 0);
        assert_eq!(step("", "v31, v31"), 0);
        // The step is that of both sums.
        let twice = format!("{LONG} v44: i64 = add v31, v6");
        assert_eq!(barriers("i64", "", "v1", "v0, v44", &twice), 0);
    }

    #[test]
    fn addresses_are_computed_of_the_counter() {
        let address = |address: &str| barriers("i64", "", "v1", "v31, v6", address);
        let mut deep: String =
            (50..70).map(|n| format!("v{n}: i64 = add v{}, v0 ", if n == 50 { 31 } else { n - 1 })).collect();
        deep += "v39: i64 = mul v69, v93 v40: ptr<global> = ptradd v90, v39";
        assert_eq!(address(&deep), 1);
        assert_eq!(address("v40: ptr<global> = ptradd v90, v5"), 0);
        // Loaded at the counter, and then an index itself.
        let gather =
            "v50: ptr<global> = ptradd v90, v31 v51: i64 = load v50 align 4 v40: ptr<global> = ptradd v90, v51";
        assert_eq!(address(gather), 0);
    }
}
