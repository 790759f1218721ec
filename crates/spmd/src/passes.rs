//! The names of the vectoriser's passes: [`crate::pipeline`] runs, switches and counts them.
//!
//! Passes of [`cloom_passes`] that run in between keep their own names. A required pass has a name for its time and
//! its counter only.

use cloom_passes::{
    CSE, DCE, FOLD, LANE_PARAMS, MASK_CHAINS, MEM2REG, NARROW_LOADS, Pass, PassId, REDUNDANT_PARAMS, SELECT,
    SIMPLIFY_CFG,
};

/// [`crate::transform::grid_stride`]: synthetic barriers in grid-stride loops. Counts loops.
pub const GRID_STRIDE: PassId =
    PassId::optional("grid-stride", "several groups advance together through grid-stride loops");
/// [`crate::split::continuations`]: splitting at barriers. Counts barriers.
pub const SPLIT: PassId = PassId::required("split", "the kernel is split at its barriers into continuations");
/// [`crate::split::carried_arrays`]. Counts arrays.
pub const CARRIED_ARRAYS: PassId =
    PassId::optional("carried-arrays", "the elements of private arrays are saved across barriers as values");
/// [`crate::split::remat`]. Counts values.
pub const REMAT: PassId =
    PassId::optional("remat", "values are rematerialised after barriers instead of saved in the frame");
/// [`crate::split::continuation_fn`]: each continuation as a function. Counts them.
pub const CONTINUATIONS: PassId = PassId::required("continuations", "each continuation becomes a function");
/// [`crate::transform::unsigned`]. Counts instructions.
pub const UNSIGNED: PassId =
    PassId::optional("unsigned", "division and shifts of values that are never negative are unsigned");
/// [`crate::emit::variants`]. Counts functions.
pub const VECTOR_VARIANTS: PassId =
    PassId::optional("vector-variants", "library functions that stay calls have variants for vectors of work-items");
/// [`crate::transform::dim_order`]. Counts kernels whose dimensions are permuted.
pub const DIM_ORDER: PassId =
    PassId::optional("dim-order", "vectors lie along the dimension with unit stride in memory");
/// [`crate::analysis::write_only`]: non-temporal stores. Counts stores.
pub const WRITE_ONLY: PassId = PassId::optional("write-only", "non-temporal stores to buffers that are only written");
/// [`crate::transform::versioning`]. Counts conditions.
pub const VERSIONING: PassId =
    PassId::optional("versioning", "continuations have versions for group-uniform conditions");
/// [`crate::transform::no_wrap`]. Counts promises that need no check, and copies.
pub const NO_WRAP: PassId =
    PassId::optional("no-wrap", "indices of 32 bits are known not to wrap, or checked once per group");
/// [`crate::transform::hoist_invariant`]. Counts values.
pub const HOIST_INVARIANT: PassId =
    PassId::optional("hoist-invariant", "group-invariant code is hoisted out of the loops over the vectors of a group");
/// [`crate::transform::unit_accesses`]. Counts instructions.
pub const UNIT_ACCESSES: PassId =
    PassId::optional("unit-accesses", "accesses, copies and fills of private arrays become accesses to units");
/// [`crate::transform::canonicalize`]. Counts loops and switches that were restructured.
pub const CANONICALIZE: PassId =
    PassId::required("canonicalize", "loops and exits are brought into the form that linearisation needs");
/// [`crate::transform::store_to_load`]. Counts loads.
pub const STORE_TO_LOAD: PassId =
    PassId::optional("store-to-load", "values stored to private arrays are forwarded to loads of the next iteration");
/// [`crate::transform::row_transpose`]. Counts loops.
pub const ROW_TRANSPOSE: PassId = PassId::optional(
    "row-transpose",
    "loops in which each lane reads its own row are strip-mined and transposed in registers",
);
/// [`crate::transform::component_split`]. Counts loops.
pub const COMPONENT_SPLIT: PassId =
    PassId::optional("component-split", "loops over short vectors are split by components");
/// [`crate::transform::prefetch_loop`]. Counts loops.
pub const PREFETCH_LOOP: PassId = PassId::optional("prefetch-loop", "grid-stride loops prefetch later iterations");
/// [`crate::transform::narrow`]. Counts webs of instructions.
pub const NARROW: PassId = PassId::optional("narrow", "integers are computed in 16 bits where 16 suffice");
/// [`crate::cost`]. Counts kernels.
pub const WIDTH: PassId = PassId::required("width", "the number of lanes is chosen");
/// [`crate::emit::subgroup`]. Counts operations.
pub const SCALAR_SUBGROUPS: PassId =
    PassId::required("scalar-subgroups", "in scalar code a sub-group is one work-item");
