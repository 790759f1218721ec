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
//! A vector runs the whole loop before the next one starts: an iteration reads a cache line or two, and the next
//! iteration reads thousands of bytes further on. Hardware prefetchers detect strides within a page; these cross pages,
//! and each iteration waits for memory.
//!
//! A load is prefetched if lanes read at a fixed stride, and its address grows by a constant times the step of a
//! counter, which is the same for all work-items and not known before the kernel runs. A constant times a loop's
//! invariant alone, as in `a[k * width + column]` with `k++`, is not enough: columns of matrices are read again by the
//! next work-items, mostly from the cache. A prefetch cannot fault, so that its address need not be exact: the analysis
//! ([`Affine::slope`]) is told that no operation wraps. (Mowry, Lam, Gupta, "Design and evaluation of a compiler
//! algorithm for prefetching", ASPLOS 1992.)

use crate::analysis::input::{FunctionContext, Rewrite, VectorInput};
use crate::analysis::op_class::{OpClass, class};
use crate::analysis::shape::Shape;
use cloom_ir::affine::{Affine, Facts, Form, Symbol};
use cloom_ir::loops::Loop;
use cloom_ir::{Block, Builder, Function, Inst, Op, Space, Value};
use rustc_hash::FxHashSet;

/// Cycles from a prefetch until the cache line is there, roughly.
const LATENCY: u32 = 400;

/// The distance of a prefetch in iterations, at least and at most. The steps of a grid are mostly a power of two apart,
/// so that the lines that arrive compete for few sets of the first-level cache, of 8 or 12 lines each. (Sums of 2048 by
/// 2048 floats, 32 lanes: 388 µs four iterations ahead, 403 with eight, 570 with sixteen; of 64 lanes, for which an
/// iteration reads more, 248, 320 and 390; from memory, with eight or fourteen, the same.)
const DISTANCE: (u32, u32) = (2, 8);

/// So many loads of a loop are prefetched.
const STREAMS: usize = 4;

/// The function with prefetches in such loops, if it has any, and where in the source they are.
pub fn run(item: &VectorInput, around: &FunctionContext<'_>) -> Option<Rewrite> {
    if !around.prefetch || !item.loops.without_inner().any(|l| candidates(item, l).next().is_some()) {
        return None;
    }
    // What is computed before a loop is a symbol, whatever it is made of: a step is one value then. Conversions are
    // followed, so that a step of 32 bits is the query of 64 that it was.
    let in_loops: FxHashSet<Value> = item.loops.without_inner().flat_map(|l| values(&item.func, l)).collect();
    let is_symbol =
        |v: Value| !in_loops.contains(&v) && !matches!(item.func.def_op(v), Some(Op::Const(_) | Op::Cast(_)));
    let facts = Facts { no_wrap: &|_, _| true, is_symbol: &is_symbol, ..Facts::default() };
    let affine = item.affine(facts);
    let loops: Vec<GridLoop> = item.loops.without_inner().filter_map(|l| GridLoop::find(item, &affine, l)).collect();
    if loops.is_empty() {
        return None;
    }
    let mut func = item.func.clone();
    loops.iter().for_each(|l| l.write(&mut func));
    let spans = loops.iter().map(|l| item.func.blocks[l.header].term_span).collect();
    Some(Rewrite::of(item, func, spans))
}

/// The values that a loop defines.
fn values<'a>(func: &'a Function, l: &'a Loop) -> impl Iterator<Item = Value> + 'a {
    l.blocks.iter().flat_map(|&b| {
        let results = func.blocks[b].insts.iter().filter_map(|&i| func.insts[i].result);
        func.blocks[b].params.iter().copied().chain(results)
    })
}

/// The loads of a loop from memory outside of the group whose lanes are at a fixed stride, with their blocks and
/// addresses.
fn candidates<'a>(item: &'a VectorInput, l: &'a Loop) -> impl Iterator<Item = (Inst, Block, Value)> + 'a {
    let func = &item.func;
    let insts = l.blocks.iter().flat_map(|&b| func.blocks[b].insts.iter().map(move |&i| (i, b)));
    let loads = insts.filter(|&(i, _)| matches!(func.insts[i].op, Op::Load { .. }));
    loads.map(|(i, b)| (i, b, func.insts[i].args[0])).filter(|&(_, _, p)| {
        let is_outside = matches!(func.ty(p).space(), Some(Space::Global | Space::Constant));
        is_outside && matches!(item.shapes.of(p), Shape::Strided { .. })
    })
}

