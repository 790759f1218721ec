//! With `-cl-denorms-are-zero` every math function gives what it would give if any of its denormal arguments, and a
//! denormal result, were zero; without it, denormals are numbers like others (tests/accuracy.rs).

use cloom_filetest::accuracy::measure::{error, run};
use cloom_filetest::accuracy::oracle::{Want, want};
use cloom_filetest::accuracy::{self, Outcome, Precision, Sample, limit, sample};
use cloom_filetest::device::Bench;
use rug::Float;

/// The sample with each of its denormal arguments as it is, or a zero of either sign.
fn flushed(p: Precision, s: &Sample) -> Vec<Sample> {
    let mut list = vec![*s];
    for i in 0..3 {
        if p.is_denormal(s.x[i]) {
            for zero in [0.0, -0.0] {
                let more: Vec<Sample> = list
                    .iter()
                    .map(|s| {
                        let mut s = *s;
                        s.x[i] = zero;
                        s
                    })
                    .collect();
                list.extend(more);
            }
        }
    }
    list
}

/// The error where a number below the normal range may be a zero of any sign. What is left of it counts as exact.
fn error_or_zero(name: &str, p: Precision, want: &Want, got: &Outcome) -> f64 {
    let small = |x: &Float| !x.is_zero() && x.is_finite() && x.clone().abs() < p.least_normal();
    let vanished = |x: &Float, got: f64| (small(x) || x.is_zero()) && got == 0.0;
    match want {
        Want::Real(x) if vanished(x, got.value) => 0.0,
        Want::Two(x, y) => {
            let one = |x: &Float, got: f64| if vanished(x, got) { 0.0 } else { p.ulps(x, got) };
            one(x, got.value).max(one(y, got.second))
        }
        Want::WithInt(x, n) if *n == got.n && vanished(x, got.value) => 0.0,
        Want::Exact(o) => {
            // A result of the smallest normal number may have been below it before it was rounded.
            let pick = |want: f64, got: f64| {
                let zero = want.abs() <= p.least_normal();
                if zero && got == 0.0 { want } else { got }
            };
            // A remainder that vanishes no longer tells on which side of a half it was.
            let one_off = || [0, 1, 127].contains(&(o.n.abs() - got.n.abs()).rem_euclid(128));
            let near = name == "remquo" && p.is_denormal(o.value) && got.value == 0.0 && one_off();
            let n = if near { o.n } else { got.n };
            let got = Outcome { value: pick(o.value, got.value), second: pick(o.second, got.second), n };
            error(name, p, want, &got)
        }
        _ => error(name, p, want, got),
    }
}

/// What the specification allows besides when denormals are zeros: the neighbour of zero may be the smallest normal
/// number.
fn other_nextafter(p: Precision, s: &Sample, got: f64) -> bool {
    let [x, y, _] = s.x;
    let least = p.least_normal();
    let zero = x == 0.0 || p.is_denormal(x);
    (zero && got.abs() == least && (got > 0.0) == (y > x)) || (x.abs() == least && got == 0.0)
}

/// Where `mad` rounds twice, the product may have been denormal, and vanished.
fn without_product(p: Precision, s: &Sample, got: f64) -> bool {
    let [x, y, z] = s.x;
    p.is_denormal(x * y) && (got == z || got == 0.0 && p.is_denormal(z))
}

fn check(p: Precision) {
    let bench = Bench::new(1);
    let mut failures = Vec::new();
    let mut met = 0;
    for function in accuracy::functions().into_iter().filter(|f| accuracy::has(f.0, p) && !f.0.contains("f_")) {
        let (name, sig) = function;
        let mut samples = sample::samples(name, sig, p, 0, 1);
        samples.retain(|s| s.x.iter().any(|&x| p.is_denormal(x)) || s.x[0].abs() < 1e-30 || s.x[0].abs() > 80.0);
        let got = run(&bench, function, p, 1, "-cl-denorms-are-zero", &samples).unwrap_or_else(|e| panic!("{e}"));
        let read = |x: f64| if p.is_denormal(x) { 0f64.copysign(x) } else { x };
        for (s, got) in samples.iter().zip(&got) {
            // A denormal result reads as zero in such a program.
            let zeroed = Outcome { value: read(got.value), second: read(got.second), n: got.n };
            let error = |want: Want| error_or_zero(name, p, &want, got).min(error_or_zero(name, p, &want, &zeroed));
            let best = flushed(p, s).iter().filter_map(|s| want(name, p, s)).map(error).fold(f64::INFINITY, f64::min);
            met += 1;
            let fine = (best.is_finite() && best <= limit(name, p))
                || (name == "nextafter" && other_nextafter(p, s, got.value))
                || (name == "mad" && without_product(p, s, got.value));
            if !fine {
                failures.push(format!("{name}: {best} ULP at {s:?}: got {got:?}, want {:?}", want(name, p, s)));
                break;
            }
        }
    }
    assert!(met > 10_000);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn floats_below_the_normal_range_may_vanish() {
    check(Precision::Single);
}

#[test]
fn doubles_below_the_normal_range_may_vanish() {
    check(Precision::Double);
}
