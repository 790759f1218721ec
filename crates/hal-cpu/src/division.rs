//! How the groups of a launch are divided into the chunks that threads claim.
//!
//! Mostly, all chunks have equal size: enough groups to be worth a claim. Groups that run in batches need larger
//! chunks; but then threads would end far apart, above all if one starts late. So each thread's part of the launch
//! begins with large chunks and ends with some of half the size:
//!
//! ```text
//! 32 groups, batches of 8, 2 threads:   |   8    | 4  | 4  |   8    | 4  | 4  |
//! ```
//!
//! Halving what is left down to single groups, as guided self-scheduling does (Polychronopoulos and Kuck, 1987), took
//! longer: half of few groups then run in small chunks.

/// Groups of a launch, in chunks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Division {
    /// Groups before these are done.
    first: u64,
    count: u64,
    /// Groups of a small chunk.
    unit: u64,
    /// Small chunks that a large one has.
    most: u64,
    /// Parts of as many chunks each.
    parts: u64,
}

impl Division {
    /// Groups `first..count` in chunks of `unit`, and of up to `batch` at the beginning of each of as many parts as
    /// there are threads.
    pub fn new(first: u64, count: u64, unit: u64, batch: u64, threads: u64) -> Division {
        let unit = unit.max(1);
        let units = (count - first).div_ceil(unit);
        let most = (batch / unit).max(1);
        // Chunks of one size need no parts: their numbers follow from the unit alone.
        let parts = if most == 1 { 1 } else { threads.min(units).max(1) };
        Division { first, count, unit, most, parts }
    }

    /// How many chunks there are.
    pub fn chunks(&self) -> u64 {
        match self.most {
            1 => self.units(),
            _ => {
                let (large, rest) = self.large();
                self.parts * (large + rest.div_ceil(self.half()))
            }
        }
    }

    /// The groups of a chunk, from one to before another.
    pub fn groups(&self, chunk: u64) -> (u64, u64) {
        let (from, to) = if self.most == 1 {
            (chunk, chunk + 1)
        } else {
            let each = self.chunks() / self.parts;
            let (part, at) = (chunk / each, chunk % each);
            // Parts differ by one unit at most. All have as many chunks as the longest, so that the last chunk of a
            // shorter one may be smaller or empty.
            let start = |part: u64| part * self.units() / self.parts;
            let (begin, end) = (start(part), start(part + 1));
            ((begin + self.cut(at)).min(end), (begin + self.cut(at + 1)).min(end))
        };
        let group = |unit: u64| self.count.min(self.first + unit * self.unit);
        (group(from), group(to))
    }

    fn units(&self) -> u64 {
        (self.count - self.first).div_ceil(self.unit)
    }

    /// Of the longest part: the number of large chunks, and the rest in small chunks.
    fn large(&self) -> (u64, u64) {
        let units = self.units().div_ceil(self.parts);
        let large = units.saturating_sub(self.most) / self.most;
        (large, units - large * self.most)
    }

    /// Small chunks that one of half the size has.
    fn half(&self) -> u64 {
        self.most.div_ceil(2)
    }

    /// Where a chunk begins in the longest part.
    fn cut(&self, at: u64) -> u64 {
        let (large, _) = self.large();
        at.min(large) * self.most + at.saturating_sub(large) * self.half()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_is_in_one_chunk() {
        for (first, count, unit, batch, threads) in [
            (0, 32, 1, 8, 2),
            (3, 100, 1, 8, 3),
            (0, 7, 1, 8, 16),
            (5, 1000, 3, 16, 4),
            (0, 1, 1, 8, 2),
            (0, 50, 7, 1, 2),
        ] {
            let division = Division::new(first, count, unit, batch, threads);
            let mut groups: Vec<u64> =
                (0..division.chunks()).map(|c| division.groups(c)).flat_map(|(a, b)| a..b).collect();
            assert!((0..division.chunks()).all(|c| division.groups(c).1 <= count));
            groups.sort();
            assert_eq!(groups, (first..count).collect::<Vec<_>>(), "{division:?}");
        }
    }

    #[test]
    fn chunks_are_smaller_at_the_end_of_each_part() {
        let sizes = |count, batch, threads| -> Vec<u64> {
            let division = Division::new(0, count, 1, batch, threads);
            (0..division.chunks()).map(|c| division.groups(c)).map(|(a, b)| b - a).collect()
        };
        assert_eq!(sizes(32, 8, 2), [8, 4, 4].repeat(2));
        assert_eq!(sizes(14, 4, 1), [4, 4, 2, 2, 2]);
        assert_eq!(sizes(6, 8, 2), [3, 3]);
        assert_eq!(sizes(4, 1, 2), [1; 4]);
    }
}
