//! The allocations of the simulated driver. All memory is the host's, with its addresses. The host may use pinned and
//! managed memory; other memory it could access too, and only the kind says that it must not. The accesses of kernels
//! are checked against the same table.

use cloom_cuda_sim::ptx::{GlobalMemory, Texture};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;

/// Alignment of allocations.
const ALIGN: usize = 512;
/// Unused bytes after an allocation, so that an access a little beyond its end is noticed.
const GAP: usize = 4096;
/// The bytes of fresh memory of the device: no program may rely on zeros.
const POISON: u8 = 0xCD;

/// The kind of an allocation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Memory of the device with this number.
    Device(u32),
    Pinned,
    Managed,
}

struct Allocation {
    size: usize,
    kind: Kind,
}

/// All allocations, by address.
#[derive(Default)]
pub struct Memory {
    allocations: BTreeMap<u64, Allocation>,
    used: usize,
    /// Textures, by their handles.
    pub textures: BTreeMap<u64, Texture>,
}

/// Bytes of memory of the device.
pub const CAPACITY: usize = 2 << 30;

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(GAP)?, ALIGN).ok()
}

impl Memory {
    /// Fresh memory; `None` if there is none left.
    pub fn allocate(&mut self, size: usize, kind: Kind) -> Option<u64> {
        let layout = layout(size).filter(|_| size <= CAPACITY - self.used)?;
        // SAFETY: the layout has bytes.
        let pointer = unsafe { alloc_zeroed(layout) };
        if pointer.is_null() {
            return None;
        }
        if matches!(kind, Kind::Device(_)) {
            // SAFETY: so many bytes were just allocated.
            unsafe { pointer.write_bytes(POISON, size) };
        }
        // The gap is not counted: the capacity is that of the device, and the gap exists only here.
        self.used += size;
        let address = pointer.expose_provenance() as u64;
        self.allocations.insert(address, Allocation { size, kind });
        Some(address)
    }

    /// Frees the allocation that begins at an address; false if there is none.
    pub fn free(&mut self, address: u64) -> bool {
        let Some(Allocation { size, .. }) = self.allocations.remove(&address) else { return false };
        self.used -= size;
        if let Some(layout) = layout(size) {
            // SAFETY: allocated by `allocate` with this layout.
            unsafe { dealloc(std::ptr::with_exposed_provenance_mut(address as usize), layout) };
        }
        true
    }

    /// The allocation that a byte is in: where it begins, its size and its kind.
    pub fn find(&self, address: u64) -> Option<(u64, usize, Kind)> {
        // The last allocation that begins at the address or before it is the only one that can have the byte.
        let (&begin, Allocation { size, kind }) = self.allocations.range(..=address).next_back()?;
        (address - begin < *size as u64).then_some((begin, *size, *kind))
    }

    /// Whether a range lies in one allocation.
    pub fn has(&self, address: u64, size: usize) -> bool {
        size == 0 || self.find(address).is_some_and(|(begin, all, _)| (address - begin) as usize + size <= all)
    }
}

/// All memory, as kernels of a device see it.
pub struct Seen<'a> {
    pub memory: &'a mut Memory,
    pub device: u32,
}

impl Seen<'_> {
    /// The allocation that a byte is in, unless it is another device's.
    fn find(&self, address: u64) -> Option<(u64, usize)> {
        let (begin, size, kind) = self.memory.find(address)?;
        let is_mine = |owner| owner == self.device;
        // Pinned and managed memory belongs to all devices.
        (!matches!(kind, Kind::Device(owner) if !is_mine(owner))).then_some((begin, size))
    }
}

impl GlobalMemory for Seen<'_> {
    fn bytes(&self, address: u64) -> &[u8] {
        let Some((begin, size)) = self.find(address) else { return &[] };
        let (pointer, rest) = (std::ptr::with_exposed_provenance(address as usize), size - (address - begin) as usize);
        // SAFETY: so many bytes are left of a live allocation.
        unsafe { std::slice::from_raw_parts(pointer, rest) }
    }

    fn bytes_mut(&mut self, address: u64) -> &mut [u8] {
        let Some((begin, size)) = self.find(address) else { return &mut [] };
        let pointer = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: so many bytes are left of a live allocation, and the kernel that runs has the whole memory to itself.
        unsafe { std::slice::from_raw_parts_mut(pointer, size - (address - begin) as usize) }
    }

    fn texture(&self, handle: u64) -> Option<Texture> {
        self.memory.textures.get(&handle).copied()
    }

    fn add_block(&mut self, bytes: Vec<u8>, _align: u64) -> u64 {
        let address = self.memory.allocate(bytes.len(), Kind::Device(self.device)).unwrap_or(0);
        if address != 0 {
            self.bytes_mut(address)[..bytes.len()].copy_from_slice(&bytes);
        }
        address
    }
}
