//! `CLOOM_COUNTS`: the operations of kernels whose counts are known. What a launch costs beside its work-items drops
//! out: the counts of a launch are subtracted from those of one with more work-items or repetitions.

mod common;

use common::Bench;
use std::collections::BTreeMap;

type Counts = BTreeMap<String, i64>;

/// Whether this machine counts and has the vectors of 32 bytes that the numbers below are of.
fn has_avx2() -> bool {
    cfg!(target_arch = "x86_64") && cloom_caps::cpu::here().any(|level| level.name == "avx2")
}

/// The counts of the last launch of a kernel with one group.
fn counted(source: &str, args: &str, items: usize) -> Counts {
    let b = Bench::new().set("CLOOM_CPU", "avx2").set("CLOOM_THREADS", "1").set("CLOOM_CACHE", "0");
    let path = b.path("counts.json");
    let b = b.set("CLOOM_COUNTS", &path);
    b.file("k.cl", source);
    b.cloom(&format!("run k.cl {args} --global {items} --local {items} --verify")).expect(0);
    let text = std::fs::read_to_string(path).unwrap();
    let line: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&line["kernel"], &line["groups"]), (&"k".into(), &1.into()), "{text}");
    line["ops"].as_object().unwrap().iter().map(|(op, n)| (op.clone(), n.as_i64().unwrap())).collect()
}

/// What `more` has beyond `less`.
fn beyond(less: &Counts, more: &Counts) -> Counts {
    more.iter().map(|(op, n)| (op.clone(), n - less.get(op).unwrap_or(&0))).filter(|(_, n)| *n != 0).collect()
}

fn of(counts: &Counts, ops: &[&str]) -> Vec<i64> {
    ops.iter().map(|op| counts.get(*op).copied().unwrap_or(0)).collect()
}

#[test]
fn a_copy_loads_and_stores_each_vector_once() {
    if !has_avx2() {
        return;
    }
    let source = "kernel void k(global float *y, global const float *x) { size_t i = get_global_id(0); y[i] = x[i]; }";
    let run = |n| counted(source, "--arg y=2048 --arg x=2048:index", n);
    let more = beyond(&run(1024), &run(2048));
    assert_eq!(of(&more, &["load32", "store32", "fma32", "gather32", "load8"]), [128, 128, 0, 0, 0], "{more:?}");
}

#[test]
fn a_loop_of_fused_multiplications_has_one_for_each_vector_and_repetition() {
    if !has_avx2() {
        return;
    }
    let source = "kernel void k(global float *y, int n) {
        size_t i = get_global_id(0);
        float a = y[i];
        for (int j = 0; j < n; j++) a = fma(a, 0.5f, 1.0f);
        y[i] = a;
    }";
    let run = |n| counted(source, &format!("--arg y=1024 --arg n={n}"), 1024);
    let more = beyond(&run(100), &run(300));
    assert_eq!(of(&more, &["fma32", "load32", "store32", "divide32"]), [200 * 1024 / 8, 0, 0, 0], "{more:?}");
}

#[test]
fn a_gather_is_counted_by_its_elements() {
    if !has_avx2() {
        return;
    }
    let source = "kernel void k(global float *y, global const float *x, global const int *at) {
        size_t i = get_global_id(0);
        y[i] = x[at[i]];
    }";
    let run = |n| counted(source, "--arg y=2048 --arg x=2048:index --arg at=2048:index", n);
    let more = beyond(&run(1024), &run(2048));
    // Without gathers, each lane loads its index and its element.
    assert_eq!(of(&more, &["gather32", "load8", "store32"]), [0, 2048, 128], "{more:?}");
}

#[test]
fn both_sides_of_a_barrier_are_counted() {
    if !has_avx2() {
        return;
    }
    let source = "kernel void k(global int *y, global const int *x, local int *t) {
        size_t i = get_local_id(0), n = get_local_size(0);
        t[i] = x[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        y[i] = t[n - 1 - i] * 3;
    }";
    let run = |n| counted(source, "--arg y=2048 --arg x=2048:index --arg t=2048", n);
    let more = beyond(&run(1024), &run(2048));
    assert_eq!(of(&more, &["store32", "load32", "gather32"]), [256, 256, 0], "{more:?}");
}

#[test]
fn divisions_and_atomic_updates_are_classes_of_their_own() {
    if !has_avx2() {
        return;
    }
    let source = "kernel void k(global int *y, global const int *at) {
        size_t i = get_global_id(0);
        atomic_inc(y + at[i]);
    }";
    let run = |n| counted(source, "--arg y=2048:1 --arg at=2048:index", n);
    let more = beyond(&run(1024), &run(2048));
    assert_eq!(of(&more, &["atomic8"]), [1024], "{more:?}");
    let source = "kernel void k(global float *y, global float *x) {
        size_t i = get_global_id(0);
        y[i] = sqrt(x[i]);
    }";
    let run = |n| counted(source, "--arg y=2048:1 --arg x=2048:index", n);
    let more = beyond(&run(1024), &run(2048));
    assert_eq!(of(&more, &["divide32", "divide16"]), [128, 0], "{more:?}");
}
