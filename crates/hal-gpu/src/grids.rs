//! The grids of a launch, and their descriptors.
//!
//! The input is a range. The output is a list of grids, whose groups all have one size and which are within the limits
//! of a device: in each dimension the whole groups, in several spans if there are many, and then the group at the edge,
//! which is smaller. Each grid has the descriptor that `cloom_ir::abi::gpu` describes. Before that, the range may get
//! groups of another shape, or be divided between a coarsened kernel and the ordinary one for the remainder. Functions
//! on the path of every launch are `inline`, since the back ends that call them are other crates.

use crate::tuning::{
    COARSE_GROUP_THREADS, MAX_GRIDS, MAX_RESIDENT_GROUPS, MIN_COARSE_ROW_THREADS, MIN_GROUPS_TO_REGROUP,
    MIN_LARGE_GROUP_THREADS, RESIDENT_THREADS, SHAPED_GROUP_THREADS,
};
use cloom_artifact::WarpShape;
use cloom_hal::{DeviceInfo, NdRange};
use cloom_ir::abi::gpu;

/// The most groups of a grid in each dimension, on the GPUs that there are so far.
pub const GRID_LIMITS: [u64; 3] = [0x7fff_ffff, 0xffff, 0xffff];

/// How many work-items a GPU runs at once, as far as groups depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GpuSize {
    /// Work-items of a warp, which is a SIMD group; 1 if the machine does not fix it.
    pub warp: u64,
    /// Compute units.
    pub units: u64,
}

impl GpuSize {
    /// The size of a device.
    pub fn of(info: &DeviceInfo) -> GpuSize {
        GpuSize { warp: info.target.machine().simd_group().unwrap_or(1).into(), units: info.compute_units.into() }
    }
}

/// A grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    /// The group id of its first group.
    pub first_group: [u64; 3],
    /// The global id of its first work-item.
    pub first_id: [u64; 3],
    /// Its groups.
    pub groups: [u32; 3],
    /// Work-items of each group.
    pub local: [u32; 3],
}

/// A span of a dimension, of groups of one size.
#[derive(Clone, Copy)]
struct Span {
    first_group: u64,
    groups: u64,
    local: u64,
}

/// The spans of a dimension.
fn spans(global: u64, local: u64, limit: u64) -> impl Iterator<Item = Span> + Clone {
    // All groups of a grid have one size, so that the smaller group at the edge is a span of its own.
    let (whole, rest) = (global / local, global % local);
    let full = (0..whole.div_ceil(limit)).map(move |i| {
        let first_group = i * limit;
        Span { first_group, groups: limit.min(whole - first_group), local }
    });
    full.chain((rest > 0).then_some(Span { first_group: whole, groups: 1, local: rest }))
}

/// The grid of a range that needs only one.
#[inline]
pub fn single(range: &NdRange, limits: [u64; 3]) -> Option<Grid> {
    // A range that is smaller than a group is one group of the range's size.
    let local: [u64; 3] = std::array::from_fn(|d| range.local[d].min(range.global[d]).max(1));
    let groups: [u64; 3] = std::array::from_fn(|d| range.global[d] / local[d]);
    // The groups divide the range, and one grid may have so many.
    let is_one = |d: usize| groups[d] * local[d] == range.global[d] && (1..=limits[d]).contains(&groups[d]);
    (0..3).all(is_one).then(|| Grid {
        first_group: [0; 3],
        first_id: range.offset,
        groups: groups.map(|groups| groups as u32),
        local: local.map(|size| size as u32),
    })
}

