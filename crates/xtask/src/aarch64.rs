//! `aarch64`: the tests that run machine code, made for 64-bit Arm processors; and what that takes, for `dist` too.
//!
//! Where this machine has another processor, Debian's cross compiler links with Debian's libraries for Arm, which are
//! unpacked into the folder of build results and not installed, and an emulator runs the result: code for AArch64 goes
//! through the loader and the launcher as it would there. The emulator is several times slower than a processor, so
//! this is no part of the ordinary run.

use crate::outcome::Outcome;
use crate::packages;
use crate::packages::Unpacked;
use crate::tools::{cargo, must, succeeds, target};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TRIPLE: &str = "aarch64-unknown-linux-gnu";
/// The beginning of the variables in which cargo takes its settings for the triple.
const CARGO: &str = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU";
/// Packages for this machine: a cross compiler and an emulator.
const TOOLS: &[&str] = &["g++-aarch64-linux-gnu", "qemu-user-static"];
const CC: &str = "aarch64-linux-gnu-gcc";
const CXX: &str = "aarch64-linux-gnu-g++";
/// The emulator, with the libraries of the cross compiler.
const EMULATOR: [&str; 3] = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"];
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
        let cross = Cross::new()?;
        cross.configure(&mut command);
        let libraries = cross.libraries().display().to_string();
        command
            .args(["--target", TRIPLE, "--features", "gmp-mpfr-sys/force-cross"])
            .env(format!("{CARGO}_RUSTFLAGS"), format!("-L native={libraries}"))
            .env(format!("{CARGO}_RUNNER"), format!("{} -E LD_LIBRARY_PATH={libraries}", EMULATOR.join(" ")));
    }
    Ok(Outcome::of(succeeds(&mut command)?))
}

/// What makes programs for Arm on another machine.
pub struct Cross {
    /// The unpacked packages.
    pub packages: Unpacked,
}

impl Cross {
    /// Installs and unpacks what is missing.
    pub fn new() -> Result<Cross> {
        packages::install(TOOLS)?;
        let packages = packages::unpack("arm64", LIBRARIES, &target().join("aarch64-root"))?;
        if which("rustup") {
            must(Command::new("rustup").args(["target", "add", TRIPLE]))?;
        }
        Ok(Cross { packages })
    }

    /// The folder of the libraries to link.
    pub fn libraries(&self) -> PathBuf {
        self.packages.folder.join("usr/lib/aarch64-linux-gnu")
    }

    /// Tells cargo the compilers and LLVM.
    pub fn configure(&self, command: &mut Command) {
        command
            .env("LLVM_SYS_191_PREFIX", self.packages.folder.join("usr/lib/llvm-19"))
            .env(format!("{CARGO}_LINKER"), CC)
            .env("TARGET_CC", CC)
            .env("TARGET_CXX", CXX)
            // LLVM's headers put their own paths into the code, in assertions.
            .env("TARGET_CXXFLAGS", format!("-ffile-prefix-map={}=", self.packages.folder.display()));
    }
}

/// Runs a program for Arm on another machine.
pub fn emulated(program: &Path) -> Command {
    let mut command = Command::new(EMULATOR[0]);
    command.args(&EMULATOR[1..]).arg(program);
    command
}

/// Whether the kernel gives programs for Arm to the emulator, also in other roots; tries to make it so.
pub fn programs_run() -> Result<bool> {
    const KNOWN: &str = "/proc/sys/fs/binfmt_misc";
    packages::install(&["qemu-user-static", "binfmt-support"])?;
    let is_known = || Path::new(KNOWN).join("qemu-aarch64").exists();
    if !is_known() {
        // What fails here is what the answer says.
        let _ = succeeds(Command::new("mount").args(["-t", "binfmt_misc", "none", KNOWN]).stderr(Stdio::null()));
        let _ = succeeds(Command::new("update-binfmts").args(["--enable", "qemu-aarch64"]));
    }
    Ok(is_known())
}

fn which(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| Path::new(&dir).join(program).exists())
}
