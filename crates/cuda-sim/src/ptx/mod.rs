//! An interpreter of PTX, NVIDIA's text assembly, for kernels that LLVM's NVPTX backend emits.
//!
//! In: the text of a module, blocks of global memory, and the sizes of a launch. Out: the changed memory, or an error
//! with the line of the text, the thread and the address. It is an oracle for tests on machines without a GPU, so it
//! prefers exact results and clear errors to speed.
//!
//! ```
//! # use cloom_cuda_sim::ptx::{GlobalMemory, Grid, Memory, Module, launch};
//! let text = "
//!     .version 7.8
//!     .target sm_90
//!     .address_size 64
//!     .visible .entry twice(.param .u64 out) {
//!         .reg .b32 %r<3>;
//!         .reg .b64 %rd<4>;
//!         ld.param.u64 %rd1, [out];
//!         mov.u32 %r1, %tid.x;
//!         mul.wide.u32 %rd2, %r1, 4;
//!         add.s64 %rd3, %rd1, %rd2;
//!         shl.b32 %r2, %r1, 1;
//!         st.global.u32 [%rd3], %r2;
//!         ret;
//!     }";
//! let mut memory = Memory::new();
//! let module = Module::parse(text).unwrap().load(&mut memory);
//! let out = memory.allocate(vec![0; 16]);
//! let grid = Grid { groups: [1, 1, 1], threads: [4, 1, 1], dynamic_shared: 0 };
//! launch(&module, "twice", &[out.to_le_bytes().to_vec()], &grid, &mut memory, 1000).unwrap();
//! assert_eq!(memory.bytes(out), [0, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 6, 0, 0, 0]);
//! ```
//!
//! # How threads run
//!
//! A thread runs until it ends or waits for others. Barriers wait for all threads of the block that have not ended.
//! Collectives of a warp (`.sync`) wait for the threads of the mask that have not ended. A thread that runs for long
//! is interrupted for the others, and a block for the other blocks, so a thread may wait for memory that another
//! writes. The order is always the same, so a launch is deterministic.
//!
//! `activemask` gives the threads of the warp that run together: those that took the same path since the paths of the
//! last divergent branch joined (see `flow.rs`). Kernels use it as the set of active work-items, so that a mask with
//! only the thread itself would change their results.
//!
//! # Behaviour that PTX leaves open
//!
//! - The bytes of registers and of local and shared memory begin as 0xCD: no code may rely on zeros.
//! - An integer division by zero gives all ones, its remainder the dividend.
//! - `shfl` from a lane that does not take part gives 0xDEADBEEF.
//! - Approximate functions give the exact value, rounded once.
//! - Shared variables begin at offset 1024 of shared memory, as on devices since sm_80.

mod access;
mod alu_float;
mod alu_int;
mod atomic;
mod block;
mod bytes;
mod code;
mod convert;
mod decode;
mod fault;
mod flow;
mod function;
mod grid;
mod launch;
mod lower;
mod memory;
mod op;
mod sample;
mod soft;
mod symbol;
#[cfg(test)]
mod tests;
mod texture;
mod thread;
mod warp;

pub use cloom_ptx::ParseError;
pub use code::ParamInfo;
pub use fault::{Fault, Place, Waiting};
pub use grid::Grid;
pub use launch::{Loaded, Module, launch};
pub use memory::{GlobalMemory, Memory};
pub use texture::{Channel, Texture};
