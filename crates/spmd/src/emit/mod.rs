//! Emission: the function of one work-item is widened to vector code, and loops run that for a work-group.
//!
//! | module | emits |
//! |---|---|
//! | [`widen`] | a continuation for a vector of work-items: masks, memory, operations |
//! | [`variants`] | vector variants of the library functions that a kernel calls |
//! | [`splice`] | a copy of a function inside another one, for scalar continuations |
//! | [`subgroup`] | sub-group operations in scalar code: a sub-group of one |
//! | [`group`] | the work-group function: prologue, loops over the vectors of a group, dispatch of continuations |

pub(crate) mod group;
pub(crate) mod splice;
pub(crate) mod subgroup;
pub(crate) mod variants;
pub(crate) mod widen;
