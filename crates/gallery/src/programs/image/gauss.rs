//! `gauss`: a Gaussian blur of sigma 5: over a square of 31 by 31, along rows and columns (of buffers and of images),
//! and by a recursive filter whose cost does not depend on sigma, with rows as they are and with transposed ones.

use crate::args;
use crate::cl::{Buffer, Session, Times, round_up};
use crate::error::Result;
use crate::inputs;
use crate::params::Params;
use crate::picture::Picture;
use crate::program::{Answer, Outcome, Program, Variant, Work, close};
use crate::splitting::band::{Shape, Step};
use crate::splitting::plan::{self, Plan, Source};
use crate::splitting::worker_group;
use std::time::Duration;

pub struct Gauss;

const SOURCE: &str = include_str!("../../../kernels/gauss.cl");
const IMAGE_SOURCE: &str = include_str!("../../../kernels/gauss_image.cl");
const SIGMA: f64 = 5.0;
const RADIUS: usize = 15;
/// The side of a group that transposes.
const SIDE: usize = 16;

/// The weights of the neighbours, which add up to one.
fn weights() -> Vec<f32> {
    let bell = |i: usize| (-0.5 * ((i as f64 - RADIUS as f64) / SIGMA).powi(2)).exp();
    let sum: f64 = (0..=2 * RADIUS).map(bell).sum();
    (0..=2 * RADIUS).map(|i| (bell(i) / sum) as f32).collect()
}

/// The factors of the recursive filter, of the pixel and of the three results before (I. T. Young, L. J. van Vliet,
/// "Recursive implementation of the Gaussian filter", 1995).
fn factors() -> [f32; 4] {
    let q = 0.98711 * SIGMA - 0.96330;
    let b0 = 1.57825 + 2.44413 * q + 1.4281 * q * q + 0.422205 * q * q * q;
    let a1 = (2.44413 * q + 2.85619 * q * q + 1.26661 * q * q * q) / b0;
    let a2 = -(1.4281 * q * q + 1.26661 * q * q * q) / b0;
    let a3 = 0.422205 * q * q * q / b0;
    [1.0 - (a1 + a2 + a3), a1, a2, a3].map(|v| v as f32)
}

/// One line blurred by the weights.
fn weighted(line: &[f64], weights: &[f64]) -> Vec<f64> {
    let n = line.len() as isize;
    let at = |i: isize| line[i.clamp(0, n - 1) as usize];
    let radius = weights.len() as isize / 2;
    (0..n).map(|i| weights.iter().zip(i - radius..).map(|(w, k)| w * at(k)).sum()).collect()
}

/// One line blurred by the recursion.
fn recursed(line: &[f64], factors: &[f64]) -> Vec<f64> {
    let pass = |from: &mut dyn Iterator<Item = f64>, start: f64| {
        // As if the line had had its first value for ever: the factors add up to one, so that a constant line stays as
        // it is.
        let mut last = vec![start; 3];
        for v in from {
            let k = last.len();
            last.push(factors[0] * v + (1..=3).map(|d| factors[d] * last[k - d]).sum::<f64>());
        }
        last.split_off(3)
    };
    let there = pass(&mut line.iter().copied(), line[0]);
    // A recursion delays what it blurs; the way back undoes the delay and makes the filter symmetric.
    let mut back = pass(&mut there.iter().rev().copied(), there[there.len() - 1]);
    back.reverse();
    back
}

/// Rows, then columns.
fn blurred(data: &[f64], w: usize, blur: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let mut rows: Vec<f64> = data.chunks(w).flat_map(&blur).collect();
    for x in 0..w {
        let column: Vec<f64> = rows.iter().skip(x).step_by(w).copied().collect();
        for (y, v) in blur(&column).into_iter().enumerate() {
            rows[y * w + x] = v;
        }
    }
    rows
}

/// Numbers that a kernel reads and writes for a pixel, those of them that memory must move, and its operations.
fn costs(variant: &str) -> (usize, usize, usize) {
    let taps = 2 * RADIUS + 1;
    match variant {
        "direct" => (taps * taps + 1, 2, taps * 2 * taps),
        v if matches!(v, "separable" | "image") || plan::is_in_bands(v) => (2 * (taps + 1), 4, 2 * (2 * taps - 1)),
        // Twice there and back, seven operations each time.
        "recursive" => (8, 8, 28),
        _ => (12, 12, 28),
    }
}

/// How long building took, how long the iterations, and the result.
type Blurred = (Duration, Times, Vec<f32>);

