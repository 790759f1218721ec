//! PTX, NVIDIA's text assembly, as data.
//!
//! In: the text of a module. Out: a [`tree::Module`] that borrows its names from the text, or a [`ParseError`] with a
//! line; and, by `Display`, the text of a tree, which parses to an equal tree.
//!
//! [`DefUse`] resolves the names of registers and labels of a function. [`merged`] returns the registers that several
//! instructions set, [`varying`] the registers that depend on the thread, and [`graph::Graph`] the control flow.
//! [`errata`] is the table of bugs of ptxas.
//!
//! A pass, such as [`errata::rewrite`] and [`peephole::optimise`], replaces instructions of a [`Draft`]. All other
//! instructions are printed as they stood in the text.
//!
//! Code generation and the simulated GPU need the same lexer and tree, so that these are here once, apart from the
//! interpreter. The parser knows the shapes of operands, but no opcode.
//!
//! The text may come from any program. The parser neither panics nor recurses deeper than a fixed limit, and its
//! memory is proportional to the length of the text.
//!
//! ```
//! use cloom_ptx::tree::{Item, Statement};
//!
//! let module = cloom_ptx::parse(".entry k() { .reg .b32 %r<2>; mov.u32 %r1, %tid.x; ret; }").unwrap();
//! let Item::Function(function) = &module.items[0] else { panic!() };
//! let Some(Statement::Inst(inst)) = function.body.as_ref().and_then(|body| body.get(1)) else { panic!() };
//! assert_eq!((function.name, &*inst.opcode), ("k", "mov.u32"));
//! assert_eq!(inst.to_string(), "mov.u32 %r1, %tid.x;");
//! ```

#![forbid(unsafe_code)]

mod def_use;
mod draft;
pub mod errata;
mod error;
pub mod graph;
mod lex;
mod parse;
mod parse_body;
pub mod peephole;
mod print;
mod scope;
mod special;
pub mod tree;
mod types;
mod uniformity;

pub use def_use::{DefUse, MAX_TARGETS, Operand, Operands, Operation, RegisterSet, merged, register_bits};
pub use draft::{Builder, Draft, Replacement};
pub use error::ParseError;
pub use lex::Literal;
pub use parse::parse;
pub use scope::{Register, Scopes};
pub use special::Special;
pub use types::{Class, Type};
pub use uniformity::varying;
