//! Which resource binds: a port model of the launches of an iteration.
//!
//! In come the operations that an iteration executes, by class ([`super::counting`]), and how many of each class all
//! threads together do in a second, measured in this run ([`cloom_gallery::ports`]). Out goes a floor for each
//! resource, the time that its operations take at least; the largest floor *binds*:
//!
//! ```text
//! floor(class) = sum over launches and widths: operations / min(rate on all threads, groups * rate on one thread)
//! ```
//!
//! Memory is a resource by the bytes that the iteration cannot do without, at the rate of a copy of that footprint,
//! named after the cache that holds it; launches are one by the time of an empty kernel. If no floor explains half of
//! the time, the time goes to *latency*: chains of operations that wait for each other, mispredicted branches, misses
//! of caches. The model is that of a processor's optimisation manual and of llvm-mca, with two differences: the
//! counts are exact, and the rates are measured.

use super::counting::{Counter, Launched};
use super::worker::Request;
use crate::outcome::Failure;
use cloom_gallery::ports::{self, Port};
use cloom_gallery::{Case, Found, Session};
use cloom_target::ops::Op;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Repetitions and groups that are counted: enough that what is around the loop does not matter.
const COUNTED: (usize, usize) = (2, 200);
/// Groups for each thread when all are busy.
const GROUPS: usize = 16;
/// Launches of a loop, of which the shortest counts.
const ATTEMPTS: u32 = 12;
/// Below this part of the time, a floor does not explain it.
const EXPLAINS: f64 = 0.5;

/// Operations a second.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Rates {
    threads: u64,
    /// Of one thread, by operation.
    one: BTreeMap<Op, f64>,
    /// Of all threads together.
    all: BTreeMap<Op, f64>,
    /// Seconds of an empty launch.
    launch: f64,
}

/// What binds a measurement.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Bound {
    /// The resource with the largest floor: a class of operations, `L1` to `memory`, or `launch`.
    pub resource: String,
    /// Its floor.
    pub floor_ms: f64,
    /// The floor through the time: how much of it the resource explains.
    pub part: f64,
    /// The resource, or `latency` if it explains less than half of the time.
    pub what: String,
    /// All floors, in milliseconds.
    pub floors: BTreeMap<String, f64>,
}

fn raise(rates: &mut BTreeMap<Op, f64>, op: Op, rate: f64) {
    let known = rates.entry(op).or_default();
    *known = known.max(rate);
}

/// The shortest launch of a loop.
fn shortest(session: &Session, port: &Port, groups: usize, repeat: u32) -> Result<Duration, Failure> {
    let times = ports::run(session, port, groups, repeat, ATTEMPTS)?.times;
    // A platform that does not clock a launch leaves zero as its time. As one zero would be the shortest time, all of
    // them are taken from the other clock then.
    let clock = if times.device.iter().any(Duration::is_zero) { times.wall } else { times.device };
    Ok(clock.into_iter().min().unwrap_or_default())
}

impl Rates {
    /// Measures them with a driver's device.
    pub fn measured(found: &Found, counter: &mut Counter) -> Result<Rates, Failure> {
        let session = Session::on(found)?;
        let threads = found.units.max(1) as usize;
        let mut rates = Rates { threads: threads as u64, ..Rates::default() };
        let (groups, repeat) = COUNTED;
        for port in ports::all() {
            // A loop that the machine cannot run has no rate; others of its class have.
            let launches = match counter.count(&Request::port(&port, groups, repeat)) {
                Ok(launches) => launches,
                Err(why) => {
                    crate::outcome::tell(format_args!("no rate of the loop `{}`: {why}", port.name));
                    continue;
                }
            };
            // The counted launch is small and the timed ones are large. What a loop executes grows with groups and
            // repetitions, so the counts are scaled.
            let per_repetition = 1.0 / (groups * repeat) as f64;
            for (groups, repeat) in [(1, port.repeat * 2), (threads * GROUPS, port.repeat)] {
                let time = shortest(&session, &port, groups, repeat)?.as_secs_f64();
                let scale = per_repetition * groups as f64 * f64::from(repeat) / time;
                let known = if groups == 1 { &mut rates.one } else { &mut rates.all };
                for (&op, &n) in launches.iter().flat_map(|l| &l.ops.0) {
                    // A loop also executes operations that it is not about, such as the additions of its counter, at a
                    // low rate. The loop that does the most of a class in a second gives its rate.
                    raise(known, op, n as f64 * scale);
                }
            }
        }
        rates.launch = shortest(&session, &ports::empty(), threads, 1)?.as_secs_f64();
        Ok(rates)
    }

