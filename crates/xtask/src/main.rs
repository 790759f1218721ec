//! The habits of the workspace:
//! `cargo xtask demo|test|ci|tidy|bless|pictures|ranks|gpu|aarch64|cts|corpora|dist|hashcat|sanitize|soak|show`.
//!
//! Each command first sees to the system packages that building needs, so that a fresh Debian machine with Rust is
//! enough. Exit codes: 0 fine, 1 findings, 2 wrong use or environment.

#![allow(clippy::print_stdout, reason = "it prints what it finds")]
#![forbid(unsafe_code)]

mod aarch64;
mod ci;
mod corpora;
mod cts;
mod demo;
mod dist;
mod driver;
mod failures;
mod gpu;
mod hashcat;
mod packages;
mod pictures;
mod ranks;
mod sanitize;
mod soak;
mod tests;
mod tidy;
mod tools;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <command>

  demo          build, run the Mandelbrot set and the histogram through the driver, check them, write pictures
  test [ARGS]   run every test; ARGS go to `cargo test`
  ci            formatting, lints, invariants, every test
  tidy          check the invariants of the workspace
  bless         run the tests and accept what golden files would change
  pictures      draw the pictures of docs/gallery.md anew
  ranks         the gallery in several processes, through MPI; and a process that dies
  gpu           pack: what runs on a machine with a GPU; simulate COMMAND: run it here on a simulated one
  aarch64 [A…]  run the tests that run machine code, made for Arm and emulated; ARGS go to `cargo test`
  cts DIR [S…]  run the conformance tests that were built in DIR, or the suites whose names begin so; `cts` tells its options
  corpora DIR   compile public kernels that lie or are fetched into DIR, and compare with what is expected of each
  dist          make what users get, a wheel, a Debian package and a tarball; --check: and try them in fresh systems;
                --try: try what was made; --machine aarch64: for Arm, on any machine
  hashcat [A…]  build all kernels of hashcat, or of the sources whose names begin so; takes hours of processor time
  sanitize [A…] the driver's tests under AddressSanitizer and valgrind: address [ARGS] or memcheck [NAMES]
  soak [A…]     long runs of what a driver must endure: --minutes N, --case NAME, --json, --list
  show ARGS     every stage of one kernel: `cloom show ARGS`";

/// How a command ends.
#[derive(Debug)]
pub enum Outcome {
    /// All is well.
    Fine,
    /// It ran, and found something.
    Findings,
}

impl Outcome {
    /// What it is if all is well or not.
    fn of(good: bool) -> Outcome {
        if good { Outcome::Fine } else { Outcome::Findings }
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rest = args.get(1..).unwrap_or_default();
    let result = match args.first().map(String::as_str) {
        Some("demo") => demo::run(),
        Some("test") => tests::test(rest),
        Some("pictures") => pictures::run(),
        Some("ranks") => ranks::run(),
        Some("ci") => ci::run(),
        Some("tidy") => tidy::run(),
        Some("bless") => tests::bless(rest),
        Some("gpu") => gpu::run(rest),
        Some("aarch64") => aarch64::run(rest),
        Some("cts") => cts::run(rest),
        Some("corpora") => corpora::run(rest),
        Some("dist") => dist::run(rest),
        Some("hashcat") => hashcat::run(rest),
        Some("sanitize") => sanitize::run(rest),
        Some("soak") => soak::run(rest),
        Some("show") => demo::show(rest),
        Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Err(e) => {
            eprintln!("xtask: {e:#}");
            ExitCode::from(2)
        }
    }
}
