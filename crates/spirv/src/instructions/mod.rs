//! The instructions of functions, by chapter of the specification. Each file lets [`crate::func::Fn`] write some of
//! them.

mod arith;
mod atomic;
mod composite;
mod convert;
mod ext;
mod group;
mod image;
mod intel;
mod logic;
mod memory;
mod pipe;
mod printf;
