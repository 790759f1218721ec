//! The programs by family, one file or folder each.

pub(crate) mod graph;
pub(crate) mod image;
pub(crate) mod media;
pub(crate) mod numeric;
pub(crate) mod physics;

use crate::common::easypap::Easy;
use crate::idioms::Idioms;
use crate::program::Program;

/// Every program.
pub(crate) const ALL: &[&dyn Program] = &[
    &image::sample::Sample,
    &image::mandel::Mandel,
    &image::transpose::Transpose,
    &image::pixelize::Pixelize,
    &image::stripes::Stripes,
    &physics::life::Life,
    &Easy(image::invert::Invert),
    &Easy(image::rotation90::Rotation90),
    &Easy(image::scrollup::Scrollup),
    &Easy(image::spin::Spin),
    &image::max::Max,
    &physics::sandpile::Sandpile,
    &graph::tsp::Tsp,
    &physics::heat3d::Heat3d,
    &numeric::histogram::Histogram,
    &numeric::reduce::Reduce,
    &numeric::matvec::Matvec,
    &numeric::scalvec::Scalvec,
    &numeric::copy::Copy,
    &numeric::mad::Mad,
    &numeric::coalesce::Coalesce,
    &numeric::bank::Bank,
    &image::shape::Shape,
    &numeric::occupancy::Occupancy,
    &physics::particles::Particles,
    &physics::nbody::Nbody,
    &image::conv::Conv,
    &image::gauss::Gauss,
    &image::resample::Resample,
    &image::sampler::Sampler,
    &image::wavelet::Wavelet,
    &numeric::lu::Lu,
    &graph::lcs::Lcs,
    &media::fieldblur::Fieldblur,
    &image::morph::Morph,
    &physics::wave::Wave,
    &physics::flow::Flow,
    &physics::cloth::ClothProgram,
    &media::video::Video,
    &Idioms,
];
