//! `conv`: separable convolution with kernels generated for their filter, of batches of pictures with one, two or four
//! floats a pixel, in buffers or images: along rows directly, through local memory and with work-items that only load;
//! along columns directly and with a rolling window.

use crate::args;
use crate::cl::{Session, round_up};
use crate::error::{Error, Result};
use crate::inputs;
use crate::params::Params;
use crate::picture::Picture;
use crate::program::{Answer, Outcome, Program, Variant, Work, close};
use crate::random::Random;

pub struct Conv;

const SOURCE: &str = include_str!("../../../kernels/conv.cl");
const IMAGE_SOURCE: &str = include_str!("../../../kernels/conv_image.cl");
/// Rows that a work-item of the rolling window goes down.
const ROLL: usize = 32;

struct Setup {
    w: usize,
    h: usize,
    tw: usize,
    th: usize,
    channels: usize,
    batch: usize,
    filter: Vec<f32>,
}

impl Setup {
    fn of(params: &Params) -> Result<Setup> {
        params.only(&["taps", "channels", "batch"])?;
        let (w, h) = params.size_or(1024, 1024)?;
        let (tw, th) = params.tile_or(64, 4)?;
        let taps = params.number("taps", 15, 1..=63)?;
        if taps % 2 == 0 {
            return Err(Error::Params(format!("-c taps={taps}: give an odd number")));
        }
        let channels = params.number("channels", 1, 1..=4)? as usize;
        if channels == 3 {
            return Err(Error::Params("-c channels=3: give 1, 2 or 4".into()));
        }
        let batch = params.number("batch", 1, 1..=64)? as usize;
        if w * h * channels * batch > 1 << 28 {
            return Err(Error::Params(format!("{batch} pictures of {w}x{h}: choose fewer or smaller ones")));
        }
        Ok(Setup { w, h, tw, th, channels, batch, filter: filter(taps as usize) })
    }

    fn options(&self) -> String {
        let numbers: Vec<String> = self.filter.iter().map(|c| format!("{c:e}f")).collect();
        format!(
            "-DWIDTH={} -DHEIGHT={} -DTILE_W={} -DTILE_H={} -DCHANNELS={} -DROLL={ROLL} -DTAPS={} -DFILTER={}",
            self.w,
            self.h,
            self.tw,
            self.th,
            self.channels,
            self.filter.len(),
            numbers.join(",")
        )
    }

    /// The range and the shape of a group for a kernel.
    fn shape(&self, kernel: &str) -> ([usize; 3], [usize; 3]) {
        let [w, h] = [round_up(self.w, self.tw), round_up(self.h, self.th)];
        match kernel {
            "x_extra" => {
                // A group has a work-item for each pixel that it loads: `TAPS - 1` more than it computes.
                let group = self.tw + self.filter.len() - 1;
                ([w / self.tw * group, h, self.batch], [group, self.th, 1])
            }
            "y_rolling" => ([w, round_up(self.h.div_ceil(ROLL), self.th), self.batch], [self.tw, self.th, 1]),
            _ => ([w, h, self.batch], [self.tw, self.th, 1]),
        }
    }

    /// Numbers from -1 to 1: the colours of the picture, turned from channel to channel and from picture to picture,
    /// with some noise, so that no two places are alike.
    fn pixels(&self, params: &Params) -> Result<Vec<f32>> {
        let mut random = Random::new(15);
        let picture = inputs::picture(&Params { size: Some((self.w, self.h)), ..params.clone() })?;
        let value = |pixel: u32, k: usize| f32::from(pixel.to_le_bytes()[k % 3]) / 127.5 - 1.0;
        let mut data = Vec::with_capacity(self.w * self.h * self.channels * self.batch);
        for b in 0..self.batch {
            for &pixel in &picture.pixels {
                data.extend((0..self.channels).map(|c| 0.9 * value(pixel, b + c + 1) + 0.1 * random.signed()));
            }
        }
        Ok(data)
    }

    /// One direction of the filter over all pictures.
    fn reference(&self, data: &[f64], along_x: bool) -> Vec<f64> {
        let (w, h, c) = (self.w, self.h, self.channels);
        let radius = self.filter.len() / 2;
        // Beyond the edge the last pixel is repeated.
        let moved = |i: usize, t: usize, n: usize| (i + t).saturating_sub(radius).min(n - 1);
        let mut out = vec![0.0; data.len()];
        for (i, out) in out.iter_mut().enumerate() {
            let (channel, x, y, z) = (i % c, i / c % w, i / c / w % h, i / c / w / h);
            *out = (self.filter.iter().enumerate())
                .map(|(t, f)| {
                    let (x, y) = if along_x { (moved(x, t, w), y) } else { (x, moved(y, t, h)) };
                    f64::from(*f) * data[((z * h + y) * w + x) * c + channel]
                })
                .sum();
        }
        out
    }
}

/// A bell that leans to one side, so that a filter that is applied the wrong way round is found; its sum is one.
fn filter(taps: usize) -> Vec<f32> {
    let middle = (taps / 2) as f64;
    let weight = |t: usize| {
        let d = (t as f64 - middle) / (taps as f64 / 5.0);
        (-0.5 * d * d).exp() * (1.0 + 0.2 * d)
    };
    let sum: f64 = (0..taps).map(weight).sum();
    (0..taps).map(|t| (weight(t) / sum) as f32).collect()
}

