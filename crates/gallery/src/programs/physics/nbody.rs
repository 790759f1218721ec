//! `nbody`: the pull of every body on every other one. Little memory and much arithmetic with a root in it; bodies as
//! records or an array a coordinate, with and without a tile of them in local memory.
//!
//! An iteration is one sum over all pairs. Where the bodies shall move, the host moves them between iterations, which
//! is not measured. The reference adds the pulls at the last places up. Devices round differently, and ways of many
//! bodies soon part by that: devices are compared by the first pulls, which are those at the same places.

mod galaxies;

use crate::args;
use crate::cl::{Arg, Buffer, Session, round_up};
use crate::common::threads;
use crate::error::{Error, Result};
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Work, close};
use galaxies::{Body, advance, bodies, drawn};

pub struct Nbody;

const SOURCE: &str = include_str!("../../../kernels/nbody.cl");
/// The square of the distance below which the pull gets weaker.
const SOFTENING: f32 = 1.0 / 1024.0;

/// The pull on a body, and the sum of the magnitudes of its terms, to which rounding errors are relative.
fn reference(bodies: &[Body], i: usize) -> [[f64; 2]; 3] {
    let mut sums = [[0.0; 2]; 3];
    let at = bodies[i].at.map(f64::from);
    for other in bodies {
        let d = [0, 1, 2].map(|c| f64::from(other.at[c]) - at[c]);
        let square = d.iter().map(|v| v * v).sum::<f64>() + f64::from(SOFTENING);
        let strength = f64::from(other.mass) / (square * square.sqrt());
        for (sum, d) in sums.iter_mut().zip(d) {
            sum[0] += d * strength;
            sum[1] += (d * strength).abs();
        }
    }
    sums
}

/// The bodies in the layout of the variant, a buffer each.
fn layout(variant: &str, bodies: &[Body]) -> Vec<Vec<f32>> {
    let coordinate = |c: usize| bodies.iter().map(|b| b.at[c]).collect();
    match variant {
        "aos4" | "aos4_local" => vec![bodies.iter().flat_map(|b| [b.at[0], b.at[1], b.at[2], b.mass]).collect()],
        // Nothing reads the velocities; one that did would find no number.
        "aos7" => {
            let v = f32::NAN;
            vec![bodies.iter().flat_map(|b| [b.at[0], b.at[1], b.at[2], v, v, v, b.mass]).collect()]
        }
        _ => vec![coordinate(0), coordinate(1), coordinate(2), bodies.iter().map(|b| b.mass).collect()],
    }
}

/// The pull on every body and the sum of magnitudes, as [`reference`] has them, four a body as the device has them.
fn references(bodies: &[Body]) -> Vec<[f64; 2]> {
    let mut sums = vec![[[0.0f64; 2]; 4]; bodies.len()];
    threads::rows(&mut sums, 1, threads::count(), |i, sum| sum[0][..3].copy_from_slice(&reference(bodies, i)));
    sums.into_flattened()
}

impl Nbody {
    /// Whether the bodies move between iterations.
    fn moves(params: &Params) -> Result<bool> {
        Ok(params.choice("motion", &["still", "orbit"])? == "orbit")
    }

    /// The function, and the largest relative error that the specification, or a table of twelve bits, allows it.
    fn root(params: &Params) -> Result<(&'static str, f64)> {
        params.only(&["root", "motion"])?;
        Ok(match params.choice("root", &["rsqrt", "native", "divide"])? {
            "native" => ("native_rsqrt", 5e-4),
            "divide" => ("divided", 6.0 * f64::from(f32::EPSILON)),
            _ => ("rsqrt", 2.0 * f64::from(f32::EPSILON)),
        })
    }
}

