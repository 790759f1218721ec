//! Shared virtual memory: *managed* memory, which the driver moves page by page to the processor that touches it, so
//! that the host and all GPUs use it under one address, also at the same time.

use crate::context::Gpu;
use crate::library::Address;
use cloom_cuda_abi::constants::MEM_ATTACH_GLOBAL;
use cloom_hal::{HalError, HostVisible};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What frees managed memory.
pub struct Managed {
    gpu: Arc<Gpu>,
    address: Address,
}

/// Fresh memory without content, aligned to at least 256 bytes. Host addresses are those of the GPU.
pub fn allocate(gpu: &Arc<Gpu>, size: u64) -> Result<HostVisible<Managed>, HalError> {
    let current = gpu.enter()?;
    let bytes = usize::try_from(size).map_err(|_| HalError::OutOfMemory(size))?.max(1);
    let mut address = 0;
    // SAFETY: it writes an address.
    let code = unsafe { (current.table().mem_alloc_managed)(&mut address, bytes, MEM_ATTACH_GLOBAL) };
    current.check("cuMemAllocManaged", code).map_err(|failure| failure.of_size(size))?;
    // While this count is not 0, no launch is deferred, since a kernel may then wait for the host.
    gpu.shared.fetch_add(1, Ordering::Relaxed);
    let owner = Managed { gpu: gpu.clone(), address };
    // SAFETY: the driver has given this many bytes, which the host may use until they are freed. Their content is what
    // the driver left in them: any bytes are initialised ones.
    Ok(unsafe { HostVisible::new(address as usize, size, owner) })
}

impl Drop for Managed {
    fn drop(&mut self) {
        self.gpu.shared.fetch_sub(1, Ordering::Relaxed);
        let address = self.address;
        // SAFETY: allocated by `allocate`; whoever used it has waited for that.
        self.gpu.release("cuMemFree", |table| unsafe { (table.mem_free)(address) });
    }
}
