//! `sanitize`: the tests of the driver where a tool looks at each access to memory. In: which tools. Out: what they
//! found; their builds and reports are in `target/sanitize`.
//!
//! AddressSanitizer and ThreadSanitizer see what the Rust code does; LLVM and the code of kernels are not made for them.
//! Memcheck, of valgrind, sees everything, kernels too, and is some fifty times slower.

mod memcheck;

use crate::tools::{cargo, must, root, succeeds, target};
use crate::{Outcome, packages};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::Command;

/// Crates with `unsafe` code, whose tests run it. Those of capi load the driver.
const CRATES: &[&str] = &["cloom-capi", "cloom-hal-cpu", "cloom-llvm", "cloom-runtime"];

/// A way to look.
struct Way {
    name: &'static str,
    run: fn() -> Result<bool>,
}

/// Tests in which threads meet.
const THREADS: &[&str] = &["threads", "event", "queue", "command_buffer_random"];

const WAYS: &[Way] = &[
    Way { name: "address", run: address },
    Way { name: "thread", run: thread },
    Way { name: "memcheck", run: memcheck::run },
];

/// Runs the ways that the arguments name, or all.
pub fn run(args: &[String]) -> Result<Outcome> {
    if let Some(other) = args.iter().find(|arg| WAYS.iter().all(|way| way.name != **arg)) {
        bail!("there is no `{other}`; usage: cargo xtask sanitize [address] [thread] [memcheck]");
    }
    packages::ensure()?;
    let mut good = true;
    for way in WAYS.iter().filter(|way| args.is_empty() || args.iter().any(|arg| arg == way.name)) {
        let fine = (way.run)()?;
        println!("xtask sanitize: {}: {}", way.name, if fine { "nothing found" } else { "FAILED" });
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

/// The triple of this machine. Where a triple is given, flags are not for build scripts, which LLVM's `llvm-config` and
/// the standard library's own build would not bear.
fn triple() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

/// `cargo` with a sanitizer. The tests export the sanitizer's functions for the driver, which they load.
fn sanitized(words: &[&str], name: &str, more: &[&str]) -> Result<Command> {
    let mut command = cargo(words);
    let flags = format!("-Zsanitizer={name}\x1f-Clink-arg=-rdynamic\x1f-Cforce-frame-pointers=yes");
    command
        .args(["--target", &triple()])
        .args(more)
        .env("CARGO_TARGET_DIR", folder(name)?)
        // Such flags are for nightly compilers otherwise.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_ENCODED_RUSTFLAGS", flags)
        .env("CARGO_INCREMENTAL", "0")
        .env("CLOOM_QUICK_START", "0")
        .env("CLOOM_CACHE", "0");
    Ok(command)
}

/// The driver, and the tests of the crates that have `unsafe` code; with it, leaks are looked for.
fn address() -> Result<bool> {
    must(&mut sanitized(&["build", "-p", "cloom-capi", "--lib"], "address", &[])?)?;
    let mut tests = sanitized(&["test", "--no-fail-fast"], "address", &[])?;
    tests.args(CRATES.iter().flat_map(|name| ["-p", name])).args(["--lib", "--tests"]);
    succeeds(&mut tests)
}

/// What many threads do to the driver and to its graph of commands. The standard library is built anew, so that its
/// locks are seen: with a nightly compiler, which has its sources.
fn thread() -> Result<bool> {
    if !succeeds(Command::new("rustup").args(["component", "add", "rust-src", "--toolchain", "nightly"]))? {
        println!("skipped: thread: it needs the sources of the standard library, `rustup toolchain add nightly`");
        return Ok(true);
    }
    let nightly = |words: &[&str]| -> Result<Command> {
        let mut command = sanitized(words, "thread", &["-Zbuild-std"])?;
        // In place of the compiler of the workspace; the wrapper of rustup reads it.
        command.env("RUSTUP_TOOLCHAIN", "nightly").env_remove("RUSTC").env_remove("RUSTDOC");
        Ok(command)
    };
    must(&mut nightly(&["build", "-p", "cloom-capi", "--lib"])?)?;
    let suppressions = root().join("crates/xtask/src/sanitize/thread.txt");
    let mut tests = nightly(&["test", "--no-fail-fast", "-p", "cloom-capi"])?;
    tests
        .args(THREADS.iter().flat_map(|name| ["--test", name]))
        .env("TSAN_OPTIONS", format!("suppressions={}", suppressions.display()));
    succeeds(&mut tests)
}
