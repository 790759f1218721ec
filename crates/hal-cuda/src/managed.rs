//! Shared virtual memory: *managed* memory, which the driver moves page by page to the processor that touches it, so
//! that the host and all GPUs use it under one address, also at the same time.

use crate::context::Gpu;
use crate::library::Address;
use cloom_cuda_abi::constants::MEM_ATTACH_GLOBAL;
use cloom_hal::{HalError, Memory, assert_in_range};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// An allocation of managed memory. Host addresses are those of the GPU.
pub struct Managed {
    gpu: Arc<Gpu>,
    address: Address,
    size: u64,
}

impl Managed {
    /// Fresh memory without content, aligned to at least 256 bytes.
    pub fn allocate(gpu: &Arc<Gpu>, size: u64) -> Result<Managed, HalError> {
        let current = gpu.enter()?;
        let bytes = usize::try_from(size).map_err(|_| HalError::OutOfMemory(size))?.max(1);
        let mut address = 0;
        // SAFETY: it writes an address.
        let code = unsafe { (current.table().mem_alloc_managed)(&mut address, bytes, MEM_ATTACH_GLOBAL) };
        current.check("cuMemAllocManaged", code).map_err(|failure| failure.of_size(size))?;
        gpu.shared.fetch_add(1, Ordering::Relaxed);
        Ok(Managed { gpu: gpu.clone(), address, size })
    }

    /// The host's pointer to a range, after checking that it lies inside.
    fn range(&self, offset: u64, size: u64) -> *mut u8 {
        assert_in_range(offset, size, self.size);
        (self.address + offset) as *mut u8
    }
}

impl Drop for Managed {
    fn drop(&mut self) {
        self.gpu.shared.fetch_sub(1, Ordering::Relaxed);
        let address = self.address;
        // SAFETY: allocated by `allocate`; whoever used it has waited for that.
        self.gpu.release("cuMemFree", |table| unsafe { (table.mem_free)(address) });
    }
}

impl Memory for Managed {
    fn size(&self) -> u64 {
        self.size
    }

    fn device_address(&self) -> u64 {
        self.address
    }

    fn host_address(&self) -> Option<usize> {
        Some(self.address as usize)
    }

    fn read(&self, offset: u64, to: &mut [u8]) -> Result<(), HalError> {
        let from = self.range(offset, to.len() as u64);
        // SAFETY: the range was checked; `copy` allows overlap, which there is if an application reads into it.
        unsafe { std::ptr::copy(from, to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn write(&self, offset: u64, from: &[u8]) -> Result<(), HalError> {
        let to = self.range(offset, from.len() as u64);
        // SAFETY: the range was checked; `copy` allows overlap, which there is if an application writes from it.
        unsafe { std::ptr::copy(from.as_ptr(), to, from.len()) };
        Ok(())
    }

    fn copy_from(&self, offset: u64, source: &dyn Memory, source_offset: u64, size: u64) -> Result<(), HalError> {
        // SAFETY: the range was checked, any bytes are initialised ones, and the order of commands guarantees that
        // nobody else uses them now.
        source.read(source_offset, unsafe { std::slice::from_raw_parts_mut(self.range(offset, size), size as usize) })
    }

    fn fill(&self, offset: u64, size: u64, pattern: &[u8]) -> Result<(), HalError> {
        // SAFETY: the range was checked, any bytes are initialised ones, and the order of commands guarantees that
        // nobody else uses them now.
        let room = unsafe { std::slice::from_raw_parts_mut(self.range(offset, size), size as usize) };
        room.chunks_mut(pattern.len().max(1)).for_each(|part| part.copy_from_slice(&pattern[..part.len()]));
        Ok(())
    }
}
