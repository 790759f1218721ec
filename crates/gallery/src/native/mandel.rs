//! The Mandelbrot set: point by point, or four vectors at once, whose chains of operations are independent.

use super::{Clock, Style};
use crate::error::Result;
use crate::params::Params;
use crate::program::Answer;
use crate::programs::image::mandel::{Mandel, View, colour, repeated};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use std::hint::black_box;

/// Vectors at once.
const TOGETHER: usize = 4;
/// The most lanes that a vector has.
const LANES: usize = 16;
/// Repetitions between two tests whether a point is still inside.
const STRIDE: u32 = 8;

/// Counts the repetitions of so many neighbouring points of a row as `TOGETHER` vectors hold; a point's count stops for
/// good when it leaves, what is computed of it after that is not looked at.
struct Points<'a> {
    view: View,
    y: usize,
    max: u32,
    row: &'a mut [u32],
}

impl WithSimd for Points<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let View { left, xstep, top, ystep } = self.view;
        let at_once = S::F32_LANES * TOGETHER;
        let ci = simd.splat_f32s(top - ystep * self.y as f32);
        let (zero, four) = (simd.splat_f32s(0.0), simd.splat_f32s(4.0));
        let (none, one) = (simd.splat_u32s(0), simd.splat_u32s(1));
        for (block, pixels) in self.row.chunks_mut(at_once).enumerate() {
            let mut places = [0.0f32; LANES * TOGETHER];
            for (lane, place) in places[..at_once].iter_mut().enumerate() {
                *place = left + xstep * (block * at_once + lane) as f32;
            }
            let (vectors, _) = S::as_simd_f32s(&places[..at_once]);
            let cr: [S::f32s; TOGETHER] = std::array::from_fn(|v| vectors[v]);
            let mut zr = [zero; TOGETHER];
            let mut zi = [zero; TOGETHER];
            let mut counts = [simd.splat_u32s(0); TOGETHER];
            let mut inside = [simd.equal_f32s(zero, zero); TOGETHER];
            let mut done = 0;
            while done < self.max {
                // The test for an early end waits for all vectors: it is made once in STRIDE repetitions.
                for _ in 0..STRIDE.min(self.max - done) {
                    for v in 0..TOGETHER {
                        let (rr, ii) = (simd.mul_f32s(zr[v], zr[v]), simd.mul_f32s(zi[v], zi[v]));
                        let here = simd.less_than_or_equal_f32s(simd.add_f32s(rr, ii), four);
                        // A point that has left is never counted again, whatever its numbers become when they overflow.
                        inside[v] = simd.and_m32s(inside[v], here);
                        counts[v] = simd.add_u32s(counts[v], simd.select_u32s(inside[v], one, none));
                        let ri = simd.mul_f32s(zr[v], zi[v]);
                        zr[v] = simd.add_f32s(simd.sub_f32s(rr, ii), cr[v]);
                        zi[v] = simd.add_f32s(simd.add_f32s(ri, ri), ci);
                    }
                }
                done += STRIDE;
                let any = (1..TOGETHER).fold(inside[0], |any, v| simd.or_m32s(any, inside[v]));
                // (Masks of AVX-512 are no vectors: `M32_LANES` is not their number.)
                if simd.first_true_m32s(any) == S::F32_LANES {
                    break;
                }
            }
            let mut numbers = [0u32; LANES * TOGETHER];
            let (out, _) = S::as_mut_simd_u32s(&mut numbers[..at_once]);
            out.copy_from_slice(&counts);
            for (pixel, &n) in pixels.iter_mut().zip(&numbers) {
                *pixel = colour(n, self.max);
            }
        }
    }
}

pub fn run(params: &Params, style: Style, clock: &mut Clock<'_>) -> Result<Answer> {
    let (grid, max) = Mandel.grid(params)?;
    let view = View::of(0, grid.w, grid.h);
    let mut pixels = vec![0u32; grid.w * grid.h];
    let arch = Arch::new();
    clock.measure(|| {
        match style {
            Style::Scalar => {
                for (y, row) in pixels.chunks_mut(grid.w).enumerate() {
                    row.iter_mut().enumerate().for_each(|(x, p)| *p = colour(repeated(view, x, y, max), max));
                }
            }
            Style::Vector => {
                let rows = pixels.par_chunks_mut(grid.w).enumerate();
                rows.for_each(|(y, row)| arch.dispatch(Points { view, y, max, row }));
            }
        }
        // The compiler must not leave out what nobody reads between iterations.
        black_box(&mut pixels);
    });
    Ok(Answer::Exact(pixels))
}
