//! A library in place of NVIDIA's driver, `libcuda.so.1`, for machines without a GPU: the functions that Cloom calls,
//! with an interpreter of PTX. Put a link of that name into a folder of `LD_LIBRARY_PATH`.
//!
//! | module | contains |
//! |---|---|
//! | `memory` | allocations, which are the host's memory |
//! | `stream` | streams and events |
//! | `transfer` | copies and fills |
//! | `peers` | copies between devices |
//! | `code`, `graph` | modules and launches, graphs |
//! | `compiler` | the library that translates code |
//! | `settings` | variables of the environment |
//! | `texture` | textures |
//! | `signatures` | that they are called as Cloom calls them |
//!
//! Handles are addresses of boxes that are never freed: a test process is short, and using a handle too late then
//! corrupts no memory. After a fault of a kernel each function fails, as in CUDA.

#![allow(unsafe_code, reason = "it has the interface of a library in C")]

mod code;
mod compiler;
mod exit;
mod graph;
mod memory;
mod peers;
mod settings;
mod signatures;
mod stream;
mod texture;
mod transfer;

use cloom_cuda_abi::constants::{
    ERROR_ILLEGAL_ADDRESS, ERROR_INVALID_DEVICE, ERROR_INVALID_HANDLE, ERROR_INVALID_PTX, ERROR_INVALID_VALUE,
    ERROR_LAUNCH_FAILED, ERROR_LAUNCH_TIMEOUT, ERROR_MISALIGNED_ADDRESS, ERROR_NOT_FOUND, ERROR_NOT_READY,
    ERROR_OUT_OF_MEMORY, SUCCESS,
};
use cloom_cuda_abi::{Code, PoolProperties, constants};
use memory::{CAPACITY, Kind, Memory};
use settings::number;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use stream::{Mark, Stream};

/// The name of the device.
const NAME: &CStr = c"Simulated GPU";
/// Its multiprocessors, unless `CUDA_SIM_MULTIPROCESSORS` says another number.
const MULTIPROCESSORS: c_int = 4;

thread_local! {
    /// The device whose context is current, if one is.
    static CURRENT: Cell<Option<u32>> = const { Cell::new(None) };
}

/// The device whose context is current.
fn current() -> u32 {
    CURRENT.get().unwrap_or(0)
}

/// How many devices there are: `CUDA_SIM_DEVICES` of them, 1 to 8.
fn devices() -> u32 {
    number("CUDA_SIM_DEVICES").map_or(1, |n: u32| n.clamp(1, 8))
}

/// The context of a device.
fn context_of(device: u32) -> *mut c_void {
    // A small number and no address: it is never null, and code that follows it faults at once.
    std::ptr::without_provenance_mut(16 * (device as usize + 1))
}

/// The device of a context.
fn device_of(context: *mut c_void) -> Option<u32> {
    (0..devices()).find(|&device| context_of(device) == context)
}

static MEMORY: Mutex<Option<Memory>> = Mutex::new(None);
/// The error after which every call fails.
static LOST: AtomicU32 = AtomicU32::new(SUCCESS);

/// All memory. A running kernel holds the lock, and so kernels run one at a time.
fn memory() -> MutexGuard<'static, Option<Memory>> {
    let mut memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    memory.get_or_insert_default();
    memory
}

/// Calls a function with all memory.
fn with_memory<R>(call: impl FnOnce(&mut Memory) -> R) -> R {
    call(memory().get_or_insert_default())
}

/// Makes every later call fail.
fn lose(code: Code) {
    // The first fault stays: later ones are its consequences.
    let _ = LOST.compare_exchange(SUCCESS, code, Ordering::Relaxed, Ordering::Relaxed);
}

/// The result of a call that succeeds unless an earlier fault makes every call fail.
fn state() -> Code {
    LOST.load(Ordering::Relaxed)
}

/// Does something, unless an earlier fault makes every call fail.
fn unless_lost(call: impl FnOnce() -> Code) -> Code {
    match state() {
        SUCCESS => call(),
        lost => lost,
    }
}

/// Like `unless_lost`, for a call that may run out of memory: the call with the number `CUDA_SIM_FAIL`, counted from 1,
/// does.
fn fallible(call: impl FnOnce() -> Code) -> Code {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    static FAILS: LazyLock<Option<u64>> = LazyLock::new(|| number("CUDA_SIM_FAIL"));
    // Counted before anything can fail, so that a number means the same call in every run of a test.
    let number = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
    if *FAILS == Some(number) { ERROR_OUT_OF_MEMORY } else { unless_lost(call) }
}