/// A loop with loads that are prefetched.
struct GridLoop {
    header: Block,
    /// The block that leads into the loop.
    preheader: Block,
    /// The loads, their blocks, and what an iteration adds to their addresses, in bytes.
    loads: Vec<(Inst, Block, Form)>,
    /// How many iterations ahead.
    distance: u32,
}

impl GridLoop {
    fn find(item: &VectorInput, affine: &Affine<'_>, l: &Loop) -> Option<GridLoop> {
        let func = &item.func;
        let number = *item.loop_of.get(&l.header)?;
        let outer: Vec<Block> = item.cfg.preds(l.header).iter().copied().filter(|p| !l.blocks.contains(p)).collect();
        let &[preheader] = outer.as_slice() else { return None };
        // Steps of counters: an address must grow by a multiple of one of them.
        let counters = func.blocks[l.header].params.iter().filter(|&&p| func.ty(p).is_int());
        let steps: Vec<Value> = counters.filter_map(|&p| step(affine.recurrence_of(number, p)?.step)).collect();
        let mut loads: Vec<(Inst, Block, Form)> = Vec::new();
        if !steps.is_empty() {
            for (load, block, p) in candidates(item, l) {
                if loads.len() < STREAMS
                    && let Some(slope) = affine.slope(number, p)
                    && let Some(by) = step(slope.clone())
                    && steps.contains(&by)
                    && item.shapes.of(by) == Shape::Uniform
                    // Two loads of one address are of one line.
                    && !loads.iter().any(|&(other, ..)| func.insts[other].args[0] == p)
                {
                    loads.push((load, block, slope));
                }
            }
        }
        if loads.is_empty() {
            return None;
        }
        // Longer iterations need fewer of them to cover the latency.
        let cycles: u32 = l.blocks.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| cost(item, i)).sum();
        let distance = (LATENCY / cycles.max(1)).clamp(DISTANCE.0, DISTANCE.1);
        Some(GridLoop { header: l.header, preheader, loads, distance })
    }

    fn write(&self, func: &mut Function) {
        for (load, block, slope) in &self.loads {
            let ahead = slope.scaled(self.distance.into());
            let mut b = Builder::new(func, self.preheader);
            // Once, in front of the loop: the distance is the same in all iterations.
            let by = ahead.emit(&mut b, |_, s| if let Symbol::Value(v, _) = s { Some(v) } else { None });
            let Some(by) = by else { continue };
            let p = func.insts[*load].args[0];
            let insts = &mut func.blocks[*block].insts;
            // In front of the load, whose address is computed there.
            let at = insts.iter().position(|i| i == load).unwrap_or(0);
            let rest = insts.split_off(at);
            let mut b = Builder::new(func, *block);
            b.span = b.func.insts[*load].span;
            let address = b.ptr_add(p, by);
            b.prefetch(address);
            func.blocks[*block].insts.extend(rest);
        }
    }
}

/// The value that an iteration adds, or adds a multiple of, if it is one value.
fn step(by: Form) -> Option<Value> {
    match by.as_symbol()? {
        (_, Symbol::Value(v, _)) => Some(v),
        _ => None,
    }
}

/// Cycles of an instruction for a vector, roughly.
fn cost(item: &VectorInput, i: Inst) -> u32 {
    let data = &item.func.insts[i];
    let is_varying = data.args.first().is_some_and(|&p| item.shapes.of(p) == Shape::Varying);
    match class(&data.op) {
        OpClass::AtomicUpdate => 12,
        // Lane by lane or a gather; a plain load of a vector is issued in a cycle or two.
        OpClass::Access if is_varying => 8,
        OpClass::Access => 2,
        OpClass::Call | OpClass::PureCall => 50,
        OpClass::Constant
        | OpClass::Simple
        | OpClass::Unary
        | OpClass::Multiply
        | OpClass::FloatDivision
        | OpClass::IntegerDivision
        | OpClass::Conversion
        | OpClass::Shuffle
        | OpClass::VectorAccess
        | OpClass::Copy
        | OpClass::AtomicAccess
        | OpClass::Print
        | OpClass::Sample
        | OpClass::Subgroup
        | OpClass::Order => 1,
    }
}