/// The picture in buffers.
fn on_buffers(session: &Session, params: &Params, variant: &str, options: &str, data: &[f32]) -> Result<Blurred> {
    let (w, h) = params.size_or(512, 512)?;
    let built = session.build("gauss", SOURCE, options)?;
    let kernel = |name: &str| built.kernel(&format!("gauss_{name}"));
    let (direct, rows, columns) = (kernel("direct")?, kernel("rows")?, kernel("columns")?);
    let (down, along, transpose) = (kernel("down")?, kernel("along")?, kernel("transpose")?);
    let input = session.upload(data)?;
    let (middle, output) = (session.zeroed::<f32>(w * h)?, session.zeroed::<f32>(w * h)?);
    let (tw, th) = params.tile_or(64, 4)?;
    let group = params.group_or(64)?;
    let square = |kernel, from: &Buffer<f32>, to: &Buffer<f32>| {
        session.launch(kernel, args![from, to], &[round_up(w, tw), round_up(h, th)], &[tw, th])
    };
    let lines = |kernel, from: &Buffer<f32>, to: &Buffer<f32>, (w, h): (usize, usize), lines: usize| {
        session.launch(kernel, args![from, to, w as i32, h as i32], &[round_up(lines, group)], &[group])
    };
    let turn = |from: &Buffer<f32>, to: &Buffer<f32>, (w, h): (usize, usize)| {
        let global = [round_up(w, SIDE), round_up(h, SIDE)];
        session.launch(&transpose, args![from, to, w as i32, h as i32], &global, &[SIDE, SIDE])
    };
    let times = session.measure(params.iterations, |_| {
        match variant {
            "direct" => square(&direct, &input, &output)?,
            "separable" => {
                square(&rows, &input, &middle)?;
                square(&columns, &middle, &output)?;
            }
            "recursive" => {
                lines(&down, &input, &middle, (w, h), w)?;
                lines(&along, &middle, &output, (w, h), h)?;
            }
            _ => {
                lines(&down, &input, &output, (w, h), w)?;
                turn(&output, &middle, (w, h))?;
                // What were rows are columns now. The filter can work in place: a pixel is read before it is
                // written.
                lines(&down, &middle, &middle, (h, w), h)?;
                turn(&middle, &output, (h, w))?;
            }
        }
        Ok(true)
    })?;
    Ok((built.time, times, session.read(&output)?))
}

/// The picture in images.
fn on_images(session: &Session, params: &Params, _: &str, options: &str, data: &[f32]) -> Result<Blurred> {
    let (w, h) = params.size_or(512, 512)?;
    let empty = vec![0.0; data.len()];
    let [input, middle, output] = [data, &empty, &empty].map(|pixels| session.upload_floats(1, w, h, pixels));
    let (input, middle, output) = (input?, middle?, output?);
    let built = session.build("gauss", IMAGE_SOURCE, options)?;
    let (rows, columns) = (built.kernel("gauss_rows_image")?, built.kernel("gauss_columns_image")?);
    let (tw, th) = params.tile_or(64, 4)?;
    let (global, local) = ([round_up(w, tw), round_up(h, th)], [tw, th]);
    let times = session.measure(params.iterations, |_| {
        session.launch(&rows, args![&input, &middle], &global, &local)?;
        session.launch(&columns, args![&middle, &output], &global, &local)?;
        Ok(true)
    })?;
    Ok((built.time, times, session.read_floats(&output)?))
}

/// The separable blur in bands: each has the rows blurred of which its neighbours' columns need some, the edges first.
fn in_bands<'p>((width, height): (usize, usize), options: &'p str, data: &'p [f32]) -> Plan<'p, f32> {
    Plan {
        source: Source {
            program: "gauss",
            source: SOURCE,
            options,
            kernels: &["gauss_rows_band", "gauss_columns_band"],
        },
        shape: Shape { width, items: width, height, halo: RADIUS, wraps: false },
        boards: 3,
        start: data,
        steps: vec![
            Step { kernel: 0, from: 0, to: 1, exchange: true, more: &[] },
            Step { kernel: 1, from: 1, to: 2, exchange: false, more: &[] },
        ],
        result: 2,
    }
}

