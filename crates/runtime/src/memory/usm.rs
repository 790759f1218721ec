//! Unified shared memory (`cl_intel_unified_shared_memory`): allocations of the host, of a device, or shared, which
//! commands and kernels use by their addresses.
//!
//! They are allocations of shared virtual memory (see `svm`) that say whose they are. A device offers them if host and
//! kernels find the same bytes under one address without being told when, so that migration and advice change nothing.

use crate::memory::svm::MAX_ALIGNMENT;
use crate::objects::allocations::{Usm, UsmKind};
use crate::status::{bail, ensure};
use crate::{Context, Device, Result};
use cloom_hal::SvmKind;
use std::sync::Arc;

/// `CL_MEM_ALLOC_WRITE_COMBINED_INTEL`
const WRITE_COMBINED: u64 = 1 << 0;
/// `CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL`
const PLACED_ON_DEVICE: u64 = 1 << 1;
/// `CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL`
const PLACED_ON_HOST: u64 = 1 << 2;

/// `CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL` and `…_CONCURRENT_ACCESS_INTEL`
const ACCESS: u64 = 1 << 0 | 1 << 2;
/// `CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL` and `…_CONCURRENT_ATOMIC_ACCESS_INTEL`
const ATOMIC_ACCESS: u64 = 1 << 1 | 1 << 3;

impl Device {
    /// `cl_device_unified_shared_memory_capabilities_intel`, the same for allocations of each kind.
    pub fn usm_capabilities(&self) -> u64 {
        match self.svm() {
            Some((SvmKind::FineGrainBuffer | SvmKind::FineGrainSystem, atomics)) => {
                ACCESS | if atomics { ATOMIC_ACCESS } else { 0 }
            }
            _ => 0,
        }
    }

    /// The same for memory of the system's allocator.
    pub fn system_usm_capabilities(&self) -> u64 {
        match self.svm() {
            Some((SvmKind::FineGrainSystem, _)) => self.usm_capabilities(),
            _ => 0,
        }
    }
}

impl Context {
    /// `clHostMemAllocINTEL`, `clDeviceMemAllocINTEL` and `clSharedMemAllocINTEL`. `alignment` 0 means that of the
    /// largest type.
    pub fn usm_allocate(
        &self,
        kind: UsmKind,
        device: Option<Arc<Device>>,
        flags: u64,
        size: u64,
        alignment: u32,
    ) -> Result<usize> {
        if let Some(device) = &device {
            ensure!(self.index_of(device).is_some(), InvalidDevice, "the device is not of the context");
        }
        let mine = |d: &&Arc<Device>| device.as_ref().is_none_or(|device| Arc::ptr_eq(d, device));
        let able: Vec<&Arc<Device>> =
            self.devices().iter().filter(mine).filter(|d| d.usm_capabilities() != 0).collect();
        ensure!(!able.is_empty(), InvalidOperation, "no such device has unified shared memory");
        let fits = alignment == 0 || (alignment.is_power_of_two() && alignment <= MAX_ALIGNMENT);
        ensure!(fits, InvalidValue, "the alignment {alignment} is not a power of two of at most {MAX_ALIGNMENT}");
        let placed = flags & (PLACED_ON_DEVICE | PLACED_ON_HOST);
        let good = flags & !(WRITE_COMBINED | PLACED_ON_DEVICE | PLACED_ON_HOST) == 0
            && (placed == 0 || kind == UsmKind::Shared && placed.is_power_of_two());
        ensure!(good, InvalidProperty, "the flags {flags:#x} are not those of such an allocation");
        let largest = able.iter().map(|d| d.max_allocation()).min().unwrap_or(0);
        ensure!(size > 0 && size <= largest, InvalidBufferSize, "{size} bytes; 1 to {largest} are possible");
        // A device with memory of its own shares with the host what it allocates.
        let from = able.iter().find(|d| !d.shares_host()).unwrap_or(&able[0]);
        let Some(svm) = from.hal().as_svm() else {
            bail!(InvalidOperation, "the device has no shared virtual memory");
        };
        self.keep_shared(svm.allocate(size)?, Some(Usm { kind, device, size, flags }))
    }

    /// The allocation that an address lies in, and where it begins.
    pub fn usm_at(&self, address: usize) -> Option<(usize, Usm)> {
        self.svm().usm_at(address)
    }
}
