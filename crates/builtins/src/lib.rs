//! The OpenCL C built-in functions: their table and their sources.
//!
//! The front end asks the [`table`] what a name means and how a call of it is lowered; what is lowered to a call is
//! written in OpenCL C in `lib/*.cl`, compiled by the same front end, and linked function by function. [`printf`]
//! formats what kernels print.

#![forbid(unsafe_code)]

mod constants;
mod group_rows;
pub mod lib_sources;
pub mod library;
pub mod printf;
mod rows;
pub mod table;
pub mod ulp;

pub use constants::CONSTANTS;
pub use table::{Elem, Lower, Row, Sig, Special, Subgroup, Ty, lookup, mangle, names, space_digit};
