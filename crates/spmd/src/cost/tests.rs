//! The width of small kernels, each on one side of a limit of the cost model, and its reason.

use super::WidthReason::{self, *};
use crate::options::VectorOptions;
use crate::{Operation, Reason};
use cloom_target::Target;

/// The number of lanes chosen for a kernel on AVX2.
fn chosen_lanes(text: &str) -> u16 {
    chosen_lanes_for("x86-64-v3", text)
}

/// A kernel compiled for a processor.
fn compiled(cpu: &str, text: &str) -> crate::WorkGroup {
    let mut module = cloom_ir::parse(text).unwrap();
    let kernel = module.kernels().next().unwrap();
    let target: Target = format!("x86_64-unknown-linux-gnu:{cpu}").parse().unwrap();
    let options = VectorOptions::default();
    crate::work_group_function(&mut module, kernel, options, &target, &Default::default()).unwrap()
}

/// The number of lanes chosen for a kernel on a processor.
fn chosen_lanes_for(cpu: &str, text: &str) -> u16 {
    compiled(cpu, text).launch.lanes
}

/// Why a kernel has its number of lanes on AVX2.
fn reason(text: &str) -> Option<WidthReason> {
    let group = compiled("x86-64-v3", text);
    let width = group.decisions.iter().find(|d| d.operation == Operation::Width)?;
    if let Reason::Width(reason) = width.reason { Some(reason) } else { None }
}

/// The number of lanes for a kernel that adds a short vector to itself.
fn lanes(ty: &str) -> u16 {
    let (add, size) = if ty.starts_with('f') { ("fadd", 4) } else { ("add", 1) };
    let text = format!(
        "func external @k(ptr<global>) kernel {{
  param \"p\" \"float*\" global size 8 align 8
}} {{
bb0(v0: ptr<global>):
    v1: i64 = query global_id 0
    v2: i64 = const 0x40
    v3: i64 = mul v1, v2
    v4: ptr<global> = ptradd v0, v3
    v5: {ty} = load v4 align {size}
    v6: {ty} = {add} v5, v5
    store v4, v6 align {size}
    ret
}}"
    );
    chosen_lanes(&text)
}

#[test]
fn short_vectors_that_fill_registers_are_scalar() {
    assert_eq!((lanes("f32x4"), lanes("f32x8"), lanes("f32x16")), (16, 1, 1));
    // Vectorised too, bytes fill no more than 128 bits.
    assert_eq!((lanes("i8x8"), lanes("i8x16"), lanes("i16x8")), (16, 1, 32));
}

/// The number of lanes for a kernel that loads `numbers` values and then multiplies them, the last one first.
fn lanes_of_many(numbers: usize) -> u16 {
    let mut body = String::new();
    for k in 0..numbers {
        body += &format!("    v{}: f32 = load v4 align 4\n", 10 + k);
    }
    let mut sum = 10 + numbers - 1;
    for k in (0..numbers - 1).rev() {
        body += &format!("    v{}: f32 = fmul v{sum}, v{}\n", 200 + k, 10 + k);
        sum = 200 + k;
    }
    let text = format!(
        "func external @k(ptr<global>) kernel {{
  param \"p\" \"float*\" global size 8 align 8
}} {{
bb0(v0: ptr<global>):
    v1: i64 = query global_id 0
    v2: i64 = const 0x4
    v3: i64 = mul v1, v2
    v4: ptr<global> = ptradd v0, v3
{body}    store v4, v{sum} align 4
    ret
}}"
    );
    chosen_lanes(&text)
}

#[test]
fn many_live_values_get_one_register_each_also_without_loops() {
    assert_eq!((lanes_of_many(30), lanes_of_many(40)), (16, 8));
}

