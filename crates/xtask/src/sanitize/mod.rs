//! `sanitize`: the tests of the driver where a tool looks at each access to memory. In: which tool. Out: what it found;
//! its builds and reports are in `target/sanitize`.
//!
//! AddressSanitizer sees what the Rust code and our C++ do, and undefined behaviour of the C++ traps; LLVM and the code
//! of kernels are not made for it. Memcheck, of valgrind, sees everything, kernels too, and is some fifty times slower.

mod memcheck;

use crate::outcome::Outcome;
use crate::packages;
use crate::tools::{cargo, must, succeeds, target, triple};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::Command;

/// Crates with `unsafe` code, whose tests run it. Those of capi load the driver.
const CRATES: &[&str] = &["cloom-capi", "cloom-llvm", "cloom-runtime"];

/// The same for the crate that also has a model check, whose threads change stacks.
const WITHOUT_MODEL: &[&str] = &["-p", "cloom-hal-cpu", "--lib", "--test", "launch"];

/// Tests that AddressSanitizer itself makes fail.
const UNFIT: &[&str] = &[
    // They bring an allocator of their own.
    "mappings_that_fail",
    "memory_that_ends_for_good",
    "one_allocation_that_fails",
    "without_memory_for_the_compiler",
    "without_threads_the_calling_thread",
    // They look at how memory grows.
    "the_driver_endures",
    // It loads PoCL, whose memory the tool does not know.
    "another_driver_in_the_same_process",
    // The cache is off.
    "many_processes_share_one_cache",
];

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
        // The passes in C++; see the build script of `llvm`.
        .env("CLOOM_SANITIZE_CPP", "1")
        .env("CLOOM_QUICK_START", "0")
        .env("CLOOM_CACHE", "0");
    Ok(command)
}

/// The driver, and the tests of the crates that have `unsafe` code; it looks for leaks, too. The arguments, if any,
/// replace the choice of crates for `cargo test`.
fn address(args: &[String]) -> Result<bool> {
    must(&mut sanitized(&["build", "--profile", "test", "-p", "cloom-capi", "--lib"])?)?;
    // Callbacks of calls that must fail, memory that buffers use until the end and jobs that outlive their test: the
    // tests themselves lose them.
    let known = folder("address")?.join("known-leaks.txt");
    let leaks = ["common::callbacks", "random_calls_from_many_threads", "an_owner_does_not_wait"];
    let leaks: String = leaks.iter().map(|name| format!("leak:{name}\n")).collect();
    std::fs::write(&known, leaks).with_context(|| format!("cannot write {}", known.display()))?;
    let test = |words: &[&str]| -> Result<bool> {
        let mut tests = sanitized(&["test", "--no-fail-fast"])?;
        // What is too large must be refused by the driver, not by the tool.
        tests.args(words).env("ASAN_OPTIONS", "allocator_may_return_null=1");
        succeeds(tests.env("LSAN_OPTIONS", format!("suppressions={}", known.display())))
    };
    if !args.is_empty() {
        return test(&args.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let crates: Vec<&str> = CRATES.iter().flat_map(|&name| ["-p", name]).collect();
    let unfit: Vec<&str> = UNFIT.iter().flat_map(|&name| ["--skip", name]).collect();
    let without_model = test(WITHOUT_MODEL)?;
    Ok(test(&[&crates[..], &["--lib", "--tests", "--"], &unfit].concat())? && without_model)
}
