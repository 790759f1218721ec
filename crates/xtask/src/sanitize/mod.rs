//! `sanitize`: the tests of the driver where a tool looks at each access to memory. In: which tool. Out: what it found;
//! its builds and reports are in `target/sanitize`.
//!
//! AddressSanitizer sees what the Rust code does; LLVM and the code of kernels are not made for it. Memcheck, of
//! valgrind, sees everything, kernels too, and is some fifty times slower.

mod memcheck;

use crate::tools::{cargo, must, succeeds, target, triple};
use crate::{Outcome, packages};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::Command;

/// Crates with `unsafe` code, whose tests run it. Those of capi load the driver.
const CRATES: &[&str] = &["cloom-capi", "cloom-hal-cpu", "cloom-llvm", "cloom-runtime"];

/// Runs one tool, or both. The words after it are names of what it should run.
pub fn run(args: &[String]) -> Result<Outcome> {
    let (tools, names) = match args.split_first() {
        None => (&["address", "memcheck"][..], args),
        Some((tool, names)) if tool == "address" => (&["address"][..], names),
        Some((tool, names)) if tool == "memcheck" => (&["memcheck"][..], names),
        Some((other, _)) => {
            bail!("there is no `{other}`; usage: cargo xtask sanitize [address [ARGS] | memcheck [NAMES]]")
        }
    };
    packages::ensure()?;
    let mut good = true;
    for tool in tools {
        let fine = if *tool == "address" { address(names)? } else { memcheck::run(names)? };
        println!("xtask sanitize: {tool}: {}", if fine { "nothing found" } else { "FAILED" });
        good &= fine;
    }
    Ok(Outcome::of(good))
}

/// The folder of a way.
fn folder(name: &str) -> Result<PathBuf> {
    let folder = target().join("sanitize").join(name);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    folder.canonicalize().context("the folder that was just made")
}

/// `cargo` with AddressSanitizer. The tests export its functions for the driver, which they load.
fn sanitized(words: &[&str]) -> Result<Command> {
    let mut command = cargo(words);
    let flags = "-Zsanitizer=address\x1f-Clink-arg=-rdynamic\x1f-Cforce-frame-pointers=yes";
    command
        // Where a triple is given, flags are not for build scripts and macros.
        .args(["--target", &triple()])
        .env("CARGO_TARGET_DIR", folder("address")?)
        // Such flags are for nightly compilers otherwise.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_ENCODED_RUSTFLAGS", flags)
        .env("CARGO_INCREMENTAL", "0")
        .env("CLOOM_QUICK_START", "0")
        .env("CLOOM_CACHE", "0");
    Ok(command)
}

/// The driver, and the tests of the crates that have `unsafe` code; it looks for leaks, too. The arguments, if any,
/// replace the choice of crates for `cargo test`.
fn address(args: &[String]) -> Result<bool> {
    must(&mut sanitized(&["build", "--profile", "test", "-p", "cloom-capi", "--lib"])?)?;
    // Callbacks of calls that must fail are lost by the tests themselves.
    let known = folder("address")?.join("known-leaks.txt");
    std::fs::write(&known, "leak:common::callbacks\n").with_context(|| format!("cannot write {}", known.display()))?;
    let mut tests = sanitized(&["test", "--no-fail-fast"])?;
    if args.is_empty() {
        tests.args(CRATES.iter().flat_map(|name| ["-p", name])).args(["--lib", "--tests"]);
    }
    succeeds(tests.args(args).env("LSAN_OPTIONS", format!("suppressions={}", known.display())))
}
