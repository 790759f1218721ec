//! `occupancy`: how many work-groups a compute unit has in flight, against what each of them takes of its local memory
//! and of its registers. A GPU keeps as many groups as both allow, and hides the latency of one behind the others; a
//! CPU runs one group a thread, whatever it takes.
//!
//! Devices differ in what they have, and so the sweep does. The time of the whole is that of its last point that every
//! device has.
//!
//! The number is measured, not computed from tables of a vendor: the groups count themselves. What limits it follows
//! from the sweep: the resource whose growth lowers the count.

use crate::args;
use crate::chart::{Chart, Series};
use crate::cl::{Arg, Session, Times};
use crate::common::threads;
use crate::error::{Error, Result};
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Verdict, Work, same};
use std::time::Duration;

pub struct Occupancy;

const SOURCE: &str = include_str!("../../../kernels/occupancy.cl");

/// Numbers that a work-item holds where the sweep is not over them.
const LIVE_NUMBERS: u32 = 4;
/// Operations of a work-item, whatever it holds.
const OPERATIONS: u32 = 1 << 13;
/// Bytes of local memory that every device of the full profile has.
const LEAST_LOCAL: usize = 32 << 10;
/// A count that falls below this share of the largest one is limited by what the sweep raises.
const LIMITED: f64 = 0.9;

/// What a group takes at one point of the sweep.
#[derive(Clone, Copy)]
struct Point {
    /// Bytes of local memory.
    local: usize,
    /// Numbers a work-item keeps.
    live: u32,
}

impl Point {
    fn rounds(self) -> u32 {
        OPERATIONS / self.live
    }

    fn words(self) -> u32 {
        (self.local / 4) as u32
    }

    fn options(self) -> String {
        format!("-DLIVE={}", self.live)
    }
}

/// The points: powers of two from a small one up to what the device has or a compiler still keeps in registers.
fn sweep(variant: &str, least: usize, most: usize) -> Vec<Point> {
    let up = |from: usize, to: usize| (0..usize::BITS).map(move |k| from << k).take_while(move |&n| n <= to);
    match variant {
        "local" => up(least, most).map(|local| Point { local, live: LIVE_NUMBERS }).collect(),
        _ => up(2, 128).map(|live| Point { local: least, live: live as u32 }).collect(),
    }
}

/// The last point that all devices have.
fn last_of_all_devices(points: &[Point]) -> usize {
    points.iter().rposition(|point| point.local <= LEAST_LOCAL).unwrap_or(0)
}

/// What a work-item of the reference computes.
fn reference(i: u32, point: Point) -> u32 {
    let (live, words) = (point.live as usize, point.words());
    let mut v: Vec<u32> = (0..point.live).map(|k| i.wrapping_mul(point.live).wrapping_add(k)).collect();
    let mut at = i % words;
    for _ in 0..point.rounds() {
        let first = v[0];
        for k in 0..live {
            let next = if k + 1 < live { v[k + 1] } else { first };
            // Each number depends on the next one, so that a compiler must keep all of them at once.
            v[k] = v[k].wrapping_mul(1_664_525).wrapping_add(next);
        }
        at = at.wrapping_mul(2_654_435_761).wrapping_add(v[0]) % words;
    }
    v.iter().fold(at, |sum, &v| sum.wrapping_add(v))
}

/// A point's outcome.
struct Ran {
    most: i32,
    build: Duration,
    times: Times,
    verdict: Verdict,
    got: Vec<u32>,
}

fn run_one(session: &Session, params: &Params, point: Point, items: usize, group: usize) -> Result<Ran> {
    let built = session.build("occupancy", SOURCE, &point.options())?;
    let kernel = built.kernel("occupancy")?;
    let output = session.zeroed::<u32>(items)?;
    let (running, most) = (session.zeroed::<i32>(1)?, session.zeroed::<i32>(1)?);
    let times = session.measure(params.iterations, |_| {
        let local = Arg::Local(point.local);
        let args = args![&output, &running, &most, point.rounds(), local, point.words()];
        session.launch(&kernel, args, &[items], &[group])?;
        Ok(true)
    })?;
    let (got, most) = (session.read(&output)?, session.read(&most)?[0]);
    let mut want = vec![0u32; items];
    threads::rows(&mut want, group, threads::count(), |g, row| {
        row.iter_mut().enumerate().for_each(|(l, v)| *v = reference((g * group + l) as u32, point));
    });
    let mut verdict = same(&got, &want, "results");
    let groups = (items / group) as i32;
    // Every group that entered has left again, and at least one was counted.
    if !(1..=groups).contains(&most) || session.read(&running)?[0] != 0 {
        verdict = Verdict::Failed(format!("{most} of {groups} groups in flight"));
    }
    Ok(Ran { most, build: built.time, times, verdict, got })
}

