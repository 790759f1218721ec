//! What `agree` has found, as lines and as JSON.

use super::judged;
use crate::outcome::{Answer, Exit, Failure};
use cloom_gallery::{Agreement, Error, Verdict};
use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    devices: Vec<String>,
    programs: Vec<Compared>,
    complaints: Vec<String>,
    /// Variants that were left out, because Ctrl-C ended the comparison.
    left_out: usize,
}

#[derive(Serialize)]
struct Compared {
    program: String,
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

fn compared(name: &str, agreement: &Agreement) -> Compared {
    let ran = |run: &cloom_gallery::Run| {
        let (passed, check) = match &run.outcome {
            Ok(checked) => {
                let (passed, text) = judged(&checked.verdict);
                (Some(passed), text.to_owned())
            }
            Err(e) => (None, e.to_string()),
        };
        Ran { device: run.on.clone(), passed, check }
    };
    let pair = |p: &cloom_gallery::Pair| {
        let (agree, how) = judged(&p.verdict);
        Pair { a: p.a.clone(), b: p.b.clone(), agree, how: how.to_owned() }
    };
    Compared {
        program: name.split(' ').next().unwrap_or_default().to_owned(),
        variant: agreement.variant,
        runs: agreement.runs.iter().map(ran).collect(),
        pairs: agreement.pairs.iter().map(pair).collect(),
    }
}

/// So many of a thing.
pub fn count(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// A line of the table.
pub fn line(name: &str, agreement: &Agreement) -> String {
    let bits = agreement.pairs.iter().filter(|p| p.verdict == Verdict::Passed("bit for bit".into())).count();
    let close = agreement.pairs.iter().filter(|p| judged(&p.verdict).0).count() - bits;
    let (program, variant) = name.split_once(' ').unwrap_or((name, ""));
    let mut text = format!("{program:<10}{variant:<17}{}", count(agreement.results(), "result"));
    let mut add = |n: usize, what: &str| {
        if n > 0 {
            // Writing to a string cannot fail, here and below.
            let _ = write!(text, ", {} {what}", count(n, "pair"));
        }
    };
    add(bits, "equal bit for bit");
    add(close, "equal within the tolerance");
    let wrong = agreement.complaints().len();
    if wrong > 0 {
        let _ = write!(text, ", {wrong} WRONG");
    }
    for run in &agreement.runs {
        if let Err(Error::Unsupported(why)) = &run.outcome {
            let _ = write!(text, "; {}: not {why}", run.on);
        }
    }
    text
}

/// The findings, with the kernel's own name.
pub fn complaints(name: &str, agreement: &Agreement) -> Vec<String> {
    // The gallery knows each kernel of a file as `kernel`.
    let own = format!("{} {}: ", agreement.program, agreement.variant);
    let renamed = |c: &String| format!("{name}: {}", c.strip_prefix(&own).unwrap_or(c));
    agreement.complaints().iter().map(renamed).collect()
}

/// The summary of `of` comparisons, or the document.
pub fn conclude(json: bool, devices: Vec<String>, all: &[(Agreement, String)], of: usize) -> Result<Answer, Failure> {
    let complaints: Vec<String> = all.iter().flat_map(|(a, name)| complaints(name, a)).collect();
    // Parts of which no result came before Ctrl-C are in no agreement.
    let left_out = of - all.len();
    let exit = if complaints.is_empty() && left_out == 0 { Exit::Fine } else { Exit::Findings };
    if json {
        let programs = all.iter().map(|(a, name)| compared(name, a)).collect();
        let document = Document { schema: "cloom-agree/2", devices, programs, complaints, left_out };
        return Answer::json(&document, exit);
    }
    let pairs: usize = all.iter().map(|(a, _)| a.pairs.len()).sum();
    let results: usize = all.iter().map(|(a, _)| a.results()).sum();
    let mut text = match complaints.len() {
        0 if pairs == 1 => format!("{} verified, 1 pair of results agrees\n", count(results, "result")),
        0 => format!("{} verified, {pairs} pairs of results agree\n", count(results, "result")),
        n => format!("{} about {}\n", count(n, "complaint"), count(results, "result")),
    };
    if left_out > 0 {
        text += &format!("interrupted: {} of {of} compared\n", all.len());
    }
    Ok(Answer::text(text, exit))
}
