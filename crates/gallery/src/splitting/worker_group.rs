//! Several devices that work on one thing: which ones, and what each did when.
//!
//! The devices may be of several platforms, or parts of one. Each has a session of its own; those of one platform share
//! a context.

use crate::cl::queue::{Done, Queue};
use crate::cl::{Choice, Part, Session, devices, of_platform};
use crate::error::{Error, Result};
use crate::params::Params;
use std::time::{Duration, Instant};

/// The knob that names the devices.
pub(crate) const KNOB: &str = "devices=own/2: those that share the work, joined by +: own, or PLATFORM or \
                               PLATFORM:DEVICE; /N for N equal parts of it";
/// More devices than this are refused.
const MAX_DEVICES: usize = 64;
/// Characters of a line of the trace.
const COLUMNS: usize = 72;

/// The devices of a run.
pub(crate) struct WorkerGroup {
    pub members: Vec<Session>,
}

impl WorkerGroup {
    /// The devices that `devices=` names, each one or so many equal parts of it; without it, the session's own in two.
    pub fn open(session: &Session, params: &Params) -> Result<WorkerGroup> {
        let text = params.text("devices").unwrap_or("own/2");
        let bad = |why: String| Error::Params(format!("-c devices={text}: {why}"));
        let mut members = Vec::new();
        for part in text.split('+') {
            let (name, count) = match part.rsplit_once('/') {
                Some((name, count)) => (name, count.parse().ok().filter(|n| (1..=MAX_DEVICES).contains(n))),
                None => (part, Some(1)),
            };
            let count =
                count.ok_or_else(|| bad(format!("`{part}`: give a number of parts from 1 to {MAX_DEVICES}")))?;
            if name == "own" {
                members.extend(Part::of(&session.found, count)?);
            } else {
                let (platform, device) = name.split_once(':').map_or((name, None), |(p, d)| (p, Some(d)));
                if of_platform(&devices()?, platform).is_empty() {
                    return Err(bad(format!("no platform `{platform}`; `cloom info` lists them")));
                }
                let choice = Choice { platform: Some(platform.to_owned()), device: device.map(str::to_owned) };
                members.extend(Part::of(&choice.found()?, count)?);
            }
        }
        if members.len() > MAX_DEVICES {
            return Err(bad(format!("{} devices; take at most {MAX_DEVICES}", members.len())));
        }
        Ok(WorkerGroup { members: Session::together(members)? })
    }

    /// As a note: which device has how many of these units.
    pub fn reports(&self, split: &[usize], units: &str) -> Vec<String> {
        let line = |(member, count): (&Session, &usize)| {
            format!("{}, {}: {count} {units}", member.found.platform, member.found.device)
        };
        self.members.iter().zip(split).map(line).collect()
    }
}

/// What a member's clock must be advanced by to show the host's: each device has its own.
pub(crate) fn clock(queue: &Queue<'_>, probe: impl Fn() -> Result<Done>, epoch: Instant) -> Result<i64> {
    let mut nearest: Option<(Duration, i64)> = None;
    for _ in 0..5 {
        let start = epoch.elapsed();
        let done = probe()?;
        queue.finish()?;
        let end = epoch.elapsed();
        let offset = end.as_nanos() as i64 - done.span()?.1.as_nanos() as i64;
        // The quickest answer tells best.
        if nearest.is_none_or(|(took, _)| end - start < took) {
            nearest = Some((end - start, offset));
        }
    }
    Ok(nearest.map_or(0, |(_, offset)| offset))
}

/// What a device did for a while, in nanoseconds of the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub member: usize,
    /// `#` for a kernel, `<` for a halo on its way here, from when its elements have been computed.
    pub what: char,
    pub start: i64,
    pub end: i64,
}

/// The share of the time of halos on their way in which the device that gets them computes: it does not wait then.
pub(crate) fn hidden(spans: &[Span]) -> Option<f64> {
    let (mut total, mut covered) = (0, 0);
    for t in spans.iter().filter(|s| s.what == '<') {
        total += t.end - t.start;
        let mut kernels: Vec<&Span> = spans.iter().filter(|k| k.what == '#' && k.member == t.member).collect();
        kernels.sort_by_key(|k| k.start);
        let mut from = t.start;
        for k in kernels {
            covered += (k.end.min(t.end) - k.start.max(from)).max(0);
            // Kernels may overlap; no moment counts twice.
            from = from.max(k.end.min(t.end));
        }
    }
    (total > 0).then(|| covered as f64 / total as f64)
}

/// A line for the kernels of each device, one for its transfers, over the time from the first to the last command.
pub(crate) fn trace(spans: &[Span]) -> Vec<String> {
    let (Some(first), Some(last)) = (spans.iter().map(|s| s.start).min(), spans.iter().map(|s| s.end).max()) else {
        return Vec::new();
    };
    let column = |t: i64| ((t - first) as usize * COLUMNS / (last - first).max(1) as usize).min(COLUMNS - 1);
    let members = spans.iter().map(|s| s.member).max().unwrap_or_default();
    let mut lines =
        vec![format!("{} us of the last iteration; # a kernel, < a halo on its way:", (last - first) / 1000)];
    for member in 0..=members {
        for (title, of_line) in [("kernels", "#"), ("halos", "<")] {
            let mut line = vec![' '; COLUMNS];
            for s in spans.iter().filter(|s| s.member == member && of_line.contains(s.what)) {
                line[column(s.start)..=column(s.end)].fill(s.what);
            }
            if line.iter().any(|c| *c != ' ') {
                lines.push(format!("{member} {title:<8}|{}|", line.into_iter().collect::<String>()));
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_beside_a_kernel_is_hidden() {
        let span = |what, start, end| Span { member: 0, what, start, end };
        assert_eq!(hidden(&[span('#', 0, 10)]), None);
        assert_eq!(hidden(&[span('#', 0, 10), span('<', 5, 15)]), Some(0.5));
        assert_eq!(hidden(&[span('#', 0, 10), span('#', 8, 12), span('<', 0, 20)]), Some(0.6));
        let lines = trace(&[span('#', 0, 1000), span('<', 500, 1000)]);
        assert_eq!(lines.len(), 3);
        assert!(lines[2].contains("<<<") && !lines[2].contains('#'), "{lines:?}");
        assert!(trace(&[]).is_empty());
    }
}
