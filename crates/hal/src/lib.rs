//! What a device must be able to do
