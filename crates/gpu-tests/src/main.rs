//! Checks the CUDA device on a machine with a GPU, with kernels written by hand, and measures launches, transfers and
//! loading. Prints a table; fails if a check fails. Without a GPU it says why there is none, and succeeds.
//!
//! `cargo run --release --package cloom-gpu-tests --bin gpu_smoke`

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a program that prints")]

mod boxes;
mod checks;
mod data;
mod kernels;
mod report;
mod run;
mod timings;

use cloom_hal::Device;
use cloom_hal_cuda::devices;
use report::Report;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let mode = std::env::args().nth(1);
    if mode.as_deref() == Some("--ptx") {
        println!("{}", kernels::ptx());
        return ExitCode::SUCCESS;
    }
    let begin = Instant::now();
    let found = devices(None);
    let took = begin.elapsed();
    let Some(device) = found.devices.first() else {
        println!("skipped: no GPU ({took:.1?})");
        found.absent.iter().for_each(|why| println!("  {why}"));
        return ExitCode::SUCCESS;
    };
    // Set in the child of the check about faults: its CUDA is unusable afterwards, so that it has a process of its own.
    if mode.as_deref() == Some("--fault") {
        return match checks::fault(device) {
            Ok(text) => {
                println!("{text}");
                ExitCode::SUCCESS
            }
            Err(error) => {
                println!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    println!("driver interface {}, found in {took:.1?}", found.driver.unwrap_or(0));
    for device in &found.devices {
        let info = device.info();
        println!(
            "{}: {}, {} multiprocessors, {} MHz, {} MiB, L2 {} KiB, local memory {} KiB, UUID {:02x?}",
            info.name,
            info.target,
            info.compute_units,
            info.clock_mhz,
            info.memory_size >> 20,
            info.cache_size >> 10,
            info.caps.limits.local_memory >> 10,
            info.uuid,
        );
    }
    found.absent.iter().for_each(|why| println!("not offered: {why}"));
    let mut report = Report::default();
    checks::all(&mut report, device);
    if mode.as_deref() != Some("--checks") {
        timings::all(&mut report, device);
    }
    match report.failed() {
        0 => {
            println!("all is well");
            ExitCode::SUCCESS
        }
        failed => {
            println!("{failed} failed");
            ExitCode::FAILURE
        }
    }
}
