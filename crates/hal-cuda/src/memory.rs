//! Memory of a GPU, and pinned memory of the host, which the GPU copies from and to at full speed.
//!
//! The runtime's transfers are blocking: each runs on a stream of its own and is waited for, so that transfers of
//! several threads overlap. `transfer.rs` says how large blocks of ordinary host memory are copied.

use crate::context::{Current, Gpu};
use crate::exit::Call;
use crate::library::{Address, RawStream};
use crate::peers;
use crate::rect;
use crate::transfer::Staging;
use cloom_cuda_abi::constants::MEMHOSTALLOC_PORTABLE;
use cloom_hal::{HalError, Memory, PinnedBlock, Rect, assert_in_range};
use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;

/// Bytes of the buffer through which overlapping ranges are copied.
const BOUNCE_BYTES: u64 = 16 << 20;
/// Bytes of a pattern that are written by the host before the device doubles them.
const PATTERN_BLOCK_BYTES: usize = 64 << 10;

/// A block of a GPU's memory. It is dropped after everything that used it has been waited for.
pub struct DeviceBlock {
    gpu: Arc<Gpu>,
    address: Address,
    size: u64,
}

impl DeviceBlock {
    /// Fresh memory without content.
    pub fn allocate(gpu: &Arc<Gpu>, size: u64) -> Result<DeviceBlock, HalError> {
        let current = gpu.enter()?;
        let mut address = 0;
        // An empty block has an address too, and the driver refuses to allocate zero bytes.
        let bytes = usize::try_from(size).map_err(|_| HalError::OutOfMemory(size))?.max(1);
        let allocated = match current.pool() {
            Some(pool) => {
                let stream = current.stream()?;
                // SAFETY: it writes an address.
                let code = unsafe { (current.table().mem_alloc_from_pool)(&mut address, bytes, pool, stream.raw) };
                // Other streams may use the memory only after this stream has executed the allocation.
                current.check("cuMemAllocFromPoolAsync", code).and_then(|()| current.synchronize(stream.raw))
            }
            // SAFETY: it writes an address, and the context is current.
            None => current.check("cuMemAlloc", unsafe { (current.table().mem_alloc)(&mut address, bytes) }),
        };
        allocated.map_err(|failure| failure.of_size(size))?;
        Ok(DeviceBlock { gpu: gpu.clone(), address, size })
    }

    /// Where it begins.
    pub fn address(&self) -> Address {
        self.address
    }

    /// The address of a range, after checking that it lies inside.
    fn range(&self, offset: u64, size: u64) -> Address {
        assert_in_range(offset, size, self.size);
        self.address + offset
    }

    /// Repeats a pattern on a stream, which the caller waits for before the block is dropped.
    pub fn fill(
        &self,
        current: &Current<'_>,
        stream: RawStream,
        offset: u64,
        size: usize,
        pattern: &[u8],
    ) -> Result<(), HalError> {
        fill(current, stream, self.range(offset, size as u64), size, pattern)
    }
}

impl Drop for DeviceBlock {
    fn drop(&mut self) {
        let address = self.address;
        let (Ok(_end_waits), Ok(current)) = (Call::begin(), self.gpu.enter()) else { return };
        // `cuMemFree` waits for all kernels of the context, and this may be the thread that notifies completions.
        // Freeing into the pool waits for nothing.
        if current.pool().is_some()
            && let Ok(stream) = current.stream()
        {
            // SAFETY: allocated by `allocate` from the pool; whoever used it has waited for that.
            let code = unsafe { (current.table().mem_free_async)(address, stream.raw) };
            let _ = current.check("cuMemFreeAsync", code);
        } else {
            // SAFETY: allocated by `allocate`, and whoever used it has waited for that. `cuMemFree` also frees memory
            // of a pool.
            self.gpu.release("cuMemFree", |table| unsafe { (table.mem_free)(address) });
        }
    }
}

/// Pinned memory of the host: transfers from and to it are fast.
pub struct HostBlock {
    gpu: Arc<Gpu>,
    pointer: *mut u8,
    size: usize,
}

// SAFETY: it owns its bytes, as a vector does.
unsafe impl Send for HostBlock {}
// SAFETY: a shared reference gives the bytes for reading only, and else a raw pointer, whose uses are `unsafe`.
unsafe impl Sync for HostBlock {}

