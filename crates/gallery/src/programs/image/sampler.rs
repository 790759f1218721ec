//! `sampler`: how fast images are read, by their format and by what the sampler does: the nearest pixel, four of them
//! interpolated, or pixels fetched without a sampler; and the same reads by hand on a buffer, to compare with.

use crate::args;
use crate::cl::image::Format;
use crate::cl::{Arg, Session, round_up};
use crate::common::threads;
use crate::error::Result;
use crate::inputs;
use crate::params::Params;
use crate::picture::Picture;
use crate::program::{Answer, Outcome, Program, Variant, Work, close};
use crate::random::Random;

pub struct Sampler;

const SOURCE: &str =
    concat!(include_str!("../../../kernels/sampler_sum.cl"), include_str!("../../../kernels/sampler.cl"));
const BUFFER_SOURCE: &str =
    concat!(include_str!("../../../kernels/sampler_sum.cl"), include_str!("../../../kernels/sampler_buffer.cl"));

/// The formats by name.
pub const FORMATS: &[(&str, Format)] = &[
    ("rgba8", Format::RGBA_UNORM8),
    ("bgra8", Format::BGRA_UNORM8),
    ("r8", Format::R_UNORM8),
    ("rgba16", Format::RGBA_UNORM16),
    ("half4", Format::RGBA_HALF),
    ("float4", Format::RGBA_FLOAT),
    ("float", Format::R_FLOAT),
];

/// What a sampler reads outside of the image.
const ADDRESSES: &[(&str, &str)] = &[("edge", "CLK_ADDRESS_CLAMP_TO_EDGE"), ("border", "CLK_ADDRESS_CLAMP")];

/// Where a work-item reads around its own place.
const OFFSETS: [(f64, f64); 4] = [(0.375, 0.125), (0.875, 0.375), (0.125, 0.625), (0.625, 0.875)];

/// Pixels with numbers that each format holds exactly, as bytes and as what a read of them gives.
struct Pixels {
    w: usize,
    h: usize,
    bytes: Vec<u8>,
    values: Vec<[f64; 4]>,
    border: Option<[f64; 4]>,
}

impl Pixels {
    /// The shipped picture with some noise, so that neighbours differ.
    fn new(format: Format, (w, h): (usize, usize), border: bool) -> Result<Pixels> {
        let picture = inputs::picture(&Params { size: Some((w, h)), ..Params::default() })?;
        let mut random = Random::new(7);
        let (mut bytes, mut values) = (Vec::with_capacity(w * h * format.bytes), Vec::with_capacity(w * h));
        let single = format == Format::R_UNORM8 || format == Format::R_FLOAT;
        for source in picture.pixels {
            let mut pixel = [0.0, 0.0, 0.0, 1.0];
            for (channel, source) in pixel.iter_mut().zip(source.to_le_bytes()).take(if single { 1 } else { 4 }) {
                // At most 248, so that a byte holds it.
                let n = u16::from(source) / 8 * 7 + random.below(32) as u16;
                *channel = match format {
                    Format::RGBA_HALF => {
                        // From 0.5 on, the last ten bits count 2048ths.
                        bytes.extend((0x3800 | n << 2).to_le_bytes());
                        0.5 + f64::from(n) / 512.0
                    }
                    Format::RGBA_UNORM16 => {
                        let n = n << 8 | (n ^ 0x5a);
                        bytes.extend(n.to_le_bytes());
                        f64::from(n) / 65535.0
                    }
                    Format::R_FLOAT | Format::RGBA_FLOAT => {
                        let v = f32::from(n) / 256.0;
                        bytes.extend(v.to_le_bytes());
                        f64::from(v)
                    }
                    _ => {
                        bytes.push(n as u8);
                        f64::from(n) / 255.0
                    }
                };
            }
            // The bytes were stored in the order of the picture; what a read calls red is the third of them.
            if format == Format::BGRA_UNORM8 {
                pixel.swap(0, 2);
            }
            values.push(pixel);
        }
        // Opaque black where the format has no opacity, transparent black where it has one.
        let border = border.then_some([0.0, 0.0, 0.0, if single { 1.0 } else { 0.0 }]);
        Ok(Pixels { w, h, bytes, values, border })
    }

    fn at(&self, x: i64, y: i64) -> [f64; 4] {
        let (w, h) = (self.w as i64, self.h as i64);
        match self.border {
            Some(border) if !(0..w).contains(&x) || !(0..h).contains(&y) => border,
            _ => self.values[(y.clamp(0, h - 1) * w + x.clamp(0, w - 1)) as usize],
        }
    }

    /// What the kernel adds up of a pixel.
    fn sum(&self, x: i64, y: i64) -> f64 {
        let [r, g, b, a] = self.at(x, y);
        r + 2.0 * g + 3.0 * b + 4.0 * a
    }

    fn nearest(&self, u: f64, v: f64) -> f64 {
        self.sum(u.floor() as i64, v.floor() as i64)
    }

    fn linear(&self, u: f64, v: f64) -> f64 {
        let (left, top) = ((u - 0.5).floor(), (v - 0.5).floor());
        let (a, b) = (u - 0.5 - left, v - 0.5 - top);
        let (x, y) = (left as i64, top as i64);
        let row = |y| self.sum(x, y) * (1.0 - a) + self.sum(x + 1, y) * a;
        row(y) * (1.0 - b) + row(y + 1) * b
    }

