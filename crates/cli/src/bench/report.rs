//! The measurements as data: rows with one point for each size, and summaries of them. Table, CSV, JSON and HTML are
//! written from it.

use super::BUILD;
use super::bound::{Bound, Rates};
use super::builds::Builds;
use super::load::{BUSY, Circumstances};
use super::machine::{Floor, Machine};
use super::measure::{Fate, Sample};
use super::statistics::{Quartiles, geometric_mean, median};
use cloom_gallery::{Case, Work};
use serde::Serialize;

/// A ratio below this counts as a lost size.
const SIZE_BAR: f64 = 0.9;

/// The whole report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of this form.
    pub schema: &'static str,
    /// When and where this was measured, and by which version.
    pub circumstances: Circumstances,
    /// The participants, in the order of all lists.
    pub participants: Vec<Named>,
    /// Runs that count.
    pub runs: u32,
    /// The measured limits of the machine.
    pub machine: Option<Machine>,
    /// How many operations of each class it executes in a second.
    pub ports: Option<Rates>,
    /// Rows of the table.
    pub rows: Vec<Row>,
    /// Rows that only serve a plot.
    pub sweeps: Vec<Row>,
    /// Cloom against each peer, without builds.
    pub summary: Vec<Against>,
    /// The builds.
    pub builds: Option<Builds>,
    /// Wrong results and failures.
    pub complaints: Vec<String>,
    /// Tasks that were left out, because Ctrl-C ended the measurement.
    pub left_out: usize,
}

/// A participant.
#[derive(Clone, Debug, Serialize)]
pub struct Named {
    /// Its name in tables.
    pub name: String,
    /// What it is.
    pub about: String,
}

/// A program written in one way, on one kind of data.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The program.
    pub program: &'static str,
    /// The variant.
    pub row: String,
    /// One point for each size.
    pub points: Vec<Point>,
    /// Ratios to each peer.
    pub ratios: Vec<Ratio>,
}

/// A row's ratios to a peer, over the sizes. Above one, Cloom is faster.
#[derive(Clone, Debug, Serialize)]
pub struct Ratio {
    /// The peer.
    pub peer: String,
    /// The median.
    pub median: f64,
    /// The geometric mean.
    pub geometric_mean: f64,
    /// The lowest.
    pub lowest: f64,
}

/// A size of a row.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// The size that was asked for.
    pub size: String,
    /// The size in the program's words.
    pub about: String,
    /// Bytes that an iteration must move, if known.
    pub bytes: Option<f64>,
    /// Its floating-point operations, if known.
    pub flops: Option<f64>,
    /// The limit of the machine for it.
    pub floor: Option<Floor>,
    /// What binds Cloom's time.
    pub bound: Option<Bound>,
    /// The part of the machine's processor time that other processes used meanwhile.
    pub others: Option<f64>,
    /// Its position in a plot.
    pub place: Option<Place>,
    /// One for each participant.
    pub entries: Vec<Entry>,
}

/// A position in a plot.
#[derive(Clone, Debug, Serialize)]
pub struct Place {
    /// Which plot.
    pub plot: &'static str,
    /// Which line of it.
    pub line: String,
    /// The position on the axis.
    pub x: String,
}

/// A participant's result.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// The participant.
    pub participant: String,
    /// `verified`, `wrong`, `unsupported`, `failed`.
    pub state: &'static str,
    /// Why there is no time.
    pub why: Option<String>,
    /// `device`, `processor` or `host`: the clock of `time`.
    pub clock: Option<&'static str>,
    /// The time that is compared.
    pub time: Option<Quartiles>,
    /// The spread is above 20 %.
    pub noisy: bool,
    /// On the host's clock, with the launch.
    pub wall: Option<Quartiles>,
    /// Building the program.
    pub build_ms: Option<f64>,
    /// The rate, in units per second.
    pub rate: Option<f64>,
    /// The rate's unit.
    pub unit: Option<&'static str>,
    /// This participant's time divided by Cloom's: above 1, Cloom is faster.
    pub ratio: Option<f64>,
    /// The fraction of the machine's limit that was reached.
    pub reached: Option<f64>,
}

/// Cloom against a peer, over all rows of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Against {
    /// The peer.
    pub peer: String,
    /// Rows that both have.
    pub rows: usize,
    /// The geometric mean of the rows' means.
    pub geometric_mean: f64,
    /// Rows whose median over the sizes is below one.
    pub rows_lost: Vec<String>,
    /// Sizes below 0.9.
    pub sizes_lost: Vec<String>,
}

