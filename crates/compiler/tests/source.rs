//! From source to results on the CPU device.

mod common;

use cloom_artifact::ImageKind;
use cloom_compiler::passes;
use cloom_compiler::{CompileError, Compiler, Config, Failure, Header, Program, Source, Variant};
use cloom_hal::Device;
use cloom_hal_cpu::CpuDevice;
use cloom_target::Target;
use common::{Arg, buffer, build, compiler, floats, ints, launch, program, run};
use std::sync::Arc;
use std::time::{Duration, Instant};

const REDUCE: &str = r#"
// Sums each group's part; works for every local size.
kernel void reduce(global const float *in, global float *out, local float *tile, int n) {
    int i = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
    tile[l] = i < n ? in[i] : 0.0f;
    for (int step = 1; step < size; step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        float other = l + step < size && l % (2 * step) == 0 ? tile[l + step] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[l] += other;
    }
    if (l == 0) out[get_group_id(0)] = tile[0];
}
kernel void saxpy(global float4 *y, global const float4 *x, float a) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}
"#;

/// A level of x86-64, which need not be this machine's: the code is inspected and not run.
fn target(level: &str) -> Target {
    format!("x86_64-unknown-linux-gnu:{level}").parse().unwrap()
}

#[test]
fn a_reduction_gives_the_sum_on_every_local_size() {
    let compiler = compiler();
    let device = CpuDevice::new(3, None);
    for options in ["", "-cl-opt-disable", "-cl-fast-relaxed-math"] {
        let program = program(&compiler, REDUCE, options);
        let executable = compiler.executable(&program, &device.info().target);
        for local in [1u64, 2, 3, 7, 32, 100] {
            let n = 1000u64;
            let groups = n.div_ceil(local);
            let input: Vec<u8> = (0..n).flat_map(|i| (i as f32).to_le_bytes()).collect();
            let (a, b) = (buffer(&device, &input), buffer(&device, &vec![0; groups as usize * 4]));
            let n_arg = (n as i32).to_le_bytes();
            let args = [Arg::Buffer(&*a), Arg::Buffer(&*b), Arg::Local(local * 4), Arg::Bytes(&n_arg)];
            launch(&device, &executable, "reduce", [n, 1, 1], [local, 1, 1], &args);
            let want: Vec<f32> =
                (0..groups).map(|g| (g * local..((g + 1) * local).min(n)).sum::<u64>() as f32).collect();
            assert_eq!(floats(&*b), want, "local size {local}, options {options:?}");
        }
    }
}

#[test]
fn vectors_and_scalars_are_passed_and_computed() {
    let compiler = compiler();
    let device = CpuDevice::new(2, None);
    let program = program(&compiler, REDUCE, "");
    let executable = compiler.executable(&program, &device.info().target);
    let bytes = |f: fn(usize) -> f32| (0..64).flat_map(|i| f(i).to_le_bytes()).collect::<Vec<u8>>();
    let (y, x) = (buffer(&device, &bytes(|i| i as f32)), buffer(&device, &bytes(|i| 2.0 * i as f32)));
    let args = [Arg::Buffer(&*y), Arg::Buffer(&*x), Arg::Bytes(&3.0f32.to_le_bytes())];
    launch(&device, &executable, "saxpy", [16, 1, 1], [4, 1, 1], &args);
    assert_eq!(floats(&*y), (0..64).map(|i| 7.0 * i as f32).collect::<Vec<_>>());
}