impl Program for Nbody {
    fn name(&self) -> &'static str {
        "nbody"
    }

    fn about(&self) -> &'static str {
        "the pull of every body on every other one"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "aos4", about: "records of place and mass" },
            Variant { name: "aos7", about: "records of place, velocity and mass" },
            Variant { name: "soa", about: "an array a coordinate" },
            Variant { name: "aos4_local", about: "records, a tile of them in local memory" },
            Variant { name: "soa_local", about: "arrays, a tile of them in local memory" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "root=rsqrt|native|divide: rsqrt(x), native_rsqrt(x) or 1/sqrt(x)",
            "motion=still|orbit: whether the bodies move between iterations",
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let (root, _) = Nbody::root(params)?;
        Ok((format!("-DROOT={root} -DSOFTENING={SOFTENING:e}f"), format!("nbody_{}", self.variant(params)?)))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let (options, name) = self.build_options(params)?;
        let (_, root_error) = Nbody::root(params)?;
        let (n, _) = params.size_or(4096, 1)?;
        if n > 1 << 18 {
            return Err(Error::Params("the reference takes at most 256 K bodies: choose a smaller -s".into()));
        }
        let moves = Nbody::moves(params)?;
        let mut bodies = bodies(n, SOFTENING);
        let built = session.build("nbody", SOURCE, &options)?;
        let kernel = built.kernel(&name)?;
        let inputs: Vec<Buffer<f32>> =
            layout(variant, &bodies).iter().map(|v| session.upload(v)).collect::<Result<_>>()?;
        // A float4 a body: one aligned store; the fourth number is zero.
        let output = session.zeroed::<f32>(n * 4)?;
        let group = params.group_or(128)?;
        let mut arguments: Vec<Arg> = inputs.iter().map(Arg::from).collect();
        arguments.extend(args![n as u32, &output]);
        if variant.ends_with("_local") {
            // Four floats for each body of the tile: place and mass.
            arguments.push(Arg::Local(group * 16));
        }
        let mut first = None;
        let times = session.measure_and(
            params.iterations,
            |_| {
                session.launch(&kernel, &arguments, &[round_up(n, group)], &[group])?;
                Ok(true)
            },
            |i| {
                params.observer.frame(|| Ok(drawn(&bodies, i)))?;
                // The last pulls are those at the last places.
                if moves && i + 1 < params.iterations {
                    let pulls = session.read(&output)?;
                    let before = bodies.clone();
                    advance(&mut bodies, &pulls);
                    first.get_or_insert((before, pulls));
                    for (buffer, data) in inputs.iter().zip(layout(variant, &bodies)) {
                        session.write(buffer, &data)?;
                    }
                }
                Ok(())
            },
        )?;
        let got = session.read(&output)?;

        // Roundings of a sum go either way; its terms have a few of their own, and the root comes in cubed.
        let relative = (16.0 * (n as f64).sqrt() + 16.0) * 2f64.powi(-24) + 3.0 * root_error;
        let sums = references(&bodies);
        let want: Vec<f64> = sums.iter().map(|s| s[0]).collect();
        let verdict = close(&got, &want, |k| sums[k][1] * relative, "numbers");
        let (sums, pulls) = first.map_or((sums, got), |(before, pulls)| (references(&before), pulls));
        let pairs = n as f64 * n as f64;
        Ok(Outcome {
            variant,
            size: format!("{n} bodies, groups of {group}"),
            build: built.time,
            times,
            // The root does not count.
            work: Some(Work::new(pairs, "interaction").moving(n * 32).computing(18.0 * pairs)),
            verdict,
            answer: Answer::close(pulls, |k| sums[k][1] * relative),
            picture: Some(drawn(&bodies, params.iterations.saturating_sub(1))),
            chart: None,
            notes: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_bodies_pull_each_other_along_the_line_between_them() {
        let velocity = [0.0; 3];
        let bodies = [Body { at: [0.0; 3], velocity, mass: 2.0 }, Body { at: [0.0, 2.0, 0.0], velocity, mass: 3.0 }];
        let distance = (4.0 + f64::from(SOFTENING)).sqrt();
        let [x, y, z] = reference(&bodies, 0).map(|s| s[0]);
        assert_eq!((x, z), (0.0, 0.0));
        assert!((y - 3.0 * 2.0 / distance.powi(3)).abs() < 1e-12);
        assert!(reference(&bodies, 1)[1][0] < 0.0);
    }
}
