//! Remarks: what was decided for a kernel and why, as data for the build log and `cloom show`.

use crate::analysis::dim_order::{AS_WRITTEN, DimOrder};
use crate::analysis::divergence::{Cause, Divergence};
use crate::analysis::shape::{self, Shape};
use crate::cost::Width;
use crate::emit::widen::VectorInput;
use crate::split::continuation_fn::Param;
use crate::split::continuations::ContinuationGraph;
use crate::split::frame::{Frame, Slot};
use cloom_ir::{Entity, Function, Inst, Op, Space, Span, Value, ValueDef};

/// One decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remark {
    /// Where in the source.
    pub span: Span,
    /// What became of it.
    pub what: String,
    /// Why.
    pub why: String,
}

/// What a branch is called that work-items of a group may take differently,
const DIVERGENT: &str = "divergent branch";
/// and what becomes of it in vectors,
const UNDER_MASKS: &str = "branch under masks";
/// or if it leaves a loop.
const UNTIL_LAST: &str = "loop: divergent, runs until the last lane has left";

/// Puts the remarks about work-items and about lanes together: what is said of a branch in lanes says the other, too.
pub(crate) fn merge(items: Vec<Remark>, lanes: Vec<Remark>) -> Vec<Remark> {
    let in_lanes = |r: &&Remark| r.what == UNDER_MASKS || r.what == UNTIL_LAST;
    let masked: Vec<Span> = lanes.iter().filter(in_lanes).map(|r| r.span).collect();
    let said = |r: &Remark| r.what == DIVERGENT && masked.contains(&r.span);
    let mut all: Vec<Remark> = items.into_iter().filter(|r| !said(r)).collect();
    // What stands before a barrier and behind it is there in several continuations.
    for r in lanes {
        if !all.contains(&r) {
            all.push(r);
        }
    }
    all
}

/// Writes down what the stages decided.
pub fn collect(func: &Function, graph: &ContinuationGraph, frame: &Frame, divergence: &Divergence) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for (i, c) in graph.continuations.iter().enumerate().skip(1) {
        let kept = c.live_in.iter().filter(|v| matches!(frame.slots[v.index()], Some(Slot::Item(_)))).count();
        let shared = c.live_in.iter().filter(|v| matches!(frame.slots[v.index()], Some(Slot::Group(_)))).count();
        let span = graph
            .barrier_after
            .iter()
            .position(|&n| n == Some(i))
            .map_or(Span::NONE, |b| func.blocks[cloom_ir::Block::new(b)].term_span);
        let (what, why) = if graph.batched[i] {
            (
                format!("loop: a synthetic barrier, at which the work-items of several groups wait: continuation {i}"),
                format!("in grid strides they read memory in order; {kept} values are kept for each of them"),
            )
        } else {
            (
                format!("barrier: continuation {i}"),
                format!("{kept} values are kept for each work-item across it, {shared} once for the group"),
            )
        };
        remarks.push(Remark { span, what, why });
    }
    if graph.divergent_dispatch {
        remarks.push(Remark {
            span: Span::NONE,
            what: "each work-item keeps its own next continuation".into(),
            why: "a branch that may differ between work-items decides whether a barrier is reached".into(),
        });
    }
    for &b in &func.layout {
        let block = &func.blocks[b];
        let Some(cond) = block.term.operand().filter(|_| divergence.is_divergent_branch(b)) else { continue };
        let why = match divergence.cause(cond) {
            Some(Cause::Source(i)) => match &func.insts[i].op {
                Op::Query { what, dim } => format!("it depends on {}({dim})", what.name()),
                Op::Load { .. } => "it depends on a value from memory".into(),
                op if op.is_subgroup() => "it depends on what a sub-group found out".into(),
                Op::Alloca { .. } => "it depends on a private variable's address".into(),
                _ => "it depends on an atomic operation or a call".into(),
            },
            Some(Cause::Branch(_)) => "it depends on which way an earlier branch went".into(),
            Some(Cause::Param) | None => continue,
        };
        remarks.push(Remark { span: block.term_span, what: DIVERGENT.into(), why });
    }
    remarks
}

