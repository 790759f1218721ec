//! The core of the interface: a device.

mod abilities;

pub use abilities::{
    Assist, Domain, HostShared, Partition, Pinned, PinnedBlock, Streams, Svm, SvmKind, Texture, TextureChannel,
    TextureRows, Textures, Timestamps,
};

use crate::error::HalError;
use crate::info::{DeviceInfo, Expected};
use crate::launch::{Completion, Kernel, Launch};
use crate::memory::Memory;
use cloom_artifact::KernelArtifact;
use std::sync::Arc;

/// A device.
pub trait Device: Send + Sync {
    /// Its description.
    fn info(&self) -> &DeviceInfo;

    /// Fresh memory, zeroed or not, aligned to at least 128 bytes.
    fn allocate(&self, size: u64) -> Result<Arc<dyn Memory>, HalError>;

    /// Makes code runnable. `variables` is the memory of its program's variables, if there are any; the kernel
    /// keeps it.
    fn load(
        &self,
        artifact: Arc<KernelArtifact>,
        variables: Option<Arc<dyn Memory>>,
    ) -> Result<Arc<dyn Kernel>, HalError>;

    /// A queue for it is being made, so that programs will follow: what takes long may begin. Returns at once; the
    /// first time, what is to be expected, if the compiler should be prepared for it. (Threads do that for which the
    /// end of the process does not wait, see `exit` of the C interface.)
    fn expect_use(&self) -> Option<Expected> {
        None
    }

    /// Whether loading this takes much less than compiling it.
    fn loads_soon(&self, _artifact: &KernelArtifact) -> bool {
        true
    }

    /// Code for it is being made: what the first [`load`](Device::load) would wait for may be done meanwhile. Returns
    /// at once.
    fn expect_code(&self) {}

    /// The largest work-group that there is room for if each work-item keeps so many bytes across barriers. `None` if
    /// the number does not tell, but only the code ([`Kernel::best_group_size`]).
    fn group_limit(&self, bytes_per_item: u64) -> Option<u64> {
        let _ = bytes_per_item;
        None
    }

    /// Starts a launch. All that it depends on has ended, or was submitted before from the same queue if the device has
    /// [`Streams`]. A device that runs on host threads may run it to completion
    /// inside of this call and return [`Completion::Done`]; others return at once. Until the completion has ended, the
    /// caller keeps the kernel and every memory in the arguments alive; all else of `launch` is read during the call
    /// only.
    fn submit(&self, launch: &Launch<'_>) -> Result<Completion, HalError>;

    /// Submits and waits, for callers without commands, such as tests.
    fn launch(&self, launch: &Launch<'_>) -> Result<(), HalError> {
        match self.submit(launch)? {
            Completion::Done => Ok(()),
            Completion::Pending(pending) => pending.wait(launch.print),
        }
    }

    /// Kernels address the host's memory.
    fn as_host_shared(&self) -> Option<&dyn HostShared> {
        None
    }

    /// Shared virtual memory.
    fn as_svm(&self) -> Option<&dyn Svm> {
        None
    }

    /// It keeps the order of launches.
    fn as_streams(&self) -> Option<&dyn Streams> {
        None
    }

    /// Texture units.
    fn as_textures(&self) -> Option<&dyn Textures> {
        None
    }

    /// Pinned memory of the host.
    fn as_pinned(&self) -> Option<&dyn Pinned> {
        None
    }

    /// A clock of its own.
    fn as_timestamps(&self) -> Option<&dyn Timestamps> {
        None
    }

    /// A part of it can be a device of its own.
    fn as_partition(&self) -> Option<&dyn Partition> {
        None
    }

    /// Host threads can assist it.
    fn as_assist(&self) -> Option<&dyn Assist> {
        None
    }
}
