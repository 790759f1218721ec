//! Memory objects: buffers, sub-buffers, images and pipes.
//!
//! A memory object belongs to its context. [`Residency`] tracks its copies on the host and on devices; a sub-buffer
//! shares that of its parent. With `CL_MEM_USE_HOST_PTR` the copy on the host is the application's own memory: devices
//! that work in the host's memory use it in place, and others get copies of their own. A buffer with
//! `CL_MEM_COPY_HOST_PTR` is filled in the memory space of the context's first device.

use crate::checker::{MemoryUse, UsedMemory};
use crate::host_mem::{self, HostPtr};
use crate::memory::image::Image;
use crate::memory::mapping::Mapping;
use crate::memory::pipe::Pipe;
use crate::memory::residency::{AccessMode, Residency};
use crate::objects::space::Space;
use crate::status::{bail, ensure};
use crate::{Context, Error, ExternalSlot, MemFlags, Result, Status};
use cloom_hal::lock::Mutex;
use cloom_hal::{Memory, Rect};
use std::ops::Range;
use std::sync::Arc;

/// The kinds of memory objects.
pub(crate) enum MemKind {
    /// A buffer with bytes of its own.
    Buffer,
    /// A part of a buffer, which begins so many bytes after it.
    SubBuffer { parent: Arc<MemObject>, origin: u64 },
    /// An image, perhaps of the bytes of a buffer or of another image.
    Image { image: Image, parent: Option<Arc<MemObject>> },
    /// A pipe.
    Pipe(Pipe),
}

