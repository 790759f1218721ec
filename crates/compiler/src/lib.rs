//! Source or SPIR-V, options and target to artifact: the one pipeline.
//!
//! ```text
//! source ─ front ─▶ Program (IR) ─ link ─▶ Program ─ executable ─▶ kernel: library ▸ Backend ─▶ KernelArtifact
//!                      ▲ │ binary                                      │ ▲      CPU: passes ▸ spmd ▸ llvm
//!                      └─┘                                             disk cache    GPU: passes ▸ llvm
//! ```
//!
//! A [`Compiler`] is shared by everything that compiles in a process; it owns the disk cache and the threads that
//! compile ahead. The front end runs at once and reports. Code is made for one kernel and one [`SpecializationKey`] at
//! a time, by the thread that needs it first, or ahead of time by a background thread. A [`Backend`] makes it. Those
//! for CPUs and GPUs are built in; others are given as [`Extensions`].

#![forbid(unsafe_code)]

mod arg_states;
mod backend;
mod cache;
mod compilation;
mod compiler;
mod config;
mod diagnostic;
mod error;
mod executable;
mod frames;
mod front;
mod images;
mod kernel;
mod key;
mod library;
mod link;
mod load;
mod options;
pub mod passes;
mod program;
mod queue;
mod remarks;
mod shared;
mod stage;
#[cfg(feature = "testing")]
pub mod testing;

pub use arg_states::{ArgState, ArgStates};
pub use backend::{
    Backend, Capabilities, CpuBackend, Explanation, Extensions, Generated, GpuBackend, IrHook, KernelInput, Position,
};
pub use cache::CacheFolder;
pub use cloom_artifact::{FolderError, ImageKind};
pub use cloom_clc::layout::{KernelLayout, Layout, Member};
pub use cloom_clc::options::{BuildOptions, OptionSet};
pub use cloom_llvm::give_up as give_up_compiling;
pub use cloom_passes::BoundsChecks;
pub use cloom_spirv::{SpecConstant, Spirv, is_spirv, spec_constants};
pub use cloom_spmd::decisions;
pub use compilation::{Compilation, Failure};
pub use compiler::Compiler;
pub use config::Config;
pub use diagnostic::{Diagnostic, Location};
pub use error::CompileError;
pub use executable::Executable;
pub use front::{BuildTarget, Header, Il, Source};
pub use kernel::Built;
pub use key::{CodeOptions, SpecializationKey, SubgroupSize, Tier, Variant};
pub use program::{LoadError, Program};
pub use remarks::{place, with_remarks};
pub use stage::{Stage, StageLog, Timing};
