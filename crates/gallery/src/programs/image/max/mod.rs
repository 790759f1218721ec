//! `max`: which pixels belong together. Each pixel that is not background starts with a number of its own and takes the
//! largest of its four neighbours, again and again, until the device finds that nothing changed. Every shape ends with
//! one number, the largest of its pixels: that of its last one.
//!
//! An iteration is a whole run from the start. The reference fills the shapes, one after another, from their last
//! pixels.

mod runs;

use crate::cl::Session;
use crate::common::grid::{Grid, build};
use crate::error::Result;
use crate::inputs;
use crate::params::Params;
use crate::picture::{Picture, rgb};
use crate::program::{Answer, Outcome, Program, Variant, Work, same};
use runs::{on_both, on_device, on_host, on_lines, pitch};
use std::f64::consts::TAU;

pub struct Max;

const SOURCE: &str = concat!(include_str!("../../../../kernels/tiles.cl"), include_str!("../../../../kernels/max.cl"));
/// The side of a tile of threads.
const HOST_TILE: usize = 64;

/// Whether a place within a unit square belongs to its shape. Shapes stay off the square's border.
fn inside(kind: usize, u: f64, v: f64) -> bool {
    let (dx, dy) = (u - 0.5, v - 0.5);
    let (r, turn) = (dx.hypot(dy) / 0.44, (dy.atan2(dx) / TAU).rem_euclid(1.0));
    match kind % 6 {
        0 => r < 0.8,
        1 => (0.62..1.0).contains(&r),
        2 => r < 1.0 && dx.abs().min(dy.abs()) < 0.11,
        3 => r < 0.68 + 0.32 * (5.0 * TAU * turn).cos(),
        4 => dx.abs() + dy.abs() < 0.44,
        // Three windings; the last one ends before it wears thin.
        _ => 3.5 * r - turn < 2.6 && (3.5 * r - turn).rem_euclid(1.0) < 0.55,
    }
}

/// Each pixel's first number: its place, from 1 on; 0 for the background.
fn numbered(params: &Params) -> Result<(usize, usize, Vec<u32>)> {
    params.only(&["start"])?;
    let start = params.choice("start", &["shapes", "spirals", "picture"])?;
    let (w, h, is_shape): (_, _, Box<dyn Fn(usize, usize) -> bool>) = if start == "picture" {
        let picture = inputs::picture(params)?;
        let luma = picture.luma();
        // Bands of brightness, half of them background.
        (picture.width, picture.height, Box::new(move |x, y| luma[y * picture.width + x] / 32 % 2 == 1))
    } else {
        let (w, h) = params.size_or(1024, 1024)?;
        let side = (w.min(h) / 8).clamp(4, 128);
        let shape = move |x: usize, y: usize| {
            let (i, j) = (x / side, y / side);
            let kind = if start == "spirals" { 5 } else { (i * 7 + j * 11 + (i + 2 * j) / 3) % 6 };
            let within = |at: usize| (at % side) as f64 / side as f64 + 0.5 / side as f64;
            inside(kind, within(x), within(y))
        };
        (w, h, Box::new(shape))
    };
    let numbers = (0..w * h).map(|i| if is_shape(i % w, i / w) { i as u32 + 1 } else { 0 });
    Ok((w, h, numbers.collect()))
}

/// Fills every shape with the number of its last pixel.
fn filled(start: &[u32], w: usize) -> Vec<u32> {
    let mut labels = vec![0; start.len()];
    let mut waiting = Vec::new();
    // Backwards: the first pixel of a shape that is met is its last one, which has the largest number.
    for last in (0..start.len()).rev() {
        if start[last] == 0 || labels[last] != 0 {
            continue;
        }
        labels[last] = start[last];
        waiting.push(last);
        while let Some(i) = waiting.pop() {
            let x = i % w;
            let around = [
                (x > 0).then(|| i - 1),
                (x + 1 < w).then_some(i + 1),
                i.checked_sub(w),
                (i + w < start.len()).then_some(i + w),
            ];
            for j in around.into_iter().flatten() {
                if start[j] != 0 && labels[j] == 0 {
                    labels[j] = start[last];
                    waiting.push(j);
                }
            }
        }
    }
    labels
}

