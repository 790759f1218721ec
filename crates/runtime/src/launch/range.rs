//! The range of a launch: checks it, and chooses the local size where the application leaves it open.

use crate::status::ensure;
use crate::{Device, Result};
use cloom_hal::{self as hal, TUNING};
use cloom_ir::KernelMeta;

/// Sizes as `clEnqueueNDRangeKernel` gets them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RangeInput {
    /// 1 to 3.
    pub work_dim: u32,
    /// Where global ids begin; zeros if absent.
    pub offset: Option<[u64; 3]>,
    /// Work-items; zero if absent.
    pub global: Option<[u64; 3]>,
    /// Work-items of a group; chosen if absent.
    pub local: Option<[u64; 3]>,
}

/// What the groups of a kernel must be like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupRules {
    /// The local size that the kernel requires.
    pub required: Option<[u64; 3]>,
    /// Whether the last group of a dimension may be smaller.
    pub partial: bool,
    /// Work-items of the largest group,
    pub most: u64,
    /// and in each dimension.
    pub each: [u64; 3],
    /// The fewest groups that give every compute unit work, where the device does not divide the work itself.
    pub spread: u64,
    /// The fewest work-items that a group is made smaller to for that.
    pub smallest: u64,
}

impl GroupRules {
    /// Those of a kernel or a block on a device.
    pub fn of(meta: &KernelMeta, device: &Device) -> GroupRules {
        GroupRules {
            required: meta.reqd_group_size.map(|sizes| sizes.map(u64::from)),
            partial: meta.partial_groups,
            most: device.max_group_size(),
            each: device.caps().limits.max_group_sizes,
            spread: if device.runs_on_host() { 1 } else { device.info().compute_units.into() },
            smallest: device.info().target.machine().simd_group().map_or(TUNING.smallest_group, u64::from),
        }
    }
}

// OpenCL 3.0 API, 5.10: Executing Kernels.
/// Checks a range; `None` when there is nothing to run. If the local size is chosen, it is for code with the dimensions
/// in this order.
pub(crate) fn settle(input: &RangeInput, rules: &GroupRules, dim_order: [u8; 3]) -> Result<Option<hal::NdRange>> {
    let GroupRules { required, partial, most: max_group, each, .. } = *rules;
    let dim = input.work_dim as usize;
    ensure!((1..=3).contains(&dim), InvalidWorkDimension, "work_dim is {dim}, not 1, 2 or 3");
    let padded =
        |values: [u64; 3], rest: u64| std::array::from_fn::<u64, 3, _>(|d| if d < dim { values[d] } else { rest });
    // A global size of NULL is an empty range since OpenCL 2.1.
    let global = padded(input.global.unwrap_or_default(), 1);
    let offset = padded(input.offset.unwrap_or_default(), 0);
    for d in 0..dim {
        let (o, g) = (offset[d], global[d]);
        ensure!(o.checked_add(g).is_some(), InvalidGlobalOffset, "offset {o} plus size {g} in dimension {d} overflows");
    }
    let given = input.local.map(|local| padded(local, 1));
    if let (Some(local), Some(required)) = (given, required) {
        ensure!(
            local == required || local.contains(&0),
            InvalidWorkGroupSize,
            "the local size is {local:?}, the kernel requires {required:?}"
        );
    }
    // A kernel with reqd_work_group_size has only that size, given or not.
    let local = given.or(required).unwrap_or_else(|| choose(global, rules, dim_order));
    // An overflow is `None`, which is refused below as too many work-items.
    let items = local.iter().try_fold(1u64, |a, &b| a.checked_mul(b));
    ensure!(items != Some(0), InvalidWorkGroupSize, "the local size {local:?} is empty");
    for (d, (l, most)) in local.into_iter().zip(each).enumerate() {
        ensure!(l <= most, InvalidWorkItemSize, "the local size in dimension {d} is {l}, more than {most}");
    }
    let fits = items.is_some_and(|n| n <= max_group);
    ensure!(fits, InvalidWorkGroupSize, "the local size {local:?} has more than {max_group} work-items");
    for d in 0..3 {
        let (g, l) = (global[d], local[d]);
        ensure!(
            partial || l == 1 || g % l == 0,
            InvalidWorkGroupSize,
            "the global size in dimension {d}, {g}, is not a multiple of the local size {l}: groups may only be partial in \
             programs built with -cl-std=CL2.0 or later and without -cl-uniform-work-group-size"
        );
    }
    // Last, so that an empty range with an invalid local size is still an error.
    if global.contains(&0) {
        return Ok(None);
    }
    Ok(Some(hal::NdRange { work_dim: input.work_dim, offset, global, local }))
}

