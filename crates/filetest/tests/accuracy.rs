//! Every math function, in every precision, is within the specification's limits on samples of its range, and its edge
//! cases are exact. The example `accuracy` looks closer and takes longer.

use cloom_filetest::accuracy::{self, Precision, Report, Sample, limit, measure, sample, sweep};
use cloom_filetest::device::Bench;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many calls of each function are made.
fn count(name: &str) -> usize {
    match name {
        // Their oracles are slow.
        "tgamma" | "lgamma" | "lgamma_r" | "remquo" | "remainder" | "erfc" => 20_000,
        // Other names of functions that are there too.
        _ if name.starts_with("native_") || name.starts_with("half_") => 10_000,
        _ => 60_000,
    }
}

/// Whether a function of this signature has one argument, beside what it stores to.
fn one_argument(sig: &str) -> bool {
    ["T(T)", "T(T,pT)", "T(T,pN)", "N(T)"].contains(&sig)
}

fn check(p: Precision) {
    let functions: Vec<_> = accuracy::functions().into_iter().filter(|f| accuracy::has(f.0, p)).collect();
    assert!(functions.len() > 60, "{}", functions.len());
    let failures = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let work = || {
        let bench = Bench::new(1);
        while let Some(&function) = functions.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (name, sig) = function;
            let mut samples = sample::samples(name, sig, p, count(name), 1);
            if p == Precision::Half && one_argument(sig) {
                samples = (0..1 << 16).map(|bits| Sample { x: [p.from_bits(bits), 0.0, 0.0], n: 0 }).collect();
            }
            let limit = limit(name, p);
            let failure = match measure(&bench, function, p, &samples) {
                // A wrong infinity or NaN is an infinite error, which no limit allows.
                Ok(Report { worst, .. }) if worst.is_finite() && worst <= limit => continue,
                Ok(r) => {
                    let Report { worst, at, got, want, .. } = r;
                    format!("{name}: {worst} ULP, {limit} allowed, at {at:?}:\n    got {got:?}\n    want {want}")
                }
                Err(e) => format!("{name}: {e}"),
            };
            failures.lock().unwrap().push(failure);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} of {} functions:\n{}", failures.len(), functions.len(), failures.join("\n"));
}

#[test]
fn floats_are_within_the_limits() {
    check(Precision::Single);
}

#[test]
fn doubles_are_within_the_limits() {
    check(Precision::Double);
}

/// Functions of one argument take every `half`. Their errors are far below the limits, for they are computed as floats.
#[test]
fn halves_are_within_the_limits() {
    check(Precision::Half);
}

/// One `float` in 40,009 for each function of one argument: signs, exponents and significands of every kind.
#[test]
fn floats_of_the_whole_range_are_within_the_limits() {
    let bench = Bench::new(2);
    for function in accuracy::functions() {
        let name = function.0;
        if function.1 == "T(T)" && !name.starts_with("native_") && !name.starts_with("half_") {
            let report = sweep::sweep(&bench, function, 0..1 << 32, 40_009).unwrap_or_else(|e| panic!("{e}"));
            let limit = limit(name, Precision::Single);
            assert!(report.worst.is_finite() && report.worst <= limit, "{name}: {limit} ULP allowed, {report:?}");
            assert!(report.count > 100_000);
        }
    }
}
