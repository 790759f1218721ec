//! A device: a `hal` device, and the limits that follow from it.

use crate::{Engine, ExternalSlot};
use cloom_caps::DeviceCaps;
use cloom_compiler::Spirv;
use cloom_hal as hal;
use std::sync::Arc;

/// A device.
pub struct Device {
    /// What the interface keeps.
    pub external: ExternalSlot,
    hal: Arc<dyn hal::Device>,
    engine: Arc<Engine>,
    runs_on_host: bool,
    shares_host: bool,
    /// The device that it is a part of, and how that was divided.
    parent: Option<(Arc<Device>, Vec<isize>)>,
}

impl Device {
    pub(crate) fn new(hal: Arc<dyn hal::Device>, engine: Arc<Engine>) -> Arc<Device> {
        Device::with(hal, engine, None)
    }

    /// A sub-device.
    pub(crate) fn part(hal: Arc<dyn hal::Device>, parent: &Arc<Device>, properties: Vec<isize>) -> Arc<Device> {
        Device::with(hal, parent.engine.clone(), Some((parent.clone(), properties)))
    }

    fn with(hal: Arc<dyn hal::Device>, engine: Arc<Engine>, parent: Option<(Arc<Device>, Vec<isize>)>) -> Arc<Device> {
        // Asked once: each launch looks at them.
        let (runs_on_host, shares_host) = (hal.as_assist().is_some(), hal.as_host_shared().is_some());
        Arc::new(Device { external: ExternalSlot::default(), hal, engine, runs_on_host, shares_host, parent })
    }

    /// The device that it is a part of.
    pub fn parent(&self) -> Option<&Arc<Device>> {
        self.parent.as_ref().map(|(parent, _)| parent)
    }

    /// The devices that it is a part of, the nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = &Arc<Device>> {
        std::iter::successors(self.parent(), |device| device.parent())
    }

    /// How its parent was divided: the properties as given; none of a root device.
    pub fn partition(&self) -> &[isize] {
        self.parent.as_ref().map_or(&[], |(_, properties)| properties)
    }

    /// Its description.
    pub fn info(&self) -> &hal::DeviceInfo {
        self.hal.info()
    }

    /// Its capabilities.
    pub fn caps(&self) -> &DeviceCaps {
        &self.hal.info().caps
    }

    /// Whether programs for it may come as SPIR-V.
    pub fn takes_il(&self) -> bool {
        self.caps().takes_il()
    }

    /// What modules of SPIR-V may declare.
    pub fn spirv(&self) -> Spirv {
        Spirv::of(self.caps())
    }

    /// The device itself.
    pub fn hal(&self) -> &Arc<dyn hal::Device> {
        &self.hal
    }

    /// The shared state of all objects.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Whether launches run on threads of the host, the calling one among them. Then a launch has ended when it is
    /// submitted.
    pub(crate) fn runs_on_host(&self) -> bool {
        self.runs_on_host
    }

    /// Whether it works in the host's memory (`CL_DEVICE_HOST_UNIFIED_MEMORY`).
    pub fn shares_host(&self) -> bool {
        self.shares_host
    }

    /// The kind of shared virtual memory, if there is any, and whether it has atomics.
    pub fn svm(&self) -> Option<(hal::SvmKind, bool)> {
        self.hal.as_svm().map(|svm| (svm.kind(), svm.atomics()))
    }

    /// Work-items of the largest work-group.
    pub fn max_group_size(&self) -> u64 {
        self.caps().limits.max_group_size
    }

    /// Bytes of local memory of a group.
    pub fn local_memory(&self) -> u64 {
        self.caps().limits.local_memory
    }

    /// Bytes of the largest buffer: at least a quarter of the memory, as the specification asks; half of it here.
    pub fn max_allocation(&self) -> u64 {
        (self.info().memory_size / 2).max(128 << 20)
    }

    /// Bytes that the origin of a sub-buffer is a multiple of.
    pub fn base_alignment(&self) -> u64 {
        u64::from(self.caps().limits.mem_base_addr_align / 8)
    }

    /// Nanoseconds now on the device's clock and on the host's, which are one clock where the device has none of its
    /// own.
    pub fn timers(&self) -> (u64, u64) {
        let host = self.engine.now();
        (self.hal.as_timestamps().map_or(host, hal::Timestamps::now), host)
    }
}