#[test]
fn what_is_wrong_is_told_and_told_apart() {
    let compiler = compiler();
    let bad_option = build(&compiler, REDUCE, "-no-such-option");
    assert_eq!(bad_option.result, Err(Failure::Options));
    assert!(bad_option.log.contains("-no-such-option"));
    let bad_source = build(&compiler, "kernel void k(global int *p) { *p = nonsense; }", "");
    assert_eq!(bad_source.result, Err(Failure::Program));
    assert!(bad_source.log.contains("nonsense") && bad_source.log.contains("test.cl"), "{}", bad_source.log);
    let undefined = build(&compiler, "int f(int); kernel void k(global int *p) { *p = f(1); }", "");
    assert_eq!(undefined.result, Err(Failure::Program));
    assert!(undefined.log.contains("`f"), "{}", undefined.log);
    let program = program(&compiler, REDUCE, "");
    let executable = compiler.executable(&program, &"stub:none".parse().unwrap());
    assert!(matches!(executable.kernel("reduce", Variant::Vector), Err(CompileError::NoBackend(_))));
    assert_eq!(executable.kernel("other", Variant::Vector).err(), Some(CompileError::NoKernel("other".into())));
}

#[test]
fn programs_are_compiled_apart_with_headers_and_linked() {
    let compiler = compiler();
    let device = CpuDevice::new(1, None);
    let headers = [Header { name: "twice.h".into(), text: b"int twice(int x);".to_vec() }];
    let part = |name: &str, text: &str| {
        let done = compiler.compile(&Source { name, text: text.as_bytes() }, "", &headers, &device.info().target);
        done.result.unwrap_or_else(|_| panic!("{}", done.log))
    };
    let main = part(
        "a.cl",
        "#include \"twice.h\"\nkernel void k(global int *p) { p[get_global_id(0)] = twice(get_global_id(0)); }",
    );
    let other = part("b.cl", "#include <twice.h>\nint twice(int x) { return 2 * x; }");
    assert_eq!(main.kind(), ImageKind::Object);
    assert_eq!(compiler.link(std::slice::from_ref(&main), "").result, Err(Failure::Program));
    let library = compiler.link(&[other], "-create-library").result.unwrap();
    assert_eq!(library.kind(), ImageKind::Library);
    let linked = compiler.link(&[main.clone(), library.clone()], "").result.unwrap();
    assert_eq!(linked.kind(), ImageKind::Executable);
    assert_eq!(compiler.link(&[main, library.clone(), library], "").result, Err(Failure::Program));
    // Encoding and decoding yields the same program.
    let again = compiler.load(&linked.encode()).unwrap();
    assert_eq!(again.module().to_string(), linked.module().to_string());
    let executable = compiler.executable(&again, &device.info().target);
    let p = buffer(&device, &[0; 40]);
    launch(&device, &executable, "k", [10, 1, 1], [5, 1, 1], &[Arg::Buffer(&*p)]);
    assert_eq!(ints(&*p), (0..10).map(|i| 2 * i).collect::<Vec<_>>());
}

#[test]
fn damaged_binaries_are_refused() {
    let compiler = compiler();
    let good = program(&compiler, REDUCE, "").encode();
    for i in (0..good.len()).step_by(61) {
        let mut bad = good.clone();
        bad[i] ^= 1;
        assert!(Program::decode(&bad).is_err());
    }
}

#[test]
fn the_disk_cache_gives_the_same_code_and_ignores_what_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config { cache_dir: Some(dir.path().join("cache")), background_threads: 0, ..Config::default() };
    let device = CpuDevice::new(1, None);
    let get = || {
        let compiler = Compiler::new(config.clone());
        let executable = compiler.executable(&program(&compiler, REDUCE, ""), &device.info().target);
        executable.kernel("saxpy", Variant::Vector).unwrap().clone()
    };
    let (first, second) = (get(), get());
    assert!(!first.cached && second.cached);
    assert_eq!(first.artifact, second.artifact);
    for entry in std::fs::read_dir(dir.path().join("cache")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    }
    let third = get();
    assert!(!third.cached);
    assert_eq!(first.artifact, third.artifact);
}

