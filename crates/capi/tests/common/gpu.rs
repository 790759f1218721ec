//! Tests once more, on a simulated GPU.

#![allow(clippy::print_stdout, reason = "it says what it passes over")]

use super::child;

use std::process::Command;

/// Runs tests of this program in a process of its own, in which a simulated GPU is the only device. Its library is the
/// example `cuda` of `cloom-cuda-sim`, which `cargo test --workspace` builds; where it is missing, this says so.
pub fn on_the_gpu(tests: &[&str]) {
    let program = std::env::current_exe().expect("the path of the test");
    let library = program.parent().expect("it is in a folder").join("../examples/libcuda.so");
    let Ok(library) = library.canonicalize() else {
        println!("passed over: {} is missing", library.display());
        return;
    };
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::os::unix::fs::symlink(library, folder.path().join("libcuda.so.1")).expect("a link can be made");
    let mut command = Command::new(program);
    command.arg("--exact").args(tests).env("LD_LIBRARY_PATH", folder.path()).env("CLOOM_DEVICES", "gpu");
    let output = child::output(&mut command);
    let passed = format!("{} passed", tests.len());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains(&passed), "{tests:?}: {said}");
}