/// [`crate::transform::prefetch_scatter`]. Counts accesses.
pub const PREFETCH_SCATTER: PassId =
    PassId::optional("prefetch-scatter", "scattered accesses are prefetched for later work-items");
/// [`crate::emit`]: the work-group function. Counts work-group functions.
pub const EMIT: PassId = PassId::required("emit", "the work-group function is emitted");
/// [`crate::emit::group::batch`], a part of [`EMIT`]. Counts kernels.
pub const GROUP_BATCH: PassId = PassId::optional("group-batch", "one call runs a batch of groups");
/// [`crate::analysis::active_bound`], a part of [`EMIT`]. Counts loops over vectors.
pub const ACTIVE_BOUND: PassId =
    PassId::optional("active-bound", "loops over vectors end at the last active work-item");
/// All-on and mixed versions of masked code (BOSCC), a part of [`EMIT`]. Counts pairs.
pub const ALL_ON: PassId = PassId::optional("all-on", "masked regions have an all-on version without masks");
/// [`crate::emit::widen`]'s mixed versions for vectors that are not full, a part of [`EMIT`]. Counts continuations.
pub const FOLD_TAIL: PassId =
    PassId::optional("fold-tail", "the last vector of a row runs the mixed version of masked code");
/// [`crate::emit::widen`]'s scalar tests of masks, a part of [`EMIT`]. Counts tests.
pub const SCALAR_MASK: PassId =
    PassId::optional("scalar-mask", "masks of strided comparisons are tested by a scalar comparison");
/// [`crate::emit::widen`]'s pass-through of short vectors, a part of [`EMIT`]. Counts vectors.
pub const AOS_PASSTHROUGH: PassId =
    PassId::optional("aos-passthrough", "short vectors stay interleaved where all components are computed alike");

/// [`crate::coarsen`], for GPUs. Counts kernels.
pub const COARSEN: PassId =
    PassId::optional("coarsen", "a thread does the work of several work-items, or of those of several groups");
/// [`crate::warp_shape`], for GPUs. Counts kernels whose warps are not as the groups lie.
pub const WARP_SHAPE: PassId = PassId::optional("warp-shape", "a warp is the work-items that share sectors of memory");

/// Every pass of this crate, in the order of the pipeline; those for GPUs last.
pub const PASSES: &[PassId] = &[
    VECTOR_VARIANTS,
    GRID_STRIDE,
    SPLIT,
    CARRIED_ARRAYS,
    REMAT,
    CONTINUATIONS,
    UNSIGNED,
    DIM_ORDER,
    WRITE_ONLY,
    VERSIONING,
    NO_WRAP,
    HOIST_INVARIANT,
    UNIT_ACCESSES,
    CANONICALIZE,
    STORE_TO_LOAD,
    ROW_TRANSPOSE,
    COMPONENT_SPLIT,
    PREFETCH_LOOP,
    NARROW,
    WIDTH,
    SCALAR_SUBGROUPS,
    PREFETCH_SCATTER,
    EMIT,
    GROUP_BATCH,
    ACTIVE_BOUND,
    ALL_ON,
    FOLD_TAIL,
    SCALAR_MASK,
    AOS_PASSTHROUGH,
    COARSEN,
    WARP_SHAPE,
];

/// The scalar passes on a continuation's function: private variables become SSA values, small branches become
/// selects. Folding comes early because the initial values of a loop after a barrier are often constants.
pub const CLEAN_UP: &[Pass] = &[
    MEM2REG,
    FOLD,
    REDUNDANT_PARAMS,
    FOLD,
    SIMPLIFY_CFG,
    REDUNDANT_PARAMS,
    LANE_PARAMS,
    FOLD,
    CSE,
    DCE,
    SIMPLIFY_CFG,
    SELECT,
    SIMPLIFY_CFG,
    DCE,
];

/// The scalar passes on a work-group function with vectors.
pub const CLEAN_UP_VECTORS: &[Pass] = &[REDUNDANT_PARAMS, FOLD, LANE_PARAMS, CSE, MASK_CHAINS, DCE];

/// The scalar passes on scalar code, before it is copied into the work-group function.
pub const CLEAN_UP_SCALAR: &[Pass] = &[NARROW_LOADS, DCE];