#[test]
fn code_without_a_pass_has_its_own_place_in_the_cache() {
    let dir = tempfile::tempdir().unwrap();
    let device = CpuDevice::new(1, None);
    let get = |names: &str| {
        let (disabled, wrong) = passes::Disabled::parse(names, &passes::all());
        assert!(wrong.is_empty(), "{wrong:?}");
        let config = Config { cache_dir: Some(dir.path().join("cache")), disabled, ..Config::default() };
        let compiler = Compiler::new(config);
        let executable = compiler.executable(&program(&compiler, REDUCE, ""), &device.info().target);
        executable.kernel("reduce", Variant::Vector).unwrap().clone()
    };
    let (all, again, without) = (get(""), get(""), get("dce,cse"));
    assert!(!all.cached && again.cached && !without.cached);
    assert!(get("cse,dce").cached, "the order of names does not matter");
    assert!(all.statistics.changes("cse") > 0);
    assert_eq!(without.statistics.changes("cse"), 0);
}

#[test]
fn what_is_contracted_suits_the_target_and_each_has_its_place_in_the_cache() {
    let dir = tempfile::tempdir().unwrap();
    let compiler = Compiler::new(Config { cache_dir: Some(dir.path().join("cache")), ..Config::default() });
    let [v2, v3] = ["x86-64-v2", "x86-64-v3"].map(target);
    let program = |target: &Target| {
        let built = compiler.build(&Source { name: "test.cl", text: REDUCE.as_bytes() }, "", target);
        built.result.unwrap_or_else(|_| panic!("{}", built.log))
    };
    let fused = |p: &Program| p.module().to_string().contains(" fma ");
    let (slow, quick) = (program(&v2), program(&v3));
    assert!(!fused(&slow) && fused(&quick));
    // A binary rounds on every machine as it did where it was made.
    assert!(fused(&compiler.load(&quick.encode()).unwrap()));
    // So one target may have code of both.
    let code = |p: &Arc<Program>| compiler.executable(p, &v2).kernel("saxpy", Variant::Vector).unwrap().clone();
    let [of_slow, of_quick] = [code(&slow), code(&quick)];
    assert!(!of_slow.cached && !of_quick.cached && of_slow.artifact != of_quick.artifact);
    assert!(code(&slow).cached && code(&slow).artifact == of_slow.artifact);
}

#[test]
fn a_kernel_begins_with_quick_code_if_better_code_is_being_made() {
    let source = "kernel void k(global int *p) { p[get_global_id(0)] = 3 * (int)get_global_id(0); }
                  kernel void sub(global int *p) { p[get_global_id(0)] = get_sub_group_local_id(); }";
    let device = CpuDevice::new(2, None);
    let target = &device.info().target;
    let config = Config { background_threads: 1, baseline_tier: true, ..Config::default() };
    let start = |config: Config, options: &str| {
        let compiler = Compiler::new(config);
        let executable = compiler.executable(&program(&compiler, source, options), target);
        (executable.baseline_kernel("k"), executable)
    };
    // The background thread may win sometimes, but not each time.
    let begun = (0..20).find_map(|_| {
        let (quick, executable) = start(config.clone(), "");
        quick.map(|quick| (quick, executable))
    });
    let (quick, executable) = begun.unwrap();
    assert_eq!(quick.cpu().unwrap().lanes, 1);
    let p = buffer(&device, &[0; 400]);
    run(&device, quick, [100, 1, 1], [7, 1, 1], &[Arg::Buffer(&*p)]);
    assert_eq!(ints(&*p), (0..100).map(|x| 3 * x).collect::<Vec<_>>());
    assert!(executable.baseline_kernel("sub").is_none(), "it sees its neighbours");
    assert!(executable.kernel("k", Variant::Vector).unwrap().artifact.cpu().unwrap().lanes > 1);
    assert!(executable.try_kernel("k", Variant::Vector).is_some());
    for (config, options, why) in [
        (Config { background_threads: 0, ..config.clone() }, "", "nobody makes better code"),
        (Config { baseline_tier: false, ..config.clone() }, "", "it is switched off"),
        (Config { lanes: Some(8), ..config.clone() }, "", "a certain width is asked for"),
        (config, "-cl-opt-disable", "there is no better code"),
    ] {
        assert!(start(config, options).0.is_none(), "{why}");
    }
}

