//! The work-item vectoriser: from a kernel of one work-item to a function that runs a work-group, a vector of
//! work-items at a time.
//!
//! In comes a verified kernel whose calls that ask for ids or wait at barriers are inlined; out comes, beside it, the
//! function `<kernel>.wg` with the parameters of [`cloom_ir::abi`]. The order of what happens in between is
//! `pipeline`; in debug builds the verifier runs after each step. By role:
//!
//! | folder | is |
//! |---|---|
//! | [`analysis`] | facts about a function: divergence, shapes, ranges, pressure; changes nothing |
//! | [`split`] | barriers: the kernel cut into continuations, and the frame for what lives across |
//! | `transform` | rewrites of a continuation, still for one work-item; each can be switched off ([`passes`]) |
//! | `cost` | how many work-items to a vector |
//! | `emit` | vector code, and the loops over the vectors of a group |
//! | [`remarks`] | what was decided and why |
//!
//! A barrier costs no stack switch: a vector runs to the barrier, what it needs later is in the frame, and the next
//! vector runs. That makes every local size right by construction, also 1 and partial groups (pocl's "work-item loops"
//! and Karrenberg and Hack's continuations are the known forms; continuations are cloned from each barrier, so that
//! barriers in loops and branches need no special case). Work-items that have returned count as arrived. A sub-group
//! is a vector, the work-items of a row that run in step; without vectors, each work-item is one.
//!
//! A kernel beyond a limit ([`NotVectorised`]) runs one work-item at a time, and a remark says why. Why the result is
//! right is argued in `docs/internals/spmd.md`.

#![forbid(unsafe_code)]

pub mod analysis;
mod cost;
mod emit;
mod error;
pub mod passes;
mod pipeline;
pub mod remarks;
pub mod split;
mod transform;
mod work_group;

pub use analysis::dim_order::DimOrder;
use cloom_ir::abi::CpuLaunch;
use cloom_ir::{FuncRef, Module};
use cloom_passes::{PassOptions, Statistics};
use cloom_target::Target;
pub use cost::VectorOptions;
use cost::Vectors;
pub use error::{Error, InternalError, NotVectorised};
pub use remarks::Remark;

/// What the launcher must know about a work-group function.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkGroup {
    /// The function, `<kernel>.wg`.
    pub func: FuncRef,
    /// How it is launched. [`VectorOptions::short_row`] is what `long_row_width` asks for.
    pub launch: CpuLaunch,
    /// Bytes of static local memory.
    pub local_size: u64,
    /// The limit that kept a kernel that should have vectors from having any.
    pub not_vectorised: Option<NotVectorised>,
    /// The bug that did so. Never in debug builds, which panic.
    pub internal_error: Option<InternalError>,
    /// What was decided and why.
    pub remarks: Vec<Remark>,
    /// What each pass did.
    pub statistics: Statistics,
}

/// Global ids of a launch of a function with lanes may not exceed this, in any dimension: indices of 32 bits then do not wrap.
pub const MAX_ID: u64 = (1 << 31) - 1 - 1024;

/// Makes the work-group function of a kernel and adds it to the module. A kernel that cannot be vectorised runs its
/// work-items one at a time, and a remark says why. `passes` says which passes run.
///
/// # Errors
/// If it is no kernel, or not inlined far enough, or has too many barriers; and for a bug.
pub fn work_group_function(
    module: &mut Module,
    kernel: FuncRef,
    options: VectorOptions,
    target: &Target,
    passes: &PassOptions,
) -> Result<WorkGroup, Error> {
    work_group::run(module, kernel, Vectors { options, target }, passes)
}
