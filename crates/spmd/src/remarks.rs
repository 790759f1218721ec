//! Remarks: the decisions made for a kernel and their reasons, as data for the build log and `cloom show`.
//!
//! A remark reads `PLACE: WHAT: WHY`, for example `k.cl:3: load: one vector: unit stride`.

use crate::analysis::divergence::{Cause, Divergence};
use crate::analysis::input::VectorInput;
use crate::analysis::shape::{self, Shape};
use crate::cost::Width;
use crate::decisions::{Access, AccessForm};
use crate::params::Param;
use crate::split::continuations::ContinuationGraph;
use crate::split::frame::{Frame, Slot};
use crate::transform::dim_order::{AS_WRITTEN, DimOrder};
use cloom_ir::{Entity, Function, Inst, Op, Space, Span, Value, ValueDef};
use std::collections::BTreeMap;

/// The kind of a decision, for programs: texts may be reworded, codes stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RemarkCode {
    /// A barrier ends a continuation.
    Barrier,
    /// A grid-stride loop got a synthetic barrier.
    GridStride,
    /// Work-items of a group may wait at different barriers.
    DivergentDispatch,
    /// Work-items of a group may take a branch differently.
    DivergentBranch,
    /// Vectors run both sides of a branch under masks.
    LinearisedBranch,
    /// Lanes leave a loop in different iterations.
    DivergentLoop,
    /// All lanes leave a loop together.
    UniformLoop,
    /// A load or store, by the shape of its address.
    Access,
    /// An operation that may have no vector form.
    LaneByLane,
    /// Vectors lie along another dimension than the first.
    DimOrder,
    /// How many work-items a vector has.
    Width,
    /// A limit or a bug left the kernel without vectors.
    NotVectorised,
    /// A load was replaced by what the iteration before stored.
    StoreToLoad,
    /// A loop was strip-mined, and its rows are transposed in registers.
    RowTranspose,
    /// A loop prefetches for later iterations.
    PrefetchLoop,
    /// A scattered access is prefetched for later work-items.
    PrefetchScatter,
    /// A loop was split by the components of its short vectors.
    ComponentSplit,
    /// Integers are computed in fewer bits.
    Narrow,
    /// Indices of 32 bits are checked once per group.
    NoWrap,
    /// How many work-items a thread of a GPU is.
    Coarse,
    /// Which work-items a warp of a GPU is.
    WarpShape,
}

impl RemarkCode {
    /// Its name, for example `row-transpose`.
    pub fn name(self) -> &'static str {
        match self {
            RemarkCode::Barrier => "barrier",
            RemarkCode::GridStride => "grid-stride",
            RemarkCode::DivergentDispatch => "divergent-dispatch",
            RemarkCode::DivergentBranch => "divergent-branch",
            RemarkCode::LinearisedBranch => "linearised-branch",
            RemarkCode::DivergentLoop => "divergent-loop",
            RemarkCode::UniformLoop => "uniform-loop",
            RemarkCode::Access => "access",
            RemarkCode::LaneByLane => "lane-by-lane",
            RemarkCode::DimOrder => "dim-order",
            RemarkCode::Width => "width",
            RemarkCode::NotVectorised => "not-vectorised",
            RemarkCode::StoreToLoad => "store-to-load",
            RemarkCode::RowTranspose => "row-transpose",
            RemarkCode::PrefetchLoop => "prefetch-loop",
            RemarkCode::PrefetchScatter => "prefetch-scatter",
            RemarkCode::ComponentSplit => "component-split",
            RemarkCode::Narrow => "narrow",
            RemarkCode::NoWrap => "no-wrap",
            RemarkCode::Coarse => "coarse",
            RemarkCode::WarpShape => "warp-shape",
        }
    }
}

/// One decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remark {
    /// Its kind.
    pub code: RemarkCode,
    /// The position in the source.
    pub span: Span,
    /// The decision, for example `load: one vector`.
    pub what: String,
    /// The reason.
    pub why: String,
}

/// Merges the remarks on the kernel with those on vector code, in the order of the source; last are those on the whole
/// kernel. A branch with a remark of the second kind needs none of the first.
pub(crate) fn merge(items: Vec<Remark>, lanes: Vec<Remark>) -> Vec<Remark> {
    let is_divergent = |r: &&Remark| matches!(r.code, RemarkCode::LinearisedBranch | RemarkCode::DivergentLoop);
    let masked: Vec<Span> = lanes.iter().filter(is_divergent).map(|r| r.span).collect();
    let is_repeated = |r: &Remark| r.code == RemarkCode::DivergentBranch && masked.contains(&r.span);
    let mut all: Vec<Remark> = items.into_iter().filter(|r| !is_repeated(r)).collect();
    // Continuations overlap, so that one instruction may have the same remark in several.
    for r in lanes {
        if !all.contains(&r) {
            all.push(r);
        }
    }
    all.sort_by_key(|r| (r.span == Span::NONE, r.span.file, r.span.line, r.span.col));
    all
}

