//! The work-item vectoriser: from a kernel of one work-item to a function that runs a work-group, a vector of work-items at a time.
//!
//! In comes a verified kernel whose calls that ask for ids or wait at barriers are inlined; out comes, beside it, the function
//! `<kernel>.wg` with the parameters of [`cloom_ir::abi`], verified again. Data flows through the modules in this order:
//!
//! 1. [`divergence`]: which values and branches are the same for all work-items of a group, and what first made a value differ.
//! 2. `steps`: stops in loops that go through memory in the steps of a grid, in which work-items wait for each other.
//!    [`regions`]: the kernel is cut at its barriers into continuations; which values live across them, and which of these are cheaper
//!    to compute again: from what is known anyway, or (`rebuilt`) from what the group keeps.
//! 3. [`context`]: where the others are kept: once per group if uniform, else per work-item; also private arrays that live across.
//! 4. `item`: each continuation as an ordinary function of one work-item, in which slots of the context are memory; `choices`: several
//!    functions, if the group knows which of several things they do; `early`: what the group computes once.
//!    `dim_order`: along which dimension of a launch lanes lie.
//! 5. `canon`, `shape`, `masked`: that function in canonical form; how its values are related from lane to lane; what runs under masks.
//! 6. `carried`, `rows`, `fission`, `ahead`: elements that rounds leave to the next one, several rounds at once where lanes walk along
//!    rows, short vectors by parts where they are too wide for the registers, and hints where lanes walk in steps that no processor
//!    foresees; `ranges`, `narrow`: integers in 16 bits where these suffice. `pressure`, `latency`, `streams`, `plan`: how many work-
//!    items to a vector; `scattered`: hints where none has a neighbour.
//! 7. `widen`: its code for a vector, once for full vectors and once with a mask for the last of a row.
//! 8. `reach`, `group`: loops over the vectors of a group for each continuation, up to the last one that has something to do; a dispatcher
//!    goes from one to the next.
//!
//! A barrier costs no stack switch: a vector runs to the barrier, what it needs later is in the context, and the next
//! vector runs. That makes every local size right by construction, also 1 and partial groups (pocl's "work-item loops" and
//! Karrenberg's continuations are the known forms; regions are cloned from each barrier, so that barriers in loops and branches
//! need no special case). Work-items that have returned count as arrived.
//!
//! A sub-group is a vector, the work-items of a row that run in step (`widen::subgroup`); without vectors, each work-item is one.
//!
//! What cannot be put into lanes (endless loops, code that is too large) runs one work-item at a time, and a remark says why.

#![forbid(unsafe_code)]

pub mod analysis;
mod cost;
mod emit;
pub mod remarks;
pub mod split;
mod transform;

pub use analysis::dim_order::DimOrder;
use analysis::divergence::{self, Divergence};
use analysis::shape::{self, Shape};
use analysis::write_only::Outputs;
use analysis::{bounds, dim_order};
use cloom_ir::abi::CpuLaunch;
use cloom_ir::{FuncRef, Function, Module, Op, Query, Span};
use cloom_target::Target;
pub use cost::VectorOptions;
use cost::{Vectors, Width};
use emit::group::{self, Body, Part, Tree};
use emit::subgroup;
use emit::widen::VectorInput;
pub use remarks::Remark;
use split::continuation_fn::{self, ContinuationFunction, Param};
use split::continuations::{self, Barrier, ContinuationGraph};
use split::frame::{self, Frame};
use transform::grid_stride::{self, Steps};
use transform::versioning::{self, Choice};
use transform::{
    canonicalize, component_split, hoist_invariant, narrow, prefetch_loop, prefetch_scatter, row_transpose,
    store_to_load, unsigned,
};

/// What the launcher must know about a work-group function.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkGroup {
    /// The function, `<kernel>.wg`.
    pub func: FuncRef,
    /// How it is launched. [`VectorOptions::short_row`] is what `long_row_width` asks for.
    pub launch: CpuLaunch,
    /// Bytes of static local memory.
    pub local_size: u64,
    /// What was decided and why.
    pub remarks: Vec<Remark>,
}

