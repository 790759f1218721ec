//! The reference interpreter: what a module means, run one instruction after the other.
//!
//! In comes a verified module, a range and arguments; out come memory, printed records, or a typed [`Fault`]. Every
//! other way of running a kernel is compared with it, so it favours the obvious over the fast: arithmetic is
//! [`cloom_ir::eval`] and nothing else, each access is checked against the bounds and the lifetime of what it touches,
//! and memory knows which bytes were written. It also runs what `spmd` makes, so that a wrong result can be pinned on
//! one stage.
//!
//! * [`memory`]: segments with addresses that are plain numbers, so that they can be stored.
//! * [`code`]: functions decoded once into a compact form.
//! * [`exec`]: runs one work-item until it ends or waits at a barrier. No recursion: its state is data.
//! * [`launch`]: groups of work-items with barriers, and work-group functions.
//! * [`observe`]: hooks for checkers and tests.

#![forbid(unsafe_code)]

pub mod code;
pub mod exec;
pub mod fault;
pub mod launch;
pub mod memory;
pub mod observe;
mod subgroup;

pub use cloom_ir::abi::NdRange;
pub use code::Program;
pub use fault::{Fault, FaultKind};
pub use launch::{Arg, Machine, Options, WorkGroupLayout};
pub use observe::{Access, AccessKind, Observer, Printed};
