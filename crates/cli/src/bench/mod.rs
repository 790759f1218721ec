//! `bench`: times the gallery on every installed platform in one run, interleaved, with every result checked.
//!
//! In come the options; out comes a table, CSV or JSON, and an HTML page on request.
//!
//! ```text
//! measure (launches) ─┐
//! first (builds) ─────┼─▶ report (data) ─▶ table | csv | html | JSON
//! machine (limits) ───┤
//! bound (port model) ─┘
//!
//! worker (a process for each number of lanes) ──▶ self_check
//! ```

mod bound;
mod builds;
mod counting;
mod csv;
pub mod first;
mod html;
mod load;
mod machine;
mod measure;
mod own;
mod plot;
mod report;
mod self_check;
mod statistics;
mod supervise;
mod table;
pub mod worker;

use crate::driver;
use crate::outcome::{Answer, Exit, Failure, tell};
use crate::run::kernel::{Job, KernelOptions, Tiles};
use crate::run::shape;
use cloom_gallery::builds::Build;
use cloom_gallery::latency::{LAUNCHING, Launching};
use cloom_gallery::{Case, Program, Style, cl};
use load::{Circumstances, Used};
use machine::Machine;
use measure::{Fate, Participant, Plan, Who};
use report::{Label, Named, Point, Report};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Names of the launch and build measurements, used like names of programs.
const LAUNCH: &str = "launch";
const BUILD: &str = "build";

/// Options of `bench`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Times are medians on the device's clock (profiling events), where a platform has one, else on the host's. A
participant runs two iterations a turn, of which the second one counts; what takes long is run once. A ratio is the peer's
time divided by Cloom's: above one, Cloom is faster. A result that the reference does not confirm has no time.

  cloom bench                                  # everything; takes a while
  cloom bench -k reduce,copy -s 2048 --runs 20
  cloom bench -k launch,build                  # what a program pays before its kernels do anything
  cloom bench --html bench.html                # with the plots
  cloom bench --self-check --quick             # rows that another number of lanes runs faster
  cloom bench saxpy.cl --arg y=1048576 --arg x=1048576:random --arg a=2   # a kernel of a file
  cloom bench --list                           # the rows

Ctrl-C ends the measurement after the row in work; the table of the others is written.

Exit status: 0 all is well, 1 a result is wrong, a platform crashed, Ctrl-C ended it or a row of --self-check is slow, 2 wrong
use."
)]
pub struct Options {
    /// A .cl file, whose kernel is measured; without one, the gallery
    #[arg(value_name = "FILE.cl", conflicts_with_all = ["variant", "row", "quick", "self_check", "list", "sweeps"])]
    file: Option<PathBuf>,
    /// Programs of the gallery, `launch`, `build`; all of them if none is named; the kernel of a file
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
    /// Only the smallest size of each row
    #[arg(long, conflicts_with = "size")]
    quick: bool,
    /// Only these platforms: numbers, or parts of their names, vendors or versions; all of them if none is named
    #[arg(short, long, value_name = "NAME,…", value_delimiter = ',')]
    platform: Vec<String>,
    /// Number of measured runs
    #[arg(short, long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
    /// Number of runs before them that are discarded
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=1000))]
    warmups: u32,
    /// Also the rows that only serve a plot, which --html has anyway, and the long ones of `build`
    #[arg(long)]
    sweeps: bool,
    /// Measure OpenCL platforms only, no native Rust
    #[arg(long)]
    no_native: bool,
    /// Do not measure the limits of the machine
    #[arg(long)]
    no_limits: bool,
    /// Compare Cloom with itself: its choice of lanes beside 1, 4 and 8; list the rows where the choice is a loss
    #[arg(long, conflicts_with_all = ["platform", "html", "list"])]
    self_check: bool,
    /// List the rows and their sizes, and measure nothing
    #[arg(long)]
    list: bool,
    /// Also write an HTML page with plots to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write CSV instead of the table, one line for each result
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// JSON output
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    file_kernel: KernelOptions,
    /// Set in the child process that measures: the file in which it keeps what it has
    #[arg(long, hide = true, value_name = "FILE")]
    partial: Option<PathBuf>,
}

