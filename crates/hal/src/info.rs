//! What a device says of itself.

use crate::uuid::UUID_BYTES;
use cloom_caps::DeviceCaps;
use cloom_target::Target;

/// The description of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceInfo {
    /// The product name: "AMD EPYC 7B13".
    pub name: String,
    /// Who made it.
    pub vendor: String,
    /// PCI vendor id, or another constant number.
    pub vendor_id: u32,
    /// Which device it is, across processes and restarts; see [`uuid`](crate::uuid()).
    pub uuid: [u8; UUID_BYTES],
    /// The target of kernels; see [`KernelArtifact::target`](cloom_artifact::KernelArtifact::target).
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
