//! What is fuzzed: one file a target. A target's function gets an input and says what is wrong; a panic says so too.
//!
//! It also returns whether the input was accepted by the first stage, the parser or the loader: if all inputs are
//! rejected there, later stages are not tested.

mod api;
mod binary;
mod cache;
mod ir;
mod kernels;
mod options;
mod source;
mod spirv;

use cloom_compiler::{Compiler, Config};
use cloom_filetest::files;
use std::sync::{Arc, LazyLock};

/// How far an input without findings came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// It was rejected, as it should be.
    Rejected,
    /// It was accepted by the first stage, which [`Target::gate`] names.
    Accepted,
}

impl Reach {
    /// Accepted if so.
    pub fn of(accepted: bool) -> Self {
        if accepted { Reach::Accepted } else { Reach::Rejected }
    }
}

/// One target.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// The corpus: valid inputs.
    pub corpus: fn() -> Vec<Vec<u8>>,
    /// Tokens that mean something.
    pub words: &'static [&'static str],
    /// Whether inputs are mutated; otherwise an input is a number.
    pub mutated: bool,
    /// What an accepted input did, in words.
    pub gate: &'static str,
    /// Takes an input. An error is a finding.
    pub run: fn(&[u8]) -> Result<Reach, String>,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    source::SOURCE,
    source::COMPILE,
    spirv::TARGET,
    ir::TARGET,
    binary::TARGET,
    options::TARGET,
    cache::TARGET,
    api::TARGET,
    kernels::TARGET,
];

/// The compiler of this process, with its library of built-in functions.
fn compiler() -> &'static Arc<Compiler> {
    static COMPILER: LazyLock<Arc<Compiler>> = LazyLock::new(|| Compiler::new(Config::default()));
    &COMPILER
}

/// The code that this machine runs.
fn cpu() -> &'static cloom_target::Target {
    use cloom_hal::Device;
    static CPU: LazyLock<cloom_hal_cpu::CpuDevice> = LazyLock::new(|| cloom_hal_cpu::CpuDevice::new(1, None));
    &CPU.info().target
}

/// The programs of the tests.
fn programs() -> Vec<Vec<u8>> {
    files("run", "cl").iter().filter_map(|f| std::fs::read(f).ok()).collect()
}
