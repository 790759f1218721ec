//! `bench`: the gallery on every installed platform in one run, in turns, every result checked.
//!
//! In go the words of the command line, out comes a table, or a document for programs. `measure` runs a case on all participants,
//! `report` is what was found, `table` writes it.

mod measure;
mod report;
mod statistics;
mod table;

use crate::driver;
use crate::outcome::{Answer, Exit, Failure};
use crate::run::shape;
use cloom_gallery::{Case, Program, cl};
use measure::{Fate, Participant, Plan};
use report::{Named, Report};
use std::time::Instant;

/// Options of `bench`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Times are medians on the device's clock (profiling events), where a platform has one, else on the host's. A
participant runs two iterations a turn, of which the second one counts. A ratio is the peer's time through Cloom's: above one,
Cloom is faster. What the reference does not confirm has no time.

  cloom bench                                  # everything; takes a while
  cloom bench -k reduce,copy -s 2048 --runs 20
  cloom bench --list                           # the rows

Exit status: 0 all is well, 1 a result is wrong, 2 wrong use."
)]
pub struct Options {
    /// Programs of the gallery; all of them if none is named
    #[arg(short, long, value_name = "NAME,…", value_delimiter = ',')]
    kernel: Vec<String>,
    /// Only these variants
    #[arg(short, long, value_name = "NAME,…", value_delimiter = ',')]
    variant: Vec<String>,
    /// Only rows whose name contains this
    #[arg(long, value_name = "TEXT,…", value_delimiter = ',')]
    row: Vec<String>,
    /// These sizes in place of each row's own: N or WxH
    #[arg(short, long, value_name = "N|WxH,…", value_delimiter = ',', value_parser = shape::side_or_sides)]
    size: Vec<(usize, usize)>,
    /// Only these platforms: parts of their names; all of them if none is named
    #[arg(short, long, value_name = "NAME,…", value_delimiter = ',')]
    platform: Vec<String>,
    /// Runs that count
    #[arg(short, long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
    /// Runs before them that do not
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=1000))]
    warmups: u32,
    /// Also the rows that only serve a plot
    #[arg(long)]
    sweeps: bool,
    /// List the rows and their sizes, and measure nothing
    #[arg(long)]
    list: bool,
    /// For programs to read
    #[arg(long)]
    pub json: bool,
}

impl Options {
    /// What is to be measured.
    fn cases(&self) -> Result<Vec<(&'static dyn Program, Case)>, Failure> {
        let programs: Vec<&'static dyn Program> = match self.kernel.as_slice() {
            [] => cloom_gallery::programs().to_vec(),
            names => names.iter().map(|n| cloom_gallery::program(n)).collect::<Result<_, _>>()?,
        };
        let wanted = |case: &Case| {
            (self.variant.is_empty() || self.variant.contains(&case.params.variant))
                && (self.row.is_empty() || self.row.iter().any(|text| case.row.contains(text.as_str())))
                && (self.sweeps || !case.only_plot)
        };
        let mut chosen: Vec<(&'static dyn Program, Case)> = Vec::new();
        for program in programs {
            for case in cloom_gallery::cases(program).into_iter().filter(wanted) {
                if self.size.is_empty() {
                    chosen.push((program, case));
                } else if !chosen.iter().any(|(p, c)| p.name() == program.name() && c.row == case.row) {
                    chosen.extend(self.size.iter().map(|&size| (program, case.sized(size))));
                }
            }
        }
        if chosen.is_empty() {
            return Err(Failure::wrong("no row is left of this choice: `cloom bench --list` shows all of them"));
        }
        Ok(chosen)
    }

    /// Who is measured: the devices of the chosen platforms.
    fn participants(&self) -> Result<Vec<Participant>, Failure> {
        let all = cl::devices()?;
        let is = |found: &cl::Found, part: &str| found.platform.to_lowercase().contains(&part.to_lowercase());
        for part in &self.platform {
            if !all.iter().any(|f| is(f, part)) {
                let names: Vec<&str> = all.iter().map(|f| f.platform.as_str()).collect();
                return Err(Failure::wrong(format!("no platform `{part}`; there are: {}", names.join(", "))));
            }
        }
        let mut chosen: Vec<cl::Found> = all.clone();
        chosen.retain(|f| self.platform.is_empty() || self.platform.iter().any(|p| is(f, p)));
        // Cloom is the first column.
        chosen.sort_by_key(|f| !is(f, driver::PLATFORM));
        let name = |f: &cl::Found| {
            let several = all.iter().filter(|o| o.platform == f.platform).count() > 1;
            let short =
                if is(f, "portable computing") { "PoCL" } else { f.platform.split(['(', ' ']).next().unwrap_or("?") };
            if several { format!("{short}:{}", f.device_index) } else { short.to_owned() }
        };
        Ok(chosen.iter().map(|f| Participant { name: name(f), found: f.clone() }).collect())
    }
}

