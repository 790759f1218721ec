//! Shared virtual memory: allocations of a context that host and kernels use under one address.
//!
//! A device with this ability allocates. Host and device find the same bytes under the same address without the
//! runtime's help, so that mapping moves nothing; allocations are kept only to free them and to answer queries. In a
//! context of several devices, one with memory of its own allocates, if it can: what it shares with the host, the
//! devices in the host's memory see too.

use crate::execute::{CommandType, Job, Progress};
use crate::host_mem::HostPtr;
use crate::status::{bail, ensure};
use crate::transfer::{check_pattern, need};
use crate::usm::Usm;
use crate::{Context, Event, MapFlags, MemFlags, Queue, Result};
use cloom_hal::lock::Mutex;
use cloom_hal::{Memory, SvmKind};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The allocations of a context by address.
#[derive(Default)]
pub(crate) struct Allocations(Mutex<BTreeMap<usize, Allocation>>);

/// The memory of an allocation; one of unified shared memory says what it is.
type Allocation = (Arc<dyn Memory>, Option<Usm>);

impl Allocations {
    /// Keeps an allocation. Returns its address.
    pub fn add(&self, memory: Arc<dyn Memory>, usm: Option<Usm>) -> Result<usize> {
        let Some(address) = memory.host_address() else {
            bail!(OutOfResources, "the device gave shared memory without an address");
        };
        self.0.lock().insert(address, (memory, usm));
        Ok(address)
    }

    /// The allocation of unified shared memory that an address lies in, and where it begins.
    pub fn usm_at(&self, address: usize) -> Option<(usize, Usm)> {
        let allocations = self.0.lock();
        let (&begin, (_, usm)) = allocations.range(..=address).next_back()?;
        let usm = usm.as_ref().filter(|usm| ((address - begin) as u64) < usm.size)?;
        Some((begin, usm.clone()))
    }
}

/// What `clEnqueueSVMFree` calls to free, if the application wants to do that itself.
pub type SvmFree = Box<dyn FnOnce(Vec<usize>) + Send>;

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
        self.svm().add(svm.allocate(size)?, None)
    }

    // OpenCL 3.0 API, 5.6: Shared Virtual Memory.
    /// Frees an allocation; other addresses are ignored.
    pub fn svm_free(&self, address: usize) {
        let freed = self.svm().0.lock().remove(&address);
        drop(freed);
    }

    /// Bytes from an address to the end of its allocation; `None` if it is in none.
    pub fn svm_room(&self, address: usize) -> Option<u64> {
        let allocations = self.svm().0.lock();
        let (begin, (memory, _)) = allocations.range(..=address).next_back()?;
        memory.size().checked_sub((address - begin) as u64).filter(|&room| room > 0)
    }
}

impl Queue {
    /// Checks that the device has shared virtual memory.
    fn need_svm(&self) -> Result<()> {
        ensure!(self.device().svm().is_some(), InvalidOperation, "the device has no shared virtual memory");
        Ok(())
    }

    /// Frees allocations when all earlier commands are done, or lets the application do it. None and NULL are nothing
    /// to free.
    pub fn svm_free(
        self: &Arc<Queue>,
        addresses: Vec<usize>,
        free: Option<SvmFree>,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.need_svm()?;
        let context = self.context().clone();
        let work = Box::new(move || {
            match free {
                Some(free) => free(addresses),
                None => addresses.into_iter().for_each(|a| context.svm_free(a)),
            }
            Ok(Progress::Done)
        });
        self.enqueue(CommandType::SvmFree, wait, false, work)
    }

    // OpenCL 3.0 API, 5.6: Shared Virtual Memory.
    /// Copies bytes of the shared address space.
    pub fn svm_copy(
        self: &Arc<Queue>,
        blocking: bool,
        to: Option<HostPtr>,
        from: Option<HostPtr>,
        size: u64,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.need_svm()?;
        self.enqueue_job(CommandType::SvmMemcpy, wait, blocking, svm_copy_job(to, from, size)?)
    }

    /// Repeats a pattern of 1, 2, 4, … 128 bytes.
    pub fn svm_fill(
        self: &Arc<Queue>,
        at: Option<HostPtr>,
        pattern: &[u8],
        size: u64,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.need_svm()?;
        self.enqueue_job(CommandType::SvmMemFill, wait, false, svm_fill_job(at, pattern, size)?)
    }

    // OpenCL 3.0 API, 5.6: Shared Virtual Memory.
    /// Maps: nothing moves.
    pub fn svm_map(
        self: &Arc<Queue>,
        blocking: bool,
        bits: u64,
        at: Option<HostPtr>,
        size: u64,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.need_svm()?;
        need(at, "pointer")?;
        ensure!(size > 0, InvalidValue, "a map of 0 bytes");
        ensure!(MapFlags::from_bits(bits).is_some(), InvalidValue, "the map flags {bits:#x} have unknown bits");
        self.enqueue(CommandType::SvmMap, wait, blocking, Box::new(|| Ok(Progress::Done)))
    }

    /// Ends a mapping.
    pub fn svm_unmap(self: &Arc<Queue>, at: Option<HostPtr>, wait: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.need_svm()?;
        need(at, "pointer")?;
        self.enqueue(CommandType::SvmUnmap, wait, false, Box::new(|| Ok(Progress::Done)))
    }

    // OpenCL 3.0 API, 5.6: Shared Virtual Memory.
    /// Migrates allocations: no device needs that so far.
    pub fn svm_migrate(
        self: &Arc<Queue>,
        ranges: &[(usize, u64)],
        bits: u64,
        wait: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.need_svm()?;
        ensure!(!ranges.is_empty(), InvalidValue, "there is nothing to migrate");
        ensure!(
            crate::MigrationFlags::from_bits(bits).is_some(),
            InvalidValue,
            "the flags {bits:#x} have unknown bits"
        );
        for (address, size) in ranges {
            let inside = self.context().svm_room(*address).is_some_and(|room| *size <= room);
            ensure!(inside, InvalidValue, "{address:#x}+{size} does not lie in an allocation of this context");
        }
        self.enqueue(CommandType::SvmMigrateMem, wait, false, Box::new(|| Ok(Progress::Done)))
    }
}

/// The checked work of a copy, which may be done any number of times.
pub(crate) fn svm_copy_job(to: Option<HostPtr>, from: Option<HostPtr>, size: u64) -> Result<impl Job + use<>> {
    let (to, from) = (need(to, "destination")?, need(from, "source")?);
    let apart = (to.address().abs_diff(from.address()) as u64) >= size;
    ensure!(apart, MemCopyOverlap, "the source overlaps the destination");
    Ok(move || {
        from.read(0, size, |bytes| to.write(0, size, |room| room.copy_from_slice(bytes)));
        Ok(())
    })
}

/// The checked work of a fill.
pub(crate) fn svm_fill_job(at: Option<HostPtr>, pattern: &[u8], size: u64) -> Result<impl Job + use<>> {
    let at = need(at, "pointer")?;
    check_pattern(pattern, at.address() as u64, size)?;
    let pattern = pattern.to_vec();
    Ok(move || {
        at.write(0, size, |room| room.chunks_exact_mut(pattern.len()).for_each(|c| c.copy_from_slice(&pattern)));
        Ok(())
    })
}
