//! Commands that move or map bytes: of buffers, images and shared virtual memory.

pub(crate) mod buffer;
pub(crate) mod image;
pub(crate) mod map;
pub(crate) mod rect;
pub(crate) mod svm;
pub(crate) mod usm;