/// A memory object.
pub struct MemObject {
    /// What the interface keeps.
    pub external: ExternalSlot,
    context: Arc<Context>,
    pub(crate) kind: MemKind,
    size: u64,
    flags: MemFlags,
    pub(crate) host_ptr: Option<HostPtr>,
    /// Whether that is fine-grained shared memory, which the host may use at the same time as kernels.
    shared: bool,
    pub(crate) residency: Arc<Residency>,
    properties: Option<Vec<u64>>,
    pub(crate) mappings: Mutex<Vec<Mapping>>,
    destructors: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

pub(crate) const KERNEL_ACCESS: MemFlags = MemFlags::READ_WRITE.union(MemFlags::WRITE_ONLY).union(MemFlags::READ_ONLY);
const HOST_ACCESS: MemFlags = MemFlags::HOST_WRITE_ONLY.union(MemFlags::HOST_READ_ONLY).union(MemFlags::HOST_NO_ACCESS);
const HOST_POINTER: MemFlags = MemFlags::USE_HOST_PTR.union(MemFlags::ALLOC_HOST_PTR).union(MemFlags::COPY_HOST_PTR);

// OpenCL 3.0 API, 5.2.1: Creating Buffer Objects.
/// Reads the flags of a call; unknown bits and contradictions are errors.
fn parse_flags(bits: u64) -> Result<MemFlags> {
    parse_flags_of(bits, MemFlags::KERNEL_READ_AND_WRITE)
}

/// Reads the flags of a new image.
pub(crate) fn parse_image_flags(bits: u64) -> Result<MemFlags> {
    parse_flags_of(bits, MemFlags::empty())
}

fn parse_flags_of(bits: u64, other: MemFlags) -> Result<MemFlags> {
    // clSVMAlloc alone has the two SVM flags.
    let known = MemFlags::all().difference(MemFlags::SVM_FINE_GRAIN_BUFFER | MemFlags::SVM_ATOMICS | other);
    let Some(flags) = MemFlags::from_bits(bits).filter(|f| known.contains(*f)) else {
        bail!(InvalidValue, "memory flags {bits:#x} has bits that such an object does not know");
    };
    for (set, what) in [(KERNEL_ACCESS, "kernels'"), (HOST_ACCESS, "the host's")] {
        let n = flags.intersection(set).bits().count_ones();
        ensure!(
            n <= 1,
            InvalidValue,
            "memory flags {bits:#x} gives {what} access in {n} ways, which exclude each other"
        );
    }
    let changes = flags.intersects(MemFlags::READ_WRITE | MemFlags::WRITE_ONLY | MemFlags::HOST_WRITE_ONLY);
    ensure!(
        !(flags.contains(MemFlags::IMMUTABLE) && changes),
        InvalidValue,
        "memory flags {bits:#x}: nothing writes an immutable buffer"
    );
    Ok(flags)
}

// OpenCL 3.0 API, 5.2.1: Creating Buffer Objects.
/// Checks the arguments of a new buffer (OpenCL 3.0, section 5.2.1). Returns the flags with the specification's
/// defaults.
fn check_new(context: &Context, bits: u64, size: u64, host_ptr: Option<HostPtr>) -> Result<MemFlags> {
    let flags = parse_flags(bits)?;
    check_host_pointer(flags, host_ptr)?;
    let immutable = flags.contains(MemFlags::IMMUTABLE);
    ensure!(size > 0, InvalidBufferSize, "a buffer of 0 bytes");
    // OpenCL 3.0, section 5.2.1: a size is an error only if it is too large for every device of the context.
    let largest = context.devices().iter().map(|d| d.max_allocation()).max().unwrap_or(0);
    ensure!(size <= largest, InvalidBufferSize, "{size} bytes are more than CL_DEVICE_MAX_MEM_ALLOC_SIZE, {largest}");
    // Also for pointers into the middle of an allocation: memory after its end is not the application's.
    let room = host_ptr.and_then(|p| context.svm_room(p.address()));
    ensure!(
        room.is_none_or(|room| size <= room),
        InvalidBufferSize,
        "{size} bytes reach beyond the end of the SVM allocation, {} bytes from host_ptr",
        room.unwrap_or(0)
    );
    Ok(if immutable || flags.intersects(KERNEL_ACCESS) { flags } else { flags | MemFlags::READ_WRITE })
}

/// Checks that the flags and the pointer to the host's memory fit together.
pub(crate) fn check_host_pointer(flags: MemFlags, host_ptr: Option<HostPtr>) -> Result<()> {
    let has_pointer = host_ptr.is_some();
    let used = flags.contains(MemFlags::USE_HOST_PTR);
    let other = flags.intersects(MemFlags::ALLOC_HOST_PTR | MemFlags::COPY_HOST_PTR);
    ensure!(
        !(used && other),
        InvalidValue,
        "CL_MEM_USE_HOST_PTR excludes CL_MEM_ALLOC_HOST_PTR and CL_MEM_COPY_HOST_PTR"
    );
    ensure!(
        !flags.contains(MemFlags::IMMUTABLE) || flags.intersects(MemFlags::USE_HOST_PTR | MemFlags::COPY_HOST_PTR),
        InvalidValue,
        "CL_MEM_IMMUTABLE_EXT without CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR: there would be no content"
    );
    let needed = flags.intersects(MemFlags::USE_HOST_PTR | MemFlags::COPY_HOST_PTR);
    ensure!(!needed || has_pointer, InvalidHostPtr, "CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR without a host_ptr");
    ensure!(needed || !has_pointer, InvalidHostPtr, "a host_ptr without CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR");
    Ok(())
}

/// `CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT`
const DEVICE_PRIVATE_ADDRESS: u64 = 0x5000;

/// Whether a list of properties asks for an address on each device.
fn has_device_address(list: &[u64]) -> bool {
    list.chunks_exact(2).any(|pair| pair[0] == DEVICE_PRIVATE_ADDRESS && pair[1] != 0)
}

impl Context {
    /// Whether kernels may access buffers by address (`cl_ext_buffer_device_address`). In a context with memories that
    /// are kept equal, the runtime would have to know which buffers these are.
    pub(crate) fn check_buffer_addresses(&self) -> Result<()> {
        ensure!(!self.has_device_memory(), InvalidOperation, "the devices of the context do not share one memory");
        Ok(())
    }
}

impl MemObject {
    /// A buffer. With `USE_HOST_PTR` and `COPY_HOST_PTR`, `host_ptr` is `size` bytes.
    pub fn buffer(
        context: &Arc<Context>,
        flags: u64,
        size: u64,
        host_ptr: Option<HostPtr>,
        properties: Option<Vec<u64>>,
    ) -> Result<Arc<MemObject>> {
        let flags = check_new(context, flags, size, host_ptr)?;
        if properties.as_deref().is_some_and(has_device_address) {
            context.check_buffer_addresses()?;
        }
        // With `CL_MEM_COPY_HOST_PTR` the pointer is only read here, and not kept.
        let used = host_ptr.filter(|_| flags.contains(MemFlags::USE_HOST_PTR));
        // The specification has a code of its own for memory that cannot be had.
        let fails = |e: Error| Error::new(Status::MemObjectAllocationFailure, e.why);
        let residency = match (used, host_ptr) {
            (Some(pointer), _) => of_application(context, pointer, size, 1),
            (None, None) => Residency::new(context, size, flags).map_err(fails)?,
            (None, Some(content)) => {
                let residency = Residency::new(context, size, flags).map_err(fails)?;
                // The content goes where it is most likely used first: with one device, no migration follows.
                let first = context.space_of(&context.devices()[0]);
                let memory = residency.acquire(context, first, 0..size, AccessMode::Overwrite).map_err(fails)?;
                content.read(0, size, |bytes| memory.write(0, bytes))?;
                residency
            }
        };
        Ok(Self::of_kind(context, MemKind::Buffer, size, flags, used, Arc::new(residency), properties))
    }

