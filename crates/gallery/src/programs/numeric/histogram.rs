//! `histogram`: 256 bins of 8-bit pixels, after the case study of "Heterogeneous Computing with OpenCL". Its four
//! stages show what reading, counting, and the two reductions cost; every stage's result can be checked.

use crate::args;
use crate::chart::{Chart, Series};
use crate::cl::{Session, Times};
use crate::error::Result;
use crate::inputs;
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Verdict, Work, same};
use crate::random::Random;
use std::time::Duration;

pub struct Histogram;

const SOURCE: &str = include_str!("../../../kernels/histogram.cl");
const BINS: usize = 256;

/// What a run counts, and how.
struct Setup {
    pixels: Vec<u8>,
    stage: u32,
    banks: u32,
    serial: bool,
    alone: bool,
    group: usize,
    groups: usize,
}

/// The pixels.
pub(crate) fn input(params: &Params, (w, h): (usize, usize)) -> Result<Vec<u8>> {
    Ok(match params.choice("input", &["picture", "random", "uniform"])? {
        "random" => {
            let mut random = Random::new(256);
            (0..(w * h).div_ceil(8)).flat_map(|_| random.next().to_le_bytes()).take(w * h).collect()
        }
        "uniform" => vec![77; w * h],
        _ => inputs::picture(&Params { size: Some((w, h)), ..params.clone() })?.luma(),
    })
}

impl Setup {
    fn of(params: &Params, variant: &str, units: usize) -> Result<Setup> {
        params.only(&["stage", "banks", "input", "items", "sweep"])?;
        let (w, h) = params.size_or(4096, 4096)?;
        let pixels = input(params, (w, h))?;
        let alone = variant == "alone";
        let group = if alone { 1 } else { params.group_or(64)? };
        let groups = match params.number("items", 0, 0..=1 << 24)? as usize {
            0 => units * 8,
            items => items.div_ceil(group),
        };
        Ok(Setup {
            pixels,
            // A table of one's own is counted whole.
            stage: params.number("stage", 4, 1..=4)?.max(if alone { 3 } else { 1 }),
            banks: params.number("banks", 4, 1..=16)?,
            serial: variant == "serial",
            alone,
            group,
            groups,
        })
    }

    fn kernel(&self) -> &'static str {
        if self.alone { "histogram_alone" } else { "histogram_count" }
    }

    fn options(&self) -> String {
        format!("-DSTAGE={} -DBANKS={} -DSERIAL={}", self.stage, self.banks, u32::from(self.serial))
    }
}

fn reference(pixels: &[u8]) -> Vec<u32> {
    let mut bins = vec![0u32; BINS];
    pixels.iter().for_each(|&p| bins[usize::from(p)] += 1);
    bins
}

/// The results of the stages, checked against the pixels and reduced to a form that does not depend on the number of
/// groups.
fn verify(setup: &Setup, partial: &[u32], merged: &[u32]) -> (Verdict, Vec<u32>) {
    let want = reference(&setup.pixels);
    let sum = |v: &mut dyn Iterator<Item = u32>| v.fold(0u32, u32::wrapping_add);
    match setup.stage {
        1 => {
            // The kernel adds whole words of what it reads as uint4, and single bytes after the last one.
            let words = setup.pixels.chunks_exact(16);
            let tail = sum(&mut words.remainder().iter().map(|&b| u32::from(b)));
            let whole = &setup.pixels[..setup.pixels.len() / 16 * 16];
            let words = sum(&mut whole.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])));
            let got = sum(&mut partial.iter().copied());
            (same(&[got], &[words.wrapping_add(tail)], "sum of all that was read"), vec![got])
        }
        2 => {
            // A stage that only counts leaves two sums a work-item: its counts, and its counts times their bins.
            let got = [0, 1].map(|k| sum(&mut partial.iter().skip(k).step_by(2).copied()));
            let weighted = sum(&mut setup.pixels.iter().map(|&p| u32::from(p)));
            (same(&got, &[setup.pixels.len() as u32, weighted], "sums over the counters"), got.to_vec())
        }
        3 => {
            let got: Vec<u32> = (0..BINS).map(|b| sum(&mut partial.iter().skip(b).step_by(BINS).copied())).collect();
            (same(&got, &want, "bins"), got)
        }
        _ => (same(merged, &want, "bins"), merged.to_vec()),
    }
}

struct Ran {
    build: Duration,
    times: Times,
    verdict: Verdict,
    answer: Vec<u32>,
}

fn run_one(session: &Session, setup: &Setup, iterations: u32) -> Result<Ran> {
    let built = session.build("histogram", SOURCE, &setup.options())?;
    let count = built.kernel(setup.kernel())?;
    let merge = built.kernel("histogram_merge")?;
    // Whole uint4 elements; the kernel is told how many bytes of the last one count.
    let mut padded = setup.pixels.clone();
    padded.resize(setup.pixels.len().next_multiple_of(16), 0);
    let data = session.upload(&padded)?;
    let items = setup.group * setup.groups;
    let partial = session.zeroed::<u32>(match setup.stage {
        1 => items,
        2 => items * 2,
        _ => setup.groups * BINS,
    })?;
    let merged = session.zeroed::<u32>(BINS)?;
    let times = session.measure(iterations, |_| {
        session.launch(&count, args![&data, setup.pixels.len() as u32, &partial], &[items], &[setup.group])?;
        if setup.stage == 4 {
            session.launch(&merge, args![&partial, setup.groups as u32, &merged], &[BINS], &[])?;
        }
        Ok(true)
    })?;
    let (verdict, answer) = verify(setup, &session.read(&partial)?, &session.read(&merged)?);
    Ok(Ran { build: built.time, times, verdict, answer })
}

