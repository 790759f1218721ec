//! `bench --self-check`: the default number of lanes beside fixed ones.
//!
//! The vectoriser chooses how many work-items a vector has. Each row is run with its choice and with the widths of
//! [`WIDTHS`], each in a process of its own, in turns ([`super::worker`]). A row is *slow* if its default takes longer
//! than [`BAR`] of the best width allows: then the choice, or vectorising at all, was a loss. What looks slow is measured
//! once more, and counts if it is slow again.

use super::measure::Plan;
use super::report::size_text;
use super::statistics::{Quartiles, geometric_mean};
use super::worker::{Ended, Worker, in_turns};
use crate::outcome::{Answer, Exit, Failure};
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
}

impl Entry {
    fn of(lanes: &'static str, ended: Result<Ended, String>) -> Entry {
        let (state, why, time) = match ended {
            Ok(Ended::Verified(time)) => ("verified", None, Some(time)),
            Ok(Ended::Wrong(why)) => ("wrong", Some(why), None),
            Ok(Ended::Missing(why)) => ("unsupported", Some(why), None),
            Ok(Ended::Failed(why)) | Err(why) => ("failed", Some(why), None),
        };
        Entry { lanes, state, why, time }
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
        let default = entries[0].time;
        let fixed = entries[1..].iter().filter_map(|e| e.time.map(|t| (e.lanes, t)));
        let best = fixed.min_by(|a, b| a.1.median_ms.total_cmp(&b.1.median_ms));
        // Medians suffer from other load, minima from a lucky run: both must be slow.
        let part = |(_, best): &(_, Quartiles), default: Quartiles| {
            (best.median_ms / default.median_ms).max(best.min_ms / default.min_ms)
        };
        let ratio = best.as_ref().zip(default).map(|(best, default)| part(best, default));
        Row {
            program: case.program,
            row: case.row.clone(),
            size: size_text(case),
            best: best.map(|(lanes, _)| lanes),
            slow: ratio.is_some_and(|r| r < BAR),
            ratio: ratio.filter(|r| r.is_finite()),
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
        let head = ["program", "row", "size", "lanes", "state", "median_ms", "min_ms", "best", "ratio", "slow"];
        writer.write_record(head).map_err(|e| failed(&e))?;
        for row in &self.rows {
            for e in &row.entries {
                let number = |v: Option<f64>| v.map_or_else(String::new, |v| v.to_string());
                let (median, least) = (number(e.time.map(|t| t.median_ms)), number(e.time.map(|t| t.min_ms)));
                let (best, ratio, slow) = (row.best.unwrap_or_default(), number(row.ratio), row.slow.to_string());
                let cells = [row.program, &row.row, &row.size, e.lanes, e.state, &median, &least, best, &ratio, &slow];
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
        eprintln!("[{}/{}] {}{}", i + 1, cases.len(), row.line(), if row.slow { "  SLOW" } else { "" });
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
            ms => Ok(Ended::Verified(Quartiles::of(&[Duration::from_millis(ms)]).unwrap())),
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
        assert!(text.contains("2 of 3 rows below 0.9") && text.contains("default 10.0 ms"), "{text}");
        assert_eq!(report.csv().unwrap().iter().filter(|b| **b == b'\n').count(), 13);
    }
}