    /// An object whose arguments have been checked; `host_ptr` is the application's memory that it uses.
    pub(crate) fn of_kind(
        context: &Arc<Context>,
        kind: MemKind,
        size: u64,
        flags: MemFlags,
        host_ptr: Option<HostPtr>,
        residency: Arc<Residency>,
        properties: Option<Vec<u64>>,
    ) -> Arc<MemObject> {
        Arc::new(MemObject {
            external: ExternalSlot::default(),
            context: context.clone(),
            kind,
            size,
            flags,
            host_ptr,
            // The flag is found once: each launch with this argument asks for it.
            shared: host_ptr.is_some_and(|p| context.svm_room(p.address()).is_some()),
            residency,
            properties,
            mappings: Mutex::default(),
            destructors: Mutex::default(),
        })
    }

    // OpenCL 3.0 API, 5.2.1: Creating Buffer Objects.
    /// A part of a buffer (OpenCL 3.0, section 5.2.1, `clCreateSubBuffer`).
    pub fn sub_buffer(self: &Arc<MemObject>, bits: u64, origin: u64, size: u64) -> Result<Arc<MemObject>> {
        let what = match self.kind {
            MemKind::SubBuffer { .. } => "a sub-buffer",
            _ => self.noun(),
        };
        ensure!(matches!(self.kind, MemKind::Buffer), InvalidMemObject, "a sub-buffer of {what}");
        let flags = parse_flags(bits)?;
        let flags = self.inherited(flags)?;
        ensure!(size > 0, InvalidBufferSize, "a sub-buffer of 0 bytes");
        let inside = origin.checked_add(size).is_some_and(|end| end <= self.size);
        ensure!(inside, InvalidValue, "bytes {origin}+{size} do not lie in the buffer of {} bytes", self.size);
        let aligned = self.context.devices().iter().any(|d| origin.is_multiple_of(d.base_alignment()));
        ensure!(
            aligned,
            MisalignedSubBufferOffset,
            "origin {origin} is not a multiple of CL_DEVICE_MEM_BASE_ADDR_ALIGN (bits) of any device"
        );
        let kind = MemKind::SubBuffer { parent: self.clone(), origin };
        Ok(Self::of_kind(&self.context, kind, size, flags, self.host_ptr, self.residency.clone(), None))
    }

