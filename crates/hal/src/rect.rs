//! Boxes of bytes in memory: rows at equal distances, in slices at equal distances.

/// A box of bytes. The offsets of its rows lie in the memory that it is used with; the caller has checked that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rect {
    /// Offset of the first byte.
    pub start: u64,
    /// Bytes from row to row.
    pub row_pitch: u64,
    /// Bytes from slice to slice.
    pub slice_pitch: u64,
    /// Bytes of a row, rows of a slice, slices.
    pub region: [u64; 3],
}

impl Rect {
    /// Bytes, without those between the rows.
    pub fn bytes(&self) -> u64 {
        self.region.iter().product()
    }

    /// Offset after the last byte.
    pub fn end(&self) -> u64 {
        let [width, height, depth] = self.region;
        self.start + (depth - 1) * self.slice_pitch + (height - 1) * self.row_pitch + width
    }

    /// Bytes from the first to the last one.
    pub fn span(&self) -> u64 {
        self.end() - self.start
    }

    /// The same box at another place.
    pub fn at(&self, start: u64) -> Rect {
        Rect { start, ..*self }
    }

    /// The offset of the first byte of each row.
    pub fn rows(&self) -> impl Iterator<Item = u64> + use<> {
        let Rect { start, row_pitch, slice_pitch, region: [_, height, depth] } = *self;
        (0..depth).flat_map(move |z| (0..height).map(move |y| start + z * slice_pitch + y * row_pitch))
    }

    /// Whether its rows and slices follow one another without gaps.
    pub fn is_packed(&self) -> bool {
        let [width, height, depth] = self.region;
        (height == 1 || self.row_pitch == width) && (depth == 1 || self.slice_pitch == width * height)
    }

    /// The same box in parts of one slice and of at most so many bytes, but of one row at least; in the order of the
    /// bytes.
    pub fn parts(&self, most: u64) -> impl Iterator<Item = Rect> + use<> {
        let Rect { start, row_pitch, slice_pitch, region: [width, height, depth] } = *self;
        // A row that is longer than `most` stays whole: it is for the caller to divide.
        let rows = (most / width.max(1)).clamp(1, height.max(1));
        (0..depth).flat_map(move |z| {
            (0..height).step_by(rows as usize).map(move |y| Rect {
                start: start + z * slice_pitch + y * row_pitch,
                row_pitch,
                slice_pitch,
                region: [width, rows.min(height - y), 1],
            })
        })
    }

    /// The same bytes of two boxes of one region in fewer and longer rows, where rows or slices follow one another on
    /// both sides.
    pub fn merged(a: &Rect, b: &Rect) -> (Rect, Rect) {
        let (mut a, mut b) = (*a, *b);
        let has_packed_rows = |r: &Rect| r.row_pitch == r.region[0];
        if has_packed_rows(&a) && has_packed_rows(&b) {
            for r in [&mut a, &mut b] {
                r.region = [r.region[0] * r.region[1], r.region[2], 1];
                // The slices are the rows now, so that the distance of slices is that of rows.
                (r.row_pitch, r.slice_pitch) = (r.slice_pitch, r.slice_pitch);
            }
            if has_packed_rows(&a) && has_packed_rows(&b) {
                for r in [&mut a, &mut b] {
                    r.region = [r.region[0] * r.region[1], 1, 1];
                }
            }
        }
        (a, b)
    }

    /// Whether two boxes of equal pitches have a byte in common. Exact: both are sets of rows of one grid, or, where
    /// rows wrap around, compared row by row.
    pub fn overlaps(&self, other: &Rect) -> bool {
        if self.end() <= other.start || other.end() <= self.start {
            return false;
        }
        let width = self.region[0];
        // The rows of each side ascend and are disjoint, so one pass over both, as in a merge, finds a common byte.
        let (mut a, mut b) = (self.rows().peekable(), other.rows().peekable());
        while let (Some(&x), Some(&y)) = (a.peek(), b.peek()) {
            if x + width <= y {
                a.next();
            } else if y + width <= x {
                b.next();
            } else {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_the_same_rows() {
        let whole = Rect { start: 3, row_pitch: 10, slice_pitch: 100, region: [4, 7, 3] };
        for most in [0, 4, 8, 11, 27, 28, 1000] {
            let parts: Vec<Rect> = whole.parts(most).collect();
            let rows: Vec<u64> = parts.iter().flat_map(Rect::rows).collect();
            assert_eq!(rows, whole.rows().collect::<Vec<_>>(), "{most}");
            assert!(parts.iter().all(|part| part.bytes() <= most.max(4) && part.region[2] == 1), "{most}");
        }
        assert_eq!(whole.parts(1000).count(), 3);
    }

    #[test]
    fn a_box_without_gaps_is_packed() {
        let rect = |row_pitch, slice_pitch, region| Rect { start: 0, row_pitch, slice_pitch, region };
        assert!(rect(4, 12, [4, 3, 2]).is_packed());
        assert!(rect(9, 99, [4, 1, 1]).is_packed(), "the pitches of a single row do not count");
        assert!(!rect(5, 15, [4, 3, 2]).is_packed() && !rect(4, 16, [4, 3, 2]).is_packed());
    }
}
