//! Measures the math functions densely and prints the table of docs/accuracy.md.
//!
//! `cargo run --release -p cloom-filetest --example accuracy -- --stride 16 > table.md`; progress goes to standard
//! error.

#![allow(clippy::print_stdout, reason = "it prints its measurements")]

use clap::Parser;
use cloom_filetest::accuracy::{self, Precision, Report, Sample, limit, measure, sample, sweep};
use cloom_filetest::device::Bench;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Parser)]
#[command(about = "Measures the errors of the math functions in units in the last place")]
struct Args {
    /// Calls of each function in each precision.
    #[arg(long, default_value_t = 1_000_000)]
    count: usize,
    /// Look at one `float` in this many too, for functions of one argument; 1 looks at all. Where no quick estimate
    /// tells what needs a close look, one in 64 of them.
    #[arg(long)]
    stride: Option<u64>,
    /// The seed of the random samples.
    #[arg(long, default_value_t = 2)]
    seed: u64,
    /// Threads.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Print where each worst error was found.
    #[arg(long)]
    places: bool,
    /// Only `float`, `double` or `half`.
    #[arg(long)]
    only: Option<String>,
    /// The functions; all if none is named.
    functions: Vec<String>,
}

/// A piece of work.
#[derive(Clone, Copy)]
enum Piece {
    /// Samples with this number.
    Samples(usize),
    /// The floats with these upper four bits.
    Floats(u64),
    /// Every half.
    Halves,
}

const PRECISIONS: [Precision; 3] = [Precision::Single, Precision::Double, Precision::Half];

/// Samples of one piece of work.
const CHUNK: usize = 50_000;

fn show(x: f64) -> String {
    match x {
        _ if x < 0.0 => "–".into(),
        f64::INFINITY => "∞".into(),
        _ if x == x.trunc() => format!("{x}"),
        _ => format!("{x:.3}"),
    }
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let chunks = args.count.div_ceil(CHUNK);
    let mut work = Vec::new();
    for (name, sig) in accuracy::functions() {
        if args.functions.is_empty() || args.functions.iter().any(|f| f == name) {
            for p in PRECISIONS {
                if accuracy::has(name, p) && args.only.as_ref().is_none_or(|o| o == p.name()) {
                    work.extend((0..chunks).map(|chunk| (name, sig, p, Piece::Samples(chunk))));
                    if p == Precision::Half && sig == "T(T)" {
                        work.push((name, sig, p, Piece::Halves));
                    }
                    if args.stride.is_some() && p == Precision::Single && sig == "T(T)" {
                        work.extend((0..16).map(|part| (name, sig, p, Piece::Floats(part))));
                    }
                }
            }
        }
    }
    let next = AtomicUsize::new(0);
    let reports: Mutex<BTreeMap<(&str, Precision), Report>> = Mutex::default();
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..args.threads {
            scope.spawn(|| {
                let bench = Bench::new(1);
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&(name, sig, p, piece)) = work.get(i) else { break };
                    let result = match piece {
                        Piece::Samples(chunk) => {
                            let count = CHUNK.min(args.count - chunk * CHUNK);
                            let samples = sample::samples(name, sig, p, count, args.seed + chunk as u64);
                            measure(&bench, (name, sig), p, &samples)
                        }
                        Piece::Halves => {
                            let one = |bits| Sample { x: [p.from_bits(bits), 0.0, 0.0], n: 0 };
                            measure(&bench, (name, sig), p, &(0..1 << 16).map(one).collect::<Vec<_>>())
                        }
                        Piece::Floats(part) => {
                            let range = part << 28..(part + 1) << 28;
                            let stride = args.stride.unwrap_or(1) * if sweep::is_slow(name) { 64 } else { 1 };
                            sweep::sweep(&bench, (name, sig), range, stride)
                        }
                    };
                    match result {
                        Ok(report) => {
                            let mut reports = reports.lock().unwrap();
                            let entry = reports.entry((name, p)).or_default();
                            *entry = std::mem::take(entry).merge(report);
                            eprint!("\r{} of {}: {name} ({})        ", i + 1, work.len(), p.name());
                        }
                        Err(e) => failures.lock().unwrap().push(e),
                    }
                }
            });
        }
    });
    eprintln!();
    let failures = failures.into_inner()?;
    anyhow::ensure!(failures.is_empty(), "{}", failures.join("\n"));
    let reports = reports.into_inner()?;
    println!("| function | limit | worst, `float` | limit | worst, `double` | limit | worst, `half` |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for (name, _) in accuracy::functions() {
        let column = |p: Precision| {
            let worst = reports.get(&(name, p)).map_or(-1.0, |r| r.worst);
            let limit = if accuracy::has(name, p) { limit(name, p) } else { -1.0 };
            format!("{} | {}", show(limit), show(worst))
        };
        if reports.keys().any(|k| k.0 == name) {
            println!("| `{name}` | {} |", PRECISIONS.map(column).join(" | "));
        }
    }
    if args.places {
        for ((name, p), r) in &reports {
            let t = p.name();
            println!("{name} ({t}): {} at {:?}: {:?}, want {}", show(r.worst), r.at, r.got, r.want);
        }
    }
    Ok(())
}
