//! `reduce`: the sum of a large buffer, by trees of several shapes, down to a value a group or, in several passes, to
//! one value.

use crate::args;
use crate::cl::{Arg, Buffer, Session};
use crate::common::grid::Grid;
use crate::error::{Error, Result};
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Work, same};
use crate::random::Random;

pub struct Reduce;

const SOURCE: &str = include_str!("../../../kernels/reduce.cl");

/// The variants that add floats.
pub(crate) const FLOATS: [&str; 6] =
    ["tree_divergent", "tree_strided", "tree_contiguous", "twopass", "twopass4", "chunks"];

/// The numbers that the variants of whole numbers add.
pub(crate) fn input(n: usize) -> Vec<u32> {
    let mut random = Random::new(1);
    (0..n).map(|_| random.next() as u32).collect()
}

fn floats(session: &Session, params: &Params, variant: &'static str) -> Result<Outcome> {
    let (options, name) = Reduce::options(params, variant, Some(session))?;
    let (w, h) = params.size_or(4096, 4096)?;
    let n = w * h;
    let mut random = Random::new(64);
    // Small whole numbers of either sign: every sum of some of them is a float, so that the order of adding cannot
    // matter, and a number too many or too few is seen.
    let data: Vec<f32> = (0..n).map(|_| random.below(17) as f32 - 8.0).collect();
    let built = session.build("reduce", SOURCE, &options)?;
    let kernel = built.kernel(&name)?;
    let input = session.upload(&data)?;
    let tree = variant.starts_with("tree");
    let group = params.group_or(if variant == "chunks" { 16 } else { 256 })?;
    let groups = match params.number("groups", 0, 0..=1 << 20)? as usize {
        0 => session.found.units as usize * 16,
        n => n,
    };
    // Work-items of each pass, and the values that it leaves.
    let mut passes = Vec::new();
    if tree {
        // A tree of one work-item leaves what it takes.
        if group == 1 && n > 1 {
            return Err(Error::Params("groups of one add up nothing: choose a larger -tw".into()));
        }
        let mut left = n;
        while left > 1 || passes.is_empty() {
            left = left.div_ceil(group);
            passes.push((left * group, left));
        }
    } else {
        let values = if variant == "chunks" { groups * group } else { groups };
        passes.extend([(groups * group, values), (group, 1)]);
    }
    let outs: Vec<Buffer<f32>> = passes.iter().map(|&(_, left)| session.zeroed(left)).collect::<Result<_>>()?;
    // What a stretch a work-item leaves is added up the way of the other variants.
    let last = if tree { None } else { Some(built.kernel("reduce_twopass")?) };
    let times = session.measure(params.iterations, |_| {
        let (mut from, mut n) = (&input, n as u32);
        for (i, (out, &(items, left))) in outs.iter().zip(&passes).enumerate() {
            let kernel = last.as_ref().filter(|_| i == 1).unwrap_or(&kernel);
            if variant == "chunks" && i == 0 {
                session.launch(kernel, args![from, n, out], &[items], &[group])?;
            } else {
                session.launch(kernel, args![from, n, out, Arg::Local(group * 4)], &[items], &[group])?;
            }
            (from, n) = (out, left as u32);
        }
        Ok(true)
    })?;
    let got = match outs.last() {
        Some(out) => session.read(out)?,
        None => Vec::new(),
    };
    let left: Vec<usize> = passes.iter().map(|p| p.1).collect();
    Ok(Outcome {
        variant,
        size: format!("{n} floats, groups of {group}, values left after each pass {left:?}"),
        build: built.time,
        times,
        work: Some(Work::of_bytes(n * 4).computing(n as f64)),
        verdict: same(&got, &[data.iter().map(|&v| f64::from(v)).sum::<f64>() as f32], "sum"),
        answer: Answer::Exact(got.iter().map(|v| v.to_bits()).collect()),
        picture: None,
        chart: None,
        notes: Vec::new(),
    })
}