    /// The flags of an object that shares this one's bytes: where they say nothing, this one's.
    pub(crate) fn inherited(&self, flags: MemFlags) -> Result<MemFlags> {
        ensure!(
            !flags.intersects(HOST_POINTER),
            InvalidValue,
            "an object of another's bytes takes no CL_MEM_*_HOST_PTR flag; it has its parent's"
        );
        // The table of clCreateSubBuffer (section 5.2.1): the part may narrow the access of the whole, but not
        // widen it.
        let excluded = |mine: MemFlags, parents: MemFlags| self.flags.contains(parents) && flags.intersects(mine);
        let widened = excluded(MemFlags::READ_WRITE | MemFlags::READ_ONLY, MemFlags::WRITE_ONLY)
            || excluded(MemFlags::READ_WRITE | MemFlags::WRITE_ONLY, MemFlags::READ_ONLY)
            || excluded(MemFlags::HOST_READ_ONLY, MemFlags::HOST_WRITE_ONLY)
            || excluded(MemFlags::HOST_WRITE_ONLY, MemFlags::HOST_READ_ONLY)
            || excluded(MemFlags::HOST_READ_ONLY | MemFlags::HOST_WRITE_ONLY, MemFlags::HOST_NO_ACCESS)
            || excluded(MemFlags::READ_WRITE | MemFlags::WRITE_ONLY | MemFlags::HOST_WRITE_ONLY, MemFlags::IMMUTABLE);
        ensure!(!widened, InvalidValue, "the flags allow what the parent's do not");
        let inherit = |set: MemFlags| if flags.intersects(set) { flags & set } else { self.flags & set };
        // A part of what nothing writes is not written either.
        let other = MemFlags::KERNEL_READ_AND_WRITE | MemFlags::IMMUTABLE;
        let kept = self.flags & (HOST_POINTER | MemFlags::IMMUTABLE) | flags & other;
        let access = if flags.contains(MemFlags::IMMUTABLE) { flags & KERNEL_ACCESS } else { inherit(KERNEL_ACCESS) };
        Ok(access | inherit(HOST_ACCESS) | kept)
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Whether nothing may write it (`CL_MEM_IMMUTABLE_EXT`).
    pub fn is_immutable(&self) -> bool {
        self.flags.contains(MemFlags::IMMUTABLE)
    }

    /// The object that has its bytes, if it is another one.
    pub fn parent(&self) -> Option<&Arc<MemObject>> {
        match &self.kind {
            MemKind::Buffer | MemKind::Pipe(_) | MemKind::Image { parent: None, .. } => None,
            MemKind::SubBuffer { parent, .. } | MemKind::Image { parent: Some(parent), .. } => Some(parent),
        }
    }

    /// Where it begins in the object that has its bytes.
    pub fn origin(&self) -> u64 {
        match &self.kind {
            // Not the parent's origin in addition: a sub-buffer has no sub-buffers, so the parent begins at 0.
            MemKind::SubBuffer { origin, .. } => *origin,
            _ => self.parent().map_or(0, |parent| parent.origin()),
        }
    }

    /// Whether it may have had content when it was made: only a buffer without data certainly had none.
    pub fn has_data(&self) -> bool {
        let given = MemFlags::USE_HOST_PTR | MemFlags::COPY_HOST_PTR;
        !matches!(self.kind, MemKind::Buffer) || self.flags.intersects(given) || self.properties.is_some()
    }

    /// What it is, in words.
    pub fn noun(&self) -> &'static str {
        match self.kind {
            MemKind::Buffer | MemKind::SubBuffer { .. } => "a buffer",
            MemKind::Image { .. } => "an image",
            MemKind::Pipe(_) => "a pipe",
        }
    }

    /// Checks that it is a buffer or a part of one.
    pub(crate) fn check_is_buffer(&self) -> Result<()> {
        let is_buffer = matches!(self.kind, MemKind::Buffer | MemKind::SubBuffer { .. });
        ensure!(is_buffer, InvalidMemObject, "the memory object is {}, not a buffer", self.noun());
        Ok(())
    }

