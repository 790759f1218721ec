//! Kernels with a data race, which is found at the lines of both accesses, and kernels that look alike and have none.
//!
//! The parties stand in the source: `/*1*/` and `/*2*/` are in the lines of the accesses that race, in any order; a
//! kernel without them has no race. Both marks in one line: one access races with itself in another work-item.

use cloom_check::{Race, RaceDetector};
use cloom_compiler::{Compiler, Config, Source};
use cloom_interp::{Arg, Machine, NdRange, Options, Program};
use cloom_ir::ParamKind;
use cloom_target::Target;

/// The races of a kernel: its buffers are of 4096 zeros, its numbers 64.
fn races(source: &str, global: u64, local: u64) -> Vec<Race> {
    let compiler = Compiler::new(Config::default());
    let target = Target::generic();
    let source = Source { name: "k.cl", text: source.as_bytes() };
    let built = compiler.build(&source, "-cl-std=CL3.0", &target);
    let program = built.result.unwrap_or_else(|_| panic!("{}", built.log));
    let module = compiler.linked(&program, "k").unwrap();
    let kernel = module.find("k").unwrap();
    let program = Program::new(module).unwrap();
    let mut machine = Machine::new(&program, Options::default()).unwrap();
    let meta = program.module.funcs[kernel].kernel.as_deref().unwrap();
    let args: Vec<Arg> = meta
        .params
        .iter()
        .map(|p| match p.kind {
            ParamKind::Local => Arg::Local(1024),
            ParamKind::Global | ParamKind::Constant => Arg::Buffer(machine.buffer(&[0; 4096]).unwrap()),
            _ => Arg::Bytes(64u64.to_le_bytes()[..p.size as usize].to_vec()),
        })
        .collect();
    let range = NdRange::linear(global, local);
    let mut detector = RaceDetector::new(range);
    machine.run_kernel(kernel, &range, &args, &mut detector).unwrap();
    detector.races().to_vec()
}

fn line(source: &str, mark: &str) -> Option<u32> {
    let at = source.find(mark)?;
    Some(source[..at].matches('\n').count() as u32 + 1)
}

/// Checks one kernel, of which `name` says what it is.
fn check(name: &str, source: &str) {
    let found = races(source, 64, 16);
    let lines = |race: &Race| {
        let mut lines = [race.first.at.span.line, race.second.at.span.line];
        lines.sort_unstable();
        lines
    };
    match (line(source, "/*1*/"), line(source, "/*2*/")) {
        (Some(a), Some(b)) => {
            assert!(!found.is_empty(), "{name}: no race is found");
            assert!(found.iter().all(|race| lines(race) == [a.min(b), a.max(b)]), "{name}: {found:#?}");
            let is_local = source.contains("/*local*/");
            assert!(found.iter().all(|race| race.is_local == is_local), "{name}: {found:#?}");
            assert_eq!(
                found.iter().any(|race| race.between_groups),
                source.contains("/*groups*/"),
                "{name}: {found:#?}"
            );
        }
        _ => assert!(found.is_empty(), "{name}: {found:#?}"),
    }
}

#[test]
fn races_in_local_memory() {
    let local = "
kernel void k(global int *p, local int *t) { /*local*/
    int i = get_local_id(0), n = get_local_size(0);
    t[i] = p[get_global_id(0)]; /*1*/
    p[get_global_id(0)] = t[(i + 1) % n]; /*2*/
}";
    check("a barrier is missing", local);
    check("the barrier is there", &local.replace(" /*1*/", " barrier(CLK_LOCAL_MEM_FENCE);").replace("/*2*/", ""));
    check("the barrier orders global memory only", &local.replace(" /*1*/", " /*1*/ barrier(CLK_GLOBAL_MEM_FENCE);"));
    check("each reads its own", &local.replace("(i + 1) % n", "i").replace("/*1*/", "").replace("/*2*/", ""));
    let tile = "
kernel void k(global int *p, local int *t) { /*local*/
    int i = get_local_id(0), n = get_local_size(0), sum = 0;
    for (int r = 0; r < 3; r++) {
        t[i] = p[get_global_id(0)] + r; /*1*/
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += t[n - 1 - i]; /*2*/
    }
    p[get_global_id(0)] = sum;
}";
    check("the second barrier of a loop is missing", tile);
    check("both barriers of a loop", &tile.replace("/*2*/", "barrier(CLK_LOCAL_MEM_FENCE);").replace("/*1*/", ""));
    let reduce = "
kernel void k(global int *p, local int *t) { /*local*/
    int i = get_local_id(0);
    t[i] = p[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
        if (i < s) t[i] += t[i + s]; /*1*/ /*2*/
    }
    if (i == 0) p[512 + get_group_id(0)] = t[0];
}";
    check("a reduction without barriers", reduce);
    check("a reduction with barriers", &reduce.replace(" /*1*/ /*2*/", " barrier(CLK_LOCAL_MEM_FENCE);"));
    let one = "
kernel void k(global int *p) {
    local int flag; /*local*/
    flag = get_local_id(0); /*1*/ /*2*/
    barrier(CLK_LOCAL_MEM_FENCE);
    p[get_global_id(0)] = flag;
}";
    check("all write one variable", one);
    check("one writes it", &one.replace("flag = get_local_id(0); /*1*/ /*2*/", "if (get_local_id(0) == 3) flag = 3;"));
    let bytes = "
kernel void k(global int *p) {
    local uchar t[17];
    t[get_local_id(0)] = get_global_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    p[get_global_id(0)] = t[15 - get_local_id(0)];
}";
    check("neighbouring bytes are other objects", bytes);
    check(
        "a race through a generic pointer",
        "
int at(int *t, int i) { return t[i]; } /*2*/
kernel void k(global int *p, local int *t) { /*local*/
    int i = get_local_id(0);
    int *q = get_global_id(0) > 100 ? (int *)p : (int *)t;
    t[i] = i; /*1*/
    p[get_global_id(0)] = at(q, i ^ 1);
}",
    );
    check(
        "a work-group function orders itself",
        "
kernel void k(global int *p) {
    int sum = work_group_scan_inclusive_add((int)get_local_id(0));
    sum += work_group_reduce_max(sum);
    p[get_global_id(0)] = sum + work_group_broadcast(sum, 3);
}",
    );
    check(
        "async copies end at the wait",
        "
kernel void k(global int *p, local int *t) {
    event_t e = async_work_group_copy(t, p + 64 * get_group_id(0), 16, 0);
    wait_group_events(1, &e);
    p[64 * get_group_id(0) + 32 + get_local_id(0)] = t[15 - get_local_id(0)];
}",
    );
}

