//! `bench --self-check`: the default number of lanes beside fixed ones.
//!
//! The vectoriser chooses how many work-items a vector has. Each row is run with its choice and with the widths of
//! [`WIDTHS`], each in a process of its own, in turns ([`super::worker`]). A row is *slow* if its default has less than
//! [`BAR`] of the speed of the best width: then the choice, or vectorising at all, was a loss. What looks slow is
//! measured once more, and counts if it is slow again.

use super::measure::Plan;
use super::report::size_text;
use super::statistics::{Quartiles, geometric_mean};
use super::worker::{Ended, Worker, in_turns};
use crate::outcome::{Answer, Exit, Failure, tell};
use crate::stats::time;
use cloom_caps::env;
use cloom_gallery::{Case, Program};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// The fixed widths: scalar code, the least that vectors pay with, a full vector of AVX2.
const WIDTHS: [&str; 3] = ["1", "4", "8"];
/// The participants: the default first.
const NAMES: [&str; 4] = ["default", "1", "4", "8"];
/// Below this part of the best width's speed, a row is slow.
const BAR: f64 = 0.9;

/// A setting's result.
#[derive(Clone, Debug, Serialize)]
struct Entry {
    /// `default`, or the number of lanes.
    lanes: &'static str,
    /// `verified`, `wrong`, `unsupported`, `failed`.
    state: &'static str,
    /// Why there is no time.
    why: Option<String>,
    /// On the device's clock.
    time: Option<Quartiles>,
    /// Processor time of the launches.
    processor: Option<Quartiles>,
}

impl Entry {
    fn of(lanes: &'static str, ended: Result<Ended, String>) -> Entry {
        let (state, why) = match ended {
            Ok(Ended::Verified { time, processor }) => {
                return Entry { lanes, state: "verified", why: None, time: Some(time), processor };
            }
            Ok(Ended::Wrong(why)) => ("wrong", why),
            Ok(Ended::Missing(why)) => ("unsupported", why),
            Ok(Ended::Failed(why)) | Err(why) => ("failed", why),
        };
        Entry { lanes, state, why: Some(why), time: None, processor: None }
    }
}

impl Entry {
    /// This setting's speed through that of another one: by the medians, the shortest runs or the least processor
    /// time, whichever is kindest. Other load of the machine slows medians down, and all runs if there is much of it;
    /// processor time suffers from threads that wait. What is slower has all three against it.
    fn speed_through(&self, other: &Entry) -> Option<f64> {
        let (own, theirs) = self.time.zip(other.time)?;
        let of_processor = self.processor.zip(other.processor).map(|(own, theirs)| theirs.min_ms / own.min_ms);
        let ratios = [Some(theirs.median_ms / own.median_ms), Some(theirs.min_ms / own.min_ms), of_processor];
        ratios.into_iter().flatten().filter(|r| r.is_finite()).reduce(f64::max)
    }
}

/// A row at a size.
#[derive(Clone, Debug, Serialize)]
struct Row {
    program: &'static str,
    row: String,
    size: String,
    entries: Vec<Entry>,
    /// The fastest fixed width.
    best: Option<&'static str>,
    /// The default's speed through that of the best width.
    ratio: Option<f64>,
    slow: bool,
}

impl Row {
    fn of(case: &Case, entries: Vec<Entry>) -> Row {
        let ratio = |best: &Entry| Some((best.lanes, entries[0].speed_through(best)?));
        // The best width is the one that the default loses most against, after each comparison was as kind as
        // `speed_through` is.
        let slowest = entries[1..].iter().filter_map(ratio).min_by(|a, b| a.1.total_cmp(&b.1));
        let (best, ratio) = slowest.unzip();
        Row {
            program: case.program,
            row: case.row.clone(),
            size: size_text(case),
            best,
            slow: ratio.is_some_and(|r| r < BAR),
            ratio,
            entries,
        }
    }

    fn name(&self) -> String {
        format!("{} {} {}", self.program, self.row, self.size)
    }

    fn line(&self) -> String {
        let cell = |e: &Entry| match &e.time {
            Some(t) => format!("{} {}", e.lanes, time(t.median_ms)),
            None => format!("{} {}", e.lanes, e.state),
        };
        let cells: Vec<String> = self.entries.iter().map(cell).collect();
        let ratio = self.ratio.map_or_else(|| "–".into(), |r| format!("{r:.2}"));
        format!("{:<56}{ratio:>5}  {}", self.name(), cells.join(", "))
    }
}

