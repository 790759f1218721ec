//! The library's sources: what the table lowers to calls.

pub use crate::lib_sources::{FILES, GPU_FILES};
