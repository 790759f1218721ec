//! Devices: the CPU and the GPUs of this machine.

use crate::Error;
use crate::platform::shared;
use cloom_runtime as rt;
use std::fmt;
use std::sync::Arc;

pub use cloom_runtime::DeviceKind;

/// A device. Cheap to clone; all clones are one device.
#[derive(Clone)]
pub struct Device {
    pub(crate) runtime: Arc<rt::Device>,
}

/// The description of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Its name: "AMD EPYC 9B45".
    pub name: String,
    /// CPU or GPU.
    pub kind: DeviceKind,
    /// The target of code: `x86_64-unknown-linux-gnu:x86-64-v4`.
    pub target: String,
    /// How many threads of a CPU, or multiprocessors of a GPU, run kernels.
    pub compute_units: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of local memory of a work-group, at most.
    pub local_memory: u64,
    /// Work-items of a work-group, at most.
    pub max_group_size: u64,
    /// Whether it has images.
    pub images: bool,
    /// The shared virtual memory that it has.
    pub svm: Option<SvmSupport>,
}

/// What shared virtual memory a device has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SvmSupport {
    /// Whether host and kernels may use an allocation at the same time.
    pub fine_grain: bool,
    /// Whether kernels may use all memory of the process, without an allocation of the context.
    pub system: bool,
    /// Whether host and kernels see each other's atomic operations.
    pub atomics: bool,
}

impl SvmSupport {
    fn of(device: &rt::Device) -> Option<SvmSupport> {
        let (kind, atomics) = device.svm()?;
        let fine_grain = kind >= rt::SvmKind::FineGrainBuffer;
        Some(SvmSupport { fine_grain, system: kind >= rt::SvmKind::FineGrainSystem, atomics })
    }
}

impl Device {
    /// All devices of this machine, the default one first: the CPU and each GPU whose driver is installed, or what
    /// `CLOOM_DEVICES` says.
    ///
    /// # Errors
    /// [`Error::NoDevice`] where there is none.
    pub fn all() -> Result<Vec<Device>, Error> {
        let platform = shared()?;
        Ok(platform.devices().iter().map(|runtime| Device { runtime: runtime.clone() }).collect())
    }

    /// Its description.
    pub fn info(&self) -> DeviceInfo {
        let info = self.runtime.info();
        DeviceInfo {
            name: info.name.clone(),
            kind: self.runtime.caps().kind,
            target: info.target.name().to_owned(),
            compute_units: info.compute_units,
            memory: info.memory_size,
            local_memory: self.runtime.local_memory(),
            max_group_size: self.runtime.max_group_size(),
            images: self.runtime.caps().images.is_some(),
            svm: SvmSupport::of(&self.runtime),
        }
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.runtime, &other.runtime)
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.runtime.info().name).finish()
    }
}
