//! Ranges of bytes, in ascending order and disjoint.

use std::ops::Range;

/// The first bytes that two lists have in common.
pub fn common(a: &[Range<u64>], b: &[Range<u64>]) -> Option<Range<u64>> {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        let both = x.start.max(y.start)..x.end.min(y.end);
        if !both.is_empty() {
            return Some(both);
        }
        // Rows of a box may lie in each other: the one that ends first meets nothing more.
        let _ = if x.end <= y.end { a.next() } else { b.next() };
    }
    None
}

/// A set of bytes.
#[derive(Clone, Default, Debug)]
pub struct Bytes(Vec<Range<u64>>);

impl Bytes {
    /// All bytes of a range.
    pub fn all(range: Range<u64>) -> Bytes {
        Bytes(vec![range])
    }

    /// Takes bytes out.
    pub fn remove(&mut self, range: &Range<u64>) {
        let first = self.0.partition_point(|r| r.end <= range.start);
        let last = self.0.partition_point(|r| r.start < range.end);
        if first >= last {
            return;
        }
        let before = self.0[first].start..range.start;
        let behind = range.end..self.0[last - 1].end;
        self.0.splice(first..last, [before, behind].into_iter().filter(|r| !r.is_empty()));
    }

    /// The ranges.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_bytes_in_common_or_not() {
        let rows = |start: u64| -> Vec<Range<u64>> { (0..4).map(|i| start + 16 * i..start + 16 * i + 8).collect() };
        assert_eq!(common(&rows(0), &rows(8)), None, "side by side");
        assert_eq!(common(&rows(0), &rows(20)), Some(20..24));
        let many = 30..200;
        assert_eq!(common(&rows(0), std::slice::from_ref(&many)), Some(32..40));
        assert_eq!(common(&[], &rows(0)), None);
    }

    #[test]
    fn bytes_are_removed_exactly() {
        let mut set = Bytes::all(0..100);
        for range in [10..20, 30..40, 15..35, 90..200, 0..0] {
            set.remove(&range);
        }
        assert_eq!(set.ranges(), [0..10, 40..90]);
        set.remove(&(0..100));
        assert!(set.ranges().is_empty());
    }
}
