//! Memory that a helper has.

use crate::process::Helper;
use crate::wire::{MAX_BYTES, Reply, Request, bounds};
use cloom_hal::{HalError, Memory, Rect, assert_in_range, copy_through_host};
use std::any::Any;
use std::sync::Arc;

/// Memory of a GPU of a helper.
pub struct RemoteMemory {
    pub helper: Arc<Helper>,
    /// Its GPU, whose memory it can copy.
    device: u32,
    pub number: u64,
    address: u64,
    size: u64,
}

impl RemoteMemory {
    /// Fresh memory.
    pub fn allocate(helper: Arc<Helper>, device: u32, size: u64) -> Result<RemoteMemory, HalError> {
        loop {
            match helper.call(&Request::Allocate { device, size }, &[], &mut [])? {
                Reply::Memory(number, address) if helper.has_memory(address, size) => {
                    return Ok(RemoteMemory { helper, device, number, address, size });
                }
                // What cannot be used stays allocated, so that the next is elsewhere.
                Reply::Memory(..) => {}
                other => return Err(other.unexpected()),
            }
        }
    }

    /// The memory as one of this GPU of this helper.
    fn sibling<'a>(&self, other: &'a dyn Memory) -> Option<&'a RemoteMemory> {
        let other: &'a dyn Any = other;
        other
            .downcast_ref::<RemoteMemory>()
            .filter(|other| other.device == self.device && Arc::ptr_eq(&other.helper, &self.helper))
    }

    fn check(&self, rect: &Rect) {
        assert_in_range(rect.start, rect.span(), self.size);
    }
}

/// A row.
fn row(start: u64, size: u64) -> Rect {
    Rect { start, row_pitch: size, slice_pitch: size, region: [size, 1, 1] }
}

/// The parts of a box that fit into a message: rows of it, or of a row that is too long, pieces.
fn parts(rect: &Rect) -> impl Iterator<Item = Rect> + use<> {
    // A row that is longer than a message comes alone, so that its pieces are in the order of the bytes.
    rect.parts(MAX_BYTES).flat_map(|rows| {
        let [width, height, _] = rows.region;
        let piece = move |x: u64| Rect { start: rows.start + x, region: [MAX_BYTES.min(width - x), height, 1], ..rows };
        (0..width).step_by(MAX_BYTES as usize).map(piece)
    })
}

impl Memory for RemoteMemory {
    fn size(&self) -> u64 {
        self.size
    }

    fn device_address(&self) -> u64 {
        self.address
    }

    fn host_address(&self) -> Option<usize> {
        None
    }

    fn read(&self, offset: u64, to: &mut [u8]) -> Result<(), HalError> {
        self.read_rect(&row(offset, to.len() as u64), to)
    }

    fn write(&self, offset: u64, from: &[u8]) -> Result<(), HalError> {
        self.write_rect(&row(offset, from.len() as u64), from)
    }

    fn copy_from(&self, offset: u64, source: &dyn Memory, source_offset: u64, size: u64) -> Result<(), HalError> {
        // The helper copies within a GPU. Between two GPUs, or from a lost helper, bytes come here and go back.
        if self.sibling(source).is_some() {
            return self.copy_rect(&row(offset, size), source, &row(source_offset, size));
        }
        copy_through_host(self, offset, source, source_offset, size)
    }

    fn fill(&self, offset: u64, size: u64, pattern: &[u8]) -> Result<(), HalError> {
        self.fill_rect(&row(offset, size), pattern)
    }

    fn read_rect(&self, from: &Rect, to: &mut [u8]) -> Result<(), HalError> {
        self.check(from);
        let mut rest = to;
        for part in parts(from) {
            let (now, later) = rest.split_at_mut(part.bytes() as usize);
            self.helper.order(&Request::Read { memory: self.number, from: bounds(&part) }, &[], now)?;
            rest = later;
        }
        Ok(())
    }

    fn write_rect(&self, to: &Rect, from: &[u8]) -> Result<(), HalError> {
        self.check(to);
        let mut rest = from;
        for part in parts(to) {
            let (now, later) = rest.split_at(part.bytes() as usize);
            self.helper.order(&Request::Write { memory: self.number, to: bounds(&part) }, now, &mut [])?;
            rest = later;
        }
        Ok(())
    }

    fn copy_rect(&self, to: &Rect, source: &dyn Memory, from: &Rect) -> Result<(), HalError> {
        let Some(sibling) = self.sibling(source) else {
            return to
                .rows()
                .zip(from.rows())
                .try_for_each(|(to, from_row)| copy_through_host(self, to, source, from_row, from.region[0]));
        };
        self.check(to);
        sibling.check(from);
        let request = Request::Copy { memory: self.number, to: bounds(to), source: sibling.number, from: bounds(from) };
        self.helper.order(&request, &[], &mut [])
    }

    fn fill_rect(&self, to: &Rect, pattern: &[u8]) -> Result<(), HalError> {
        self.check(to);
        let request = Request::Fill { memory: self.number, to: bounds(to), pattern: pattern.to_vec() };
        self.helper.order(&request, &[], &mut [])
    }
}

impl Drop for RemoteMemory {
    fn drop(&mut self) {
        self.helper.free(self.address, self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_box_in_order_and_fit() {
        let most = MAX_BYTES;
        for (width, height, depth) in
            [(0, 1, 1), (1, 1, 1), (most, 3, 2), (most + 1, 2, 2), (3 * most + 7, 1, 1), (9, 5, 4)]
        {
            let rect = Rect {
                start: 11,
                row_pitch: width + 5,
                slice_pitch: (width + 5) * height,
                region: [width, height, depth],
            };
            let mut expected =
                rect.rows().map(|row| row..row + width).filter(|row| !row.is_empty()).collect::<Vec<_>>();
            for part in parts(&rect) {
                assert!(part.bytes() > 0 && part.bytes() <= most, "{part:?}");
                for start in part.rows() {
                    let row = &mut expected[0];
                    assert_eq!(row.start, start, "{part:?}");
                    row.start += part.region[0];
                    if row.is_empty() {
                        expected.remove(0);
                    }
                }
            }
            assert!(expected.is_empty(), "{expected:?}");
        }
    }
}