/// The grids of a range; `None` if there are too many to submit. No size of the range is 0.
pub fn grids(range: &NdRange, limits: [u64; 3]) -> Option<impl Iterator<Item = Grid> + use<>> {
    let local = range.local.map(|size| size.max(1));
    // Counted before the first grid is made: a launch is refused as a whole, not after a million grids.
    let count = (0..3).try_fold(1u64, |count, d| {
        let (whole, rest) = (range.global[d] / local[d], range.global[d] % local[d]);
        count.checked_mul(whole.div_ceil(limits[d]) + u64::from(rest > 0))
    });
    count.filter(|&count| count <= MAX_GRIDS)?;
    let offset = range.offset;
    let [x, y, z] = std::array::from_fn(|d| spans(range.global[d], local[d], limits[d]));
    let planes = z.flat_map(move |z| y.clone().map(move |y| (y, z)));
    Some(planes.flat_map(move |(y, z)| {
        x.clone().map(move |x| {
            let spans = [x, y, z];
            Grid {
                first_group: spans.map(|span| span.first_group),
                // All groups before a span are whole.
                first_id: std::array::from_fn(|d| offset[d] + spans[d].first_group * local[d]),
                groups: spans.map(|span| span.groups as u32),
                local: spans.map(|span| span.local as u32),
            }
        })
    }))
}

/// Splits a range for a kernel that is coarsened by this factor: the range of its threads, and the ordinary kernel's
/// range for the work-items at the end of each row that do not fill a thread. `None` if the coarsened kernel should not
/// run: it would have fewer threads than `least`, or ids of more than 31 bits.
pub fn coarsened_items(range: &NdRange, factor: u64, least: u64) -> Option<(NdRange, Option<NdRange>)> {
    let ([x, y, z], first) = (range.global, range.offset[0]);
    let rows = y.checked_mul(z)?;
    let end = first.checked_add(x)?;
    let threads = x / factor;
    // The wide accesses of a thread are aligned only if its first id is a multiple of the factor.
    if !first.is_multiple_of(factor) || end > 1 << 31 || threads.checked_mul(rows)? < least.max(1) {
        return None;
    }
    // The largest row of threads that divides the range, and rows to fill the group.
    let row = 1 << threads.trailing_zeros().min(COARSE_GROUP_THREADS.trailing_zeros());
    let row = if row < MIN_COARSE_ROW_THREADS { COARSE_GROUP_THREADS.min(threads.next_power_of_two()) } else { row };
    let row = row.min(threads);
    // The columns divide the range, so that there is no further row of smaller groups.
    let column = 1 << y.trailing_zeros().min((COARSE_GROUP_THREADS / row).max(1).ilog2());
    let coarsened = NdRange {
        offset: [first / factor, range.offset[1], range.offset[2]],
        global: [threads, y, z],
        local: [row, column, 1],
        ..*range
    };
    let rest = x - threads * factor;
    let remainder = (rest > 0).then(|| NdRange {
        offset: [first + threads * factor, range.offset[1], range.offset[2]],
        global: [rest, y, z],
        // Less than `factor` work-items are left of each row, so that a group takes them from several rows.
        local: [rest, y.min(MIN_COARSE_ROW_THREADS), 1],
        ..*range
    });
    Some((coarsened, remainder))
}

/// Splits a range for a kernel that is coarsened by `factor` groups along a dimension: the range of its groups, and the
/// ordinary kernel's range for the groups after them, with the id of the first of these. `None` if the range does not
/// fill one coarsened group.
pub fn coarsened_groups(range: &NdRange, dim: usize, factor: u64) -> Option<(NdRange, Option<(NdRange, u64)>)> {
    let local = range.local[dim].max(1);
    // Only whole groups are fused. A smaller group at the edge is left to the ordinary kernel.
    let coarsened = range.global[dim] / local / factor;
    let first = coarsened * factor;
    let (mut groups, mut rest) = (*range, *range);
    groups.global[dim] = coarsened * local;
    rest.offset[dim] += first * local;
    rest.global[dim] -= first * local;
    (coarsened > 0).then_some((groups, (rest.global[dim] > 0).then_some((rest, first))))
}

/// How many groups a range has.
pub fn group_count(range: &NdRange) -> u64 {
    range.groups().into_iter().fold(1, u64::saturating_mul)
}

