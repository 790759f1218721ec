//! Transformations of a continuation's function, still for one work-item, that make its vector code better. Each can
//! be switched off, unless it is required.
//!
//! | module | rewrites |
//! |---|---|
//! | [`grid_stride`] | grid-stride loops: synthetic barriers, so that groups advance through memory together |
//! | [`versioning`] | versions of a continuation for each value of a group-uniform condition |
//! | [`dim_order`] | the dimension of a launch along which vectors lie |
//! | [`no_wrap`] | promises that indices of 32 bits do not wrap, checked once per group |
//! | [`hoist_invariant`] | group-invariant code, hoisted into the prologue of the group |
//! | [`unsigned`] | signed division and shifts of values that are never negative |
//! | [`unit_accesses`] | accesses, copies and fills of private arrays: accesses to units of their layout |
//! | [`canonicalize`] | the canonical form that widening needs: one return, simplified masked loops |
//! | [`store_to_load`] | loop-carried store-to-load forwarding |
//! | [`row_transpose`] | loops in which each lane reads its own row: strip-mined, with a transpose in registers |
//! | [`component_split`] | loops over short vectors, split by independent components |
//! | [`prefetch_loop`], [`prefetch_scatter`] | software prefetch |
//! | [`narrow`] | integers computed in 16 bits where 16 suffice |

pub(crate) mod canonicalize;
pub(crate) mod component_split;
pub(crate) mod dim_order;
pub(crate) mod grid_stride;
pub(crate) mod group_checks;
pub(crate) mod hoist_invariant;
pub(crate) mod narrow;
pub(crate) mod no_wrap;
pub(crate) mod prefetch_loop;
pub(crate) mod prefetch_scatter;
pub(crate) mod row_transpose;
pub(crate) mod store_to_load;
pub(crate) mod unit_accesses;
pub(crate) mod unsigned;
pub(crate) mod versioning;
