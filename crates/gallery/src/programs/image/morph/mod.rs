//! `morph`: a picture turns into another one without a hint from a user, after a case study of WWDC 2010 ("Maximizing
//! OpenCL Performance", session 418).
//!
//! Two pictures come in. Their contours are found, and in every row the runs of contour pixels; dynamic programming
//! (Wagner and Fischer's, with a cost of position and length) matches the runs of both rows in order. Matched runs move
//! to each other, what lies between them follows linearly, and a filter along y keeps rows together. Out come frames
//! between the pictures. The map is known at the middle frame; a frame at another time finds its points there by a
//! fixed-point iteration, which converges because matches in order do not fold the map.

mod device;
mod draw;
mod faces;
mod reference;

use crate::cl::image::Format;
use crate::cl::{Arg, Session};
use crate::common::grid::Grid;
use crate::error::{Error, Result};
use crate::inputs;
use crate::params::Params;
use crate::picture::Picture;
use crate::program::{Answer, Outcome, Program, Variant, Verdict, Work};
use device::Device;
use reference::Settings;
use std::path::PathBuf;
use std::time::Instant;

pub struct Morph;

const SOURCE: &str = include_str!("../../../../kernels/morph.cl");
/// So that indices of all tables, and costs, fit into 32 bits.
const MAX_SIDE: usize = 16384;
/// The reference keeps three `f64` a pixel.
const MAX_PIXELS: usize = 1 << 25;

struct Setup {
    pictures: [Picture; 2],
    grid: Grid,
    settings: Settings,
    frames: u32,
    /// Work-items of a group that does rows.
    group: usize,
}

impl Setup {
    fn new(params: &Params) -> Result<Setup> {
        params.only(&["second", "frames", "threshold", "runs", "skip", "smooth"])?;
        let pictures = pictures(params)?;
        let (w, h) = (pictures[0].width, pictures[0].height);
        // An eighth of the width, in half pixels: what moves farther is rather another thing.
        let skip = match params.number("skip", 0, 0..=MAX_SIDE as u32)? {
            0 => (w as i32 / 4).max(4),
            pixels => 2 * pixels as i32,
        };
        let radius = match params.text("smooth") {
            None => (h as u32 / 24).clamp(1, 64),
            Some(_) => params.number("smooth", 0, 0..=64)?,
        };
        let bell = |k: i32| (-2.0 * (f64::from(k) / f64::from(radius.max(1))).powi(2)).exp();
        let reach = radius as i32;
        let sum: f64 = (-reach..=reach).map(bell).sum();
        let settings = Settings {
            threshold: params.number("threshold", 70, 0..=2040)? as i32,
            runs: params.number("runs", 96, 1..=256)? as usize,
            skip,
            weights: (-reach..=reach).map(|k| (bell(k) / sum) as f32).collect(),
        };
        let grid = Grid::new(params, (w, h), (64, 4))?;
        let group = params.group_or(32)?;
        Ok(Setup { pictures, grid, settings, frames: params.number("frames", 60, 1..=100_000)?, group })
    }

    /// The time of a frame.
    fn time(&self, frame: u32) -> f32 {
        if self.frames == 1 { 0.5 } else { frame as f32 / (self.frames - 1) as f32 }
    }

    fn options(&self, images: bool) -> String {
        let Settings { runs, skip, weights, .. } = &self.settings;
        let (w, h, radius) = (self.grid.w, self.grid.h, weights.len() / 2);
        let images = if images { " -DIMAGES" } else { "" };
        format!("-DWIDTH={w} -DHEIGHT={h} -DRUNS={runs} -DSKIP={skip} -DRADIUS={radius}{images}")
    }
}

fn pictures(params: &Params) -> Result<[Picture; 2]> {
    let check = |(w, h): (usize, usize)| {
        if w.max(h) <= MAX_SIDE && w.checked_mul(h).is_some_and(|n| n <= MAX_PIXELS) {
            return Ok(());
        }
        Err(Error::Params(format!("{w}x{h}: choose sides of at most {MAX_SIDE} and {MAX_PIXELS} pixels, with -s")))
    };
    params.size.map_or(Ok(()), check)?;
    let second = params.text("second");
    let Some(_) = &params.input else {
        if let Some(path) = second {
            return Err(Error::Params(format!("-c second={path}: give the first picture too, with -l")));
        }
        let (w, h) = params.size_or(512, 512)?;
        return Ok(faces::pair(w, h));
    };
    let first = inputs::picture(params)?;
    let second = match second {
        Some(path) => inputs::picture(&Params { input: Some(PathBuf::from(path)), ..params.clone() })?,
        None => Picture::from_fn(first.width, first.height, |x, y| first.pixels[(y + 1) * first.width - 1 - x]),
    };
    if (first.width, first.height) != (second.width, second.height) {
        return Err(Error::Params(format!(
            "pictures of {}x{} and {}x{}: give two of the same size, or a size for both with -s",
            first.width, first.height, second.width, second.height
        )));
    }
    check((first.width, first.height))?;
    Ok([first, second])
}

