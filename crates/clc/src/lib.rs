//! The OpenCL C front end: preprocessor, parser, semantic analysis, lowering to IR.
//!
//! No stage fails or panics: each gives its result, as complete as possible, and adds its diagnostics to the
//! [`source::Session`]. There is no input or output here; included files come through a trait.

#![forbid(unsafe_code)]

mod compile;
pub mod layout;
mod lower;
pub mod options;
pub mod pp;
pub mod sema;
pub mod source;
mod stack;
pub mod syntax;

pub use compile::{Input, Mode, Output, Target, compile, fast_math, kernel_layouts};
pub use source::render;
pub use stack::with_deep_stack;