/// Groups of so many threads that are resident on a compute unit, if it has registers and local memory for them.
fn resident(threads: u64) -> u64 {
    (RESIDENT_THREADS / threads.max(1)).min(MAX_RESIDENT_GROUPS)
}

/// Whether a compute unit has local memory for as many groups as could be resident by their threads.
pub fn is_full(threads: u64, local_size: u64, local_memory: u64) -> bool {
    local_size.saturating_mul(resident(threads)) <= local_memory
}

/// The number of groups that takes half of the GPU's slots for groups. With fewer, coarsening would leave compute units
/// idle.
pub fn least_groups(threads: u64, size: GpuSize) -> u64 {
    size.units * resident(threads) / 2
}

/// The range in groups of at most `most` threads, whose warps have this shape, for a GPU of this size. `None` if the
/// range should stay as it is, or if such groups would not divide it.
pub fn shaped(range: &NdRange, shape: WarpShape, most: u64, size: GpuSize) -> Option<NdRange> {
    // Shapes with rows of their own set the group's width. The others may change the size of groups only.
    let Some(row) = shape.row(size.warp) else {
        return match shape {
            WarpShape::Divisible => divided(range, size),
            WarpShape::Row => {
                in_rows(range, SHAPED_GROUP_THREADS.min(most), size.warp).or_else(|| divided(range, size))
            }
            WarpShape::AsGrouped | WarpShape::Column | WarpShape::Tile | WarpShape::TallTile => None,
        };
    };
    let [x, y, _] = range.global;
    // The largest power of two that divides the height and for which there are threads.
    let column = (1 << y.trailing_zeros().min(SHAPED_GROUP_THREADS.ilog2())).min(SHAPED_GROUP_THREADS.min(most) / row);
    (x.is_multiple_of(row) && row * column >= size.warp).then_some(NdRange { local: [row, column, 1], ..*range })
}

/// Divides the groups of a range that has few by 2, 4, 8 …, until there are as many groups as compute units. The
/// warps stay the same. (A kernel with one row of a matrix for each of 2048 work-items, in groups of 64, which become
/// 32, on the 132 compute units of an H200: 69 us instead of 103.)
fn divided(range: &NdRange, size: GpuSize) -> Option<NdRange> {
    let mut divided = *range;
    while group_count(&divided) < size.units {
        // Half a group must be whole warps, or each half has a warp that is not full.
        let halves = divided.local.iter().product::<u64>() / 2;
        // The slowest dimension is divided: the work-items of a warp are neighbours in the faster ones.
        let Some(slowest) = (0..3).rev().find(|&d| divided.local[d] > 1) else { break };
        if !divided.local[slowest].is_multiple_of(2) || !halves.is_multiple_of(size.warp) {
            break;
        }
        divided.local[slowest] /= 2;
    }
    (divided.local != range.local).then_some(divided)
}

/// Replaces the small groups of a range by larger ones, of at most `most` threads, whose rows are whole warps.
fn in_rows(range: &NdRange, most: u64, warp: u64) -> Option<NdRange> {
    let [x, y, z] = range.global;
    let items = x.checked_mul(y)?.checked_mul(z)?;
    let is_small = range.local.iter().product::<u64>() < MIN_LARGE_GROUP_THREADS.min(most);
    if !is_small || items / SHAPED_GROUP_THREADS < MIN_GROUPS_TO_REGROUP {
        return None;
    }
    // Groups that divide the range leave no smaller ones at its edge, which would be grids of their own.
    let part = |size: u64, most: u64| (1..=most).rev().find(|&part| size.is_multiple_of(part)).unwrap_or(1);
    // A group of four short rows has fewer neighbouring work-items around it than one of a long row.
    [most / 4, most].into_iter().find_map(|longest| {
        let row = part(x, longest);
        let column = part(y, most / row);
        (row >= warp && row * column >= MIN_LARGE_GROUP_THREADS.min(most))
            .then_some(NdRange { local: [row, column, 1], ..*range })
    })
}

