//! `scalvec`: a vector times a number, one or two elements a work-item: the layout that coalesces and the one that does
//! not.

use crate::args;
use crate::cl::{Session, round_up};
use crate::error::Result;
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Work, same};
use crate::random::Random;

pub struct Scalvec;

const SOURCE: &str = include_str!("../../../kernels/scalvec.cl");
pub(crate) const FACTOR: f32 = 1.7;

/// The vector.
pub(crate) fn input(n: usize) -> Vec<f32> {
    let mut random = Random::new(3);
    (0..n).map(|_| random.signed()).collect()
}

impl Program for Scalvec {
    fn name(&self) -> &'static str {
        "scalvec"
    }

    fn about(&self) -> &'static str {
        "a vector times a number"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "one", about: "one element a work-item" },
            Variant { name: "neighbours", about: "elements 2i and 2i + 1" },
            Variant { name: "halves", about: "elements i and i + n/2" },
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        params.only(&[])?;
        Ok((String::new(), format!("scalvec_{}", self.variant(params)?)))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let (options, name) = self.build_options(params)?;
        let (w, h) = params.size_or(4096, 4096)?;
        let n = w * h;
        // No size has more elements than 32 bits count.
        let count = n as u32;
        let data = input(n);
        let built = session.build("scalvec", SOURCE, &options)?;
        let kernel = built.kernel(&name)?;
        let (input, output) = (session.upload(&data)?, session.zeroed::<f32>(n)?);
        let group = params.group_or(64)?;
        let items = if variant == "one" { n } else { n.div_ceil(2) };
        let times = session.measure(params.iterations, |_| {
            session.launch(&kernel, args![&input, &output, FACTOR, count], &[round_up(items, group)], &[group])?;
            Ok(true)
        })?;
        // One multiplication is rounded the same everywhere.
        let want: Vec<f32> = data.iter().map(|v| FACTOR * v).collect();
        let got = session.read(&output)?;
        Ok(Outcome {
            variant,
            size: format!("{n} floats, groups of {group}"),
            build: built.time,
            times,
            work: Some(Work::of_bytes(n * 8).computing(n as f64)),
            verdict: same(&got, &want, "floats"),
            answer: Answer::Exact(got.iter().map(|v| v.to_bits()).collect()),
            picture: None,
            chart: None,
            notes: Vec::new(),
        })
    }
}
