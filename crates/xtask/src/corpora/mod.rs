//! `corpora`: holds the compiler against public kernels that were written for others, and compares what it makes of
//! each file with what is expected.
//!
//! In: a folder for the corpora, which are no part of Cloom; those that are missing are fetched. Out: a line for each
//! corpus, and what was not expected. `docs/corpora.md` has the rules.

mod cases;
mod compile;
mod expectations;
mod heads;
mod list;
mod lit;
mod options;

use crate::outcome::Outcome;
use crate::tools::{cargo, must, root, target};
use anyhow::{Context, Result, bail, ensure};
use cases::{Case, Verdict};
use compile::Ending;
use expectations::{Endings, Expectations};
use list::{CORPORA, Corpus};
use options::Options;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Where the expectations of a corpus are.
fn file(corpus: &Corpus) -> PathBuf {
    root().join(format!("crates/xtask/corpora/{}.toml", corpus.name))
}

/// Compiles the corpora that the arguments name, all without any.
pub fn run(args: &[String]) -> Result<Outcome> {
    let options = options::parse(args)?;
    let names = &options.names;
    let chosen: Vec<&Corpus> =
        CORPORA.iter().filter(|c| names.is_empty() || names.iter().any(|n| c.name.starts_with(n.as_str()))).collect();
    let known: Vec<&str> = CORPORA.iter().map(|c| c.name).collect();
    ensure!(!chosen.is_empty(), "no corpus has such a name; there are {}", known.join(", "));
    fs::create_dir_all(&options.folder).with_context(|| format!("cannot make {}", options.folder.display()))?;
    // Files are named by whole paths, so that the current folder does not matter.
    let folder = options.folder.canonicalize()?;
    for corpus in &chosen {
        corpus.fetch(&folder.join(corpus.name))?;
    }
    let cloom = program(&options)?;
    if !options.json {
        println!("corpus                   files compilations accepted refused  unexpected");
    }
    let mut good = true;
    for corpus in chosen {
        let row = one(corpus, &folder.join(corpus.name), &cloom, &options)?;
        good &= row.surprises.is_empty();
        row.print(corpus, options.json);
    }
    Ok(Outcome::of(good))
}

/// The program, which is built if none is named.
fn program(options: &Options) -> Result<PathBuf> {
    let path = options.cloom.clone().map_or_else(
        || {
            // Both, as always: the features of one package alone would build everything again.
            must(&mut cargo(&["build", "--release", "--package", "cloom-capi", "--package", "cloom-cli"]))?;
            Ok(target().join("release/cloom"))
        },
        anyhow::Ok,
    )?;
    path.canonicalize().with_context(|| format!("{} is not there", path.display()))
}

/// Compiles a corpus.
fn one(corpus: &Corpus, folder: &Path, cloom: &Path, options: &Options) -> Result<Row> {
    let start = Instant::now();
    if let Some(commit) = Corpus::commit_of(folder).filter(|c| c != corpus.commit) {
        eprintln!("{}: the expectations hold for commit {}, this is {commit}", corpus.name, corpus.commit);
    }
    let path = file(corpus);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut expected = Expectations::parse(&text).with_context(|| format!("{} is wrong", path.display()))?;
    let (cases, skipped) = corpus.cases(folder)?;
    let cases = expected.give_options(cases).with_context(|| format!("{} is wrong", path.display()))?;
    let endings = compile_all(corpus, &cases, cloom, options.jobs)?;
    if options.bless {
        expected = expected.blessed(&cases, &endings);
        fs::write(&path, expected.text()).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let count = |verdict| endings.values().filter(|e| matches!(e, Ending::Done(v, _) if *v == verdict)).count();
    Ok(Row {
        files: cases.iter().map(|c| &c.path).collect::<BTreeSet<_>>().len(),
        skipped,
        cases: cases.len(),
        accepted: count(Verdict::Accepted),
        refused: count(Verdict::Refused),
        surprises: expected.surprises(&cases, &endings),
        time: start.elapsed(),
    })
}

/// Compiles all cases, some at a time.
fn compile_all(corpus: &Corpus, cases: &[Case], cloom: &Path, jobs: usize) -> Result<Endings> {
    let logs = target().join("corpora");
    fs::create_dir_all(&logs).with_context(|| format!("cannot make {}", logs.display()))?;
    let state = Mutex::new((cases.iter(), Endings::new()));
    let worker = |number: usize| -> Result<()> {
        let log = logs.join(format!("{number}.log"));
        loop {
            // The lock is held for this statement, and not while the file is compiled.
            let Some(case) = state.lock().ok().and_then(|mut s| s.0.next()) else { return Ok(()) };
            let ending = compile::compile(cloom, case, corpus.linked, &log)?;
            let Ok(mut state) = state.lock() else { return Ok(()) };
            state.1.insert(case.name.clone(), ending);
        }
    };
    std::thread::scope(|scope| {
        let worker = &worker;
        let workers: Vec<_> = (0..jobs).map(|n| scope.spawn(move || worker(n))).collect();
        workers.into_iter().try_for_each(|w| w.join().unwrap_or_else(|_| bail!("a thread of the runner panicked")))
    })?;
    Ok(state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).1)
}

/// What is told of a corpus.
struct Row {
    files: usize,
    /// Files that ask for nothing that Cloom could do.
    skipped: usize,
    cases: usize,
    accepted: usize,
    refused: usize,
    surprises: Vec<String>,
    time: Duration,
}

impl Row {
    fn print(&self, corpus: &Corpus, json: bool) {
        let Row { files, skipped, cases, accepted, refused, surprises, time } = self;
        if json {
            let line = serde_json::json!({
                "corpus": corpus.name, "files": files, "skipped": skipped, "compilations": cases, "accepted": accepted,
                "refused": refused, "unexpected": surprises, "seconds": time.as_secs_f64(),
            });
            println!("{line}");
            return;
        }
        let unexpected = surprises.len();
        println!("{:<24}{files:>6}{cases:>13}{accepted:>9}{refused:>8}{unexpected:>12}", corpus.name);
        for line in surprises {
            println!("    {line}");
        }
    }
}