    /// The rate of operations that so many threads share. A core does at least as many narrow operations as wide ones;
    /// a width that no loop has goes by the widest one.
    fn of(&self, op: Op, groups: u64) -> Option<f64> {
        let find = |rates: &BTreeMap<Op, f64>| {
            let class = || rates.iter().filter(|(o, rate)| o.class == op.class && **rate > 0.0);
            // For example a `load8`, of which no loop was measured, takes the best rate of all wider loads; a width
            // above all that were measured takes the rate of the widest.
            let widest = class().map(|(o, _)| o.bytes).max()?;
            let at_least = class().filter(|(o, _)| o.bytes >= op.bytes.min(widest));
            at_least.map(|(_, rate)| *rate).reduce(f64::max)
        };
        let (one, all) = (find(&self.one)?, find(&self.all)?);
        // One thread of a core that several share is faster alone.
        Some(if groups >= self.threads { all } else { (one * groups.max(1) as f64).min(all.max(one)) })
    }

    /// The floors of launches, in milliseconds.
    fn floors(&self, launches: &[Launched]) -> BTreeMap<String, f64> {
        let mut floors = BTreeMap::new();
        for launch in launches {
            for (&op, &n) in &launch.ops.0 {
                if let Some(rate) = self.of(op, launch.groups) {
                    *floors.entry(op.class.name().to_owned()).or_insert(0.0) += n as f64 / rate * 1e3;
                }
            }
        }
        // Launches of one iteration follow each other, so each of them pays for its start.
        floors.insert("launch".into(), self.launch * launches.len() as f64 * 1e3);
        floors
    }

    /// What binds launches that take so long together. `moving`: the milliseconds that moving the bytes takes at least,
    /// and the bytes.
    pub fn bound(&self, launches: &[Launched], time_ms: f64, moving: Option<(f64, f64)>) -> Option<Bound> {
        let mut floors = self.floors(launches);
        if let Some((ms, bytes)) = moving {
            floors.insert(level(bytes, &caches(), self.threads).into(), ms);
        }
        let (resource, &floor_ms) = floors.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
        let part = floor_ms / time_ms;
        let resource = resource.clone();
        let what = if part < EXPLAINS { "latency".into() } else { resource.clone() };
        part.is_finite().then_some(Bound { resource, floor_ms, part, what, floors })
    }
}

/// Bytes of a core's caches for data, by level.
fn caches() -> BTreeMap<u32, u64> {
    let mut sizes = BTreeMap::new();
    for entry in std::fs::read_dir("/sys/devices/system/cpu/cpu0/cache").into_iter().flatten().flatten() {
        let read = |name: &str| std::fs::read_to_string(entry.path().join(name)).unwrap_or_default();
        if read("type").trim() != "Instruction"
            && let (Ok(level), Ok(kilobytes)) =
                (read("level").trim().parse(), read("size").trim_end_matches("K\n").parse::<u64>())
        {
            sizes.insert(level, kilobytes << 10);
        }
    }
    sizes
}

/// The level that holds a footprint: each thread has its share of it in its own first two levels.
fn level(bytes: f64, caches: &BTreeMap<u32, u64>, threads: u64) -> &'static str {
    let holds = |level: u32| {
        // The first two levels belong to a core, so all threads together have as many copies; the third one is shared.
        let copies = if level < 3 { threads } else { 1 };
        caches.get(&level).is_some_and(|size| bytes <= (size * copies) as f64)
    };
    match () {
        () if holds(1) => "L1",
        () if holds(2) => "L2",
        () if holds(3) => "L3",
        () => "memory",
    }
}

/// The port model of a run.
pub struct Model {
    counter: Counter,
    /// What the machine does in a second.
    pub rates: Rates,
}

impl Model {
    /// For a driver's device; `library` is its file. It takes a few seconds.
    pub fn measured(found: &Found, library: &Path) -> Result<Model, Failure> {
        let mut counter = Counter::new(library)?;
        let rates = Rates::measured(found, &mut counter)?;
        Ok(Model { counter, rates })
    }