/// The remarks on barriers, and on branches that diverge within a group.
pub fn collect(func: &Function, graph: &ContinuationGraph, frame: &Frame, divergence: &Divergence) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for (i, c) in graph.continuations.iter().enumerate().skip(1) {
        let per_item = c.live_in.iter().filter(|v| matches!(frame.slots[v.index()], Some(Slot::Item(_)))).count();
        let per_group = c.live_in.iter().filter(|v| matches!(frame.slots[v.index()], Some(Slot::Group(_)))).count();
        let span = graph
            .barrier_after
            .iter()
            .position(|&n| n == Some(i))
            .map_or(Span::NONE, |b| func.blocks[cloom_ir::Block::new(b)].term_span);
        let (code, what, why) = if graph.batched[i] {
            (
                RemarkCode::GridStride,
                format!("loop: grid-stride, with a synthetic barrier for a batch of groups: continuation {i}"),
                format!("the groups read memory in order; values saved across it: {per_item} per work-item"),
            )
        } else {
            (
                RemarkCode::Barrier,
                format!("barrier: continuation {i}"),
                format!("values saved across it: {per_item} per work-item, {per_group} per group"),
            )
        };
        remarks.push(Remark { code, span, what, why });
    }
    if graph.divergent_dispatch {
        remarks.push(Remark {
            code: RemarkCode::DivergentDispatch,
            span: Span::NONE,
            what: "divergent dispatch: each work-item saves its next continuation".into(),
            why: "a divergent branch decides whether a barrier is reached".into(),
        });
    }
    for &b in &func.layout {
        let block = &func.blocks[b];
        let Some(cond) = block.term.operand().filter(|_| divergence.is_divergent_branch(b)) else { continue };
        let why = match divergence.cause(cond) {
            Some(Cause::Source(i)) => match &func.insts[i].op {
                Op::Query { what, dim } => format!("it depends on {}({dim})", what.name()),
                Op::Load { .. } => "it depends on a loaded value".into(),
                op if op.is_subgroup() => "it depends on a sub-group operation".into(),
                Op::Alloca { .. } => "it depends on the address of a private variable".into(),
                _ => "it depends on an atomic operation or a call".into(),
            },
            Some(Cause::Branch(_)) => "it depends on an earlier divergent branch".into(),
            Some(Cause::Param) | None => continue,
        };
        let (code, span) = (RemarkCode::DivergentBranch, block.term_span);
        remarks.push(Remark { code, span, what: "branch: divergent".into(), why });
    }
    remarks
}

/// The remarks on the branches of one continuation in vector code, and on what may have no vector form.
pub(crate) fn branches(item: &VectorInput, params: &[Param], dim_order: DimOrder) -> Vec<Remark> {
    let func = &item.func;
    let mut remarks = Vec::new();
    for &b in &func.layout {
        let block = &func.blocks[b];
        // The compiler's own instructions have no position in the source.
        let in_source = block.insts.iter().filter(|&&i| func.insts[i].span != Span::NONE);
        remarks.extend(in_source.filter_map(|&i| lane_by_lane(item, i)));
        let Some(cond) = block.term.operand().filter(|_| block.term_span != Span::NONE) else { continue };
        let leaves = item.loops.loops.iter().any(|l| l.exits.iter().any(|&(from, _)| from == b));
        let (code, what) = match (item.shapes.diverges(b), leaves) {
            (true, true) => (RemarkCode::DivergentLoop, "loop: divergent, runs until the last lane has left"),
            (true, false) => (RemarkCode::LinearisedBranch, "branch: divergent, linearised under masks"),
            (false, true) => (RemarkCode::UniformLoop, "loop: uniform"),
            (false, false) => continue,
        };
        let why = match code {
            RemarkCode::UniformLoop => "its exit condition is the same in all lanes".into(),
            _ => cause(item, params, dim_order, item.shapes.cause(cond)),
        };
        remarks.push(Remark { code, span: block.term_span, what: what.into(), why });
    }
    remarks
}

