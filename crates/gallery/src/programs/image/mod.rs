//! Programs that compute a picture, most of them from another one.

pub(crate) mod conv;
pub(crate) mod gauss;
pub(crate) mod invert;
pub(crate) mod mandel;
pub(crate) mod max;
pub(crate) mod morph;
pub(crate) mod pixelize;
pub(crate) mod resample;
pub(crate) mod rotation90;
pub(crate) mod sample;
pub(crate) mod sampler;
pub(crate) mod scrollup;
pub(crate) mod shape;
pub(crate) mod spin;
pub(crate) mod stripes;
pub(crate) mod transpose;
pub(crate) mod wavelet;
