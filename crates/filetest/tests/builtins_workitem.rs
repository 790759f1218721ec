//! The work-item functions on ranges of one to three dimensions, with offsets and partial groups at the edges.

use cloom_builtins::Elem;
use cloom_filetest::builtins::from_bytes;
use cloom_filetest::device::{Bench, Data};
use cloom_hal::NdRange;

const SOURCE: &str = "
    kernel void k(global ulong *out)
    {
        // In the order of what is told: dimension after dimension, the first fastest.
        size_t at[3];
        for (uint d = 0; d < 3; d++)
            at[d] = get_global_id(d) - get_global_offset(d);
        global ulong *p = out + 39 * (at[0] + get_global_size(0) * (at[1] + get_global_size(1) * at[2]));
        for (uint d = 0; d < 4; d++) {
            *p++ = get_global_id(d);
            *p++ = get_local_id(d);
            *p++ = get_group_id(d);
            *p++ = get_global_size(d);
            *p++ = get_local_size(d);
            *p++ = get_enqueued_local_size(d);
            *p++ = get_num_groups(d);
            *p++ = get_global_offset(d);
        }
        *p++ = get_work_dim();
        *p++ = get_global_linear_id();
        *p++ = get_local_linear_id();
        // With a dimension that is known when the program is compiled.
        *p++ = get_global_id(1);
        *p++ = get_local_size(2);
        *p++ = get_group_id(0);
        *p++ = get_num_groups(1000);
    }";

/// The expected results for a work-item of the range.
fn want(r: &NdRange, at: [u64; 3]) -> Vec<u64> {
    let mut list = Vec::new();
    let local_size = |d: usize| r.local[d].min(r.global[d] - at[d] / r.local[d] * r.local[d]);
    for (d, x) in at.into_iter().enumerate() {
        let (group, local) = (x / r.local[d], x % r.local[d]);
        let groups = r.global[d].div_ceil(r.local[d]);
        list.extend([x + r.offset[d], local, group, r.global[d], local_size(d), r.local[d], groups, r.offset[d]]);
    }
    // There is no fourth dimension.
    list.extend([0, 0, 0, 1, 1, 1, 1, 0]);
    let local = [0, 1, 2].map(|d| at[d] % r.local[d]);
    list.push(u64::from(r.work_dim));
    list.push((at[2] * r.global[1] + at[1]) * r.global[0] + at[0]);
    list.push((local[2] * local_size(1) + local[1]) * local_size(0) + local[0]);
    list.extend([at[1] + r.offset[1], local_size(2), at[0] / r.local[0], 1]);
    list
}

#[test]
fn work_items_know_where_they_are() {
    let bench = Bench::new(2);
    let built = bench.build(SOURCE, "-cl-std=CL3.0").unwrap_or_else(|e| panic!("{e}"));
    let ranges = [
        (1, [0; 3], [12, 1, 1], [4, 1, 1]),
        (1, [5, 0, 0], [13, 1, 1], [4, 1, 1]),
        (1, [0; 3], [7, 1, 1], [7, 1, 1]),
        (2, [3, 9, 0], [10, 6, 1], [5, 2, 1]),
        (2, [0, 1 << 33, 0], [7, 5, 1], [4, 3, 1]),
        (3, [1, 2, 3], [6, 4, 6], [3, 2, 2]),
        (3, [0; 3], [5, 7, 3], [2, 3, 2]),
    ];
    for (work_dim, offset, global, local) in ranges {
        let range = NdRange { work_dim, offset, global, local };
        let items = global.iter().product::<u64>() as usize;
        let out = built.run_range("k", range, &[Data::Fresh(items * 39 * 8)]).unwrap_or_else(|e| panic!("{e}"));
        let got = from_bytes(Elem::U64, &out[0]);
        for (i, got) in got.chunks(39).enumerate() {
            let i = i as u64;
            let at = [i % global[0], i / global[0] % global[1], i / global[0] / global[1]];
            assert_eq!(got, want(&range, at), "work-item {at:?} of {range:?}");
        }
    }
}