/// The document.
#[derive(Clone, Debug, Serialize)]
struct Report {
    schema: &'static str,
    driver: String,
    bar: f64,
    runs: u32,
    rows: Vec<Row>,
    /// For each fixed width, the geometric mean of the default's speed through its own.
    means: Vec<(&'static str, f64)>,
    complaints: Vec<String>,
}

impl Report {
    fn conclude(&mut self) {
        for (i, lanes) in WIDTHS.iter().enumerate() {
            let ratio = |row: &Row| {
                // Entry 0 is the default; the widths follow in their order.
                let times = row.entries[i + 1].time.zip(row.entries[0].time);
                times.map(|(fixed, default)| fixed.median_ms / default.median_ms)
            };
            if let Some(mean) = geometric_mean(self.rows.iter().filter_map(ratio)) {
                self.means.push((lanes, mean));
            }
        }
        for row in &self.rows {
            for e in row.entries.iter().filter(|e| matches!(e.state, "wrong" | "failed")) {
                let why = e.why.as_deref().unwrap_or("unknown");
                self.complaints.push(format!("{}: {} lanes: {why}", row.name(), e.lanes));
            }
        }
    }

    fn text(&self) -> String {
        let mut text = format!("{}\n", self.driver);
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            text,
            "Medians of {} runs; the ratio is the default's speed through that of the best width.",
            self.runs
        );
        for (lanes, mean) in &self.means {
            let _ = writeln!(text, "against {lanes} lanes: geometric mean {mean:.2}");
        }
        let slow: Vec<&Row> = self.rows.iter().filter(|r| r.slow).collect();
        let _ = writeln!(text, "{} of {} rows below {}", slow.len(), self.rows.len(), self.bar);
        for row in slow {
            let _ = writeln!(text, "  {}", row.line());
        }
        for complaint in &self.complaints {
            let _ = writeln!(text, "WRONG: {complaint}");
        }
        text
    }

    fn csv(&self) -> Result<Vec<u8>, Failure> {
        let failed = |e: &dyn std::fmt::Display| Failure::wrong(format!("cannot write the values: {e}"));
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        let head = [
            "program",
            "row",
            "size",
            "lanes",
            "state",
            "median_ms",
            "min_ms",
            "processor_min_ms",
            "best",
            "ratio",
            "slow",
        ];
        writer.write_record(head).map_err(|e| failed(&e))?;
        for row in &self.rows {
            for e in &row.entries {
                let number = |v: Option<f64>| v.map_or_else(String::new, |v| v.to_string());
                let (median, least) = (number(e.time.map(|t| t.median_ms)), number(e.time.map(|t| t.min_ms)));
                let processor = number(e.processor.map(|t| t.min_ms));
                let (best, ratio, slow) = (row.best.unwrap_or_default(), number(row.ratio), row.slow.to_string());
                let cells = [
                    row.program,
                    &row.row,
                    &row.size,
                    e.lanes,
                    e.state,
                    &median,
                    &least,
                    &processor,
                    best,
                    &ratio,
                    &slow,
                ];
                writer.write_record(cells).map_err(|e| failed(&e))?;
            }
        }
        writer.into_inner().map_err(|e| failed(&e))
    }
}

/// How the answer is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The slow rows, for people.
    Text,
    /// All rows.
    Csv,
    /// All rows.
    Json,
}

fn start(library: &Path, lanes: &str) -> Result<Worker, Failure> {
    let lanes = (lanes != NAMES[0]).then_some(lanes);
    // What runs first must be the optimised code, made now.
    Worker::start(
        library,
        &[(env::LANES.name, lanes), (env::QUICK_START.name, Some("0")), (env::CACHE.name, Some("0"))],
    )
}

fn measured(workers: &mut [Worker], library: &Path, case: &Case, plan: Plan) -> Result<Row, Failure> {
    let ended = in_turns(workers, case, plan);
    for ((worker, ended), lanes) in workers.iter_mut().zip(&ended).zip(NAMES) {
        // The worker has ended, or it is somewhere in the middle of the conversation: the next case needs one that
        // waits for a request.
        if ended.is_err() {
            *worker = start(library, lanes)?;
        }
    }
    Ok(Row::of(case, NAMES.into_iter().zip(ended).map(|(lanes, ended)| Entry::of(lanes, ended)).collect()))
}

