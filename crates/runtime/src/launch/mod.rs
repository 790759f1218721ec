//! Kernels and their launches: arguments, ranges, where a launch runs, and kernels that kernels enqueue.

pub(crate) mod checked;
pub(crate) mod children;
pub(crate) mod kernel;
pub(crate) mod native;
pub(crate) mod nd_range;
pub(crate) mod placement;
pub(crate) mod range;
pub mod subgroup;
pub(crate) mod submit;
