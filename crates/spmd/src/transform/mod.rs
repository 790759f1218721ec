//! Rewrites of a continuation's function, still for one work-item, that make its vectors better. Each can be left out.
//!
//! | module | rewrites |
//! |---|---|
//! | [`grid_stride`] | grid-stride loops: synthetic barriers, so that groups advance through memory together |
//! | [`versioning`] | one function for each value of a group-uniform condition |
//! | [`hoist_invariant`] | what is the same for a whole group is computed once, in its prologue |
//! | [`unsigned`] | signed division and shifts of numbers that are never negative |
//! | [`canonicalize`] | the canonical form that the widener takes: one exit a function, simplified loops |
//! | [`store_to_load`] | loop-carried store-to-load forwarding |
//! | [`row_transpose`] | loops in which each lane reads along a row: strip-mined, with a register transpose |
//! | [`component_split`] | loops over short vectors, split by components that do not meet |
//! | [`prefetch_loop`], [`prefetch_scatter`] | software prefetch |
//! | [`narrow`] | integers computed in 16 bits where these suffice |

use crate::emit::widen::VectorInput;
use crate::transform::canonicalize::Unspecified;
use cloom_ir::{Function, Span};

/// What a transformation made of an analysed function.
pub struct Rewrite {
    /// The function, still in canonical form.
    pub func: Function,
    /// Values in it that nobody needs.
    pub unspecified: Unspecified,
    /// Where in the source something changed: one for each change.
    pub changes: Vec<Span>,
}

impl Rewrite {
    /// Of a function that nobody needs other values of than before.
    fn of(item: &VectorInput, func: Function, changes: Vec<Span>) -> Rewrite {
        Rewrite { func, unspecified: item.unspecified.clone(), changes }
    }
}

pub(crate) mod canonicalize;
pub(crate) mod component_split;
pub(crate) mod grid_stride;
pub(crate) mod hoist_invariant;
pub(crate) mod narrow;
pub(crate) mod prefetch_loop;
pub(crate) mod prefetch_scatter;
pub(crate) mod row_transpose;
pub(crate) mod store_to_load;
pub(crate) mod unsigned;
pub(crate) mod versioning;