/// A local size that divides the global size: as near to the preferred number of items as its divisors allow, the
/// code's innermost dimension first, because neighbours in it touch neighbouring memory. Fewer if else compute units
/// had no group. (A matrix times a vector, 4096 rows of 2048 on 132 units: 64 groups of 64 or 128 of 32.)
fn choose(global: [u64; 3], rules: &GroupRules, dim_order: [u8; 3]) -> [u64; 3] {
    let items = global.iter().fold(1u64, |a, &b| a.saturating_mul(b));
    let mut left = TUNING.preferred_group.min(rules.most);
    // Smaller groups until each compute unit has one.
    while left > rules.smallest && items / left < rules.spread {
        left /= 2;
    }
    let mut local = [1; 3];
    for d in dim_order.map(usize::from) {
        let most = left.min(global[d]).min(rules.each[d]).max(1);
        // The largest divisor, so that no group is partial; at most `preferred_group` are tried.
        local[d] = (1..=most).rev().find(|n| global[d].is_multiple_of(*n)).unwrap_or(1);
        left /= local[d];
    }
    local
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;

    const AS_WRITTEN: [u8; 3] = [0, 1, 2];

    fn range(global: [u64; 3], local: Option<[u64; 3]>) -> RangeInput {
        RangeInput { work_dim: 3, offset: None, global: Some(global), local }
    }

    fn status(input: RangeInput, required: Option<[u64; 3]>) -> Option<Status> {
        settle(&input, &rules(required, false), AS_WRITTEN).err().map(|e| e.status)
    }

    fn rules(required: Option<[u64; 3]>, partial: bool) -> GroupRules {
        GroupRules { required, partial, most: 64, each: [64, 64, 16], spread: 1, smallest: 32 }
    }

    #[test]
    fn partial_groups_lift_one_rule_only() {
        let settled = |input, required| settle(&input, &rules(required, true), AS_WRITTEN);
        let partial = settled(range([10, 7, 1], Some([4, 9, 1])), None).unwrap().unwrap();
        assert_eq!((partial.global, partial.local, partial.groups()), ([10, 7, 1], [4, 9, 1], [3, 1, 1]));
        let required = settled(range([10, 7, 1], None), Some([4, 3, 1])).unwrap().unwrap();
        assert_eq!((required.local, required.groups()), ([4, 3, 1], [3, 3, 1]));
        let status = |local, required| settled(range([10, 7, 1], Some(local)), required).err().map(|e| e.status);
        assert_eq!(status([4, 9, 1], Some([4, 3, 1])), Some(Status::InvalidWorkGroupSize), "another than is required");
        assert_eq!(status([8, 9, 1], None), Some(Status::InvalidWorkGroupSize), "too many work-items");
        assert_eq!(status([4, 0, 1], None), Some(Status::InvalidWorkGroupSize), "none");
        assert_eq!(status([65, 1, 1], None), Some(Status::InvalidWorkItemSize));
    }

    #[test]
    fn each_bad_range_has_its_status() {
        let good = range([8, 8, 8], Some([4, 4, 4]));
        assert_eq!(status(good, None), None);
        assert_eq!(status(RangeInput { work_dim: 0, ..good }, None), Some(Status::InvalidWorkDimension));
        assert_eq!(status(RangeInput { work_dim: 4, ..good }, None), Some(Status::InvalidWorkDimension));
        let far = RangeInput { offset: Some([0, u64::MAX, 0]), ..good };
        assert_eq!(status(far, None), Some(Status::InvalidGlobalOffset));
        assert_eq!(status(range([8, 8, 8], Some([3, 1, 1])), None), Some(Status::InvalidWorkGroupSize));
        assert_eq!(status(range([8, 8, 8], Some([8, 8, 8])), None), Some(Status::InvalidWorkGroupSize));
        assert_eq!(status(range([8, 8, 8], Some([0, 1, 1])), None), Some(Status::InvalidWorkGroupSize));
        assert_eq!(status(range([128, 1, 1], Some([128, 1, 1])), None), Some(Status::InvalidWorkItemSize));
        assert_eq!(status(range([1, 1, 32], Some([1, 1, 32])), None), Some(Status::InvalidWorkItemSize));
        assert_eq!(status(good, Some([4, 4, 2])), Some(Status::InvalidWorkGroupSize));
        assert_eq!(status(range([8, 8, 8], None), Some([3, 1, 1])), Some(Status::InvalidWorkGroupSize));
        // A required local size has the same limits as that of a launch.
        assert_eq!(status(range([8, 128, 8], None), Some([1, 128, 1])), Some(Status::InvalidWorkItemSize));
        assert_eq!(status(range([8, 16, 8], None), Some([8, 16, 1])), Some(Status::InvalidWorkGroupSize));
    }

    #[test]
    fn an_empty_range_runs_nothing_and_is_no_error() {
        assert_eq!(settle(&range([8, 0, 8], None), &rules(None, false), AS_WRITTEN), Ok(None));
        assert_eq!(
            settle(&RangeInput { work_dim: 1, ..RangeInput::default() }, &rules(None, false), AS_WRITTEN),
            Ok(None)
        );
    }

    #[test]
    fn dimensions_beyond_work_dim_are_not_looked_at() {
        let input =
            RangeInput { work_dim: 1, global: Some([5, 0, 0]), local: Some([5, 0, 0]), offset: Some([1, 9, 9]) };
        let range = settle(&input, &rules(None, false), AS_WRITTEN).unwrap().unwrap();
        assert_eq!((range.global, range.local, range.offset), ([5, 1, 1], [5, 1, 1], [1, 0, 0]));
    }

    #[test]
    fn a_chosen_local_size_divides_and_fits() {
        for global in [[1, 1, 1], [7, 1, 1], [1024, 1024, 1], [100, 30, 7], [64, 64, 64], [1 << 40, 3, 5]] {
            for dim_order in [AS_WRITTEN, [1, 0, 2], [2, 1, 0]] {
                let local = choose(global, &rules(None, false), dim_order);
                assert!((0..3).all(|d| global[d] % local[d] == 0), "{global:?}: {local:?}");
                assert!(local.iter().product::<u64>() <= 64 && local[2] <= 16);
            }
        }
        let choose = |global, dim_order| choose(global, &rules(None, false), dim_order);
        assert_eq!(choose([1024, 1, 1], AS_WRITTEN), [64, 1, 1]);
        assert_eq!(choose([4, 1024, 1], AS_WRITTEN), [4, 16, 1]);
        assert_eq!(choose([1024, 1024, 1], [1, 0, 2]), [1, 64, 1], "lanes lie along dimension 1");
        assert_eq!(choose([30, 4, 8], [2, 1, 0]), [2, 4, 8]);
        let spread =
            |items| super::choose([items, 1, 1], &GroupRules { spread: 132, ..rules(None, false) }, AS_WRITTEN)[0];
        assert_eq!([16384, 4096, 256].map(spread), [64, 32, 32], "every unit has a group, and a group fills a warp");
    }
}
