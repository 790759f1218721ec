//! Runs generated programs on every installed OpenCL platform and compares with the reference interpreter:
//! `peers FIRST COUNT [PLATFORM [straight] [streams|tiles [few]] [quick] [brief]]`. With `straight`, barriers are in
//! straight code only, which PoCL 3.1 needs; with `streams` or `tiles`, programs are those whose work-items or groups a
//! GPU joins, on enough of them for that, or on `few`, for a simulated GPU without multiprocessors; with `quick`,
//! queues keep no times, so that Cloom may launch code of the baseline tier.
//! What differs is reduced, unless it is to be `brief`. A platform that crashes ends this process; the last line names
//! the seed.

#![allow(clippy::print_stdout, reason = "it prints what it finds")]

use cloom_filetest::generate::{Profile, generate, generate_straight, generate_stream, generate_tiles, tree};
use cloom_filetest::ladder::Ladder;
use cloom_filetest::peers::{Comparison, compare};
use cloom_filetest::reduce;
use cloom_gallery::Session;
use cloom_gallery::cl::devices;
use std::collections::BTreeMap;

/// Work-items of streams: four times as many as the threads for which 160 multiprocessors join them.
const STREAMED: u64 = 4 * 512 * 160;
/// Groups of tiles: four times as many as the groups of 64 work-items for which 160 multiprocessors join them.
const TILED: u64 = 4 * 16 * 160;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(1u64);
    let platform = args.get(2).cloned().unwrap_or_default();
    let [straight, streams, tiles, few, quick, brief] =
        ["straight", "streams", "tiles", "few", "quick", "brief"].map(|word| args.iter().skip(3).any(|a| a == word));
    let open = if quick { Session::without_clock } else { Session::on };
    let found = devices().unwrap_or_else(|e| panic!("{e}"));
    let found = found.iter().filter(|found| found.platform.contains(&platform));
    let sessions: Vec<Session> = found.map(|found| open(found).unwrap_or_else(|e| panic!("{e}"))).collect();
    assert!(!sessions.is_empty(), "no such platform");
    let ladder = Ladder::new();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for seed in number(0)..number(0) + number(1) {
        let program = match () {
            () if streams => generate_stream(seed, if few { 40 } else { STREAMED }),
            () if tiles => generate_tiles(seed, if few { 4 } else { TILED }),
            () if straight => generate_straight(seed),
            _ => generate(seed, Profile::Portable),
        };
        for session in &sessions {
            let name = &session.found.platform;
            eprintln!("seed {seed}: {name}");
            let kind = match compare(&ladder, session, &program, &program.source()) {
                Ok(Comparison::Same) => "the same".into(),
                Ok(Comparison::NotAsked(why)) => format!("not asked: {why}"),
                Ok(Comparison::Excused(why)) => format!("excused: {why}"),
                Ok(Comparison::Refused(log)) => {
                    println!("seed {seed}: {name} refuses it: {log}");
                    "refused".into()
                }
                Ok(Comparison::Differs(what)) => {
                    println!("seed {seed}: {name}: {what}");
                    if brief {
                        *counts.entry(format!("{name}: different")).or_default() += 1;
                        continue;
                    }
                    let small = reduce::smallest(&program.tree, |source| {
                        let differs = matches!(compare(&ladder, session, &program, source), Ok(Comparison::Differs(_)));
                        if differs {
                            // Whoever interrupts it has the smallest one so far.
                            eprintln!("{source}\n--------");
                        }
                        differs
                    });
                    println!("{}\n--------", tree::print(&small));
                    "different".into()
                }
                Err(e) => {
                    println!("seed {seed}: {}", e.lines().next().unwrap_or_default());
                    "without a reference".into()
                }
            };
            *counts.entry(format!("{name}: {kind}")).or_default() += 1;
        }
    }
    for (kind, count) in counts {
        println!("{count} {kind}");
    }
}