impl Options {
    fn wants(&self, name: &str) -> bool {
        self.kernel.is_empty() || self.kernel.iter().any(|k| k == name)
    }

    fn wants_row(&self, row: &str) -> bool {
        self.row.is_empty() || self.row.iter().any(|text| row.contains(text.as_str()))
    }

    /// The tasks of the gallery that the options select.
    fn cases(&self) -> Result<Vec<(&'static dyn Program, Case)>, Failure> {
        let named = self.kernel.iter().filter(|k| ![LAUNCH, BUILD].contains(&k.as_str()));
        let mut programs: Vec<&'static dyn Program> =
            named.map(|n| cloom_gallery::program(n)).collect::<Result<_, _>>()?;
        if self.kernel.is_empty() {
            programs = cloom_gallery::programs().to_vec();
        }
        let wanted = |case: &Case| {
            (self.variant.is_empty() || self.variant.contains(&case.params.variant))
                && self.wants_row(&case.row)
                && (self.sweeps || self.html.is_some() || !case.only_plot)
        };
        let mut chosen: Vec<(&'static dyn Program, Case)> = Vec::new();
        for program in programs {
            for case in cloom_gallery::cases(program).into_iter().filter(wanted) {
                // The sizes of a row follow each other, the smallest one first: that is the case of `--quick`. With
                // `--size` the case is a template, which each row must give only once.
                let first = !chosen.iter().any(|(p, c)| p.name() == program.name() && c.row == case.row);
                if self.size.is_empty() {
                    if first || !self.quick {
                        chosen.push((program, case));
                    }
                } else if first {
                    chosen.extend(self.size.iter().map(|&size| (program, case.sized(size))));
                }
            }
        }
        Ok(chosen)
    }

    /// All tasks that the options select.
    fn tasks(&self) -> Result<Vec<Task>, Failure> {
        if let Some(path) = &self.file {
            let tiles = Tiles { size: self.size.first().copied(), ..Tiles::default() };
            let job = Job::read(path, self.kernel.first().map(String::as_str), &self.file_kernel, tiles)?;
            return Ok(vec![Task::File(Box::new(job))]);
        }
        if self.file_kernel.any() || !self.file_kernel.build.is_empty() {
            return Err(Failure::wrong(
                "--arg, --global, --local and build options are for kernels of a file; name the .cl file",
            ));
        }
        let mut tasks: Vec<Task> =
            self.cases()?.into_iter().map(|(program, case)| Task::Case(program, Box::new(case))).collect();
        // Neither has variants.
        if self.variant.is_empty() && self.wants(LAUNCH) {
            tasks.extend(LAUNCHING.iter().filter(|way| self.wants_row(way.name)).map(Task::Launch));
        }
        if self.variant.is_empty() && self.wants(BUILD) {
            let wanted = |b: &Build| self.wants_row(&b.name) && (self.sweeps || !b.long);
            let all = cloom_gallery::builds::all().into_iter().enumerate();
            tasks.extend(all.filter(|(_, b)| wanted(b)).map(|(i, b)| Task::Build(i, Box::new(b))));
        }
        if tasks.is_empty() {
            return Err(Failure::wrong("no row is left of this choice: `cloom bench --list` shows all of them"));
        }
        Ok(tasks)
    }

    /// The participants: devices of the chosen platforms, Cloom first, then native Rust.
    fn participants(&self) -> Result<Vec<Participant>, Failure> {
        let all = cl::devices()?;
        let is = |found: &cl::Found, part: &str| found.platform.to_lowercase().contains(part);
        let mut wanted = Vec::new();
        for part in &self.platform {
            let of_platform = cl::of_platform(&all, part);
            wanted.extend(of_platform.iter().map(|f| f.platform_index));
            if of_platform.is_empty() {
                let names: Vec<&str> = all.iter().map(|f| f.platform.as_str()).collect();
                return Err(Failure::wrong(format!("no platform `{part}`; there are: {}", names.join(", "))));
            }
        }
        let mut chosen: Vec<cl::Found> = all.clone();
        chosen.retain(|f| self.platform.is_empty() || wanted.contains(&f.platform_index));
        // The table, the CSV and the page show what belongs to Cloom (the part of the limit, the bound) from the first
        // entry. The sort is stable, so the other devices stay in the order of the loader.
        chosen.sort_by_key(|f| !is(f, driver::PLATFORM));
        let name = |f: &cl::Found| {
            // Compared with all devices, not with the chosen ones: so a device has the same name whatever `--platform`
            // leaves out.
            let alike = || all.iter().filter(|o| o.platform == f.platform);
            let short =
                if is(f, "portable computing") { "PoCL" } else { f.platform.split(['(', ' ']).next().unwrap_or("?") };
            // Two drivers of one platform, such as two versions of Cloom, differ by their numbers only.
            let platform = if alike().any(|o| o.platform_index != f.platform_index) {
                format!("#{}", f.platform_index)
            } else {
                String::new()
            };
            let device = if alike().any(|o| o.device_index != f.device_index) {
                format!(":{}", f.device_index)
            } else {
                String::new()
            };
            format!("{short}{platform}{device}")
        };
        let mut participants: Vec<Participant> =
            chosen.into_iter().map(|f| Participant { name: name(&f), who: Who::Device(Box::new(f)) }).collect();
        if !self.no_native && self.file.is_none() {
            for (name, style) in [("Rust-1", Style::Scalar), ("Rust", Style::Vector)] {
                participants.push(Participant { name: name.into(), who: Who::Native(style) });
            }
        }
        Ok(participants)
    }
}

/// One measurement.
enum Task {
    Case(&'static dyn Program, Box<Case>),
    Launch(&'static Launching),
    /// A source, and its index in the list.
    Build(usize, Box<Build>),
    /// The kernel of a file.
    File(Box<Job>),
}

impl Task {
    fn label(&self) -> Label {
        let named = |program, row: &str, size: &str| Label {
            program,
            row: row.to_owned(),
            size: size.to_owned(),
            place: None,
            only_plot: false,
        };
        match self {
            Task::Case(_, case) => Label::from(&**case),
            Task::Launch(way) => named(LAUNCH, way.name, "a launch"),
            Task::Build(_, build) => named(BUILD, &build.name, build.group.name()),
            Task::File(job) => named("kernel", &job.kernel, &job.global.to_string()),
        }
    }

    fn fates(&self, participants: &[Participant], plan: Plan) -> Vec<Fate> {
        match self {
            Task::Case(program, case) => measure::case(*program, case, participants, plan),
            Task::Launch(way) => measure::launching(way, participants, plan),
            Task::Build(source, build) => first::launches(*source, build, participants, plan.runs),
            Task::File(job) => own::job(job, participants, plan),
        }
    }
}

fn list(tasks: &[Task], json: bool) -> Result<Answer, Failure> {
    let mut rows: Vec<(&str, String, Vec<String>)> = Vec::new();
    for label in tasks.iter().map(Task::label) {
        match rows.iter_mut().find(|r| r.0 == label.program && r.1 == label.row) {
            Some(row) => row.2.push(label.size),
            None => rows.push((label.program, label.row, vec![label.size])),
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
        |(program, row, sizes): &(&str, String, Vec<String>)| format!("{program:<11}{row:<24}{}\n", sizes.join(", "));
    Ok(Answer::text(rows.iter().map(line).collect::<String>(), Exit::Fine))
}

/// A progress line.
fn progress(done: usize, of: usize, label: &Label, point: &Point) {
    let entry = |e: &report::Entry| {
        let ratio = e.ratio.map_or_else(String::new, |r| format!(" ({r:.2})"));
        format!("{} {}{ratio}", e.participant, table::cell(e))
    };
    let bound = point.bound.as_ref().map_or_else(String::new, |b| format!("; bound by {}", table::bound(b)));
    let entries: Vec<String> = point.entries.iter().filter(|e| e.state != "unsupported").map(entry).collect();
    tell(format_args!("[{done}/{of}] {} {} {}: {}{bound}", label.program, label.row, label.size, entries.join(", ")));
}

/// The file that Cloom's driver was loaded from: an `.icd` file may name another one than the one beside this program.
fn driver_file() -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let is_driver = |file: &&str| file.rsplit('/').next().is_some_and(|name| name.contains("libcloom"));
    // Of a line of the map, the file is what stands from the first slash on.
    maps.lines().filter_map(|l| l.find('/').map(|i| &l[i..])).find(is_driver).map(str::to_owned)
}

fn named(participant: &Participant) -> Named {
    let about = match &participant.who {
        Who::Device(f) if is_cloom(participant) => {
            let file = driver_file().map_or_else(String::new, |file| format!(", {file}"));
            format!("{}, {}, driver {}{file}", f.platform, f.device, f.driver)
        }
        Who::Device(f) => format!("{}, {}, driver {}", f.platform, f.device, f.driver),
        Who::Native(Style::Scalar) => "native Rust, plain loops, one thread".into(),
        Who::Native(Style::Vector) => "native Rust, vectors, all threads".into(),
    };
    Named { name: participant.name.clone(), about }
}

fn is_cloom(participant: &Participant) -> bool {
    matches!(&participant.who, Who::Device(f) if f.platform.to_lowercase().contains(driver::PLATFORM))
}

/// Runs `bench --self-check`.
fn self_checked(options: &Options) -> Result<Answer, Failure> {
    let cases = options.cases()?;
    if cases.is_empty() {
        return Err(Failure::wrong("no row with lanes is left of this choice: `cloom bench --list` shows all rows"));
    }
    let library = driver_file().ok_or_else(|| {
        Failure::wrong(
            "Cloom's driver is not loaded: name its .icd file in OCL_ICD_VENDORS, or put it beside this program",
        )
    })?;
    let form = match (options.json, options.csv) {
        (true, _) => self_check::Form::Json,
        (_, true) => self_check::Form::Csv,
        _ => self_check::Form::Text,
    };
    self_check::run(&cases, library.as_ref(), Plan::new(options.runs, options.warmups), form)
}

/// The port model, if there is something to explain; where nothing can be counted there is none.
fn model(own: &Participant, tasks: &[Task]) -> Option<bound::Model> {
    let Who::Device(found) = &own.who else { return None };
    let library = driver_file().filter(|_| tasks.iter().any(|t| matches!(t, Task::Case(..))))?;
    tell("measuring the rates of the machine's operations");
    match bound::Model::measured(found, library.as_ref()) {
        Ok(model) => Some(model),
        Err(why) => {
            tell(format_args!("nothing says what binds a row: {}", why.message));
            None
        }
    }
}

/// The page, opened before anything is measured, so that nothing is measured in vain.
fn open(path: &Path) -> Result<File, Failure> {
    let opened = File::options().write(true).create(true).truncate(false).open(path);
    opened.map_err(|e| Failure::wrong(format!("cannot write {}: {e}; name another file with --html", path.display())))
}

/// The answer of a report in the form that was asked for.
fn answer(options: &Options, report: &Report, peers: &[String]) -> Result<Answer, Failure> {
    let fine = report.complaints.is_empty() && report.left_out == 0;
    let exit = if fine { Exit::Fine } else { Exit::Findings };
    match (options.json, options.csv) {
        (true, _) => Answer::json(report, exit),
        (_, true) => Ok(Answer { out: csv::text(report)?, exit, notes: String::new() }),
        _ => Ok(Answer::text(table::text(report, peers), exit)),
    }
}

/// A measurement that goes on.
struct Measuring<'a> {
    participants: &'a [Participant],
    names: Vec<String>,
    own: Option<usize>,
    plan: Plan,
    model: Option<bound::Model>,
}

impl Measuring<'_> {
    /// Measures a task and adds it to the report.
    fn task(&mut self, task: &Task, report: &mut Report, cancelled: &AtomicBool) -> Option<Point> {
        let label = task.label();
        // The two readings enclose checks and child processes too. Children count as this process once they are waited
        // for, and all are by the end of the task.
        let before = Used::now();
        let fates = task.fates(self.participants, self.plan);
        let others = before.and_then(|before| before.by_others(&Used::now()?));
        // Ctrl-C also ends child processes, such as those of the builds. A row that it cut short is left out, and is no
        // failure of the participants.
        if cancelled.load(Ordering::Relaxed) && fates.iter().all(|f| f.sample().is_none()) {
            return None;
        }
        for (name, fate) in self.names.iter().zip(&fates) {
            if let Fate::Wrong(why) | Fate::Failed(why) = fate {
                report.complaints.push(format!("{} {} {}: {name}: {why}", label.program, label.row, label.size));
            }
        }
        // The work of an iteration is a property of the case, so any participant that has a result can tell it.
        let work = fates.iter().find_map(|f| f.sample()).and_then(|s| s.work);
        let floor = match (&mut report.machine, task, work) {
            (Some(machine), Task::Case(_, case), Some(work)) => machine.floor(&work, case.only_reads),
            _ => None,
        };
        let mut point = report::point(&label, &self.names, &fates, self.own, floor);
        point.others = others;
        // The port model is asked after the time is measured: its own process counts, and must not run beside a
        // measurement.
        if let (Some(model), Some(machine), Task::Case(_, case)) = (&mut self.model, &mut report.machine, task)
            && let Some(sample) = self.own.and_then(|own| fates[own].sample())
        {
            let moving = sample.work.and_then(|w| machine.moving(&w, case.only_reads).map(|(_, s)| (s * 1e3, w.bytes)));
            let time = sample.device.unwrap_or(sample.wall).min_ms;
            point.bound = model.bound(case, time, moving).unwrap_or_else(|why| {
                tell(format_args!("{} {} {}: not counted: {why}", label.program, label.row, label.size));
                None
            });
        }
        report.add(&label, point.clone());
        Some(point)
    }
}

/// Runs `bench`.
pub fn run(options: &Options) -> Result<Answer, Failure> {
    let tasks = options.tasks()?;
    if options.list {
        return list(&tasks, options.json);
    }
    // The tasks are read in both processes, which loads no driver: so wrong options are refused at once, and only the
    // child is at risk from here on.
    if options.partial.is_none() {
        return supervise::run();
    }
    crate::run::end_with_the_parent();
    // Kept to the end: when it is dropped, the folder goes from which the loaders of child processes read.
    let _vendors = driver::beside_the_others()?;
    if options.self_check {
        return self_checked(options);
    }
    let participants = options.participants()?;
    let page = options.html.as_deref().map(open).transpose()?;
    measured(options, &tasks, &participants, page)
}

/// Measures, and answers whatever happens.
fn measured(
    options: &Options,
    tasks: &[Task],
    participants: &[Participant],
    page: Option<File>,
) -> Result<Answer, Failure> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = cancelled.clone();
    // Without a handler Ctrl-C ends the measurement at once: that is what is lost if the system refuses one.
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        tell("ending after the row in work; Ctrl-C again ends at once");
    });
    let names: Vec<String> = participants.iter().map(|p| p.name.clone()).collect();
    let own = participants.iter().position(is_cloom);
    let peers: Vec<String> = match own {
        Some(own) => names.iter().enumerate().filter(|(i, _)| *i != own).map(|(_, n)| n.clone()).collect(),
        None => Vec::new(),
    };
    let plan = Plan::new(options.runs, options.warmups);
    let wants_limits = !options.no_limits && options.file.is_none();
    let mut report = Report {
        schema: "cloom-bench/1",
        circumstances: Circumstances::now(),
        participants: participants.iter().map(named).collect(),
        runs: plan.runs,
        machine: None,
        ports: None,
        rows: Vec::new(),
        sweeps: Vec::new(),
        summary: Vec::new(),
        builds: None,
        complaints: Vec::new(),
        left_out: 0,
    };
    // Noted beforehand: a process that a signal ends can say nothing afterwards.
    supervise::keep(options, b"", "the limits of the machine");
    report.machine = wants_limits.then(Machine::measured);
    let start = Instant::now();
    let model = own.filter(|_| wants_limits).and_then(|own| model(&participants[own], tasks));
    report.ports = model.as_ref().map(|m| m.rates.clone());
    let mut measuring = Measuring { participants, names, own, plan, model };
    for (i, task) in tasks.iter().enumerate() {
        if cancelled.load(Ordering::Relaxed) {
            report.left_out = tasks.len() - i;
            break;
        }
        let label = task.label();
        // The ratios and the summary are made anew for each answer that is kept: if the next task crashes, the parent
        // writes a whole table.
        report.conclude(&peers);
        let so_far = answer(options, &report, &peers)?;
        supervise::keep(options, &so_far.out, &format!("{} {} {}", label.program, label.row, label.size));
        match measuring.task(task, &mut report, &cancelled) {
            Some(point) => progress(i + 1, tasks.len(), &label, &point),
            None => report.left_out += 1,
        }
    }
    tell(format_args!("measured in {:.0} s", start.elapsed().as_secs_f64()));
    report.conclude(&peers);
    let mut done = answer(options, &report, &peers)?;
    if let (Some(mut file), Some(path)) = (page, &options.html) {
        let text = html::page(&report, &peers);
        // `open` has not truncated the file, so that an interrupted measurement leaves an older page as it is.
        let written = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
        // The table is written nevertheless.
        if let Err(e) = written {
            done.exit = Exit::Wrong;
            done = done.with_notes(format!("cloom: cannot write {}: {e}\n", path.display()));
        }
    }
    Ok(done)
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
        let tasks = options(line).unwrap().tasks().unwrap();
        tasks.iter().map(Task::label).map(|l| format!("{} {} {}", l.program, l.row, l.size)).collect()
    }

    #[test]
    fn programs_rows_and_sizes_can_be_chosen() {
        assert_eq!(rows("-k copy -v ocl -s 64,32x16"), ["copy ocl 64x64", "copy ocl 32x16"]);
        assert_eq!(
            rows("-k mad,copy --row k=3,k=96 -s 8"),
            ["mad k=3 8x8", "mad k=96 8x8"].map(|r| r.replace("mad", "mad ocl"))
        );
        assert_eq!(rows("-k reduce -v tile -s 64"), ["reduce tile 64x64"]);
        assert!(rows("").len() > 60);
        assert_eq!(rows("-k reduce -v tile --quick"), ["reduce tile 512x512"]);
        let banks = |line| rows(line).iter().filter(|r| r.contains("banks")).count();
        assert_eq!((banks("-k histogram"), banks("-k histogram --sweeps")), (0, 10));
        assert_eq!(banks("-k histogram --html x"), 10);
        let builds = |line| rows(line).iter().filter(|r| r.starts_with("build ")).count();
        assert_eq!(rows("-k launch,build").len(), LAUNCHING.len() + builds("-k build"));
        assert_eq!(builds("-k build --sweeps"), cloom_gallery::builds::all().len());
        assert_eq!(
            rows("-k build --row 480"),
            ["480 lines, one launch", "480 lines, 20 launches"].map(|n| format!("build {n} first result"))
        );
        assert_eq!((builds("-k build --row straight"), builds("-k build --row straight --sweeps")), (1, 3));
    }

    #[test]
    fn wrong_words_are_refused() {
        for line in ["--runs 0", "-s 0", "-s 4x4x4", "--runs x", "--json --csv", "--quick -s 8"] {
            assert!(options(line).is_err(), "{line}");
        }
        // A word without an option is a file.
        assert!(options("nonsense").unwrap().tasks().is_err());
        assert!(options("-k nothing").unwrap().tasks().is_err());
        assert!(options("-k copy -v nothing").unwrap().tasks().is_err());
        let usual = options("").unwrap();
        assert_eq!((usual.runs, usual.warmups, usual.json), (10, 2, false));
    }
}
