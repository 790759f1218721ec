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
        let expecting = devices.clone();
        engine.compile(|compiler| {
            compiler.before_code(move |target| {
                let are_for = |device: &&Arc<dyn hal::Device>| device.info().target == *target;
                expecting.iter().filter(are_for).for_each(|device| device.expect_code());
            });
        });
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