impl HostBlock {
    /// Fresh zeros.
    pub(crate) fn allocate(gpu: &Arc<Gpu>, size: usize) -> Result<HostBlock, HalError> {
        let current = gpu.enter()?;
        let mut pointer: *mut c_void = std::ptr::null_mut();
        // SAFETY: it writes a pointer.
        let code = unsafe { (current.table().mem_host_alloc)(&mut pointer, size.max(1), MEMHOSTALLOC_PORTABLE) };
        current.check("cuMemHostAlloc", code).map_err(|failure| failure.of_size(size as u64))?;
        // SAFETY: so many bytes were allocated, and nobody else knows them.
        unsafe { std::ptr::write_bytes(pointer.cast::<u8>(), 0, size) };
        Ok(HostBlock { gpu: gpu.clone(), pointer: pointer.cast(), size })
    }

    /// Its address on the GPU, which is also its address on the host.
    pub(crate) fn address(&self) -> u64 {
        self.pointer as u64
    }

    /// Its first byte, for an owner that shares the block with the GPU.
    pub(crate) fn pointer(&self) -> *mut u8 {
        self.pointer
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the block has so many initialised bytes; it is borrowed as the result is.
        unsafe { std::slice::from_raw_parts(self.pointer, self.size) }
    }

    /// Its bytes, to change them.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `pointer` has `size` initialised bytes, and nobody else has a reference, since `self` is borrowed for
        // writing.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.size) }
    }
}

impl PinnedBlock for HostBlock {
    fn address(&self) -> usize {
        self.pointer as usize
    }
}

impl Drop for HostBlock {
    fn drop(&mut self) {
        let pointer = self.pointer;
        // SAFETY: allocated by `allocate`; transfers are waited for where they are begun.
        self.gpu.release("cuMemFreeHost", |table| unsafe { (table.mem_free_host)(pointer.cast()) });
    }
}

/// A memory object's copy on a GPU.
pub struct CudaMemory {
    block: DeviceBlock,
    staging: Arc<Staging>,
}

impl CudaMemory {
    /// Fresh memory without content.
    pub(crate) fn allocate(gpu: &Arc<Gpu>, staging: &Arc<Staging>, size: u64) -> Result<CudaMemory, HalError> {
        Ok(CudaMemory { block: DeviceBlock::allocate(gpu, size)?, staging: staging.clone() })
    }

    fn gpu(&self) -> &Arc<Gpu> {
        &self.block.gpu
    }

    /// A box by the GPU's addresses, after checking that it lies inside.
    fn rect(&self, rect: &Rect) -> Rect {
        rect.at(self.block.range(rect.start, rect.span()))
    }
}

impl Memory for CudaMemory {
    fn size(&self) -> u64 {
        self.block.size
    }

    fn device_address(&self) -> u64 {
        self.block.address
    }

    fn host_address(&self) -> Option<usize> {
        None
    }

    fn read(&self, offset: u64, to: &mut [u8]) -> Result<(), HalError> {
        let from = self.block.range(offset, to.len() as u64);
        self.staging.read(self.gpu(), from, to)
    }

    fn write(&self, offset: u64, from: &[u8]) -> Result<(), HalError> {
        let to = self.block.range(offset, from.len() as u64);
        self.staging.write(self.gpu(), to, from)
    }

    fn copy_from(&self, offset: u64, source: &dyn Memory, source_offset: u64, size: u64) -> Result<(), HalError> {
        let to = self.block.range(offset, size);
        assert_in_range(source_offset, size, source.size());
        if size == 0 {
            return Ok(());
        }
        match source.host_address() {
            Some(address) => {
                let from = (address + source_offset as usize) as *const u8;
                // SAFETY: the range was checked. Its bytes are initialised and nobody writes them now, as for every
                // transfer.
                self.staging.write(self.gpu(), to, unsafe { std::slice::from_raw_parts(from, size as usize) })
            }
            // Memory without an address on the host is on this GPU or on another one. Only copies between two GPUs need
            // the link.
            None => match other_gpu(self.gpu(), source) {
                Some(other) => {
                    let from = source.device_address() + source_offset;
                    peers::copy((self.gpu(), to), (other, from), size, &self.staging)
                }
                None => copy_on_device(self.gpu(), to, source.device_address() + source_offset, size),
            },
        }
    }