impl Program for Occupancy {
    fn name(&self) -> &'static str {
        "occupancy"
    }

    fn about(&self) -> &'static str {
        "groups in flight, by what a group takes"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "local", about: "more and more local memory a group" },
            Variant { name: "registers", about: "more and more numbers that a work-item keeps" },
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        params.only(&[])?;
        self.variant(params)?;
        Ok((Point { local: 4, live: LIVE_NUMBERS }.options(), "occupancy".into()))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        self.build_options(params)?;
        let group = params.group_or(64)?;
        let units = session.found.units.max(1) as usize;
        // As many groups as a unit of a GPU takes at once, and one more wave of them.
        let items = params.size.map_or(Ok(units * 64 * group), |_| params.size_or(1, 1).map(|(w, h)| w * h))?;
        let items = items.div_ceil(group) * group;
        session.fits::<u32>(items)?;
        let points = sweep(variant, 1024.min(session.found.local_memory as usize), session.found.local_memory as usize);
        let mut ran: Vec<Ran> = Vec::new();
        for &point in &points {
            ran.push(run_one(session, params, point, items, group)?);
            // The outcome is then that of the point that failed.
            if matches!(ran.last().map(|r| &r.verdict), Some(Verdict::Failed(_))) {
                break;
            }
        }
        let a_unit: Vec<f64> = ran.iter().map(|r| f64::from(r.most) / units as f64).collect();
        let most = a_unit.iter().copied().fold(0.0, f64::max);
        let name = |p: Point| match variant {
            "local" => format!("{} KiB", p.local as f64 / 1024.0),
            _ => p.live.to_string(),
        };
        let notes = ran.iter().zip(&points).zip(&a_unit).map(|((ran, &point), in_flight)| {
            let limiter = match (variant, *in_flight < most * LIMITED) {
                ("local", true) => "local memory",
                (_, true) => "registers",
                _ if session.found.kind == "CPU" => "threads: one group each",
                _ => "groups and work-items a unit",
            };
            let rate = items as f64 * f64::from(OPERATIONS) / ran.times.median().as_secs_f64() / 1e9;
            format!("{}: {in_flight:.2} groups a unit, {rate:.1} Gop/s; limit: {limiter}", name(point))
        });
        let notes = notes.collect();
        let chart = Chart {
            x: if variant == "local" { "local memory a group" } else { "numbers that a work-item keeps" }.into(),
            y: format!("groups in flight a compute unit, of {group} work-items"),
            places: points.iter().map(|&p| name(p)).collect(),
            series: vec![Series::new(variant, 0, &a_unit)],
            bars: true,
        };
        let told = match ran.iter().position(|ran| matches!(ran.verdict, Verdict::Failed(_))) {
            Some(failed) => failed,
            None => last_of_all_devices(&points),
        };
        let told =
            ran.into_iter().nth(told).ok_or_else(|| Error::Unsupported("the device has no local memory".into()))?;
        Ok(Outcome {
            variant,
            size: format!("{} groups of {group} on {units} compute units", items / group),
            build: told.build,
            times: told.times,
            work: Some(Work::new(items as f64 * f64::from(OPERATIONS), "operation")),
            verdict: told.verdict,
            answer: Answer::Exact(told.got),
            picture: None,
            chart: Some(chart),
            notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_doubles_up_to_what_the_device_has() {
        let local: Vec<usize> = sweep("local", 1024, 49_152).iter().map(|p| p.local).collect();
        assert_eq!(local, [1024, 2048, 4096, 8192, 16384, 32768]);
        // A GPU that has more is compared by the same point.
        for most in [49_152, 232_448] {
            let points = sweep("local", 1024, most);
            assert_eq!(points[last_of_all_devices(&points)].local, 32768);
        }
        let points = sweep("registers", 1024, 0);
        assert_eq!(points[last_of_all_devices(&points)].live, 128);
        assert!(sweep("registers", 1024, 49_152).iter().all(|p| p.local == 1024 && p.rounds() * p.live == OPERATIONS));
    }
}