#[test]
fn a_thread_takes_over_what_nobody_has_begun_to_compile() {
    let sums: String = (0..2000).map(|i| format!("x = x * {i} + (x >> {});\n", i % 7 + 1)).collect();
    let source = format!(
        "kernel void large(global int *p) {{ int x = p[get_global_id(0)]; {sums} p[get_global_id(0)] = x; }}
         kernel void small(global int *p) {{ p[get_global_id(0)] = 3; }}"
    );
    let compiler = Compiler::new(Config { background_threads: 1, ..Config::default() });
    let executable = compiler.executable(&program(&compiler, &source, ""), &target("x86-64-v3"));
    let made = |name: &str| executable.try_kernel(name, Variant::Vector).is_some();
    // The only background thread has enough to do.
    assert!(
        executable.prefetch_kernel("large", Variant::Vector) && executable.prefetch_kernel("small", Variant::Vector)
    );
    executable.take_over("small", Variant::Vector);
    assert!(made("small") && !made("large"), "it did not wait for the large kernel");
    executable.wait_for("large", Variant::Vector, Duration::from_secs(600));
    assert!(made("large"));
}

#[test]
fn while_no_core_is_free_the_background_leaves_work_to_who_needs_it() {
    let source = "kernel void k(global int *p) { p[0] = 1; }  kernel void other(global int *p) { p[0] = 2; }";
    // The thread that runs the test has the only core.
    let compiler = Compiler::new(Config { background_threads: 1, cores: 1, ..Config::default() });
    let executable = compiler.executable(&program(&compiler, source, ""), &target("x86-64-v3"));
    let made = |name: &str| executable.try_kernel(name, Variant::Vector).is_some();
    let begin = Instant::now();
    assert!(executable.prefetch_kernel("k", Variant::Vector) && executable.prefetch_kernel("other", Variant::Vector));
    executable.take_over("k", Variant::Vector);
    assert!(made("k"));
    while !made("other") {
        assert!(begin.elapsed() < Duration::from_secs(60), "nobody needed it: the background compiles it");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(begin.elapsed() >= Duration::from_millis(20) || !cfg!(target_os = "linux"));
}

#[test]
fn many_threads_ask_for_kernels_while_the_background_compiles() {
    let kernels: String = (0..24)
        .map(|i| format!("kernel void k{i}(global int *p) {{ p[get_global_id(0)] = {i} * (int)get_global_id(0); }}\n"))
        .collect();
    let compiler = Compiler::new(Config { cache_dir: None, background_threads: 2, ..Config::default() });
    let device = CpuDevice::new(2, None);
    let executable = compiler.executable(&program(&compiler, &kernels, ""), &device.info().target);
    assert!((0..24).all(|i| executable.prefetch_kernel(&format!("k{i}"), Variant::Vector)));
    std::thread::scope(|scope| {
        for t in 0..4 {
            let (executable, device) = (&executable, &device);
            scope.spawn(move || {
                for i in 0..24 {
                    let i = (i * 7 + t * 5) % 24;
                    let p = buffer(device, &[0; 32]);
                    launch(device, executable, &format!("k{i}"), [8, 1, 1], [3, 1, 1], &[Arg::Buffer(&*p)]);
                    assert_eq!(ints(&*p), (0..8).map(|x| x * i).collect::<Vec<_>>());
                }
            });
        }
    });
}

#[test]
fn nothing_is_compiled_ahead_around_a_fork() {
    let source: String = (0..6).map(|i| format!("kernel void k{i}(global int *p) {{ p[{i}] = {i}; }}\n")).collect();
    let compiler = Compiler::new(Config { cache_dir: None, background_threads: 2, ..Config::default() });
    let target = target("x86-64-v3");
    let executable = compiler.executable(&program(&compiler, &source, ""), &target);
    let made = |i: usize| executable.try_kernel(&format!("k{i}"), Variant::Vector).is_some();
    let ask = |i: usize| executable.prefetch_kernel(&format!("k{i}"), Variant::Vector);
    (1..4).for_each(|i| _ = ask(i));
    let limit = Duration::from_secs(60);
    compiler.before_fork(limit);
    let before = (1..6).filter(|&i| made(i)).count();
    (4..6).for_each(|i| _ = ask(i));
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!((1..6).filter(|&i| made(i)).count(), before, "the threads have ended, and no new one has begun");
    compiler.after_fork();
    let begin = Instant::now();
    while !(1..6).all(made) {
        assert!(begin.elapsed() < limit, "the rest is compiled afterwards");
        std::thread::yield_now();
    }
    // What a child sees of a parent whose threads have ended.
    compiler.before_fork(limit);
    assert!(compiler.after_fork_in_child());
}

#[test]
fn stages_are_texts_in_order() {
    let compiler = compiler();
    let device = CpuDevice::new(1, None);
    let program = program(&compiler, REDUCE, "");
    let built = compiler.stages(&program, "reduce", &device.info().target, Variant::Vector).unwrap();
    let names: Vec<&str> = built.stages.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names.first(), Some(&"ir"));
    assert!(names.ends_with(&["spmd", "llvm", "llvm-optimised", "asm"]), "{names:?}");
    assert!(built.stages.iter().all(|s| !s.text.is_empty()));
}