    /// What a work-item gives.
    fn result(&self, variant: &str, x: usize, y: usize) -> f64 {
        if variant.starts_with("fetch") {
            let (x, y) = (x as i64, y as i64);
            let (right, down) = ((x + 1).min(self.w as i64 - 1), (y + 1).min(self.h as i64 - 1));
            return self.sum(x, y) + self.sum(right, y) + self.sum(x, down) + self.sum(right, down);
        }
        // Multiples of 1/32, which floats hold exactly up to 2^19: rounding never decides which pixel is the nearest.
        let place = |i: usize, d: f64| i as f64 * 31.0 / 32.0 + d;
        let read = |(dx, dy)| {
            let (u, v) = (place(x, dx), place(y, dy));
            if variant.starts_with("linear") { self.linear(u, v) } else { self.nearest(u, v) }
        };
        OFFSETS.into_iter().map(read).sum()
    }
}

impl Program for Sampler {
    fn name(&self) -> &'static str {
        "sampler"
    }

    fn about(&self) -> &'static str {
        "reads of images, by format and filter"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "nearest", about: "the pixel at a coordinate" },
            Variant { name: "linear", about: "four pixels interpolated" },
            Variant { name: "fetch", about: "pixels by their numbers, without a sampler" },
            Variant { name: "nearest_buffer", about: "nearest, by hand on a buffer" },
            Variant { name: "linear_buffer", about: "linear, by hand on a buffer" },
            Variant { name: "fetch_buffer", about: "fetch, by hand on a buffer" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "format=rgba8|bgra8|r8|rgba16|half4|float4|float: the image's format",
            "address=edge|border: what is read outside of the image",
        ]
    }

    fn source(&self, params: &Params) -> &'static str {
        if params.variant.ends_with("buffer") { BUFFER_SOURCE } else { SOURCE }
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        params.only(&["format", "address"])?;
        let (w, h) = params.size_or(1024, 1024)?;
        let (name, address) = params.choice_of("address", ADDRESSES)?;
        let variant = self.variant(params)?;
        let mut options = format!("-DWIDTH={w} -DHEIGHT={h} -DADDRESS={address}");
        if variant.ends_with("buffer") {
            options += &format!(" -DPIXEL_{} -D{name}", params.choice_of("format", FORMATS)?.0);
        }
        Ok((options, format!("sampler_{variant}")))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let (_, format) = params.choice_of("format", FORMATS)?;
        let (options, name) = self.build_options(params)?;
        let (w, h) = params.size_or(1024, 1024)?;
        session.fits::<f32>(w * h)?;
        let pixels = Pixels::new(format, (w, h), params.choice_of("address", ADDRESSES)?.0 == "border")?;
        let (image, buffer);
        let input = if variant.ends_with("buffer") {
            buffer = session.upload(&pixels.bytes)?;
            Arg::from(&buffer)
        } else {
            image = session.upload_image(format, w, h, &pixels.bytes)?;
            Arg::from(&image)
        };
        let built = session.build("sampler", self.source(params), &options)?;
        let kernel = built.kernel(&name)?;
        let output = session.zeroed::<f32>(w * h)?;
        let (tw, th) = params.tile_or(64, 4)?;
        let times = session.measure(params.iterations, |_| {
            session.launch(&kernel, args![input, &output], &[round_up(w, tw), round_up(h, th)], &[tw, th])?;
            Ok(true)
        })?;
        let got = session.read(&output)?;
        let mut want = vec![0.0f64; w * h];
        threads::rows(&mut want, w, threads::count(), |y, row| {
            row.iter_mut().enumerate().for_each(|(x, v)| *v = pixels.result(variant, x, y));
        });
        // Forty at most, after some twenty roundings. A filter of channels of 8 bits may weigh neighbours with as many,
        // in each dimension.
        let is_rough = variant == "linear" && format.bytes <= 4 && format != Format::R_FLOAT;
        let tolerance = if is_rough { 40.0 * 2.0 * 2f64.powi(-9) } else { 2e-5 };
        let range = got.iter().fold((f32::MAX, f32::MIN), |(least, most), &v| (least.min(v), most.max(v)));
        let picture = Picture::grey(w, h, range, |x, y| got[y * w + x]);
        Ok(Outcome {
            variant,
            size: format!("{w}x{h} of {}", format.name()),
            build: built.time,
            times,
            work: Some(Work::new((4 * w * h) as f64, "read").moving(w * h * (format.bytes + 4))),
            verdict: close(&got, &want, |_| tolerance, "sums"),
            answer: Answer::close(got, |_| tolerance),
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
    fn the_reference_interpolates_between_the_middles_of_pixels_and_sees_the_border() {
        let edge = Pixels::new(Format::R_FLOAT, (2, 1), false).unwrap();
        let border = Pixels::new(Format::R_FLOAT, (2, 1), true).unwrap();
        let [a, b] = [edge.sum(0, 0), edge.sum(1, 0)];
        assert_ne!(a, b);
        assert_eq!(edge.linear(0.5, 0.5), a);
        assert_eq!(edge.linear(0.75, 0.5), 0.75 * a + 0.25 * b);
        assert_eq!(edge.linear(0.25, 0.5), a);
        // Black, but opaque: the format has no alpha.
        assert_eq!(border.linear(0.25, 0.5), 0.75 * a + 0.25 * 4.0);
        assert_eq!(edge.nearest(0.99, 0.0), a);
        assert_eq!(edge.nearest(1.0, 0.0), b);
    }
}