    /// Whether a command may not give up its content: nothing writes it again as a whole.
    pub(crate) fn keeps_content(&self) -> bool {
        self.is_immutable() || matches!(self.kind, MemKind::Pipe(_))
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The flags, with the specification's defaults or those of the parent.
    pub fn flags(&self) -> MemFlags {
        self.flags
    }

    /// The properties as the application gave them.
    pub fn properties(&self) -> Option<&[u64]> {
        self.properties.as_deref()
    }

    /// The application's memory that it uses, of `CL_MEM_USE_HOST_PTR`: at this object's origin.
    pub fn host_ptr(&self) -> Option<usize> {
        Some(self.host_ptr?.address() + self.origin() as usize)
    }

    /// The memory that parts of an object share with it, as a checker is told.
    pub fn storage(&self) -> usize {
        Arc::as_ptr(&self.residency).addr()
    }

    /// Bytes that a command uses, as a checker is told.
    pub(crate) fn used(&self, offset: u64, size: u64, writes: bool) -> MemoryUse {
        if let Some(address) = self.host_ptr().filter(|_| self.shared) {
            return MemoryUse::host(address + offset as usize, size, writes);
        }
        let range = self.range(offset, size);
        MemoryUse { memory: UsedMemory::Object(self.storage()), ranges: vec![range], writes }
    }

    /// A box of bytes that a command uses.
    pub(crate) fn used_rect(&self, rect: &Rect, writes: bool) -> MemoryUse {
        match self.host_ptr().filter(|_| self.shared) {
            Some(address) => MemoryUse::rect(UsedMemory::Host, address as u64, rect, writes),
            None => MemoryUse::rect(UsedMemory::Object(self.storage()), self.origin(), rect, writes),
        }
    }

    /// Whether its bytes are shared memory, which the host may use at the same time as kernels.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }

    /// The current number of mappings.
    pub fn map_count(&self) -> u32 {
        self.mappings.lock().iter().filter(|m| m.is_live()).count() as u32
    }

    /// The address of its copy on the host. The copy is allocated if there is none, and need not be valid.
    pub(crate) fn host_address(&self) -> Result<usize> {
        match self.residency.copy(&self.context, Space::HOST)?.host_address() {
            Some(base) => Ok(base + self.origin() as usize),
            None => bail!(MapFailure, "the memory of the host has no address"),
        }
    }

    /// `CL_MEM_DEVICE_ADDRESS_EXT`: the address on each device of the context.
    pub fn device_addresses(&self) -> Result<Vec<u64>> {
        let has = self.properties().is_some_and(has_device_address);
        ensure!(has, InvalidOperation, "the memory object was not made with CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT");
        self.context.check_buffer_addresses()?;
        self.context.devices().iter().map(|d| self.device_address(self.context.space_of(d))).collect()
    }

    /// The device address of its copy in a space. The copy is allocated if there is none, and need not be valid.
    pub(crate) fn device_address(&self, space: Space) -> Result<u64> {
        Ok(self.residency.copy(&self.context, space)?.device_address() + self.origin())
    }

    /// Makes bytes usable in a space; returns the memory and their offset in it.
    pub(crate) fn acquire(
        &self,
        space: Space,
        offset: u64,
        size: u64,
        access: AccessMode,
    ) -> Result<(&dyn Memory, u64)> {
        let range = self.range(offset, size);
        let start = range.start;
        Ok((self.residency.acquire(&self.context, space, range, access)?, start))
    }

    /// Makes bytes usable as what is copied to a memory of a space; returns the memory and their offset in it.
    pub(crate) fn acquire_source(
        &self,
        space: Space,
        offset: u64,
        size: u64,
        to: &dyn Memory,
    ) -> Result<(&dyn Memory, u64)> {
        let range = self.range(offset, size);
        let start = range.start;
        Ok((self.residency.acquire_source(&self.context, space, range, to)?, start))
    }

    /// Copies bytes to the host's memory, from wherever they are valid.
    pub(crate) fn read(&self, offset: u64, size: u64, to: HostPtr, at: u64) -> Result<()> {
        let range = self.range(offset, size);
        let start = range.start;
        self.residency.read(range, |memory, part| {
            to.write(at + part.start - start, part.end - part.start, |bytes| memory.read(part.start, bytes))
        })
    }

    /// A range of this object in the coordinates of its copies.
    fn range(&self, offset: u64, size: u64) -> Range<u64> {
        let start = self.origin() + offset;
        start..start + size
    }

    /// Whether two memory objects share their bytes.
    pub(crate) fn same_storage(&self, other: &MemObject) -> bool {
        Arc::ptr_eq(&self.residency, &other.residency)
    }

    /// Checks that bytes lie inside.
    pub(crate) fn check_range(&self, offset: u64, size: u64) -> Result<()> {
        let inside = offset.checked_add(size).is_some_and(|end| end <= self.size);
        ensure!(inside, InvalidValue, "bytes {offset}+{size} do not lie in the buffer of {} bytes", self.size);
        Ok(())
    }

    /// Calls this when the object is gone; the last one registered is the first one called.
    pub fn on_destruction(&self, call: Box<dyn FnOnce() + Send>) {
        self.destructors.lock().push(call);
    }
}

/// The residency of an object that uses the application's memory (`CL_MEM_USE_HOST_PTR`), whose elements devices want
/// aligned to so many bytes.
pub(crate) fn of_application(context: &Context, pointer: HostPtr, size: u64, align: u64) -> Residency {
    let memory = wrap(context, pointer, size);
    // OpenCL 3.0 API, 5.6.1: such a buffer has the shared memory as its storage.
    let is_shared = context.svm_room(pointer.address()).is_some_and(|room| room >= size)
        && (pointer.address() as u64).is_multiple_of(align);
    // A device with neither cannot access the shared memory, and needs a copy of its own.
    let all_share = || context.devices().iter().all(|d| d.shares_host() || d.svm().is_some());
    match is_shared && all_share() {
        true => Residency::everywhere(context, &memory),
        false => Residency::on_host(context, memory),
    }
}

/// The application's memory as the copy on the host.
fn wrap(context: &Context, pointer: HostPtr, size: u64) -> Arc<dyn Memory> {
    let sharing = context.devices().iter().find_map(|d| d.hal().as_host_shared());
    match sharing {
        Some(device) => device.wrap(pointer.address(), size),
        None => Arc::new(host_mem::wrap(pointer, size)),
    }
}

impl Drop for MemObject {
    fn drop(&mut self) {
        let calls = std::mem::take(self.destructors.get_mut());
        // In the reverse order of registration (clSetMemObjectDestructorCallback). The fields, and with them the
        // memory, are dropped after this.
        calls.into_iter().rev().for_each(|call| call());
    }
}