    fn is_peer_of(&self, source: &dyn Memory) -> bool {
        other_gpu(self.gpu(), source).is_some()
    }

    fn fill(&self, offset: u64, size: u64, pattern: &[u8]) -> Result<(), HalError> {
        let to = self.block.range(offset, size);
        if size == 0 || pattern.is_empty() {
            return Ok(());
        }
        let current = self.gpu().enter()?;
        let stream = current.stream()?;
        fill(&current, stream.raw, to, size as usize, pattern)?;
        Ok(current.synchronize(stream.raw)?)
    }

    fn read_rect(&self, from: &Rect, to: &mut [u8]) -> Result<(), HalError> {
        // A single row has no gaps: it needs no gathering through a second block of the GPU.
        if let [_, 1, 1] = from.region {
            return self.read(from.start, to);
        }
        rect::read(self.gpu(), &self.staging, self.rect(from), to)
    }

    fn write_rect(&self, to: &Rect, from: &[u8]) -> Result<(), HalError> {
        if let [_, 1, 1] = to.region {
            return self.write(to.start, from);
        }
        rect::write(self.gpu(), &self.staging, self.rect(to), from)
    }

    fn copy_rect(&self, to: &Rect, source: &dyn Memory, from: &Rect) -> Result<(), HalError> {
        if source.host_address().is_some() {
            // `rect::copy` takes boxes of a GPU's memory only, so that each row of the host is one transfer.
            let mut rows = to.rows().zip(from.rows());
            return rows.try_for_each(|(to, row)| self.copy_from(to, source, row, from.region[0]));
        }
        assert!(from.end() <= source.size(), "{from:?} in a memory of {}", source.size());
        rect::copy(self.gpu(), self.rect(to), from.at(source.device_address() + from.start))
    }

    fn fill_rect(&self, to: &Rect, pattern: &[u8]) -> Result<(), HalError> {
        rect::fill(self.gpu(), self.rect(to), pattern)
    }
}

/// The GPU of `source`, if that is memory of another GPU.
fn other_gpu<'a>(gpu: &Arc<Gpu>, source: &'a dyn Memory) -> Option<&'a Arc<Gpu>> {
    let source: &dyn Any = source;
    let other = source.downcast_ref::<CudaMemory>()?.gpu();
    (!Arc::ptr_eq(gpu, other)).then_some(other)
}

/// A copy on the device, without waiting. The ranges do not overlap.
pub(crate) fn copy(
    current: &Current<'_>,
    stream: RawStream,
    to: Address,
    from: Address,
    size: u64,
) -> Result<(), HalError> {
    // SAFETY: both ranges lie in live memory, which callers check, and the memory lives until the stream has been
    // waited for.
    let code = unsafe { (current.table().memcpy_on_device)(to, from, size as usize, stream) };
    Ok(current.check("cuMemcpyDtoDAsync", code)?)
}

/// Copies on the device. If the ranges overlap, the bytes go through a buffer.
fn copy_on_device(gpu: &Arc<Gpu>, to: Address, from: Address, size: u64) -> Result<(), HalError> {
    if to == from {
        return Ok(());
    }
    let current = gpu.enter()?;
    let stream = current.stream()?;
    // The driver allows no overlap of the ranges of one copy. Ranges without overlap need no buffer.
    if to.abs_diff(from) >= size {
        copy(&current, stream.raw, to, from, size)?;
        return Ok(current.synchronize(stream.raw)?);
    }
    let bounce = DeviceBlock::allocate(gpu, size.min(BOUNCE_BYTES))?;
    // As `memmove` does: towards higher addresses the last chunk goes first, so that no chunk overwrites bytes that are
    // still to be read. The stream keeps the copies in order, so that one buffer serves all chunks.
    let copied = chunks(size, BOUNCE_BYTES, to > from).try_for_each(|(at, chunk)| {
        copy(&current, stream.raw, bounce.address, from + at, chunk)?;
        copy(&current, stream.raw, to + at, bounce.address, chunk)
    });
    // Also after an error: the copies before it may still use the buffer.
    let waited = current.synchronize(stream.raw);
    copied?;
    Ok(waited?)
}

