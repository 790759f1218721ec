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
mod outcome;
mod packages;
mod pictures;
mod ranks;
mod sanitize;
mod soak;
mod tests;
mod tidy;
mod tools;
mod usage;

use outcome::Outcome;
use std::process::ExitCode;
use usage::USAGE;

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
