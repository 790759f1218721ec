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

/// Checks what the second launch of a kernel (arguments and number of work-items) counts beyond the first one, on
/// machines that have the vectors of the expected numbers.
#[track_caller]
fn check(source: &str, launches: [(&str, usize); 2], expected: &[(&str, i64)]) {
    if !has_avx2() {
        return;
    }
    let [less, more] = launches.map(|(args, items)| counted(source, args, items));
    for (op, n) in expected {
        let of = |counts: &Counts| counts.get(*op).copied().unwrap_or(0);
        assert_eq!(of(&more) - of(&less), *n, "{op} of {less:?} and {more:?}");
    }
}

/// The same arguments with 1024 and 2048 work-items.
fn doubled(args: &str) -> [(&str, usize); 2] {
    [(args, 1024), (args, 2048)]
}

#[test]
fn a_copy_loads_and_stores_each_vector_once() {
    let source = "kernel void k(global float *y, global const float *x) { size_t i = get_global_id(0); y[i] = x[i]; }";
    check(
        source,
        doubled("--arg y=2048 --arg x=2048:index"),
        &[("load32", 128), ("store32", 128), ("fma32", 0), ("gather32", 0), ("load8", 0)],
    );
}

#[test]
fn a_loop_of_fused_multiplications_has_one_for_each_vector_and_repetition() {
    let source = "kernel void k(global float *y, int n) {
        size_t i = get_global_id(0);
        float a = y[i];
        for (int j = 0; j < n; j++) a = fma(a, 0.5f, 1.0f);
        y[i] = a;
    }";
    let launches = ["--arg y=1024 --arg n=100", "--arg y=1024 --arg n=300"].map(|args| (args, 1024));
    check(source, launches, &[("fma32", 200 * 1024 / 8), ("load32", 0), ("store32", 0), ("divide32", 0)]);
}

#[test]
fn a_gather_is_counted_by_its_elements() {
    let source = "kernel void k(global float *y, global const float *x, global const int *at) {
        size_t i = get_global_id(0);
        y[i] = x[at[i]];
    }";
    // Without gathers, each lane loads its index and its element.
    check(
        source,
        doubled("--arg y=2048 --arg x=2048:index --arg at=2048:index"),
        &[("gather32", 0), ("load8", 2048), ("store32", 128)],
    );
}

#[test]
fn both_sides_of_a_barrier_are_counted() {
    let source = "kernel void k(global int *y, global const int *x, local int *t) {
        size_t i = get_local_id(0), n = get_local_size(0);
        t[i] = x[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        y[i] = t[n - 1 - i] * 3;
    }";
    check(
        source,
        doubled("--arg y=2048 --arg x=2048:index --arg t=2048"),
        &[("store32", 256), ("load32", 256), ("gather32", 0)],
    );
}

#[test]
fn divisions_and_atomic_updates_are_classes_of_their_own() {
    let source = "kernel void k(global int *y, global const int *at) {
        size_t i = get_global_id(0);
        atomic_inc(y + at[i]);
    }";
    check(source, doubled("--arg y=2048:1 --arg at=2048:index"), &[("atomic8", 1024)]);
    let source = "kernel void k(global float *y, global float *x) {
        size_t i = get_global_id(0);
        y[i] = sqrt(x[i]);
    }";
    check(source, doubled("--arg y=2048:1 --arg x=2048:index"), &[("divide32", 128), ("divide16", 0)]);
}
