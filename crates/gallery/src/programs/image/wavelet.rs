//! `wavelet`: the dual-tree complex wavelet transform of a picture, and its inverse: batched convolutions, four
//! interleaved filters at once. Forth and back must give the picture again within 1e-5.
//!
//! A picture whose sides the levels do not halve evenly is padded by mirroring.

use crate::args;
use crate::cl::{Buffer, Built, Kernel, Session, round_up};
use crate::error::{Error, Result};
use crate::inputs;
use crate::params::Params;
use crate::picture::Picture;
use crate::program::{Answer, Outcome, Program, Variant, Work, close};

pub struct Wavelet;

const SOURCE: &str = include_str!("../../../kernels/wavelet.cl");
const TAPS: usize = 10;
/// What is lost at most on the way forth and back.
const RECONSTRUCTION: f64 = 1e-5;

/// The low pass of tree a on the first level, nearly symmetric and orthonormal (A. Abdelnour, I. Selesnick, 2001);
/// tree b has it backwards, with its middle a sample further on.
const FIRST: [f64; TAPS] = [
    0.0,
    -0.08838834764832,
    0.08838834764832,
    0.69587998903400,
    0.69587998903400,
    0.08838834764832,
    -0.08838834764832,
    0.01122679215254,
    0.01122679215254,
    0.0,
];
/// The low pass of tree a on the other levels, of a quarter-sample delay (N. Kingsbury, 2000); tree b has it backwards.
const NEXT: [f64; TAPS] =
    [0.03516384, 0.0, -0.08832942, 0.23389032, 0.76027237, 0.58751830, 0.0, -0.11430184, 0.0, 0.0];

type Filter = [f64; TAPS];

/// The low passes of both trees.
fn low(level: u32) -> [Filter; 2] {
    let mut other = if level == 0 { FIRST } else { NEXT };
    other.reverse();
    if level == 0 {
        other.rotate_left(1);
        [FIRST, other]
    } else {
        [NEXT, other]
    }
}

/// The high pass that goes with an orthonormal low pass.
fn high(low: Filter) -> Filter {
    std::array::from_fn(|t| if t % 2 == 0 { low[TAPS - 1 - t] } else { -low[TAPS - 1 - t] })
}

/// The tree of each of the four transforms along rows and along columns.
const TREES: [[usize; 4]; 2] = [[0, 0, 1, 1], [0, 1, 0, 1]];

/// A filter of each transform, interleaved.
fn interleaved(filters: [Filter; 2], trees: [usize; 4]) -> Vec<f32> {
    (0..TAPS).flat_map(|t| trees.map(|tree| filters[tree][t] as f32)).collect()
}

/// A level's low and high filters, along rows and along columns.
struct Filters {
    rows: [Buffer<f32>; 2],
    columns: [Buffer<f32>; 2],
}

struct Transform<'a> {
    session: &'a Session,
    w: usize,
    h: usize,
    tile: (usize, usize),
    levels: u32,
    filters: Vec<Filters>,
    spread: Kernel,
    gather: Kernel,
    analyse: Kernel,
    synthesise: Kernel,
    combine: Kernel,
    // The four transforms, in the making and on the way.
    planes: Buffer<f32>,
    other: Buffer<f32>,
    coefficients: Buffer<f32>,
}

impl<'a> Transform<'a> {
    fn new(session: &'a Session, built: &Built, params: &Params, levels: u32, (w, h): (usize, usize)) -> Result<Self> {
        let kernel = |name: &str| built.kernel(&format!("wavelet_{name}"));
        let filters = (0..levels).map(|level| {
            let (low, high) = (low(level), low(level).map(high));
            let upload = |trees| -> Result<_> {
                Ok([session.upload(&interleaved(low, trees))?, session.upload(&interleaved(high, trees))?])
            };
            Ok(Filters { rows: upload(TREES[0])?, columns: upload(TREES[1])? })
        });
        Ok(Transform {
            session,
            w,
            h,
            tile: params.tile_or(16, 16)?,
            levels,
            filters: filters.collect::<Result<_>>()?,
            spread: kernel("spread")?,
            gather: kernel("gather")?,
            analyse: kernel("analyse")?,
            synthesise: kernel("synthesise")?,
            combine: kernel("combine")?,
            planes: session.zeroed(w * h * 4)?,
            other: session.zeroed(w * h * 4)?,
            coefficients: session.zeroed(w * h * 4)?,
        })
    }

    fn global(&self, w: usize, h: usize) -> [usize; 2] {
        [round_up(w, self.tile.0), round_up(h, self.tile.1)]
    }

    fn local(&self) -> [usize; 2] {
        [self.tile.0, self.tile.1]
    }

