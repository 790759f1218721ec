//! Buffers and sub-buffers.
//!
//! A buffer's bytes are one block of device memory, or, with `CL_MEM_USE_HOST_PTR`, the application's own memory used in place. A
//! sub-buffer shares the block of its parent. All devices of a context share the block, which the first one allocated.

use crate::host_mem::HostPtr;
use crate::map::Mapping;
use crate::status::{bail, ensure};
use crate::{Attachment, Context, Error, MemFlags, Result, Status};
use cloom_hal::Memory;
use parking_lot::Mutex;
use std::sync::Arc;

/// A buffer or a sub-buffer.
pub struct Buffer {
    /// What the interface keeps.
    pub attachment: Attachment,
    context: Arc<Context>,
    parent: Option<Arc<Buffer>>,
    /// Where it begins in the block.
    origin: u64,
    size: u64,
    flags: MemFlags,
    host_ptr: Option<HostPtr>,
    /// Whether that is memory that the host may use at the same time as kernels.
    shared: bool,
    storage: Arc<dyn Memory>,
    properties: Option<Vec<u64>>,
    pub(crate) mappings: Mutex<Vec<Mapping>>,
    destructors: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

const KERNEL_ACCESS: MemFlags = MemFlags::READ_WRITE.union(MemFlags::WRITE_ONLY).union(MemFlags::READ_ONLY);
const HOST_ACCESS: MemFlags = MemFlags::HOST_WRITE_ONLY.union(MemFlags::HOST_READ_ONLY).union(MemFlags::HOST_NO_ACCESS);
const HOST_POINTER: MemFlags = MemFlags::USE_HOST_PTR.union(MemFlags::ALLOC_HOST_PTR).union(MemFlags::COPY_HOST_PTR);

/// Reads the flags of a call; unknown bits and contradictions are errors.
fn parse_flags(bits: u64) -> Result<MemFlags> {
    let other = MemFlags::KERNEL_READ_AND_WRITE | MemFlags::SVM_FINE_GRAIN_BUFFER | MemFlags::SVM_ATOMICS;
    let known = MemFlags::all().difference(other);
    let Some(flags) = MemFlags::from_bits(bits).filter(|f| known.contains(*f)) else {
        bail!(InvalidValue, "memory flags {bits:#x} has bits that a buffer does not know");
    };
    for (set, what) in [(KERNEL_ACCESS, "kernels'"), (HOST_ACCESS, "the host's")] {
        let n = flags.intersection(set).bits().count_ones();
        ensure!(
            n <= 1,
            InvalidValue,
            "memory flags {bits:#x} gives {what} access in {n} ways, which exclude each other"
        );
    }
    Ok(flags)
}

impl Buffer {
    /// A buffer. With `USE_HOST_PTR` and `COPY_HOST_PTR`, `host_ptr` is `size` bytes.
    pub fn new(
        context: &Arc<Context>,
        flags: u64,
        size: u64,
        host_ptr: Option<HostPtr>,
        properties: Option<Vec<u64>>,
    ) -> Result<Arc<Buffer>> {
        let mut flags = parse_flags(flags)?;
        let used = flags.contains(MemFlags::USE_HOST_PTR);
        let other = flags.intersects(MemFlags::ALLOC_HOST_PTR | MemFlags::COPY_HOST_PTR);
        ensure!(
            !(used && other),
            InvalidValue,
            "CL_MEM_USE_HOST_PTR excludes CL_MEM_ALLOC_HOST_PTR and CL_MEM_COPY_HOST_PTR"
        );
        ensure!(size > 0, InvalidBufferSize, "a buffer of 0 bytes");
        let largest = context.devices().iter().map(|d| d.max_allocation()).max().unwrap_or(0);
        ensure!(
            size <= largest,
            InvalidBufferSize,
            "{size} bytes are more than CL_DEVICE_MAX_MEM_ALLOC_SIZE, {largest}"
        );
        let needed = flags.intersects(MemFlags::USE_HOST_PTR | MemFlags::COPY_HOST_PTR);
        ensure!(
            !(needed && host_ptr.is_none()),
            InvalidHostPtr,
            "CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR without a host_ptr"
        );
        ensure!(
            needed || host_ptr.is_none(),
            InvalidHostPtr,
            "a host_ptr without CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR"
        );
        // Also for pointers into the middle of an allocation: what follows its end is not the application's.
        let room = host_ptr.and_then(|p| context.svm_room(p.address()));
        ensure!(
            room.is_none_or(|room| size <= room),
            InvalidBufferSize,
            "{size} bytes reach beyond the end of the SVM allocation, {} bytes from host_ptr",
            room.unwrap_or(0)
        );
        if !flags.intersects(KERNEL_ACCESS) {
            flags |= MemFlags::READ_WRITE;
        }
        let device = context.devices()[0].hal();
        let in_place = host_ptr.filter(|_| used).and_then(|p| Some(device.as_host_shared()?.wrap(p.address(), size)));
        let storage = match in_place {
            Some(storage) => storage,
            None => {
                let storage =
                    device.allocate(size).map_err(|e| Error::new(Status::MemObjectAllocationFailure, e.to_string()))?;
                if let Some(p) = host_ptr {
                    p.read(0, size, |bytes| storage.write(0, bytes))?;
                }
                storage
            }
        };
        Ok(Arc::new(Buffer {
            attachment: Attachment::default(),
            context: context.clone(),
            parent: None,
            origin: 0,
            size,
            flags,
            host_ptr: host_ptr.filter(|_| used),
            shared: used && room.is_some(),
            storage,
            properties,
            mappings: Mutex::default(),
            destructors: Mutex::default(),
        }))
    }

