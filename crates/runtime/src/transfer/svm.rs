//! Commands on shared virtual memory: they use the application's addresses, so that migrating and mapping move nothing.
//! `memory::svm` allocates it.

use crate::checker::{MemoryUse, Uses};
use crate::graph::execute::{Job, Progress};
use crate::host_mem::HostPtr;
use crate::status::ensure;
use crate::transfer::buffer::{check_pattern, need};
use crate::{CommandType, Event, MapFlags, Queue, Result};
use std::sync::Arc;

/// What `clEnqueueSVMFree` calls to free, if the application wants to do that itself.
pub type SvmFree = Box<dyn FnOnce(Vec<usize>) + Send>;

impl Queue {
    /// What a copy uses.
    pub(crate) fn copy_uses(&self, to: Option<HostPtr>, from: Option<HostPtr>, size: u64) -> Result<Option<Box<Uses>>> {
        self.uses(|| {
            let (to, from) = (need(to, "destination")?, need(from, "source")?);
            Ok([MemoryUse::host(from.address(), size, false), MemoryUse::host(to.address(), size, true)])
        })
    }

    /// What a fill uses.
    pub(crate) fn fill_uses(&self, at: Option<HostPtr>, size: u64) -> Result<Option<Box<Uses>>> {
        self.uses(|| Ok([MemoryUse::host(need(at, "pointer")?.address(), size, true)]))
    }

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
        self.enqueue_job(
            CommandType::SvmMemcpy,
            wait,
            blocking,
            self.copy_uses(to, from, size)?,
            svm_copy_job(to, from, size)?,
        )
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
        self.enqueue_job(
            CommandType::SvmMemFill,
            wait,
            false,
            self.fill_uses(at, size)?,
            svm_fill_job(at, pattern, size)?,
        )
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
        // Nothing moves: the command is for its place in the order of the queue, and for its event.
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