impl Program for Conv {
    fn name(&self) -> &'static str {
        "conv"
    }

    fn about(&self) -> &'static str {
        "separable convolution, generated for its filter"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "x_direct", about: "along rows, from global memory" },
            Variant { name: "x_local", about: "along rows, through local memory" },
            Variant { name: "x_extra", about: "the same, with work-items that only load" },
            Variant { name: "y_direct", about: "along columns, from global memory" },
            Variant { name: "y_rolling", about: "along columns, with a rolling window a work-item" },
            Variant { name: "x_image", about: "along rows, on an image" },
            Variant { name: "y_image", about: "along columns, on an image" },
            Variant { name: "both", about: "x_local, then y_direct" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "taps=15: numbers of the filter, odd, 1 to 63",
            "channels=1: floats a pixel: 1, 2 or 4",
            "batch=1: pictures at once, 1 to 64",
        ]
    }

    fn source(&self, params: &Params) -> &'static str {
        if params.variant.ends_with("image") { IMAGE_SOURCE } else { SOURCE }
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let name = match self.variant(params)? {
            "both" => "x_local",
            v => v,
        };
        Ok((Setup::of(params)?.options(), format!("conv_{name}")))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let setup = Setup::of(params)?;
        let n = setup.w * setup.h * setup.channels * setup.batch;
        let data = setup.pixels(params)?;
        let names: &[&str] = match variant {
            "both" => &["x_local", "y_direct"],
            v => &[v],
        };
        let is_image = variant.ends_with("image");
        let built = session.build("conv", self.source(params), &setup.options())?;
        let kernels: Vec<_> = names.iter().map(|k| built.kernel(&format!("conv_{k}"))).collect::<Result<_>>()?;
        let empty = vec![0.0; n];
        let contents = std::iter::once(&data).chain(names.iter().map(|_| &empty));
        let (mut buffers, mut images) = (Vec::new(), Vec::new());
        for pixels in contents {
            if is_image {
                // One for each picture of the batch.
                let pictures = pixels.chunks(n / setup.batch);
                let upload = |pixels| session.upload_floats(setup.channels, setup.w, setup.h, pixels);
                images.push(pictures.map(upload).collect::<Result<Vec<_>>>()?);
            } else {
                buffers.push(session.upload(pixels)?);
            }
        }
        let times = session.measure(params.iterations, |_| {
            for (i, (kernel, name)) in kernels.iter().zip(names).enumerate() {
                let (mut global, local) = setup.shape(name);
                if is_image {
                    // An image has one picture: a batch is a launch for each.
                    global[2] = 1;
                    for (from, to) in images[i].iter().zip(&images[i + 1]) {
                        session.launch(kernel, args![from, to], &global, &local)?;
                    }
                } else {
                    session.launch(kernel, args![&buffers[i], &buffers[i + 1]], &global, &local)?;
                }
            }
            Ok(true)
        })?;
        let mut got = Vec::with_capacity(n);
        for image in images.last().into_iter().flatten() {
            got.extend(session.read_floats(image)?);
        }
        if let Some(buffer) = buffers.last() {
            got = session.read(buffer)?;
        }
        let mut want: Vec<f64> = data.iter().map(|&v| f64::from(v)).collect();
        for name in names {
            want = setup.reference(&want, name.starts_with('x'));
        }
        let taps = setup.filter.len();
        // Numbers below one and weights that add up to one: a rounding an operation.
        let limit = |_: usize| ((taps + 2) * names.len()) as f64 * 2f64.powi(-23);
        let picture = Picture::grey(setup.w, setup.h, (-1.0, 1.0), |x, y| got[(y * setup.w + x) * setup.channels]);
        Ok(Outcome {
            variant,
            size: format!(
                "{} of {}x{}, {} channels, {taps} taps, groups of {}x{}",
                setup.batch, setup.w, setup.h, setup.channels, setup.tw, setup.th
            ),
            build: built.time,
            times,
            work: Some(
                Work::new((n / setup.channels) as f64, "pixel")
                    .moving(n * 8 * names.len())
                    .computing((n * names.len() * (2 * taps - 1)) as f64),
            ),
            verdict: close(&got, &want, limit, "floats"),
            answer: Answer::close(got, limit),
            picture: Some(picture),
            chart: None,
            notes: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_leans_like_its_filter_and_stops_at_the_edge() {
        let params = Params { size: Some((3, 1)), config: "taps=3".into(), ..Params::default() };
        let setup = Setup::of(&params).unwrap();
        let f: Vec<f64> = setup.filter.iter().map(|&v| f64::from(v)).collect();
        assert!(f[2] > f[0] && (f.iter().sum::<f64>() - 1.0).abs() < 1e-6);
        // Left of the first pixel, it is repeated.
        let got = setup.reference(&[1.0, 0.0, 0.0], true);
        assert_eq!(got, [f[0] + f[1], f[0], 0.0]);
        assert_eq!(setup.reference(&[1.0, 0.0, 0.0], false)[1], 0.0);
    }
}
