//! The ranges on which a program runs.

use super::families::Family;
use super::{AXES, Gen, LOCAL, Profile};
use cloom_interp::NdRange;

impl Gen {
    /// Ranges: groups of one work-item, odd groups, full and partial ones, one to three dimensions, with offsets. A
    /// group has at most [`LOCAL`] work-items.
    pub fn ranges(&mut self) -> Vec<NdRange> {
        let dim_order = self.dim_order;
        let range = |work_dim, global: [u64; 3], local: [u64; 3], offset: [u64; 3]| {
            let placed = |sizes: [u64; 3]| {
                let mut at = sizes;
                dim_order.iter().zip(sizes).for_each(|(&d, size)| at[usize::from(d)] = size);
                at
            };
            // With the dimensions exchanged, even a line of work-items may lie along dimension 2, which needs all
            // three.
            let work_dim = if dim_order == AXES[0] { work_dim } else { 3 };
            NdRange { work_dim, offset: placed(offset), global: placed(global), local: placed(local) }
        };
        let partial = self.profile == Profile::Total;
        let mut list = vec![
            range(1, [3, 1, 1], [1, 1, 1], [0; 3]),
            range(1, [9, 1, 1], [3, 1, 1], [5, 0, 0]),
            range(1, [14, 1, 1], [7, 1, 1], [0; 3]),
            range(2, [8, 4, 1], [8, 4, 1], [3, 1, 0]),
            range(1, [32, 1, 1], [16, 1, 1], [0; 3]),
            range(3, [4, 2, 3], [2, 2, 3], [1, 0, 7]),
        ];
        if partial {
            list.push(range(1, [11, 1, 1], [4, 1, 1], [2, 0, 0]));
            list.push(range(2, [5, 7, 1], [3, 4, 1], [0; 3]));
            list.push(range(3, [3, 5, 3], [2, 2, 2], [0, 1, 0]));
        }
        if self.local == LOCAL {
            list = vec![
                range(1, [128, 1, 1], [128, 1, 1], [3, 0, 0]),
                range(1, [150, 1, 1], [75, 1, 1], [0; 3]),
                range(1, [192, 1, 1], [64, 1, 1], [7, 0, 0]),
                range(2, [33, 3, 1], [33, 3, 1], [0, 5, 0]),
                range(2, [40, 4, 1], [20, 4, 1], [2, 0, 0]),
            ];
            if partial {
                list.push(range(1, [170, 1, 1], [67, 1, 1], [1, 0, 0]));
                list.push(range(2, [70, 2, 1], [64, 2, 1], [0; 3]));
            }
        }
        if !self.families.is_empty() {
            // Rows that fill vectors of 8, 16 and 32 lanes.
            list.extend([
                range(1, [64, 1, 1], [32, 1, 1], [0; 3]),
                range(1, [48, 1, 1], [16, 1, 1], [3, 0, 0]),
                range(1, [72, 1, 1], [24, 1, 1], [0; 3]),
                range(2, [32, 4, 1], [16, 2, 1], [0, 2, 0]),
                range(2, [16, 4, 1], [8, 4, 1], [0; 3]),
            ]);
        }
        if self.has(Family::Long) {
            list = vec![
                range(1, [512, 1, 1], [64, 1, 1], [0; 3]),
                range(1, [768, 1, 1], [128, 1, 1], [5, 0, 0]),
                range(1, [480, 1, 1], [80, 1, 1], [0; 3]),
            ];
            return vec![self.rng.pick(&list)];
        }
        let first = self.rng.below(list.len() as u64) as usize;
        // One fewer, as the first one has left the list by then: the two ranges are never the same.
        let second = self.rng.below(list.len() as u64 - 1) as usize;
        vec![list.swap_remove(first), list.swap_remove(second)]
    }
}
