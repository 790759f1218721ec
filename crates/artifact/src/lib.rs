//! What a compiled kernel and a compiled program are, and how they are encoded.
//!
//! [`KernelArtifact`] is what a device loads: machine code and the numbers that its launcher needs. [`ProgramImage`] is what
//! `clGetProgramInfo(CL_PROGRAM_BINARIES)` hands out and `clCreateProgramWithBinary` takes back: the program's verified IR as text,
//! so that a binary stays good for any CPU and never holds foreign machine code that would be run unchecked. Both are
//! encoded as a magic, a format version, a BLAKE3 checksum and a postcard body; decoding never trusts a byte.

#![forbid(unsafe_code)]

mod encode;
mod kernel;
mod program;

pub use encode::DecodeError;
pub use kernel::{KernelArg, KernelArgKind, KernelArtifact};
pub use program::{ImageKind, ProgramImage};