/// Offset and size of the chunks of a range, in order or from its end.
fn chunks(size: u64, most: u64, backwards: bool) -> impl Iterator<Item = (u64, u64)> {
    let count = size.div_ceil(most);
    (0..count).map(move |i| {
        let at = most * if backwards { count - 1 - i } else { i };
        (at, most.min(size - at))
    })
}

/// The shortest pattern that has the same effect.
fn shortest(pattern: &[u8]) -> &[u8] {
    let period =
        (1..pattern.len()).find(|&n| pattern.len().is_multiple_of(n) && pattern[n..] == pattern[..pattern.len() - n]);
    &pattern[..period.unwrap_or(pattern.len())]
}

/// Repeats a pattern on a stream. It may return before the GPU is done.
pub(crate) fn fill(
    current: &Current<'_>,
    stream: RawStream,
    to: Address,
    size: usize,
    pattern: &[u8],
) -> Result<(), HalError> {
    let table = current.table();
    // A `float4` of zeros becomes one zero byte, which one call of the driver repeats.
    let pattern = shortest(pattern);
    // `cuMemsetD16Async` and `cuMemsetD32Async` take aligned addresses and count whole words.
    let is_aligned = |n: u64| to.is_multiple_of(n) && (size as u64).is_multiple_of(n);
    // SAFETY: the range lies in live memory, which callers check, and the memory lives until the stream has been waited
    // for.
    let code = unsafe {
        match *pattern {
            [a] => (table.memset_8)(to, a, size, stream),
            [a, b] if is_aligned(2) => (table.memset_16)(to, u16::from_le_bytes([a, b]), size / 2, stream),
            [a, b, c, d] if is_aligned(4) => (table.memset_32)(to, u32::from_le_bytes([a, b, c, d]), size / 4, stream),
            _ => return fill_by_doubling(current, stream, to, size, pattern),
        }
    };
    Ok(current.check("cuMemsetAsync", code)?)
}

/// The host writes the pattern a few times; then the device doubles the written part until the range is full.
fn fill_by_doubling(
    current: &Current<'_>,
    stream: RawStream,
    to: Address,
    size: usize,
    pattern: &[u8],
) -> Result<(), HalError> {
    // At least 1: a pattern may be as long as the range.
    let times = (PATTERN_BLOCK_BYTES.min(size) / pattern.len()).max(1);
    let mut block = pattern.repeat(times);
    block.truncate(size);
    // SAFETY: the range was checked; the block lives until the stream has been waited for, below.
    let code = unsafe { (current.table().memcpy_to_device)(to, block.as_ptr().cast(), block.len(), stream) };
    current.check("cuMemcpyHtoDAsync", code)?;
    current.synchronize(stream)?;
    // `done` is a multiple of the pattern's length unless the range is full, so that each copy continues the pattern. A
    // copy is at most as long as what is done, so that its source and target do not overlap.
    let mut done = block.len();
    while done < size {
        let chunk = done.min(size - done);
        copy(current, stream, to + done as u64, to, chunk as u64)?;
        done += chunk;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_as_short_as_it_can_be() {
        assert_eq!(shortest(&[7; 16]), [7]);
        assert_eq!(shortest(&[1, 2, 1, 2]), [1, 2]);
        assert_eq!(shortest(&[1, 2, 1]), [1, 2, 1]);
        assert_eq!(shortest(&[1, 2, 3, 4]), [1, 2, 3, 4]);
        assert_eq!(shortest(&[]), []);
    }

    #[test]
    fn chunks_of_an_overlapping_copy_go_away_from_what_is_still_needed() {
        for (size, most, by) in [(10u64, 3u64, 2i64), (10, 3, -2), (9, 3, 1), (2, 5, 1), (7, 1, -6)] {
            let before: Vec<u8> = (0..30).collect();
            let (mut after, mut expected) = (before.clone(), before.clone());
            let (from, to) = (10usize, (10 + by) as usize);
            expected[to..to + size as usize].copy_from_slice(&before[from..from + size as usize]);
            for (at, chunk) in chunks(size, most, to > from) {
                let (at, chunk) = (at as usize, chunk as usize);
                let bounce = after[from + at..from + at + chunk].to_vec();
                after[to + at..to + at + chunk].copy_from_slice(&bounce);
            }
            assert_eq!(after, expected, "{size} {most} {by}");
        }
    }
}
