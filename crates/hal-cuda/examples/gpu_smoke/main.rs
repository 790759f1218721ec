//! Checks the CUDA device on a machine with a GPU, with kernels written by hand, and measures launches, transfers and
//! loading. Prints a table; fails if a check fails. Without a GPU it says why there is none, and succeeds.
//!
//! `cargo run --release --package cloom-hal-cuda --example gpu_smoke`

#![allow(clippy::print_stdout, reason = "a program that prints")]

mod boxes;
mod checks;
mod kernels;
mod timings;

use cloom_hal::{Completion, Device, HalError, Kernel, Launch, Memory, NdRange, Pending, PrintSink};
use cloom_hal_cuda::{CudaDevice, devices};
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

/// What a check says.
pub type Outcome = Result<String, Box<dyn Error>>;

/// The table.
#[derive(Default)]
pub struct Report {
    failed: usize,
}

impl Report {
    /// A row: runs a check.
    pub fn check(&mut self, name: &str, check: impl FnOnce() -> Outcome) {
        let begin = Instant::now();
        let outcome = check();
        let time = begin.elapsed();
        match outcome {
            Ok(text) => println!("ok    {name:<48} {time:>10.1?}  {text}"),
            Err(error) => {
                self.failed += 1;
                println!("FAIL  {name:<48} {time:>10.1?}  {error}");
            }
        }
    }
}

/// Prints nothing.
pub struct Silent;

impl PrintSink for Silent {
    fn print(&self, _: u32, _: u64, _: &[u8], _: &dyn Fn(u64) -> Option<Vec<u8>>) {}
}

/// A launch in the making.
pub struct Run<'a> {
    kernel: &'a dyn Kernel,
    range: NdRange,
    args: Vec<u8>,
    local_size: u64,
    queue: u64,
    sink: &'a dyn PrintSink,
}

impl<'a> Run<'a> {
    /// Without arguments so far.
    pub fn new(kernel: &'a dyn Kernel, range: NdRange) -> Run<'a> {
        Run { kernel, range, args: Vec::new(), local_size: 0, queue: 0, sink: &Silent }
    }

    /// The next argument: its bytes.
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.args.resize(self.args.len().next_multiple_of(bytes.len()), 0);
        self.args.extend(bytes);
        self
    }

    /// The next argument: an address.
    pub fn address(self, memory: &dyn Memory) -> Self {
        self.bytes(&memory.device_address().to_le_bytes())
    }

    /// Local memory of a group.
    pub fn local(self, local_size: u64) -> Self {
        Run { local_size, ..self }
    }

    /// The queue that it comes from.
    pub fn queue(self, queue: u64) -> Self {
        Run { queue, ..self }
    }

    /// Where prints go.
    pub fn sink(self, sink: &'a dyn PrintSink) -> Self {
        Run { sink, ..self }
    }

    fn with<R>(&self, call: impl FnOnce(&Launch<'_>) -> R) -> R {
        call(&Launch {
            kernel: self.kernel,
            range: self.range,
            args: &self.args,
            local_size: self.local_size,
            zero_local: false,
            print: self.sink,
            device: None,
            tier_up: None,
            queue: self.queue,
            timed: false,
        })
    }

    /// Runs it to its end.
    pub fn launch(self, device: &CudaDevice) -> Result<(), HalError> {
        self.with(|launch| device.launch(launch))
    }

    /// Starts it; `None` if it has ended.
    pub fn submit(self, device: &CudaDevice) -> Result<Option<Box<dyn Pending>>, HalError> {
        self.with(|launch| device.submit(launch)).map(|completion| match completion {
            Completion::Done => None,
            Completion::Pending(pending) => Some(pending),
        })
    }
}

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
    match report.failed {
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
