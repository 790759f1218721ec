//! What a compiled kernel and a compiled program are, and how they are encoded.
//!
//! [`KernelArtifact`] is what a device loads: code, and the data that its launcher needs; the part for CPUs only is
//! [`CpuLaunch`]. [`ProgramImage`] is what `clGetProgramInfo(CL_PROGRAM_BINARIES)` returns and
//! `clCreateProgramWithBinary` accepts: the program's verified IR as text, so that a binary works on any CPU and never
//! contains foreign machine code that would be run unchecked. Both are encoded as a magic, a format version, a BLAKE3
//! checksum and a postcard body; decoding checks everything. [`Folder`] is where they are kept.

#![forbid(unsafe_code)]

mod encode;
mod folder;
mod kernel;
mod program;

pub use cloom_ir::DeviceCall;
pub use cloom_ir::abi::gpu::{CoarseEntry, Coarsening, GpuLaunch, WarpShape};
pub use cloom_ir::abi::{CpuLaunch, NdRange};
pub use encode::{DecodeError, checksum, decode, encode};
pub use folder::{Folder, FolderError};
pub use kernel::{ArtifactError, KernelArg, KernelArgKind, KernelArtifact, KernelCode, LaunchForm};
pub use program::{ImageKind, ProgramImage};
