//! Transfers between the host and a GPU.
//!
//! The driver copies ordinary memory of the host through a small pinned buffer of its own, on one thread. A large
//! transfer is therefore *staged*: several threads copy chunks into pinned blocks, from which the GPU fetches them, so
//! that copying and fetching overlap. Small transfers, and those of memory that is pinned already, go to the driver
//! directly. Small reads go into pinned memory, where they arrive sooner, and are copied from there. (H100, 256 MiB:
//! pageable 9 GB/s up and 14 down, staged by one thread 9, by eight 14 to 20, pinned 55. H200, 4 KiB: 7.5 to 8.7 us
//! down to ordinary memory, 6.7 to pinned memory.)

use crate::context::{Current, Gpu};
use crate::library::Address;
use crate::memory::HostBlock;
use cloom_cuda_abi::constants::{MEMORYTYPE_DEVICE, MEMORYTYPE_HOST, POINTER_ATTRIBUTE_MEMORY_TYPE};
use cloom_hal::HalError;
use cloom_hal::lock::{Condvar, Mutex};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The largest transfer that is not staged, in bytes: starting threads takes as long as such a transfer.
const MAX_DIRECT_BYTES: usize = 2 << 20;
/// The largest read that goes through a small pinned block, in bytes, and the size of such a block.
const MAX_SMALL_READ_BYTES: usize = 16 << 10;
/// Bytes of a pinned block.
const PINNED_BLOCK_BYTES: usize = 4 << 20;
/// The smallest chunk of a staged transfer, in bytes. Chunks are much smaller than the transfer, so that copying and
/// fetching overlap early.
const MIN_CHUNK_BYTES: usize = 512 << 10;
/// Bytes of a transfer that are worth starting one more thread.
const BYTES_PER_THREAD: usize = 2 << 20;
/// The most pinned blocks of a device, and the most threads of a transfer. (The figures above are for one and for
/// eight.)
const MAX_PINNED_BLOCKS: usize = 8;

/// The pinned blocks of a device, allocated as they are needed.
pub struct Staging {
    gpu: Arc<Gpu>,
    blocks: Mutex<Blocks>,
    returned: Condvar,
    /// The blocks for small reads: as many as there were readers at once.
    small: Mutex<Vec<HostBlock>>,
}

#[derive(Default)]
struct Blocks {
    free: Vec<HostBlock>,
    allocated: usize,
}

/// The host's side of a transfer.
#[derive(Clone, Copy)]
enum HostSide {
    From(*const u8),
    To(*mut u8),
}

// SAFETY: the threads of a transfer use chunks that do not overlap, while the caller holds the whole.
unsafe impl Send for HostSide {}
// SAFETY: it is an address, which is only dereferenced in `unsafe` code, by threads whose chunks do not overlap.
unsafe impl Sync for HostSide {}

impl HostSide {
    /// The address `offset` bytes further on.
    ///
    /// # Safety
    /// The memory has at least `offset` bytes.
    unsafe fn at(self, offset: usize) -> HostSide {
        // SAFETY: the memory has `offset` bytes, as this function's caller promises.
        unsafe {
            match self {
                HostSide::From(from) => HostSide::From(from.add(offset)),
                HostSide::To(to) => HostSide::To(to.add(offset)),
            }
        }
    }

    fn address(self) -> *const u8 {
        match self {
            HostSide::From(from) => from,
            HostSide::To(to) => to.cast_const(),
        }
    }
}

impl Staging {
    /// Without blocks so far.
    pub fn new(gpu: &Arc<Gpu>) -> Staging {
        Staging { gpu: gpu.clone(), blocks: Mutex::default(), returned: Condvar::new(), small: Mutex::default() }
    }

    /// Copies from a GPU. The caller has checked the range.
    pub fn read(&self, gpu: &Gpu, from: Address, to: &mut [u8]) -> Result<(), HalError> {
        let (host, size) = (HostSide::To(to.as_mut_ptr()), to.len());
        if size == 0 || size > MAX_SMALL_READ_BYTES {
            // SAFETY: the slice is borrowed for the whole transfer.
            return unsafe { self.transfer(gpu, host, from, size) };
        }
        let current = gpu.enter()?;
        // Without a block, because pinned memory is short, the read goes directly.
        let free = self.small.lock().pop();
        let mut block = free.or_else(|| HostBlock::allocate(&self.gpu, MAX_SMALL_READ_BYTES).ok());
        let pinned = block.as_mut().map(HostBlock::bytes_mut);
        // SAFETY: the slice is borrowed for the whole transfer, and the block is this thread's and large enough.
        let result = unsafe { staged(&current, host, from, size, pinned) };
        // Also after an error: the copy has been waited for, so that nothing writes to the block any more.
        self.small.lock().extend(block);
        result
    }

