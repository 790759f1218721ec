//! A simulated NVIDIA GPU for tests on machines that have none.
//!
//! [`ptx`] interprets PTX. The input is the text that code generation makes, and the arguments of a launch; the output
//! is the changed memory. The crate `cuda-sim-driver` uses it as a library in place of NVIDIA's driver.
//!
//! Times measured here say nothing about a GPU's speed.

#![forbid(unsafe_code)]

pub mod ptx;