    fn pass(&self, kernel: &Kernel, level: u32, rows: bool, from: &Buffer<f32>, to: &Buffer<f32>) -> Result<()> {
        let (w, h) = (self.w >> level, self.h >> level);
        let filters = &self.filters[level as usize];
        let [low, high] = if rows { &filters.rows } else { &filters.columns };
        // Lines of this length, and how many of them; each level works on the upper left quarter of the one before.
        let (length, count) = if rows { (w, h) } else { (h, w) };
        let global = if rows { self.global(w / 2, h) } else { self.global(w, h / 2) };
        let args = args![from, to, low, high, i32::from(rows), length as i32, count as i32, self.w as i32];
        self.session.launch(kernel, args, &global, &self.local())
    }

    fn combine(&self, from: &Buffer<f32>, to: &Buffer<f32>) -> Result<()> {
        let (w, h) = (self.w as i32, self.h as i32);
        let args = args![from, to, w, h, w >> self.levels, h >> self.levels];
        self.session.launch(&self.combine, args, &self.global(self.w, self.h), &self.local())
    }

    fn forward(&self, picture: &Buffer<f32>) -> Result<()> {
        let args = args![picture, &self.planes, self.w as i32, self.h as i32];
        self.session.launch(&self.spread, args, &self.global(self.w, self.h), &self.local())?;
        for level in 0..self.levels {
            self.pass(&self.analyse, level, true, &self.planes, &self.other)?;
            self.pass(&self.analyse, level, false, &self.other, &self.planes)?;
        }
        self.combine(&self.planes, &self.coefficients)
    }

    fn inverse(&self, picture: &Buffer<f32>) -> Result<()> {
        // Sum and difference over the root of two: the combination is its own inverse.
        self.combine(&self.coefficients, &self.planes)?;
        for level in (0..self.levels).rev() {
            self.pass(&self.synthesise, level, false, &self.planes, &self.other)?;
            self.pass(&self.synthesise, level, true, &self.other, &self.planes)?;
        }
        let args = args![&self.planes, picture, self.w as i32, self.h as i32];
        self.session.launch(&self.gather, args, &self.global(self.w, self.h), &self.local())
    }

    /// What all levels of one direction take: bytes moved and operations.
    fn work(&self) -> (usize, f64) {
        let elements: usize = (0..self.levels).map(|level| (self.w >> level) * (self.h >> level)).sum();
        let n = self.w * self.h;
        // Two passes a level, each reads and writes a float4; and both ends: a float and a float4, then two.
        let bytes = elements * 2 * 32 + n * (20 + 32);
        (bytes, (elements * 2 * 4 * (2 * TAPS - 1) + n * 8) as f64)
    }
}

/// One line: each element of the halves is the product of the periodic line with a shifted filter.
fn analysed(line: &[f64], low: &Filter) -> Vec<f64> {
    let half = line.len() / 2;
    let mut out = vec![0.0; line.len()];
    for (filter, out) in [*low, high(*low)].iter().zip(out.chunks_mut(half)) {
        for (k, out) in out.iter_mut().enumerate() {
            *out = filter.iter().enumerate().map(|(t, f)| f * line[(2 * k + t) % line.len()]).sum();
        }
    }
    out
}

/// How strong the waves are, each level and what is left of the picture as bright as the others: the strengths of the
/// levels are powers of two apart.
fn of_levels(coefficients: &[f32], (w, h): (usize, usize), levels: u32) -> Picture {
    // How often both sides can be halved before the place lies outside.
    let level = |x: usize, y: usize| (0..levels).find(|&l| x >= w >> (l + 1) || y >= h >> (l + 1)).unwrap_or(levels);
    let strength = |x: usize, y: usize| {
        let at = (y * w + x) * 4;
        coefficients[at].hypot(coefficients[at + 3])
    };
    let mut of_level = vec![Vec::new(); levels as usize + 1];
    for i in 0..w * h {
        of_level[level(i % w, i / w) as usize].push(strength(i % w, i / w));
    }
    let white: Vec<f32> = of_level
        .iter_mut()
        .map(|values| {
            let nearly_all = values.len().saturating_sub(1) * 995 / 1000;
            values.sort_by(f32::total_cmp);
            values.get(nearly_all).copied().unwrap_or_default().max(f32::MIN_POSITIVE)
        })
        .collect();
    Picture::grey(w, h, (0.0, 1.0), |x, y| {
        let l = level(x, y);
        let v = strength(x, y) / white[l as usize];
        // Weak waves are what most of the picture consists of.
        if l == levels { v } else { v.sqrt() }
    })
}

/// The four transforms of a picture, their details combined.
fn reference(picture: &[f64], w: usize, h: usize, levels: u32) -> Vec<f64> {
    let mut planes = vec![picture.to_vec(); 4];
    for (lane, plane) in planes.iter_mut().enumerate() {
        for level in 0..levels {
            let (lw, lh) = (w >> level, h >> level);
            let [row_filter, column_filter] = TREES.map(|trees| low(level)[trees[lane]]);
            for row in plane.chunks_mut(w).take(lh) {
                let line = analysed(&row[..lw], &row_filter);
                row[..lw].copy_from_slice(&line);
            }
            for x in 0..lw {
                let column: Vec<f64> = (0..lh).map(|y| plane[y * w + x]).collect();
                for (y, v) in analysed(&column, &column_filter).into_iter().enumerate() {
                    plane[y * w + x] = v;
                }
            }
        }
    }
    (0..w * h)
        .flat_map(|i| {
            let [aa, ab, ba, bb] = [0, 1, 2, 3].map(|lane| planes[lane][i]);
            if i % w < w >> levels && i / w < h >> levels {
                [aa, ab, ba, bb]
            } else {
                [aa + bb, ab + ba, ab - ba, aa - bb].map(|v| v * std::f64::consts::FRAC_1_SQRT_2)
            }
        })
        .collect()
}

