//! Simulations: particles, fields, cloth, and cellular automata.

pub(crate) mod cloth;
pub(crate) mod flow;
pub(crate) mod heat3d;
pub(crate) mod life;
pub(crate) mod nbody;
pub(crate) mod particles;
pub(crate) mod sandpile;
pub(crate) mod wave;