fn entry(name: &str, fate: &Fate, own: Option<&Sample>, work: Option<Work>, floor: Option<&Floor>) -> Entry {
    let (state, why) = match fate {
        Fate::Verified(_) => ("verified", None),
        Fate::Wrong(why) => ("wrong", Some(why.clone())),
        Fate::Missing(why) => ("unsupported", Some(why.clone())),
        Fate::Failed(why) => ("failed", Some(why.clone())),
    };
    let sample = fate.sample();
    let time = sample.map(|s| s.device.or(s.processor).unwrap_or(s.wall));
    // A ratio is one of times by the same kind of clock.
    let ratio = sample.zip(own).map(|(s, own)| match s.device.zip(own.device).or(s.processor.zip(own.processor)) {
        Some((theirs, ours)) => theirs.median_ms / ours.median_ms,
        None => s.wall.median_ms / own.wall.median_ms,
    });
    let clock = |s: &Sample| match (s.device, s.processor) {
        (Some(_), _) => "device",
        (None, Some(_)) => "processor",
        (None, None) => "host",
    };
    Entry {
        participant: name.to_owned(),
        state,
        why,
        clock: sample.map(clock),
        time,
        noisy: time.is_some_and(|t| t.is_noisy()),
        wall: sample.map(|s| s.wall),
        build_ms: sample.map(|s| s.build_ms),
        rate: work.zip(time).map(|(w, t)| w.amount / (t.median_ms / 1e3)),
        unit: work.map(|w| w.unit),
        ratio: ratio.filter(|r| r.is_finite()),
        reached: floor.zip(time).map(|(f, t)| f.ms / t.median_ms).filter(|r| r.is_finite()),
    }
}

/// The size of a case, abbreviated.
pub fn size_text(case: &Case) -> String {
    case.params.size.map_or_else(|| "own".into(), |(w, h)| format!("{w}x{h}"))
}

/// The name of a point and where it belongs.
#[derive(Clone, Debug)]
pub struct Label {
    /// The program, or the name that stands for launches or builds.
    pub program: &'static str,
    /// The row.
    pub row: String,
    /// The size.
    pub size: String,
    /// Its position in a plot.
    pub place: Option<Place>,
    /// Whether it only serves a plot.
    pub only_plot: bool,
}

impl From<&Case> for Label {
    fn from(case: &Case) -> Label {
        Label {
            program: case.program,
            row: case.row.clone(),
            size: size_text(case),
            place: case.place.as_ref().map(|p| Place { plot: p.plot, line: p.line.clone(), x: p.x.clone() }),
            only_plot: case.only_plot,
        }
    }
}

/// The result of a point on each participant; `own` is the index of Cloom.
pub fn point(label: &Label, names: &[String], fates: &[Fate], own: Option<usize>, floor: Option<Floor>) -> Point {
    let own_sample = own.and_then(|i| fates[i].sample());
    // Size and work are properties of the point, so that any participant with a result tells them.
    let sample = fates.iter().find_map(|f| f.sample());
    let work = sample.and_then(|s| s.work);
    let entries = names
        .iter()
        .zip(fates)
        .enumerate()
        // Cloom has no ratio to itself.
        .map(|(i, (name, fate))| entry(name, fate, own_sample.filter(|_| own != Some(i)), work, floor.as_ref()))
        .collect();
    Point {
        size: label.size.clone(),
        about: sample.map_or_else(String::new, |s| s.about.clone()),
        bytes: work.map(|w| w.bytes).filter(|b| *b > 0.0),
        flops: work.map(|w| w.flops).filter(|f| *f > 0.0),
        floor,
        bound: None,
        others: None,
        place: label.place.clone(),
        entries,
    }
}

impl Report {
    /// Adds a point to its row.
    pub fn add(&mut self, label: &Label, point: Point) {
        let rows = if label.only_plot { &mut self.sweeps } else { &mut self.rows };
        match rows.iter_mut().find(|r| r.program == label.program && r.row == label.row) {
            Some(row) => row.points.push(point),
            None => {
                let row = label.row.clone();
                rows.push(Row { program: label.program, row, points: vec![point], ratios: Vec::new() });
            }
        }
    }
}

impl Point {
    /// Whether other load or chance may have decided.
    pub fn is_doubtful(&self) -> bool {
        self.is_busy() || self.entries.iter().any(|e| e.noisy)
    }

    /// Whether other processes used much of the machine.
    pub fn is_busy(&self) -> bool {
        self.others.is_some_and(|part| part > BUSY)
    }
}

impl Row {
    /// Program and row.
    pub fn name(&self) -> String {
        format!("{} {}", self.program, self.row)
    }

    fn to(&self, peer: &str) -> Vec<(&str, f64)> {
        let ratio = |p: &Point| p.entries.iter().find(|e| e.participant == peer).and_then(|e| e.ratio);
        self.points.iter().filter_map(|p| ratio(p).map(|r| (p.size.as_str(), r))).collect()
    }

    fn ratio(&self, peer: &str) -> Option<Ratio> {
        let all: Vec<f64> = self.to(peer).iter().map(|(_, r)| *r).collect();
        Some(Ratio {
            peer: peer.to_owned(),
            median: median(all.iter().copied())?,
            geometric_mean: geometric_mean(all.iter().copied())?,
            lowest: all.iter().copied().fold(f64::INFINITY, f64::min),
        })
    }
}