impl Reduce {
    fn options(params: &Params, variant: &str, session: Option<&Session>) -> Result<(String, String)> {
        params.only(&["groups"])?;
        Ok(match variant {
            "multipass" => (String::new(), "reduce_contiguous".into()),
            "workgroup" => {
                // For tools that only compile: where it is a feature, not what a device has.
                let std = session.map_or(Some("-cl-std=CL3.0"), Session::collective_functions).ok_or_else(|| {
                    Error::Unsupported("work_group_reduce: part of OpenCL C 2.0, optional in 3.0".into())
                })?;
                (format!("{std} -DCOLLECTIVE"), "reduce_workgroup".into())
            }
            "tile" => {
                let (tw, th) = params.tile_or(16, 16)?;
                (format!("-DTILE_W={tw} -DTILE_H={th}"), "reduce_tile".into())
            }
            v => (String::new(), format!("reduce_{v}")),
        })
    }
}

impl Program for Reduce {
    fn name(&self) -> &'static str {
        "reduce"
    }

    fn about(&self) -> &'static str {
        "the sum of a large buffer"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "contiguous", about: "a tree whose working items stay together" },
            Variant { name: "interleaved", about: "a tree whose working items move apart: divergent" },
            Variant { name: "multipass", about: "contiguous, pass after pass, down to one value" },
            Variant { name: "workgroup", about: "work_group_reduce_add" },
            Variant { name: "tile", about: "a two-dimensional tile a group" },
            Variant {
                name: "tree_divergent",
                about: "floats, trees of interleaved items that move apart, to one value",
            },
            Variant { name: "tree_strided", about: "the same places, by items that stay together" },
            Variant { name: "tree_contiguous", about: "floats, trees of contiguous items, to one value" },
            Variant { name: "twopass", about: "floats, read in step by some groups, then by one" },
            Variant { name: "twopass4", about: "the same, four floats at once" },
            Variant { name: "chunks", about: "floats, a stretch a work-item, 64 at once" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &["groups=0: groups of the first pass; 0 for sixteen a compute unit"]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        Reduce::options(params, self.variant(params)?, None)
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        if FLOATS.contains(&variant) {
            return floats(session, params, variant);
        }
        let (options, name) = Reduce::options(params, variant, Some(session))?;
        let (w, h) = params.size_or(4096, 4096)?;
        let data = input(w * h);
        let built = session.build("reduce", SOURCE, &options)?;
        let kernel = built.kernel(&name)?;
        let input = session.upload(&data)?;
        let group = params.group_or(64)?;
        let groups = match params.number("groups", 0, 0..=1 << 20)? as usize {
            0 => session.found.units as usize * 16,
            n => n,
        };
        let (times, size, got);
        if variant == "tile" {
            let grid = Grid::new(params, (w, h), (16, 16))?;
            let out = session.zeroed::<u32>(grid.groups().iter().product())?;
            times = session.measure(params.iterations, |_| {
                session.launch(&kernel, args![&input, w as u32, h as u32, &out], &grid.global(), &grid.local())?;
                Ok(true)
            })?;
            size = grid.size_text();
            got = session.read(&out)?;
        } else {
            // A pass leaves a value a group; one pass, or as many as it takes.
            let mut counts = vec![groups];
            while variant == "multipass" && *counts.last().unwrap_or(&1) > 1 {
                let left = counts[counts.len() - 1];
                counts.push((left / (group * 2)).max(1));
            }
            let outs: Vec<Buffer<u32>> = counts.iter().map(|&n| session.zeroed(n)).collect::<Result<_>>()?;
            times = session.measure(params.iterations, |_| {
                let (mut from, mut n) = (&input, data.len());
                for out in &outs {
                    let args = args![from, n as u32, out, Arg::Local(group * 4)];
                    session.launch(&kernel, args, &[out.len() * group], &[group])?;
                    (from, n) = (out, out.len());
                }
                Ok(true)
            })?;
            size = format!("{} numbers, groups of {group}, values left after each pass {counts:?}", w * h);
            got = match outs.last() {
                Some(out) => session.read(out)?,
                None => Vec::new(),
            };
        }
        let sum = |v: &[u32]| v.iter().fold(0u32, |a, &b| a.wrapping_add(b));
        Ok(Outcome {
            variant,
            size,
            build: built.time,
            times,
            work: Some(Work::of_bytes(w * h * 4)),
            // The host adds up what the last pass leaves, so that the verdict does not depend on the number of groups.
            verdict: same(&[sum(&got)], &[sum(&data)], "sum"),
            answer: Answer::Exact(vec![sum(&got)]),
            picture: None,
            chart: None,
            notes: Vec::new(),
        })
    }
}