/// By how much a colour may differ from the exact one, in 255ths. Rounding to a byte takes a half. A position goes
/// through about sixteen roundings of numbers up to the width, and neighbours differ by 255 at most. A sampler may keep
/// eight bits of the place between two pixels, as OpenCL allows: another half.
fn tolerance(variant: &str, w: usize) -> f64 {
    let place = 255.0 * 16.0 * w as f64 * f64::from(f32::EPSILON) / 2.0;
    0.51 + place + if variant == "image" { 0.5 } else { 0.0 }
}

/// What became of the frames that were checked.
struct Frames {
    checked: usize,
    worst: f64,
    wrong: Option<Verdict>,
    /// The five of the picture.
    shown: Vec<Picture>,
}

/// Compares nine of the film's frames and the five of the picture with the reference's.
fn check_frames(device: &Device<'_>, setup: &Setup, want: &reference::Analysis, limit: f64) -> Result<Frames> {
    let mut times = vec![0.0f32, 0.25, 0.5, 0.75, 1.0];
    for i in 0..9 {
        let t = setup.time(i * (setup.frames - 1) / 8);
        if !times.contains(&t) {
            times.push(t);
        }
    }
    let mut frames = Frames { checked: times.len(), worst: 0.0, wrong: None, shown: Vec::new() };
    for (i, t) in times.into_iter().enumerate() {
        let got = device.picture(t)?;
        let wanted = reference::frame(&setup.pictures, &want.half, t);
        for (at, (pixel, exact)) in got.pixels.iter().zip(&wanted).enumerate() {
            let colours = pixel.to_le_bytes();
            let error = colours.iter().zip(exact).map(|(&g, &e)| (f64::from(g) - e).abs()).fold(0.0, f64::max);
            if error > limit && frames.wrong.is_none() {
                let (x, y) = (at % got.width, at / got.width);
                frames.wrong = Some(Verdict::Failed(format!(
                    "the frame at {t}, pixel ({x}, {y}): {:?}, expected {exact:.3?} within {limit:.3}",
                    &colours[..3]
                )));
            }
            frames.worst = frames.worst.max(error);
        }
        if i < 5 {
            frames.shown.push(got);
        }
    }
    Ok(frames)
}

