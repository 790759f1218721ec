//! A kernel of this device in memory.

use crate::loader::Image;
use cloom_artifact::{CpuLaunch, KernelArtifact};
use cloom_hal::Kernel;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A kernel in memory.
pub struct CpuKernel {
    pub artifact: Arc<KernelArtifact>,
    /// The CPU part of the artifact.
    pub cpu: CpuLaunch,
    pub image: Image,
    /// The work-items of the largest group.
    pub max_group: u64,
    /// Picoseconds for each work-item in the last measured launch; 0: not measured yet.
    pub item_time: AtomicU64,
}

impl Kernel for CpuKernel {
    fn artifact(&self) -> &KernelArtifact {
        &self.artifact
    }

    fn max_group_size(&self) -> u64 {
        self.max_group
    }
}

/// A kernel of this device.
pub fn cpu_kernel(kernel: &dyn Kernel) -> Option<&CpuKernel> {
    let kernel: &dyn Any = kernel;
    kernel.downcast_ref()
}