    /// A part of a buffer.
    pub fn sub_buffer(self: &Arc<Buffer>, bits: u64, origin: u64, size: u64) -> Result<Arc<Buffer>> {
        ensure!(self.parent.is_none(), InvalidMemObject, "a sub-buffer of a sub-buffer");
        let flags = parse_flags(bits)?;
        ensure!(
            !flags.intersects(HOST_POINTER),
            InvalidValue,
            "a sub-buffer takes no CL_MEM_*_HOST_PTR flag; it has its parent's"
        );
        let excluded = |mine: MemFlags, parents: MemFlags| self.flags.contains(parents) && flags.intersects(mine);
        let widened = excluded(MemFlags::READ_WRITE | MemFlags::READ_ONLY, MemFlags::WRITE_ONLY)
            || excluded(MemFlags::READ_WRITE | MemFlags::WRITE_ONLY, MemFlags::READ_ONLY)
            || excluded(MemFlags::HOST_READ_ONLY, MemFlags::HOST_WRITE_ONLY)
            || excluded(MemFlags::HOST_WRITE_ONLY, MemFlags::HOST_READ_ONLY)
            || excluded(MemFlags::HOST_READ_ONLY | MemFlags::HOST_WRITE_ONLY, MemFlags::HOST_NO_ACCESS);
        ensure!(!widened, InvalidValue, "the flags allow what the parent's do not");
        ensure!(size > 0, InvalidBufferSize, "a sub-buffer of 0 bytes");
        let inside = origin.checked_add(size).is_some_and(|end| end <= self.size);
        ensure!(inside, InvalidValue, "bytes {origin}+{size} do not lie in the buffer of {} bytes", self.size);
        let aligned = self.context.devices().iter().any(|d| origin.is_multiple_of(d.base_alignment()));
        ensure!(
            aligned,
            MisalignedSubBufferOffset,
            "origin {origin} is not a multiple of CL_DEVICE_MEM_BASE_ADDR_ALIGN (bits) of any device"
        );
        let inherit = |set: MemFlags| if flags.intersects(set) { flags & set } else { self.flags & set };
        let flags = inherit(KERNEL_ACCESS) | inherit(HOST_ACCESS) | (self.flags & HOST_POINTER);
        Ok(Arc::new(Buffer {
            attachment: Attachment::default(),
            context: self.context.clone(),
            parent: Some(self.clone()),
            origin,
            size,
            flags,
            host_ptr: self.host_ptr,
            shared: self.shared,
            storage: self.storage.clone(),
            properties: None,
            mappings: Mutex::default(),
            destructors: Mutex::default(),
        }))
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The buffer that it is a part of.
    pub fn parent(&self) -> Option<&Arc<Buffer>> {
        self.parent.as_ref()
    }

    /// Where it begins in its parent.
    pub fn origin(&self) -> u64 {
        self.origin
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The flags, with what the specification adds or inherits.
    pub fn flags(&self) -> MemFlags {
        self.flags
    }

    /// The properties as the application gave them.
    pub fn properties(&self) -> Option<&[u64]> {
        self.properties.as_deref()
    }

    /// The application's memory that it uses, of `CL_MEM_USE_HOST_PTR`: at this buffer's origin.
    pub fn host_ptr(&self) -> Option<usize> {
        Some(self.host_ptr?.address() + self.origin as usize)
    }

    /// Whether its bytes are shared memory, which the host may use at the same time as kernels.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }

    /// How often it is mapped now.
    pub fn map_count(&self) -> u32 {
        self.mappings.lock().iter().filter(|m| m.is_live()).count() as u32
    }

    /// Where its first byte is in the host's memory, if the device shares that.
    pub fn host_address(&self) -> Option<usize> {
        Some(self.storage.host_address()? + self.origin as usize)
    }

    /// What a kernel gets.
    pub(crate) fn device_address(&self) -> u64 {
        self.storage.device_address() + self.origin
    }

    /// The block and where this buffer begins in it.
    pub(crate) fn storage(&self) -> (&dyn Memory, u64) {
        (&*self.storage, self.origin)
    }

    /// Whether two buffers share a block.
    pub(crate) fn same_storage(&self, other: &Buffer) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
    }

    /// Checks that bytes lie inside.
    pub(crate) fn check_range(&self, offset: u64, size: u64) -> Result<()> {
        let inside = offset.checked_add(size).is_some_and(|end| end <= self.size);
        ensure!(inside, InvalidValue, "bytes {offset}+{size} do not lie in the buffer of {} bytes", self.size);
        Ok(())
    }

    /// Calls this when the buffer is gone; the last one registered is the first one called.
    pub fn on_destruction(&self, call: Box<dyn FnOnce() + Send>) {
        self.destructors.lock().push(call);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let calls = std::mem::take(self.destructors.get_mut());
        calls.into_iter().rev().for_each(|call| call());
    }
}
