//! The platform: the devices and the engine. Its strings and version come from `cloom-caps`.

use crate::{Device, Engine, ExternalSlot};
use cloom_hal as hal;
use std::sync::Arc;

/// The platform.
pub struct Platform {
    /// What the interface keeps.
    pub external: ExternalSlot,
    engine: Arc<Engine>,
    devices: Vec<Arc<Device>>,
}

impl Platform {
    /// A platform with these devices; the first one is the default.
    pub fn new(engine: Arc<Engine>, devices: Vec<Arc<dyn hal::Device>>) -> Arc<Platform> {
        let devices = devices.into_iter().map(|d| Device::new(d, engine.clone())).collect();
        Arc::new(Platform { external: ExternalSlot::default(), engine, devices })
    }

    /// The devices.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// The state that its objects share.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }
}
