//! What a compiled kernel and a compiled program are, and how they are encoded.
//!
//! [`KernelArtifact`] is what a device loads: code, and what its launcher needs to know; the part that only CPUs need
//! is [`CpuLaunch`]. [`ProgramImage`] is what `clGetProgramInfo(CL_PROGRAM_BINARIES)` hands out and
//! `clCreateProgramWithBinary` takes back: the program's verified IR as text, so that a binary stays good for any CPU
//! and never holds foreign machine code that would be run unchecked. Both are encoded as a magic, a format version, a
//! BLAKE3 checksum and a postcard body; decoding never trusts a byte.

#![forbid(unsafe_code)]

mod encode;
mod kernel;
mod program;

pub use cloom_ir::abi::{CpuLaunch, NdRange};
pub use encode::DecodeError;
pub use kernel::{ArtifactError, KernelArg, KernelArgKind, KernelArtifact, KernelCode, LaunchForm};
pub use program::{ImageKind, ProgramImage};
