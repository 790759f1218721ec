//! The programs, one file each, and what those that fill a picture have in common.

mod band;
mod bank;
mod cloth;
mod coalesce;
mod conv;
pub(crate) mod copy;
mod devices;
mod domain;
mod easypap;
mod fieldblur;
mod flow;
mod gauss;
mod grid;
mod heat3d;
pub(crate) mod histogram;
mod hybrid;
mod invert;
pub(crate) mod lcs;
mod life;
mod lu;
pub(crate) mod mad;
pub(crate) mod mandel;
pub(crate) mod matvec;
mod max;
mod morph;
mod nbody;
mod occupancy;
mod particles;
mod parts;
mod pixelize;
mod plan;
#[cfg(feature = "mpi")]
mod ranks;
pub(crate) mod reduce;
mod resample;
mod rotation90;
mod sample;
pub(crate) mod sampler;
mod sandpile;
pub(crate) mod scalvec;
mod scrollup;
mod shape;
mod spin;
mod split;
mod stripes;
mod team;
mod threads;
mod tiles;
mod transpose;
mod tsp;
mod video;
mod wave;
mod wavelet;
mod world;

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
    &easypap::Easy(invert::Invert),
    &easypap::Easy(rotation90::Rotation90),
    &easypap::Easy(scrollup::Scrollup),
    &easypap::Easy(spin::Spin),
    &max::Max,
    &sandpile::Sandpile,
    &tsp::Tsp,
    &heat3d::Heat3d,
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
    &morph::Morph,
    &wave::Wave,
    &flow::Flow,
    &cloth::ClothProgram,
    &video::Video,
    &Idioms,
];
