//! Syntax: from tokens to the syntax tree.
//!
//! In come the preprocessor's tokens; out comes an [`ast::TranslationUnit`] in every case: what cannot be parsed is
//! reported and leaves an error node. Of declarations the parser knows only what the grammar of C needs: which names
//! are types.

pub mod ast;
pub(crate) mod attributes;
mod constants;
mod decl;
mod declarator;
mod depth;
mod expr;
mod keywords;
pub(crate) mod literal;
mod parser;
mod specs;
mod stmt;
mod types;

pub use depth::Depth;
pub(crate) use keywords::keyword_texts;
pub use parser::{ParseOptions, parse};

pub use types::{AtomicType, BuiltinType, ImageKind, Scalar, builtin_type_names};
