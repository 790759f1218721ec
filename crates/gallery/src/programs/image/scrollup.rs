//! `scrollup`: each iteration moves a picture up by a row; the first row comes back as the last. A copy, but for the
//! place: where the device and the threads each have a part of the picture, they have to exchange a row each time.

use crate::common::easypap::{PixelKernel, Reads};
use crate::error::Result;
use crate::inputs;
use crate::params::Params;
use crate::picture::Picture;

pub struct Scrollup;

impl PixelKernel for Scrollup {
    const NAME: &'static str = "scrollup";
    const ABOUT: &'static str = "a picture that scrolls up";
    const SOURCE: &'static str = include_str!("../../../kernels/scrollup.cl");
    const READS: Reads = Reads::Below;

    fn start(params: &Params) -> Result<Picture> {
        params.only(&["param"])?;
        inputs::picture(params)
    }

    fn pixel(from: &Picture, _: u32, x: usize, y: usize) -> u32 {
        let below = if y + 1 < from.height { y + 1 } else { 0 };
        from.pixels[below * from.width + x]
    }

    fn expected(start: &Picture, n: u32) -> Picture {
        let mut picture = start.clone();
        picture.pixels.rotate_left(n as usize % start.height * start.width);
        picture
    }
}
