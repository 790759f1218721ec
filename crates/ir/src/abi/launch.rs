//! The range of a launch, and the properties of a work-group function that a launcher needs.

use serde::{Deserialize, Serialize};

/// The work-items of a launch. Unused dimensions have size 1 and offset 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NdRange {
    /// Number of dimensions, 1 to 3.
    pub work_dim: u32,
    /// First global id.
    pub offset: [u64; 3],
    /// Work-items.
    pub global: [u64; 3],
    /// Work-items of a group. The last group of a dimension may be smaller.
    pub local: [u64; 3],
}

impl NdRange {
    /// A range of one dimension.
    pub fn linear(global: u64, local: u64) -> Self {
        Self { work_dim: 1, offset: [0; 3], global: [global, 1, 1], local: [local, 1, 1] }
    }

    /// Groups in each dimension, partial ones included.
    pub fn groups(&self) -> [u64; 3] {
        std::array::from_fn(|d| self.global[d].div_ceil(self.local[d].max(1)))
    }

    /// The same range with the dimensions permuted, as [`CpuLaunch::dim_order`] says for a kernel's code.
    pub fn in_order(self, dim_order: [u8; 3]) -> NdRange {
        let order = |sizes: [u64; 3]| dim_order.map(|d| sizes[usize::from(d)]);
        let (offset, global, local) = (order(self.offset), order(self.global), order(self.local));
        NdRange { offset, global, local, ..self }
    }
}

/// How a work-group function is launched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CpuLaunch {
    /// Work-items in a vector.
    pub lanes: u16,
    /// The dimension order: which dimension of the launch each dimension of the code is. The work-items of a vector are
    /// adjacent in the first of these. The launcher passes sizes, ids and offsets in this order.
    pub dim_order: [u8; 3],
    /// The largest global id that the code supports.
    pub max_id: u64,
    /// Whether the result does not depend on how work-items are grouped, so that the launcher may choose the groups.
    pub regroupable: bool,
    /// Column-major access: lanes access different rows of a matrix, and consecutive work-items of the second dimension
    /// one row. Groups then run in order of the second dimension.
    pub column_access: bool,
    /// Bytes that each work-item writes to write-only buffers, if the code has non-temporal stores for them; else 0.
    pub write_only_bytes: u32,
    /// The least number of work-items of a row that vectors are worth their while for.
    pub min_row: u16,
    /// The vector width of the code for groups with long rows, if groups with short rows have other code.
    pub long_row_width: Option<u16>,
    /// Bytes of scratch of a group, whatever its size,
    pub scratch_fixed: u64,
    /// and for each work-item of the enqueued local size, with dimension 0 rounded up to whole vectors.
    pub scratch_per_item: u64,
    /// If a call may run a batch of consecutive groups of the first dimension: bytes that each work-item reads or
    /// writes in an iteration of the grid-stride loop; else 0.
    pub grid_stride_bytes: u32,
}

impl CpuLaunch {
    /// The properties of a function that runs one work-item at a time without scratch.
    pub const SCALAR: CpuLaunch = CpuLaunch {
        lanes: 1,
        dim_order: [0, 1, 2],
        max_id: u64::MAX,
        regroupable: false,
        column_access: false,
        write_only_bytes: 0,
        min_row: 1,
        long_row_width: None,
        scratch_fixed: 0,
        scratch_per_item: 0,
        grid_stride_bytes: 0,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_at_the_edge_count_and_dimensions_change_places_together() {
        let range = NdRange { work_dim: 2, offset: [5, 6, 0], global: [10, 7, 1], local: [4, 7, 1] };
        assert_eq!(range.groups(), [3, 1, 1]);
        let turned = range.in_order([1, 0, 2]);
        assert_eq!((turned.offset, turned.global, turned.local), ([6, 5, 0], [7, 10, 1], [7, 4, 1]));
        assert_eq!((turned.in_order([1, 0, 2]), NdRange::linear(8, 3).groups()), (range, [3, 1, 1]));
    }
}
