//! The programs, one file each, and what those that fill a picture have in common.

mod grid;
mod life;
mod mandel;
mod pixelize;
mod sample;
mod stripes;
mod threads;
mod transpose;

use crate::program::Program;

/// Every program.
pub(crate) const ALL: &[&dyn Program] = &[
    &sample::Sample,
    &mandel::Mandel,
    &transpose::Transpose,
    &pixelize::Pixelize,
    &stripes::Stripes,
    &life::Life,
];
