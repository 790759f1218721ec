//! Kernels from a binary, on a machine without LLVM. The program compiles a kernel, and then starts itself once more
//! with an empty environment: no `PATH`, no folders of libraries, nothing in which a compiler or a linker could be
//! found. That process gets the binary on its standard input, and neither has nor needs the source.
//!
//! What it shows: a program with this crate runs no tool of LLVM and reads no file of it, because the parts of LLVM
//! that make code are in the program itself. What it does not show: that code is made ahead. A binary has the checked
//! program for any device, and the machine code for the processor at hand is made where it runs.
//!
//! `cargo run --release --package cloom --example without_llvm`

#![allow(clippy::print_stdout, reason = "a program that prints")]
#![allow(unsafe_code, reason = "a launch is unsafe; the comment there says why this one is sound")]

use cloom::{Context, Range};
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

const SOURCE: &str = "kernel void collatz(global uint *steps) {
    uint steps_here = 0;
    for (ulong n = get_global_id(0) + 1; n > 1; steps_here++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    steps[get_global_id(0)] = steps_here;
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1) {
        None => compile(),
        Some(_) => run(),
    }
}

/// On the machine of the developer: compiles, and gives the binary to the other process.
fn compile() -> Result<(), Box<dyn std::error::Error>> {
    let binary = Context::new()?.build(SOURCE)?.binary();
    println!("the binary has {} bytes", binary.len());
    let mut child = Command::new(std::env::current_exe()?).arg("run").env_clear().stdin(Stdio::piped()).spawn()?;
    // The pipe is closed at the end of this statement, which ends the binary.
    child.stdin.take().ok_or("no pipe")?.write_all(&binary)?;
    let status = child.wait()?;
    if status.success() { Ok(()) } else { Err(format!("the other process: {status}").into()) }
}

/// On the machine of the user: reads the binary, and runs the kernel.
fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut binary = Vec::new();
    std::io::stdin().read_to_end(&mut binary)?;
    let context = Context::new()?;
    let collatz = context.load(&binary)?.kernel("collatz")?;
    let steps = context.buffer::<u32>(100_000)?;
    // SAFETY: the kernel writes one element for each work-item of a range of as many.
    unsafe { collatz.launch(Range::new([steps.len()]), (&steps,))? };
    let steps = steps.to_vec()?;
    let longest = (0..steps.len()).max_by_key(|&i| steps[i]).unwrap_or(0);
    println!("with {} variables in the environment:", std::env::vars_os().count());
    println!("of the numbers up to {}, {} takes the most steps: {}", steps.len(), longest + 1, steps[longest]);
    Ok(())
}