    /// What binds a case that takes so long; why it cannot be said.
    pub fn bound(&mut self, case: &Case, time_ms: f64, moving: Option<(f64, f64)>) -> Result<Option<Bound>, String> {
        let launches = self.counter.count(&Request::counting(case))?;
        Ok(self.rates.bound(&launches, time_ms, moving))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloom_target::ops::Class;

    impl Bound {
        /// One for the tests of reports.
        pub fn sample() -> Bound {
            let floors = [("fma".to_owned(), 8.0), ("load".to_owned(), 4.0)].into();
            Bound { resource: "fma".into(), floor_ms: 8.0, part: 0.8, what: "fma".into(), floors }
        }
    }

    fn rates() -> Rates {
        let rates = |scale: f64| {
            let of = |(name, rate): (&str, f64)| (name.parse::<Op>().unwrap(), rate * scale);
            [("load32", 2e9), ("load64", 1e9), ("fma32", 2e9), ("gather32", 1e8), ("issue8", 5e9), ("divide32", 1e8)]
                .map(of)
                .into()
        };
        Rates { threads: 4, one: rates(1.0), all: rates(4.0), launch: 1e-6 }
    }

    fn launch(ops: &str, groups: u64) -> Launched {
        Launched { kernel: "k".into(), groups, ops: ops.parse().unwrap() }
    }

    fn bound(launches: &[Launched], ms: f64, moving: Option<(f64, f64)>) -> (String, String, i64) {
        let b = rates().bound(launches, ms, moving).unwrap();
        (b.what, b.resource, (b.part * 100.0).round() as i64)
    }

    #[test]
    fn the_largest_floor_binds() {
        let all = |ops| [launch(ops, 100)];
        let is = |what: &str, part| (what.to_owned(), what.to_owned(), part);
        assert_eq!(bound(&all("load32=8000000 fma32=4000000 issue8=12000000"), 1.0, None), is("load", 100));
        assert_eq!(bound(&all("load32=100 fma32=8000000 issue8=12000000"), 1.25, None), is("fma", 80));
        assert_eq!(bound(&all("gather32=400000 load32=100"), 1.0, None), is("gather", 100));
        assert_eq!(bound(&all("divide32=400000"), 2.0, None), is("divide", 50));
        assert_eq!(bound(&all("issue8=20000000 load32=100"), 1.0, None), is("issue", 100));
        // A launch of nothing.
        assert_eq!(bound(&all("issue8=10"), 1e-3, None), is("launch", 100));
        assert_eq!(bound(&all("load32=100"), 1.0, Some((0.9, 1e12))), is("memory", 90));
        assert_eq!(bound(&all("load32=100"), 1.0, Some((0.9, 1.0))).0, level(1.0, &caches(), 4));
    }

    #[test]
    fn a_time_that_no_floor_explains_is_latency() {
        let few = [launch("load32=800000 fma32=400000", 100)];
        assert_eq!(bound(&few, 1.0, None), ("latency".into(), "load".into(), 10));
    }

    #[test]
    fn one_group_has_one_thread_and_widths_add_up() {
        let floor = |ops, groups| rates().floors(&[launch(ops, groups)])["load"];
        assert_eq!(
            [floor("load32=8000000", 1), floor("load32=8000000", 2), floor("load32=8000000", 9)],
            [4.0, 2.0, 1.0]
        );
        assert_eq!(floor("load32=8000000 load64=4000000", 4), 2.0);
        // Widths without a rate: the best of the wider ones, else the widest.
        assert_eq!([floor("load8=8000000", 4), floor("load16=8000000", 4)], [1.0, 1.0]);
        assert_eq!(rates().of(Op::new(Class::Fma, 64), 4), Some(8e9));
        assert_eq!(rates().of(Op::new(Class::Call, 8), 4), None);
    }

    #[test]
    fn footprints_are_held_by_the_smallest_level() {
        let sizes = [(1, 32 << 10), (2, 1 << 20), (3, 32 << 20)].into();
        let at = |bytes: u64| level(bytes as f64, &sizes, 2);
        assert_eq!([at(60 << 10), at(70 << 10), at(3 << 20), at(40 << 20)], ["L1", "L2", "L3", "memory"]);
    }
}
