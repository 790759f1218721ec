//! What a helper asks of a device beside the traits of `cloom_hal`.

use cloom_hal::{Device, DeviceInfo};

/// A device that a helper can own.
pub trait Served: Device + Sized + 'static {
    /// What the application, which shares no memory with it, is told of it.
    fn remote_info(&self) -> DeviceInfo;

    /// The text at an address that a kernel printed, up to its zero.
    fn text(&self, address: u64) -> Option<Vec<u8>>;

    /// Why this process can do nothing on such devices any more.
    fn why_lost() -> Option<String>;
}