/// A launch descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(8))]
pub struct Descriptor(pub [u8; gpu::SIZE as usize]);

const _: () = assert!(align_of::<Descriptor>() == gpu::ALIGN as usize);

impl Descriptor {
    /// The descriptor of a launch, to which [`Descriptor::set_grid`] adds each grid. `variables` and `print` are
    /// addresses, or 0.
    #[inline]
    pub fn new(range: &NdRange, variables: u64, print: u64) -> Descriptor {
        let mut descriptor = Descriptor([0; gpu::SIZE as usize]);
        descriptor.put_each(gpu::GLOBAL_OFFSET, range.offset);
        descriptor.put_each(gpu::GLOBAL_SIZE, range.global);
        descriptor.put_each(gpu::NUM_GROUPS, range.groups());
        for (d, size) in range.local.into_iter().enumerate() {
            descriptor.put(gpu::LOCAL_SIZE + 4 * d as u64, (size as u32).to_le_bytes());
        }
        descriptor.put(gpu::WORK_DIM, range.work_dim.to_le_bytes());
        descriptor.put(gpu::VARIABLES, variables.to_le_bytes());
        descriptor.put(gpu::PRINT, print.to_le_bytes());
        descriptor
    }

    /// Sets the grid that it describes.
    #[inline]
    pub fn set_grid(&mut self, grid: &Grid) {
        self.put_each(gpu::FIRST_ID, grid.first_id);
        self.put_each(gpu::FIRST_GROUP, grid.first_group);
    }

    #[inline]
    fn put<const N: usize>(&mut self, at: u64, bytes: [u8; N]) {
        self.0[at as usize..][..N].copy_from_slice(&bytes);
    }

    #[inline]
    fn put_each(&mut self, at: u64, values: [u64; 3]) {
        for (d, value) in values.into_iter().enumerate() {
            self.put(at + 8 * d as u64, value.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A GPU with so many compute units.
    fn size(units: u64) -> GpuSize {
        GpuSize { warp: 32, units }
    }

    use std::collections::BTreeMap;

    /// Global id to group id, local id and local size, of all work-items.
    type Items = BTreeMap<[u64; 3], ([u64; 3], [u64; 3], [u64; 3])>;

    fn each(sizes: [u64; 3]) -> impl Iterator<Item = [u64; 3]> {
        let [x, y, z] = sizes;
        (0..z).flat_map(move |k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])))
    }

    fn by_definition(range: &NdRange) -> Items {
        let item = |at: [u64; 3]| {
            let group = std::array::from_fn(|d| at[d] / range.local[d]);
            let local = std::array::from_fn(|d| at[d] % range.local[d]);
            let size = std::array::from_fn(|d| range.local[d].min(range.global[d] - group[d] * range.local[d]));
            (std::array::from_fn(|d| at[d] + range.offset[d]), (group, local, size))
        };
        each(range.global).map(item).collect()
    }

    fn by_grids(range: &NdRange, limits: [u64; 3]) -> Items {
        let mut items = Items::new();
        for grid in grids(range, limits).unwrap() {
            assert!((0..3).all(|d| (1..=limits[d]).contains(&grid.groups[d].into())), "{grid:?}");
            let local = grid.local.map(u64::from);
            for g in each(grid.groups.map(u64::from)) {
                for t in each(local) {
                    let id = std::array::from_fn(|d| grid.first_id[d] + g[d] * local[d] + t[d]);
                    let group = std::array::from_fn(|d| grid.first_group[d] + g[d]);
                    assert_eq!(items.insert(id, (group, t, local)), None, "{id:?} twice");
                }
            }
        }
        items
    }

