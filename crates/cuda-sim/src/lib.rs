//! A simulated NVIDIA GPU for tests on machines that have none.
//!
//! [`ptx`] interprets PTX: in come the text that code generation makes and what a launch passes, out goes the changed
//! memory. On it stands the crate `cuda-sim-driver`, a library in the place of NVIDIA's driver.
//! What is measured here says nothing of a GPU's speed.

#![forbid(unsafe_code)]

pub mod ptx;
