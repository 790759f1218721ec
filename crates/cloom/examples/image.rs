//! An image and a sampler: a picture of eight by eight pixels is enlarged with linear interpolation, and drawn with
//! characters.
//!
//! `cargo run --release --package cloom --example image`

#![allow(clippy::print_stdout, reason = "a program that prints")]
#![allow(unsafe_code, reason = "a launch is unsafe; the comment there says why this one is sound")]

use cloom::{Context, ImageFormat, Range, SamplerOptions, channel, order};

const SOURCE: &str = "
kernel void enlarge(read_only image2d_t small, sampler_t linear, write_only image2d_t large)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float2 from = (convert_float2(at) + 0.5f) / convert_float2(get_image_dim(large));
    write_imagef(large, at, read_imagef(small, linear, from));
}";

const SMALL: usize = 8;
const LARGE: [usize; 2] = [64, 32];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = Context::new()?;
    let format = ImageFormat { order: order::R, channel_type: channel::UNORM_INT8 };
    let (small, large) = (context.image(format, [SMALL, SMALL])?, context.image(format, LARGE)?);
    let linear = context.sampler(SamplerOptions { normalized: true, linear: true, ..SamplerOptions::default() })?;
    let board: Vec<u8> = (0..SMALL * SMALL).map(|i| if (i + i / SMALL).is_multiple_of(2) { 255 } else { 0 }).collect();
    small.write(&board)?;
    let enlarge = context.build(SOURCE)?.kernel("enlarge")?;
    // SAFETY: writes to images stay inside.
    unsafe { enlarge.launch(Range::new(LARGE), (&small, &linear, &large))? };
    for line in large.to_vec::<u8>()?.chunks(LARGE[0]) {
        println!("{}", line.iter().map(|&n| b" .:-=+*#%@"[usize::from(n) * 9 / 255] as char).collect::<String>());
    }
    Ok(())
}
