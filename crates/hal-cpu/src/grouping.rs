//! How the work-items of a launch are grouped, and in which order groups run.
//!
//! Three decisions, each a pure function of sizes and of the time of a work-item:
//!
//! * [`regroup`]: the local size, for a regroupable kernel;
//! * [`position`]: which group comes next, row by row or in bands, so that consecutive groups access adjacent memory;
//! * [`batch`]: how many groups run in one call.
//!
//! Thresholds are fields of [`TUNING`].

use cloom_hal::{NdRange, TUNING};
use std::time::Duration;

/// Picoseconds in a nanosecond.
pub const PICO: u64 = 1000;

/// The product of sizes, unless it overflows.
pub fn product(sizes: [u64; 3]) -> Option<u64> {
    sizes.into_iter().try_fold(1, u64::checked_mul)
}

/// How many groups run in one call: groups of so many work-items, each of which advances by so many bytes in an
/// iteration of its grid-stride loop, and with so much memory a group.
pub fn batch(grid_stride_bytes: u32, items: u64, memory: u64) -> u64 {
    let step = items.saturating_mul(u64::from(grid_stride_bytes));
    match step {
        0 => 1,
        step => TUNING.batch_bytes.div_ceil(step).min(TUNING.batch_memory / memory.max(1)).max(1),
    }
}

/// Chooses the groups of a regroupable kernel: enough groups to keep all threads busy, but wide enough to fill at least
/// one vector, because a vector of few work-items takes as long as a full one. `item_time` is the time of a work-item
/// in picoseconds; 0 if it is not known. Few groups that take long are halved: of two groups for each of sixteen
/// threads, of 0.4 ms each, the last one ended after 1.2 ms if one thread came late.
///
/// A launch that `tiers_up` begins with slow code, and each group ends with the code that it began with: there groups
/// are only as large as fills the vectors. (Mandelbrot with 4096 iterations, 1024 x 1024 in groups of 16 x 16, two
/// cores: 56 ms with optimised code alone, 333 ms when groups became 1024 x 16, 57 ms with 64 x 16.)
pub fn regroup(mut range: NdRange, threads: u64, lanes: u16, item_time: u64, tiers_up: bool) -> NdRange {
    let (local, global) = (range.local[0], range.global[0]);
    let items = product(range.global).unwrap_or(u64::MAX);
    let group = product(range.local).unwrap_or(u64::MAX).max(1);
    // Enough groups to share the work, if there are that many; short launches run on one thread.
    let picos = |time: Duration| time.as_nanos() as u64 * PICO;
    let little = item_time > 0 && items.saturating_mul(item_time) < picos(TUNING.solo_time);
    let parts = if little { 1 } else { threads * TUNING.chunks_per_thread };
    let rows = (group / local.max(1)).max(1);
    let share = (items / parts).max(group) / rows;
    let is_long = |width: u64| item_time.saturating_mul(width * rows) > picos(TUNING.merged_time);
    let mut half = local;
    // First case: few long groups. Halves stay multiples of the vectors.
    while half.is_multiple_of(2 * u64::from(lanes.max(1))) && is_long(half) && items / (half * rows).max(1) < parts {
        half /= 2;
    }
    if half < local {
        range.local[0] = half;
        return range;
    }
    // Second case: the program's groups fill the vectors. Several become one, as long as it stays short. Without a
    // measured time nothing is merged, since one group may be long already.
    if local >= TUNING.full_row && local.is_multiple_of(TUNING.full_row) {
        let quick = picos(TUNING.merged_time).checked_div(item_time).unwrap_or(0);
        let merged = (TUNING.merged_items.min(quick) / group).min(share / local);
        range.local[0] = local * merged.max(1);
        return range;
    }
    // Third case: narrow groups, such as those of one work-item. They are widened to fill vectors, but leave enough
    // groups for all threads.
    let long = picos(TUNING.max_chunk_time).checked_div(item_time.saturating_mul(rows)).unwrap_or(u64::MAX);
    let most = share.min(long).max(1).next_multiple_of(u64::from(lanes.max(1)));
    let wished = if global <= TUNING.whole_row && !tiers_up {
        global
    } else if little {
        TUNING.whole_row
    } else {
        local.max(TUNING.full_row).next_multiple_of(TUNING.full_row)
    };
    if wished <= most {
        range.local[0] = wished.max(local);
    } else if most > local {
        range.local[0] = most;
    }
    range
}

