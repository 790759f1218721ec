//! Programs on a simulated GPU: the whole way from the ICD loader to PTX, on machines without one. The library in the
//! place of NVIDIA's driver is that of the crate `cuda-sim-driver`, which `cargo xtask test` builds; where it is
//! missing, the tests say that they were passed over.

#![allow(clippy::print_stdout, reason = "it says what it passes over")]

mod common;
#[path = "common/compiled.rs"]
mod compiled;
#[path = "common/marks.rs"]
mod marks;

use common::Bench;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The library, if it was built.
fn driver() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_BIN_EXE_cloom")).parent()?;
    let library = folder.join("libcuda_sim_driver.so");
    if !library.exists() {
        println!(
            "passed over: {} is missing; `cargo build --profile test -p cloom-cuda-sim-driver`",
            library.display()
        );
        return None;
    }
    Some(library)
}

/// A folder with the simulated GPU in it, for programs that have no other device.
fn gpu() -> Option<Bench> {
    let bench = Bench::new();
    std::os::unix::fs::symlink(driver()?, bench.path("libcuda.so.1")).unwrap();
    let folder = bench.path("");
    Some(bench.set("LD_LIBRARY_PATH", folder).set("CLOOM_DEVICES", "gpu"))
}

/// The programs of the gallery with their variants.
fn programs(bench: &Bench) -> Vec<(String, Vec<String>)> {
    let list = bench.cloom("run -lk").expect(0).out;
    let program = |line: &str| {
        let (name, rest) = line.split_once(' ')?;
        let variants = rest.rsplit("  ").next()?.split(", ").map(str::to_owned);
        Some((name.to_owned(), variants.collect()))
    };
    list.lines().filter_map(program).collect()
}

#[test]
fn the_gallery_is_right() {
    let Some(bench) = gpu() else { return };
    // So small a GPU that these sizes are enough for several work-items a thread.
    let bench = bench.set("CUDA_SIM_MULTIPROCESSORS", "1");
    let all: Vec<(String, String)> = programs(&bench)
        .into_iter()
        .flat_map(|(name, variants)| variants.into_iter().map(move |variant| (name.clone(), variant)))
        .collect();
    assert!(all.len() > 150, "{}", all.len());
    let (next, wrong) = (Mutex::new(all.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let program = next.lock().unwrap().next();
                    let Some((name, variant)) = program else { return };
                    let ran = bench.cloom(&format!("run -k {name} -v {variant} -s 64x32 -i 1 -n"));
                    if ran.status != 0 {
                        wrong.lock().unwrap().push(format!("{name} {variant}: {} {}", ran.out, ran.err));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

#[test]
fn the_cpu_and_several_gpus_share_the_work() {
    let Some(bench) = gpu() else { return };
    // By the ICD loader, which names devices by their numbers.
    let library = Path::new(env!("CARGO_BIN_EXE_cloom")).with_file_name("libcloom.so");
    bench.file("cloom.icd", &format!("{}\n", library.display()));
    let folder = bench.path("");
    let bench = bench.set("CLOOM_DEVICES", "cpu,gpu").set("CUDA_SIM_DEVICES", "2").set("OCL_ICD_VENDORS", folder);
    for program in ["mandel", "life", "heat3d", "gauss", "sandpile"] {
        for variant in ["devices_fixed", "devices_adaptive"] {
            let devices = "devices=cloom:0+cloom:1+cloom:2";
            let ran = bench.cloom(&format!("run -k {program} -v {variant} -s 96x64 -i 3 -n -c {devices}"));
            assert_eq!(ran.status, 0, "{program} {variant}: {ran:?}");
            assert_eq!(ran.out.matches("Simulated GPU").count(), 2, "{program} {variant}: {ran:?}");
        }
    }
}

#[test]
fn a_fault_is_told_and_ends_the_gpu_alone() {
    let Some(bench) = gpu() else { return };
    bench.file("far.cl", "kernel void far(global int *p, int at) { p[at] = 1; }");
    let ran = bench.cloom("run far.cl --arg 16 --arg 1000000000 --global 1").expect(2);
    assert!(ran.err.contains("CL_OUT_OF_RESOURCES"), "{ran:?}");
    let bench = bench.set("CLOOM_LOG", "1");
    let ran = bench.cloom("run far.cl --arg 16 --arg 1000000000 --global 1");
    assert!(ran.err.contains("a kernel accessed memory that is not its own"), "{ran:?}");
    assert!(ran.err.contains("start the program again"), "{ran:?}");
}

#[test]
fn an_endless_kernel_is_ended_by_the_driver() {
    let Some(bench) = gpu() else { return };
    let bench = bench.set("CUDA_SIM_BUDGET", "1000000").set("CLOOM_LOG", "1");
    bench.file("endless.cl", "kernel void endless(volatile global int *p) { while (p[0] == 0) p[1] += 1; }");
    let ran = bench.cloom("run endless.cl --arg 16 --global 1").expect(2);
    assert!(ran.err.contains("CUDA_ERROR_LAUNCH_TIMEOUT"), "{ran:?}");
}

#[test]
fn a_call_of_the_driver_that_fails_is_an_error_and_no_crash() {
    let Some(_) = driver() else { return };
    let (mut failed, mut right) = (0, 0);
    for call in 1..400 {
        let bench = gpu().unwrap().set("CUDA_SIM_FAIL", call.to_string());
        let ran = bench.cloom("run kernels.cl -k saxpy --arg 4096 --arg 4096:index --arg 2 --local 64 -i 1 --verify");
        assert!((0..=2).contains(&ran.status) && !ran.err.contains("panicked"), "call {call}: {ran:?}");
        failed += usize::from(ran.status == 2);
        right = if ran.status == 0 { right + 1 } else { 0 };
        // Behind the last call, nothing fails.
        if right == 20 {
            break;
        }
    }
    assert!(failed > 10 && right == 20, "{failed} runs failed");
}

#[test]
fn what_kernels_print_arrives() {
    let Some(bench) = gpu() else { return };
    bench.file(
        "hello.cl",
        "kernel void hello(int n) { printf(\"item %d of %d: %s\\n\", (int)get_global_id(0), n, \"here\"); }",
    );
    let ran = bench.cloom("run hello.cl --arg 7 --global 3 --local 1 -i 1").expect(0);
    for item in 0..3 {
        assert!(ran.out.contains(&format!("item {item} of 7: here")), "{ran:?}");
    }
}

#[test]
fn accesses_outside_of_buffers_are_reported() {
    let Some(bench) = gpu() else { return };
    let failures = compiled::failures(&bench);
    assert!(failures.is_empty(), "{} kernels:\n{}", failures.len(), failures.join("\n"));
}