/// The number of lanes for a kernel with `chains` independent recurrences in a loop.
fn lanes_of_chains(chains: usize) -> u16 {
    let list = |first: usize| (first..first + chains).map(|v| format!("v{v}")).collect::<Vec<_>>().join(", ");
    let params: Vec<String> = (100..100 + chains).map(|v| format!("v{v}: f32")).collect();
    let fmas: String = (0..chains).map(|c| format!("    v{}: f32 = fma v{}, v6, v7\n", 200 + c, 100 + c)).collect();
    let sums: String = (1..chains)
        .map(|c| format!("    v{}: f32 = fadd v{}, v{}\n", 300 + c, if c == 1 { 100 } else { 299 + c }, 100 + c))
        .collect();
    let text = format!(
        "func external @k(ptr<global>, f32, f32, i32) kernel {{
  param \"p\" \"float*\" global size 8 align 8
  param \"a\" \"float\" value size 4 align 4
  param \"b\" \"float\" value size 4 align 4
  param \"n\" \"int\" value size 4 align 4
}} {{
bb0(v0: ptr<global>, v6: f32, v7: f32, v8: i32):
    v1: i64 = query global_id 0
    v2: i64 = const 0x4
    v3: i64 = mul v1, v2
    v4: ptr<global> = ptradd v0, v3
    v5: f32 = load v4 align 4
    v9: i32 = const 0x0
    v10: i32 = const 0x1
    jump bb1(v9, {loads})
bb1(v11: i32, {params}):
    v12: i1 = icmp ult v11, v8
    br v12, bb2, bb3
bb2:
{fmas}    v13: i32 = add v11, v10
    jump bb1(v13, {next})
bb3:
{sums}    store v4, v{last} align 4
    ret
}}",
        loads = vec!["v5"; chains].join(", "),
        params = params.join(", "),
        next = list(200),
        last = 299 + chains,
    );
    chosen_lanes(&text)
}

#[test]
fn loops_not_bound_by_latency_keep_recurrences_in_registers() {
    // With two registers per vector, all sixteen would be full, with none left for the factor and the summand.
    assert_eq!((lanes_of_chains(6), lanes_of_chains(8)), (16, 8));
    // A loop bound by latency uses all registers.
    assert!(lanes_of_chains(2) >= 32);
}

/// A kernel that doubles elements at a hash of the id, whose bits in `mask` are kept, and then adds `sums` times.
fn scatter(mask: u32, sums: u32) -> String {
    let more: String = (0..sums).map(|n| format!("    v{}: i32 = add v{}, v7\n", 9 + n, 8 + n)).collect();
    format!(
        "func external @k(ptr<global>) kernel {{
  param \"p\" \"int*\" global size 8 align 8
}} {{
bb0(v0: ptr<global>):
    v1: i64 = query global_id 0
    v2: i64 = const 0x3779b1
    v3: i64 = mul v1, v2
    v4: i64 = const {mask:#x}
    v5: i64 = and v3, v4
    v6: ptr<global> = ptradd v0, v5
    v7: i32 = load v6 align 4
    v8: i32 = add v7, v7
{more}    store v6, v{} align 4
    ret
}}",
        8 + sums
    )
}

#[test]
fn kernels_that_only_access_scattered_memory_are_scalar_but_where_lanes_stay_near() {
    let (far, near) = (scatter(0xffffc, 0), scatter(0x3c, 0));
    assert_eq!((chosen_lanes(&far), chosen_lanes(&scatter(0xffffc, 20))), (1, 16));
    assert_eq!(chosen_lanes(&near), 1, "there are no scatters");
    assert_eq!([reason(&far), reason(&scatter(0xffffc, 20))], [Some(Scatters), Some(FitsInterleaved)]);
    for cpu in ["x86-64-v4+intel", "x86-64-v4"] {
        assert_eq!((chosen_lanes_for(cpu, &far), chosen_lanes_for(cpu, &near)), (1, 8), "{cpu}");
    }
}

/// The number of lanes for a kernel that counts in local memory what it reads in a loop, with a stride of
/// `distance` bytes between lanes.
fn lanes_of_histogram(distance: u64) -> u16 {
    let text = format!(
        "global @bins local size 1024 align 4

func external @k(ptr<global>, i64) kernel {{
  param \"p\" \"uint*\" global size 8 align 8
  param \"n\" \"long\" value size 8 align 8
}} {{
bb0(v0: ptr<global>, v1: i64):
    v2: ptr<local> = globaladdr @bins
    v3: i64 = query global_id 0
    v4: i64 = const {distance:#x}
    v5: i64 = mul v3, v4
    v6: ptr<global> = ptradd v0, v5
    v7: i64 = const 0x0
    v8: i32 = const 0x1
    v9: i64 = const 0x3fc
    v10: i64 = const 0x400
    jump bb1(v7)
bb1(v11: i64):
    v12: i1 = icmp ult v11, v1
    br v12, bb2, bb3
bb2:
    v13: ptr<global> = ptradd v6, v11
    v14: i32 = load v13 align 4
    v15: i64 = zext v14
    v16: i64 = and v15, v9
    v17: ptr<local> = ptradd v2, v16
    v18: i32 = atomic_add relaxed group v17, v8
    v19: i64 = add v11, v10
    jump bb1(v19)
bb3:
    ret
}}"
    );
    chosen_lanes(&text)
}

#[test]
fn histograms_are_vectorised_only_to_share_cache_lines() {
    assert_eq!((lanes_of_histogram(4), lanes_of_histogram(4096)), (8, 1));
}

/// The number of lanes for a kernel that scatters what it loads in order, after so many more additions.
fn lanes_of_permutation(more: u32) -> u16 {
    let sums: String = (0..more).map(|n| format!("    v{}: i32 = add v{}, v8\n", 20 + n, 19 + n)).collect();
    let text = format!(
        "func external @k(ptr<global>, ptr<global>) kernel {{
  param \"p\" \"int*\" global size 8 align 8
  param \"q\" \"int*\" global size 8 align 8
}} {{
bb0(v0: ptr<global>, v1: ptr<global>):
    v2: i64 = query global_id 0
    v3: i64 = const 0x4
    v4: i64 = mul nsw v2, v3
    v5: ptr<global> = ptradd v0, v4
    v8: i32 = load v5 align 4
    v19: i32 = add v8, v8
{sums}    v9: i64 = sext v8
    v10: i64 = mul nsw v9, v3
    v11: ptr<global> = ptradd v1, v10
    store v11, v{} align 4
    ret
}}",
        19 + more
    );
    chosen_lanes(&text)
}

