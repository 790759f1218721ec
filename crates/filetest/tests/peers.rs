//! Compares portable kernels with other devices: 200 with PoCL, which has another front end and library, and 200 with a
//! simulated GPU, which runs the code that is made for one. Where PoCL or the simulation is not installed, a test says
//! how many kernels it passed over; `cargo xtask test` has both where it can.
//!
//! For PoCL, barriers stand in straight code: over conditional ones in loops PoCL 3.1 recurses until its stack is full,
//! or compiles for minutes.
//!
//! A peer may crash, so it runs in child processes: this test program once more, on a run of seeds. A child prints each
//! seed before and its result after; a crash counts as a difference, unless [`CRASHES`] excuses it.
//!
//! `CLOOM_TEST_PEERS` says how many kernels run, `CLOOM_TEST_FIRST` the first seed.

#![allow(clippy::print_stdout, reason = "it says how the peers did")]

use cloom_filetest::generate::{Generated, Profile, generate, generate_straight, generate_stream};
use cloom_filetest::ladder::{Code, Ladder};
use cloom_filetest::peers::{Comparison, POCL, compare};
use cloom_gallery::Session;
use cloom_gallery::cl::devices;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What Cloom calls its platform.
const CLOOM: &str = "Cloom";

/// The peer of a child and its seeds: the first and how many, separated by blanks.
const CHILD: &str = "CLOOM_TEST_PEERS_CHILD";
/// What the lines of a child that matter begin with.
const MARK: &str = "peers: ";
/// Constructs on which PoCL's process crashes, and why.
const CRASHES: &[(&str, &str)] =
    &[("goto in", "its passes recurse until the stack is full over a jump into a loop beside barriers")];

/// Seeds of one child.
const CHUNK: u64 = 25;
/// Whether Cloom's launches may begin with baseline code.
const QUICK_START: &str = "CLOOM_QUICK_START";

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(default)
}

fn session(platform: &str) -> Option<Session> {
    let found = devices().ok()?.into_iter().find(|found| found.platform == platform)?;
    // Who asks for times gets those of optimised code.
    match std::env::var_os(QUICK_START) {
        Some(value) if value == "1" => Session::without_clock(&found).ok(),
        _ => Session::on(&found).ok(),
    }
}

/// The kernel of a seed for a platform: half of the GPU's are streams, on enough work-items for it to join them.
fn kernel(platform: &str, seed: u64) -> Generated {
    match platform {
        POCL => generate_straight(seed),
        _ if seed.is_multiple_of(2) => generate_stream(seed, 2048),
        _ => generate(seed, Profile::Portable),
    }
}

/// Another device.
#[derive(Clone, Copy)]
struct Peer<'a> {
    /// Its name.
    name: &'static str,
    /// The folder of the library in the place of the GPU's driver, if it needs one.
    driver: Option<&'a Path>,
}

const SIMULATION: &str = "a simulated GPU";

#[test]
fn pocl_leaves_what_the_reference_leaves() {
    if session(POCL).is_none() {
        println!("kernels passed over: no platform is called {POCL}; apt-get install pocl-opencl-icd");
        return;
    }
    // What PoCL dies on and structures that cannot be passed leave seven of ten.
    compare_with(&Peer { name: POCL, driver: None }, 65);
}

#[test]
fn a_gpu_leaves_what_the_reference_leaves() {
    // Beside this program's folder, where `cargo xtask test` builds it.
    let library = std::env::current_exe().unwrap().parent().unwrap().join("../libcuda_sim_driver.so");
    if session(CLOOM).is_none() || !library.exists() {
        println!("kernels passed over: no platform is called {CLOOM}, or {} is missing", library.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(library.canonicalize().unwrap(), folder.path().join("libcuda.so.1")).unwrap();
    compare_with(&Peer { name: SIMULATION, driver: Some(folder.path()) }, 80);
}

/// Runs the kernels on a peer. At least so many of a hundred must be compared.
fn compare_with(peer: &Peer<'_>, least: u64) {
    let (first, count) = (number("CLOOM_TEST_FIRST", 0), number("CLOOM_TEST_PEERS", 200));
    let (next, results) = (AtomicU64::new(first), Mutex::new((BTreeMap::<String, u64>::new(), Vec::new())));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let begin = next.fetch_add(CHUNK, Ordering::Relaxed);
                    if begin >= first + count {
                        return;
                    }
                    let (counts, wrong) = chunk(peer, begin, (begin + CHUNK).min(first + count));
                    let mut all = results.lock().unwrap();
                    counts.into_iter().for_each(|(result, n)| *all.0.entry(result).or_default() += n);
                    all.1.extend(wrong);
                }
            });
        }
    });
    let (counts, wrong) = results.into_inner().unwrap();
    println!("{count} kernels beside {}:", peer.name);
    counts.iter().for_each(|(result, n)| println!("{n:5} {result}"));
    assert!(wrong.is_empty(), "{} of {count} kernels differ:\n{}", wrong.len(), wrong.join("\n"));
    let same = counts.get("the same").copied().unwrap_or_default();
    assert!(same * 100 >= count * least, "only {same} of {count} kernels were compared");
}

