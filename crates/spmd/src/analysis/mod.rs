//! Analyses of a function before it is vectorised. No module here changes a function.
//!
//! In comes the function of one work-item (a kernel, or one of its continuations); out come facts about its values,
//! blocks and accesses:
//!
//! | module | answers |
//! |---|---|
//! | [`divergence`] | which values and branches are uniform for a group; the first cause of each divergence |
//! | [`shape`] | each value as uniform, strided or varying across lanes |
//! | [`bounds`], [`ranges`] | value ranges of integers |
//! | [`masked`] | which blocks are linearised and run under masks |
//! | [`lane_range`] | how far apart the lanes of a varying value are |
//! | [`latency`], [`pressure`] | how long loops wait for themselves; how many registers live values need |
//! | [`store_streams`], [`record_stores`] | how many cache lines are written at a time |
//! | [`tree_updates`] | steps of a tree in local memory, which have ever fewer work-items |
//! | [`write_only`] | buffers that are only written |
//! | [`branch_facts`] | comparisons that hold in a block because of the branch that leads there |
//! | [`group_bounds`] | upper bounds of integers that a group computes from arguments and ids |
//! | [`group_intervals`] | both ends of integers with a sign, for checks of bounds |
//! | [`group_code`] | code that a group runs before its work-items |
//! | [`active_bound`] | the last work-item of a group that has an effect |
//! | [`loop_form`] | the form of a loop in canonical form |
//! | [`op_class`] | which operations cost about the same |
//! | [`weights`] | the costs of regions, and which need a guard |
//! | [`row_loops`] | loops in which each lane reads a row of its own |
//! | [`input`] | all of these for one function: what the vectoriser works on |
//! | [`private_layout`] | how the lanes' copies of a private array lie in memory |

pub(crate) mod active_bound;
pub(crate) mod bounds;
pub(crate) mod branch_facts;
pub mod divergence;
pub(crate) mod group_bounds;
pub(crate) mod group_code;
pub(crate) mod group_intervals;
pub(crate) mod input;
pub(crate) mod lane_range;
pub(crate) mod latency;
pub(crate) mod loop_form;
pub(crate) mod masked;
pub(crate) mod op_class;
pub(crate) mod pressure;
pub(crate) mod private_layout;
pub(crate) mod ranges;
pub(crate) mod record_stores;
pub(crate) mod row_loops;
pub(crate) mod shape;
pub(crate) mod store_streams;
pub(crate) mod tree_updates;
pub(crate) mod weights;
pub(crate) mod write_only;
