//! Fuzzing: a target takes bytes and must neither panic, nor crash, nor hang, nor find that an invariant is broken.
//!
//! * [`mutate`]: makes inputs out of a corpus.
//! * [`targets`]: what is fuzzed.
//! * [`session`]: the parent process, which starts a child and keeps what kills it; and the child.
//!
//! An input is a function of the session's seed and its number, so every run can be had again.

#![allow(clippy::print_stdout, reason = "it prints what it finds")]

pub mod mutate;
pub mod session;
pub mod targets;

pub use targets::{Reach, TARGETS, Target};
