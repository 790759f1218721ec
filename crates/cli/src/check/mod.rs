//! `check`: finds out why a kernel is wrong.
//!
//! In come a source and arguments, or no arguments: then the kernel runs with arguments that are made for it
//! (`generate`). Each launch runs in the reference interpreter under a checker (`run::checked`); the findings of all
//! launches are one report.

mod explain;
mod generate;
mod program;
mod repeat;

use crate::outcome::{Answer, Exit, Failure};
use crate::progress::Progress;
use crate::run::checked;
use crate::run::kernel::{Compiled, Job, KernelOptions, Marks, Tiles};
use cloom_check::report::{self, Format};
use cloom_check::suppress::{self, Rules};
use cloom_check::{Kinds, Report, Sources};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Seconds of a launch, where no other number is given.
const TIME_LIMIT: u64 = 10;

/// Options of `check`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Arguments are described as for `cloom run FILE.cl`. Without any, each kernel of the file runs with arguments that are
made for it, of several sizes: 1, 64, 1000, 1024 and a prime, with several local sizes.
  cloom check saxpy.cl
  cloom check saxpy.cl --arg y=1000:index --arg x=1000:random --arg a=2 --global 1024 --local 64
  cloom check -- ./app args              all launches of an unmodified program, in any language
  cloom check --explain race-local

Kinds of findings and their groups: `cloom check --explain all` lists them.
Exit status: 0 nothing was found, 1 findings, 2 wrong use, or a launch that is too large to check."
)]
pub struct Options {
    /// A .cl file, or - for the standard input
    #[arg(value_name = "FILE.cl", required_unless_present_any = ["explain", "program"])]
    file: Option<PathBuf>,
    /// A program with its arguments: all its launches are checked
    #[arg(last = true, value_name = "PROGRAM ARGS", conflicts_with_all = ["file", "kernel"], allow_hyphen_values = true)]
    program: Vec<OsString>,
    /// The kernel; all kernels of the file if none is named and no argument is given
    #[arg(short, long, value_name = "NAME")]
    kernel: Option<String>,
    /// Look for these kinds or groups of findings only, separated by commas
    #[arg(long, value_name = "KINDS")]
    only: Option<String>,
    /// Look for these, too
    #[arg(long, value_name = "KINDS")]
    enable: Option<String>,
    /// Do not look for these
    #[arg(long, value_name = "KINDS")]
    disable: Option<String>,
    /// About how many seconds a launch may take: 10, or 60 in a program; counted in instructions, so that each run
    /// finds the same
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    time_limit: Option<u64>,
    /// Report this many findings at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    max_findings: usize,
    /// Print what a kind of finding is, with an example and what mends it; `all` lists the kinds
    #[arg(long, value_name = "KIND")]
    explain: Option<String>,
    /// The form of the report
    #[arg(long, value_name = "FORMAT", value_parser = clap::builder::PossibleValuesParser::new(Format::ALL.map(Format::name)))]
    format: Option<String>,
    /// JSON output; the same as --format json
    #[arg(long)]
    json: bool,
    /// Write the report to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// A file of rules that hide findings: KIND:FILE-GLOB[:FUNCTION]  # reason; cloom-check.suppress beside the source
    /// is read if it is there
    #[arg(long, value_name = "FILE")]
    suppress: Vec<PathBuf>,
    #[command(flatten)]
    file_kernel: KernelOptions,
}

impl Options {
    /// Whether the answer is JSON.
    pub fn json(&self) -> bool {
        self.format() == Format::Json
    }

    fn format(&self) -> Format {
        let named = self.format.as_deref().and_then(Format::named);
        named.unwrap_or(if self.json { Format::Json } else { Format::Text })
    }

    /// The rules of the files that the options name, and of the file beside the source.
    fn rules(&self, source: &Path) -> Result<Rules, Failure> {
        let beside = source.with_file_name("cloom-check.suppress");
        let mut rules = Rules::default();
        for path in self.suppress.iter().chain(Some(&beside).filter(|b| b.is_file())) {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path).map_err(|e| Failure::wrong(format!("--suppress {name}: {e}")))?;
            rules.add(&name, &text).map_err(Failure::wrong)?;
        }
        Ok(rules)
    }

    /// What to look for.
    fn kinds(&self) -> Result<Kinds, Failure> {
        let parse = |option: &str, list: &Option<String>| match list {
            None => Ok(None),
            Some(list) => Kinds::parse(list).map(Some).map_err(|word| {
                Failure::wrong(format!(
                    "--{option} {list}: there is no kind or group `{word}`; `cloom check --explain all` lists them"
                ))
            }),
        };
        let mut kinds = parse("only", &self.only)?.unwrap_or_default();
        if let Some(more) = parse("enable", &self.enable)? {
            kinds.enable(&more);
        }
        if let Some(less) = parse("disable", &self.disable)? {
            kinds.disable(&less);
        }
        Ok(kinds)
    }
}

