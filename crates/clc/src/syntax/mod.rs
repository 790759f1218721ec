//! From tokens to the syntax tree.
//!
//! In come the preprocessor's tokens; out comes a [`ast::TranslationUnit`], always: what cannot be parsed is reported
//! and stands in the tree as an error node. The parser knows of declarations only what the grammar of C needs: which
//! names stand for types.

pub mod ast;
mod constants;
mod decl;
mod declarator;
mod expr;
mod keywords;
pub(crate) mod literal;
mod parser;
mod specs;
mod stmt;
mod types;

pub use parser::{ParseOptions, parse};

pub use types::{AtomicType, BuiltinType, ImageKind, Scalar, builtin_type_names};