/// A stream writes a word of the host's memory.
fn write_value(address: u64, value: u64) {
    // After a fault it does nothing. That is checked here, when the stream comes to it: a running kernel holds all
    // memory.
    unless_lost(|| {
        if !with_memory(|memory| memory.has(address, 8)) {
            lose(ERROR_ILLEGAL_ADDRESS);
            return state();
        }
        // SAFETY: the memory has the eight bytes, and all other users access this word atomically.
        let word = unsafe { AtomicU64::from_ptr(std::ptr::with_exposed_provenance_mut(address as usize)) };
        word.store(value, Ordering::Release);
        SUCCESS
    });
}

/// Writes a result through a pointer of the caller.
///
/// # Safety
/// The pointer is null, or valid for writing.
unsafe fn put<T>(to: *mut T, value: T) -> Code {
    if to.is_null() {
        return ERROR_INVALID_VALUE;
    }
    // SAFETY: `to` is not null, so that it is valid for writing, as this function's caller promises.
    unsafe { to.write(value) };
    SUCCESS
}

/// A handle: the address of a box that stays for ever.
fn handle<T>(object: T) -> *mut c_void {
    Box::into_raw(Box::new(object)).cast()
}

/// The object of a handle.
///
/// # Safety
/// The handle is null, or made by [`handle`] from such an object.
unsafe fn object<'a, T>(handle: *mut c_void) -> Option<&'a T> {
    // SAFETY: a handle that is not null points to an object that `handle` made and nobody frees.
    unsafe { handle.cast::<T>().as_ref() }
}

/// Declares functions of the driver.
macro_rules! driver {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The conditions of CUDA's function of this name.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "the name is CUDA's")]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> ::cloom_cuda_abi::Code $body
    )*};
}
pub(crate) use driver;

