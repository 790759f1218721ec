//! `nbody`: the pull of every body on every other one. Little memory and much arithmetic with a root in it; bodies as
//! records or an array a coordinate, with and without a tile of them in local memory.

use super::threads;
use crate::args;
use crate::cl::{Arg, Buffer, Session, round_up};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Work, close};
use crate::random::Random;

pub struct Nbody;

const SOURCE: &str = include_str!("../../kernels/nbody.cl");
/// The square of the distance below which the pull gets weaker.
const SOFTENING: f32 = 1.0 / 1024.0;

#[derive(Clone, Copy)]
struct Body {
    at: [f32; 3],
    mass: f32,
}

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

impl Nbody {
    /// The function, and the largest relative error that the specification, or a table of twelve bits, allows it.
    fn root(params: &Params) -> Result<(&'static str, f64)> {
        params.only(&["root"])?;
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
        &["root=rsqrt|native|divide: rsqrt(x), native_rsqrt(x) or 1/sqrt(x)"]
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
        let mut random = Random::new(7);
        let mut body = || Body { at: [0; 3].map(|_| random.signed()), mass: 1.0 + random.signed() / 2.0 };
        let bodies: Vec<Body> = (0..n).map(|_| body()).collect();
        let built = session.build("nbody", SOURCE, &options)?;
        let kernel = built.kernel(&name)?;
        let inputs: Vec<Buffer<f32>> =
            layout(variant, &bodies).iter().map(|v| session.upload(v)).collect::<Result<_>>()?;
        let output = session.zeroed::<f32>(n * 4)?;
        let group = params.group_or(128)?;
        let mut arguments: Vec<Arg> = inputs.iter().map(Arg::from).collect();
        arguments.extend(args![n as u32, &output]);
        if variant.ends_with("_local") {
            arguments.push(Arg::Local(group * 16));
        }
        let times = session.measure(params.iterations, |_| {
            session.launch(&kernel, &arguments, &[round_up(n, group)], &[group])?;
            Ok(true)
        })?;
        let got = session.read(&output)?;

        let mut sums = vec![[[0.0f64; 2]; 3]; n];
        threads::rows(&mut sums, 1, threads::count(), |i, sum| sum[0] = reference(&bodies, i));
        let wanted = |k: usize| match k % 4 {
            3 => [0.0; 2],
            c => sums[k / 4][c],
        };
        let want: Vec<f64> = (0..n * 4).map(|k| wanted(k)[0]).collect();
        // Roundings of a sum go either way; its terms have a few of their own, and the root comes in cubed.
        let relative = (16.0 * (n as f64).sqrt() + 16.0) * 2f64.powi(-24) + 3.0 * root_error;
        let limit = |k: usize| wanted(k)[1] * relative;
        let pairs = n as f64 * n as f64;
        Ok(Outcome {
            variant,
            size: format!("{n} bodies, groups of {group}"),
            build: built.time,
            times,
            // The root does not count.
            work: Some(Work::new(pairs, "interaction").moving(n * 32).computing(18.0 * pairs)),
            verdict: close(&got, &want, limit, "numbers"),
            answer: Answer::close(got, limit),
            picture: None,
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
        let bodies = [Body { at: [0.0; 3], mass: 2.0 }, Body { at: [0.0, 2.0, 0.0], mass: 3.0 }];
        let distance = (4.0 + f64::from(SOFTENING)).sqrt();
        let [x, y, z] = reference(&bodies, 0).map(|s| s[0]);
        assert_eq!((x, z), (0.0, 0.0));
        assert!((y - 3.0 * 2.0 / distance.powi(3)).abs() < 1e-12);
        assert!(reference(&bodies, 1)[1][0] < 0.0);
    }
}