/// The position in the grid of the group with a number, and how many groups with the next numbers follow it along
/// dimension 0. Numbers go row by row, or column by column through bands of so many rows; there are at least as many
/// rows.
pub fn position([x, y, _]: [u64; 3], band: u64, at: u64) -> ([u64; 3], u64) {
    let (z, at) = (at / (x * y), at % (x * y));
    if band == 1 {
        return ([at % x, at / x, z], x - at % x);
    }
    let (first, at) = (at / (x * band) * band, at % (x * band));
    let rows = band.min(y - first);
    ([at / rows, first + at % rows, z], 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The groups' width in a row of so many work-items that the application has in groups of one.
    fn width(items: u64, threads: u64, lanes: u16) -> u64 {
        let range = NdRange { work_dim: 1, offset: [0; 3], global: [items, 1, 1], local: [1; 3] };
        regroup(range, threads, lanes, 0, false).local[0]
    }

    #[test]
    fn small_groups_of_short_work_items_become_one() {
        let width = |global: [u64; 3], local: [u64; 3], item_time: u64| {
            let range = NdRange { work_dim: 3, offset: [0; 3], global, local };
            regroup(range, 2, 16, item_time, false).local
        };
        assert_eq!(width([1 << 20, 1, 1], [256, 1, 1], 500), [1024, 1, 1]);
        assert_eq!(width([1 << 20, 8, 1], [64, 8, 1], 500), [128, 8, 1]);
        // Not if such a group would take long or leave nothing to share, and not before its time is known.
        assert_eq!(width([1 << 20, 1, 1], [256, 1, 1], 40_000), [256, 1, 1]);
        assert_eq!(width([8192, 1, 1], [64, 1, 1], 5000), [256, 1, 1]);
        assert_eq!(width([1 << 20, 1, 1], [256, 1, 1], 0), [256, 1, 1]);
        // Few long groups are halved, down to a vector.
        let few = |global: u64, local: u64, threads| {
            let range = NdRange { work_dim: 1, offset: [0; 3], global: [global, 1, 1], local: [local, 1, 1] };
            regroup(range, threads, 32, 3_000_000, false).local[0]
        };
        assert_eq!([few(4096, 128, 2), few(4096, 128, 16), few(8192, 128, 16), few(960, 96, 16)], [128, 32, 32, 96]);
        // Nor do they become one where each may run slow code to its end.
        let first = |local: [u64; 3]| {
            let range = NdRange { work_dim: 2, offset: [0; 3], global: [1024, 1024, 1], local };
            [false, true].map(|tiers_up| regroup(range, 2, 1, 0, tiers_up).local)
        };
        assert_eq!(first([16, 16, 1]), [[1024, 16, 1], [64, 16, 1]]);
        assert_eq!(first([128, 2, 1]), [[128, 2, 1]; 2]);
        // A short launch is not divided.
        assert_eq!(width([2048, 1, 1], [64, 1, 1], 500), [1024, 1, 1]);
        assert_eq!(width([2048, 1, 1], [1, 1, 1], 500), [1024, 1, 1]);
    }

    #[test]
    fn every_group_has_one_position_by_rows_and_in_bands() {
        for (groups, band) in
            [([5, 1, 1], 1), ([3, 4, 2], 1), ([3, 4, 2], 4), ([1, 19, 1], 8), ([7, 11, 3], 8), ([2, 9, 1], 2)]
        {
            let mut seen = Vec::new();
            let mut at = 0;
            while at < groups.iter().product() {
                let (id, row) = position(groups, band, at);
                assert!(row > 0 && (band == 1 || row == 1));
                seen.extend((0..row).map(|k| [id[2], id[1], id[0] + k]));
                at += row;
            }
            if band > 1 {
                assert_eq!(seen[1], [0, 1, 0], "down first");
                seen.sort();
            }
            let [x, y, z] = groups;
            let all = (0..z).flat_map(|c| (0..y).flat_map(move |b| (0..x).map(move |a| [c, b, a])));
            assert_eq!(seen, all.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_batch_reads_a_row_of_memory_and_fits_in_the_cache() {
        assert_eq!([batch(0, 64, 512), batch(4, 64, 512), batch(16, 64, 512)], [1, 8, 2]);
        assert_eq!([batch(4, 1024, 512), batch(4, 64, 128 << 10), batch(4, 64, 1 << 20)], [1, 4, 1]);
        assert_eq!(batch(4, u64::MAX, 0), 1);
    }

    #[test]
    fn groups_of_few_work_items_fill_a_vector() {
        assert_eq!(width(32, 2, 16), 16);
        assert_eq!(width(10, 2, 16), 10);
        assert_eq!(width(64, 16, 8), 8);
        assert_eq!(width(700, 2, 16), 32);
        assert_eq!(width(32, 2, 1), 1);
    }
}
