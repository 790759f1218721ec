//! The mutation test of the checker: which share of small mistakes does it find?
//!
//! In come right kernels, random programs of the generator and kernels of the gallery; each gets one mistake at a time
//! ([`mutate`]). A mutant counts if it is wrong by an opinion that does not share the checker's code ([`judge`]). It is
//! found if the checker reports an error or a warning. The test prints a table and each miss, and asserts the share. It
//! also looks for false alarms: of a mutant that is not wrong, only `uninitialised` may be reported, as a value that
//! nothing has written is wrong to use even if it makes no difference to the results.
//!
//! * [`mutate`]: the mistakes.
//! * [`judge`]: whether a mutant is wrong, and what the checker says.
//! * [`witness`]: accesses that conflict, found by comparing all with all.
//! * [`corpus`]: the kernels and their launches.
//!
//! `CLOOM_TEST_FIRST` and `CLOOM_TEST_KERNELS` choose the seeds; with the latter, the gallery's kernels get all
//! mutations instead of a few.

mod corpus;
mod judge;
mod mutate;
mod witness;

use cloom_check::Kind;
use cloom_filetest::generate::types::Rng;
use corpus::{Corpus, Kernel};
use judge::{Judgement, Verdict};
use mutate::{Mutation, Operator};
use std::collections::BTreeMap;
use std::fmt;

/// Programs of the ordinary test, and mutations of each by one operator: in the ordinary test, and in a long one.
const PROGRAMS: u64 = 10;
const OF_PROGRAM: usize = 1;
const OF_PROGRAM_LONG: usize = 2;

/// Mutations of a kernel of the gallery by one operator: in the ordinary test, and in a long one.
const OF_KERNEL: usize = 1;
const OF_KERNEL_LONG: usize = 40;

/// How many of a hundred wrong mutants must be found.
const SHARE: u64 = 98;

/// What became of the mutants of one operator.
#[derive(Clone, Copy, Default)]
struct Row {
    mutants: u64,
    equivalent: u64,
    other_result: u64,
    unknown: u64,
    wrong: u64,
    found: u64,
    /// Not wrong, but something is reported.
    reported: u64,
}

impl Row {
    fn add(&mut self, verdict: &Verdict) {
        let is_reported = !verdict.findings.is_empty();
        self.mutants += 1;
        match verdict.judgement {
            Judgement::Equivalent => self.equivalent += 1,
            Judgement::OtherResult => self.other_result += 1,
            Judgement::Unknown => self.unknown += 1,
            Judgement::Wrong(_) => {
                self.wrong += 1;
                self.found += u64::from(is_reported);
                return;
            }
        }
        self.reported += u64::from(is_reported);
    }
}

/// The mutants of a population.
#[derive(Default)]
struct Tally {
    kernels: u64,
    /// Kernels that take too long.
    long: u64,
    rows: BTreeMap<Operator, Row>,
    misses: Vec<String>,
    false_alarms: Vec<String>,
}

impl Tally {
    fn sum(&self) -> Row {
        self.rows.values().fold(Row::default(), |a, b| Row {
            mutants: a.mutants + b.mutants,
            equivalent: a.equivalent + b.equivalent,
            other_result: a.other_result + b.other_result,
            unknown: a.unknown + b.unknown,
            wrong: a.wrong + b.wrong,
            found: a.found + b.found,
            reported: a.reported + b.reported,
        })
    }

