//! `mad`: a copy with k floating-point operations on the way. Over k the curve stays flat until arithmetic stops being
//! free.

use crate::args;
use crate::chart::{Chart, Series};
use crate::cl::{Session, round_up};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Verdict, Work, close};
use crate::random::Random;

pub struct Mad;

const SOURCE: &str = include_str!("../../../kernels/mad.cl");
/// The curve's points.
const SWEEP: [u32; 7] = [3, 6, 12, 18, 24, 48, 96];
/// After how many floats the input repeats: a prime number, so that a float taken for its neighbour is another one.
const PERIOD: usize = 8191;

/// The numbers that the input repeats, so that the reference of a long chain need not be computed for each element.
pub(crate) fn input(n: usize) -> Vec<f32> {
    let mut random = Random::new(18);
    (0..PERIOD.min(n)).map(|_| random.signed()).collect()
}

fn reference(x: f32, flops: u32) -> f64 {
    let mut x = f64::from(x);
    for _ in 0..flops / 2 {
        // The kernel's factor is the float next to 0.999, not the double.
        x = x * f64::from(0.999f32) + 0.125;
    }
    if flops % 2 == 1 { x + 0.125 } else { x }
}

/// Sixteen chains, added up, each of which does `flops` / 32 steps.
fn peak_reference(x: f32, flops: u32) -> f64 {
    (0..16)
        .map(|lane| {
            let start = f64::from(x) + f64::from(lane);
            (0..flops / 32).fold(start, |v, _| v * f64::from(0.999f32) + 0.125)
        })
        .sum()
}

/// The points of the curve that a run measures, and the operations a float of the peak.
fn points(params: &Params, variant: &str) -> Result<Vec<u32>> {
    params.only(&["k"])?;
    Ok(match (params.number("k", 0, 0..=10_000)?, variant) {
        (0, "peak") => vec![4096],
        (0, _) => SWEEP.to_vec(),
        (k, "peak") => vec![k.next_multiple_of(32)],
        (k, _) => vec![k],
    })
}

impl Program for Mad {
    fn name(&self) -> &'static str {
        "mad"
    }

    fn about(&self) -> &'static str {
        "copy with k floating-point operations"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "ocl", about: "one float a work-item" },
            Variant { name: "peak", about: "sixteen independent chains a work-item: the most the machine does" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &["k=0: operations a float; 0 for the whole curve, 3, 6, 12, 18, 24, 48, 96, and for 4096 of peak"]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let variant = self.variant(params)?;
        let points = points(params, variant)?;
        Ok((format!("-DFLOPS={}", points[points.len() - 1]), format!("mad_{variant}")))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let peak = variant == "peak";
        let side = if peak { 512 } else { 4096 };
        let (w, h) = params.size_or(side, side)?;
        let n = w * h;
        // No size has more elements than 32 bits count.
        let count = n as u32;
        let curve = points(params, variant)?;
        let few = input(n);
        let data: Vec<f32> = few.iter().copied().cycle().take(n).collect();
        let (input, output) = (session.upload(&data)?, session.zeroed::<f32>(n)?);
        let group = params.group_or(64)?;
        let (mut notes, mut rates, mut last) = (Vec::new(), Vec::new(), None);
        for &k in &curve {
            let built = session.build("mad", SOURCE, &format!("-DFLOPS={k}"))?;
            let kernel = built.kernel(&format!("mad_{variant}"))?;
            let times = session.measure(params.iterations, |_| {
                session.launch(&kernel, args![&input, &output, count], &[round_up(n, group)], &[group])?;
                Ok(true)
            })?;
            let reference = if peak { peak_reference } else { reference };
            let wanted: Vec<f64> = few.iter().map(|&x| reference(x, k)).collect();
            let want: Vec<f64> = wanted.iter().copied().cycle().take(n).collect();
            // Each operation may round by half a unit, contracted or not; the factor of 0.999 lets no error grow beyond
            // what a thousand make, and the chains tend to 125.
            let (steps, largest) = if peak { (k.min(32_000) / 32 * 2 + 16, 16.0 * 125.0) } else { (k, 0.0) };
            let limit = |i: usize| f64::from(steps) * 2f64.powi(-24) * (want[i].abs() + 1.0 + largest);
            let got = session.read(&output)?;
            let verdict = close(&got, &want, limit, "floats");
            let answer = Answer::close(got, limit);
            let failed = matches!(verdict, Verdict::Failed(_));
            let time = times.median().as_secs_f64();
            last = Some((built.time, times, verdict, answer, k));
            if failed {
                break;
            }
            rates.push(n as f64 / time / 1e9);
            let flops = f64::from(k) * n as f64 / time / 1e9;
            notes.push(format!("k = {k}: {:.3} Gfloat/s, {flops:.2} Gflop/s", n as f64 / time / 1e9));
        }
        let (build, times, verdict, answer, k) = last.ok_or_else(|| Error::Params("no k to measure".into()))?;
        Ok(Outcome {
            variant,
            size: format!("{n} floats, k = {k}, groups of {group}"),
            build,
            times,
            work: Some(Work::of_flops(f64::from(k) * n as f64).moving(n * 8)),
            verdict,
            answer,
            picture: None,
            chart: (rates.len() > 1).then(|| Chart {
                x: "floating-point operations a float".into(),
                y: "Gfloat/s".into(),
                places: curve.iter().map(u32::to_string).collect(),
                series: vec![Series::new(variant, 0, &rates)],
                bars: false,
            }),
            notes,
        })
    }
}
