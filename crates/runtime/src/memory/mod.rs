//! Memory objects: buffers, images and pipes; where their bytes are valid; shared virtual memory.
//!
//! Nothing here is a command: `transfer` has those that move bytes.

pub(crate) mod image;
pub(crate) mod image_color;
pub(crate) mod image_object;
pub(crate) mod image_requirements;
pub(crate) mod mapping;
pub(crate) mod object;
pub(crate) mod pipe;
pub(crate) mod region;
pub(crate) mod residency;
pub(crate) mod svm;
pub(crate) mod usm;
