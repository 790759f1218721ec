//! The rows of the table for work-group and sub-group functions.

use crate::table::{A, Elem, I, Lower, NONE, Row, Special, Subgroup, V, V1};
use cloom_ir::Query;

const fn row(names: &'static str, set: &'static [Elem], lanes: &'static [u8], sig: &'static str, lower: Lower) -> Row {
    Row { names, set, lanes, sig, lower }
}

const fn query(names: &'static str, what: Query) -> Row {
    row(names, NONE, V1, "u()", Lower::Special(Special::Subgroup(Subgroup::Query(what))))
}

const fn sub(names: &'static str, set: &'static [Elem], sig: &'static str, s: Subgroup) -> Row {
    row(names, set, V1, sig, Lower::Special(Special::Subgroup(s)))
}

/// Of scalars and vectors.
const fn vectors(names: &'static str, sig: &'static str, s: Subgroup) -> Row {
    row(names, A, V, sig, Lower::Special(Special::Subgroup(s)))
}

/// Takes a ballot, a `uint4`.
const fn ballot(names: &'static str, sig: &'static str) -> Row {
    row(names, NONE, BALLOT, sig, Lower::Exact)
}

/// Whether the ballot comes first among the arguments or not at all.
const BALLOT: &[u8] = &[1, 4];

/// The types of work-group functions.
const WHOLE: &[Elem] = &[Elem::I32, Elem::U32, Elem::I64, Elem::U64, Elem::F32, Elem::F64, Elem::F16];

const INTS: &[Elem] = &[Elem::I32, Elem::U32, Elem::I64, Elem::U64];

const WORK_GROUP: Lower = Lower::Special(Special::WorkGroup);

