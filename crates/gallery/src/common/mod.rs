//! What programs have in common: how work-groups cover a picture, host threads, tiles that sleep, and the runner of the
//! smallest picture kernels.

pub(crate) mod easypap;
pub(crate) mod grid;
pub(crate) mod threads;
pub(crate) mod tiles;
