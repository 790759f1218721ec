//! Barriers: a kernel is cut into continuations, each of which a vector of work-items runs to its end.
//!
//! In comes a kernel with barriers; out come its continuations as functions of one work-item without barriers. The
//! form is that of Karrenberg and Hack ("Improving Performance of OpenCL on CPUs", 2012); pocl's work-item loops are
//! the other known one.
//!
//! | module | does |
//! |---|---|
//! | [`continuations`] | the continuation graph: the kernel cut at its barriers, and what lives across them |
//! | [`remat`] | values that are rematerialised after a barrier instead of kept |
//! | [`frame`] | the live-across-barrier frame: where the others are kept, once per group or per work-item |
//! | [`continuation_fn`] | a continuation as a function whose parameters are all that it takes from outside |

pub(crate) mod continuation_fn;
pub mod continuations;
pub mod frame;
pub(crate) mod remat;
