//! Rectangles in buffers: origins, regions and pitches as the rectangular transfers give them, checked.

use crate::Result;
use crate::status::ensure;
use cloom_hal::Rect;

/// One side of a rectangular transfer, in bytes, rows and slices. A pitch of 0 means packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RectSide {
    /// Where it begins.
    pub origin: [u64; 3],
    /// Bytes from row to row.
    pub row_pitch: u64,
    /// Bytes from slice to slice.
    pub slice_pitch: u64,
}

impl RectSide {
    // OpenCL 3.0 API, 5.2.2: Reading, Writing and Copying Buffer Objects.
    /// The box of so many bytes, rows and slices, its pitches settled and checked.
    pub fn settle(&self, region: [u64; 3]) -> Result<Rect> {
        let [width, height, depth] = region;
        ensure!(width > 0 && height > 0 && depth > 0, InvalidValue, "a region of {width} x {height} x {depth} bytes");
        let row_pitch = if self.row_pitch == 0 { width } else { self.row_pitch };
        ensure!(row_pitch >= width, InvalidValue, "the row pitch, {row_pitch}, is less than a row of {width} bytes");
        let slice = row_pitch.checked_mul(height);
        let slice_pitch = if self.slice_pitch == 0 { slice } else { Some(self.slice_pitch) };
        let settled = slice.zip(slice_pitch);
        ensure!(
            settled.is_some_and(|(slice, pitch)| pitch >= slice && (self.slice_pitch == 0 || pitch % row_pitch == 0)),
            InvalidValue,
            "the slice pitch, {}, is less than {height} rows of {row_pitch} bytes or not a multiple of the row pitch",
            self.slice_pitch
        );
        let slice_pitch = slice_pitch.unwrap_or(0);
        let [x, y, z] = self.origin;
        let place =
            |z: u64, y: u64, x: u64| z.checked_mul(slice_pitch)?.checked_add(y.checked_mul(row_pitch)?)?.checked_add(x);
        let start = place(z, y, x);
        // The end of the last row: if that does not overflow, no byte of the box does.
        let last = (|| start?.checked_add(place(depth - 1, height - 1, width)?))();
        ensure!(start.is_some() && last.is_some(), InvalidValue, "origin {:?} lies beyond any memory", self.origin);
        Ok(Rect { start: start.unwrap_or(0), row_pitch, slice_pitch, region })
    }
}

/// A box of bytes, rows and slices, as it lies on both sides of a rectangular transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RectPair {
    /// Where it is read.
    pub source: RectSide,
    /// Where it is written.
    pub target: RectSide,
    /// Its size.
    pub region: [u64; 3],
}

impl RectPair {
    /// Both boxes, checked.
    pub(crate) fn settle(&self) -> Result<(Rect, Rect)> {
        Ok((self.source.settle(self.region)?, self.target.settle(self.region)?))
    }
}

/// A box at the start of memory, where slices may lie closer than whole rows.
pub(crate) fn box_at_start(region: [u64; 3], row_pitch: u64, slice_pitch: u64) -> Result<Rect> {
    let [width, height, depth] = region;
    let slice = RectSide { origin: [0; 3], row_pitch, slice_pitch: 0 }.settle([width, height, 1])?;
    let last = slice_pitch.checked_mul(depth - 1).and_then(|n| n.checked_add(slice.end()));
    ensure!(last.is_some(), InvalidValue, "a box with slices of {slice_pitch} bytes lies beyond any memory");
    Ok(Rect { slice_pitch, region, ..slice })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(origin: [u64; 3], row_pitch: u64, slice_pitch: u64, region: [u64; 3]) -> Result<Rect> {
        RectSide { origin, row_pitch, slice_pitch }.settle(region)
    }

    #[test]
    fn pitches_default_to_packed_and_rows_are_where_the_formula_says() {
        let r = rect([1, 2, 1], 10, 0, [3, 2, 2]).unwrap();
        assert_eq!((r.row_pitch, r.slice_pitch), (10, 20));
        assert_eq!(r.rows().collect::<Vec<_>>(), [41, 51, 61, 71]);
        assert_eq!(r.end(), 74);
    }

    #[test]
    fn impossible_pitches_and_regions_are_refused() {
        assert!(rect([0; 3], 0, 0, [0, 1, 1]).is_err());
        assert!(rect([0; 3], 3, 0, [4, 1, 1]).is_err());
        assert!(rect([0; 3], 4, 7, [4, 2, 2]).is_err(), "less than a slice");
        assert!(rect([0; 3], 4, 9, [4, 2, 2]).is_err(), "not a multiple of the row pitch");
        assert!(rect([u64::MAX, 1, 1], 4, 8, [4, 2, 2]).is_err(), "wraps");
        assert!(rect([0; 3], u64::MAX, 0, [4, 2, 1]).is_err(), "wraps");
    }

    #[test]
    fn overlap_is_exact() {
        let at = |x, y| rect([x, y, 0], 16, 0, [4, 4, 1]).unwrap();
        assert!(at(0, 0).overlaps(&at(3, 3)));
        assert!(!at(0, 0).overlaps(&at(4, 0)), "side by side");
        assert!(!at(0, 0).overlaps(&at(0, 4)), "below");
        assert!(at(14, 0).overlaps(&at(0, 1)), "a row that wraps into the next");
    }

    #[test]
    fn overlap_agrees_with_counting_bytes() {
        let mut state = 1u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let (mut met, mut apart) = (0, 0);
        for _ in 0..20_000 {
            let region = [1 + below(6), 1 + below(4), 1 + below(3)];
            let row_pitch = region[0] + below(6);
            let slice_pitch = row_pitch * (region[1] + below(3));
            let mut side = || rect([below(9), below(6), below(4)], row_pitch, slice_pitch, region).unwrap();
            let (a, b) = (side(), side());
            let bytes =
                |r: &Rect| r.rows().flat_map(|row| row..row + r.region[0]).collect::<std::collections::BTreeSet<_>>();
            let (x, y) = (bytes(&a), bytes(&b));
            assert_eq!(x.len() as u64, region.iter().product::<u64>(), "rows are disjoint");
            assert_eq!((x.first(), x.last().map(|l| l + 1)), (Some(&a.start), Some(a.end())));
            let wanted = !x.is_disjoint(&y);
            assert_eq!(a.overlaps(&b), wanted, "{a:?} {b:?}");
            *(if wanted { &mut met } else { &mut apart }) += 1;
        }
        assert!(met > 1000 && apart > 1000, "{met} {apart}");
    }
}
