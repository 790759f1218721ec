//! The CPU device: memory, a loader of object code, and a pool of threads that runs work-groups.
//!
//! In comes a [`KernelArtifact`](cloom_artifact::KernelArtifact) with a relocatable ELF object. It is mapped and linked
//! in the process, without a system linker. A launch is divided into chunks of consecutive groups, which the calling
//! thread and the workers share. What a work-group function gets is fixed in `cloom_ir::abi`.
//!
//! `docs/internals/runtime.md` says which thread runs what, and in which order locks are taken.

#![allow(unsafe_code, reason = "it loads and runs machine code")]

mod arena;
mod caps;
mod cgroup;
mod choice;
mod code;
mod cores;
mod counts;
mod device;
mod device_calls;
mod division;
pub mod fpenv;
mod grouping;
mod info;
mod kernel;
mod launch;
mod loader;
mod memory;
mod next_tier;
mod pool;
mod print;
mod relocate;
mod resources;
mod topology;

pub use choice::Choice;
pub use counts::CountsFile;
pub use device::CpuDevice;
