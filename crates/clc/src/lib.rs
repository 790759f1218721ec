//! The OpenCL C front end: preprocessor, parser, semantic analysis, lowering to IR.
//!
//! The stages never fail and never panic: each yields its result, as complete as can be, and adds what it found wrong to
//! the [`source::Session`]. There is no input or output here; included files come through a trait.

pub mod options;
pub mod pp;
pub mod source;
pub mod syntax;

pub use source::render;
