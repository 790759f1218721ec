//! `invert`: each iteration inverts the colours of a picture. The first kernel of the course that reads one: its result
//! after an even number of iterations is the picture itself.

use crate::common::easypap::{PixelKernel, Reads};
use crate::error::Result;
use crate::inputs;
use crate::params::Params;
use crate::picture::Picture;

pub struct Invert;

impl PixelKernel for Invert {
    const NAME: &'static str = "invert";
    const ABOUT: &'static str = "the colours of a picture inverted";
    const SOURCE: &'static str = include_str!("../../../kernels/invert.cl");
    const READS: Reads = Reads::Own;

    fn start(params: &Params) -> Result<Picture> {
        params.only(&["param"])?;
        inputs::picture(params)
    }

    fn pixel(from: &Picture, _: u32, x: usize, y: usize) -> u32 {
        from.pixels[y * from.width + x] ^ 0x00ff_ffff
    }

    fn expected(start: &Picture, n: u32) -> Picture {
        let mut picture = start.clone();
        if n % 2 == 1 {
            for pixel in &mut picture.pixels {
                let [r, g, b, alpha] = pixel.to_le_bytes();
                *pixel = u32::from_le_bytes([255 - r, 255 - g, 255 - b, alpha]);
            }
        }
        picture
    }
}
