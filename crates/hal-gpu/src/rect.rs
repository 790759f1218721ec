//! Boxes of bytes, and how they are divided for a device that copies the rows of one slice by one call, and rows
//! without gaps fastest. No memory is touched here.

use crate::tuning::MAX_GATHERED_BYTES;
use cloom_hal::Rect;

/// A box without gaps.
pub fn packed(start: u64, region: [u64; 3]) -> Rect {
    Rect { start, row_pitch: region[0], slice_pitch: region[0] * region[1], region }
}

/// The chunks of a box that are moved one after another.
pub fn chunks(whole: Rect) -> impl Iterator<Item = Rect> {
    let fits = whole.bytes() <= MAX_GATHERED_BYTES;
    fits.then_some(whole).into_iter().chain((!fits).then(|| whole.parts(MAX_GATHERED_BYTES)).into_iter().flatten())
}

/// If both boxes have slices of one row, these slices as the rows of one slice.
pub fn rows_first(to: Rect, from: Rect) -> (Rect, Rect) {
    // A slice is one call of the driver. Slices of one row each would be as many calls as rows.
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
    fn a_box_is_gathered_whole_or_in_chunks_that_fit() {
        let rect = |region| Rect { start: 7, row_pitch: 3 << 20, slice_pitch: 3 << 30, region };
        assert_eq!(chunks(rect([1 << 20, 4, 4])).collect::<Vec<_>>(), [rect([1 << 20, 4, 4])]);
        let large = rect([1 << 20, 300, 2]);
        let several: Vec<Rect> = chunks(large).collect();
        assert!(several.iter().all(|chunk| chunk.bytes() <= MAX_GATHERED_BYTES) && several.len() == 4, "{several:?}");
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