/// Why a kernel cannot be compiled.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Limit {
    /// Not a kernel with a body.
    #[error("{0} is not a kernel with a body")]
    NotAKernel(String),
    /// A callee that should have been inlined.
    #[error("{0} waits at a barrier or asks for its place but was not inlined")]
    NotInlined(String),
    /// What keeps a kernel from being put into lanes.
    #[error("work-items cannot be put into lanes: {0}")]
    Lanes(&'static str),
    /// Too many continuations or too much code.
    #[error("the kernel has {0} barriers after inlining, {1} are the limit")]
    Barriers(usize, usize),
}

/// Larger kernels run one work-item at a time: LLVM takes minutes for as much code in vectors.
const MAX_INSTS: usize = 8000;

/// A kernel with more barriers than this has been unrolled beyond reason.
const MAX_BARRIERS: usize = 2000;

/// Global ids of a launch of a function with lanes may not exceed this, in any dimension: indices of 32 bits then do not wrap.
pub const MAX_ID: u64 = (1 << 31) - 1 - 1024;

/// Makes the work-group function of a kernel and adds it to the module. A kernel that cannot be put into lanes runs its work-items one
/// at a time, and a remark says why.
pub fn work_group_function(
    module: &mut Module,
    kernel: FuncRef,
    options: VectorOptions,
    target: &Target,
) -> Result<WorkGroup, Limit> {
    let func = &module.funcs[kernel];
    if func.is_declaration() || func.kernel.is_none() {
        return Err(Limit::NotAKernel(func.name.clone()));
    }
    check_callees(module, kernel)?;
    let mut split = func.clone();
    let barriers = continuations::split_at_barriers(&mut split);
    if barriers.len() > MAX_BARRIERS {
        return Err(Limit::Barriers(barriers.len(), MAX_BARRIERS));
    }
    let mut refused = None;
    let mut vectors = Vectors { options, target };
    if options.may_have_lanes() && split.size() > MAX_INSTS {
        refused = Some("it is too large");
        vectors = vectors.scalar();
    }
    let draft = Draft::new(split, barriers);
    let made = match group_function(module, &draft, vectors) {
        Err(Limit::Lanes(why)) if vectors.options.may_have_lanes() => {
            refused = Some(why);
            group_function(module, &draft, vectors.scalar())?
        }
        made => made?,
    };
    // What has no lanes has a reason, which the loops with stops would hide.
    let stepped = if made.width.lanes > 1 { stepped(module, func, vectors) } else { None };
    let (draft, made, grid_stride_bytes) = stepped.unwrap_or((draft, made, 0));
    let Draft { split, divergence, graph, frame } = draft;
    let Made { func, local_size, dim_order, width, long_row_width, outputs, remarks: lane_remarks } = made;
    let mut remarks = remarks::together(remarks::collect(&split, &graph, &frame, &divergence), lane_remarks);
    if let Some(why) = refused {
        remarks.push(Remark { span: Span::NONE, what: "work-items run one at a time".into(), why: why.into() });
    }
    let func = module.funcs.push(func);
    let launch = CpuLaunch {
        lanes: width.lanes,
        dim_order,
        // What was found out about lanes relies on it, and may have left its traces where there are none in the end.
        max_id: if vectors.options.may_have_lanes() && refused.is_none() { MAX_ID } else { u64::MAX },
        regroupable: regroupable(module, &split, &graph),
        column_access: width.order[0] == 1,
        write_only_bytes: outputs,
        long_row_width,
        scratch_fixed: frame.fixed,
        scratch_per_item: frame.per_item,
        grid_stride_bytes,
    };
    Ok(WorkGroup { func, launch, local_size, remarks })
}

/// A kernel that was cut into continuations.
struct Draft {
    split: Function,
    divergence: Divergence,
    graph: ContinuationGraph,
    frame: Frame,
}

impl Draft {
    fn new(split: Function, barriers: Vec<Barrier>) -> Draft {
        let divergence = divergence::analyse(&split);
        let graph = continuations::build(&split, barriers, &divergence);
        let frame = frame::lay_out(&split, &graph, &divergence);
        Draft { split, divergence, graph, frame }
    }
}

