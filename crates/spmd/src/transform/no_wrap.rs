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
//! A number of 32 bits is widened before it is added to an address. If it may wrap, the widened number has no stride:
//! not from lane to lane ([`crate::analysis::shape`]), nor from iteration to iteration ([`cloom_ir::affine`]). Signed
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
//! costs less than the copy's compilation. A function whose accesses are checked gets one that does without those
//! checks ([`crate::transform::group_checks`]), and then with all promises; both are for vectors.

use crate::analysis::bounds::Bounds;
use crate::analysis::divergence;
use crate::analysis::group_bounds::{Bound, GroupBounds, MAX_SIGNED};
use crate::analysis::group_code::{Condition, GroupCode};
use crate::analysis::group_intervals::{Claim, GroupIntervals};
use crate::params::Param;
use crate::transform::group_checks::{self, Proofs, Reason};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{BinOp, Block, CastOp, Flags, Function, Inst, Op, Span, Type, Value, ValueDef};
use rustc_hash::FxHashSet;

/// Larger functions get no copy.
const MAX_INSTS: usize = 400;

/// Nor do those whose condition has more checks.
const MAX_CHECKS: usize = 16;

/// Both for functions that check their accesses: the copy then saves much more.
const MAX_INSTS_CHECKED: usize = 2000;
const MAX_CHECKS_CHECKED: usize = 96;

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
    /// How many checks of bounds the copy does without. Groups of the edge need them, so that the function is worth
    /// vectors too.
    pub proved: usize,
}

