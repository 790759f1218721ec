//! The harness of the file tests, the differential ladder and the generator of random kernels.
//!
//! * [`case`]: a kernel with a range and arguments, and what a run of it leaves behind.
//! * [`rungs`]: the ways to run a case: the interpreter on the kernel as it was written, after the scalar passes, and after `spmd`; the
//!   CPU. All must leave the same.
//! * [`header`]: how a file says what to run and what to expect.
//! * [`ir_file`]: tests of single stages: IR in, text out.
//! * [`program`]: programs in OpenCL C.
//! * [`device`]: kernels on arrays, through the compiler and the CPU device.
//! * [`accuracy`]: how exact the math functions are.
//! * [`builtins`]: every overload in the table of built-in functions, and oracles for them.
//! * [`generate`]: random programs; [`ladder`]: how they run; [`reduce`]: how a failing one is made small.

#![forbid(unsafe_code)]

pub mod accuracy;
pub mod builtins;
pub mod case;
pub mod device;
pub mod generate;
pub mod header;
pub mod ir_file;
pub mod ladder;
pub mod program;
pub mod reduce;
pub mod rungs;

pub use case::{Case, CaseArg, Outcome};
pub use rungs::{Rung, climb};

use std::path::{Path, PathBuf};

/// The files below a folder of this crate that end in `.extension`, sorted; only those whose path contains what `CLOOM_TEST_FILES` says, if
/// that is set.
pub fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let wanted = std::env::var("CLOOM_TEST_FILES").ok();
    let mut found = Vec::new();
    let mut stack = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(dir) = stack.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                stack.push(path);
            } else if path.extension().is_some_and(|e| e == extension)
                && wanted.as_ref().is_none_or(|w| path.to_string_lossy().contains(w.as_str()))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Runs a test on each file, on all cores, and panics with all failures. A folder without files fails too. `CLOOM_TEST_FILES` in the
/// environment keeps to files whose path contains it.
pub fn for_each_file(files: &[PathBuf], test: impl Fn(&Path, &str) -> Result<(), String> + Sync) {
    assert!(!files.is_empty(), "no file to test");
    let part = std::env::var("CLOOM_TEST_FILES").unwrap_or_default();
    let files: Vec<&PathBuf> = files.iter().filter(|f| f.to_string_lossy().contains(&part)).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failures = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(path) = files.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    let run = || {
                        let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
                        test(path, &text)
                    };
                    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
                    let result = result.unwrap_or_else(|_| Err("panicked".into()));
                    if let Err(message) = result
                        && let Ok(mut list) = failures.lock()
                    {
                        list.push(format!("{}: {message}", path.display()));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap_or_default();
    failures.sort();
    assert!(failures.is_empty(), "{} of {} files fail:\n{}", failures.len(), files.len(), failures.join("\n"));
}