    /// Mutates a kernel: `most` times by each operator.
    fn kernel(&mut self, kernel: &Kernel, most: usize, random: &mut Rng) {
        let baseline = match judge::baseline(kernel) {
            Ok(Some(baseline)) => baseline,
            Ok(None) => {
                self.long += 1;
                return;
            }
            Err(why) => panic!("{}, before its mutation: {why}", kernel.title),
        };
        self.kernels += 1;
        for mutation in chosen(mutate::mutations(&kernel.module, &kernel.args), most, random) {
            let verdict = judge::verdict(kernel, &baseline, &mutation);
            self.rows.entry(mutation.operator).or_default().add(&verdict);
            let line = format!("{}: {mutation}: {:?}, {} notes", kernel.title, verdict.judgement, verdict.notes);
            let alarm = verdict.findings.iter().find(|finding| finding.kind != Kind::Uninitialised);
            match (&verdict.judgement, alarm) {
                (Judgement::Wrong(_), _) if verdict.findings.is_empty() => {
                    // A long run may be stopped before it reports.
                    eprintln!("missed: {line}");
                    self.misses.push(line);
                }
                (Judgement::Wrong(_), _) | (_, None) => {}
                (_, Some(finding)) => {
                    self.false_alarms.push(format!("{line}, but {}: {}", finding.kind.name(), finding.message));
                }
            }
        }
    }

    fn assert(&self) {
        let Row { wrong, found, .. } = self.sum();
        assert!(wrong > 0 && found * 100 >= wrong * SHARE, "{found} of {wrong} wrong mutants are found\n{self}");
        assert!(self.false_alarms.is_empty(), "{self}");
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} kernels, {} passed over", self.kernels, self.long)?;
        writeln!(f, "operator       mutants  equivalent  other result  unknown  reported  wrong  found  missed")?;
        let sum = self.sum();
        for (name, row) in self.rows.iter().map(|(op, row)| (op.name(), row)).chain([("all", &sum)]) {
            let Row { mutants, equivalent, other_result, unknown, wrong, found, reported } = row;
            writeln!(
                f,
                "{name:13} {mutants:8} {equivalent:11} {other_result:13} {unknown:8} {reported:9} {wrong:6} {found:6} \
                 {:7}",
                wrong - found
            )?;
        }
        self.misses.iter().try_for_each(|line| writeln!(f, "missed: {line}"))?;
        self.false_alarms.iter().try_for_each(|line| writeln!(f, "false alarm: {line}"))
    }
}

/// So many mutations by each operator at most, of all parts of the kernel.
fn chosen(mut list: Vec<Mutation>, most: usize, random: &mut Rng) -> Vec<Mutation> {
    let mut picked = Vec::new();
    for operator in Operator::ALL {
        let mut of: Vec<Mutation> = list.extract_if(.., |m| m.operator == operator).collect();
        while of.len() > most {
            of.swap_remove(random.below(of.len() as u64) as usize);
        }
        picked.append(&mut of);
    }
    picked
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

#[test]
fn mutants_of_random_programs_are_found() {
    let (first, count) = (number("CLOOM_TEST_FIRST").unwrap_or(0), number("CLOOM_TEST_KERNELS").unwrap_or(PROGRAMS));
    let most = if count > PROGRAMS { OF_PROGRAM_LONG } else { OF_PROGRAM };
    let (corpus, mut tally) = (Corpus::new(), Tally::default());
    for seed in first.. {
        if tally.kernels == count {
            break;
        }
        let kernel = corpus.random(seed).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        tally.kernel(&kernel, most, &mut Rng::new(seed));
        if (seed + 1 - first).is_multiple_of(50) {
            eprintln!("seeds from {first} to {seed}: {} misses", tally.misses.len());
        }
    }
    println!("random programs: {tally}");
    tally.assert();
}

#[test]
fn mutants_of_the_gallery_are_found() {
    let most = if number("CLOOM_TEST_KERNELS").is_some() { OF_KERNEL_LONG } else { OF_KERNEL };
    let (corpus, mut tally) = (Corpus::new(), Tally::default());
    for (n, block) in (0..).zip(corpus::gallery()) {
        let kernel = corpus.of_gallery(block).unwrap_or_else(|why| panic!("{why}"));
        tally.kernel(&kernel, most, &mut Rng::new(n));
    }
    assert!(tally.kernels >= 50 && tally.long == 0, "{} kernels, {} take too long", tally.kernels, tally.long);
    println!("kernels of the gallery: {tally}");
    tally.assert();
}