#[test]
fn loops_that_wait_for_themselves_get_wider_vectors_where_rows_are_long() {
    let source = "
        kernel void chain(global float *p, int n) {
            float x = p[get_global_id(0)];
            for (int k = 0; k < n; k++) x = fma(x, 0.999f, 0.125f);
            p[get_global_id(0)] = x;
        }
        kernel void grouped(global float *p, int n) {
            float x = p[get_global_id(0)] + get_local_id(0);
            for (int k = 0; k < n; k++) x = fma(x, 0.999f, 0.125f);
            p[get_global_id(0)] = x;
        }
        kernel void walks(global const float *in, global float *p, uint n) {
            float x = 0;
            for (uint i = get_global_id(0); i < n; i += get_global_size(0)) x += in[i];
            p[get_global_id(0)] = x + get_local_id(0);
        }
        kernel void leaves(global float *p, int n) {
            float x = p[get_global_id(0)];
            for (int k = 0; k < n && x < 4.0f; k++) x = fma(x, 0.999f, 0.125f);
            p[get_global_id(0)] = x;
        }
        kernel void busy(global float *p, int n) {
            float x = p[get_global_id(0)], a = x, b = x, c = x, d = x;
            for (int k = 0; k < n; k++) {
                a = fma(a, x, 0.125f); b = fma(b, x, 0.25f); c = fma(c, x, 0.5f); d = fma(d, x, 0.75f);
            }
            p[get_global_id(0)] = a + b + c + d;
        }";
    let compiler = compiler();
    let program = program(&compiler, source, "");
    let executable = compiler.executable(&program, &target("x86-64-v3"));
    let lanes = |name, variant| executable.kernel(name, variant).unwrap().artifact.cpu().unwrap().lanes;
    let most = Variant::Vector;
    assert_eq!(lanes("chain", most), 64, "eight registers: as many sums as keep two units busy for four cycles");
    assert_eq!(lanes("grouped", Variant::ShortRow(5)), 32, "rows of groups have no more");
    assert_eq!(lanes("walks", most), 64, "the more side by side, the more memory in order");
    assert_eq!(lanes("leaves", most), 16, "a wider vector would wait for the last of more");
    assert_eq!(lanes("busy", most), 16, "two registers to each of four sums");
}

