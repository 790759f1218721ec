//! `particles`: particles move in a box, or a function of the distance is added up over all pairs of them, as records
//! and as an array for each component: the cost of the layout where memory is the limit, and where arithmetic is.

mod bursts;

use crate::args;
use crate::cl::{Session, round_up};
use crate::common::threads;
use crate::error::{Error, Result};
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Work, close, same};

pub struct Particles;

const SOURCE: &str = include_str!("../../../kernels/particles.cl");
/// Floats of a particle: position and velocity.
const FLOATS: usize = 6;
/// What keeps the closeness of a particle to itself finite.
const SOFTENING: f32 = 1.0 / 32.0;

fn step(particle: &mut [f32]) {
    let (at, velocity) = particle.split_at_mut(3);
    for (at, velocity) in at.iter_mut().zip(velocity) {
        // In floats, one addition as in the kernels: rounding is the same everywhere, and results are compared bit by
        // bit.
        let next = *at + *velocity;
        if (0.0..=1.0).contains(&next) {
            *at = next;
        } else {
            *velocity = -*velocity;
        }
    }
}

fn closeness(data: &[f32], i: usize) -> f64 {
    let at = |j: usize, c: usize| f64::from(data[j * FLOATS + c]);
    (0..data.len() / FLOATS)
        .map(|j| {
            let square: f64 = (0..3).map(|c| (at(j, c) - at(i, c)).powi(2)).sum();
            1.0 / (f64::from(SOFTENING) + square.sqrt())
        })
        .sum()
}

/// Records to an array a component.
fn to_arrays(records: &[f32]) -> Vec<f32> {
    (0..FLOATS).flat_map(|c| records.iter().skip(c).step_by(FLOATS).copied()).collect()
}

/// And back.
fn to_records(arrays: &[f32]) -> Vec<f32> {
    let n = arrays.len() / FLOATS;
    (0..n).flat_map(|i| (0..FLOATS).map(move |c| arrays[c * n + i])).collect()
}

impl Program for Particles {
    fn name(&self) -> &'static str {
        "particles"
    }

    fn about(&self) -> &'static str {
        "particles as records or as arrays"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "move_aos", about: "a step of the way, records" },
            Variant { name: "move_soa", about: "a step of the way, an array a component" },
            Variant { name: "pairs_aos", about: "a function of the distance over all pairs, records" },
            Variant { name: "pairs_soa", about: "a function of the distance over all pairs, an array a component" },
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        params.only(&[])?;
        Ok((format!("-DSOFTENING={SOFTENING:e}f"), format!("particles_{}", self.variant(params)?)))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let (options, name) = self.build_options(params)?;
        let (pairs, soa) = (variant.starts_with("pairs"), variant.ends_with("soa"));
        // Of all pairs, there are many; their number goes by the width.
        let n = if pairs {
            params.size_or(4096, 1)?.0
        } else {
            let (w, h) = params.size_or(1024, 1024)?;
            w * h
        };
        // The reference takes n squared steps for pairs.
        if n > if pairs { 1 << 18 } else { 1 << 24 } {
            return Err(Error::Params("at most 16 M particles, or 256 K to take in pairs: choose a smaller -s".into()));
        }
        let mut data = bursts::records(n);
        let built = session.build("particles", SOURCE, &options)?;
        let kernel = built.kernel(&name)?;
        let buffer = if soa { session.upload(&to_arrays(&data))? } else { session.upload(&data)? };
        let output = session.zeroed::<f32>(n)?;
        let group = params.group_or(64)?;
        let moved = || {
            let floats = session.read(&buffer)?;
            Ok(if soa { to_records(&floats) } else { floats })
        };
        let times = session.measure_and(
            params.iterations,
            |_| {
                let (global, local) = ([round_up(n, group)], [group]);
                if pairs {
                    session.launch(&kernel, args![&buffer, n as u32, &output], &global, &local)?;
                } else {
                    session.launch(&kernel, args![&buffer, n as u32], &global, &local)?;
                }
                Ok(true)
            },
            |i| {
                params.observer.frame(|| match pairs {
                    true => Ok(bursts::close(&moved()?, &session.read(&output)?, i)),
                    false => Ok(bursts::moving(&moved()?, i)),
                })
            },
        )?;
        let frame = params.iterations.saturating_sub(1);
        let (verdict, answer, work, picture);
        if pairs {
            let got = session.read(&output)?;
            let mut want = vec![0.0f64; n];
            threads::rows(&mut want, 1, threads::count(), |i, sum| sum[0] = closeness(&data, i));
            // Every term is positive: roundings go either way, and each term has a few of its own.
            let limit = |i: usize| want[i] * (16.0 * (n as f64).sqrt() + 32.0) * 2f64.powi(-24);
            verdict = close(&got, &want, limit, "sums");
            picture = bursts::close(&data, &got, frame);
            answer = Answer::close(got, limit);
            let count = n as f64 * n as f64;
            // Three differences, products and sums each, and the sum; the root and the division do not count.
            work = Work::new(count, "pair").moving(n * 16).computing(10.0 * count);
        } else {
            let got = moved()?;
            for particle in data.chunks_exact_mut(FLOATS) {
                (0..params.iterations).for_each(|_| step(particle));
            }
            verdict = same(&got, &data, "floats");
            picture = bursts::moving(&got, frame);
            answer = Answer::Exact(got.iter().map(|v| v.to_bits()).collect());
            work = Work::new(n as f64, "particle").moving(n * FLOATS * 8).computing((n * 3) as f64);
        }
        Ok(Outcome {
            variant,
            size: format!("{n} particles, groups of {group}"),
            build: built.time,
            times,
            work: Some(work),
            verdict,
            answer,
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
    fn a_particle_turns_back_at_the_wall_and_the_layouts_hold_the_same() {
        let mut particle = [0.5f32, 0.9, 0.0, 0.25, 0.25, -0.25];
        step(&mut particle);
        assert_eq!(particle, [0.75, 0.9, 0.0, 0.25, -0.25, 0.25]);
        let records: Vec<f32> = (0..18u8).map(f32::from).collect();
        assert_eq!(to_arrays(&records)[..4], [0.0, 6.0, 12.0, 1.0]);
        assert_eq!(to_records(&to_arrays(&records)), records);
    }
}