impl Report {
    /// Computes the ratios of the rows and the summary from the points.
    pub fn conclude(&mut self, peers: &[String]) {
        // Everything is computed from the points alone, because this runs before each task and once at the end.
        for row in self.rows.iter_mut().chain(&mut self.sweeps) {
            row.ratios = peers.iter().filter_map(|p| row.ratio(p)).collect();
        }
        let against = |peer: &String| {
            let launched = self.rows.iter().filter(|r| r.program != BUILD);
            let rows: Vec<(&Row, &Ratio)> =
                launched.filter_map(|r| r.ratios.iter().find(|q| q.peer == *peer).map(|q| (r, q))).collect();
            let lost = |(row, ratio): &(&Row, &Ratio)| {
                (ratio.median < 1.0).then(|| format!("{} {:.2}", row.name(), ratio.median))
            };
            let sizes = |(row, _): &(&Row, &Ratio)| -> Vec<String> {
                let lost = row.to(peer).into_iter().filter(|(_, ratio)| *ratio < SIZE_BAR);
                lost.map(|(size, ratio)| format!("{} {size} {ratio:.2}", row.name())).collect()
            };
            Some(Against {
                peer: peer.clone(),
                rows: rows.len(),
                // A mean of the rows' means, so that a row of eight sizes weighs no more than one of a single size.
                geometric_mean: geometric_mean(rows.iter().map(|(_, q)| q.geometric_mean))?,
                rows_lost: rows.iter().filter_map(lost).collect(),
                sizes_lost: rows.iter().flat_map(sizes).collect(),
            })
        };
        self.summary = peers.iter().filter_map(against).collect();
        self.builds = Builds::of(&self.rows, peers);
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::time::Duration;

    fn verified(ms: u64, device: bool) -> Fate {
        let wall = Quartiles::of(&[Duration::from_millis(ms)]).unwrap();
        Fate::Verified(Box::new(Sample {
            about: "n floats".into(),
            wall,
            device: device.then_some(wall),
            processor: None,
            build_ms: 1.0,
            work: Some(Work::of_bytes(1_000_000)),
        }))
    }

    /// Two rows of two sizes: Cloom beside `Peer`, which is three times slower, then twice as fast, then wrong, then
    /// equal. All sweeps there are, in which it takes twice as long.
    pub fn sample() -> Report {
        let names = ["Cloom".to_owned(), "Peer".to_owned()];
        let participants = names.iter().map(|n| Named { name: n.clone(), about: "<a & b>".into() }).collect();
        let mut report = Report {
            schema: "cloom-bench/1",
            circumstances: Circumstances::default(),
            participants,
            runs: 1,
            machine: None,
            ports: None,
            rows: Vec::new(),
            sweeps: Vec::new(),
            summary: Vec::new(),
            builds: None,
            complaints: vec!["copy second: Peer: word 3".into()],
            left_out: 0,
        };
        let cases = cloom_gallery::cases(cloom_gallery::program("copy").unwrap());
        let fates = [verified(30, true), verified(5, true), Fate::Wrong("word 3".into()), verified(10, false)];
        for (i, fate) in fates.into_iter().enumerate() {
            let label = Label { row: ["first", "second"][i / 2].into(), ..Label::from(&cases[i]) };
            let floor = Some(Floor { what: "copy", ms: 5.0 });
            let mut point = point(&label, &names, &[verified(10, true), fate], Some(0), floor);
            point.bound = (i == 0).then(Bound::sample);
            report.add(&label, point);
        }
        for program in cloom_gallery::programs() {
            for case in cloom_gallery::cases(*program).iter().filter(|c| c.place.is_some()) {
                let label = Label { only_plot: true, ..Label::from(case) };
                let fates = [verified(10, true), verified(20, true)];
                report.add(&label, point(&label, &names, &fates, Some(0), None));
            }
        }
        report.conclude(&["Peer".into()]);
        report
    }

    #[test]
    fn rows_and_the_summary_follow_from_the_points() {
        let report = sample();
        assert_eq!(report.rows.len(), 2);
        assert_eq!(report.rows[0].points[0].entries[0].reached, Some(0.5));
        let first = &report.rows[0].ratios[0];
        assert!((first.median - 1.75).abs() < 1e-9 && (first.lowest - 0.5).abs() < 1e-9, "{first:?}");
        assert!((first.geometric_mean - 1.5f64.sqrt()).abs() < 1e-9, "{first:?}");
        let wrong = &report.rows[1].points[0].entries[1];
        assert!(wrong.time.is_none() && wrong.ratio.is_none() && wrong.rate.is_none() && wrong.state == "wrong");
        let host = &report.rows[1].points[1].entries[1];
        assert_eq!((host.clock, host.ratio), (Some("host"), Some(1.0)));
        let summary = &report.summary[0];
        assert_eq!((summary.rows, summary.rows_lost.len()), (2, 0));
        assert_eq!(summary.sizes_lost, ["copy first 2048x2048 0.50"]);
        assert!((summary.geometric_mean - 1.5f64.sqrt().sqrt()).abs() < 1e-9);
    }
}