/// What became of the accesses and branches of one continuation in lanes.
pub(crate) fn lanes(item: &VectorInput, params: &[Param], dim_order: DimOrder) -> Vec<Remark> {
    let cause = |v: Value| cause(item, params, dim_order, item.shapes.cause(v));
    let func = &item.func;
    let mut remarks = Vec::new();
    for &b in &func.layout {
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            // What the compiler put there itself has no place in the source.
            if data.span == Span::NONE {
                continue;
            }
            let kind = match data.op {
                Op::Load { .. } => "load",
                Op::Store { .. } => "store",
                _ => {
                    remarks.extend(lane_by_lane(item, i));
                    continue;
                }
            };
            let p = data.args[0];
            let value = data.result.unwrap_or(data.args.last().copied().unwrap_or(p));
            let size = i64::from(func.ty(value).bytes());
            let (what, why) = match item.shapes.of(p) {
                Shape::Uniform | Shape::Unknown => {
                    ("one for all lanes", "the address is the same in all lanes".to_owned())
                }
                Shape::Strided { by, checked } if by == size => match checked {
                    false => ("one vector", "neighbours in memory".to_owned()),
                    true => (
                        "one vector, after a test",
                        "neighbours in memory unless an index wraps or is cut off".to_owned(),
                    ),
                },
                Shape::Strided { by, .. } => ("lane by lane or shuffled", format!("lanes are {by} bytes apart")),
                Shape::Varying => ("lane by lane", cause(p)),
            };
            remarks.push(Remark { span: data.span, what: format!("{kind}: {what}"), why });
        }
        let block = &func.blocks[b];
        let Some(cond) = block.term.operand().filter(|_| block.term_span != Span::NONE) else { continue };
        let leaves = item.loops.loops.iter().any(|l| l.exits.iter().any(|&(from, _)| from == b));
        let (what, why) = match (item.shapes.diverges(b), leaves) {
            (true, leaves) => (if leaves { UNTIL_LAST } else { UNDER_MASKS }, cause(cond)),
            (false, true) => ("loop: as many iterations for all lanes", "what ends it is the same in all lanes".into()),
            (false, false) => continue,
        };
        remarks.push(Remark { span: block.term_span, what: what.into(), why });
    }
    remarks
}

/// What becomes of an instruction for which there may be none for vectors.
fn lane_by_lane(item: &VectorInput, i: Inst) -> Option<Remark> {
    let data = &item.func.insts[i];
    let differ = data.args.iter().any(|&a| !item.shapes.is_uniform(a));
    let (what, why) = match data.op {
        Op::AtomicRmw { .. } if item.shapes.is_uniform(data.args[0]) => {
            ("atomic operation: put together, where it can be", "the address is the same in all lanes")
        }
        Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } => match item.func.ty(data.args[0]).space() {
            Some(Space::Local | Space::Private) => {
                ("atomic operation: lane by lane, without a lock", "one thread runs a group")
            }
            _ => ("atomic operation: lane by lane", "lanes have addresses of their own, which may be the same"),
        },
        Op::Call(_) if differ => ("call: lane by lane", "the function was too large to be inlined"),
        Op::Printf(_) => ("printf: lane by lane", "each work-item prints"),
        _ => return None,
    };
    Some(Remark { span: data.span, what: what.into(), why: why.into() })
}

/// Why lanes lie along another dimension than the first, if they do.
pub(crate) fn dim_order(dim_order: DimOrder) -> Option<Remark> {
    (dim_order != AS_WRITTEN).then(|| Remark {
        span: Span::NONE,
        what: format!("lanes lie along dimension {}", dim_order[0]),
        why: "that is where neighbours in memory are".into(),
    })
}

/// How many work-items there are to a vector.
pub(crate) fn width(width: Width) -> Remark {
    let what = match width.lanes {
        1 => "work-items run one at a time".into(),
        lanes => format!("{lanes} work-items to a vector"),
    };
    Remark { span: Span::NONE, what, why: width.why.into() }
}

/// Why a kernel that should have vectors has none.
pub(crate) fn not_vectorised(why: String) -> Remark {
    Remark { span: Span::NONE, what: "work-items run one at a time".into(), why }
}

/// An element of a private array that a loop reads back.
pub(crate) fn store_to_load(span: Span) -> Remark {
    Remark {
        span,
        what: "load: forwarded".into(),
        why: "the iteration before stored this element of the private array: it stays in registers".into(),
    }
}

/// A loop that loads for several iterations at once.
pub(crate) fn row_transpose(span: Span) -> Remark {
    Remark {
        span,
        what: "loop: several iterations at once".into(),
        why: "each work-item reads along a row of its own: rows are transposed in registers".into(),
    }
}