driver! {
    /// Starts the driver.
    fn cuInit(_flags: c_uint) {
        exit::start();
        SUCCESS
    }

    /// 12.8
    fn cuDriverGetVersion(version: *mut c_int) {
        // SAFETY: `version` is null or valid for writing, as CUDA asks of the caller.
        unsafe { put(version, 12_080) }
    }

    /// The name of an error.
    fn cuGetErrorName(code: Code, name: *mut *const c_char) {
        let text = match code {
            SUCCESS => c"CUDA_SUCCESS",
            ERROR_INVALID_VALUE => c"CUDA_ERROR_INVALID_VALUE",
            ERROR_OUT_OF_MEMORY => c"CUDA_ERROR_OUT_OF_MEMORY",
            ERROR_INVALID_DEVICE => c"CUDA_ERROR_INVALID_DEVICE",
            ERROR_INVALID_PTX => c"CUDA_ERROR_INVALID_PTX",
            ERROR_INVALID_HANDLE => c"CUDA_ERROR_INVALID_HANDLE",
            ERROR_NOT_FOUND => c"CUDA_ERROR_NOT_FOUND",
            ERROR_NOT_READY => c"CUDA_ERROR_NOT_READY",
            ERROR_ILLEGAL_ADDRESS => c"CUDA_ERROR_ILLEGAL_ADDRESS",
            ERROR_MISALIGNED_ADDRESS => c"CUDA_ERROR_MISALIGNED_ADDRESS",
            ERROR_LAUNCH_TIMEOUT => c"CUDA_ERROR_LAUNCH_TIMEOUT",
            ERROR_LAUNCH_FAILED => c"CUDA_ERROR_LAUNCH_FAILED",
            _ => return ERROR_INVALID_VALUE,
        };
        // SAFETY: `name` is null or valid for writing, as CUDA asks of the caller.
        unsafe { put(name, text.as_ptr()) }
    }

    /// How many there are.
    fn cuDeviceGetCount(count: *mut c_int) {
        // SAFETY: `count` is null or valid for writing, as CUDA asks of the caller.
        unsafe { put(count, devices() as c_int) }
    }

    /// A device's number is its ordinal.
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        if !(0..devices() as c_int).contains(&ordinal) {
            return ERROR_INVALID_DEVICE;
        }
        // SAFETY: `device` is null or valid for writing, as CUDA asks of the caller.
        unsafe { put(device, ordinal) }
    }

    /// Its name.
    fn cuDeviceGetName(name: *mut c_char, room: c_int, _device: c_int) {
        let bytes = NAME.to_bytes_with_nul();
        if name.is_null() || (room as usize) < bytes.len() {
            return ERROR_INVALID_VALUE;
        }
        // SAFETY: `name` is not null and has `room` bytes, as CUDA asks of the caller, which is enough.
        unsafe { name.copy_from_nonoverlapping(bytes.as_ptr().cast(), bytes.len()) };
        SUCCESS
    }

    /// Its unique number.
    fn cuDeviceGetUuid(uuid: *mut [u8; 16], device: c_int) {
        let mut name = *b"simulated gpu 00";
        name[15] += device as u8;
        // SAFETY: `uuid` is null or valid for writing, as CUDA asks of the caller.
        unsafe { put(uuid, name) }
    }

    /// The properties that Cloom asks for.
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int) {
        let answer = match attribute {
            // Shared memory of a block, and of one that asks for more.
            constants::DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK => 48 << 10,
            constants::DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => 99 << 10,
            // Registers of a block.
            constants::DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK => 64 << 10,
            // kHz
            constants::DEVICE_ATTRIBUTE_CLOCK_RATE => 1_000_000,
            constants::DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => number("CUDA_SIM_MULTIPROCESSORS").unwrap_or(MULTIPROCESSORS),
            // No limit of time, memory of its own.
            constants::DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT | constants::DEVICE_ATTRIBUTE_INTEGRATED => 0,
            // Domain, bus and device on the PCI bus.
            constants::DEVICE_ATTRIBUTE_PCI_DOMAIN_ID => 0,
            constants::DEVICE_ATTRIBUTE_PCI_BUS_ID => 1 + device,
            constants::DEVICE_ATTRIBUTE_PCI_DEVICE_ID => 0,
            // Copy engines.
            constants::DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT => 2,
            // Compute mode: open to all.
            constants::DEVICE_ATTRIBUTE_COMPUTE_MODE => 0,
            // The second-level cache.
            constants::DEVICE_ATTRIBUTE_L2_CACHE_SIZE => 4 << 20,
            // Compute capability 9.0.
            constants::DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => 9,
            constants::DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR => 0,
            // The host may use managed memory at any time.
            constants::DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS => 1,
            _ => return ERROR_INVALID_VALUE,
        };
        // SAFETY: `value` is null or valid for writing, as CUDA asks of the caller.
        unsafe { put(value, answer) }
    }

    /// The size of its memory.
    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) {
        // SAFETY: `bytes` is null or valid for writing, as CUDA asks of the caller.
        unsafe { put(bytes, CAPACITY) }
    }

    /// The only context of a device.
    fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: c_int) {
        // SAFETY: `context` is null or valid for writing, as CUDA asks of the caller.
        unsafe { put(context, context_of(device as u32)) }
    }

    /// The context stays.
    fn cuDevicePrimaryCtxRelease_v2(_device: c_int) { SUCCESS }

    /// The context of this thread.
    fn cuCtxGetCurrent(context: *mut *mut c_void) {
        // SAFETY: `context` is null or valid for writing, as CUDA asks of the caller.
        unsafe { put(context, CURRENT.get().map_or(std::ptr::null_mut(), context_of)) }
    }

    /// Makes a context current in this thread.
    fn cuCtxSetCurrent(context: *mut c_void) {
        let device = device_of(context);
        if device.is_none() && !context.is_null() {
            return ERROR_INVALID_VALUE;
        }
        CURRENT.set(device);
        SUCCESS
    }

    /// Memory of the device.
    fn cuMemAlloc_v2(address: *mut u64, size: usize) {
        // SAFETY: `address` is null or valid for writing, as CUDA asks of the caller.
        unsafe { allocate(address, size, Kind::Device(current())) }
    }

    /// Memory for the host and the device.
    fn cuMemAllocManaged(address: *mut u64, size: usize, _flags: c_uint) {
        // SAFETY: `address` is null or valid for writing, as CUDA asks of the caller.
        unsafe { allocate(address, size, Kind::Managed) }
    }

    /// Frees memory of either kind.
    fn cuMemFree_v2(address: u64) {
        fallible(|| if with_memory(|memory| memory.free(address)) { SUCCESS } else { ERROR_INVALID_VALUE })
    }

    /// Pinned memory of the host.
    fn cuMemHostAlloc(pointer: *mut *mut c_void, size: usize, _flags: c_uint) {
        let mut address = 0;
        // SAFETY: `address` is a variable of this function.
        match unsafe { allocate(&mut address, size, Kind::Pinned) } {
            // SAFETY: `pointer` is null or valid for writing, as CUDA asks of the caller.
            SUCCESS => unsafe { put(pointer, std::ptr::with_exposed_provenance_mut(address as usize)) },
            code => code,
        }
    }

    /// Frees pinned memory.
    fn cuMemFreeHost(pointer: *mut c_void) {
        fallible(|| match with_memory(|memory| memory.free(pointer.expose_provenance() as u64)) {
            true => SUCCESS,
            false => ERROR_INVALID_VALUE,
        })
    }

    /// Memory of a pool is like any other memory. A device has one pool, whose handle is that of the context.
    fn cuMemPoolCreate(pool: *mut *mut c_void, properties: *const PoolProperties) {
        // SAFETY: `properties` is null or points to a live value, as CUDA asks of the caller.
        match unsafe { properties.as_ref() } {
            Some(&PoolProperties {
                kind: constants::MEM_ALLOCATION_TYPE_PINNED,
                handles: 0,
                location: constants::MEM_LOCATION_TYPE_DEVICE,
                device,
                ..
                // SAFETY: `pool` is null or valid for writing, as CUDA asks of the caller.
            }) => unsafe { put(pool, context_of(device as u32)) },
            _ => ERROR_INVALID_VALUE,
        }
    }

    /// A pool has nothing to free.
    fn cuMemPoolDestroy(_pool: *mut c_void) { SUCCESS }

    /// A pool has no attributes.
    fn cuMemPoolSetAttribute(_pool: *mut c_void, _attribute: c_int, _value: *mut c_void) { SUCCESS }

    /// Memory of the device. It is there at once.
    fn cuMemAllocFromPoolAsync(address: *mut u64, size: usize, _pool: *mut c_void, _stream: *mut c_void) {
        // SAFETY: `address` is null or valid for writing, as CUDA asks of the caller.
        unsafe { allocate(address, size, Kind::Device(current())) }
    }

    /// Frees memory when its turn on the stream comes.
    fn cuMemFreeAsync(address: u64, stream: *mut c_void) {
        // SAFETY: `stream` is null or a stream's handle, and no object of a handle is freed.
        let Some(stream) = (unsafe { object::<Stream>(stream) }) else { return ERROR_INVALID_HANDLE };
        fallible(|| {
            stream.push(Box::new(move || {
                with_memory(|memory| memory.free(address));
            }));
            SUCCESS
        })
    }

    /// The allocation that an address is in.
    fn cuMemGetAddressRange_v2(begin: *mut u64, size: *mut usize, address: u64) {
        let Some((at, bytes, _)) = with_memory(|memory| memory.find(address)) else { return ERROR_INVALID_VALUE };
        // SAFETY: `begin` and `size` are null or valid for writing, as CUDA asks of the caller.
        unsafe { put(begin, at) | put(size, bytes) }
    }

    /// The type of the memory that an address is in, which is the only attribute that Cloom asks for.
    fn cuPointerGetAttribute(value: *mut c_void, attribute: c_int, address: u64) {
        let Some((_, _, kind)) = with_memory(|memory| memory.find(address)).filter(|_| attribute == 2) else {
            return ERROR_INVALID_VALUE;
        };
        // SAFETY: `value` is null or valid for writing a number, as CUDA asks of the caller.
        unsafe { put(value.cast::<u32>(), if kind == Kind::Pinned { 1 } else { 2 }) }
    }

    /// A stream.
    fn cuStreamCreate(stream: *mut *mut c_void, _flags: c_uint) {
        // SAFETY: `stream` is null or valid for writing, as CUDA asks of the caller.
        fallible(|| unsafe { put(stream, handle(Stream::new(current()))) })
    }

    /// The stream runs to its end.
    fn cuStreamDestroy_v2(_stream: *mut c_void) { SUCCESS }

    /// Waits for the stream.
    fn cuStreamSynchronize(stream: *mut c_void) {
        // SAFETY: `stream` is null or a stream's handle, and no object of a handle is freed.
        let Some(stream) = (unsafe { object::<Stream>(stream) }) else { return ERROR_INVALID_HANDLE };
        stream.synchronize();
        state()
    }

    /// Lets the stream wait until a word is at least this large.
    fn cuStreamWaitValue32_v2(stream: *mut c_void, address: u64, value: u32, flags: c_uint) {
        // SAFETY: `stream` is null or a stream's handle, and no object of a handle is freed.
        let Some(stream) = (unsafe { object::<Stream>(stream) }) else { return ERROR_INVALID_HANDLE };
        if flags != 0 || !with_memory(|memory| memory.has(address, 4)) {
            return ERROR_INVALID_VALUE;
        }
        stream.push(Box::new(move || {
            // SAFETY: `has` found the four bytes when the wait was added, and all other users access this word
            // atomically.
            let word = unsafe { AtomicU32::from_ptr(std::ptr::with_exposed_provenance_mut(address as usize)) };
            // CUDA's comparison is cyclic: after an overflow, a small word counts as larger than a value shortly before
            // 2^32. No lock is held while the stream waits, since the kernels that it waits for need all memory.
            // After a fault nothing writes the word any more.
            while (word.load(Ordering::Acquire).wrapping_sub(value) as i32) < 0 && state() == SUCCESS {
                std::thread::yield_now();
            }
        }));
        SUCCESS
    }

    /// Lets the stream write a word.
    fn cuStreamWriteValue64_v2(stream: *mut c_void, address: u64, value: u64, flags: c_uint) {
        // SAFETY: `stream` is null or a stream's handle, and no object of a handle is freed.
        let Some(stream) = (unsafe { object::<Stream>(stream) }) else { return ERROR_INVALID_HANDLE };
        if flags != 0 || !address.is_multiple_of(8) {
            return ERROR_INVALID_VALUE;
        }
        stream.push(Box::new(move || write_value(address, value)));
        state()
    }

    /// An event.
    fn cuEventCreate(event: *mut *mut c_void, _flags: c_uint) {
        // SAFETY: `event` is null or valid for writing, as CUDA asks of the caller.
        fallible(|| unsafe { put(event, handle(Arc::new(Mark::default()))) })
    }

    /// The object stays.
    fn cuEventDestroy_v2(_event: *mut c_void) { SUCCESS }

    /// Records an event after everything on the stream.
    fn cuEventRecord(event: *mut c_void, stream: *mut c_void) {
        // SAFETY: `event` and `stream` are null or handles of such objects, and no object of a handle is freed.
        let both = unsafe { (object::<Arc<Mark>>(event), object::<Stream>(stream)) };
        let (Some(event), Some(stream)) = both else { return ERROR_INVALID_HANDLE };
        event.record(stream);
        state()
    }

    /// Whether an event was reached.
    fn cuEventQuery(event: *mut c_void) {
        // SAFETY: `event` is null or an event's handle, and no object of a handle is freed.
        let Some(event) = (unsafe { object::<Arc<Mark>>(event) }) else { return ERROR_INVALID_HANDLE };
        if event.has_come() { state() } else { ERROR_NOT_READY }
    }

    /// Waits for an event.
    fn cuEventSynchronize(event: *mut c_void) {
        // SAFETY: `event` is null or an event's handle, and no object of a handle is freed.
        let Some(event) = (unsafe { object::<Arc<Mark>>(event) }) else { return ERROR_INVALID_HANDLE };
        event.wait();
        state()
    }

    /// Milliseconds between two events.
    fn cuEventElapsedTime(milliseconds: *mut f32, begin: *mut c_void, end: *mut c_void) {
        // SAFETY: `begin` and `end` are null or handles of events, and no object of a handle is freed.
        let both = unsafe { (object::<Arc<Mark>>(begin), object::<Arc<Mark>>(end)) };
        let times = both.0.zip(both.1).and_then(|(begin, end)| begin.time().zip(end.time()));
        let Some((begin, end)) = times else { return ERROR_INVALID_HANDLE };
        // SAFETY: `milliseconds` is null or valid for writing, as CUDA asks of the caller.
        unsafe { put(milliseconds, end.saturating_duration_since(begin).as_secs_f32() * 1000.0) }
    }
}

/// Allocates.
///
/// # Safety
/// The pointer is null, or valid for writing.
unsafe fn allocate(address: *mut u64, size: usize, kind: Kind) -> Code {
    fallible(|| match with_memory(|memory| memory.allocate(size, kind)) {
        // SAFETY: `address` is null or valid for writing, as this function's caller promises.
        Some(fresh) => unsafe { put(address, fresh) },
        None => ERROR_OUT_OF_MEMORY,
    })
}
