//! One test for each file of the folders below. The name of a test is the file's path in this crate, so
//! that a part of a path is a filter:
//!
//! ```text
//! cargo test -p cloom-filetest --test files tests/ir/spmd
//! cargo test -p cloom-filetest --test files -- --exact run/lang/switch.cl
//! cargo test -p cloom-filetest --test files -- --list
//! ```
//!
//! | folder | what a test does |
//! |---|---|
//! | `tests/ir` | [`ir_file::test`]: one stage, IR in, text out |
//! | `tests/ll` | [`code_file::llvm`]: passes on LLVM's IR |
//! | `tests/cl` | [`code_file::kernel`]: passes of a whole compilation |
//! | `run` | [`program::test`]: a program on every rung, for every instruction set of the machine |
//! | `groups` | [`program::check_itself`]: a program that uses sub-groups, on rungs with sub-groups of every size |
//!
//! Each program is also compiled for a GPU: `FILE (PTX)`.
//!
//! A program of `groups` is two more tests, for code generation takes most of its time: `FILE (interpreter)` and `FILE
//! (cpu)`. What is shared between tests (devices, the compiler with its library) is made by the first one that needs
//! it.

use cloom_compiler::{Compiler, Config};
use cloom_filetest::rungs::{Cpu, IN_SUBGROUPS, Rung};
use cloom_filetest::{code_file, files, ir_file, program};
use libtest_mimic::{Arguments, Trial};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

static COMPILER: LazyLock<Arc<Compiler>> = LazyLock::new(|| Compiler::new(Config::default()));

/// Each instruction set of this machine.
static LEVELS: LazyLock<Vec<Cpu>> = LazyLock::new(|| Cpu::levels(2));

/// Sub-groups of several sizes, and of those that each instruction set chooses.
static SUBGROUPS: LazyLock<Vec<Cpu>> = LazyLock::new(|| {
    let mut cpus: Vec<Cpu> = [1, 4, 16].map(|lanes| Cpu::with_lanes(1, lanes)).into();
    // Optimised code for so many lanes takes minutes.
    cpus.push(Cpu::with_lanes(1, 64).plain());
    cpus.extend(Cpu::levels(1));
    cpus
});

/// A test of a file: the path, and the text.
type Test = fn(&Path, &str) -> Result<(), String>;

fn ir(path: &Path, text: &str) -> Result<(), String> {
    let cpus: Vec<&dyn Rung> = LEVELS.iter().map(|cpu| cpu as &dyn Rung).collect();
    ir_file::test(path, text, &cpus)
}

fn run(_: &Path, text: &str) -> Result<(), String> {
    LEVELS.iter().try_for_each(|cpu| program::test(&COMPILER, text, cpu))
}

/// Code for a GPU, which need not be there.
fn ptx(_: &Path, text: &str) -> Result<(), String> {
    program::gpu_code(&COMPILER, text)
}

fn groups_interpreted(_: &Path, text: &str) -> Result<(), String> {
    program::check_itself(&COMPILER, text, &Default::default(), &IN_SUBGROUPS)
}

fn groups_on_cpu(_: &Path, text: &str) -> Result<(), String> {
    let rungs: Vec<&dyn Rung> = SUBGROUPS.iter().map(|cpu| cpu as &dyn Rung).collect();
    program::check_itself(&COMPILER, text, SUBGROUPS[0].target(), &rungs)
}

/// The tests of the files below a folder. A folder without files is a mistake of the harness, which no test would
/// notice.
fn tests(folder: &str, extension: &str, suffix: &str, test: Test) -> Vec<Trial> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = files(folder, extension);
    assert!(!found.is_empty(), "no .{extension} file is below {}", root.join(folder).display());
    let trial = |path: std::path::PathBuf| {
        let name = path.strip_prefix(root).unwrap_or(&path).display();
        Trial::test(format!("{name}{suffix}"), move || {
            let text = std::fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
            Ok(test(&path, &text)?)
        })
    };
    found.into_iter().map(trial).collect()
}

fn main() -> ExitCode {
    let list = [
        tests("tests/ir", "ir", "", ir),
        tests("tests/ll", "ll", "", code_file::llvm),
        tests("tests/cl", "cl", "", code_file::kernel),
        tests("run", "cl", "", run),
        tests("run", "cl", " (PTX)", ptx),
        tests("groups", "cl", " (PTX)", ptx),
        tests("groups", "cl", " (interpreter)", groups_interpreted),
        tests("groups", "cl", " (cpu)", groups_on_cpu),
    ];
    libtest_mimic::run(&Arguments::from_args(), list.into_iter().flatten().collect()).exit_code()
}