/// Runs `check`.
pub fn run(options: &Options) -> Result<Answer, Failure> {
    let kinds = options.kinds()?;
    if let Some(kind) = &options.explain {
        return explain::page(kind);
    }
    if let Some((program, args)) = options.program.split_first() {
        return program::run(options, program, args);
    }
    let Some(path) = &options.file else { return Err(Failure::wrong("name a .cl file")) };
    let rules = options.rules(path)?;
    let compiled = Compiled::read(path, &options.file_kernel.build, Marks::ForChecker)?;
    let sources = checked::sources(&compiled);
    let wanted: Vec<String> = match &options.kernel {
        Some(name) => vec![name.clone()],
        None => compiled.program.kernels().map(|k| k.0.to_owned()).collect(),
    };
    let one = wanted.first().filter(|_| wanted.len() == 1).map(String::as_str);
    let takes_none = |name: &str| compiled.program.kernels().any(|k| k.0 == name && k.1.params.is_empty());
    let launches = match !options.file_kernel.args.is_empty() || one.is_some_and(takes_none) {
        true => vec![(options.kernel.clone(), options.file_kernel.clone())],
        false => generate::launches(&compiled, &wanted, &options.file_kernel)?,
    };
    let mut report = Report::new(env!("CARGO_PKG_VERSION"), "reference interpreter");
    let mut progress = Progress::new();
    let count = launches.len();
    let seconds = options.time_limit.unwrap_or(TIME_LIMIT);
    let mut kernels: Vec<String> = Vec::new();
    for (n, (kernel, arguments)) in launches.iter().enumerate() {
        let job = Job::new(&compiled, kernel.as_deref(), arguments, Tiles::default())?;
        progress.show(|| format!("checking kernel `{}`, launch {} of {count}", job.kernel, n + 1));
        let mut outcome = checked::check(&job, &sources, &kinds, seconds, |group, groups| {
            let kernel = &job.kernel;
            progress
                .show(|| format!("checking kernel `{kernel}`, launch {} of {count}, group {group} of {groups}", n + 1));
        })?;
        let again = repeat::line(path, &job.kernel, arguments, options);
        report.checked.launches += 1;
        report.checked.accesses += outcome.accesses;
        for finding in &mut outcome.findings {
            finding.first_launch = n as u64 + 1;
            finding.repeat = Some(again.clone());
        }
        report.add(outcome.findings);
        if let Some(why) = outcome.unfinished {
            report.not_checked(&job.kernel, format!("{why}: {again}"));
        }
        if !kernels.contains(&job.kernel) {
            kernels.push(job.kernel);
        }
    }
    progress.clear();
    report.checked.kernels = kernels.len() as u64;
    let notes = suppress::apply(&mut report, &rules, &sources);
    report.findings.truncate(options.max_findings);
    let exit = match (report.has_findings(), report.not_checked.is_empty()) {
        (true, _) => Exit::Findings,
        (false, true) => Exit::Fine,
        (false, false) => Exit::Wrong,
    };
    answer(options, &report, &sources, exit).map(|answer| answer.with_notes(notes.join("\n")))
}

/// The report in the form that is asked for, as the answer or in a file.
fn answer(options: &Options, report: &Report, sources: &Sources, exit: Exit) -> Result<Answer, Failure> {
    let format = options.format();
    let colour = options.output.is_none() && format == Format::Text && std::io::stdout().is_terminal();
    let text = report::write(report, format, sources, colour);
    match &options.output {
        None => Ok(Answer::text(text, exit)),
        Some(path) => save(path, &text).map(|()| Answer::text("", exit)),
    }
}

/// Writes the report to the file that `--output` names.
fn save(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|e| Failure::wrong(format!("--output {}: {e}", path.display())))
}
