//! `spin`: rays of two colours turn around the middle of the picture, by a degree with each iteration. Nothing is read;
//! each pixel costs an arc tangent.

use crate::cl::Arg;
use crate::common::easypap::{PixelKernel, Reads};
use crate::common::threads;
use crate::error::Result;
use crate::params::Params;
use crate::picture::{Picture, rgb};
use crate::program::{Answer, Verdict, close};
use std::f32::consts::{FRAC_PI_4, FRAC_PI_8, PI};

pub struct Spin;

/// How far the rays have turned, in degrees: half a turn is a whole number of rays.
fn degrees(i: u32) -> u32 {
    i % 180
}

/// The colour where `ratio` is of the first colour, yellow, and the rest of the second, blue. Halves are rounded up.
fn mixed(ratio: f64) -> u32 {
    let level = |part: f64| (part * 255.0 + 0.5) as u8;
    rgb(level(ratio), level(ratio), level(1.0 - ratio))
}

fn levels(picture: &Picture) -> Vec<f32> {
    picture.pixels.iter().flat_map(|p| p.to_le_bytes().map(f32::from)).collect()
}

impl PixelKernel for Spin {
    const NAME: &'static str = "spin";
    const ABOUT: &'static str = "rays that turn, an arc tangent a pixel";
    const SOURCE: &'static str = include_str!("../../../kernels/spin.cl");
    const READS: Reads = Reads::Own;
    const BYTES: usize = 4;

    fn start(params: &Params) -> Result<Picture> {
        params.only(&["param"])?;
        let (w, h) = params.size_or(1024, 1024)?;
        Ok(Picture::new(w, h, 0))
    }

    fn pixel(from: &Picture, i: u32, x: usize, y: usize) -> u32 {
        let (dx, dy) = (x as f32 + 0.5 - from.width as f32 / 2.0, from.height as f32 / 2.0 - (y as f32 + 0.5));
        let angle = dy.atan2(dx) + PI + degrees(i) as f32 * (PI / 180.0);
        let ratio = ((angle % FRAC_PI_4 - FRAC_PI_8) / FRAC_PI_8).abs();
        let level = |part: f32| (part * 255.0 + 0.5) as u8;
        rgb(level(ratio), level(ratio), level(1.0 - ratio))
    }

    fn further_args(_: (usize, usize), i: u32) -> Vec<Arg> {
        vec![Arg::from(degrees(i) as f32 * (PI / 180.0))]
    }

    /// Eighths of a turn, and how far a pixel's angle is from the middle between two of them.
    fn expected(start: &Picture, n: u32) -> Picture {
        let (w, h) = (start.width, start.height);
        // Each iteration paints the whole picture anew, so that only the last one shows.
        let turned = f64::from(degrees(n.saturating_sub(1))) / 45.0;
        let mut out = Picture::new(w, h, 0);
        threads::rows(&mut out.pixels, w, threads::count(), |y, row| {
            for (x, pixel) in row.iter_mut().enumerate() {
                let (dx, dy) = (2.0 * x as f64 + 1.0 - w as f64, h as f64 - 2.0 * y as f64 - 1.0);
                let eighths = (dy.atan2(dx).to_degrees() / 45.0 + turned).rem_euclid(1.0);
                *pixel = mixed((2.0 * eighths - 1.0).abs());
            }
        });
        out
    }

    /// The wave of colours has no jumps. An angle below 8 with the 6 units in the last place of OpenCL's `atan2` is off
    /// by less than 4e-6, the colour by less than 0.003 levels: a level is rounded to its neighbour at worst.
    fn check(got: &Picture, want: &Picture) -> (Verdict, Answer) {
        let (got, want) = (levels(got), levels(want));
        let want: Vec<f64> = want.iter().map(|&l| f64::from(l)).collect();
        (close(&got, &want, |_| 1.0, "levels"), Answer::close(got, |_| 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_change_from_ray_to_ray_and_turn() {
        let plain = Picture::new(64, 48, 0);
        for n in [1, 2, 46, 180, 181] {
            let got = Picture::from_fn(64, 48, |x, y| Spin::pixel(&plain, n - 1, x, y));
            let want = Spin::expected(&plain, n);
            assert!(matches!(Spin::check(&got, &want).0, Verdict::Passed(_)), "after {n} iterations");
            // A ray is 45° wide: 22° on, a picture is far from itself.
            assert!(matches!(Spin::check(&got, &Spin::expected(&plain, n + 22)).0, Verdict::Failed(_)));
        }
        assert_eq!(mixed(1.0), rgb(255, 255, 0));
    }
}