/// Colours by the number, of a palette that people with any sight tell apart; the number itself shades it a little.
fn drawn(labels: &[u32], w: usize, h: usize) -> Picture {
    const COLOURS: [[u32; 3]; 7] =
        [[230, 159, 0], [86, 180, 233], [0, 158, 115], [240, 228, 66], [0, 114, 178], [213, 94, 0], [204, 121, 167]];
    let colour = |&label: &u32| {
        if label == 0 {
            return rgb(20, 24, 34);
        }
        let mixed = (label ^ label >> 15).wrapping_mul(0x2c1b_3c6d);
        let mixed = (mixed ^ mixed >> 12).wrapping_mul(0x297a_2d39) >> 8;
        let shade = 200 + mixed / 7 % 56;
        let [r, g, b] = COLOURS[mixed as usize % COLOURS.len()].map(|c| (c * shade / 255) as u8);
        rgb(r, g, b)
    };
    Picture { width: w, height: h, pixels: labels.iter().map(colour).collect() }
}

impl Program for Max {
    fn name(&self) -> &'static str {
        "max"
    }

    fn about(&self) -> &'static str {
        "connected parts of a picture, by the largest number"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "ocl", about: "a work-item a pixel looks at its neighbours" },
            Variant { name: "ocl_lazy", about: "the same; tiles where nothing can change are skipped" },
            Variant { name: "ocl_lines", about: "a work-item a column, then one a row: numbers run along lines" },
            Variant { name: "seq", about: "one thread of the machine, there and back in place, no OpenCL" },
            Variant { name: "threads", about: "the machine's threads, which take rows as they get free" },
            Variant { name: "tiled", about: "the machine's threads, which take tiles as they get free" },
            Variant { name: "lazy", about: "the same; tiles where nothing can change are skipped" },
            Variant { name: "hybrid", about: "upper rows on the device, lower rows on threads, split by their speeds" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &["start=shapes|spirals|picture: what the parts are"]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let (w, h, _) = numbered(params)?;
        let grid = Grid::new(params, (w, h), (16, 16))?;
        let plain = Params { config: String::new(), ..params.clone() };
        let kernel = match self.variant(params)? {
            "ocl_lazy" => "max_ocl_lazy",
            "ocl_lines" => "max_columns",
            _ => "max_ocl",
        };
        Ok((format!("{} -DPITCH={}", grid.options(&plain, "max"), pitch(w)), kernel.into()))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let (w, h, start) = numbered(params)?;
        let grid = Grid::new(params, (w, h), (16, 16))?;
        let host_tile = params.tile_or(HOST_TILE, HOST_TILE)?;
        let (options, name) = self.build_options(params)?;
        let (built, _) = build(session, "max", SOURCE, &options, &name)?;
        let mut result = (Vec::new(), 0);
        let mut split = None;
        let times = session.measure_and(
            params.iterations,
            |i| {
                // The film is that of the first run.
                let frame = |labels: &dyn Fn() -> Result<Vec<u32>>| match i {
                    0 => params.observer.frame(|| Ok(drawn(&labels()?, w, h))),
                    _ => Ok(()),
                };
                result = if variant == "ocl_lines" {
                    on_lines(session, &built, (&grid, &start), frame)?
                } else if variant.starts_with("ocl") {
                    on_device(session, (variant, &built), (&grid, &start), frame)?
                } else if variant == "hybrid" {
                    let (labels, sweeps, how) = on_both(session, &built, grid, &start)?;
                    split = Some(how);
                    (labels, sweeps)
                } else {
                    on_host(variant, w, host_tile, &start)
                };
                Ok(true)
            },
            |i| params.observer.progress(i as usize + 1, params.iterations as usize),
        )?;

        let (got, sweeps) = result;
        let want = filled(&start, w);
        let parts = want.iter().zip(&start).filter(|(label, own)| **own != 0 && label == own).count();
        Ok(Outcome {
            variant,
            size: grid.size_text(),
            build: built.time,
            times,
            work: Some(Work::new((w * h) as f64, "pixel").moving(w * h * 8 * sweeps)),
            verdict: same(&got, &want, "numbers"),
            answer: Answer::Exact(got.clone()),
            picture: Some(drawn(&got, w, h)),
            chart: None,
            notes: std::iter::once(format!("{parts} parts, {sweeps} sweeps")).chain(split).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_find_two_parts_that_touch_at_a_corner_only() {
        let picture = [1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1];
        let start: Vec<u32> = (0..12).map(|i| if picture[i] == 1 { i as u32 + 1 } else { 0 }).collect();
        let want = [2, 2, 0, 12, 0, 0, 0, 12, 9, 0, 12, 12];
        assert_eq!(filled(&start, 4), want);
        for variant in ["seq", "threads", "tiled", "lazy"] {
            assert_eq!(on_host(variant, 4, (3, 2), &start).0, want, "{variant}");
        }
    }
}
