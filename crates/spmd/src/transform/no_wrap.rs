//! Promises that indices do not wrap: checked once per group, in front of a copy of the function that has them.
//!
//! In comes the function of a continuation; out go promises (`nuw`, `nsw`) on sums and products of 32 bits that are
//! indices; and, if some of them must be checked at run time, a copy that has these too with the condition for it.
//!
//! ```c
//! uint r = get_global_id(0);
//! for (uint c = 0; c < n; c++)
//!     sum += a[r * n + c] * x[c];         // if last_id * n + (n - 1) < 2^32, &a[r * n + c] has unit stride over c
//! ```
//!
//! A number of 32 bits is widened before it is added to an address. If it may wrap, the widened number has no stride: not
//! from lane to lane ([`crate::analysis::shape`]), nor from iteration to iteration ([`cloom_ir::affine`]). Signed
//! arithmetic of the source has the promise; unsigned arithmetic and what is cut off (`i += get_global_size(0)` for an
//! `int`) has not. [`GroupBounds`] finds what ids, loop counters and sums of them do not exceed. Where that is within
//! 32 bits by constants, the promise is written into the function; where it depends on the launch, the group checks
//! it before its work-items run. A condition that holds speaks for all work-items that execute the instruction, so it
//! is a promise like one of the source.
//!
//! Groups for which it does not hold run the function as it was. That is rare, so that the function is kept for one
//! work-item at a time, which is a fraction of the code of vectors.
//!
//! Only indices in loops get a copy: elsewhere a check for each vector ([`crate::analysis::shape`]'s checked strides)
//! costs less than the copy's compilation.

use crate::analysis::bounds::Bounds;
use crate::analysis::divergence;
use crate::analysis::group_bounds::{Bound, Condition, GroupBounds, MOST_SIGNED};
use crate::split::continuation_fn::Param;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{BinOp, Block, CastOp, Flags, Function, Inst, Op, Span, Type, Value, ValueDef};
use rustc_hash::FxHashSet;

/// Larger functions get no copy.
const MAX_INSTS: usize = 400;

/// Nor do those whose condition has more checks.
const MAX_CHECKS: usize = 16;

/// The most instructions between an address and the number of 32 bits.
const MAX_VISITED: usize = 64;

/// A copy of the function in which indices are promised not to wrap.
pub struct Checked {
    /// The condition.
    pub condition: Condition,
    /// The copy.
    pub func: Function,
    /// The source positions of the promises that the condition checks.
    pub spans: Vec<Span>,
}

/// What was found.
pub struct NoWrap {
    /// How many promises were written into the function itself.
    pub known: usize,
    /// The copy with all promises, if some must be checked.
    pub checked: Option<Checked>,
}

/// An instruction and what is promised of it, with the bound that says so.
struct Promise {
    inst: Inst,
    flags: Flags,
    bound: Bound,
}

/// Writes the promises that are known to hold, and makes the copy. `varying` are the parameters that differ between
/// lanes, `max` the largest values of all.
pub fn run(func: &mut Function, params: &[Param], varying: &[Value], max: &[u64]) -> NoWrap {
    let none = NoWrap { known: 0, checked: None };
    if !func.insts_in_layout().any(|(_, data)| is_widening(func, &data.op, &data.args)) {
        return none;
    }
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let lanes = divergence::between_lanes(func, varying);
    let constant = Bounds::new(func, max);
    let mut bounds = GroupBounds::new(func, params, &cfg, &dom, &constant);
    let (mut known, mut checked): (Vec<Promise>, Vec<Promise>) = Default::default();
    for (widening, in_loop) in indices(func, &loops) {
        let Some(Op::Cast(op)) = func.def_op(widening) else { continue };
        let Some(i) = func.def_inst(widening).filter(|_| !lanes.is_uniform(widening)) else { continue };
        let signed = *op == CastOp::Sext;
        let Some(promises) = promises(func, &mut bounds, func.insts[i].args[0], signed) else { continue };
        if promises.iter().all(|p| bounds.is_known(p.bound)) {
            known.extend(promises);
        } else if in_loop {
            checked.extend(promises);
        }
    }
    let all: Vec<Bound> = checked.iter().map(|p| p.bound).collect();
    let may_copy = !all.is_empty() && func.size() <= MAX_INSTS && bounds.count_checks(&all) <= MAX_CHECKS;
    let condition = (may_copy && runs_alone(func, params)).then(|| bounds.emit(&all));
    let promise = |func: &mut Function, p: &Promise| func.insts[p.inst].flags |= p.flags;
    known.iter().for_each(|p| promise(func, p));
    let checked = condition.map(|condition| {
        let mut copy = func.clone();
        checked.iter().for_each(|p| promise(&mut copy, p));
        let mut spans: Vec<Span> = checked.iter().map(|p| func.insts[p.inst].span).collect();
        let mut seen = FxHashSet::default();
        spans.retain(|&span| seen.insert(span));
        Checked { condition, func: copy, spans }
    });
    NoWrap { known: known.len(), checked }
}

