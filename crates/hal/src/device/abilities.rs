//! Abilities: traits for what only some devices can do. See `Device::as_…`.

use super::Device;
use crate::error::HalError;
use crate::launch::Launch;
use crate::memory::Memory;
use std::sync::Arc;

/// Kernels address the host's memory: what the device allocates has a host address, and memory of the application is
/// used in place. All such devices of a context share one copy of each memory object.
pub trait HostShared {
    /// Memory that the application owns and keeps alive, used in place. The runtime has checked that it is not null.
    fn wrap(&self, address: usize, size: u64) -> Arc<dyn Memory>;
}

/// How far shared virtual memory goes (OpenCL 3.0, section 3.3.3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SvmKind {
    /// Host and device take turns, by mapping.
    CoarseGrainBuffer,
    /// Both use an allocation at the same time.
    FineGrainBuffer,
    /// Any memory of the host is shared.
    FineGrainSystem,
}

/// Shared virtual memory.
pub trait Svm {
    /// How far it goes.
    fn kind(&self) -> SvmKind;
    /// Whether host and device see each other's atomic operations.
    fn atomics(&self) -> bool;
    /// Memory whose host address and device address are equal, aligned to at least 128 bytes.
    fn allocate(&self, size: u64) -> Result<Arc<dyn Memory>, HalError>;
}

/// Launches of one queue ([`Launch::queue`](crate::Launch::queue)) run in the order in which they were submitted, so
/// that one can be submitted before the last has ended. Their ends are told in that order, too.
pub trait Streams {
    /// The calling thread has nothing to do until `done` holds: it tells the ends of launches of a queue, unless
    /// another thread does, and spins for a moment. Returns whether `done` holds.
    fn wait(&self, queue: u64, done: &dyn Fn() -> bool) -> bool;

    /// Submits a launch as a part of the last one of its queue, which takes less than a launch with an end of its own:
    /// the end of both is told together, with the error of either. Until then, the caller keeps what both need alive.
    /// The last one is that with which `Pending::on_end` was called last.
    /// False if nothing was submitted, because the last one may have ended, or because the launch needs an end of its
    /// own.
    fn append(&self, launch: &Launch<'_>) -> bool {
        let _ = launch;
        false
    }
}

/// Memory of the host that stays where it is, so that the device copies from and to it by itself.
pub trait Pinned {
    /// Fresh zeros, aligned to at least 128 bytes.
    fn allocate(&self, size: u64) -> Result<Box<dyn PinnedBlock>, HalError>;
}

/// Pinned memory, until it is dropped. Whoever has it may read and write its bytes.
pub trait PinnedBlock: Send + Sync {
    /// The address of the first byte.
    fn address(&self) -> usize;
}

/// Texture units filter images in the device's memory.
pub trait Textures {
    /// A texture of rows in memory of the device. `None` if there is none of such rows, or none that would be faster
    /// than the kernel's own loads.
    fn texture(&self, memory: &dyn Memory, rows: &TextureRows) -> Option<Box<dyn Texture>>;
}

/// Rows of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextureRows {
    /// The offset of the first row in the memory.
    pub start: u64,
    /// Elements of a row.
    pub width: u64,
    /// Rows.
    pub rows: u64,
    /// Bytes from row to row.
    pub row_pitch: u64,
    /// Channels of an element.
    pub channels: u32,
    /// What each is.
    pub channel: TextureChannel,
}

/// A channel that texture units read as a float.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "named as OpenCL's channel types")]
pub enum TextureChannel {
    SnormInt8,
    SnormInt16,
    UnormInt8,
    UnormInt16,
    HalfFloat,
    Float,
}

impl TextureChannel {
    /// Its bytes.
    pub fn size(self) -> u32 {
        match self {
            TextureChannel::SnormInt8 | TextureChannel::UnormInt8 => 1,
            TextureChannel::SnormInt16 | TextureChannel::UnormInt16 | TextureChannel::HalfFloat => 2,
            TextureChannel::Float => 4,
        }
    }
}

/// A texture, which is dropped after the launches that use it have ended.
pub trait Texture: Send + Sync {
    /// What kernels sample it by; not 0.
    fn handle(&self) -> u64;
}

/// A clock of the device's own.
pub trait Timestamps {
    /// Nanoseconds now, since any moment that stays.
    fn now(&self) -> u64;
}

/// What the compute units of a part can share (`CL_DEVICE_AFFINITY_DOMAIN_…`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "caches by their level")]
pub enum Domain {
    /// Memory that is near.
    Numa,
    L4,
    L3,
    L2,
    L1,
}

impl Domain {
    /// All of them, the widest first.
    pub const ALL: [Domain; 5] = [Domain::Numa, Domain::L4, Domain::L3, Domain::L2, Domain::L1];
}

/// A part of the device's compute units can be a device of its own (OpenCL's sub-devices).
pub trait Partition {
    /// A device with so many compute units, which works in the same memory and runs the same loaded kernels. The
    /// runtime has checked that the device has so many.
    fn part(&self, compute_units: u32) -> Arc<dyn Device>;

    /// The device's cores in sets of those that share something. Empty unless there are several sets, and as many
    /// compute units as cores.
    fn split(&self, domain: Domain) -> Vec<Vec<u32>> {
        let _ = domain;
        Vec::new()
    }

    /// A device whose compute units are these cores, a set of [`Partition::split`].
    fn part_on(&self, cores: &[u32]) -> Arc<dyn Device> {
        self.part(cores.len() as u32)
    }
}

/// Waiting host threads can run a part of a launch (assist).
pub trait Assist {
    /// Spins for a moment, until `done` holds or a launch of this queue can use the calling thread: then runs groups of
    /// that launch until none is left to claim. Returns whether `done` holds or groups were run. A thread that
    /// `may_migrate` can be bound to other cores; application threads may not.
    fn assist(&self, queue: u64, done: &dyn Fn() -> bool, may_migrate: bool) -> bool;

    /// The runtime wakes a thread of its own to run a command of this device.
    fn woke(&self);

    /// That thread has come, and calls this.
    fn came(&self);

    /// Whether such threads lately came late, as other programs want the cores: then the thread that enqueues a command
    /// had better run it.
    fn is_contended(&self) -> bool;
}