#[test]
fn vectors_are_no_longer_than_the_rows_of_groups() {
    let source = "
        #define TURN \
            local float t[256]; \
            const int x = get_local_id(0), y = get_local_id(1); \
            t[y * 16 + x] = p[get_global_id(1) * 512 + get_global_id(0)]; \
            barrier(CLK_LOCAL_MEM_FENCE); \
            p[(get_group_id(0) * 16 + y) * 512 + get_group_id(1) * 16 + x] = t[x * 16 + y];
        kernel void tile(global float *p) { TURN }
        kernel __attribute__((reqd_work_group_size(8, 8, 1))) void small(global float *p) { TURN }
        kernel void row(global float *p) {
            local float t[256];
            t[get_local_id(0)] = p[get_global_id(0)];
            barrier(CLK_LOCAL_MEM_FENCE);
            p[get_global_id(0)] = t[get_local_id(0) ^ 1];
        }
        kernel void free(global float *p) { p[get_global_id(1) * 512 + get_global_id(0)] += 1.0f; }";
    let compiler = compiler();
    let program = program(&compiler, source, "");
    // Any target: nothing runs.
    let executable = compiler.executable(&program, &target("x86-64-v4"));
    let lanes = |name, variant| {
        let cpu = *executable.kernel(name, variant).unwrap().artifact.cpu().unwrap();
        (cpu.lanes, cpu.long_row_width)
    };
    assert_eq!(lanes("tile", Variant::Vector), (16, Some(32)), "most tiles are 16 wide");
    assert_eq!(lanes("tile", Variant::ShortRow(5)), (32, Some(32)));
    assert_eq!(lanes("row", Variant::Vector), (32, Some(32)), "rows of one dimension are long");
    assert_eq!(lanes("row", Variant::ShortRow(3)), (8, Some(32)));
    assert_eq!(lanes("small", Variant::Vector), (8, None), "the program says so");
    assert_eq!(lanes("free", Variant::Vector), (32, None), "the launcher makes rows");
}

#[test]
fn lanes_lie_along_the_dimension_that_memory_follows() {
    let dim_order = |body: &str, variant| {
        let source = format!(
            "kernel void k(global float *p, global float *q, int w, local float *t) {{
                 int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
                 int lx = get_local_id(0), ly = get_local_id(1);
                 {body}
             }}"
        );
        let compiler = compiler();
        let program = program(&compiler, &source, "");
        let executable = compiler.executable(&program, &target("x86-64-v4"));
        executable.kernel("k", variant).unwrap().artifact.cpu().unwrap().dim_order
    };
    let most = |body| dim_order(body, Variant::Vector);
    assert_eq!(most("q[y * w + x] = p[y * w + x];"), [0, 1, 2]);
    assert_eq!(most("q[x * w + y] = p[x * w + y];"), [1, 0, 2]);
    assert_eq!(most("q[(x * w + y) * w + z] = p[(x * w + y) * w + z];"), [2, 1, 0]);
    assert_eq!(most("q[x * w + y] = p[y * w + x];"), [0, 1, 2], "one way is as good as the other");
    assert_eq!(most("q[y] = p[y] + 1.0f;"), [1, 0, 2], "along dimension 0 all do the same");
    let product = "float s = 0; for (int k = 0; k < w; k++) s += p[x * w + k] * p[k * w + y]; q[x * w + y] = s;";
    assert_eq!(most(product), [1, 0, 2]);
    assert_eq!(dim_order(product, Variant::Dim0), [0, 1, 2], "launches that are short in dimension 1");
    assert_eq!(dim_order(product, Variant::Scalar), [1, 0, 2], "caches are as glad without lanes");
    let tile = "t[ly * 16 + lx] = p[y * w + x]; barrier(1); q[(x - lx + ly) * w + y - ly + lx] = t[lx * 16 + ly];";
    assert_eq!(most(tile), [0, 1, 2]);
    let turned = "t[lx * 16 + ly] = p[x * w + y]; barrier(1); q[x * w + y] = t[lx * 16 + 15 - ly];";
    assert_eq!(most(turned), [1, 0, 2], "behind a barrier too");
}