/// The remarks on the accesses of one continuation, as they were written.
pub(crate) fn accesses(item: &VectorInput, params: &[Param], dim_order: DimOrder, written: &[Access]) -> Vec<Remark> {
    let func = &item.func;
    // The two forms of each instruction: with all lanes on, and under a mask.
    let mut forms: BTreeMap<Inst, [Option<Access>; 2]> = BTreeMap::new();
    for &access in written.iter().filter(|a| func.insts[a.inst].span != Span::NONE) {
        forms.entry(access.inst).or_default()[usize::from(access.masked)].get_or_insert(access);
    }
    let remark = |(&inst, forms): (&Inst, &[Option<Access>; 2])| {
        let data = &func.insts[inst];
        let kind = if matches!(data.op, Op::Load { .. }) { "load" } else { "store" };
        let (first, other) = match *forms {
            [Some(all_on), masked] => (all_on, masked.filter(|m| m.form != all_on.form)),
            [None, masked] => (masked?, None),
        };
        let mut what = format!("{kind}: {}", form(first.form, kind));
        if first.checked {
            what += ", after a run-time check";
        }
        if let Some(masked) = other {
            what = format!("{what}; where lanes are off: {}", form(masked.form, kind));
        }
        let p = data.args[0];
        let why = match item.shapes.of(p) {
            Shape::Uniform | Shape::Unknown => "the address is the same in all lanes".to_owned(),
            Shape::Strided { by: 0, .. } => "the same address unless a quotient differs between lanes".to_owned(),
            Shape::Strided { checked, .. } if matches!(first.form, AccessForm::Vector) => match checked {
                false => "unit stride".to_owned(),
                true => "unit stride unless an index wraps or is clamped".to_owned(),
            },
            Shape::Strided { by, .. } => format!("a stride of {by} bytes"),
            Shape::Varying => cause(item, params, dim_order, item.shapes.cause(p)),
        };
        Some(Remark { code: RemarkCode::Access, span: data.span, what, why })
    };
    forms.iter().filter_map(remark).collect()
}

/// A form in words.
fn form(form: AccessForm, kind: &str) -> &'static str {
    match form {
        AccessForm::Scalar => "one scalar access",
        AccessForm::Vector => "one vector",
        AccessForm::Reversed => "one vector, reversed",
        AccessForm::Covering => "vectors that cover the range, and a shuffle",
        AccessForm::Gapped => "masked vectors that leave gaps",
        AccessForm::Record => "one with the other fields of the record",
        AccessForm::LaneByLane => "lane by lane",
        AccessForm::Indexed if kind == "load" => "gather",
        AccessForm::Indexed => "scatter",
    }
}

/// The remark on an instruction that may have no vector form.
fn lane_by_lane(item: &VectorInput, i: Inst) -> Option<Remark> {
    let data = &item.func.insts[i];
    let varies = data.args.iter().any(|&a| !item.shapes.is_uniform(a));
    let (what, why) = match data.op {
        Op::AtomicRmw { .. } if item.shapes.is_uniform(data.args[0]) => {
            ("atomic operation: lanes combined first, where possible", "the address is the same in all lanes")
        }
        Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } => match item.func.ty(data.args[0]).space() {
            Some(Space::Local | Space::Private) => {
                ("atomic operation: lane by lane, not locked", "one thread runs a group")
            }
            _ => ("atomic operation: lane by lane", "addresses differ between lanes, and may collide"),
        },
        Op::Call(_) if varies => ("call: lane by lane", "the function was too large to be inlined"),
        Op::Printf(_) => ("printf: lane by lane", "each work-item prints"),
        Op::DeviceCall(_) => ("call of the launcher: lane by lane", "each work-item enqueues"),
        _ => return None,
    };
    Some(Remark { code: RemarkCode::LaneByLane, span: data.span, what: what.into(), why: why.into() })
}

/// The remark on the vectorised dimension, if it is not the first.
pub(crate) fn dim_order(dim_order: DimOrder) -> Option<Remark> {
    (dim_order != AS_WRITTEN).then(|| Remark {
        code: RemarkCode::DimOrder,
        span: Span::NONE,
        what: format!("vectors lie along dimension {}", dim_order[0]),
        why: "accesses to memory have unit stride along it".into(),
    })
}

/// The remark on the number of lanes.
pub(crate) fn width(width: Width) -> Remark {
    let what = match width.lanes {
        1 => "work-items run one at a time".into(),
        lanes => format!("{lanes} work-items per vector"),
    };
    Remark { code: RemarkCode::Width, span: Span::NONE, what, why: width.reason.text().into() }
}

/// The remark on a kernel that could not be vectorised.
pub(crate) fn not_vectorised(why: String) -> Remark {
    let what = "work-items run one at a time".into();
    Remark { code: RemarkCode::NotVectorised, span: Span::NONE, what, why }
}

/// The remark on a kernel that is compiled as it is written, for a GPU.
pub fn not_optimised() -> Remark {
    let (what, why) = ("a work-item is a thread".into(), "the build options ask for no optimisation".into());
    Remark { code: RemarkCode::Coarse, span: Span::NONE, what, why }
}

/// The remark on a load that store-to-load forwarding removed.
pub(crate) fn store_to_load(span: Span) -> Remark {
    Remark {
        code: RemarkCode::StoreToLoad,
        span,
        what: "load: forwarded".into(),
        why: "the previous iteration stored this element of the private array: its value stays in a register".into(),
    }
}

