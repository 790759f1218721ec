//! The SPIR-V front end: a module of OpenCL kernels (1.0 to 1.6) to the IR.
//!
//! ```text
//! bytes ─ reader ─▶ instructions ─ module ─▶ sections ─ context ─▶ types, constants, variables ─ flow ─▶ functions
//! ```
//!
//! What OpenCL C has a built-in function for becomes a call of a line of OpenCL C, which [`cloom_clc`] compiles
//! ([`builtin`]): names, overloads and the ways to compute them stay that crate's affair. All else is written in
//! instructions here. Blocks of SPIR-V become blocks of the IR, phis their parameters.
//!
//! A module is not trusted. Every step checks what it uses; what is wrong is an [`Error`] with the instruction and its
//! place, and the work for any module is bounded ([`limits`]).

#![forbid(unsafe_code)]

mod builtin;
mod consts;
mod context;
mod enqueue;
mod error;
mod flow;
mod func;
mod instructions;
mod kernel;
mod limits;
mod module;
mod reader;
mod specialize;
mod support;
mod types;
mod variables;

pub use error::Error;
pub use reader::is_spirv;
pub use specialize::{SpecConstant, spec_constants};
pub use support::Spirv;

use cloom_clc::Target;
use cloom_clc::options::BuildOptions;

/// A module and all that decides what it becomes.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The words, in either order of bytes.
    pub binary: &'a [u8],
    /// Values of specialisation constants: number and bytes. Of two for one number the last counts.
    pub constants: &'a [(u32, Vec<u8>)],
    /// Build options, as far as they apply.
    pub options: &'a BuildOptions,
    /// The device.
    pub target: &'a Target,
}

/// Compiles a module to verified IR.
pub fn compile(input: Input<'_>) -> Result<cloom_ir::Module, Error> {
    let words = reader::Words::read(input.binary)?;
    let module = module::Module::read(&words, input.target)?;
    let ir = context::Context::new(&module, input).lower()?;
    match cloom_ir::verify(&ir).first() {
        None => Ok(ir),
        Some(wrong) => Err(Error::new(format!("the module is not valid: {wrong}"))),
    }
}
