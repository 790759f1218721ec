//! Vector code: the function of one work-item becomes code for a vector of them, and loops run it for a group.
//!
//! | module | writes |
//! |---|---|
//! | [`widen`] | a continuation for a vector of work-items: masks, memory, operations |
//! | [`ssa`] | SSA values for variables, while blocks are written (Braun et al., 2013) |
//! | [`splice`] | a copy of a function inside another one, for continuations that stay scalar |
//! | [`subgroup`] | sub-group operations of code without vectors: a sub-group of one |
//! | [`group`] | the work-group function: prologue, loops over the vectors of a group, dispatch of continuations |

pub(crate) mod group;
pub(crate) mod splice;
pub(crate) mod ssa;
pub(crate) mod subgroup;
pub(crate) mod widen;
