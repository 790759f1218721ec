//! Films and focus stacks, which stream through a device.

pub(crate) mod fieldblur;
pub(crate) mod video;
