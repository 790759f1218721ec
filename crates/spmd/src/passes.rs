//! The passes of the vectoriser, by name: what [`crate::pipeline`] runs, switches and counts.
//!
//! Those of [`cloom_passes`] that run in between keep their own names. A pass that is required has a name for its time
//! and its counter only.

use cloom_passes::PassId;

/// [`crate::transform::grid_stride`]: synthetic barriers in grid-stride loops. Counts loops.
pub const GRID_STRIDE: PassId = PassId::optional("grid-stride", "groups take the steps of grid-stride loops together");
/// [`crate::split::continuations`]: the kernel cut at its barriers. Counts barriers.
pub const SPLIT: PassId = PassId::required("split", "the kernel is cut at its barriers into continuations");
/// [`crate::split::remat`]. Counts values.
pub const REMAT: PassId = PassId::optional("remat", "values rematerialised after barriers instead of kept");
/// [`crate::split::continuation_fn`]: each continuation as a function. Counts them.
pub const CONTINUATIONS: PassId = PassId::required("continuations", "each continuation becomes a function");
/// [`crate::transform::unsigned`]. Counts instructions.
pub const UNSIGNED: PassId = PassId::optional("unsigned", "division and shifts of what is never negative are unsigned");
/// [`crate::analysis::dim_order`]. Counts kernels whose dimensions change places.
pub const DIM_ORDER: PassId = PassId::optional("dim-order", "vectors lie along the dimension that memory follows");
/// [`crate::analysis::write_only`]: non-temporal stores. Counts stores.
pub const WRITE_ONLY: PassId = PassId::optional("write-only", "non-temporal stores to buffers that are only written");
/// [`crate::transform::versioning`]. Counts conditions.
pub const VERSIONING: PassId =
    PassId::optional("versioning", "continuations have versions for group-uniform conditions");
/// [`crate::transform::hoist_invariant`]. Counts values.
pub const HOIST_INVARIANT: PassId =
    PassId::optional("hoist-invariant", "what is the same for a group is computed once, before its vectors");
/// [`crate::transform::canonicalize`]. Counts loops and switches that were restructured.
pub const CANONICALIZE: PassId = PassId::required("canonicalize", "loops and exits in the form that is linearised");
/// [`crate::transform::store_to_load`]. Counts loads.
pub const STORE_TO_LOAD: PassId =
    PassId::optional("store-to-load", "what an iteration stores to a private array and the next one loads is a value");
/// [`crate::transform::row_transpose`]. Counts loops.
pub const ROW_TRANSPOSE: PassId =
    PassId::optional("row-transpose", "loops along a row of each lane load several elements at once");
/// [`crate::transform::component_split`]. Counts loops.
pub const COMPONENT_SPLIT: PassId =
    PassId::optional("component-split", "loops over short vectors run for some components at a time");
/// [`crate::transform::prefetch_loop`]. Counts loops.
pub const PREFETCH_LOOP: PassId = PassId::optional("prefetch-loop", "grid-stride loops prefetch");
/// [`crate::transform::narrow`]. Counts webs of instructions.
pub const NARROW: PassId = PassId::optional("narrow", "integers are computed in 16 bits where these suffice");
/// [`crate::cost`]. Counts choices.
pub const WIDTH: PassId = PassId::required("width", "how many work-items to a vector");
/// [`crate::emit::subgroup`]. Counts operations.
pub const SCALAR_SUBGROUPS: PassId =
    PassId::required("scalar-subgroups", "without vectors a sub-group is one work-item");
/// [`crate::transform::prefetch_scatter`]. Counts accesses.
pub const PREFETCH_SCATTER: PassId =
    PassId::optional("prefetch-scatter", "scattered accesses are prefetched for later work-items");
/// [`crate::emit`]: the work-group function. Counts vector copies of continuations.
pub const EMIT: PassId = PassId::required("emit", "the work-group function is written");
/// [`crate::emit::group::batch`], a part of [`EMIT`]. Counts kernels.
pub const GROUP_BATCH: PassId = PassId::optional("group-batch", "one call runs several groups");
/// [`crate::analysis::active_bound`], a part of [`EMIT`]. Counts loops over vectors.
pub const ACTIVE_BOUND: PassId =
    PassId::optional("active-bound", "loops over vectors end at the last active work-item");
/// All-on and mixed versions of masked code, a part of [`EMIT`]. Counts pairs.
pub const ALL_ON: PassId = PassId::optional("all-on", "masked regions have a version for masks that are all on");
/// [`crate::emit::widen`]'s scalar mask tests, a part of [`EMIT`]. Counts tests.
pub const SCALAR_MASK: PassId =
    PassId::optional("scalar-mask", "comparisons with strided values tell of all lanes by a scalar");
/// [`crate::emit::widen`]'s pass-through of short vectors, a part of [`EMIT`]. Counts vectors.
pub const AOS_PASSTHROUGH: PassId =
    PassId::optional("aos-passthrough", "short vectors whose components are treated alike stay interleaved");

/// Every pass of this crate, in the order of the pipeline.
pub const PASSES: &[PassId] = &[
    GRID_STRIDE,
    SPLIT,
    REMAT,
    CONTINUATIONS,
    UNSIGNED,
    DIM_ORDER,
    WRITE_ONLY,
    VERSIONING,
    HOIST_INVARIANT,
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
    SCALAR_MASK,
    AOS_PASSTHROUGH,
];
