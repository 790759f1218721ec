//! Loops over arrays. What `Arch::dispatch` is given is compiled for each level of vector instructions, so that the
//! compiler makes vectors of its plain loops; where that is not enough, vectors are written out.

use super::{Clock, Style};
use crate::error::Result;
use crate::inputs;
use crate::params::Params;
use crate::program::Answer;
use crate::programs::numeric::{
    copy as copy_program, histogram as histogram_program, mad as mad_program, matvec as matvec_program,
};
use crate::programs::numeric::{reduce as reduce_program, scalvec as scalvec_program};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use std::hint::black_box;

/// Elements of a piece of work for a thread.
const PIECE: usize = 1 << 15;

fn count(params: &Params) -> Result<usize> {
    params.size_or(4096, 4096).map(|(w, h)| w * h)
}

pub fn copy(params: &Params, style: Style, clock: &mut Clock<'_>) -> Result<Answer> {
    let input = copy_program::input(count(params)?);
    let mut output = vec![0u32; input.len()];
    clock.measure(|| {
        match style {
            Style::Scalar => output.iter_mut().zip(&input).for_each(|(out, x)| *out = *x),
            Style::Vector => {
                let pieces = output.par_chunks_mut(PIECE).zip(input.par_chunks(PIECE));
                pieces.for_each(|(out, x)| out.copy_from_slice(x));
            }
        }
        black_box(&mut output);
    });
    Ok(Answer::Exact(output))
}

pub fn scalvec(params: &Params, style: Style, clock: &mut Clock<'_>) -> Result<Answer> {
    let input = scalvec_program::input(count(params)?);
    let mut output = vec![0.0f32; input.len()];
    let scale =
        |out: &mut [f32], x: &[f32]| out.iter_mut().zip(x).for_each(|(out, x)| *out = scalvec_program::FACTOR * x);
    let arch = Arch::new();
    clock.measure(|| {
        match style {
            Style::Scalar => scale(&mut output, &input),
            Style::Vector => {
                let pieces = output.par_chunks_mut(PIECE).zip(input.par_chunks(PIECE));
                pieces.for_each(|(out, x)| arch.dispatch(|| scale(out, x)));
            }
        }
        black_box(&mut output);
    });
    Ok(Answer::Exact(output.iter().map(|v| v.to_bits()).collect()))
}

/// `k` operations on each element, eight vectors at a time: their chains do not wait for each other.
struct Mad<'a> {
    input: &'a [f32],
    output: &'a mut [f32],
    k: u32,
}

fn mad_scalar(x: f32, k: u32) -> f32 {
    let x = (0..k / 2).fold(x, |x, _| x * 0.999 + 0.125);
    if k % 2 == 1 { x + 0.125 } else { x }
}

impl WithSimd for Mad<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (factor, more) = (simd.splat_f32s(0.999), simd.splat_f32s(0.125));
        let (vectors, tail) = S::as_simd_f32s(self.input);
        let (out, out_tail) = S::as_mut_simd_f32s(self.output);
        let odd = self.k % 2 == 1;
        let step = |x| simd.mul_add_f32s(x, factor, more);
        let last = |x| if odd { simd.add_f32s(x, more) } else { x };
        // A fused operation takes several cycles: eight chains keep the units busy meanwhile.
        let (eights, rest) = vectors.as_chunks::<8>();
        let (out_eights, out_rest) = out.as_chunks_mut::<8>();
        for (out, &x) in out_eights.iter_mut().zip(eights) {
            let mut x = x;
            for _ in 0..self.k / 2 {
                x = x.map(step);
            }
            *out = x.map(last);
        }
        for (out, &x) in out_rest.iter_mut().zip(rest) {
            *out = last((0..self.k / 2).fold(x, |x, _| step(x)));
        }
        out_tail.iter_mut().zip(tail).for_each(|(out, &x)| *out = mad_scalar(x, self.k));
    }
}

pub fn mad(params: &Params, style: Style, clock: &mut Clock<'_>) -> Result<Answer> {
    let n = count(params)?;
    let k = params.number("k", 3, 1..=10_000)?;
    let input: Vec<f32> = mad_program::input(n).into_iter().cycle().take(n).collect();
    let mut output = vec![0.0f32; n];
    let arch = Arch::new();
    clock.measure(|| {
        match style {
            Style::Scalar => output.iter_mut().zip(&input).for_each(|(out, &x)| *out = mad_scalar(x, k)),
            Style::Vector => {
                let pieces = output.par_chunks_mut(PIECE).zip(input.par_chunks(PIECE));
                pieces.for_each(|(output, input)| arch.dispatch(Mad { input, output, k }));
            }
        }
        black_box(&mut output);
    });
    Ok(Answer::close(output, |_| 0.0))
}

/// The sum of products, in four vectors.
struct Dot<'a>(&'a [f32], &'a [f32]);

impl WithSimd for Dot<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        let ((a, a_tail), (x, x_tail)) = (S::as_simd_f32s(self.0), S::as_simd_f32s(self.1));
        let mut sums = [simd.splat_f32s(0.0); 4];
        let ((fours_a, rest_a), (fours_x, rest_x)) = (a.as_chunks::<4>(), x.as_chunks::<4>());
        for (a, x) in fours_a.iter().zip(fours_x) {
            for k in 0..4 {
                sums[k] = simd.mul_add_f32s(a[k], x[k], sums[k]);
            }
        }
        for (&a, &x) in rest_a.iter().zip(rest_x) {
            sums[0] = simd.mul_add_f32s(a, x, sums[0]);
        }
        let sum = simd.add_f32s(simd.add_f32s(sums[0], sums[1]), simd.add_f32s(sums[2], sums[3]));
        simd.reduce_sum_f32s(sum) + a_tail.iter().zip(x_tail).map(|(a, x)| a * x).sum::<f32>()
    }
}