/// The kernel with stops in the loops that go through memory in the steps of a grid, if it has such loops, several groups can take these
/// steps together, work-items lie in lanes, and hints would not do as well; and how many bytes of a step are a work-item's.
fn stepped(module: &Module, kernel: &Function, vectors: Vectors<'_>) -> Option<(Draft, Made, u32)> {
    if !grid_stride::asks_for_grid(kernel) || vectors.tuning().prefers_prefetch {
        return None;
    }
    let mut split = kernel.clone();
    cloom_passes::run_named(&mut split, &["select", "simplify-cfg"]);
    let barriers = continuations::split_at_barriers(&mut split);
    // Tests ask for lanes, and have few elements.
    let least = if vectors.options.lanes.is_some() { 0 } else { grid_stride::MIN_ELEMENTS };
    let Steps { stops, bytes } = grid_stride::insert(&mut split, &barriers, least)?;
    let draft = Draft::new(split, [barriers, stops].concat());
    // A private array takes longer to keep than memory gains.
    if !draft.graph.begins_batched() || !draft.graph.kept_arrays.is_empty() {
        return None;
    }
    let made = group_function(module, &draft, vectors).ok().filter(|made| made.width.lanes > 1)?;
    Some((draft, made, bytes))
}

/// Whether work-items may be grouped otherwise than the program says.
fn regroupable(module: &Module, kernel: &Function, graph: &ContinuationGraph) -> bool {
    !graph.waits() && !knows_groups(module, kernel)
}

/// Whether a kernel can tell how its work-items are grouped: by asking, or by what they share.
fn knows_groups(module: &Module, kernel: &Function) -> bool {
    use cloom_ir::{ParamKind, Scope, Space};
    let insts = kernel.layout.iter().flat_map(|&b| &kernel.blocks[b].insts);
    let asks = insts.map(|&i| &kernel.insts[i].op).any(|op| match *op {
        Op::Query { what, .. } => {
            !matches!(what, Query::GlobalId | Query::GlobalSize | Query::GlobalOffset | Query::WorkDim)
        }
        Op::GlobalAddr(g) => module.globals[g].space == Space::Local,
        Op::Fence { scope, .. } => matches!(scope, Scope::Group | Scope::SubGroup),
        Op::Barrier => true,
        ref op => op.is_subgroup(),
    });
    asks || kernel.kernel.iter().flat_map(|k| &k.params).any(|p| p.kind == ParamKind::Local)
}

/// The work-items of a row of a group, if it matters how they are grouped: as the kernel requires, else as the options
/// say, else a guess.
fn row_of(kernel: &Function, options: VectorOptions, dim_order: DimOrder) -> u32 {
    let required = required(kernel).map(|size| size[usize::from(dim_order[0])]);
    let known = options.short_row.map(u32::from);
    let asks_below = || {
        let mut insts = kernel.layout.iter().flat_map(|&b| &kernel.blocks[b].insts);
        insts.any(
            |&i| matches!(kernel.insts[i].op, Op::Query { what, dim } if dim != dim_order[0] && what != Query::WorkDim),
        )
    };
    let row = required.or(known).unwrap_or_else(|| if asks_below() { cost::TILE } else { cost::MAX_LANES });
    row.clamp(1, cost::MAX_LANES)
}

/// The size of groups that a kernel requires.
fn required(kernel: &Function) -> Option<[u32; 3]> {
    kernel.kernel.as_ref()?.reqd_group_size
}

/// A kernel's work-group function for one width.
struct Made {
    func: Function,
    local_size: u64,
    dim_order: DimOrder,
    width: Width,
    long_row_width: Option<u16>,
    outputs: u32,
    remarks: Vec<Remark>,
}

