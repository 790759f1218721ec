//! Barriers: a kernel is split into continuations, each of which a vector of work-items runs to its end.
//!
//! In comes a kernel with barriers; out come its continuations as functions of one work-item without barriers. This
//! is the scheme of Karrenberg and Hack ("Improving Performance of OpenCL on CPUs", CC 2012); pocl's work-item loops
//! are the common alternative.
//!
//! | module | does |
//! |---|---|
//! | [`continuations`] | the continuation graph: the kernel split at its barriers, and what lives across them |
//! | [`carried_arrays`] | private arrays that live across barriers become values there |
//! | [`remat`] | values that are rematerialised after a barrier |
//! | [`frame`] | memory for the other live values, per group or per work-item |
//! | [`continuation_fn`] | a continuation as a function whose parameters are everything that it takes from outside |
//! | [`split_kernel`] | the split kernel with all of these |
//! | [`grouping`] | whether a kernel can tell how its work-items are grouped |

pub(crate) mod carried_arrays;
pub(crate) mod continuation_fn;
pub mod continuations;
pub mod frame;
pub(crate) mod grouping;
pub(crate) mod remat;
pub(crate) mod split_kernel;