#[test]
fn numbers_that_some_work_items_change_at_places_without_a_rule_need_no_lanes() {
    let lanes = |body: &str| {
        let source = format!(
            "kernel void k(global float *p, local float *a, global const int *rows, int n) {{
                 int row = rows[get_global_id(0)] * n, l = get_local_id(0);
                 float f = p[get_global_id(0)];
                 barrier(CLK_LOCAL_MEM_FENCE);
                 {body}
                 barrier(CLK_LOCAL_MEM_FENCE);
                 p[get_global_id(0)] = a[l];
             }}"
        );
        let compiler = compiler();
        let program = program(&compiler, &source, "");
        let executable = compiler.executable(&program, &target("x86-64-v4"));
        executable.kernel("k", Variant::Vector).unwrap().artifact.cpu().unwrap().lanes
    };
    assert_eq!(lanes("if (row > l) for (int j = 0; j < n; j++) a[row + j] -= f * a[j];"), 32, "one is for all");
    assert_eq!(lanes("if (row > l) for (int j = 0; j < n; j++) a[row + j] -= f * a[row / 2 + j];"), 1);
    assert!(lanes("for (int j = 0; j < n; j++) a[row + j] -= f * a[row / 2 + j];") > 1, "all do it");
    assert!(lanes("if (row > l) for (int j = 0; j < n; j++) a[row + j] = a[row / 2 + j];") > 1, "nothing is changed");
    let much = "if (row > l) for (int j = 0; j < n; j++) a[row + j] = sqrt(a[row + j] * f + 1) / (a[row / 2 + j] + f);";
    assert!(lanes(much) > 1, "there is something to do");
}

#[test]
fn loops_along_rows_get_no_more_lanes_than_their_lines_find_room_and_sparse_rows_none() {
    let lanes = |body: &str, target: &str| {
        let source = format!(
            "kernel void k(global const float *a, global const float *x, global const int *c, global float *q, int w) {{
                 int i = get_global_id(0);
                 float s = 0;
                 {body}
             }}"
        );
        let compiler = compiler();
        let program = program(&compiler, &source, "");
        let executable = compiler.executable(&program, &self::target(target));
        executable.kernel("k", Variant::Vector).unwrap().artifact.cpu().unwrap().lanes
    };
    let v4 = |body| lanes(body, "x86-64-v4");
    assert_eq!(v4("for (int j = 0; j < w; j++) q[i * w + j] = s += q[i * w + j];"), 8, "one line a lane");
    assert_eq!(v4("for (int j = 0; j < w; j++) q[i * w + j] = s += a[i * w + j];"), 4, "two");
    let chain = "for (int j = 0; j < w; j++) q[i * w + j] = s = fma(s, 0.5f, fma(fma(s, s, 1.0f), s, a[i * w + j]));";
    assert_eq!(v4(chain), 8, "it waits longer for itself than for lines");
    let sparse = "for (int j = c[i]; j < c[i + 1]; j++) s += a[j] * x[c[j + w]]; q[i] = s;";
    assert_eq!(v4(sparse), 1);
    assert!(lanes(sparse, "x86-64-v4+intel") > 1, "it gathers");
    let padded = "for (int j = i * 16; j < i * 16 + (c[i] & 15); j++) s += a[j] * x[c[j]]; q[i] = s;";
    assert_eq!(v4(padded), 1, "each row has lines of its own");
    let swap = "if (c[i] > w) for (int j = 0; j < 6; j++) { s = q[i * 36 + j]; q[i * 36 + j] = q[i * 36 + c[i] + j]; }";
    assert!(v4(swap) > 1, "it writes");
    assert!(
        v4("for (int j = 0; j < w; j++) s += a[i * w + j] * x[c[i * w + j]]; q[i] = s;") > 1,
        "all rows are as long"
    );
    assert!(
        v4("for (int j = 0; j < c[i]; j++) s += a[j * w + i] * x[j]; q[i] = s;") > 1,
        "neighbours read side by side"
    );
}

