//! Shared virtual memory: allocations of a context that host and kernels use under one address.
//!
//! A device with this ability allocates. Host and device find the same bytes under the same address without the
//! runtime's help, so that mapping moves nothing; allocations are kept only to free them and to answer queries. In a
//! context of several devices, one with memory of its own allocates, if it can: what it shares with the host, the
//! devices in the host's memory see too.

use crate::checker::{AddressedMemory, NewObject, SharedMemory};
use crate::objects::allocations::Usm;
use crate::status::{bail, ensure};
use crate::{Context, MemFlags, Result};
use cloom_hal::{Memory, SvmKind};
use std::sync::Arc;

/// Alignment of every allocation.
pub(crate) const MAX_ALIGNMENT: u32 = 128;

impl Context {
    // OpenCL 3.0 API, 5.6: Shared Virtual Memory.
    /// Allocates. `alignment` 0 means that of the largest type.
    pub fn svm_allocate(&self, bits: u64, size: u64, alignment: u32) -> Result<usize> {
        let access = MemFlags::READ_WRITE | MemFlags::WRITE_ONLY | MemFlags::READ_ONLY;
        let shared = MemFlags::SVM_FINE_GRAIN_BUFFER | MemFlags::SVM_ATOMICS;
        let flags = MemFlags::from_bits(bits).filter(|f| (access | shared).contains(*f));
        let Some(flags) = flags else { bail!(InvalidValue, "the flags {bits:#x} are not those of shared memory") };
        ensure!((flags & access).bits().count_ones() <= 1, InvalidValue, "the flags {bits:#x} exclude each other");
        let lonely = flags.contains(MemFlags::SVM_ATOMICS) && !flags.contains(MemFlags::SVM_FINE_GRAIN_BUFFER);
        ensure!(!lonely, InvalidValue, "CL_MEM_SVM_ATOMICS needs CL_MEM_SVM_FINE_GRAIN_BUFFER");
        let fits = alignment == 0 || (alignment.is_power_of_two() && alignment <= MAX_ALIGNMENT);
        ensure!(fits, InvalidValue, "the alignment {alignment} is not a power of two of at most {MAX_ALIGNMENT}");
        let largest = self.devices().iter().map(|d| d.max_allocation()).max().unwrap_or(0);
        ensure!(size > 0 && size <= largest, InvalidBufferSize, "{size} bytes; 1 to {largest} are possible");
        let able = || self.devices().iter().filter(|d| d.svm().is_some());
        let fine = flags.contains(MemFlags::SVM_FINE_GRAIN_BUFFER);
        let coarse_only = able().any(|d| matches!(d.svm(), Some((SvmKind::CoarseGrainBuffer, _))));
        ensure!(!(fine && coarse_only), InvalidValue, "a device has no fine-grain shared memory");
        let device = able().find(|d| !d.shares_host()).or_else(|| able().next());
        let Some(svm) = device.and_then(|d| d.hal().as_svm()) else {
            bail!(InvalidOperation, "no device of the context has shared virtual memory");
        };
        self.keep_shared(svm.allocate(size)?, None)
    }

    /// Keeps an allocation. Returns its address.
    pub(crate) fn keep_shared(&self, memory: Arc<dyn Memory>, usm: Option<Usm>) -> Result<usize> {
        let bytes = memory.size();
        let id = self.svm().add(memory, usm)?;
        if let Some(checker) = self.engine().checker() {
            checker.created(NewObject { id, what: "shared virtual memory", bytes, storage: None, has_data: false });
        }
        Ok(id)
    }

    // OpenCL 3.0 API, 5.6: Shared Virtual Memory.
    /// Frees an allocation; other addresses are ignored.
    pub fn svm_free(&self, address: usize) {
        let Some(memory) = self.svm().remove(address) else { return };
        if let Some(checker) = self.engine().checker() {
            checker.freed(address as u64, memory.size());
        }
    }

    /// Bytes from an address to the end of its allocation; `None` if it is in none.
    pub fn svm_room(&self, address: usize) -> Option<u64> {
        self.svm().room(address)
    }
}

impl SharedMemory for Context {
    fn allocations(&self) -> Vec<AddressedMemory> {
        self.svm().all().into_iter().map(AddressedMemory::new).collect()
    }

    fn holds(&self, address: u64) -> bool {
        self.svm_room(address as usize).is_some()
    }
}
