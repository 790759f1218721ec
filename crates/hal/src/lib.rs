//! What a device must be able to do. Knows no OpenCL and validates nothing: `runtime` has checked every argument.
//!
//! The core is small: memory, loading code, launching. Everything is synchronous; order, events and queues are the
//! runtime's. A device is used from any thread.

#![forbid(unsafe_code)]

use cloom_artifact::KernelArtifact;
use std::any::Any;
use std::sync::Arc;

/// Why a device could not.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HalError {
    /// Host or device memory is exhausted.
    #[error("out of memory: {0} bytes were asked for")]
    OutOfMemory(u64),
    /// The code does not load: wrong target, damaged, or an unknown symbol.
    #[error("the code does not load: {0}")]
    BadCode(String),
    /// The device failed.
    #[error("the device failed: {0}")]
    Device(String),
}

/// What a device is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceInfo {
    /// As people call it: "AMD EPYC 7B13".
    pub name: String,
    /// Who made it.
    pub vendor: String,
    /// PCI vendor id, or another number that stays.
    pub vendor_id: u32,
    /// What kernels are compiled for; see [`KernelArtifact::target`].
    pub target: String,
    /// Cores, or multiprocessors.
    pub compute_units: u32,
    /// MHz.
    pub clock_mhz: u32,
    /// Bytes of memory.
    pub memory_size: u64,
    /// Bytes of local memory that one group may have.
    pub local_memory: u64,
    /// Bytes of the last-level cache, and of a line.
    pub cache_size: u64,
    /// Bytes of a cache line.
    pub cache_line: u32,
    /// Bits of the widest vector register.
    pub vector_bits: u32,
}

/// Sizes of one launch, unused dimensions 1 (offsets 0). Groups at the upper edges may be partial.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NdRange {
    /// 1 to 3.
    pub work_dim: u32,
    /// Where global ids begin.
    pub offset: [u64; 3],
    /// Work-items.
    pub global: [u64; 3],
    /// Work-items of a group.
    pub local: [u64; 3],
}

impl NdRange {
    /// Groups in each dimension, partial ones included.
    pub fn groups(&self) -> [u64; 3] {
        std::array::from_fn(|d| self.global[d].div_ceil(self.local[d].max(1)))
    }

    /// The same with the dimensions in another order, as `KernelArtifact::dim_order` has it for the code of a kernel.
    pub fn in_order(self, dim_order: [u8; 3]) -> NdRange {
        let order = |sizes: [u64; 3]| dim_order.map(|d| sizes[usize::from(d)]);
        let (offset, global, local) = (order(self.offset), order(self.global), order(self.local));
        NdRange { offset, global, local, ..self }
    }
}

/// Device memory. Reads and writes are of bytes and checked against its size by the caller.
pub trait Memory: Send + Sync {
    /// Bytes.
    fn size(&self) -> u64;
    /// What stands in an argument block for offset 0.
    fn device_address(&self) -> u64;
    /// The address of offset 0 in the host's address space, if the device shares it.
    fn host_address(&self) -> Option<usize>;
    /// Copies bytes out. Panics when out of range.
    fn read(&self, offset: u64, to: &mut [u8]);
    /// Copies bytes in. Panics when out of range.
    fn write(&self, offset: u64, from: &[u8]);
    /// Copies within or between memories of one device; ranges may overlap.
    fn copy_from(&self, offset: u64, source: &dyn Memory, source_offset: u64, size: u64);
    /// Repeats a pattern; `size` is a multiple of its length.
    fn fill(&self, offset: u64, size: u64, pattern: &[u8]);
}

/// A loaded kernel.
pub trait Kernel: Send + Sync + Any {
    /// What it was loaded from (without the code, perhaps).
    fn artifact(&self) -> &KernelArtifact;
}

/// Gets what kernels print. Called from many threads.
pub trait PrintSink: Send + Sync {
    /// One `printf` of the work-item with this global linear id. `args` as `cloom_ir::abi::printf_layout` says; `text` reads a
    /// zero-terminated string of the kernel's constant data (a `%s` argument).
    fn print(&self, format: u32, item: u64, args: &[u8], text: &dyn Fn(u64) -> Option<Vec<u8>>);
}

/// One launch.
pub struct Launch<'a> {
    /// What to run; loaded by the same device.
    pub kernel: &'a dyn Kernel,
    /// How many work-items; no size is 0.
    pub range: NdRange,
    /// The argument block.
    pub args: &'a [u8],
    /// Local memory of a group, static and arguments.
    pub local_size: u64,
    /// Where prints go.
    pub print: &'a dyn PrintSink,
    /// Better code of the same kernel, once there is some: groups that begin after that run it.
    pub better: Option<&'a Better<'a>>,
    /// Who waits for the work of this number may [help](Device::help) with the launch; 0: nobody.
    pub stream: u64,
}

/// Gives better code of a kernel when it is there, without waiting for it.
pub type Better<'a> = dyn Fn() -> Option<Arc<dyn Kernel>> + Sync + 'a;

/// A device.
pub trait Device: Send + Sync {
    /// What it is.
    fn info(&self) -> &DeviceInfo;
    /// Fresh memory, zeroed or not, aligned to at least 128 bytes.
    fn allocate(&self, size: u64) -> Result<Arc<dyn Memory>, HalError>;
    /// Memory that the application owns, used in place, if the device can. The application keeps it alive and the runtime has
    /// checked that it is not null.
    fn wrap_host(&self, address: usize, size: u64) -> Option<Arc<dyn Memory>>;
    /// Makes code runnable.
    fn load(&self, artifact: Arc<KernelArtifact>) -> Result<Arc<dyn Kernel>, HalError>;
    /// How many work-items of a group it has the memory for, by what the code says that each keeps across barriers.
    fn max_group(&self, artifact: &KernelArtifact) -> u64 {
        let _ = artifact;
        u64::MAX
    }
    /// Runs every group; returns when all are done.
    fn launch(&self, launch: &Launch<'_>) -> Result<(), HalError>;
    /// Waits for a moment, until `done` says so or a launch of this stream is under way that can use the calling thread: then runs
    /// groups of it. Returns whether something came of it: it is done, or the last group that was to be had is. A thread that is
    /// `movable`, which the application's are not, may be bound to other cores.
    fn help(&self, stream: u64, done: &dyn Fn() -> bool, movable: bool) -> bool {
        let _ = (stream, movable);
        done()
    }
}
