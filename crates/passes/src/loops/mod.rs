//! Passes over loops: what leaves them, how often their bodies are repeated, and their form.

pub(crate) mod full_unroll;
pub mod licm;
pub mod reducible;
pub mod runtime_unroll;
pub mod unroll;
pub mod unroll_barrier_loops;
pub mod unwrapped_loops;