    #[test]
    fn coarsened_groups_and_the_ordinary_ones_run_each_work_item_once() {
        for (global, local, dim) in [
            ([64, 1, 1], [8, 1, 1], 0),
            ([77, 3, 1], [8, 2, 1], 0),
            ([9, 45, 2], [4, 5, 2], 1),
            ([3, 4, 27], [3, 4, 2], 2),
        ] {
            let range = NdRange { work_dim: 3, offset: [3, 0, 7], global, local };
            let (coarsened, rest) = coarsened_groups(&range, dim, 4).unwrap();
            let mut items = Items::new();
            for (group, t, size) in by_grids(&coarsened, GRID_LIMITS).into_values() {
                for k in 0..4 {
                    let mut group = group;
                    group[dim] = 4 * group[dim] + k;
                    let id = std::array::from_fn(|d| range.offset[d] + group[d] * local[d] + t[d]);
                    assert_eq!(items.insert(id, (group, t, size)), None, "{id:?} twice");
                }
            }
            if let Some((rest, first)) = rest {
                for (id, (mut group, t, size)) in by_grids(&rest, GRID_LIMITS) {
                    group[dim] += first;
                    assert_eq!(items.insert(id, (group, t, size)), None, "{id:?} twice");
                }
            }
            assert_eq!(items, by_definition(&range), "{range:?}");
        }
        let few = NdRange { work_dim: 1, offset: [0; 3], global: [31, 1, 1], local: [8, 1, 1] };
        assert!(coarsened_groups(&few, 0, 4).is_none(), "three groups and a partial one");
    }

    #[test]
    fn groups_are_joined_where_compute_units_stay_full() {
        assert!(is_full(256, 4 * 4224, 227 << 10), "eight groups with a tile each");
        assert!(!is_full(64, 4 * 4224, 227 << 10), "32 groups");
        assert!(is_full(8, 4 * 1024, 227 << 10), "no more than 32 groups");
        assert_eq!(least_groups(256, size(132)), 528);
    }

    #[test]
    fn groups_of_another_shape_have_the_same_work_items() {
        let range = |global| NdRange { work_dim: 2, offset: [3, 5, 0], global, local: [64, 2, 1] };
        for shape in [WarpShape::Column, WarpShape::Tile, WarpShape::TallTile] {
            for global in [[64, 64, 1], [8, 4, 1], [24, 96, 2], [512, 36, 1]] {
                let range = range(global);
                let Some(other) = shaped(&range, shape, 1024, size(1)) else {
                    let rows = if shape == WarpShape::Column { 32 } else { 8 };
                    assert!(shape != WarpShape::Tile && global[1] % rows != 0, "{shape:?} {global:?}");
                    continue;
                };
                assert!(other.local.iter().product::<u64>() <= SHAPED_GROUP_THREADS && other.local[0] <= 8);
                let ids = |range| by_grids(range, GRID_LIMITS).into_keys().collect::<Vec<_>>();
                assert_eq!(ids(&other), ids(&range), "{shape:?} {global:?}");
            }
            assert_eq!(shaped(&range([8, 7, 1]), shape, 1024, size(1)), None, "a column of 7");
        }
        assert_eq!(shaped(&range([9, 32, 1]), WarpShape::Tile, 1024, size(1)), None, "a row of 9");
        let local = |shape, most, size| shaped(&range([64, 64, 1]), shape, most, size).map(|range| range.local);
        assert_eq!(local(WarpShape::Tile, 64, size(1)), Some([8, 8, 1]), "registers for 64");
        assert_eq!(local(WarpShape::AsGrouped, 1024, size(1)), None);
        // Rows of a warp of 64 are 1, 8 and 8.
        let wide = GpuSize { warp: 64, ..size(1) };
        assert_eq!(local(WarpShape::Column, 1024, wide), Some([1, 64, 1]));
        assert_eq!(local(WarpShape::TallTile, 1024, wide), Some([8, 32, 1]));
        assert_eq!(local(WarpShape::TallTile, 1024, size(1)), Some([4, 64, 1]));
        assert_eq!(local(WarpShape::Tile, 32, wide), None, "registers for half a warp");
    }

