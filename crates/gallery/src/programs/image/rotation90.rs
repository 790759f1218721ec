//! `rotation90`: each iteration turns a picture by a right angle, counter-clockwise. As a transposition, it reads down
//! columns what it writes along rows. The sides of a picture that is not square change places.

use crate::cl::Arg;
use crate::common::easypap::{PixelKernel, Reads};
use crate::error::Result;
use crate::inputs;
use crate::params::Params;
use crate::picture::Picture;

pub struct Rotation90;

impl PixelKernel for Rotation90 {
    const NAME: &'static str = "rotation90";
    const ABOUT: &'static str = "a picture turned by a right angle";
    const SOURCE: &'static str = include_str!("../../../kernels/rotation90.cl");
    const READS: Reads = Reads::Any;
    const TURNS: bool = true;

    fn start(params: &Params) -> Result<Picture> {
        params.only(&["param"])?;
        inputs::picture(params)
    }

    fn pixel(from: &Picture, _: u32, x: usize, y: usize) -> u32 {
        from.pixels[x * from.width + from.width - 1 - y]
    }

    fn further_args((w, h): (usize, usize), _: u32) -> Vec<Arg> {
        vec![Arg::from(w as u32), Arg::from(h as u32)]
    }

    /// The picture after any number of turns is one of four. A pixel of the start is put where it goes to.
    fn expected(start: &Picture, n: u32) -> Picture {
        let (w, h) = (start.width, start.height);
        let mut out = if n % 2 == 1 { Picture::new(h, w, 0) } else { Picture::new(w, h, 0) };
        for (y, row) in start.pixels.chunks(w).enumerate() {
            for (x, &pixel) in row.iter().enumerate() {
                let (to_x, to_y) = match n % 4 {
                    0 => (x, y),
                    1 => (y, w - 1 - x),
                    2 => (w - 1 - x, h - 1 - y),
                    _ => (h - 1 - y, x),
                };
                out.pixels[to_y * out.width + to_x] = pixel;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_turns_are_none_and_one_goes_counter_clockwise() {
        let start = Picture { width: 3, height: 2, pixels: vec![1, 2, 3, 4, 5, 6] };
        let once = Rotation90::expected(&start, 1);
        assert_eq!((once.width, once.height, &*once.pixels), (2, 3, &[3, 6, 2, 5, 1, 4][..]));
        let mut turned = start.clone();
        for n in 1..=8 {
            turned = Picture::from_fn(turned.height, turned.width, |x, y| Rotation90::pixel(&turned, n, x, y));
            assert_eq!(turned, Rotation90::expected(&start, n), "after {n} turns");
        }
        assert_eq!(turned, start);
    }
}
