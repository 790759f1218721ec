//! `aarch64`: the tests that run machine code, made for 64-bit Arm processors.
//!
//! Where this machine has another processor, Debian's cross compiler links the tests with Debian's libraries for Arm,
//! which are unpacked into the folder of build results and not installed, and an emulator runs them: code for AArch64
//! goes through the loader and the launcher as it would there. The emulator is several times slower than a processor,
//! so this is no part of the ordinary run.

use crate::tools::{cargo, must, succeeds, target};
use crate::{Outcome, packages};
use anyhow::Result;
use std::path::Path;
use std::process::Command;

const TRIPLE: &str = "aarch64-unknown-linux-gnu";
/// The beginning of the variables in which cargo takes its settings for the triple.
const CARGO: &str = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU";
/// Packages for this machine: a cross compiler and an emulator.
const TOOLS: &[&str] = &["g++-aarch64-linux-gnu", "qemu-user"];
const CC: &str = "aarch64-linux-gnu-gcc";
const CXX: &str = "aarch64-linux-gnu-g++";
/// Packages of libraries to link.
const LIBRARIES: &[&str] =
    &["llvm-19-dev", "libgmp-dev", "libgmp10", "libmpfr-dev", "libmpfr6", "libzstd-dev", "zlib1g-dev"];
/// The crates whose tests run machine code without programs of their own.
const TESTS: &[&str] = &["cloom-llvm", "cloom-hal-cpu", "cloom-filetest"];

/// Runs those tests; the arguments, if any, replace the choice of crates for `cargo test`.
pub fn run(args: &[String]) -> Result<Outcome> {
    let mut command = cargo(&["test", "--no-fail-fast"]);
    if args.is_empty() {
        command.args(TESTS.iter().flat_map(|name| ["-p", name]));
    }
    command.args(args);
    packages::ensure()?;
    if !cfg!(target_arch = "aarch64") {
        emulate(&mut command)?;
    }
    Ok(Outcome::of(succeeds(&mut command)?))
}

/// Configures a cargo command for the other machine, whose programs an emulator runs.
fn emulate(command: &mut Command) -> Result<()> {
    packages::install(TOOLS)?;
    let root = target().join("aarch64-root");
    packages::unpack("arm64", LIBRARIES, &root)?;
    if which("rustup") {
        must(Command::new("rustup").args(["target", "add", TRIPLE]))?;
    }
    let libraries = root.join("usr/lib/aarch64-linux-gnu");
    let libraries = libraries.display();
    command
        .args(["--target", TRIPLE, "--features", "gmp-mpfr-sys/force-cross"])
        .env("LLVM_SYS_191_PREFIX", root.join("usr/lib/llvm-19"))
        .env(format!("{CARGO}_LINKER"), CC)
        .env("TARGET_CC", CC)
        .env("TARGET_CXX", CXX)
        .env(format!("{CARGO}_RUSTFLAGS"), format!("-L native={libraries}"))
        .env(
            format!("{CARGO}_RUNNER"),
            format!("qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH={libraries}"),
        );
    Ok(())
}

fn which(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| Path::new(&dir).join(program).exists())
}