    #[test]
    fn small_groups_of_short_kernels_become_large_ones() {
        let rows = |global, local, most| {
            let range = NdRange { work_dim: 2, offset: [3, 5, 0], global, local };
            shaped(&range, WarpShape::Row, most, size(1)).map(|range| range.local)
        };
        assert_eq!(rows([2048, 2048, 1], [64, 1, 1], 1024), Some([64, 4, 1]));
        assert_eq!(rows([1 << 20, 1, 1], [64, 1, 1], 1024), Some([256, 1, 1]));
        assert_eq!(rows([2048, 2047, 1], [64, 1, 1], 1024), Some([256, 1, 1]), "2047 is odd");
        assert_eq!(rows([2000, 2000, 1], [50, 1, 1], 1024), Some([50, 5, 1]));
        assert_eq!(rows([2053, 2048, 1], [1, 1, 1], 1024), None, "2053 is a prime");
        assert_eq!(rows([2048, 2048, 1], [16, 16, 1], 1024), None, "they are large");
        assert_eq!(rows([512, 256, 1], [64, 1, 1], 1024), None, "too few groups");
    }

    #[test]
    fn few_groups_are_divided_for_all_compute_units() {
        let divided_for = |size, global, local| {
            let range = NdRange { work_dim: 3, offset: [3, 5, 0], global, local };
            let other = shaped(&range, WarpShape::Divisible, 1024, size)?;
            let ids = |range| by_grids(range, GRID_LIMITS).into_keys().collect::<Vec<_>>();
            assert_eq!(ids(&other), ids(&range), "{range:?}");
            Some(other.local)
        };
        let divided = |global, local| divided_for(size(132), global, local);
        assert_eq!(divided([2048, 1, 1], [64, 1, 1]), Some([32, 1, 1]));
        assert_eq!(divided_for(GpuSize { warp: 64, units: 132 }, [2048, 1, 1], [64, 1, 1]), None, "a group is a warp");
        assert_eq!(divided([8192, 1, 1], [256, 1, 1]), Some([32, 1, 1]));
        assert_eq!(divided([160, 160, 1], [16, 16, 1]), Some([16, 8, 1]), "200 groups are enough");
        assert_eq!(divided([16, 16, 4], [16, 4, 2]), Some([16, 2, 1]));
        assert_eq!(divided([100, 100, 1], [20, 8, 1]), None, "80 work-items are no warps");
        assert_eq!(divided([96, 1, 1], [48, 1, 1]), None, "nor are 24");
        assert_eq!(divided([8448, 1, 1], [64, 1, 1]), None, "each has one");
        assert_eq!(divided([1000, 1, 1], [128, 1, 1]), Some([32, 1, 1]), "with a group at the edge");
    }

    #[test]
    fn a_coarse_kernel_and_the_ordinary_one_run_each_work_item_once() {
        let range = |offset, global| NdRange { work_dim: 2, offset, global, local: [1; 3] };
        for (offset, global) in [
            ([0, 0, 0], [4096, 3, 1]),
            ([8, 5, 0], [1023, 7, 2]),
            ([4, 0, 0], [7, 1, 1]),
            ([0, 0, 1], [4, 4, 4]),
            ([0, 0, 0], [4 * 8191, 1, 1]),
        ] {
            let (coarsened, remainder) = coarsened_items(&range(offset, global), 4, 1).unwrap();
            assert!(coarsened.local.iter().product::<u64>() <= COARSE_GROUP_THREADS, "{coarsened:?}");
            let mut found = Vec::new();
            for ([x, y, z], _) in by_grids(&coarsened, GRID_LIMITS) {
                found.extend((0..4).map(|k| [4 * x + k, y, z]));
            }
            found.extend(remainder.iter().flat_map(|remainder| by_grids(remainder, GRID_LIMITS).into_keys()));
            found.sort_unstable();
            let mut all: Vec<_> = each(global).map(|at| std::array::from_fn(|d| at[d] + offset[d])).collect();
            all.sort_unstable();
            assert_eq!(found, all);
        }
        assert!(coarsened_items(&range([2, 0, 0], [4096, 1, 1]), 4, 1).is_none(), "wide accesses would not be aligned");
        assert!(coarsened_items(&range([0; 3], [4096, 1, 1]), 4, 1025).is_none(), "too few threads");
        assert!(coarsened_items(&range([0; 3], [(1 << 31) + 4, 1, 1]), 4, 1).is_none(), "too large ids");
    }