/// Whether a function may run for one work-item at a time where others run in vectors: not if it has sub-groups, or
/// arrays in the frame, which are laid out as vectors want it.
fn runs_alone(func: &Function, params: &[Param]) -> bool {
    let by_lanes = |p: &Param| matches!(p, Param::Array(_) | Param::NextContinuation | Param::Subgroup(_));
    !params.iter().any(by_lanes) && !func.insts_in_layout().any(|(_, data)| data.op.is_subgroup())
}

/// Whether an operation widens a number of 32 bits.
fn is_widening(func: &Function, op: &Op, args: &[Value]) -> bool {
    matches!(op, Op::Cast(CastOp::Zext | CastOp::Sext)) && func.ty(args[0]) == Type::I32
}

/// The widened numbers that addresses are made of, and whether it is in a loop that they are added.
fn indices(func: &Function, loops: &Loops) -> Vec<(Value, bool)> {
    let mut found: Vec<(Value, bool)> = Vec::new();
    let mut seen: FxHashSet<(Value, bool)> = FxHashSet::default();
    let addresses = |b: &Block| func.blocks[*b].insts.iter().filter(|&&i| func.insts[i].op == Op::PtrAdd);
    for (b, &i) in func.layout.iter().flat_map(|b| addresses(b).map(move |i| (b, i))) {
        let in_loop = loops.innermost(*b).is_some();
        let mut stack = vec![func.insts[i].args[1]];
        while let Some(v) = stack.pop() {
            if !seen.insert((v, in_loop)) {
                continue;
            }
            let Some(data) = func.def_inst(v).map(|i| &func.insts[i]) else { continue };
            if is_widening(func, &data.op, &data.args) && func.ty(v) == Type::I64 {
                found.push((v, in_loop));
            } else if matches!(data.op, Op::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl)) {
                stack.extend(data.args.iter().copied());
            }
        }
    }
    found
}

/// The promises that a number needs so that it may be widened; `None` if one of them is not known to be checkable.
fn promises(func: &Function, bounds: &mut GroupBounds<'_>, number: Value, signed: bool) -> Option<Vec<Promise>> {
    let (promise, limit) = match signed {
        true => (Flags::NSW, MOST_SIGNED),
        false => (Flags::NUW, u64::from(u32::MAX)),
    };
    let mut found = Vec::new();
    let mut seen = vec![number];
    let mut at = 0;
    while let Some(&v) = seen.get(at) {
        at += 1;
        if seen.len() > MAX_VISITED {
            return None;
        }
        let next: Vec<Value> = match func.values[v].def {
            // It has no stride that could be lost.
            _ if bounds.is_shared(v) => Vec::new(),
            ValueDef::Param(b, _) if b == func.entry() => Vec::new(),
            ValueDef::Param(b, k) => {
                let edges = func.layout.iter().flat_map(|&x| func.blocks[x].term.edges());
                edges.filter(|e| e.block == b).map(|e| e.args[k as usize]).collect()
            }
            ValueDef::Inst(inst) => {
                let data = &func.insts[inst];
                match data.op {
                    Op::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl) => {
                        if !data.flags.contains(promise) {
                            let bound = bounds.within(v, limit)?;
                            // Within 31 bits, both readings are one.
                            let both = if signed { Flags::NSW | Flags::NUW } else { Flags::NUW };
                            found.push(Promise { inst, flags: both, bound });
                        }
                        data.args.to_vec()
                    }
                    Op::Select => data.args[1..].to_vec(),
                    _ => Vec::new(),
                }
            }
        };
        for v in next {
            if !seen.contains(&v) {
                seen.push(v);
            }
        }
    }
    Some(found)
}
