//! `agree`: compares results across platforms. The gallery runs on every device of every installed platform in one
//! process; each result is compared with the reference and with that of every other device.

use crate::driver;
use crate::outcome::{Answer, Exit, Failure};
use crate::run::shape;
use cloom_gallery::{Agreement, Error, Outcome, Params, Program, Session, Verdict};
use serde::Serialize;
use std::fmt::Write;

/// The size where none is given: neither side is a multiple of a tile.
const SIZE: (usize, usize) = (509, 251);

/// Options of `agree`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// The program of the gallery; all of them if none is named
    #[arg(short, long, value_name = "NAME")]
    kernel: Option<String>,
    /// The variant; all of them if none is named
    #[arg(short, long, value_name = "NAME", requires = "kernel")]
    variant: Option<String>,
    /// Width and height, or both as WxH
    #[arg(short, long, value_name = "N|WxH", value_parser = shape::side_or_sides)]
    size: Option<(usize, usize)>,
    /// Number of iterations
    #[arg(short, long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
    /// The program's knobs: key=value,key=value
    #[arg(short, long, value_name = "KNOBS", default_value = "", requires = "kernel")]
    config: String,
    /// JSON output
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    devices: Vec<String>,
    programs: Vec<Compared>,
    complaints: Vec<String>,
}

#[derive(Serialize)]
struct Compared {
    program: &'static str,
    variant: &'static str,
    runs: Vec<Ran>,
    pairs: Vec<Pair>,
}

#[derive(Serialize)]
struct Ran {
    device: String,
    /// Whether the reference confirms the result; `None` if there is no result.
    passed: Option<bool>,
    check: String,
}

#[derive(Serialize)]
struct Pair {
    a: String,
    b: String,
    agree: bool,
    how: String,
}

fn told(verdict: &Verdict) -> (bool, &str) {
    match verdict {
        Verdict::Passed(text) => (true, text),
        Verdict::Failed(text) => (false, text),
    }
}

fn compared(agreement: &Agreement) -> Compared {
    let ran = |run: &cloom_gallery::Run| {
        let (passed, check) = match &run.outcome {
            Ok(Outcome { verdict, .. }) => {
                let (passed, text) = told(verdict);
                (Some(passed), text.to_owned())
            }
            Err(e) => (None, e.to_string()),
        };
        Ran { device: run.on.clone(), passed, check }
    };
    let pair = |p: &cloom_gallery::Pair| {
        let (agree, how) = told(&p.verdict);
        Pair { a: p.a.clone(), b: p.b.clone(), agree, how: how.to_owned() }
    };
    Compared {
        program: agreement.program,
        variant: agreement.variant,
        runs: agreement.runs.iter().map(ran).collect(),
        pairs: agreement.pairs.iter().map(pair).collect(),
    }
}

/// A line of the table.
fn line(agreement: &Agreement) -> String {
    let bits = agreement.pairs.iter().filter(|p| p.verdict == Verdict::Passed("bit for bit".into())).count();
    let close = agreement.pairs.iter().filter(|p| told(&p.verdict).0).count() - bits;
    let mut text = format!("{:<10}{:<17}{} results", agreement.program, agreement.variant, agreement.results());
    let mut add = |count: usize, what: &str| {
        if count > 0 {
            // Writing to a string cannot fail, here and below.
            let _ = write!(text, ", {count} {what}");
        }
    };
    add(bits, "pairs equal bit for bit");
    add(close, "pairs equal within the tolerance");
    add(agreement.complaints().len(), "WRONG");
    for run in &agreement.runs {
        if let Err(Error::Unsupported(why)) = &run.outcome {
            let _ = write!(text, "; {}: not {why}", run.on);
        }
    }
    text
}

/// Runs `agree`.
pub fn run(options: &Options) -> Result<Answer, Failure> {
    let chosen: Vec<&'static dyn Program> = match &options.kernel {
        Some(name) => vec![cloom_gallery::program(name)?],
        None => cloom_gallery::programs().to_vec(),
    };
    let _vendors = driver::beside_the_others()?;
    let sessions = Session::all()?;
    let devices: Vec<String> = sessions.iter().map(|s| format!("{}, {}", s.found.platform, s.found.device)).collect();
    let mut agreements = Vec::new();
    for program in chosen {
        for variant in program.variants() {
            if options.variant.as_deref().is_none_or(|v| v == variant.name) {
                let params = Params {
                    variant: variant.name.into(),
                    size: Some(options.size.unwrap_or(SIZE)),
                    iterations: options.iterations,
                    config: options.config.clone(),
                    ..Params::default()
                };
                agreements.push(cloom_gallery::agree(&sessions, program, &params)?);
            }
        }
        if agreements.is_empty() {
            // The error that lists the variants.
            program.variant(&Params { variant: options.variant.clone().unwrap_or_default(), ..Params::default() })?;
        }
    }
    let complaints: Vec<String> = agreements.iter().flat_map(Agreement::complaints).collect();
    let exit = if complaints.is_empty() { Exit::Fine } else { Exit::Findings };
    if options.json {
        let programs = agreements.iter().map(compared).collect();
        return Answer::json(&Document { schema: "cloom-agree/1", devices, programs, complaints }, exit);
    }
    let mut text = String::new();
    for device in &devices {
        let _ = writeln!(text, "on {device}");
    }
    if devices.len() < 2 {
        let _ = writeln!(text, "one device alone: its results are compared with the reference only");
    }
    for agreement in &agreements {
        let _ = writeln!(text, "{}", line(agreement));
    }
    for complaint in &complaints {
        let _ = writeln!(text, "WRONG: {complaint}");
    }
    let pairs: usize = agreements.iter().map(|a| a.pairs.len()).sum();
    let results: usize = agreements.iter().map(Agreement::results).sum();
    let _ = match complaints.len() {
        0 => writeln!(text, "{results} results verified, {pairs} pairs of results agree"),
        n => writeln!(text, "{n} complaints about {results} results"),
    };
    Ok(Answer::text(text, exit))
}