fn list(cases: &[(&'static dyn Program, Case)], json: bool) -> Result<Answer, Failure> {
    let mut rows: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for (program, case) in cases {
        let size = report::size_text(case);
        match rows.iter_mut().find(|r| r.0 == program.name() && r.1 == case.row) {
            Some(row) => row.2.push(size),
            None => rows.push((program.name(), &case.row, vec![size])),
        }
    }
    if json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(program, row, sizes)| serde_json::json!({ "program": program, "row": row, "sizes": sizes }))
            .collect();
        return Answer::json(&serde_json::json!({ "schema": "cloom-bench-rows/1", "rows": rows }), Exit::Fine);
    }
    let line =
        |(program, row, sizes): &(&str, &str, Vec<String>)| format!("{program:<11}{row:<24}{}\n", sizes.join(", "));
    Ok(Answer::text(rows.iter().map(line).collect::<String>(), Exit::Fine))
}

/// A line about what was measured, while more is to come.
fn progress(done: usize, of: usize, case: &Case, point: &report::Point) {
    let entry = |e: &report::Entry| {
        let ratio = e.ratio.map_or_else(String::new, |r| format!(" ({r:.2})"));
        format!("{} {}{ratio}", e.participant, table::cell(e))
    };
    let entries: Vec<String> = point.entries.iter().map(entry).collect();
    eprintln!("[{done}/{of}] {} {} {}: {}", case.program, case.row, point.size, entries.join(", "));
}

/// Runs `bench`.
pub fn run(options: &Options) -> Result<Answer, Failure> {
    let cases = options.cases()?;
    if options.list {
        return list(&cases, options.json);
    }
    driver::beside_the_others()?;
    let participants = options.participants()?;
    let names: Vec<String> = participants.iter().map(|p| p.name.clone()).collect();
    let own = participants.iter().position(|p| p.found.platform.to_lowercase().contains(driver::PLATFORM));
    let plan = Plan { runs: options.runs, warmups: options.warmups };
    let mut report = Report {
        schema: "cloom-bench/1",
        participants: participants
            .iter()
            .map(|p| {
                let found = &p.found;
                let about = format!("{}, {}, driver {}", found.platform, found.device, found.driver);
                Named { name: p.name.clone(), about }
            })
            .collect(),
        runs: plan.runs,
        rows: Vec::new(),
        sweeps: Vec::new(),
        summary: Vec::new(),
        complaints: Vec::new(),
    };
    let start = Instant::now();
    for (i, (program, case)) in cases.iter().enumerate() {
        let fates = measure::case(*program, case, &participants, plan);
        for (name, fate) in names.iter().zip(&fates) {
            if let Fate::Wrong(why) | Fate::Failed(why) = fate {
                let size = report::size_text(case);
                report.complaints.push(format!("{} {} {size}: {name}: {why}", case.program, case.row));
            }
        }
        let point = report::point(case, &names, &fates, own);
        progress(i + 1, cases.len(), case, &point);
        report::add(if case.only_plot { &mut report.sweeps } else { &mut report.rows }, case, point);
    }
    eprintln!("measured in {:.0} s", start.elapsed().as_secs_f64());
    let peers: Vec<String> = match own {
        Some(own) => names.iter().enumerate().filter(|(i, _)| *i != own).map(|(_, n)| n.clone()).collect(),
        None => Vec::new(),
    };
    report.conclude(&peers);
    let exit = if report.complaints.is_empty() { Exit::Fine } else { Exit::Findings };
    if options.json {
        return Answer::json(&report, exit);
    }
    Ok(Answer::text(table::text(&report, &peers), exit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn options(line: &str) -> Result<Options, clap::Error> {
        Line::try_parse_from(format!("bench {line}").split_whitespace()).map(|l| l.options)
    }

    fn rows(line: &str) -> Vec<String> {
        let cases = options(line).unwrap().cases().unwrap();
        cases.iter().map(|(p, c)| format!("{} {} {}", p.name(), c.row, report::size_text(c))).collect()
    }

    #[test]
    fn programs_rows_and_sizes_can_be_chosen() {
        assert_eq!(rows("-k copy -s 64,32x16"), ["copy ocl 64x64", "copy ocl 32x16"]);
        assert_eq!(
            rows("-k mad,copy --row k=3,k=96 -s 8"),
            ["mad k=3 8x8", "mad k=96 8x8"].map(|r| r.replace("mad", "mad ocl"))
        );
        assert_eq!(rows("-k reduce -v tile -s 64"), ["reduce tile 64x64"]);
        assert!(rows("").len() > 60);
        let banks = |line| rows(line).iter().filter(|r| r.contains("banks")).count();
        assert_eq!((banks("-k histogram"), banks("-k histogram --sweeps")), (0, 10));
    }

    #[test]
    fn wrong_words_are_refused() {
        for line in ["--runs 0", "-s 0", "-s 4x4x4", "--runs x", "nonsense"] {
            assert!(options(line).is_err(), "{line}");
        }
        assert!(options("-k nothing").unwrap().cases().is_err());
        assert!(options("-k copy -v nothing").unwrap().cases().is_err());
        let usual = options("").unwrap();
        assert_eq!((usual.runs, usual.warmups, usual.json), (10, 2, false));
    }
}