/// The function for one width.
fn group_function(module: &Module, draft: &Draft, vectors: Vectors<'_>) -> Result<Made, Limit> {
    let Draft { split, graph, frame, .. } = draft;
    let may_have_lanes = vectors.options.may_have_lanes();
    let clean_up = |func: &mut Function| cloom_passes::run_named(func, CLEAN_UP);
    let bounds = |params: &[Param]| -> Vec<u64> { params.iter().map(|&p| group::bound_of(p)).collect() };
    let mut items = Vec::new();
    for index in 0..graph.continuations.len() {
        let ContinuationFunction { mut func, params } = continuation_fn::function(module, split, graph, frame, index);
        if may_have_lanes {
            cloom_passes::run_named(&mut func, &["reducible"]);
        }
        clean_up(&mut func);
        if may_have_lanes && unsigned::run(&mut func, &bounds(&params)) {
            clean_up(&mut func);
        }
        items.push((func, params));
    }
    let dim_order = dim_order(module, split, graph, frame, &items, vectors.options);
    let register = vectors.register();
    let mut parts = Vec::new();
    let mut notes = Vec::new();
    let outputs = Outputs::of(split);
    for (index, (func, mut params)) in items.into_iter().enumerate() {
        dim_order::rename(&mut params, dim_order);
        // Rounds between two stops come first; what they read comes in order, and needs no hints.
        let stop = index > 0 && graph.batched[index];
        let mut is_rounds = stop;
        let divides =
            (2..=versioning::MAX_CONTINUATIONS).contains(&graph.continuations.len()) && !graph.divergent_dispatch;
        let bounds = bounds(&params);
        let choice = match divides {
            true => versioning::divide(func, &params, stop, &clean_up),
            false => Choice::One(func),
        };
        parts.push(choice.into_tree(&params, &mut |func| {
            let mut item = ContinuationFunction { func, params: params.clone() };
            let early = hoist_invariant::run(module, &mut item);
            let ContinuationFunction { func, params } = item;
            let body = if may_have_lanes {
                let shapes: Vec<Shape> = params.iter().map(|&p| group::shape_of(p, split, frame, 0)).collect();
                let down: Vec<Shape> = params.iter().map(|&p| group::shape_of(p, split, frame, 1)).collect();
                let hints = !std::mem::take(&mut is_rounds);
                let mut item =
                    analyse(func, &params, dim_order, &bounds, (&shapes, &down), (hints, register), &mut notes)?;
                item.outputs = outputs.stores(&item.func, &item.loops, &params);
                item.gathers = vectors.tuning().fast_gather;
                Body::Lanes(Box::new(item))
            } else {
                Body::Item(func)
            };
            Ok(Part { body, params, early })
        })?);
    }
    let items: Vec<&VectorInput> = parts.iter().flat_map(Tree::leaves).filter_map(|p| p.body.lanes()).collect();
    let (mut width, mut long_row_width) = (cost::choose(&items, vectors, cost::MAX_LANES), None);
    if cloom_ir::subgroup::uses(split) {
        // Programs expect neighbours in a sub-group to be neighbours in dimension 0, and sub-groups to be numbered along rows. Reductions
        // halve them.
        width = Width { order: [0, 1, 2], lanes: 1 << width.lanes.ilog2(), ..width };
    } else if !regroupable(module, split, graph) && vectors.options.lanes.is_none() {
        long_row_width = required(split).is_none().then_some(width.lanes);
        let row = row_of(split, vectors.options, dim_order);
        if row < cost::MAX_LANES {
            width = cost::choose(&items, vectors, row);
        }
    }
    if width.lanes == 1 {
        let scatters = cost::scatters(&items);
        if may_have_lanes {
            // Nothing of what was found out about lanes came to pass.
            notes.clear();
        }
        for part in parts.iter_mut().flat_map(Tree::leaves_mut) {
            part.body.take_lanes_away();
            if let Body::Item(func) = &mut part.body {
                subgroup::alone(func);
                cloom_passes::run_named(func, &["pieces", "dce"]);
                if scatters {
                    notes.extend(prefetch_scatter::hint(func, &part.params).into_iter().map(remarks::scattered));
                    cloom_passes::run_named(func, &["cse"]);
                }
            }
        }
    }
    if may_have_lanes {
        notes.extend(remarks::dim_order(dim_order));
        notes.push(remarks::width(width));
    }
    let are_past_caches = |p: &Part| p.body.lanes().is_some_and(|item| !item.outputs.is_empty());
    let outputs = if parts.iter().flat_map(Tree::leaves).any(are_past_caches) { outputs.bytes } else { 0 };
    let (mut func, local_size) = group::work_group(module, split, graph, frame, &parts, width)?;
    if width.lanes > 1 {
        cloom_passes::run_named(&mut func, &["params", "fold", "cse", "dce"]);
    }
    Ok(Made { func, local_size, dim_order, width, long_row_width, outputs, remarks: notes })
}

/// The order of dimensions for a kernel's continuations.
fn dim_order(
    module: &Module,
    split: &Function,
    graph: &ContinuationGraph,
    frame: &Frame,
    items: &[(Function, Vec<Param>)],
    options: VectorOptions,
) -> DimOrder {
    // Programs expect neighbours in a sub-group to be neighbours in dimension 0.
    if options.keep_dim0 || cloom_ir::subgroup::uses(split) {
        return dim_order::AS_WRITTEN;
    }
    let group = required(split).filter(|_| !regroupable(module, split, graph));
    let parts = items.iter().map(|(func, params)| (func, &params[..]));
    dim_order::choose(parts, &group::bound_of, &|p, dim| group::shape_of(p, split, frame, dim), group)
}

