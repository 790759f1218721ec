//! The OpenCL C built-in functions: their table and their sources.
//!
//! The front end looks a name up in the [`table`], which gives its signatures and how a call is lowered. Functions
//! that are lowered to calls are written in OpenCL C in `lib/*.cl`, compiled by the same front end, and linked one by
//! one. [`printf`] formats what kernels print.

#![forbid(unsafe_code)]

mod constants;
mod group_rows;
pub mod images;
pub mod lib_sources;
pub mod library;
pub mod printf;
mod rows;
pub mod table;
pub mod ulp;

pub use constants::{CONSTANTS, HALF_CONSTANTS, SAMPLER_CONSTANTS};
pub use table::{
    Common, Elem, Integer, Lower, Relational, Row, Sig, Special, Subgroup, Ty, WorkItem, lookup, mangle, names,
    space_digit,
};