impl Program for Morph {
    fn name(&self) -> &'static str {
        "morph"
    }

    fn about(&self) -> &'static str {
        "a picture turns into another one, by contours matched row by row"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "rows", about: "a work-item matches a row" },
            Variant { name: "wavefront", about: "a group matches a row, by anti-diagonals in local memory" },
            Variant { name: "image", about: "as rows; a sampler reads the pictures for the frames" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "second=path.png: the second picture; without it, the first one mirrored",
            "frames=60: how many, from the first picture to the second",
            "threshold=70: the gradient from which on a pixel is a contour, 0 to 2040",
            "runs=96: how many runs a row keeps, 1 to 256",
            "skip=0: what leaving out a run costs, in pixels; 0: an eighth of the width",
            "smooth=0..64: the radius of the filter along y; a 24th of the height if not given",
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let variant = self.variant(params)?;
        let kernel = match variant {
            "image" => "morph_frame_image",
            "wavefront" => "morph_match_wavefront",
            _ => "morph_match_rows",
        };
        Ok((Setup::new(params)?.options(variant == "image"), kernel.to_owned()))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let setup = Setup::new(params)?;
        let Grid { w, h, .. } = setup.grid;
        session.fits::<u8>((setup.settings.runs + 1).pow(2) * h)?;
        let images = match variant {
            "image" => {
                let [a, b] =
                    setup.pictures.each_ref().map(|p| session.upload_image(Format::RGBA_UNORM8, w, h, &p.bytes()));
                Some([a?, b?])
            }
            _ => None,
        };
        let built = session.build("morph", SOURCE, &setup.options(images.is_some()))?;
        let mut device = Device::new(session, &setup, variant, &built)?;
        if let Some(images) = &images {
            device.sources = images.each_ref().map(Arg::from);
        }
        let (mut analysis, mut drawing) = (Vec::new(), Vec::new());
        let times = session.measure_and(
            params.iterations,
            |_| {
                let start = Instant::now();
                device.analyse()?;
                session.finish()?;
                analysis.push(start.elapsed());
                for frame in 0..setup.frames {
                    device.frame(setup.time(frame))?;
                }
                session.finish()?;
                drawing.push(start.elapsed() - analysis[analysis.len() - 1]);
                Ok(true)
            },
            |i| {
                let watched = params.observer.wants_frames() && i + 1 == params.iterations;
                for frame in 0..if watched { setup.frames } else { 0 } {
                    params.observer.frame(|| device.picture(setup.time(frame)))?;
                    params.observer.progress(frame as usize + 1, setup.frames as usize)?;
                }
                Ok(())
            },
        )?;

        let want = reference::analyse(&setup.pictures, &setup.settings);
        let mut exact = Vec::new();
        let mut verdict = match device.check(&want)? {
            Ok(numbers) => {
                exact = numbers;
                None
            }
            Err(wrong) => Some(wrong),
        };
        let limit = tolerance(variant, w);
        let frames = check_frames(&device, &setup, &want, limit)?;
        verdict = verdict.or(frames.wrong);
        let matched: usize = want.pairs.iter().map(Vec::len).sum();
        let runs = [0, 1].map(|i| want.runs[i].iter().map(Vec::len).sum::<usize>());
        let passed = format!(
            "contours, {} runs, {h} costs and {matched} matches equal the reference; colours of {} frames within {:.3} of 255",
            runs[0] + runs[1],
            frames.checked,
            frames.worst
        );
        let first = exact.len();
        let middle = frames.shown[2].pixels.iter().flat_map(|p| p.to_le_bytes().map(f32::from));
        let values: Vec<f32> = exact.iter().map(|&v| v as f32).chain(middle).collect();
        let middle_time = |all: &mut Vec<std::time::Duration>| {
            all.sort();
            all.get(all.len() / 2).map_or(0.0, |d| d.as_secs_f64() * 1e3)
        };
        let frame_ms = middle_time(&mut drawing) / f64::from(setup.frames);
        Ok(Outcome {
            variant,
            size: format!("{}, {} frames", setup.grid.size_text(), setup.frames),
            build: built.time,
            times,
            work: Some(
                // A frame reads both pictures and the map, and is written.
                Work::new(f64::from(setup.frames) * (w * h) as f64, "pixel").moving(setup.frames as usize * w * h * 16),
            ),
            verdict: verdict.unwrap_or(Verdict::Passed(passed)),
            // Whole numbers are the same everywhere; two roundings of a colour may lie apart by twice its tolerance.
            answer: Answer::close(values, |i| if i < first { 0.0 } else { (2.0 * limit).floor() }),
            picture: Some(draw::sheet(&frames.shown, &want)),
            chart: None,
            notes: vec![
                format!(
                    "analysis {:.3} ms, a frame {frame_ms:.3} ms ({:.0} a second)",
                    middle_time(&mut analysis),
                    1e3 / frame_ms
                ),
                format!("{} and {} runs, {matched} matched", runs[0], runs[1]),
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_that_do_not_fit_together_are_refused() {
        let folder = std::env::temp_dir();
        let path = |name: &str| folder.join(format!("cloom-morph-{}-{name}.png", std::process::id()));
        let (first, other, broken) = (path("first"), path("other"), path("broken"));
        Picture::new(20, 10, 7).save(&first).unwrap();
        Picture::new(10, 20, 7).save(&other).unwrap();
        let bytes = std::fs::read(&first).unwrap();
        std::fs::write(&broken, &bytes[..bytes.len() / 2]).unwrap();
        let with = |second: &PathBuf, size| Params {
            input: Some(first.clone()),
            config: format!("second={}", second.display()),
            size,
            ..Params::default()
        };
        assert!(Setup::new(&with(&first, None)).is_ok());
        assert!(matches!(Setup::new(&with(&other, None)), Err(Error::Params(why)) if why.contains("10x20")));
        assert!(Setup::new(&with(&other, Some((15, 15)))).is_ok(), "a size for both");
        assert!(matches!(Setup::new(&with(&broken, None)), Err(Error::File { .. })));
        let alone = Params { input: None, ..with(&first, None) };
        assert!(matches!(Setup::new(&alone), Err(Error::Params(_))));
        for file in [first, other, broken] {
            std::fs::remove_file(file).unwrap();
        }
    }
}