impl Program for Histogram {
    fn name(&self) -> &'static str {
        "histogram"
    }

    fn about(&self) -> &'static str {
        "how often each brightness occurs"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "strided", about: "work-items side by side read side by side" },
            Variant { name: "serial", about: "each work-item reads a stretch of its own" },
            Variant { name: "alone", about: "the same, in groups of one, with plain counters" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "stage=4: 1 only read, 2 count in local memory, 3 add up the banks, 4 add up the groups",
            "banks=4: copies of each bin, 1 to 16",
            "input=picture|random|uniform: the pixels",
            "items=0: work-items in all; 0 for eight groups a compute unit",
            "sweep=none|items|banks: measure a range of it, the picture is the plot",
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        // The options do not depend on the size: tools that only compile need no large picture.
        let small = Params { size: Some((16, 16)), ..params.clone() };
        let setup = Setup::of(&small, self.variant(params)?, 1)?;
        Ok((setup.options(), setup.kernel().into()))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let units = session.found.units as usize;
        let mut setup = Setup::of(params, variant, units)?;
        let sweep = params.choice("sweep", &["none", "items", "banks"])?;
        let input = params.choice("input", &["picture", "random", "uniform"])?;
        let ran = run_one(session, &setup, params.iterations)?;
        let mut notes = Vec::new();
        let mut verdict = ran.verdict;
        // The first stages know no bins: the picture is the reference's then.
        let shown = if setup.stage < 3 { reference(&setup.pixels) } else { ran.answer.clone() };
        let bins: Vec<f64> = shown.iter().map(|&b| f64::from(b)).collect();
        let mut chart = Chart {
            x: "value of a pixel".into(),
            y: "pixels".into(),
            places: (0..bins.len()).map(|i| i.to_string()).collect(),
            series: vec![Series::new(input, 0, &bins)],
            bars: true,
        };
        if sweep != "none" {
            // Two lines: the other way to read for `items`, the other extreme of data for `banks`.
            let steps: Vec<u32> = if sweep == "items" { (0..10).map(|i| 1 << i).collect() } else { (1..=16).collect() };
            let mut series = [Vec::new(), Vec::new()];
            for (line, rates) in series.iter_mut().enumerate() {
                for &step in &steps {
                    if sweep == "items" {
                        let way = ["strided", "serial"][line];
                        let config = format!("stage={},banks={},input={input}", setup.stage, setup.banks);
                        setup = Setup::of(&Params { config, ..params.clone() }, way, units)?;
                        setup.groups = step as usize;
                    } else {
                        let input = ["random", "uniform"][line];
                        let config = format!("stage={},input={input}", setup.stage);
                        setup = Setup::of(&Params { config, ..params.clone() }, variant, units)?;
                        setup.banks = step;
                    }
                    let ran = run_one(session, &setup, params.iterations)?;
                    if let Verdict::Failed(why) = ran.verdict {
                        verdict = Verdict::Failed(why);
                        continue;
                    }
                    let rate = setup.pixels.len() as f64 / ran.times.median().as_secs_f64() / 1e9;
                    rates.push(rate);
                    let what = match (sweep, line) {
                        ("items", 0) => "strided",
                        ("items", _) => "serial",
                        (_, 0) => "random",
                        _ => "uniform",
                    };
                    let x = if sweep == "items" { setup.group * setup.groups } else { setup.banks as usize };
                    notes.push(format!("{what}, {sweep} {x}: {rate:.2} GB/s"));
                }
            }
            let (x, names) = match sweep {
                "items" => ("work-items", ["strided", "serial"]),
                _ => ("copies of each counter", ["random", "uniform"]),
            };
            let items = |step: u32| setup.group * step as usize;
            let place = |&step: &u32| if sweep == "items" { items(step) } else { step as usize }.to_string();
            chart = Chart {
                x: x.into(),
                y: "GB/s".into(),
                places: steps.iter().map(place).collect(),
                series: (0..2).map(|i| Series::new(names[i], i, &series[i])).collect(),
                bars: false,
            };
        }
        Ok(Outcome {
            variant,
            size: format!(
                "{} pixels, {} groups of {}, {} banks, stage {}",
                setup.pixels.len(),
                setup.groups,
                setup.group,
                setup.banks,
                setup.stage
            ),
            build: ran.build,
            times: ran.times,
            work: Some(Work::of_bytes(setup.pixels.len())),
            verdict,
            answer: Answer::Exact(ran.answer),
            picture: None,
            chart: Some(chart),
            notes,
        })
    }
}
