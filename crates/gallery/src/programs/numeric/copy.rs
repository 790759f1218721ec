//! `copy`: one float read and one written a work-item. Its bandwidth is the reference for the others.

use crate::args;
use crate::cl::{Session, round_up};
use crate::error::Result;
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Work, same};
use crate::random::Random;

pub struct Copy;

const SOURCE: &str = include_str!("../../../kernels/copy.cl");

/// What is copied. Compared as bits: a copy keeps every one, whatever float they make.
pub(crate) fn input(n: usize) -> Vec<u32> {
    let mut random = Random::new(16);
    (0..n).map(|_| random.signed().to_bits()).collect()
}

impl Program for Copy {
    fn name(&self) -> &'static str {
        "copy"
    }

    fn about(&self) -> &'static str {
        "read a float, write a float"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "ocl", about: "one float a work-item" },
            Variant { name: "float4", about: "four floats a work-item" },
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        params.only(&[])?;
        self.variant(params).map(|v| (String::new(), format!("copy_{v}")))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let (options, name) = self.build_options(params)?;
        let (w, h) = params.size_or(4096, 4096)?;
        let n = w * h;
        // No size has more elements than 32 bits count.
        let count = n as u32;
        let data = input(n);
        let built = session.build("copy", SOURCE, &options)?;
        let kernel = built.kernel(&name)?;
        let (input, output) = (session.upload(&data)?, session.zeroed::<u32>(n)?);
        let group = params.group_or(64)?;
        let items = if variant == "float4" { n.div_ceil(4) } else { n };
        let times = session.measure(params.iterations, |_| {
            session.launch(&kernel, args![&input, &output, count], &[round_up(items, group)], &[group])?;
            Ok(true)
        })?;
        let got = session.read(&output)?;
        Ok(Outcome {
            variant,
            size: format!("{n} floats, groups of {group}"),
            build: built.time,
            times,
            work: Some(Work::of_bytes(n * 8)),
            verdict: same(&got, &data, "floats"),
            answer: Answer::Exact(got),
            picture: None,
            chart: None,
            notes: Vec::new(),
        })
    }
}
