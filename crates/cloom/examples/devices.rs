//! All devices of this machine, and one launch on each: every device adds its number to the elements of a buffer that
//! they share, one after the other.
//!
//! `cargo run --release --package cloom --example devices`

#![allow(clippy::print_stdout, reason = "a program that prints")]
#![allow(unsafe_code, reason = "a launch is unsafe; the comment there says why this one is sound")]

use cloom::{Context, Device, QueueOptions, Range};

const ELEMENTS: usize = 1 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let devices = Device::all()?;
    let context = Context::on(&devices)?;
    let add = context.build("kernel void add(global int *x, int n) { x[get_global_id(0)] += n; }")?.kernel("add")?;
    let x = context.buffer::<i32>(ELEMENTS)?;
    let mut after = Vec::new();
    for (device, number) in devices.iter().zip(1i32..) {
        let queue = context.queue(device, QueueOptions { profiling: true, ..QueueOptions::default() })?;
        // SAFETY: each work-item changes its own element; the launches are one after the other.
        let event = unsafe { add.launch_on(&queue, Range::new([ELEMENTS]), (&x, number), &after)? };
        event.wait()?;
        let info = device.info();
        println!("{:?} {}: {:?}", info.kind, info.name, event.times().map(|times| times.running));
        after = vec![event];
    }
    let sum: i32 = (1..=devices.len() as i32).sum();
    assert!(x.to_vec()?.iter().all(|&n| n == sum), "every device has added its number");
    println!("each element is {sum}");
    Ok(())
}