/// The remark on an index that a group checks.
pub(crate) fn no_wrap(span: Span) -> Remark {
    Remark {
        code: RemarkCode::NoWrap,
        span,
        what: "index: checked once per group".into(),
        why: "32 bits may wrap; where they cannot, it has a stride, and else work-items run one at a time".into(),
    }
}

/// The remark on a loop with a row transpose.
pub(crate) fn row_transpose(span: Span) -> Remark {
    Remark {
        code: RemarkCode::RowTranspose,
        span,
        what: "loop: strip-mined, rows transposed in registers".into(),
        why: "each work-item reads contiguous elements of its own row".into(),
    }
}

/// The remark on a loop with software prefetch.
pub(crate) fn prefetch_loop(span: Span) -> Remark {
    Remark {
        code: RemarkCode::PrefetchLoop,
        span,
        what: "loop: prefetches for later iterations".into(),
        why: "its stride is known at run time only, and may cross pages".into(),
    }
}

/// The remark on a scattered access with software prefetch.
pub(crate) fn prefetch_scatter(span: Span) -> Remark {
    Remark {
        code: RemarkCode::PrefetchScatter,
        span,
        what: "access: prefetched for later work-items".into(),
        why: "its addresses are scattered, and computed from ids alone".into(),
    }
}

/// The remark on a loop that was split by components.
pub(crate) fn component_split(span: Span) -> Remark {
    Remark {
        code: RemarkCode::ComponentSplit,
        span,
        what: "loop: split by components of its short vectors".into(),
        why: "all components, each a vector of lanes, exceed the registers, and they are independent".into(),
    }
}

/// The remark on integers that are narrower than in the source.
pub(crate) fn narrow(span: Span) -> Remark {
    Remark {
        code: RemarkCode::Narrow,
        span,
        what: "integers: computed in 16 bits".into(),
        why: "16 bits give the same results, and a register holds twice as many lanes".into(),
    }
}

/// The reason why a value differs between lanes, in words.
fn cause(item: &VectorInput, params: &[Param], dim_order: DimOrder, cause: Option<shape::Cause>) -> String {
    match cause {
        Some(shape::Cause::Source(i)) => match item.func.insts[i].op {
            Op::Load { .. } => "it depends on a loaded value".into(),
            _ => "it depends on an atomic operation or a call".into(),
        },
        Some(shape::Cause::Param(n)) => parameter(params, dim_order, n),
        Some(shape::Cause::Wrap(_)) => "an index may wrap before it is extended".into(),
        // A comparison never has a stride: the reason is what it compares.
        Some(shape::Cause::Stride(i)) if matches!(item.func.insts[i].op, Op::Icmp(_) | Op::Fcmp(_)) => {
            match origin_param(item, i) {
                Some(n) => parameter(params, dim_order, n),
                None => "it compares values that differ between lanes".into(),
            }
        }
        Some(shape::Cause::Stride(i)) => {
            format!("`{}` does not preserve strides", op_name(&item.func.insts[i].op))
        }
        Some(shape::Cause::Branch(_)) => "it depends on an earlier divergent branch".into(),
        None => "it differs between lanes".into(),
    }
}

fn parameter(params: &[Param], dim_order: DimOrder, n: u32) -> String {
    let dim_in_source = |d: u8| dim_order[usize::from(d)];
    match params.get(n as usize) {
        Some(&Param::LocalId(d)) => format!("it depends on get_local_id({})", dim_in_source(d)),
        Some(&Param::GlobalId(d)) => format!("it depends on get_global_id({})", dim_in_source(d)),
        _ => "it depends on a value that lives across a barrier".into(),
    }
}

/// The function parameter that makes the operands of an instruction differ between lanes, if a search finds one.
fn origin_param(item: &VectorInput, inst: Inst) -> Option<u32> {
    let func = &item.func;
    let mut work: Vec<Value> = func.insts[inst].args.to_vec();
    let mut visited = 0;
    while let Some(&v) = work.get(visited) {
        visited += 1;
        if item.shapes.is_uniform(v) || visited > MAX_VISITED {
            continue;
        }
        let operands: Vec<Value> = match func.values[v].def {
            ValueDef::Param(b, n) if b == func.entry() => return Some(n),
            ValueDef::Param(b, n) => {
                let edges = func.layout.iter().flat_map(|&x| func.blocks[x].term.edges());
                edges.filter(|e| e.block == b).filter_map(|e| e.args.get(n as usize).copied()).collect()
            }
            ValueDef::Inst(i) => func.insts[i].args.to_vec(),
        };
        work.extend(operands.into_iter().filter(|v| !work.contains(v)).collect::<Vec<_>>());
    }
    None
}

/// How many values that search visits.
const MAX_VISITED: usize = 64;

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