#[test]
fn races_in_global_memory() {
    let global = "
kernel void k(global int *p) {
    int i = get_global_id(0);
    p[i] = i; /*1*/
    barrier(CLK_LOCAL_MEM_FENCE);
    p[512 + i] = p[i ^ 1]; /*2*/
}";
    check("a local fence does not order global memory", global);
    check("a global one does", &global.replace("CLK_LOCAL", "CLK_GLOBAL").replace("/*1*/", "").replace("/*2*/", ""));
    let next = "
kernel void k(global int *p) { /*groups*/
    int i = get_global_id(0);
    p[i] = i; /*1*/
    barrier(CLK_GLOBAL_MEM_FENCE);
    p[512 + i] = p[(i + 16) % 64]; /*2*/
}";
    check("no barrier orders groups", next);
    check(
        "a sum of all",
        "
kernel void k(global int *p) { /*groups*/
    p[0] += get_global_id(0); /*1*/ /*2*/
}",
    );
    check("an atomic sum of all", "kernel void k(global int *p) { atomic_add(p, (int)get_global_id(0)); }");
    check(
        "a plain read beside an atomic sum",
        "
kernel void k(global int *p) { /*groups*/
    atomic_add(p, 1); /*1*/
    p[64 + get_global_id(0)] = p[0]; /*2*/
}",
    );
    check(
        "a histogram",
        "
kernel void k(global int *p, local int *t) {
    int i = get_local_id(0);
    if (i < 8) t[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&t[get_global_id(0) % 8]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 8) atomic_add(&p[i], t[i]);
}",
    );
    check(
        "all read what nobody writes",
        "
kernel void k(global int *p, global const int *q) {
    p[get_global_id(0)] = q[0] + q[1] + q[get_global_id(0) / 2];
}",
    );
    let half = "
kernel void k(global short *p) { /*groups*/
    int i = get_global_id(0);
    p[i] = i; /*1*/
    if (i == 40) vstore2((short2)(1, 2), 2, p); /*2*/
}";
    check("parts of a vector", half);
}

#[test]
fn orders_by_atomics() {
    // The last group to finish sums up: the usual reduction in one launch.
    let last = "
kernel void k(global int *p, global atomic_int *count) { /*groups*/
    local int is_last;
    p[get_group_id(0) * 16 + get_local_id(0)] = 1; /*1*/
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        is_last = atomic_fetch_add_explicit(count, 1, ORDER, memory_scope_device) == 3;
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    if (is_last)
        p[512 + get_local_id(0)] = p[get_local_id(0)] + p[16 + get_local_id(0)]; /*2*/
}";
    let fixed = last.replace("ORDER", "memory_order_acq_rel").replace("/*1*/", "").replace("/*2*/", "");
    check("the last group reads what others have released", &fixed);
    check("a relaxed counter releases nothing", &last.replace("ORDER", "memory_order_relaxed"));
    let fences = "
kernel void k(global int *p, global atomic_int *count) {
    local int is_last;
    p[get_group_id(0) * 16 + get_local_id(0)] = 1;
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
        is_last = atomic_fetch_add_explicit(count, 1, memory_order_relaxed, memory_scope_device) == 3;
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
    }
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    if (is_last)
        p[512 + get_local_id(0)] = p[get_local_id(0)] + p[16 + get_local_id(0)];
}";
    check("fences around a relaxed counter", fences);
    let flag = "
kernel void k(global int *p, global atomic_int *flag) { /*groups*/
    if (get_global_id(0) == 0) {
        p[0] = 7; /*1*/
        atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
    } else if (atomic_load_explicit(flag, LOAD, memory_scope_device) == 1) {
        if (get_group_id(0) > 0) p[get_global_id(0)] = p[0]; /*2*/
    }
}";
    check(
        "a flag that is read with acquire",
        &flag.replace("LOAD", "memory_order_acquire").replace("/*1*/", "").replace("/*2*/", ""),
    );
    check("a flag that is read relaxed", &flag.replace("LOAD", "memory_order_relaxed"));
}
