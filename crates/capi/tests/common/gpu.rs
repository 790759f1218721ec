//! Tests once more, on a simulated GPU.

#![allow(clippy::print_stdout, reason = "it says what it passes over")]

use super::child;

use std::process::Command;

/// The variable of the mode in which another process owns the GPUs.
pub const HELPER: &str = "CLOOM_GPU_HELPER";

/// Runs tests of this program in a process of its own, in which a simulated GPU is the only device. Its library is
/// that of the crate `cuda-sim-driver`, which `cargo xtask test` builds; where it is missing, this says so.
pub fn on_the_gpu(tests: &[&str]) {
    run(tests, &[], &[]);
}

/// The same, on a GPU that has registers for groups of so many work-items.
pub fn on_a_gpu_for_groups_of(work_items: u32, tests: &[&str]) {
    run(tests, &[], &[("CUDA_SIM_THREADS", &work_items.to_string())]);
}

/// The same, on a GPU that few work-items keep busy.
pub fn on_a_small_gpu(tests: &[&str]) {
    run(tests, &[], &[("CUDA_SIM_MULTIPROCESSORS", "1")]);
}

/// The same, on several GPUs, or on a CPU and these, with a link between the GPUs or with one that loses everything.
pub fn on_several_gpus(devices: &str, has_link: bool, tests: &[&str]) {
    let link = if has_link { "1" } else { "0" };
    run(tests, &[], &[("CUDA_SIM_DEVICES", "2"), ("CLOOM_DEVICES", devices), ("CUDA_SIM_LINK", link)]);
}

/// The same, with the GPU in a process of the program `cloom`.
pub fn on_a_helped_gpu(tests: &[&str]) {
    run(tests, &[(HELPER, "cloom")], &[]);
}

/// The same, on a GPU whose compiler takes so many milliseconds for a text.
pub fn on_a_gpu_that_translates_for(milliseconds: u32, tests: &[&str]) {
    run(tests, &[], &[("CUDA_SIM_TRANSLATES_MS", &milliseconds.to_string()), ("CLOOM_CACHE", "0")]);
}

/// How long the driver of a simulated GPU takes to unload a module.
const UNLOADS: &str = "CUDA_SIM_UNLOADS_MS";

/// Whether this process has such a GPU.
pub fn is_one_that_unloads() -> bool {
    std::env::var_os(UNLOADS).is_some()
}

/// The same, on a GPU whose driver takes so many milliseconds to compile a text, and as many to unload a module.
pub fn on_a_gpu_that_unloads_for(milliseconds: u32, tests: &[&str]) {
    let time = milliseconds.to_string();
    run(tests, &[], &[("CUDA_SIM_TRANSLATES_MS", &time), (UNLOADS, &time), ("CLOOM_CACHE", "0")]);
}

/// On a GPU, with or without a quick start. Returns what the driver tells of its doing.
pub fn traced_on_the_gpu(quick_start: bool, tests: &[&str]) -> Option<String> {
    let quick_start = if quick_start { "1" } else { "0" };
    run(tests, &[], &[("CLOOM_QUICK_START", quick_start), ("CLOOM_CACHE", "0"), ("CUDA_SIM_TRACE", "1")])
}

/// Runs them with variables whose values are files beside the libraries, and with others. Returns the standard error;
/// nothing if such a file is missing.
fn run(tests: &[&str], files: &[(&str, &str)], others: &[(&str, &str)]) -> Option<String> {
    let program = std::env::current_exe().expect("the path of the test");
    let folder = program.parent().expect("it is in a folder").join("..");
    let built = |name: &str| {
        let path = folder.join(name);
        let found = path.canonicalize();
        found.inspect_err(|_| println!("passed over: {} is missing", path.display())).ok()
    };
    let own = tempfile::tempdir().expect("a folder can be made");
    let libraries =
        [("libcuda_sim_driver.so", "libcuda.so.1"), ("libcuda_sim_compiler.so", "libnvidia-ptxjitcompiler.so.1")];
    for (library, name) in libraries {
        std::os::unix::fs::symlink(built(library)?, own.path().join(name)).expect("a link can be made");
    }
    let mut command = Command::new(program);
    command.arg("--exact").args(tests).env("LD_LIBRARY_PATH", own.path()).env("CLOOM_DEVICES", "gpu");
    command.envs(others.iter().copied());
    for (variable, name) in files {
        command.env(variable, built(name)?);
    }
    let output = child::output(&mut command);
    let passed = format!("{} passed", tests.len());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains(&passed), "{tests:?}: {said}");
    Some(String::from_utf8_lossy(&output.stderr).into_owned())
}