#[test]
fn outputs_are_buffers_that_are_only_written_by_groups_that_tell_each_other_nothing() {
    let outputs = |body: &str| {
        let source = format!(
            "kernel void k(global float *a, global float *b, global float *c, global uint *n, local uint *l, int m) {{
                 int i = get_global_id(0);
                 {body}
             }}"
        );
        let compiler = compiler();
        let program = program(&compiler, &source, "");
        let executable = compiler.executable(&program, &target("x86-64-v3"));
        executable.kernel("k", Variant::Vector).unwrap().artifact.cpu().unwrap().write_only_bytes
    };
    assert_eq!(outputs("b[i] = a[i];"), 4);
    assert_eq!(outputs("if (a[i] > 0) b[i] = a[i]; vstore4((float4)(a[i]), i, c);"), 20);
    assert_eq!(outputs("b[i] = a[i]; c[i] = b[m];"), 4, "one of them is read");
    assert_eq!(outputs("a[i] += 1;"), 0);
    assert_eq!(outputs("for (int k = 0; k < m; k++) b[k * m + i] = a[i];"), 0, "how often is not known");
    assert_eq!(outputs("b[i] = a[i]; (m ? a : b)[m] = 1;"), 0, "which is not known");
    assert_eq!(outputs("l[i] = 0; barrier(CLK_LOCAL_MEM_FENCE); atomic_inc(l); b[i] = a[i];"), 4);
    assert_eq!(outputs("b[i] = a[i]; if (i == m) atomic_inc(n);"), 0, "another group may wait for that");
    assert_eq!(
        outputs(
            "b[i] = a[i]; atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);"
        ),
        0
    );
}

#[test]
fn loops_over_short_vectors_are_divided_if_they_do_not_fit_in_the_registers() {
    let loops = |ty: &str, round: &str| {
        format!(
            "kernel void k(global float *p, int n) {{
                {ty} x = ({ty})p[get_global_id(0)], y = x + 1.0f;
                for (int k = 0; k < n; k++) {{ {round} }}
                x += y;
                p[get_global_id(0)] = x.s0 + x.s3;
            }}"
        )
    };
    let compiler = compiler();
    let divided = |source: String| {
        let program = program(&compiler, &source, "");
        let built = compiler.stages(&program, "k", &target("x86-64-v3"), Variant::Vector).unwrap();
        built.statistics.changes("component-split") > 0
    };
    let each = "x = mad(y, 0.25f, x); y = mad(x, 0.5f, y);";
    assert!(divided(loops("float16", each)), "32 registers");
    assert!(divided(loops("float8", each)), "16 registers, and none left for the numbers");
    assert!(!divided(loops("float4", each)), "8 registers: they fit");
    assert!(
        !divided(loops("float16", "x = mad(y.s123456789abcdef0, 0.25f, x); y = mad(x, 0.5f, y);")),
        "components meet"
    );
    assert!(!divided(loops("float16", "x = mad(y, 0.25f, x); y = mad(x, 0.5f, y); p[k] = 0;")), "it stores");
}

#[test]
fn short_vectors_that_fill_registers_stay_whole_unless_they_wait_for_themselves() {
    let compiler = compiler();
    let lanes = |round: &str| {
        let source = format!(
            "kernel void k(global float16 *p, int n) {{
                float16 v = p[get_global_id(0)];
                for (int k = 0; k < n; k++) v = {round};
                p[get_global_id(0)] = v;
            }}"
        );
        let program = program(&compiler, &source, "");
        compiler.stages(&program, "k", &target("x86-64-v3"), Variant::Vector).unwrap().artifact.cpu().unwrap().lanes
    };
    assert_eq!(lanes("mad(v, 0.999f, 0.125f)"), 8, "two registers would wait four cycles for each other");
    assert_eq!(lanes("mad(v, p[k], p[k + 1])"), 1, "rounds have enough to load");
    assert_eq!(lanes("v + v.s123456789abcdef0"), 1, "components meet");
}
