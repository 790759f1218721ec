//! The interface of devices. It has no objects of OpenCL and validates nothing: `runtime` has checked every argument.
//! What a device says of itself ([`DeviceInfo`]) has OpenCL's terms: its extensions, limits and affinity domains.
//!
//! Every device implements the core, [`Device`]: say what it is, allocate memory, load code, submit launches. What only
//! some can do is an ability, a separate trait, which `Device::as_…` returns if the device has it:
//!
//! | ability | what it is |
//! |---|---|
//! | [`HostShared`] | kernels address the host's memory, so that nothing has to be copied |
//! | [`Svm`] | allocations that host and device use under one address |
//! | [`Streams`] | launches of a queue are submitted ahead and run in order |
//! | [`Textures`] | texture units filter images |
//! | [`Pinned`] | memory of the host that it copies from and to at full speed |
//! | [`Timestamps`] | a clock of the device's own |
//! | [`Partition`] | a part of its compute units can be a device of its own |
//! | [`Assist`] | waiting threads of the host can run a part of a launch |
//!
//! Images are memory, too: the runtime lays their elements out, and kernels find them through a descriptor.
//!
//! A device executes what is submitted, and the runtime schedules: order, events and queues are the runtime's, and
//! everything that a submitted launch depends on has ended, unless the device has streams. A device is used from any
//! thread.

mod abilities;
mod error;
mod host_visible;
mod launch;
pub mod lock;
mod memory;
mod rect;
mod tuning;
mod uuid;

pub use abilities::{
    Assist, Domain, HostShared, Partition, Pinned, PinnedBlock, Streams, Svm, SvmKind, Texture, TextureChannel,
    TextureRows, Textures, Timestamps,
};
pub use error::HalError;
pub use host_visible::HostVisible;
pub use launch::{Completion, DeviceCalls, Finish, Kernel, KernelMemory, Launch, Pending, PrintSink, TierUp, conclude};
pub use memory::{Memory, assert_in_range, copy_through_host, initialise, initialised};
pub use rect::Rect;
pub use tuning::{TUNING, Tuning};
pub use uuid::{UUID_BYTES, uuid};

use cloom_artifact::KernelArtifact;
pub use cloom_artifact::{DeviceCall, NdRange};
use cloom_caps::DeviceCaps;
use cloom_target::Target;
use std::sync::Arc;

/// The description of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceInfo {
    /// The product name: "AMD EPYC 7B13".
    pub name: String,
    /// Who made it.
    pub vendor: String,
    /// PCI vendor id, or another constant number.
    pub vendor_id: u32,
    /// Which device it is, across processes and restarts; see [`uuid`].
    pub uuid: [u8; UUID_BYTES],
    /// The target of kernels; see [`KernelArtifact::target`].
    pub target: Target,
    /// Cores, or multiprocessors.
    pub compute_units: u32,
    /// MHz.
    pub clock_mhz: u32,
    /// Bytes of memory.
    pub memory_size: u64,
    /// Bytes of the last-level cache.
    pub cache_size: u64,
    /// Bytes of a cache line.
    pub cache_line: u32,
    /// Bits of the widest vector register.
    pub vector_bits: u32,
    /// Its capabilities.
    pub caps: DeviceCaps,
    /// What only GPUs have.
    pub gpu: Option<GpuInfo>,
}

/// What tools and libraries ask of a GPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GpuInfo {
    /// The compute capability: major and minor.
    pub capability: (u32, u32),
    /// Registers that a group can have, of 32 bits.
    pub registers: u32,
    /// Transfers at a time.
    pub copy_engines: u32,
    /// Whether a kernel that runs for long is ended.
    pub has_time_limit: bool,
    /// Whether its memory is the host's.
    pub is_integrated: bool,
    /// Where it is on the PCI bus: domain, bus and device.
    pub pci: [u32; 3],
}

/// What a device expects of the programs that will follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    /// Their code is made: none is kept.
    NewCode,
    /// Some code is kept, and theirs may be.
    KeptCode,
}

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
