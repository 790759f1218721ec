//! `resample`: a picture at another size, from an array or an image: bilinear; bicubic out of four linear fetches and
//! a table of 64 rows; bicubic with sixteen weights from a table.

use crate::args;
use crate::cl::{Arg, Session, round_up};
use crate::common::threads;
use crate::error::{Error, Result};
use crate::inputs;
use crate::params::Params;
use crate::picture::Picture;
use crate::program::{Answer, Outcome, Program, Variant, Work, close};

pub struct Resample;

const SOURCE: &str = include_str!("../../../kernels/resample.cl");
const IMAGE_SOURCE: &str = include_str!("../../../kernels/resample_image.cl");
/// Rows of a table: the number of positions between two pixels.
const PHASES: usize = 64;

/// The weights of a B-spline for a position `t` between the second and the third of four neighbours.
fn spline(t: f64) -> [f64; 4] {
    let (s, t2, t3) = (1.0 - t, t * t, t * t * t);
    [s * s * s, 3.0 * t3 - 6.0 * t2 + 4.0, -3.0 * t3 + 3.0 * t2 + 3.0 * t + 1.0, t3].map(|w| w / 6.0)
}

/// Those of Catmull and Rom's cubic, which goes through the pixels.
fn through(t: f64) -> [f64; 4] {
    let (t2, t3) = (t * t, t * t * t);
    [-t3 + 2.0 * t2 - t, 3.0 * t3 - 5.0 * t2 + 2.0, -3.0 * t3 + 4.0 * t2 + t, t3 - t2].map(|w| w / 2.0)
}

/// The table that the kernel reads.
fn table(variant: &str) -> Vec<f32> {
    let row = |phase: usize| {
        let t = phase as f64 / PHASES as f64;
        if variant.starts_with("fast") {
            let [a, b, c, d] = spline(t);
            // Two linear fetches give four taps: one between the first two neighbours and one between the others, at
            // places that have the ratio of their weights, mixed by the sum of the first two.
            [b / (a + b), d / (c + d), a + b, 0.0]
        } else {
            through(t)
        }
    };
    (0..PHASES).flat_map(|p| row(p).map(|v| v as f32)).collect()
}

/// How far neighbouring pixels of the result are apart in the source, in 65536ths of a pixel.
fn step(from: usize, to: usize) -> u32 {
    ((from << 16) / to) as u32
}

/// The four neighbours of pixel `i` of the result and their weights.
fn neighbours(variant: &str, i: usize, step: u32, n: usize) -> [(usize, f64); 4] {
    // Fixed-point places: the centre of pixel `i`, in 65536ths. Whole numbers choose the same phase of the table
    // everywhere.
    let place = i as i64 * i64::from(step) + i64::from(step / 2) - (1 << 15);
    let (first, rest) = (place.div_euclid(1 << 16) - 1, place.rem_euclid(1 << 16) as f64 / 65536.0);
    let phase = (rest * PHASES as f64).floor() / PHASES as f64;
    let weights = match variant {
        "bilinear" | "image" => [0.0, 1.0 - rest, rest, 0.0],
        "fast" | "fast_image" => spline(phase),
        _ => through(phase),
    };
    let mut k = first;
    weights.map(|weight| {
        let at = k.clamp(0, n as i64 - 1) as usize;
        k += 1;
        (at, weight)
    })
}

impl Resample {
    /// The size of the source and of the result.
    fn sizes(params: &Params) -> Result<[usize; 4]> {
        params.only(&["percent"])?;
        let (w, h) = params.size_or(512, 512)?;
        let percent = params.number("percent", 400, 1..=3200)? as usize;
        let [ow, oh] = [w, h].map(|n| (n * percent / 100).max(1));
        // Positions are in 65536ths of a pixel, in 32 bits.
        if w.max(h) > 16384 || ow * oh > 1 << 27 {
            return Err(Error::Params(format!("{w}x{h} at {percent} %: choose a smaller -s or percent")));
        }
        Ok([w, h, ow, oh])
    }
}

