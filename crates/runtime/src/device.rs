//! A device: what `hal` offers, and the limits that follow.

use crate::{Attachment, Engine};
use cloom_caps::limits;
use cloom_hal as hal;
use std::sync::Arc;

/// A device.
pub struct Device {
    /// What the interface keeps.
    pub attachment: Attachment,
    hal: Arc<dyn hal::Device>,
    engine: Arc<Engine>,
}

impl Device {
    pub(crate) fn new(hal: Arc<dyn hal::Device>, engine: Arc<Engine>) -> Arc<Device> {
        Arc::new(Device { attachment: Attachment::default(), hal, engine })
    }

    /// What it is.
    pub fn info(&self) -> &hal::DeviceInfo {
        self.hal.info()
    }

    /// The device itself.
    pub fn hal(&self) -> &Arc<dyn hal::Device> {
        &self.hal
    }

    /// What all objects share.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The most work-items of a group, in all and in each dimension.
    pub fn max_group_size(&self) -> u64 {
        limits::MAX_GROUP_SIZE
    }

    /// Bytes of local memory of a group.
    pub fn local_memory(&self) -> u64 {
        self.info().local_memory.min(limits::LOCAL_MEMORY)
    }

    /// Bytes of the largest buffer: at least a quarter of the memory, as the specification asks; half of it here.
    pub fn max_allocation(&self) -> u64 {
        (self.info().memory_size / 2).max(128 << 20)
    }

    /// Bytes that the origin of a sub-buffer is a multiple of.
    pub fn base_alignment(&self) -> u64 {
        u64::from(limits::MEM_BASE_ADDR_ALIGN / 8)
    }
}
