//! Copies and fills. They are checked in the call, and executed when their turn on the stream comes.

use crate::stream::Stream;
use crate::{driver, fallible, object, unless_lost, with_memory};
use cloom_cuda_abi::Code;
use cloom_cuda_abi::constants::{ERROR_INVALID_HANDLE, ERROR_INVALID_VALUE, MEMORYTYPE_DEVICE, SUCCESS};
use cloom_cuda_abi::{Copy2d, Side2d};
use std::ffi::{c_uint, c_void};

/// An address that a stream uses later.
#[derive(Clone, Copy)]
struct Place(*mut u8);

// SAFETY: the application keeps the memory until the stream has used it, as CUDA asks, and no reference to it exists
// here.
unsafe impl Send for Place {}

impl Place {
    fn at(address: u64) -> Place {
        Place(std::ptr::with_exposed_provenance_mut(address as usize))
    }

    /// The address so many bytes further on.
    fn plus(self, bytes: usize) -> *mut u8 {
        self.0.wrapping_add(bytes)
    }
}

/// Rows to copy.
#[derive(Clone, Copy)]
struct Rows {
    to: Place,
    from: Place,
    to_pitch: usize,
    from_pitch: usize,
    width: usize,
    height: usize,
}

/// Adds a copy to a stream.
///
/// # Safety
/// Both sides stay valid until the stream has executed the copy, and the handle is null or that of a stream.
unsafe fn copy(stream: *mut c_void, rows: Rows) -> Code {
    // SAFETY: `stream` is null or a stream's handle, and no object of a handle is freed.
    let Some(stream) = (unsafe { object::<Stream>(stream) }) else { return ERROR_INVALID_HANDLE };
    fallible(|| {
        stream.push(Box::new(move || {
            // A transfer that follows a fault does nothing.
            unless_lost(|| {
                let Rows { to, from, to_pitch, from_pitch, width, height } = rows;
                for y in 0..height {
                    // SAFETY: both sides stay valid until the stream has come here, as the caller of `copy` promises.
                    unsafe { std::ptr::copy(from.plus(y * from_pitch), to.plus(y * to_pitch), width) };
                }
                SUCCESS
            });
        }));
        SUCCESS
    })
}

fn line(to: Place, from: Place, width: usize) -> Rows {
    Rows { to, from, to_pitch: 0, from_pitch: 0, width, height: 1 }
}

fn are_allocated(ranges: &[(u64, usize)]) -> bool {
    with_memory(|memory| ranges.iter().all(|&(address, size)| memory.has(address, size)))
}

/// The longest pitch that a GPU takes.
const MAX_PITCH: usize = i32::MAX as usize;

driver! {
    /// Copies from the host.
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, size: usize, stream: *mut c_void) {
        if !are_allocated(&[(to, size)]) {
            return ERROR_INVALID_VALUE;
        }
        // SAFETY: the device's side is an allocation, and the application keeps its side valid until the stream has
        // used it.
        unsafe { copy(stream, line(Place::at(to), Place(from.cast_mut().cast()), size)) }
    }

    /// Copies to the host.
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, size: usize, stream: *mut c_void) {
        if !are_allocated(&[(from, size)]) {
            return ERROR_INVALID_VALUE;
        }
        // SAFETY: the device's side is an allocation, and the application keeps its side valid until the stream has
        // used it.
        unsafe { copy(stream, line(Place(to.cast()), Place::at(from), size)) }
    }

    /// Copies on the device.
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, size: usize, stream: *mut c_void) {
        if !are_allocated(&[(to, size), (from, size)]) {
            return ERROR_INVALID_VALUE;
        }
        // SAFETY: both sides are allocations, and `stream` is null or a stream's handle.
        unsafe { copy(stream, line(Place::at(to), Place::at(from), size)) }
    }

    /// Copies rows on the device.
    fn cuMemcpy2DAsync_v2(what: *const Copy2d, stream: *mut c_void) {
        // SAFETY: `what` is null or points to a description of the copy, as CUDA asks of the caller.
        let Some(Copy2d { from, to, width, height }) = (unsafe { what.as_ref() }) else { return ERROR_INVALID_VALUE };
        // After the last row nothing needs to be there: the pitch counts between rows only.
        let size = |side: &Side2d| side.pitch * height.saturating_sub(1) + width;
        let is_good = |side: &Side2d| {
            let plain = side.origin == [0; 2] && side.kind == MEMORYTYPE_DEVICE && side.host.is_null() && side.array.is_null();
            plain && (*width..=MAX_PITCH).contains(&side.pitch)
        };
        if !is_good(from) || !is_good(to) || !are_allocated(&[(from.device, size(from)), (to.device, size(to))]) {
            return ERROR_INVALID_VALUE;
        }
        let (to_pitch, from_pitch, to, from) = (to.pitch, from.pitch, Place::at(to.device), Place::at(from.device));
        // SAFETY: both sides are allocations, and `stream` is null or a stream's handle.
        unsafe { copy(stream, Rows { to, from, to_pitch, from_pitch, width: *width, height: *height }) }
    }

    /// Repeats a byte.
    fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: *mut c_void) {
        // SAFETY: `stream` is null or a stream's handle, and `fill` checks the range.
        unsafe { fill(to, [value], count, stream) }
    }

    /// Repeats two bytes.
    fn cuMemsetD16Async(to: u64, value: u16, count: usize, stream: *mut c_void) {
        // SAFETY: `stream` is null or a stream's handle, and `fill` checks the range.
        unsafe { fill(to, value.to_le_bytes(), count, stream) }
    }

    /// Repeats four bytes.
    fn cuMemsetD32Async(to: u64, value: c_uint, count: usize, stream: *mut c_void) {
        // SAFETY: `stream` is null or a stream's handle, and `fill` checks the range.
        unsafe { fill(to, value.to_le_bytes(), count, stream) }
    }
}

/// Adds a fill to a stream.
///
/// # Safety
/// The handle is null or that of a stream, and the range stays valid until the stream has executed the fill.
unsafe fn fill<const N: usize>(to: u64, value: [u8; N], count: usize, stream: *mut c_void) -> Code {
    // SAFETY: `stream` is null or a stream's handle, and no object of a handle is freed.
    let Some(stream) = (unsafe { object::<Stream>(stream) }) else { return ERROR_INVALID_HANDLE };
    // CUDA wants a destination aligned to the element that is repeated.
    if !to.is_multiple_of(N as u64) || !are_allocated(&[(to, count * N)]) {
        return ERROR_INVALID_VALUE;
    }
    let place = Place::at(to);
    fallible(|| {
        stream.push(Box::new(move || {
            unless_lost(|| {
                for i in 0..count {
                    // SAFETY: the range was checked.
                    unsafe { place.plus(i * N).copy_from_nonoverlapping(value.as_ptr(), N) };
                }
                SUCCESS
            });
        }));
        SUCCESS
    })
}