impl Program for Resample {
    fn name(&self) -> &'static str {
        "resample"
    }

    fn about(&self) -> &'static str {
        "a picture at another size"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "bilinear", about: "between four neighbours" },
            Variant { name: "fast", about: "bicubic: four linear fetches and a table of places" },
            Variant { name: "table", about: "bicubic: sixteen neighbours, weights from a table" },
            Variant { name: "image", about: "between four neighbours, which a sampler does" },
            Variant { name: "fast_image", about: "fast, with fetches that a sampler does" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &["percent=400: how large the result is, 1 to 3200"]
    }

    fn source(&self, params: &Params) -> &'static str {
        if params.variant.ends_with("image") { IMAGE_SOURCE } else { SOURCE }
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        Resample::sizes(params)?;
        Ok((String::new(), format!("resample_{}", self.variant(params)?)))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let (options, name) = self.build_options(params)?;
        let [w, h, ow, oh] = Resample::sizes(params)?;
        let picture = inputs::picture(&Params { size: Some((w, h)), ..params.clone() })?;
        let data: Vec<f32> = picture.luma().iter().map(|&v| f32::from(v) / 255.0).collect();
        let is_image = variant.ends_with("image");
        let image = if is_image { Some(session.upload_floats(1, w, h, &data)?) } else { None };
        let built = session.build("resample", self.source(params), &options)?;
        let kernel = built.kernel(&name)?;
        let (input, output) = (session.upload(&data)?, session.zeroed::<f32>(ow * oh)?);
        let from = image.as_ref().map_or_else(|| Arg::from(&input), Arg::from);
        let table = session.upload(&table(variant))?;
        let (tw, th) = params.tile_or(16, 16)?;
        let [step_x, step_y] = [step(w, ow), step(h, oh)];
        let times = session.measure(params.iterations, |_| {
            let (sizes, result) = ([w as i32, h as i32], [ow as i32, oh as i32]);
            let args = args![from, sizes[0], sizes[1], &output, result[0], result[1], step_x, step_y, &table];
            session.launch(&kernel, args, &[round_up(ow, tw), round_up(oh, th)], &[tw, th])?;
            Ok(true)
        })?;
        let got = session.read(&output)?;

        let columns: Vec<_> = (0..ow).map(|x| neighbours(variant, x, step_x, w)).collect();
        let mut want = vec![0.0f64; ow * oh];
        threads::rows(&mut want, ow, threads::count(), |y, row| {
            let rows = neighbours(variant, y, step_y, h);
            for (v, columns) in row.iter_mut().zip(&columns) {
                for (y, wy) in rows {
                    *v += columns.iter().map(|&(x, wx)| wx * wy * f64::from(data[y * w + x])).sum::<f64>();
                }
            }
        });
        let result = Picture::grey(ow, oh, (0.0, 1.0), |x, y| got[y * ow + x]);
        // A sampler rounds the position to as many bits as its size leaves to a float.
        let tolerance = if is_image { 4e-6 + (w + h) as f64 * 2f64.powi(-23) } else { 4e-6 };
        // Of mix: a difference, a product and a sum.
        let operations = match variant {
            "bilinear" | "image" => 3 * 3,
            "fast" | "fast_image" => 4 * 9 + 9,
            _ => 5 * 7,
        };
        Ok(Outcome {
            variant,
            size: format!("{w}x{h} to {ow}x{oh} in groups of {tw}x{th}"),
            build: built.time,
            times,
            work: Some(
                Work::new((ow * oh) as f64, "pixel")
                    .moving((w * h + ow * oh) * 4)
                    .computing((ow * oh * operations) as f64),
            ),
            verdict: close(&got, &want, |_| tolerance, "pixels"),
            answer: Answer::close(got, |_| tolerance),
            picture: Some(result),
            chart: None,
            notes: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_add_up_to_one_and_places_lie_in_the_middle_of_pixels() {
        for t in [0.0, 0.25, 0.9] {
            assert!((spline(t).iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!((through(t).iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        assert_eq!(through(0.0), [0.0, 1.0, 0.0, 0.0]);
        // At twice the size, the first pixel is a quarter of a pixel left of the source's first one.
        let first = neighbours("bilinear", 0, step(8, 16), 8);
        assert_eq!(first, [(0, 0.0), (0, 0.25), (0, 0.75), (1, 0.0)]);
        assert_eq!(neighbours("bilinear", 1, step(8, 16), 8)[1..3], [(0, 0.75), (1, 0.25)]);
        assert_eq!(neighbours("table", 7, step(8, 8), 8)[1], (7, 1.0));
    }
}
