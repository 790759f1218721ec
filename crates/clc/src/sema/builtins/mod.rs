//! Calls of built-in functions: their checks, and what they become in the typed tree.

pub(super) mod atomics;
pub mod block_access;
pub(super) mod builtin;
pub(super) mod clang_builtins;
pub(super) mod enqueue;
pub(super) mod handles;
pub mod images;
pub mod pipes;
pub(super) mod prototypes;
