//! `mad`: a copy with k floating-point operations on the way. Over k the curve stays flat until arithmetic stops being free.

use crate::args;
use crate::chart;
use crate::cl::{Session, round_up};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Verdict, Work, close};
use crate::random::Random;

pub struct Mad;

const SOURCE: &str = include_str!("../../kernels/mad.cl");
/// The curve's points.
const SWEEP: [u32; 7] = [3, 6, 12, 18, 24, 48, 96];

fn reference(x: f32, flops: u32) -> f64 {
    let mut x = f64::from(x);
    for _ in 0..flops / 2 {
        x = x * f64::from(0.999f32) + 0.125;
    }
    if flops % 2 == 1 { x + 0.125 } else { x }
}

impl Program for Mad {
    fn name(&self) -> &'static str {
        "mad"
    }

    fn about(&self) -> &'static str {
        "copy with k floating-point operations"
    }

    fn variants(&self) -> &'static [Variant] {
        &[Variant { name: "ocl", about: "one float a work-item" }]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &["k=0: operations a float; 0 for the whole curve: 3, 6, 12, 18, 24, 48, 96"]
    }

    fn source(&self) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        params.only(&["k"])?;
        let k = match params.number("k", 0, 0..=10_000)? {
            0 => SWEEP[SWEEP.len() - 1],
            k => k,
        };
        self.variant(params).map(|v| (format!("-DFLOPS={k}"), format!("mad_{v}")))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        params.only(&["k"])?;
        let (w, h) = params.size_or(4096, 4096)?;
        let n = w * h;
        // No size has more elements than 32 bits count.
        let count = n as u32;
        let curve = match params.number("k", 0, 0..=10_000)? {
            0 => SWEEP.to_vec(),
            k => vec![k],
        };
        let mut random = Random::new(18);
        let data: Vec<f32> = (0..n).map(|_| random.signed()).collect();
        let (input, output) = (session.upload(&data)?, session.zeroed::<f32>(n)?);
        let group = params.group_or(64)?;
        let (mut notes, mut rates, mut last) = (Vec::new(), Vec::new(), None);
        for &k in &curve {
            let built = session.build("mad", SOURCE, &format!("-DFLOPS={k}"))?;
            let kernel = built.kernel("mad_ocl")?;
            let times = session.measure(params.iterations, |_| {
                session.launch(&kernel, args![&input, &output, count], &[round_up(n, group)], &[group])?;
                Ok(true)
            })?;
            let want: Vec<f64> = data.iter().map(|&x| reference(x, k)).collect();
            // Each operation may round by half a unit, contracted or not; the factor of 0.999 lets no error grow.
            let limit = |i: usize| f64::from(k) * 2f64.powi(-24) * (want[i].abs() + 1.0);
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
            picture: (rates.len() > 1).then(|| chart::lines(&[rates], 640, 400)),
            notes,
        })
    }
}