/// What was found.
pub struct NoWrap {
    /// How many promises were written into the function itself.
    pub known: usize,
    /// How many branches of checks hold in every group, and are gone from the function and from the copy.
    pub dropped: usize,
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
/// lanes, `max` the largest values of all. `bounds_checks`: the function checks its accesses.
pub fn run(func: &mut Function, params: &[Param], varying: &[Value], max: &[u64], bounds_checks: bool) -> NoWrap {
    let none = NoWrap { known: 0, dropped: 0, checked: None };
    // Before any analysis: functions with indices of 64 bits have nothing to promise.
    if !bounds_checks && !func.insts_in_layout().any(|(_, data)| is_widening(func, &data.op, &data.args)) {
        return none;
    }
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let lanes = divergence::between_lanes(func, varying);
    let constant = Bounds::new(func, max);
    let mut bounds = GroupBounds::new(func, params, &cfg, &dom, &constant);
    let (mut known, mut checked): (Vec<Promise>, Vec<Promise>) = Default::default();
    let mut intervals = bounds_checks.then(|| GroupIntervals::new(func, params, &cfg, &dom, &constant));
    let proofs = match &mut intervals {
        Some(intervals) => {
            let mut constants = intervals.of_constants();
            group_checks::find(func, &cfg, &mut constants, intervals, &mut bounds)
        }
        None => Proofs::default(),
    };
    let Proofs { known: dropped, of_group: proofs } = proofs;
    for (widening, in_loop) in indices(func, &loops) {
        let Some(Op::Cast(op)) = func.def_op(widening) else { continue };
        // What is the same in all lanes has no stride to lose.
        let Some(i) = func.def_inst(widening).filter(|_| !lanes.is_uniform(widening)) else { continue };
        let signed = *op == CastOp::Sext;
        let Some(promises) = promises(func, &mut bounds, func.insts[i].args[0], signed) else { continue };
        // Known promises cost nothing, and are written wherever the index is.
        if promises.iter().all(|p| bounds.is_known(p.bound)) {
            known.extend(promises);
        } else if in_loop || !proofs.is_empty() {
            checked.extend(promises);
        }
    }
    // One condition for all promises: if one of them does not hold, the group runs the function as it was.
    let of_proofs = proofs.iter().filter_map(|p| if let Reason::Bound(bound) = p.reason { Some(bound) } else { None });
    let all: Vec<Bound> = checked.iter().map(|p| p.bound).chain(of_proofs).collect();
    let claims: Vec<&Claim> = proofs
        .iter()
        .filter_map(|p| if let Reason::Interval(claim) = &p.reason { Some(claim) } else { None })
        .collect();
    let (max_insts, max_checks) = match bounds_checks {
        true => (MAX_INSTS_CHECKED, MAX_CHECKS_CHECKED),
        false => (MAX_INSTS, MAX_CHECKS),
    };
    let checks = bounds.count_checks(&all) + intervals.as_ref().map_or(0, |intervals| intervals.count_checks(&claims));
    // A long condition would cost each group time, and a large copy time to compile.
    let may_copy = !(all.is_empty() && claims.is_empty()) && func.size() <= max_insts && checks <= max_checks;
    let condition = (may_copy && (!proofs.is_empty() || runs_alone(func, params))).then(|| {
        // The condition chooses between two versions, so it belongs to the function of neither.
        let mut code = GroupCode::new(&format!("{}.no_wrap", func.name), func, params);
        let mut conditions = bounds.emit(&all, &mut code);
        conditions.extend(intervals.iter().flat_map(|intervals| intervals.emit(&claims, &mut code)));
        code.condition(conditions)
    });
    let promise = |func: &mut Function, p: &Promise| func.insts[p.inst].flags |= p.flags;
    // Into both: before the copy is made.
    known.iter().for_each(|p| promise(func, p));
    group_checks::drop_proved(func, dropped.iter().map(|(block, rest)| (*block, &rest[..])));
    let checked = condition.map(|condition| {
        let mut copy = func.clone();
        checked.iter().for_each(|p| promise(&mut copy, p));
        group_checks::drop_proved(&mut copy, proofs.iter().map(|p| (p.block, &p.rest[..])));
        let mut spans: Vec<Span> = checked.iter().map(|p| func.insts[p.inst].span).collect();
        let mut seen = FxHashSet::default();
        // An index of several sums in one expression has one position in the source.
        spans.retain(|&span| seen.insert(span));
        Checked { condition, func: copy, spans, proved: proofs.len() }
    });
    NoWrap { known: known.len(), dropped: dropped.len(), checked }
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
        // Where the address is made, not where the index is: that is where a stride is lost in each iteration.
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
        true => (Flags::NSW, MAX_SIGNED),
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
            // A counter is widened as a whole: all that it may be must keep the promise.
            ValueDef::Param(b, k) => {
                let edges = func.layout.iter().flat_map(|&x| func.blocks[x].term.edges());
                edges.filter(|e| e.block == b).map(|e| e.args[k as usize]).collect()
            }
            ValueDef::Inst(inst) => {
                let data = &func.insts[inst];
                match data.op {
                    Op::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl) => {
                        if !data.flags.contains(promise) {
                            // Without a bound for one of the numbers, the others' promises are of no use.
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

#[cfg(test)]
mod tests {
    use super::*;
    use cloom_ir::Query;

    /// What is found in a loop that begins with `start` and runs while `test` of v10 holds. `body` computes an index
    /// v20 and the next counter v24. v3 is a global id of 32 bits, v1 the argument `n`, v4 is 0, v5 is 1.
    fn found(start: &str, test: &str, body: &str, widening: &str) -> (NoWrap, Function) {
        let text = format!(
            "func internal @f(i64, i32, ptr<global>) -> i32 {{
bb0(v0: i64, v1: i32, v2: ptr<global>):
    v3: i32 = trunc v0
    v4: i32 = const 0x0
    v5: i32 = const 0x1
    v6: i32 = const 0xfffffff0
    v7: i32 = mul v3, v1
    jump bb1({start})
bb1(v10: i32):
    v11: i1 = icmp {test}
    br v11, bb2, bb5
bb2:
{body}
    v21: i64 = {widening} v20
    v22: ptr<global> = ptradd v2, v21
    v23: i8 = load v22 align 1
    jump bb1(v24)
bb5:
    ret v4
}}"
        );
        let module = cloom_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut func = module.funcs.values().next().unwrap().clone();
        let params = [Param::GlobalId(0), Param::Kernel(0), Param::Kernel(1)];
        let varying = [func.param_values()[0]];
        let found = run(&mut func, &params, &varying, &[crate::params::MAX_ID, u64::MAX, u64::MAX], false);
        (found, func)
    }

    const ROW: &str = "    v20: i32 = add v7, v10\n    v24: i32 = add v10, v5";

    /// Whether a condition holds for a group of 16 in groups of 16, and an argument.
    fn holds(condition: &Condition, group: u64, n: u64) -> bool {
        let holds = condition.holds(|p| match p {
            Param::Kernel(_) => n,
            Param::Query(Query::GroupId, _) => group,
            Param::Query(Query::GlobalOffset, _) => 0,
            Param::Query(Query::LocalSize | Query::EnqueuedLocalSize, _) => 16,
            p => panic!("{p:?}"),
        });
        holds.unwrap()
    }

    #[test]
    fn the_check_of_a_row_is_exact() {
        let (found, _) = found("v4", "ult v10, v1", ROW, "zext");
        assert_eq!(found.known, 0);
        let condition = found.checked.unwrap().condition;
        // The largest index is last * n + n - 1.
        for (group, n, holds_there) in [
            (0, 5, true),
            (0, 1 << 28, true),
            (0, (1 << 28) + 1, false),
            (15, 1 << 24, true),
            (15, (1 << 24) + 1, false),
            (1 << 20, 0, true),
            (0, u64::from(u32::MAX), false),
            ((1 << 26) - 1, 4, true),
            ((1 << 26) - 1, 5, false),
        ] {
            assert_eq!(holds(&condition, group, n), holds_there, "{group}, {n}");
        }
    }

    #[test]
    fn a_signed_index_has_31_bits() {
        let (found, _) = found("v4", "slt v10, v1", ROW, "sext");
        let checked = found.checked.unwrap();
        assert!(holds(&checked.condition, 0, 1 << 27) && !holds(&checked.condition, 0, (1 << 27) + 1));
        let mut adds = checked.func.insts_in_layout().filter(|(_, data)| data.op == Op::Binary(BinOp::Add));
        assert!(adds.all(|(_, data)| data.flags.contains(Flags::NSW | Flags::NUW)));
        // Below the largest unsigned number, a counter may be negative.
        assert!(!holds(&checked.condition, 0, 1 << 31));
    }

    #[test]
    fn a_counter_that_ends_at_a_number_begins_below_and_adds_one() {
        let checked = |start: &str, body: &str| found(start, "ne v10, v1", body, "zext").0.checked;
        assert!(holds(&checked("v4", ROW).unwrap().condition, 0, 100));
        // From the id: the last one must not be above.
        let condition = checked("v3", ROW).unwrap().condition;
        assert!(holds(&condition, 0, 15) && !holds(&condition, 0, 14) && !holds(&condition, 1, 30));
        assert!(checked("v6", ROW).is_none_or(|c| !holds(&c.condition, 0, 100)));
        // Steps of n pass it.
        assert!(checked("v4", "    v20: i32 = add v7, v10\n    v24: i32 = add v10, v1").is_none());
    }

    #[test]
    fn a_condition_bounds_only_where_it_dominates() {
        // The counter goes on where it is not below n.
        let body = |cc: &str| {
            format!(
                "    v12: i1 = icmp {cc} v10, v1\n    br v12, bb3, bb4\nbb3:\n    jump bb4\nbb4:\n    \
                 v20: i32 = add v7, v10\n    \
                 v24: i32 = add v10, v5"
            )
        };
        for cc in ["ult", "slt", "ne"] {
            assert!(found("v4", "ne v10, v6", &body(cc), "zext").0.checked.is_none_or(|c| {
                // The end of the loop itself is a bound, which no row has room for.
                !holds(&c.condition, 1, 100)
            }));
            assert!(found("v4", "sge v10, v4", &body(cc), "zext").0.checked.is_none());
        }
    }

    #[test]
    fn negative_starts_have_no_bound() {
        assert!(found("v6", "slt v10, v1", ROW, "zext").0.checked.is_none());
        assert!(found("v6", "slt v10, v1", ROW, "sext").0.checked.is_none());
        // Without a sign it is a large number: the body runs only where it is below n.
        let condition = found("v6", "ult v10, v1", ROW, "zext").0.checked.unwrap().condition;
        assert!(holds(&condition, 0, 100) && !holds(&condition, 1, 0xffff_fff8));
    }

    #[test]
    fn what_a_group_knows_may_have_wrapped_itself() {
        // n * n is no number of 32 bits always, but the same in all lanes: it needs no promise.
        let body = "    v19: i32 = mul v1, v1\n    v20: i32 = add v19, v10\n    v24: i32 = add v10, v5";
        let (found, func) = found("v4", "ult v10, v1", body, "zext");
        assert!(found.checked.is_none(), "the index is uniform");
        let mut muls = func.insts_in_layout().filter(|(_, data)| data.op == Op::Binary(BinOp::Mul));
        assert!(muls.all(|(_, data)| data.flags.is_empty()));
    }
}
