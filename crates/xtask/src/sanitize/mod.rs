//! `sanitize`: the tests of the driver where a tool looks at each access to memory. In: which tool. Out: what it found;
//! its builds and reports are in `target/sanitize`.
//!
//! AddressSanitizer sees what the Rust code and our C++ do, and UndefinedBehaviorSanitizer our C++. LLVM and the code
//! of kernels are not made for them. `address` runs the tests of `unsafe` Rust, `cpp` those that reach our C++.
//! Memcheck, of valgrind, sees everything, kernels too, and is some fifty times slower.

mod memcheck;

use crate::outcome::Outcome;
use crate::packages;
use crate::tools::{cargo, must, succeeds, target, triple};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
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

/// The tests that run our C++: those of its crate, and the file tests of its passes.
const CPP: &[&[&str]] = &[
    &["-p", "cloom-llvm", "--lib", "--tests"],
    &["-p", "cloom-filetest", "--test", "files", "tests/ll"],
    &["-p", "cloom-filetest", "--test", "files", "tests/cl"],
];

/// Generated programs, each compiled for every rung: their test, and how many from which seed on.
const CPP_PROGRAMS: &[&str] = &["-p", "cloom-filetest", "--test", "kernels", "generated_kernels_agree"];
const CPP_SEEDS: [(&str, &str); 3] =
    [("CLOOM_TEST_FIRST", "9000"), ("CLOOM_TEST_KERNELS", "60"), ("CLOOM_TEST_CODE", "60")];

/// Runs one tool, or all. The words after it are names of what it should run.
pub fn run(args: &[String]) -> Result<Outcome> {
    let (tools, names) = match args.split_first() {
        None => (&["address", "cpp", "memcheck"][..], args),
        Some((tool, names)) if tool == "address" => (&["address"][..], names),
        Some((tool, [])) if tool == "cpp" => (&["cpp"][..], args),
        Some((tool, names)) if tool == "memcheck" => (&["memcheck"][..], names),
        Some((other, _)) => {
            bail!("there is no `{other}`; usage: cargo xtask sanitize [address [ARGS] | cpp | memcheck [NAMES]]")
        }
    };
    packages::ensure()?;
    let mut good = true;
    for tool in tools {
        let fine = match *tool {
            "address" => address(names)?,
            "cpp" => cpp()?,
            _ => memcheck::run(names)?,
        };
        println!("xtask sanitize: {tool}: {}", if fine { "nothing found" } else { "FAILED" });
        good &= fine;
    }
    Ok(Outcome::of(good))
}

/// What is too large must be refused by the driver, not by the tool. And memory is not poisoned by hand: LLVM's
/// headers make our C++ poison the slabs of LLVM's allocators, but the code in LLVM's libraries, which is not made for
/// the tool, does not unpoison what it takes of them.
///
/// The C++ library checks the ends of its containers only where `_GLIBCXX_SANITIZE_VECTOR` asks for it. `new` and
/// `delete` are its own and call `malloc` and `free`, which the tool replaces: it sees overflows and uses after
/// `delete`, but not `free` of what `new` made.
const ASAN_OPTIONS: &str = "allocator_may_return_null=1:allow_user_poisoning=0";

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
        .env("CLOOM_CACHE", "0")
        .env("ASAN_OPTIONS", ASAN_OPTIONS)
        .env("UBSAN_OPTIONS", "print_stacktrace=1");
    // Reports then name functions and lines.
    let symbolizer = std::env::var_os("LLVM_SYS_191_PREFIX").map(|p| Path::new(&p).join("bin/llvm-symbolizer"));
    if let Some(symbolizer) = symbolizer.filter(|path| path.exists()) {
        command.env("ASAN_SYMBOLIZER_PATH", symbolizer);
    }
    Ok(command)
}

/// The tests that reach our C++. They need no driver.
fn cpp() -> Result<bool> {
    let mut good = true;
    for words in CPP {
        good &= succeeds(sanitized(&["test", "--no-fail-fast"])?.args(*words))?;
    }
    Ok(succeeds(sanitized(&["test"])?.args(CPP_PROGRAMS).envs(CPP_SEEDS))? && good)
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
        succeeds(tests.args(words).env("LSAN_OPTIONS", format!("suppressions={}", known.display())))
    };
    if !args.is_empty() {
        return test(&args.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let crates: Vec<&str> = CRATES.iter().flat_map(|&name| ["-p", name]).collect();
    let unfit: Vec<&str> = UNFIT.iter().flat_map(|&name| ["--skip", name]).collect();
    let without_model = test(WITHOUT_MODEL)?;
    Ok(test(&[&crates[..], &["--lib", "--tests", "--"], &unfit].concat())? && without_model)
}