    /// Copies to a GPU. The caller has checked the range.
    pub fn write(&self, gpu: &Gpu, to: Address, from: &[u8]) -> Result<(), HalError> {
        // SAFETY: the slice is borrowed for the whole transfer.
        unsafe { self.transfer(gpu, HostSide::From(from.as_ptr()), to, from.len()) }
    }

    /// # Safety
    /// The host's side has `size` bytes, which nobody else uses.
    unsafe fn transfer(&self, gpu: &Gpu, host: HostSide, device: Address, size: usize) -> Result<(), HalError> {
        if size == 0 {
            return Ok(());
        }
        let current = gpu.enter()?;
        let host_address = host.address() as Address;
        // Pinned memory of the host, such as a mapped buffer, is fetched by the GPU at the full speed of the bus as it
        // is.
        if size <= MAX_DIRECT_BYTES || memory_type(&current, host_address) == Some(MEMORYTYPE_HOST) {
            // SAFETY: both sides have `size` bytes, as this function's caller promises.
            return unsafe { direct(&current, host, device, size) };
        }
        let threads = threads().min(size / BYTES_PER_THREAD).max(1);
        // Four chunks for each thread, so that copying and fetching overlap early.
        let chunk = (size / threads / 4).next_multiple_of(4096).clamp(MIN_CHUNK_BYTES, PINNED_BLOCK_BYTES);
        // Chunks are taken by a counter and not divided beforehand: a thread that starts late, or that shares its core,
        // then takes fewer.
        let next = AtomicUsize::new(0);
        let work = || -> Result<(), HalError> {
            let current = gpu.enter()?;
            // Each thread keeps one block for all its chunks, and waits here while other transfers have all blocks.
            let mut block = self.take()?;
            let result = loop {
                let at = next.fetch_add(1, Ordering::Relaxed).saturating_mul(chunk);
                if at >= size {
                    break Ok(());
                }
                let bytes = chunk.min(size - at);
                let pinned = block.as_mut().map(HostBlock::bytes_mut);
                // SAFETY: this thread alone has this chunk, which lies within the range, and the block.
                if let Err(error) = unsafe { staged(&current, host.at(at), device + at as Address, bytes, pinned) } {
                    // The other threads find no chunk left, and end too.
                    // Half of the largest number, since each other thread still adds 1: the counter must not wrap to 0.
                    next.store(usize::MAX / 2, Ordering::Relaxed);
                    break Err(error);
                }
            };
            self.give_back(block);
            result
        };
        std::thread::scope(|scope| {
            let helper = || std::thread::Builder::new().name("cloom-copy".into());
            // If a thread cannot be started, the others do its part.
            let helpers: Vec<_> = (1..threads).filter_map(|_| helper().spawn_scoped(scope, work).ok()).collect();
            let mut result = work();
            for helper in helpers {
                let panicked = |_| Err(HalError::Device("a thread of a transfer panicked".into()));
                // Each helper is joined even after an error: the slice of the caller is in use until the last one has
                // ended.
                result = result.and(helper.join().unwrap_or_else(panicked));
            }
            result
        })
    }