pub fn matvec(params: &Params, style: Style, clock: &mut Clock<'_>) -> Result<Answer> {
    let (a, x) = matvec_program::input(params)?;
    let columns = x.len();
    let mut y = vec![0.0f32; a.len() / columns];
    let arch = Arch::new();
    clock.measure(|| {
        match style {
            Style::Scalar => {
                for (y, row) in y.iter_mut().zip(a.chunks(columns)) {
                    *y = row.iter().zip(&x).map(|(a, x)| a * x).sum();
                }
            }
            Style::Vector => {
                let rows = (PIECE / columns).max(1);
                let pieces = y.par_chunks_mut(rows).zip(a.par_chunks(columns * rows));
                pieces.for_each(|(y, a)| {
                    y.iter_mut().zip(a.chunks(columns)).for_each(|(y, row)| *y = arch.dispatch(Dot(row, &x)));
                });
            }
        }
        black_box(&mut y);
    });
    Ok(Answer::close(y, |_| 0.0))
}

pub fn reduce(params: &Params, style: Style, clock: &mut Clock<'_>) -> Result<Answer> {
    let input = reduce_program::input(count(params)?);
    let add = |numbers: &[u32]| numbers.iter().fold(0u32, |a, &b| a.wrapping_add(b));
    let arch = Arch::new();
    let mut sum = 0;
    clock.measure(|| {
        let input = black_box(&input);
        sum = match style {
            Style::Scalar => add(input),
            Style::Vector => {
                let pieces = input.par_chunks(PIECE).map(|piece| arch.dispatch(|| add(piece)));
                pieces.reduce(|| 0, u32::wrapping_add)
            }
        };
    });
    Ok(Answer::Exact(vec![sum]))
}

const BINS: usize = 256;

/// Four tables in turn, so that equal neighbours do not wait for each other's count.
fn count_pixels(pixels: &[u8]) -> Vec<u32> {
    let mut tables = [[0u32; BINS]; 4];
    let (eights, rest) = pixels.as_chunks::<8>();
    for eight in eights {
        let word = u64::from_le_bytes(*eight);
        for k in 0..8 {
            tables[k % 4][usize::from((word >> (8 * k)) as u8)] += 1;
        }
    }
    rest.iter().for_each(|&p| tables[0][usize::from(p)] += 1);
    (0..BINS).map(|b| tables.iter().map(|t| t[b]).sum()).collect()
}

pub fn histogram(params: &Params, style: Style, clock: &mut Clock<'_>) -> Result<Answer> {
    let pixels = histogram_program::input(params, params.size_or(4096, 4096)?)?;
    let add = |a: Vec<u32>, b: Vec<u32>| a.iter().zip(&b).map(|(a, b)| a + b).collect();
    let mut bins = Vec::new();
    clock.measure(|| {
        let pixels = black_box(&pixels);
        bins = match style {
            Style::Scalar => {
                let mut bins = vec![0u32; BINS];
                pixels.iter().for_each(|&p| bins[usize::from(p)] += 1);
                bins
            }
            Style::Vector => pixels.par_chunks(PIECE * 8).map(count_pixels).reduce(|| vec![0; BINS], add),
        };
    });
    Ok(Answer::Exact(bins))
}

/// Side of a tile: its rows are whole lines of the cache.
const TILE: usize = 16;

/// Fills `TILE` rows of the result, tile by tile.
#[inline(always)]
fn transpose_rows(input: &[u32], (w, h): (usize, usize), left: usize, out: &mut [u32]) {
    for top in (0..h).step_by(TILE) {
        let rows = TILE.min(h - top);
        let mut tile = [[0u32; TILE]; TILE];
        let columns = TILE.min(w - left);
        for (k, row) in tile.iter_mut().take(rows).enumerate() {
            row[..columns].copy_from_slice(&input[(top + k) * w + left..][..columns]);
        }
        for c in 0..columns {
            // Gathered in a small array first, so that the result is written in whole lines of the cache.
            let mut line = [0u32; TILE];
            for (cell, row) in line.iter_mut().zip(&tile) {
                *cell = row[c];
            }
            out[c * h + top..][..rows].copy_from_slice(&line[..rows]);
        }
    }
}

pub fn transpose(params: &Params, style: Style, clock: &mut Clock<'_>) -> Result<Answer> {
    let picture = inputs::picture(params)?;
    let (w, h) = (picture.width, picture.height);
    let input = &picture.pixels;
    let mut output = vec![0u32; w * h];
    let arch = Arch::new();
    clock.measure(|| {
        match style {
            Style::Scalar => {
                for (x, column) in output.chunks_mut(h).enumerate() {
                    column.iter_mut().enumerate().for_each(|(y, out)| *out = input[y * w + x]);
                }
            }
            Style::Vector => {
                let stripes = output.par_chunks_mut(h * TILE).enumerate();
                stripes.for_each(|(i, out)| arch.dispatch(|| transpose_rows(input, (w, h), i * TILE, out)));
            }
        }
        black_box(&mut output);
    });
    Ok(Answer::Exact(output))
}
