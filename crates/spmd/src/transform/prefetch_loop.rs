//! Software prefetch in grid-stride loops.
//!
//! In comes the analysed function of one work-item; out goes, if it has such loops, one that prefetches what later
//! iterations load.
//!
//! ```c
//! for (uint i = get_global_id(0); i < n; i += get_global_size(0))
//!     sum += data[i];
//! ```
//!
//! A vector runs the whole loop before the next one starts: it reads a cache line or two, and the next that it reads
//! is thousands of bytes further on. Hardware prefetchers foresee strides within a page; these go from page to page,
//! and each iteration waits for memory.
//!
//! That is for loads of neighbours whose address grows by a number that is the same for all work-items and not known
//! before the kernel runs. A prefetch cannot fail, so that its address need not be exact: sums that wrap may be wrong.
//! (Mowry, Lam, Gupta, "Design and evaluation of a compiler algorithm for prefetching", ASPLOS 1992.)

use crate::analysis::latency;
use crate::analysis::shape::Shape;
use crate::emit::widen::{Surroundings, VectorInput};
use crate::transform::Rewrite;
use cloom_ir::loops::Loop;
use cloom_ir::{BinOp, Block, Builder, CastOp, Function, Inst, Op, Space, Type, Value, ValueDef};
use rustc_hash::FxHashSet;

/// Cycles from a hint until what it asked for is there, roughly.
const LATENCY: u32 = 400;

/// So many rounds ahead, at least and at most. The steps of a grid are mostly a power of two apart, so that what comes in competes for few
/// sets of the first cache, of 8 or 12 lines each. (Sums of 2048 by 2048 floats, 32 lanes: 388 µs four rounds ahead, 403 with eight, 570
/// with sixteen; of 64 lanes, of which a round is more, 248, 320 and 390; from memory, with eight or fourteen, the same.)
const ROUNDS: (u32, u32) = (2, 8);

/// So many loads of a loop get hints.
const STREAMS: usize = 4;

/// How far back sums are followed.
const DEPTH: u32 = 8;

/// The function with hints in such loops, if it has any, and where in the source they are.
pub fn run(item: &VectorInput, around: &Surroundings<'_>) -> Option<Rewrite> {
    if !around.prefetch {
        return None;
    }
    let walks: Vec<StridedLoop<'_>> = item.loops.without_inner().filter_map(|l| StridedLoop::find(item, l)).collect();
    if walks.is_empty() {
        return None;
    }
    let mut func = item.func.clone();
    for w in &walks {
        w.write(&mut func);
    }
    let places = walks.iter().map(|w| item.func.blocks[w.l.header].term_span).collect();
    Some(Rewrite::of(item, func, places))
}

/// Whether there are hints in the loops where the time goes. Long vectors are best there: the more lie side by side, the longer are the
/// pieces of memory that are read in order.
pub fn is_fetched(item: &VectorInput) -> bool {
    let blocks = latency::deepest(item).into_iter().flat_map(|l| &l.blocks);
    blocks.flat_map(|&b| &item.func.blocks[b].insts).any(|&i| item.func.insts[i].op == Op::Prefetch)
}

/// How a value changes from round to round.
enum Change {
    /// Not at all.
    None,
    /// By this.
    By(Step),
}

/// What is added in a round: a number from before the loop, widened, so often.
type Step = (Value, Option<CastOp>, u64);

/// A loop that walks.
struct StridedLoop<'a> {
    item: &'a VectorInput,
    l: &'a Loop,
    before: Block,
    inside: FxHashSet<Inst>,
    /// Loads, their blocks, and what is added to their addresses in a round.
    loads: Vec<(Inst, Block, Step)>,
    rounds: u32,
}

