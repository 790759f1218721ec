//! The Mandelbrot set from a Rust program: compile a kernel, run it, draw the result with characters. Also shows the
//! diagnostics of a mistake.
//!
//! `cargo run --release --package cloom --example embed`

#![allow(clippy::print_stdout, reason = "a program that prints")]
#![allow(unsafe_code, reason = "a launch is unsafe; the comment there says why this one is sound")]

use cloom::{Context, Options, Range};

const SOURCE: &str = r"
kernel void mandelbrot(global uchar *steps, float2 corner, float pixel, int limit) {
    size_t x = get_global_id(0), y = get_global_id(1);
    float2 c = corner + pixel * (float2)(x, 2 * y), z = 0;
    int n = 0;
    while (n < limit && dot(z, z) < 4)
        z = (float2)(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c, n++;
    steps[y * get_global_size(0) + x] = n;
}";

const WIDTH: usize = 78;
const HEIGHT: usize = 28;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = Context::with(Options { profiling: true, ..Options::default() })?;
    let device = context.device();
    println!("{}, {} threads, code for {}", device.name, device.compute_units, device.target);

    let kernel = context.build(SOURCE)?.kernel("mandelbrot")?;
    let steps = context.buffer::<u8>(WIDTH * HEIGHT)?;
    // SAFETY: the kernel writes one element for each work-item of a WIDTH x HEIGHT range, which the buffer has.
    let event = unsafe { kernel.launch(Range::new([WIDTH, HEIGHT]), (&steps, [-2.1f32, -1.2], 0.04f32, 60i32))? };
    event.wait()?;
    for line in steps.to_vec()?.chunks(WIDTH) {
        let shade = |&n: &u8| b" .:-=+*#%@"[usize::from(n).min(59) / 6] as char;
        println!("{}", line.iter().map(shade).collect::<String>());
    }
    if let Some(times) = event.times() {
        println!("{:?} on the device", times.running);
    }

    // Diagnostics are data: an editor would underline the place.
    if let Err(error) = context.build("kernel void k(global int *p) { p[0] = lenght(p); }") {
        for d in &error.diagnostics {
            let place = d.location.as_ref().map_or_else(String::new, |l| format!("{}:{}: ", l.line, l.column));
            println!("{place}{} {}", d.code, d.message);
        }
    }
    Ok(())
}