/// All rows.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    // Work-group functions.
    row("work_group_all work_group_any", NONE, V1, "n(n)", WORK_GROUP),
    row("work_group_broadcast", WHOLE, V1, "T(T,z)", WORK_GROUP),
    row("work_group_broadcast", WHOLE, V1, "T(T,z,z)", WORK_GROUP),
    row("work_group_broadcast", WHOLE, V1, "T(T,z,z,z)", WORK_GROUP),
    row("work_group_reduce_add work_group_reduce_min work_group_reduce_max \
         work_group_scan_inclusive_add work_group_scan_inclusive_min work_group_scan_inclusive_max \
         work_group_scan_exclusive_add work_group_scan_exclusive_min work_group_scan_exclusive_max",
        WHOLE, V1, "T(T)", WORK_GROUP),
    // What cl_khr_work_group_uniform_arithmetic adds. Its name is not listed: the conformance tests refuse it.
    row("work_group_reduce_mul work_group_scan_inclusive_mul work_group_scan_exclusive_mul",
        WHOLE, V1, "T(T)", WORK_GROUP),
    row("work_group_reduce_and work_group_reduce_or work_group_reduce_xor \
         work_group_scan_inclusive_and work_group_scan_inclusive_or work_group_scan_inclusive_xor \
         work_group_scan_exclusive_and work_group_scan_exclusive_or work_group_scan_exclusive_xor",
        INTS, V1, "T(T)", WORK_GROUP),
    row("work_group_reduce_logical_and work_group_reduce_logical_or work_group_reduce_logical_xor \
         work_group_scan_inclusive_logical_and work_group_scan_inclusive_logical_or \
         work_group_scan_inclusive_logical_xor work_group_scan_exclusive_logical_and \
         work_group_scan_exclusive_logical_or work_group_scan_exclusive_logical_xor",
        NONE, V1, "n(n)", WORK_GROUP),

    // Sub-groups.
    query("get_sub_group_size", Query::SubgroupSize),
    query("get_max_sub_group_size", Query::MaxSubgroupSize),
    query("get_num_sub_groups", Query::NumSubgroups),
    query("get_enqueued_num_sub_groups", Query::EnqueuedNumSubgroups),
    query("get_sub_group_id", Query::SubgroupId),
    query("get_sub_group_local_id", Query::SubgroupLocalId),
    sub("sub_group_barrier", NONE, "v(u)", Subgroup::Barrier),
    sub("sub_group_barrier", NONE, "v(u,n)", Subgroup::Barrier),
    sub("sub_group_all sub_group_non_uniform_all", NONE, "n(n)", Subgroup::All),
    sub("sub_group_any sub_group_non_uniform_any", NONE, "n(n)", Subgroup::Any),
    sub("sub_group_non_uniform_all_equal", A, "n(T)", Subgroup::AllEqual),
    sub("sub_group_elect", NONE, "n()", Subgroup::Elect),
    vectors("sub_group_broadcast sub_group_non_uniform_broadcast", "T(T,u)", Subgroup::Shuffle),
    sub("sub_group_broadcast_first", A, "T(T)", Subgroup::BroadcastFirst),
    sub("sub_group_shuffle", A, "T(T,u)", Subgroup::Shuffle),
    sub("sub_group_shuffle_xor", A, "T(T,u)", Subgroup::ShuffleXor),
    sub("sub_group_shuffle_up", A, "T(T,u)", Subgroup::ShuffleUp),
    sub("sub_group_shuffle_down", A, "T(T,u)", Subgroup::ShuffleDown),
    sub("sub_group_rotate", A, "T(T,n)", Subgroup::Rotate),
    sub("sub_group_clustered_rotate", A, "T(T,n,u)", Subgroup::Rotate),
    // cl_intel_subgroups, and the types of those that follow it.
    vectors("intel_sub_group_shuffle", "T(T,u)", Subgroup::Shuffle),
    vectors("intel_sub_group_shuffle_xor", "T(T,u)", Subgroup::ShuffleXor),
    vectors("intel_sub_group_shuffle_up", "T(T,T,u)", Subgroup::ShuffleUpTwo),
    vectors("intel_sub_group_shuffle_down", "T(T,T,u)", Subgroup::ShuffleDownTwo),
    sub("sub_group_reduce_add sub_group_reduce_min sub_group_reduce_max \
         sub_group_non_uniform_reduce_add sub_group_non_uniform_reduce_mul \
         sub_group_non_uniform_reduce_min sub_group_non_uniform_reduce_max", A, "T(T)", Subgroup::Reduce),
    sub("sub_group_non_uniform_reduce_and sub_group_non_uniform_reduce_or sub_group_non_uniform_reduce_xor",
        I, "T(T)", Subgroup::Reduce),
    sub("sub_group_non_uniform_reduce_logical_and sub_group_non_uniform_reduce_logical_or \
         sub_group_non_uniform_reduce_logical_xor", NONE, "n(n)", Subgroup::Reduce),
    sub("sub_group_clustered_reduce_add sub_group_clustered_reduce_mul \
         sub_group_clustered_reduce_min sub_group_clustered_reduce_max", A, "T(T,u)", Subgroup::Reduce),
    sub("sub_group_clustered_reduce_and sub_group_clustered_reduce_or sub_group_clustered_reduce_xor",
        I, "T(T,u)", Subgroup::Reduce),
    sub("sub_group_clustered_reduce_logical_and sub_group_clustered_reduce_logical_or \
         sub_group_clustered_reduce_logical_xor", NONE, "n(n,u)", Subgroup::Reduce),
    sub("sub_group_scan_inclusive_add sub_group_scan_inclusive_min sub_group_scan_inclusive_max \
         sub_group_non_uniform_scan_inclusive_add sub_group_non_uniform_scan_inclusive_mul \
         sub_group_non_uniform_scan_inclusive_min sub_group_non_uniform_scan_inclusive_max",
        A, "T(T)", Subgroup::ScanInclusive),
    sub("sub_group_non_uniform_scan_inclusive_and sub_group_non_uniform_scan_inclusive_or \
         sub_group_non_uniform_scan_inclusive_xor", I, "T(T)", Subgroup::ScanInclusive),
    sub("sub_group_non_uniform_scan_inclusive_logical_and sub_group_non_uniform_scan_inclusive_logical_or \
         sub_group_non_uniform_scan_inclusive_logical_xor", NONE, "n(n)", Subgroup::ScanInclusive),
    sub("sub_group_scan_exclusive_add sub_group_scan_exclusive_min sub_group_scan_exclusive_max \
         sub_group_non_uniform_scan_exclusive_add sub_group_non_uniform_scan_exclusive_mul \
         sub_group_non_uniform_scan_exclusive_min sub_group_non_uniform_scan_exclusive_max",
        A, "T(T)", Subgroup::ScanExclusive),
    sub("sub_group_non_uniform_scan_exclusive_and sub_group_non_uniform_scan_exclusive_or \
         sub_group_non_uniform_scan_exclusive_xor", I, "T(T)", Subgroup::ScanExclusive),
    sub("sub_group_non_uniform_scan_exclusive_logical_and sub_group_non_uniform_scan_exclusive_logical_or \
         sub_group_non_uniform_scan_exclusive_logical_xor", NONE, "n(n)", Subgroup::ScanExclusive),
    ballot("sub_group_ballot", "b(n)"),
    ballot("sub_group_inverse_ballot", "n(b)"),
    ballot("sub_group_ballot_bit_extract", "n(b,u)"),
    ballot("sub_group_ballot_bit_count sub_group_ballot_inclusive_scan sub_group_ballot_exclusive_scan \
            sub_group_ballot_find_lsb sub_group_ballot_find_msb", "u(b)"),
    ballot("get_sub_group_eq_mask get_sub_group_ge_mask get_sub_group_gt_mask get_sub_group_le_mask \
            get_sub_group_lt_mask", "b()"),

    // Internal functions of the library.
    sub("__cl_ballot", NONE, "z(n)", Subgroup::Ballot),
];
