//! `bank`: reads of local memory with a stride between neighbours, permuted, and all of one word: the effect of a GPU's
//! banks, compared with a CPU, which has none.

use crate::args;
use crate::chart::{Chart, Series};
use crate::cl::{Session, Times, round_up};
use crate::error::Result;
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Verdict, Work, same};
use crate::random::Random;
use std::time::Duration;

pub struct Bank;

const SOURCE: &str = include_str!("../../../kernels/bank.cl");
/// Words of local memory.
const WORDS: usize = 2048;
/// Reads a work-item.
const ROUNDS: usize = 64;
/// The largest stride.
const LARGEST: u32 = 33;

fn options(stride: u32) -> String {
    format!("-DWORDS={WORDS} -DROUNDS={ROUNDS} -DSTRIDE={stride}")
}

/// How many of `items` neighbours ask the bank that is asked most, where `banks` consecutive words are in different
/// banks.
fn conflicts(stride: u32, banks: u32, items: u32) -> usize {
    let mut asked = vec![0; banks as usize];
    (0..items).for_each(|l| asked[(l * stride % banks) as usize] += 1);
    asked.into_iter().max().unwrap_or(0)
}

/// What work-item `l` of a group computes.
fn reference(variant: &str, words: &[u32], stride: u32, l: usize) -> u32 {
    let first = match variant {
        "strided" => l * stride as usize,
        "permuted" => l / 16 * 16 + (l * 5 + 3) % 16,
        _ => 0,
    };
    // Multiplied by three before each addition, so that reads in the wrong order give another number.
    let sum = (0..ROUNDS).fold(0u32, |sum, r| sum.wrapping_mul(3).wrapping_add(words[(first + r * 17) % WORDS]));
    if variant == "broadcast" { sum.wrapping_add(l as u32) } else { sum }
}

struct Ran {
    build: Duration,
    times: Times,
    verdict: Verdict,
    got: Vec<u32>,
}

fn run_one(session: &Session, params: &Params, (variant, stride): (&str, u32), n: usize, group: usize) -> Result<Ran> {
    let mut random = Random::new(33);
    let words: Vec<u32> = (0..WORDS).map(|_| random.next() as u32).collect();
    let built = session.build("bank", SOURCE, &options(stride))?;
    let kernel = built.kernel(&format!("bank_{variant}"))?;
    let (input, output) = (session.upload(&words)?, session.zeroed::<u32>(n)?);
    let times = session.measure(params.iterations, |_| {
        session.launch(&kernel, args![&input, n as u32, &output], &[round_up(n, group)], &[group])?;
        Ok(true)
    })?;
    // Every group computes the same.
    let of_group: Vec<u32> = (0..group).map(|l| reference(variant, &words, stride, l)).collect();
    let want: Vec<u32> = of_group.iter().copied().cycle().take(n).collect();
    let got = session.read(&output)?;
    Ok(Ran { build: built.time, times, verdict: same(&got, &want, "sums"), got })
}

impl Program for Bank {
    fn name(&self) -> &'static str {
        "bank"
    }

    fn about(&self) -> &'static str {
        "reads of local memory with a stride"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "strided", about: "neighbours read words a stride apart" },
            Variant { name: "permuted", about: "the words of sixteen neighbours, out of order" },
            Variant { name: "broadcast", about: "all read the same word" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &["stride=1: words between neighbours of strided, 1 to 33; 0 measures all of them and draws the curve"]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        params.only(&["stride"])?;
        let stride = params.number("stride", 1, 0..=LARGEST)?.max(1);
        Ok((options(stride), format!("bank_{}", self.variant(params)?)))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        params.only(&["stride"])?;
        let stride = params.number("stride", 1, 0..=LARGEST)?;
        let strides = if stride == 0 && variant == "strided" { (1..=LARGEST).collect() } else { vec![stride.max(1)] };
        let (w, h) = params.size_or(1024, 1024)?;
        let n = w * h;
        let group = params.group_or(256)?;
        let (mut notes, mut rates) = (Vec::new(), Vec::new());
        let mut ran = run_one(session, params, (variant, strides[0]), n, group)?;
        for (i, &stride) in strides.iter().enumerate() {
            if i > 0 {
                ran = run_one(session, params, (variant, stride), n, group)?;
            }
            if matches!(ran.verdict, Verdict::Failed(_)) {
                break;
            }
            let rate = (n * ROUNDS) as f64 / ran.times.median().as_secs_f64() / 1e9;
            rates.push(rate);
            if variant == "strided" {
                let (half, whole) = (conflicts(stride, 16, 16), conflicts(stride, 32, 32));
                notes.push(format!("stride {stride}: {rate:.2} Gread/s; conflicts on 16 banks {half}, on 32 {whole}"));
            }
        }
        let last = strides[strides.len() - 1];
        Ok(Outcome {
            variant,
            size: format!("{n} work-items of {ROUNDS} reads, stride {last}, groups of {group}"),
            build: ran.build,
            times: ran.times,
            work: Some(Work::new((n * ROUNDS) as f64, "read").moving(n * 4)),
            verdict: ran.verdict,
            answer: Answer::Exact(ran.got),
            picture: None,
            chart: (rates.len() > 1).then(|| Chart {
                x: "stride, words".into(),
                y: "Gread/s".into(),
                places: strides.iter().map(u32::to_string).collect(),
                series: vec![Series::new(variant, 0, &rates)],
                bars: false,
            }),
            notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_of_two_conflicts_and_an_odd_stride_does_not() {
        assert_eq!([1, 2, 3, 16, 17].map(|s| conflicts(s, 16, 16)), [1, 2, 1, 16, 1]);
        assert_eq!([1, 2, 16, 32, 33].map(|s| conflicts(s, 32, 32)), [1, 2, 16, 32, 1]);
    }
}