/// A continuation's function in canonical form, with what is known about its lanes. The shapes of its parameters are given for lanes along
/// dimension 0 and, to compare, `down` dimension 1.
fn analyse(
    mut func: Function,
    params: &[Param],
    dim_order: DimOrder,
    bounds: &[u64],
    (shapes, down): (&[Shape], &[Shape]),
    (hints, register): (bool, u32),
    notes: &mut Vec<Remark>,
) -> Result<VectorInput, Limit> {
    let unspecified = canonicalize::run(&mut func, &|f| {
        let varying = f.param_values().iter().zip(shapes).filter(|(_, s)| **s != Shape::Uniform);
        divergence::between_lanes(f, &varying.map(|(&p, _)| p).collect::<Vec<_>>())
    })?;
    let mut item = VectorInput::new(func, shapes, bounds, unspecified.clone())?;
    if params.iter().any(|p| matches!(p, Param::LocalId(1) | Param::GlobalId(1))) {
        let down = shape::analyse(&item.func, down, &bounds::Bounds::new(&item.func, bounds), &unspecified);
        item.columns = item.goes_down(&down);
    }
    item.walks = row_transpose::are_deepest(&item, register);
    notes.extend(remarks::lanes(&item, params, dim_order));
    let again =
        |old: &VectorInput, func: Function, unspecified: canonicalize::Unspecified| -> Result<VectorInput, Limit> {
            let mut new = VectorInput::new(func, shapes, bounds, unspecified)?;
            (new.columns, new.walks) = (old.columns, old.walks);
            Ok(new)
        };
    let rows = |item: &VectorInput| row_transpose::unroll(item, register);
    let ahead = |item: &VectorInput| if hints { prefetch_loop::read(item) } else { None };
    let steps: [Step<'_>; 4] = [
        (&store_to_load::carry, remarks::carried),
        (&rows, remarks::rows),
        (&component_split::divide, remarks::parts),
        (&ahead, remarks::ahead),
    ];
    for (step, remark) in steps {
        if let Some((func, places)) = step(&item) {
            notes.extend(places.into_iter().map(remark));
            item = again(&item, func, unspecified.clone())?;
        }
    }
    let mut unspecified = unspecified;
    if let Some((func, places)) = narrow::run(&item, bounds, &mut unspecified) {
        notes.extend(places.into_iter().map(remarks::narrow));
        item = again(&item, func, unspecified)?;
    }
    Ok(item)
}

/// A change to the loops of a function, with the places where it changed some, and what to say of these.
type Step<'a> = (&'a dyn Fn(&VectorInput) -> Option<(Function, Vec<Span>)>, fn(Span) -> Remark);

/// What a continuation's function goes through: its variables become values, and small branches choices. What begins a loop behind a
/// barrier is often a constant.
const CLEAN_UP: &[&str] = &[
    "mem2reg",
    "fold",
    "params",
    "fold",
    "simplify-cfg",
    "params",
    "fold",
    "cse",
    "dce",
    "simplify-cfg",
    "select",
    "simplify-cfg",
    "dce",
];

/// Functions that stay calls must not depend on the work-item's place: only the work-group function knows it.
fn check_callees(module: &Module, kernel: FuncRef) -> Result<(), Limit> {
    let mut seen = vec![false; module.funcs.len()];
    let mut list = module.funcs[kernel].callees();
    while let Some(f) = list.pop() {
        if std::mem::replace(&mut seen[cloom_ir::Entity::index(f)], true) {
            continue;
        }
        let func = &module.funcs[f];
        let mut ops = func.layout.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i].op);
        let local = |op: &Op| matches!(op, Op::GlobalAddr(g) if module.globals[*g].space == cloom_ir::Space::Local);
        let own = |op: &Op| matches!(op, Op::Query { .. } | Op::Barrier | Op::Printf(_)) || op.is_subgroup();
        if ops.any(|op| own(op) || local(op)) {
            return Err(Limit::NotInlined(func.name.clone()));
        }
        list.extend(func.callees());
    }
    Ok(())
}