/// A loop that prefetches what later iterations read.
pub(crate) fn prefetch_loop(span: Span) -> Remark {
    Remark {
        span,
        what: "loop: prefetches what later iterations read".into(),
        why: "its stride is known at run time only, and may lead from page to page".into(),
    }
}

/// An access that is prefetched for later work-items.
pub(crate) fn prefetch_scatter(span: Span) -> Remark {
    Remark {
        span,
        what: "access: prefetched for later work-items".into(),
        why: "neighbours are far apart in memory, at addresses that are computed from their ids".into(),
    }
}

/// A loop that runs for some components of its vectors at a time.
pub(crate) fn component_split(span: Span) -> Remark {
    Remark {
        span,
        what: "loop: split, some components of its vectors at a time".into(),
        why: "all of them, each a vector of work-items, do not fit in the registers, and they do not need each other"
            .into(),
    }
}

/// Integers that are narrower than the source has them.
pub(crate) fn narrow(span: Span) -> Remark {
    Remark {
        span,
        what: "integers: 16 bits a lane".into(),
        why: "no more bits are needed of what is computed here, and a register holds twice as many".into(),
    }
}

/// Why a value differs between lanes, in words.
fn cause(item: &VectorInput, params: &[Param], dim_order: DimOrder, cause: Option<shape::Cause>) -> String {
    match cause {
        Some(shape::Cause::Source(i)) => match item.func.insts[i].op {
            Op::Load { .. } => "it depends on a value from memory".into(),
            _ => "it depends on an atomic operation or a call".into(),
        },
        Some(shape::Cause::Param(n)) => parameter(params, dim_order, n),
        Some(shape::Cause::Wrap(_)) => "an index may wrap where it is widened".into(),
        // Truth values are never evenly apart: what is compared is the reason.
        Some(shape::Cause::Stride(i)) if matches!(item.func.insts[i].op, Op::Icmp(_) | Op::Fcmp(_)) => {
            match origin(item, i) {
                Some(n) => parameter(params, dim_order, n),
                None => "it compares numbers that differ between lanes".into(),
            }
        }
        Some(shape::Cause::Stride(i)) => {
            format!("`{}` does not keep lanes evenly apart", op_name(&item.func.insts[i].op))
        }
        Some(shape::Cause::Branch(_)) => "it depends on which way an earlier branch went".into(),
        None => "lanes differ".into(),
    }
}

fn parameter(params: &[Param], dim_order: DimOrder, n: u32) -> String {
    let written = |d: u8| dim_order[usize::from(d)];
    match params.get(n as usize) {
        Some(&Param::LocalId(d)) => format!("it depends on get_local_id({})", written(d)),
        Some(&Param::GlobalId(d)) => format!("it depends on get_global_id({})", written(d)),
        _ => "it depends on a value from before a barrier".into(),
    }
}

/// The parameter of the function that the lanes of an instruction's operands come from, if one is found.
fn origin(item: &VectorInput, inst: Inst) -> Option<u32> {
    let func = &item.func;
    let mut work: Vec<Value> = func.insts[inst].args.to_vec();
    let mut at = 0;
    while let Some(&v) = work.get(at) {
        at += 1;
        if item.shapes.is_uniform(v) || at > MAX_ORIGIN {
            continue;
        }
        let more: Vec<Value> = match func.values[v].def {
            ValueDef::Param(b, n) if b == func.entry() => return Some(n),
            ValueDef::Param(b, n) => {
                let edges = func.layout.iter().flat_map(|&x| func.blocks[x].term.edges());
                edges.filter(|e| e.block == b).filter_map(|e| e.args.get(n as usize).copied()).collect()
            }
            ValueDef::Inst(i) => func.insts[i].args.to_vec(),
        };
        work.extend(more.into_iter().filter(|v| !work.contains(v)).collect::<Vec<_>>());
    }
    None
}

/// So many values are looked at on the way back.
const MAX_ORIGIN: usize = 64;

fn op_name(op: &Op) -> &'static str {
    match op {
        Op::Unary(op) => op.name(),
        Op::Binary(op) => op.name(),
        Op::Cast(op) => op.name(),
        Op::Select => "select",
        Op::PtrAdd => "ptradd",
        _ => "operation",
    }
}