/// Checks the cases with the driver of that file.
pub fn run(cases: &[(&'static dyn Program, Case)], library: &Path, plan: Plan, form: Form) -> Result<Answer, Failure> {
    let mut workers = NAMES.into_iter().map(|lanes| start(library, lanes)).collect::<Result<Vec<_>, _>>()?;
    let mut report = Report {
        schema: "cloom-self-check/1",
        driver: library.display().to_string(),
        bar: BAR,
        runs: plan.runs,
        rows: Vec::new(),
        means: Vec::new(),
        complaints: Vec::new(),
    };
    for (i, (_, case)) in cases.iter().enumerate() {
        let mut row = measured(&mut workers, library, case, plan)?;
        if row.slow {
            let again = measured(&mut workers, library, case, plan)?;
            // The kinder of the two, unless that one failed.
            if again.ratio >= row.ratio {
                row = again;
            }
        }
        tell(format_args!("[{}/{}] {}{}", i + 1, cases.len(), row.line(), if row.slow { "  SLOW" } else { "" }));
        report.rows.push(row);
    }
    report.conclude();
    let found = !report.complaints.is_empty() || report.rows.iter().any(|r| r.slow);
    let exit = if found { Exit::Findings } else { Exit::Fine };
    match form {
        Form::Json => Answer::json(&report, exit),
        Form::Csv => Ok(Answer { out: report.csv()?, exit, notes: String::new() }),
        Form::Text => Ok(Answer::text(report.text(), exit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn row(ms: [u64; 4]) -> Row {
        let case = &cloom_gallery::cases(cloom_gallery::program("copy").unwrap())[0];
        let ended = |ms| match ms {
            0 => Ok(Ended::Wrong("word 3".into())),
            ms => {
                let time = Quartiles::of(&[Duration::from_millis(ms)]).unwrap();
                Ok(Ended::Verified { time, processor: Some(time) })
            }
        };
        Row::of(case, NAMES.into_iter().zip(ms).map(|(lanes, ms)| Entry::of(lanes, ended(ms))).collect())
    }

    #[test]
    fn a_row_is_slow_beside_the_best_width_alone() {
        let slow = row([10, 20, 8, 9]);
        assert_eq!((slow.slow, slow.best, slow.ratio), (true, Some("4"), Some(0.8)));
        assert!(!row([10, 20, 30, 10]).slow && !row([10, 50, 50, 50]).slow);
        // Medians that other load made slow do not count where the shortest runs are equal.
        let quartiles = |ms: [u64; 3]| Quartiles::of(&ms.map(Duration::from_millis)).unwrap();
        let mut noisy = row([10, 20, 10, 20]).entries;
        noisy[0].time = Some(quartiles([10, 30, 30]));
        let case = &cloom_gallery::cases(cloom_gallery::program("copy").unwrap())[0];
        assert!(!Row::of(case, noisy).slow);
        // Nor do runs that are all slow and took no more processor time.
        let mut busy = row([40, 20, 20, 20]).entries;
        busy[0].processor = Some(quartiles([21, 30, 30]));
        assert!(!Row::of(case, busy).slow);
    }

    #[test]
    fn wrong_results_are_complaints_and_have_no_ratio() {
        let mut report = Report {
            schema: "",
            driver: String::new(),
            bar: BAR,
            runs: 1,
            rows: vec![row([10, 20, 5, 10]), row([0, 5, 5, 5]), row([10, 5, 0, 20])],
            means: Vec::new(),
            complaints: Vec::new(),
        };
        report.conclude();
        assert_eq!(report.complaints.len(), 2, "{:?}", report.complaints);
        assert!(report.complaints[1].contains("4 lanes: word 3"));
        assert_eq!((report.rows[1].ratio, report.rows[1].slow, report.rows[2].best), (None, false, Some("1")));
        assert_eq!(report.means[0], ("1", 1.0));
        let text = report.text();
        assert!(text.contains("2 of 3 rows below 0.9") && text.contains("default 10.00 ms"), "{text}");
        assert_eq!(report.csv().unwrap().iter().filter(|b| **b == b'\n').count(), 13);
    }
}