impl<'a> StridedLoop<'a> {
    fn find(item: &'a VectorInput, l: &'a Loop) -> Option<StridedLoop<'a>> {
        let func = &item.func;
        let outer: Vec<Block> = item.cfg.preds(l.header).iter().copied().filter(|p| !l.blocks.contains(p)).collect();
        let &[before] = outer.as_slice() else { return None };
        let inside = l.blocks.iter().flat_map(|&b| &func.blocks[b].insts).copied().collect();
        let mut walk = StridedLoop { item, l, before, inside, loads: Vec::new(), rounds: 0 };
        let mut cost = 0;
        for &b in &l.blocks {
            for &i in &func.blocks[b].insts {
                cost += walk.cost(i);
                let data = &func.insts[i];
                let Op::Load { .. } = data.op else { continue };
                let p = data.args[0];
                let outside = matches!(func.ty(p).space(), Some(Space::Global | Space::Constant));
                let neighbours = matches!(item.shapes.of(p), Shape::Strided { .. });
                if !outside || !neighbours || walk.loads.len() == STREAMS {
                    continue;
                }
                if let Some(Change::By(step)) = walk.change(p, DEPTH)
                    && item.shapes.of(step.0) == Shape::Uniform
                    && !walk.loads.iter().any(|&(other, ..)| func.insts[other].args[0] == p)
                {
                    walk.loads.push((i, b, step));
                }
            }
        }
        walk.rounds = (LATENCY / cost.max(1)).clamp(ROUNDS.0, ROUNDS.1);
        (!walk.loads.is_empty()).then_some(walk)
    }

    /// Cycles of an instruction for a vector, roughly.
    fn cost(&self, i: Inst) -> u32 {
        let data = &self.item.func.insts[i];
        let apart = data.args.first().is_some_and(|&p| self.item.shapes.of(p) == Shape::Varying);
        match data.op {
            Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } => 12,
            Op::Load { .. } | Op::Store { .. } if apart => 8,
            Op::Load { .. } | Op::Store { .. } => 2,
            Op::Call(_) => 50,
            _ => 1,
        }
    }

    /// How a value changes from round to round, if that is known.
    fn change(&self, v: Value, depth: u32) -> Option<Change> {
        let func = &self.item.func;
        let inst = match func.values[v].def {
            ValueDef::Param(b, n) if b == self.l.header => return self.counter(v, n as usize),
            ValueDef::Param(b, _) => return (!self.l.blocks.contains(&b)).then_some(Change::None),
            ValueDef::Inst(i) => i,
        };
        let data = &func.insts[inst];
        if matches!(data.op, Op::Const(_)) || !self.inside.contains(&inst) {
            return Some(Change::None);
        }
        let of = |k: usize| self.change(data.args[k], depth.checked_sub(1)?);
        let times = |by: u64| match of(0)? {
            Change::By((step, wide, factor)) => Some(Change::By((step, wide, factor.wrapping_mul(by)))),
            Change::None => Some(Change::None),
        };
        match data.op {
            Op::PtrAdd | Op::Binary(BinOp::Add) => match (of(0)?, of(1)?) {
                (Change::None, other) | (other, Change::None) => Some(other),
                _ => None,
            },
            Op::Binary(BinOp::Sub) => matches!(of(1)?, Change::None).then(|| of(0)).flatten(),
            Op::Binary(BinOp::Mul) => times(func.const_bits(data.args[1])?),
            Op::Binary(BinOp::Shl) => times(1 << (func.const_bits(data.args[1])? % 64)),
            Op::Cast(op @ (CastOp::Zext | CastOp::Sext)) => match of(0)? {
                Change::By((step, None, factor)) => Some(Change::By((step, Some(op), factor))),
                Change::By(_) => None,
                Change::None => Some(Change::None),
            },
            _ => None,
        }
    }

    /// A counter of the loop, which grows by a number from before it.
    fn counter(&self, v: Value, n: usize) -> Option<Change> {
        let func = &self.item.func;
        let &[latch] = self.l.latches.as_slice() else { return None };
        let edges = func.blocks[latch].term.edges();
        let edge = edges.iter().find(|e| e.block == self.l.header)?;
        // Sizes have 64 bits, of which counters and their sums take the low ones.
        let through = |v: Value, casts: &[CastOp]| match func.def_inst(v).map(|i| &func.insts[i]) {
            Some(data) if matches!(data.op, Op::Cast(op) if casts.contains(&op)) => data.args[0],
            _ => v,
        };
        let next = func.def_inst(through(*edge.args.get(n)?, &[CastOp::Trunc]))?;
        let (Op::Binary(BinOp::Add), [a, b]) = (&func.insts[next].op, &func.insts[next].args[..]) else { return None };
        let own = |x: Value| through(x, &[CastOp::Zext, CastOp::Sext]) == v;
        let step = through(if own(*a) { *b } else { *a }, &[CastOp::Trunc]);
        let constant = func.const_bits(step).is_some();
        let outside = !func.is_defined_in(step, &self.l.blocks);
        (own(*a) != own(*b) && outside && !constant).then_some(Change::By((step, None, 1)))
    }

    fn write(&self, func: &mut Function) {
        for &(load, block, (step, wide, factor)) in &self.loads {
            let mut b = Builder::new(func, self.before);
            let by = match wide {
                Some(op) if b.ty(step) != Type::I64 => b.cast(op, step, Type::I64),
                _ => step,
            };
            let factor = b.iconst(Type::I64, factor.wrapping_mul(u64::from(self.rounds)));
            let by = b.binary(BinOp::Mul, by, factor);
            let p = func.insts[load].args[0];
            let at = func.blocks[block].insts.iter().position(|&i| i == load).unwrap_or(0);
            let behind = func.blocks[block].insts.split_off(at);
            let mut b = Builder::new(func, block);
            b.span = b.func.insts[load].span;
            let place = b.ptr_add(p, by);
            b.prefetch(place);
            func.blocks[block].insts.extend(behind);
        }
    }
}
