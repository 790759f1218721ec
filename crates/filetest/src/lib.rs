//! The harness of the file tests, the differential ladder and the generator of random kernels.
//!
//! * [`case`]: a kernel with a range and arguments, and the outcome of a run.
//! * [`rungs`]: the ways to run a case: the interpreter on the kernel as it was written, after the scalar passes, and
//!   after `spmd`; the CPU; [`simulated_gpu`]. All must leave the same.
//! * [`header`]: how a file says what to run and what to expect.
//! * [`ir_file`]: tests of single stages: IR in, text out.
//! * [`code_file`]: tests of passes on LLVM's IR, and of those of a whole compilation.
//! * [`program`]: programs in OpenCL C.
//! * [`device`]: kernels on arrays, through the compiler and the CPU device.
//! * [`accuracy`]: how exact the math functions are.
//! * [`builtins`]: every overload in the table of built-in functions, and oracles for them.
//! * [`generate`]: random programs; [`ladder`]: how they run; [`reduce`]: how a failing one is made small; [`peers`]:
//!   how they run on other platforms.

#![forbid(unsafe_code)]

pub mod accuracy;
pub mod builtins;
pub mod case;
pub mod code_file;
pub mod device;
pub mod generate;
pub mod header;
pub mod hostile;
pub mod ir_file;
pub mod ladder;
pub mod passes;
pub mod peers;
pub mod program;
pub mod reduce;
pub mod rungs;
pub mod simulated_gpu;
pub mod uniformity;

pub use case::{Case, CaseArg, Outcome};
pub use rungs::{Rung, climb};

use std::path::{Path, PathBuf};

/// The files below a folder of this crate that end in `.extension`, sorted by path.
pub fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut stack = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(dir) = stack.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                stack.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
