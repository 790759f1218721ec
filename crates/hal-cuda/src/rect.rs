//! Boxes of bytes: rows with gaps between them, in memory of a GPU.
//!
//! One call of the driver copies the rows of one slice, and it copies rows without gaps fastest. So a box that goes to
//! the host is gathered on the GPU first, and one that comes from there is scattered on the GPU: the bus sees one
//! transfer, which is staged like any other. The offsets of a box are addresses of the GPU here.

use crate::context::{Current, Gpu};
use crate::library::{Copy2d, RawStream, Side2d};
use crate::memory::{self, DeviceBlock};
use crate::transfer::Staging;
use cloom_cuda_abi::constants::MEMORYTYPE_DEVICE;
use cloom_hal::{HalError, Rect};
use cloom_hal_gpu::rect::{chunks, packed, rows_first};
use std::ptr::null_mut;
use std::sync::Arc;

/// The longest distance of rows that one call takes: `CU_DEVICE_ATTRIBUTE_MAX_PITCH` of every GPU.
const MAX_PITCH: u64 = (1 << 31) - 1;

/// Copies a box to the host.
pub fn read(gpu: &Arc<Gpu>, staging: &Staging, from: Rect, to: &mut [u8]) -> Result<(), HalError> {
    let mut rest = to;
    for chunk in chunks(from) {
        let (bytes, others) = rest.split_at_mut(chunk.bytes() as usize);
        let block = DeviceBlock::allocate(gpu, chunk.bytes())?;
        // Each step is waited for, so that the block may be freed at the end of the loop's body.
        copy(gpu, packed(block.address(), chunk.region), chunk)?;
        staging.read(gpu, block.address(), bytes)?;
        rest = others;
    }
    Ok(())
}

/// Copies a box from the host.
pub fn write(gpu: &Arc<Gpu>, staging: &Staging, to: Rect, from: &[u8]) -> Result<(), HalError> {
    let mut rest = from;
    for chunk in chunks(to) {
        let (bytes, others) = rest.split_at(chunk.bytes() as usize);
        let block = DeviceBlock::allocate(gpu, chunk.bytes())?;
        staging.write(gpu, block.address(), bytes)?;
        copy(gpu, chunk, packed(block.address(), chunk.region))?;
        rest = others;
    }
    Ok(())
}

/// Copies a box to another one of the same region, which it does not overlap.
pub fn copy(gpu: &Gpu, to: Rect, from: Rect) -> Result<(), HalError> {
    let current = gpu.enter()?;
    let stream = current.stream()?;
    let begun = copy_rows(&current, stream.raw, to, from);
    let ended = current.synchronize(stream.raw);
    begun.and(ended.map_err(HalError::from))
}

/// Repeats a pattern in each row: in the first row, then by copying the filled rows to as many more, then in each
/// slice.
pub fn fill(gpu: &Gpu, to: Rect, pattern: &[u8]) -> Result<(), HalError> {
    let [width, height, depth] = to.region;
    if to.bytes() == 0 || pattern.is_empty() {
        return Ok(());
    }
    let current = gpu.enter()?;
    let stream = current.stream()?;
    let begun = (|| {
        // The stream keeps the copies in order: each one finds the rows filled that it reads.
        memory::fill(&current, stream.raw, to.start, width as usize, pattern)?;
        let rows = |first: u64, rows: u64| Rect { region: [width, rows, 1], ..to.at(to.start + first * to.row_pitch) };
        let mut done = 1;
        while done < height {
            let more = done.min(height - done);
            copy_rows(&current, stream.raw, rows(done, more), rows(0, more))?;
            done += more;
        }
        let slice = rows(0, height);
        (1..depth).try_for_each(|z| copy_rows(&current, stream.raw, slice.at(slice.start + z * to.slice_pitch), slice))
    })();
    let ended = current.synchronize(stream.raw);
    begun.and(ended.map_err(HalError::from))
}

/// Copies rows on the device, without waiting.
fn copy_rows(current: &Current<'_>, stream: RawStream, to: Rect, from: Rect) -> Result<(), HalError> {
    let (to, from) = rows_first(to, from);
    let [width, height, depth] = from.region;
    // A single row may be longer than the pitch that the call for many rows takes.
    let at_once = height > 1 && to.row_pitch.max(from.row_pitch) <= MAX_PITCH;
    let side = |start: u64, pitch: u64| Side2d {
        origin: [0; 2],
        kind: MEMORYTYPE_DEVICE,
        host: null_mut(),
        device: start,
        array: null_mut(),
        pitch: pitch as usize,
    };
    for z in 0..depth {
        let (to, from) = (to.at(to.start + z * to.slice_pitch), from.at(from.start + z * from.slice_pitch));
        if at_once {
            let (from, to) = (side(from.start, from.row_pitch), side(to.start, to.row_pitch));
            let copy = Copy2d { from, to, width: width as usize, height: height as usize };
            // SAFETY: both boxes lie in live memory, which callers check, and the memory lives until the stream has
            // been waited for.
            current.check("cuMemcpy2DAsync", unsafe { (current.table().memcpy_2d)(&copy, stream) })?;
        } else {
            for y in 0..height {
                let (to, from) = (to.start + y * to.row_pitch, from.start + y * from.row_pitch);
                memory::copy(current, stream, to, from, width)?;
            }
        }
    }
    Ok(())
}