    /// A free block; waits while other transfers have all of them. `None` if the host has no pinned memory for any.
    fn take(&self) -> Result<Option<HostBlock>, HalError> {
        let mut blocks = self.blocks.lock();
        loop {
            if let Some(block) = blocks.free.pop() {
                return Ok(Some(block));
            }
            if blocks.allocated < MAX_PINNED_BLOCKS {
                break;
            }
            // A thread holds at most one block, and waits only for its own copy while it does, so that a block comes
            // back.
            blocks = self.returned.wait(blocks);
        }
        // Counted before the allocation, which is made without the lock.
        blocks.allocated += 1;
        drop(blocks);
        let allocated = HostBlock::allocate(&self.gpu, PINNED_BLOCK_BYTES);
        if allocated.is_err() {
            // The thread that is woken tries to allocate itself, and goes on without a block if that fails, too.
            self.blocks.lock().allocated -= 1;
            self.returned.notify_one();
        }
        match allocated {
            Ok(block) => Ok(Some(block)),
            Err(HalError::OutOfMemory(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn give_back(&self, block: Option<HostBlock>) {
        if let Some(block) = block {
            self.blocks.lock().free.push(block);
            self.returned.notify_one();
        }
    }
}

/// The number of threads of a transfer: at most one for each core, as more would only disturb each other.
fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from).min(MAX_PINNED_BLOCKS))
}

/// The kind of memory that an address belongs to; `None` for ordinary memory of the host.
fn memory_type(current: &Current<'_>, address: Address) -> Option<u32> {
    let mut kind = 0u32;
    // SAFETY: it writes a `u32`, and only looks the address up.
    let code = unsafe {
        (current.table().pointer_get_attribute)((&raw mut kind).cast(), POINTER_ATTRIBUTE_MEMORY_TYPE, address)
    };
    // Ordinary memory, which the driver does not know, is an error of the call.
    (code == 0 && kind != 0).then_some(kind)
}

/// Whether an address is that of memory of a device: an allocation, or a variable of a module.
fn is_on_device(current: &Current<'_>, address: Address) -> bool {
    let (mut base, mut size) = (0, 0);
    memory_type(current, address) == Some(MEMORYTYPE_DEVICE)
        // SAFETY: it writes two numbers.
        || unsafe { (current.table().mem_get_address_range)(&mut base, &mut size, address) } == 0
}

/// Copies by one call of the driver, and waits.
///
/// # Safety
/// Both sides have `size` bytes.
unsafe fn direct(current: &Current<'_>, host: HostSide, device: Address, size: usize) -> Result<(), HalError> {
    let stream = current.stream()?;
    // SAFETY: both sides have `size` bytes, as this function's caller promises, and the stream is waited for below,
    // whatever the call returns.
    let (call, code) = unsafe {
        match host {
            HostSide::From(from) => {
                ("cuMemcpyHtoDAsync", (current.table().memcpy_to_device)(device, from.cast(), size, stream.raw))
            }
            HostSide::To(to) => {
                ("cuMemcpyDtoHAsync", (current.table().memcpy_to_host)(to.cast(), device, size, stream.raw))
            }
        }
    };
    let begun = current.check(call, code);
    let ended = current.synchronize(stream.raw);
    Ok(begun.and(ended)?)
}

/// Copies a chunk through a pinned block, if there is one.
///
/// # Safety
/// Both sides have `size` bytes, and the block has at least as many.
unsafe fn staged(
    current: &Current<'_>,
    host: HostSide,
    device: Address,
    size: usize,
    block: Option<&mut [u8]>,
) -> Result<(), HalError> {
    // SAFETY: both sides have `size` bytes, as this function's caller promises. The block is memory of its own, so that
    // nothing overlaps.
    unsafe {
        match (host, block) {
            (_, None) => direct(current, host, device, size),
            (HostSide::From(from), Some(block)) => {
                ptr::copy_nonoverlapping(from, block.as_mut_ptr(), size);
                direct(current, HostSide::From(block.as_ptr()), device, size)
            }
            (HostSide::To(to), Some(block)) => {
                direct(current, HostSide::To(block.as_mut_ptr()), device, size)?;
                ptr::copy_nonoverlapping(block.as_ptr(), to, size);
                Ok(())
            }
        }
    }
}

/// Bytes that are read at a time while the end of a text is searched.
const TEXT_CHUNK_BYTES: u64 = 256;
/// Bytes of the longest text.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// The zero-terminated string at an address of a device, or its beginning; `None` if there is no memory of a device.
pub fn text(gpu: &Gpu, address: Address) -> Option<Vec<u8>> {
    let current = gpu.enter().ok()?;
    // Any other address would be one of the host, which must not be read on behalf of a kernel.
    is_on_device(&current, address).then_some(())?;
    let mut text = Vec::new();
    let mut chunk = TEXT_CHUNK_BYTES;
    while text.len() < MAX_TEXT_BYTES {
        let at = address.checked_add(text.len() as u64)?;
        // Up to the next multiple of the chunk: near the end of an allocation a whole chunk may go beyond it.
        let size = (chunk - at % chunk) as usize;
        let mut bytes = [0; TEXT_CHUNK_BYTES as usize];
        // SAFETY: the array has so many bytes. A range that is no memory of the device is an error and not a fault.
        match unsafe { direct(&current, HostSide::To(bytes.as_mut_ptr()), at, size) } {
            Ok(()) => {
                let end = bytes[..size].iter().position(|&b| b == 0);
                text.extend_from_slice(&bytes[..end.unwrap_or(size)]);
                if end.is_some() {
                    return Some(text);
                }
            }
            // Smaller steps reach the last bytes of an allocation that does not end at a multiple of the chunk.
            Err(_) if chunk > 1 && !crate::error::is_lost() => chunk /= 4,
            Err(_) => break,
        }
    }
    (!text.is_empty()).then_some(text)
}
