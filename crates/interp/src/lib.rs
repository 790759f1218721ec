//! The reference interpreter: the executable semantics of the IR.
//!
//! In comes a verified module, a range and arguments; out come memory, printed records, or a typed [`Fault`]. Every
//! other way of running a kernel is compared with it, so it is simple rather than fast: all arithmetic is
//! [`cloom_ir::eval`], each access is checked against bounds and lifetime of its object, and memory tracks which bytes
//! were written. It also runs the work-group functions of `spmd`, so that a wrong result can be attributed to one
//! stage.
//!
//! * [`memory`]: segments with integer addresses, so that pointers can be stored.
//! * [`code`]: functions decoded once into a compact form.
//! * [`exec`]: runs one work-item until it ends or waits at a barrier. No recursion: its state is data.
//! * `running`: one frame of a work-item, with its registers.
//! * `access`: the instructions that touch memory.
//! * `definedness`: which bits of values come from unwritten memory.
//! * `iterations`: in which iteration of its loops a work-item is.
//! * [`launch`]: groups of work-items with barriers, and work-group functions.
//! * [`observe`]: hooks for checkers and tests.

#![forbid(unsafe_code)]

mod access;
pub mod code;
mod definedness;
pub mod exec;
pub mod fault;
mod iterations;
pub mod launch;
pub mod memory;
pub mod observe;
mod registers;
mod running;
mod shadow;
mod subgroup;

pub use cloom_ir::abi::NdRange;
pub use code::Program;
pub use fault::{Fault, FaultKind};
pub use launch::{Arg, Machine, Options, WorkGroupLayout};
pub use observe::{Access, AccessKind, Arithmetic, Divergence, Observer, Point, Printed, Use};
