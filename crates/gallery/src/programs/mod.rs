//! The programs, one file each, and what those that fill a picture have in common.

mod bands;
mod bank;
mod coalesce;
mod conv;
pub(crate) mod copy;
mod devices;
mod fieldblur;
mod gauss;
mod grid;
pub(crate) mod histogram;
pub(crate) mod lcs;
mod life;
mod lu;
pub(crate) mod mad;
pub(crate) mod mandel;
pub(crate) mod matvec;
mod nbody;
mod occupancy;
mod particles;
mod pixelize;
#[cfg(feature = "mpi")]
mod ranks;
pub(crate) mod reduce;
mod resample;
mod sample;
pub(crate) mod sampler;
pub(crate) mod scalvec;
mod shape;
mod stripes;
mod team;
mod threads;
mod transpose;
mod wavelet;

use crate::idioms::Idioms;
use crate::program::Program;

/// Every program.
pub(crate) const ALL: &[&dyn Program] = &[
    &sample::Sample,
    &mandel::Mandel,
    &transpose::Transpose,
    &pixelize::Pixelize,
    &stripes::Stripes,
    &life::Life,
    &histogram::Histogram,
    &reduce::Reduce,
    &matvec::Matvec,
    &scalvec::Scalvec,
    &copy::Copy,
    &mad::Mad,
    &coalesce::Coalesce,
    &bank::Bank,
    &shape::Shape,
    &occupancy::Occupancy,
    &particles::Particles,
    &nbody::Nbody,
    &conv::Conv,
    &gauss::Gauss,
    &resample::Resample,
    &sampler::Sampler,
    &wavelet::Wavelet,
    &lu::Lu,
    &lcs::Lcs,
    &fieldblur::Fieldblur,
    &Idioms,
];