    #[test]
    fn grids_cover_each_work_item_once_with_its_ids() {
        let mut seed = 7u64;
        let mut below = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        for _ in 0..400 {
            let work_dim = 1 + below(3) as u32;
            let mut of = |rest: u64, least: u64, n: u64| -> [u64; 3] {
                std::array::from_fn(|d| if d < work_dim as usize { least + below(n) } else { rest })
            };
            let range = NdRange { work_dim, offset: of(0, 0, 5), global: of(1, 1, 11), local: of(1, 1, 6) };
            let limits = of(1, 1, 3);
            assert_eq!(by_grids(&range, limits), by_definition(&range), "{range:?} {limits:?}");
            let all: Vec<Grid> = grids(&range, limits).unwrap().collect();
            assert_eq!(single(&range, limits), (all.len() == 1).then(|| all[0]), "{range:?} {limits:?}");
        }
    }

    #[test]
    fn a_range_has_no_more_grids_than_it_needs() {
        let count = |range: NdRange| grids(&range, GRID_LIMITS).map(Iterator::count);
        assert_eq!(count(NdRange::linear(1 << 20, 256)), Some(1));
        assert_eq!(count(NdRange::linear(100, 256)), Some(1));
        assert_eq!(count(NdRange::linear(1000, 256)), Some(2));
        assert_eq!(count(NdRange::linear(1 << 31, 1)), Some(2));
        assert_eq!(count(NdRange { work_dim: 3, offset: [0; 3], global: [9, 9, 9], local: [4, 4, 4] }), Some(8));
        let deep = NdRange { work_dim: 3, offset: [0; 3], global: [1, 1 << 40, 1 << 40], local: [1; 3] };
        assert_eq!(count(deep), None);
        assert_eq!(count(NdRange { global: [u64::MAX; 3], ..deep }), None);
    }

    #[test]
    fn a_descriptor_has_its_fields_where_the_contract_says() {
        let range = NdRange { work_dim: 2, offset: [10, 20, 0], global: [70, 9, 1], local: [32, 4, 1] };
        let mut descriptor = Descriptor::new(&range, 0x1122_3344_5566_7788, 0x99);
        let last = grids(&range, GRID_LIMITS).unwrap().last().unwrap();
        descriptor.set_grid(&last);
        let long = |at: u64| u64::from_le_bytes(descriptor.0[at as usize..][..8].try_into().unwrap());
        let word = |at: u64| u32::from_le_bytes(descriptor.0[at as usize..][..4].try_into().unwrap());
        let longs = |at: u64| [long(at), long(at + 8), long(at + 16)];
        assert_eq!((longs(gpu::FIRST_ID), longs(gpu::FIRST_GROUP)), ([74, 28, 0], [2, 2, 0]));
        assert_eq!((longs(gpu::GLOBAL_OFFSET), longs(gpu::GLOBAL_SIZE)), ([10, 20, 0], [70, 9, 1]));
        assert_eq!(longs(gpu::NUM_GROUPS), [3, 3, 1]);
        let local = [0, 4, 8].map(|at| word(gpu::LOCAL_SIZE + at));
        assert_eq!((local, word(gpu::WORK_DIM)), ([32, 4, 1], 2));
        assert_eq!((long(gpu::VARIABLES), long(gpu::PRINT)), (0x1122_3344_5566_7788, 0x99));
    }
}
