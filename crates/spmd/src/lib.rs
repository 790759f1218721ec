//! The work-item vectoriser: makes of a kernel, which describes one work-item, a function that runs a work-group with
//! one work-item per vector lane.
//!
//! In comes a verified kernel into which every call that queries ids or waits at a barrier is inlined. Out comes,
//! beside it, the function `<kernel>.wg` with the parameters of [`cloom_ir::abi`]. `pipeline` lists the passes in
//! order; in debug builds the verifier runs after each. The modules:
//!
//! | module | contains |
//! |---|---|
//! | `options`, `params` | the options and the target; the parameters of a continuation's function |
//! | [`analysis`] | facts about a function: divergence, shapes, ranges, register pressure; changes nothing |
//! | [`split`] | barriers: the kernel split into continuations, and the frame for values that live across barriers |
//! | `transform` | rewrites of a continuation, still for one work-item; each can be switched off ([`passes`]) |
//! | `cost` | the cost model: how many lanes a vector has |
//! | `coarsen` | neighbouring work-items joined into one thread, for GPUs |
//! | `warp_shape` | which work-items should be a warp, for GPUs, which need nothing else of this |
//! | `emit` | widening to vector code, and the loops over the vectors of a group |
//! | [`decisions`] | the decisions and their reasons, as data and in words |
//!
//! A barrier needs no stack switch: a vector runs to the barrier, saves what it needs later in the frame, and the
//! next vector runs. So every local size is handled alike, also 1 and partial groups. (Karrenberg and Hack,
//! "Improving Performance of OpenCL on CPUs", CC 2012, has continuations; pocl has work-item loops. Continuations are
//! cloned from each barrier, so barriers in loops and branches are no special case.) Work-items that have returned
//! count as arrived. A sub-group is a vector: the work-items of a row that run in lockstep. In scalar code each
//! work-item is a sub-group of its own.
//!
//! A kernel beyond a limit ([`NotVectorised`]) runs one work-item at a time, and a remark says why. The argument for
//! correctness is `docs/internals/spmd.md`.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod annotate;
mod coarsen;
mod cost;
pub mod decisions;
mod emit;
mod error;
mod options;
mod params;
pub mod passes;
mod pipeline;
mod reasons;
pub mod split;
mod transform;
mod warp_shape;
mod work;
mod work_group;

use cloom_ir::{FuncRef, Module};
use cloom_passes::PassOptions;
use cloom_target::Target;
pub use coarsen::{Coarse, coarsen};
pub use cost::reason::WidthReason;
pub use decisions::coarsening::CoarsenReason;
pub use decisions::{AccessForm, Decision, Form, Operation, Reason, Shape};
use error::BugPolicy;
pub use error::{Error, InternalError, NotVectorised};
pub use options::VectorOptions;
use options::Vectors;
pub use params::MAX_ID;
pub use transform::dim_order::DimOrder;
pub use warp_shape::warp_shape;
pub use work::most_executed;
pub use work_group::WorkGroup;

/// Compiles a kernel to its work-group function and adds that to the module. A kernel that cannot be vectorised runs
/// its work-items one at a time, and a remark says why. `passes` says which passes run.
///
/// # Errors
/// If the function is not a kernel, if a callee that queries ids or waits at a barrier is not inlined, if it has too
/// many barriers; and for an internal error.
pub fn work_group_function(
    module: &mut Module,
    kernel: FuncRef,
    options: VectorOptions,
    target: &Target,
    passes: &PassOptions,
) -> Result<WorkGroup, Error> {
    work_group::run(module, kernel, Vectors { options, target }, passes, BugPolicy::BUILD)
}