/// Runs the seeds up to `end` in child processes, a new one after each crash. Returns the counts of each result, and
/// the failures.
fn chunk(peer: &Peer<'_>, mut next: u64, end: u64) -> (BTreeMap<String, u64>, Vec<String>) {
    let (mut counts, mut wrong) = (BTreeMap::<String, u64>::new(), Vec::new());
    while next < end {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child", "--include-ignored", "--nocapture"]);
        let platform = if let Some(folder) = peer.driver {
            // So small a GPU that few work-items are enough for several a thread.
            command.env("CLOOM_DEVICES", "gpu").env("LD_LIBRARY_PATH", folder).env("CUDA_SIM_MULTIPROCESSORS", "1");
            // Every other chunk gets baseline code.
            command.env(QUICK_START, if (next / CHUNK).is_multiple_of(2) { "0" } else { "1" });
            CLOOM
        } else {
            peer.name
        };
        let output = command.env(CHILD, format!("{next} {} {platform}", end - next)).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        for line in text.lines().filter_map(|l| l.split_once(MARK)).map(|(_, rest)| rest) {
            let (seed, result) = line.split_once(": ").unwrap();
            match result.split_once(": ") {
                _ if result == "begins" => continue,
                Some(("wrong", what)) => wrong.push(format!("seed {seed}: {what}")),
                _ => *counts.entry(result.to_owned()).or_default() += 1,
            }
            next = seed.parse::<u64>().unwrap() + 1;
        }
        if !output.status.success() {
            // It died on the seed after the last one that has a result.
            let words = String::from_utf8_lossy(&output.stderr);
            let last = words.lines().rev().take(3).collect::<Vec<_>>();
            match CRASHES.iter().find(|c| peer.name == POCL && kernel(peer.name, next).source().contains(c.0)) {
                Some((_, why)) => *counts.entry(format!("excused, {why}")).or_default() += 1,
                None => wrong.push(format!("seed {next}: the process ends with {}: {last:?}", output.status)),
            }
            next += 1;
        } else {
            assert_eq!(next, end, "the child ended early:\n{text}");
        }
    }
    (counts, wrong)
}

/// The child process of the tests above, and nothing by itself.
#[test]
#[ignore = "only a child process of the other tests"]
fn child() {
    let Ok(task) = std::env::var(CHILD) else { return };
    let [first, count, platform] = task.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{task}") };
    let (first, count) = (first.parse::<u64>().unwrap(), count.parse::<u64>().unwrap());
    let (session, ladder) = (session(platform).unwrap(), Ladder::with(Code::None));
    for seed in first..first + count {
        println!("{MARK}{seed}: begins");
        let program = kernel(platform, seed);
        let result = match compare(&ladder, &session, &program, &program.source()) {
            Ok(Comparison::Same) => "the same".into(),
            Ok(Comparison::NotAsked(why)) => format!("not asked, {why}"),
            Ok(Comparison::Excused(why)) => format!("excused, {why}"),
            Ok(Comparison::Refused(log)) => format!("wrong: refuses it: {}", log.replace('\n', " | ")),
            Ok(Comparison::Differs(what)) => format!("wrong: {what}"),
            Err(e) => format!("wrong: {}", e.replace('\n', " | ")),
        };
        println!("{MARK}{seed}: {result}");
    }
}
