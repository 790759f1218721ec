//! Boxes of bytes: rows with gaps between them, in memory of a GPU.
//!
//! The driver moves the rows of one slice by one call, and rows without gaps fastest. So a box that goes to the host is
//! gathered on the GPU first, and one that comes from there is scattered on it: the bus sees one transfer, which is
//! staged like any other. A box here has the GPU's addresses for its offsets.

use crate::context::{Current, Gpu};
use crate::library::{Copy2d, RawStream, Side2d};
use crate::memory::{self, DeviceBlock};
use crate::transfer::Staging;
use cloom_cuda_abi::constants::MEMORYTYPE_DEVICE;
use cloom_hal::{HalError, Rect};
use std::ptr::null_mut;
use std::sync::Arc;

/// The longest distance of rows that one call takes: `CU_DEVICE_ATTRIBUTE_MAX_PITCH` of every GPU.
const MAX_PITCH: u64 = (1 << 31) - 1;
/// Bytes that are gathered or scattered at once.
const GATHERED: u64 = 256 << 20;

/// Copies a box to the host.
pub fn read(gpu: &Arc<Gpu>, staging: &Staging, from: Rect, to: &mut [u8]) -> Result<(), HalError> {
    let mut rest = to;
    for part in parts(from) {
        let (bytes, others) = rest.split_at_mut(part.bytes() as usize);
        let block = DeviceBlock::allocate(gpu, part.bytes())?;
        copy(gpu, packed(block.address(), part.region), part)?;
        staging.read(gpu, block.address(), bytes)?;
        rest = others;
    }
    Ok(())
}

/// Copies a box from the host.
pub fn write(gpu: &Arc<Gpu>, staging: &Staging, to: Rect, from: &[u8]) -> Result<(), HalError> {
    let mut rest = from;
    for part in parts(to) {
        let (bytes, others) = rest.split_at(part.bytes() as usize);
        let block = DeviceBlock::allocate(gpu, part.bytes())?;
        staging.write(gpu, block.address(), bytes)?;
        copy(gpu, part, packed(block.address(), part.region))?;
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

/// Repeats a pattern in each row: in the first one, then in as many more as there are already, then in each slice.
pub fn fill(gpu: &Gpu, to: Rect, pattern: &[u8]) -> Result<(), HalError> {
    let [width, height, depth] = to.region;
    if to.bytes() == 0 || pattern.is_empty() {
        return Ok(());
    }
    let current = gpu.enter()?;
    let stream = current.stream()?;
    let begun = (|| {
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

/// A box without gaps.
fn packed(start: u64, region: [u64; 3]) -> Rect {
    Rect { start, row_pitch: region[0], slice_pitch: region[0] * region[1], region }
}

/// The parts of a box that are moved one after another.
fn parts(whole: Rect) -> impl Iterator<Item = Rect> {
    let fits = whole.bytes() <= GATHERED;
    fits.then_some(whole).into_iter().chain((!fits).then(|| whole.parts(GATHERED)).into_iter().flatten())
}

/// Copies rows on the device, without waiting.
fn copy_rows(current: &Current<'_>, stream: RawStream, to: Rect, from: Rect) -> Result<(), HalError> {
    let (to, from) = rows_first(to, from);
    let [width, height, depth] = from.region;
    // A single row may be longer than what the call for many takes.
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
            // SAFETY: the callers have checked both boxes, whose memory lives until the stream has been waited for.
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

/// Slices of one row are the rows of one slice.
fn rows_first(to: Rect, from: Rect) -> (Rect, Rect) {
    let turned = |rect: Rect| match rect.region {
        [width, 1, depth] => Rect { row_pitch: rect.slice_pitch, region: [width, depth, 1], ..rect },
        _ => rect,
    };
    (turned(to), turned(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_gathered_whole_or_in_parts_that_fit() {
        let rect = |region| Rect { start: 7, row_pitch: 3 << 20, slice_pitch: 3 << 30, region };
        assert_eq!(parts(rect([1 << 20, 4, 4])).collect::<Vec<_>>(), [rect([1 << 20, 4, 4])]);
        let large = rect([1 << 20, 300, 2]);
        let several: Vec<Rect> = parts(large).collect();
        assert!(several.iter().all(|part| part.bytes() <= GATHERED) && several.len() == 4, "{several:?}");
        assert!(several.iter().flat_map(Rect::rows).eq(large.rows()));
    }

    #[test]
    fn slices_of_one_row_are_one_call() {
        let rect = Rect { start: 0, row_pitch: 4, slice_pitch: 64, region: [4, 1, 9] };
        let (turned, _) = rows_first(rect, rect);
        assert_eq!((turned.region, turned.row_pitch), ([4, 9, 1], 64));
        assert!(turned.rows().eq(rect.rows()));
    }
}
