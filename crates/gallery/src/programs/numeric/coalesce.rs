//! `coalesce`: one is added to floats in memory. Which element a work-item takes decides how much memory moves: in
//! order, permuted, with ids the other way round, misaligned, with gaps, scattered, and records of three floats
//! directly and through local memory.

use crate::args;
use crate::cl::{Arg, Session, round_up};
use crate::error::Result;
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Work, same};
use crate::random::Random;

pub struct Coalesce;

const SOURCE: &str = include_str!("../../../kernels/coalesce.cl");

/// Groups of the variant with two dimensions: square.
const TILE: usize = 16;

/// Whether the variant adds to the element at all.
fn touched(variant: &str, i: usize) -> bool {
    match variant {
        "idle" => i % 8 != 3,
        "misaligned" => i > 0,
        "stride2" => i.is_multiple_of(2),
        _ => true,
    }
}

/// How many work-items the variant wants, before rounding up to whole groups.
fn items(variant: &str, n: usize) -> usize {
    match variant {
        // The permutation is within blocks of sixteen.
        "permuted" => round_up(n, 16),
        "stride2" => n.div_ceil(2),
        "float3" | "float3_local" => n.div_ceil(3),
        _ => n,
    }
}

impl Program for Coalesce {
    fn name(&self) -> &'static str {
        "coalesce"
    }

    fn about(&self) -> &'static str {
        "add one to floats, in order and out of it"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "in_order", about: "a work-item an element" },
            Variant { name: "idle", about: "every eighth work-item does nothing" },
            Variant { name: "permuted", about: "out of order inside sixteen elements" },
            Variant { name: "turned", about: "a row along dimension 1" },
            Variant { name: "misaligned", about: "off by one element" },
            Variant { name: "stride2", about: "every other element" },
            Variant { name: "scattered", about: "neighbours far apart" },
            Variant { name: "float3", about: "records of three floats, directly" },
            Variant { name: "float3_local", about: "records of three floats, through local memory" },
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        params.only(&[])?;
        Ok((String::new(), format!("coalesce_{}", self.variant(params)?)))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let (options, name) = self.build_options(params)?;
        let (w, h) = params.size_or(2048, 1536)?;
        let n = w * h;
        // No size has more elements than 32 bits count.
        let count = n as u32;
        let mut random = Random::new(3);
        let data: Vec<f32> = (0..n).map(|_| random.signed()).collect();
        let built = session.build("coalesce", SOURCE, &options)?;
        let kernel = built.kernel(&name)?;
        let buffer = session.upload(&data)?;
        let group = params.group_or(256)?;
        let (global, local) = match variant {
            // The range itself is what the kernel permutes: a power of two, in groups that divide it.
            "scattered" => {
                let group = 1 << group.ilog2();
                (n.next_power_of_two().max(group), group)
            }
            "turned" => (n, TILE * TILE),
            v => (round_up(items(v, n), group), group),
        };
        let times = session.measure(params.iterations, |_| {
            match variant {
                "float3_local" => {
                    session.launch(&kernel, args![&buffer, count, Arg::Local(local * 12)], &[global], &[local])?;
                }
                "turned" => {
                    let sizes = [round_up(h, TILE), round_up(w, TILE)];
                    session.launch(&kernel, args![&buffer, count, w as u32], &sizes, &[TILE, TILE])?;
                }
                _ => session.launch(&kernel, args![&buffer, count], &[global], &[local])?,
            };
            Ok(true)
        })?;
        // One addition is rounded the same everywhere.
        let mut want = data;
        for (_, v) in want.iter_mut().enumerate().filter(|(i, _)| touched(variant, *i)) {
            (0..params.iterations).for_each(|_| *v += 1.0);
        }
        let got = session.read(&buffer)?;
        let useful = (0..n).filter(|&i| touched(variant, i)).count();
        Ok(Outcome {
            variant,
            size: format!("{n} floats, groups of {local}"),
            build: built.time,
            times,
            work: Some(Work::of_bytes(useful * 8).computing(useful as f64)),
            verdict: same(&got, &want, "floats"),
            answer: Answer::Exact(got.iter().map(|v| v.to_bits()).collect()),
            picture: None,
            chart: None,
            notes: Vec::new(),
        })
    }
}