impl Program for Gauss {
    fn name(&self) -> &'static str {
        "gauss"
    }

    fn about(&self) -> &'static str {
        "Gaussian blur of sigma 5"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "direct", about: "the sum over 31x31 neighbours" },
            Variant { name: "separable", about: "31 neighbours of the row, then of the column" },
            Variant { name: "image", about: "the same on images, whose sampler repeats the edge" },
            Variant { name: "devices_fixed", about: "separable on several devices, each with as many rows" },
            Variant { name: "devices_adaptive", about: "the same, split by the speeds of the iteration before" },
            #[cfg(feature = "mpi")]
            Variant { name: "ranks", about: "separable in several processes; start them with mpirun" },
            Variant { name: "recursive", about: "a work-item a column, then one a row, there and back" },
            Variant { name: "transposed", about: "the same, with transposed pictures instead of rows" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[worker_group::KNOB]
    }

    fn source(&self, params: &Params) -> &'static str {
        if params.variant == "image" { IMAGE_SOURCE } else { SOURCE }
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        params.only(&["devices"])?;
        let (w, h) = params.size_or(512, 512)?;
        let list: Vec<String> = weights().iter().map(|v| format!("{v:e}f")).collect();
        let [b, a1, a2, a3] = factors();
        let options = format!(
            "-DWIDTH={w} -DHEIGHT={h} -DRADIUS={RADIUS} -DWEIGHTS={} -DB={b:e}f -DA1={a1:e}f -DA2={a2:e}f -DA3={a3:e}f",
            list.join(",")
        );
        let name = match self.variant(params)? {
            "separable" => "rows",
            "image" => "rows_image",
            v if plan::is_in_bands(v) => "rows_band",
            "recursive" | "transposed" => "down",
            v => v,
        };
        Ok((options, format!("gauss_{name}")))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let (options, _) = self.build_options(params)?;
        let (w, h) = params.size_or(512, 512)?;
        let picture = inputs::picture(&Params { size: Some((w, h)), ..params.clone() })?;
        let data: Vec<f32> = picture.luma().iter().map(|&v| f32::from(v) / 255.0).collect();
        let shown = |v: &[f32]| Picture::grey(w, h, (0.0, 1.0), |x, y| v[y * w + x]);
        let mut notes = Vec::new();
        let (build, times, got) = match variant {
            "image" => on_images(session, params, variant, &options, &data)?,
            v if plan::is_in_bands(v) => {
                let plan = in_bands((w, h), &options, &data);
                let ran = plan::run(session, params, &plan, shown)?;
                notes = ran.notes;
                (ran.build, ran.times, ran.got)
            }
            _ => on_buffers(session, params, variant, &options, &data)?,
        };
        let exact: Vec<f64> = data.iter().map(|&v| f64::from(v)).collect();
        let recursive = matches!(variant, "recursive" | "transposed");
        // Rounded to floats first, as the device has them: only its arithmetic is to differ.
        let [weights, factors] =
            [weights(), factors().to_vec()].map(|v| v.into_iter().map(f64::from).collect::<Vec<_>>());
        let want = if recursive {
            blurred(&exact, w, |line| recursed(line, &factors))
        } else {
            blurred(&exact, w, |line| weighted(line, &weights))
        };
        // Numbers from 0 to 1. A recursion carries each rounding on, 1/B times as much in the end.
        let tolerance = if recursive { 1e-4 } else { 1e-5 };
        let (accesses, floats, operations) = costs(variant);
        notes.insert(0, format!("a pixel: {accesses} accesses to memory, {operations} operations"));
        Ok(Outcome {
            variant,
            size: format!("{w}x{h}"),
            build,
            times,
            work: Some(
                Work::new((w * h) as f64, "pixel").moving(w * h * floats * 4).computing((w * h * operations) as f64),
            ),
            verdict: close(&got, &want, |_| tolerance, "pixels"),
            picture: Some(shown(&got)),
            answer: Answer::close(got, |_| tolerance),
            chart: None,
            notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recursion_answers_a_point_with_a_bell() {
        let mut line = vec![0.0; 101];
        line[50] = 1.0;
        let bell = recursed(&line, &factors().map(f64::from));
        let height = 1.0 / (SIGMA * (2.0 * std::f64::consts::PI).sqrt());
        for (i, v) in bell.iter().enumerate() {
            let want = height * (-0.5 * ((i as f64 - 50.0) / SIGMA).powi(2)).exp();
            assert!((v - want).abs() < 0.04 * height, "{i}: {v}, {want}");
        }
        assert!((bell.iter().sum::<f64>() - 1.0).abs() < 1e-4);
        // What is flat stays flat, at the edges too.
        assert!(recursed(&[0.5; 7], &factors().map(f64::from)).iter().all(|v| (v - 0.5).abs() < 1e-4));
        assert_eq!(weighted(&[1.0, 0.0, 0.0, 0.0], &[0.25, 0.5, 0.125]), [0.75, 0.25, 0.0, 0.0]);
    }
}