#[test]
fn kernels_that_mostly_scatter_have_one_register_per_value() {
    assert_eq!((lanes_of_permutation(0), lanes_of_permutation(20)), (8, 16));
}

/// The number of lanes for a kernel that sums `q[p[k]]` over a row for each work-item, whose length it loads; rows
/// are `distance` bytes apart.
fn lanes_of_rows(distance: u64) -> u16 {
    let text = format!(
        "func external @k(ptr<global>, ptr<global>) kernel {{
  param \"p\" \"int*\" global size 8 align 8
  param \"q\" \"float*\" global size 8 align 8
}} {{
bb0(v0: ptr<global>, v1: ptr<global>):
    v2: i64 = query global_id 0
    v3: i64 = const {distance:#x}
    v4: i64 = mul nsw v2, v3
    v5: ptr<global> = ptradd v0, v4
    v6: i32 = load v5 align 4
    v7: i64 = const 0x4
    v8: i32 = const 0x0
    v9: i32 = const 0x1
    v10: f32 = const 0x0
    jump bb1(v8, v5, v10)
bb1(v11: i32, v12: ptr<global>, v13: f32):
    v14: i1 = icmp ult v11, v6
    br v14, bb2, bb3
bb2:
    v15: i32 = load v12 align 4
    v16: i64 = zext v15
    v17: i64 = mul nuw v16, v7
    v18: ptr<global> = ptradd v1, v17
    v19: f32 = load v18 align 4
    v20: f32 = fadd v13, v19
    v21: i32 = add nuw v11, v9
    v22: ptr<global> = ptradd v12, v7
    jump bb1(v21, v22, v20)
bb3:
    store v5, v13 align 4
    ret
}}"
    );
    chosen_lanes(&text)
}

#[test]
fn short_sparse_rows_are_scalar_however_near_to_each_other() {
    assert_eq!((lanes_of_rows(256), lanes_of_rows(36)), (1, 1));
    assert!(lanes_of_rows(4) > 1);
}

#[test]
fn short_vectors_side_by_side_are_not_gathered() {
    let text = "func external @k(ptr<global>, ptr<global>, i64) kernel {
  param \"p\" \"float*\" global size 8 align 8
  param \"q\" \"float*\" global size 8 align 8
  param \"n\" \"ulong\" value size 8 align 8
} {
bb0(v0: ptr<global>, v1: ptr<global>, v2: i64):
    v3: i64 = query local_id 0
    v4: i64 = const 0x10
    v5: i64 = const 0x40
    v6: f32x4 = const 0x0
    jump bb1(v3, v6)
bb1(v7: i64, v8: f32x4):
    v9: i1 = icmp ult v7, v2
    br v9, bb2, bb3
bb2:
    v10: i64 = mul nsw v7, v4
    v11: ptr<global> = ptradd v0, v10
    v12: f32x4 = load v11 align 4
    v13: ptr<global> = ptradd v1, v10
    v14: f32x4 = load v13 align 4
    v15: f32x4 = fma v12, v14, v8
    v16: i64 = add nsw v7, v5
    jump bb1(v16, v15)
bb3:
    v17: i64 = mul nsw v3, v4
    v18: ptr<global> = ptradd v1, v17
    store v18, v8 align 4
    ret
}";
    assert!(chosen_lanes(text) > 1);
}