impl Wavelet {
    fn levels(params: &Params) -> Result<u32> {
        params.only(&["levels"])?;
        params.number("levels", 3, 1..=6)
    }
}

impl Program for Wavelet {
    fn name(&self) -> &'static str {
        "wavelet"
    }

    fn about(&self) -> &'static str {
        "dual-tree complex wavelet transform"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "forward", about: "from a picture to waves in six directions" },
            Variant { name: "inverse", about: "and back to the picture" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &["levels=3: how often the picture is halved, 1 to 6"]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        Wavelet::levels(params)?;
        let name = if self.variant(params)? == "forward" { "analyse" } else { "synthesise" };
        Ok((format!("-DTAPS={TAPS}"), format!("wavelet_{name}")))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let (options, _) = self.build_options(params)?;
        let levels = Wavelet::levels(params)?;
        let (w, h) = params.size_or(512, 512)?;
        // Each level halves both sides, and none may meet an odd one.
        let [w, h] = [w, h].map(|n| round_up(n, 1 << levels));
        if w * h > 1 << 25 {
            return Err(Error::Params(format!("{w}x{h}: choose a smaller -s")));
        }
        let picture = inputs::picture(&Params { size: Some((w, h)), ..params.clone() })?;
        let data: Vec<f32> = picture.luma().iter().map(|&v| f32::from(v) / 255.0).collect();
        let exact: Vec<f64> = data.iter().map(|&v| f64::from(v)).collect();
        let built = session.build("wavelet", SOURCE, &options)?;
        let transform = Transform::new(session, &built, params, levels, (w, h))?;
        let (input, output) = (session.upload(&data)?, session.zeroed::<f32>(w * h)?);
        let forward = variant == "forward";
        if !forward {
            transform.forward(&input)?;
        }
        let times = session.measure(params.iterations, |_| {
            if forward {
                transform.forward(&input)?;
            } else {
                transform.inverse(&output)?;
            }
            Ok(true)
        })?;
        let (verdict, answer, shown);
        if forward {
            let got = session.read(&transform.coefficients)?;
            let want = reference(&exact, w, h, levels);
            // Each level doubles what a flat picture leaves, and rounds in two passes of ten taps.
            let limit = f64::from(20 * levels) * 2f64.powi(levels as i32 - 24);
            verdict = close(&got, &want, |_| limit, "coefficients");
            shown = of_levels(&got, (w, h), levels);
            answer = Answer::close(got, |_| limit);
        } else {
            let got = session.read(&output)?;
            verdict = close(&got, &exact, |_| RECONSTRUCTION, "pixels");
            shown = Picture::grey(w, h, (0.0, 1.0), |x, y| got[y * w + x]);
            answer = Answer::close(got, |_| RECONSTRUCTION);
        }
        let (bytes, operations) = transform.work();
        Ok(Outcome {
            variant,
            size: format!("{w}x{h}, {levels} levels, groups of {}x{}", transform.tile.0, transform.tile.1),
            build: built.time,
            times,
            work: Some(Work::new((w * h) as f64, "pixel").moving(bytes).computing(operations)),
            verdict,
            answer,
            picture: Some(shown),
            chart: None,
            notes: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_is_orthonormal_to_its_even_shifts_and_to_its_partner() {
        for level in 0..2 {
            for low in low(level) {
                let product =
                    |a: &Filter, b: &Filter, shift: usize| a.iter().skip(shift).zip(b).map(|(a, b)| a * b).sum::<f64>();
                for shift in (0..TAPS).step_by(2) {
                    let want = if shift == 0 { 1.0 } else { 0.0 };
                    assert!((product(&low, &low, shift) - want).abs() < 1e-7, "level {level}, shift {shift}");
                    assert!(product(&low, &high(low), shift).abs() < 1e-7, "level {level}, shift {shift}");
                }
                assert!((low.iter().sum::<f64>() - std::f64::consts::SQRT_2).abs() < 1e-7);
            }
        }
    }

    #[test]
    fn what_is_flat_has_no_details() {
        let got = reference(&[0.5; 64], 8, 8, 2);
        for (i, v) in got.chunks_exact(4).enumerate() {
            let want = if i % 8 < 2 && i / 8 < 2 { 2.0 } else { 0.0 };
            assert!(v.iter().all(|v| (v - want).abs() < 1e-6), "{i}: {v:?}");
        }
    }
}
