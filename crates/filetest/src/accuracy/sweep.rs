//! Every `float`, or one in so many: for functions of one argument.
//!
//! MPFR would take hours for four thousand million values. What the host's `double` functions give is within a
//! millionth of a unit of `float`, so it shows where the error may be larger than the largest so far; only there MPFR
//! is called.

use super::measure::{self, Report};
use super::oracle::{Want, want};
use super::{Precision, Sample};
use crate::device::Bench;
use std::f64::consts::PI;

/// How far an estimate may be off, in units of `float`.
const DOUBT: f64 = 1e-3;
/// Values of one launch.
const CHUNK: u64 = 1 << 18;

/// The result in `double`, where the host knows it well.
fn estimate(name: &str, x: f64) -> Option<f64> {
    // x = 2k + r, and where sin(pi r) is small, r is counted from a zero.
    let turn = |x: f64| {
        let r = x % 2.0;
        let near = r.round_ties_even();
        ((r - near) * PI, near as i32 & 1 == 1)
    };
    Some(match name {
        "acos" => x.acos(),
        "acosh" => x.acosh(),
        "acospi" => x.acos() / PI,
        "asin" => x.asin(),
        "asinh" => x.asinh(),
        "asinpi" => x.asin() / PI,
        "atan" => x.atan(),
        "atanh" => x.atanh(),
        "atanpi" => x.atan() / PI,
        "cbrt" => x.cbrt(),
        "cos" => x.cos(),
        "cosh" => x.cosh(),
        "cospi" if x.is_finite() => {
            let (r, odd) = turn(x);
            if r.abs() > 1.0 {
                return None;
            } else if odd {
                -r.cos()
            } else {
                r.cos()
            }
        }
        "exp" => x.exp(),
        "exp2" => x.exp2(),
        // Within the range of `float`, the rounded product changes the result by some 1e-14 of it, far less than
        // `DOUBT`.
        "exp10" => (x * std::f64::consts::LN_10).exp(),
        "expm1" => x.exp_m1(),
        "log" => x.ln(),
        "log10" => x.log10(),
        "log1p" => x.ln_1p(),
        "log2" => x.log2(),
        "rsqrt" => 1.0 / x.sqrt(),
        "sin" => x.sin(),
        "sinh" => x.sinh(),
        "sinpi" if x.is_finite() => {
            let (r, odd) = turn(x);
            if odd { -r.sin() } else { r.sin() }
        }
        "sqrt" => x.sqrt(),
        "tan" => x.tan(),
        "tanh" => x.tanh(),
        _ => return None,
    })
}

/// Whether every value of a function needs MPFR, so that a sweep takes long.
pub fn is_slow(name: &str) -> bool {
    estimate(name, 1.5).or(estimate(name, 0.5)).is_none()
        && matches!(want(name, Precision::Single, &Sample::default()), Some(Want::Real(_)))
}

/// An upper bound of the error if the estimate is good; `None` if MPFR is needed.
fn bound(want: f64, got: f64) -> Option<f64> {
    let size = want.abs();
    if !(size.is_finite() && got.is_finite() && size < f64::from(f32::MAX) && size > 0.0) {
        return None;
    }
    let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(-126);
    // The lower neighbour of a power of two is nearer: half the unit for all that begin like one.
    let power = size.to_bits() << 12 >> 32 == 0;
    let unit = 2f64.powi(exponent - 23 - i32::from(power));
    Some((got - want).abs() / unit + DOUBT)
}

/// Measures a function of one `float` on every `stride`th pattern of bits in `range`.
pub fn sweep(
    bench: &Bench,
    function: (&str, &str),
    range: std::ops::Range<u64>,
    stride: u64,
) -> Result<Report, String> {
    let (p, name) = (Precision::Single, function.0);
    let built = bench.build(&measure::kernel(name, function.1, p, 1), "")?;
    let mut report = Report::new();
    let mut at = range.start;
    while at < range.end {
        let patterns = (at..range.end).step_by(stride as usize).take(CHUNK as usize);
        let samples: Vec<Sample> = patterns.map(|b| Sample { x: [p.from_bits(b), 0.0, 0.0], n: 0 }).collect();
        at += stride * samples.len() as u64;
        for (at, got) in samples.iter().zip(measure::run_built(&built, function, p, 1, &samples)?) {
            report.count += 1;
            // What cannot be worse than the worst so far, even if the estimate is off by `DOUBT`, needs no exact
            // result.
            let rough = estimate(name, at.x[0]).and_then(|want| bound(want, got.value));
            if rough.is_some_and(|r| r <= report.worst) {
                continue;
            }
            let want = want(name, p, at).ok_or_else(|| format!("nothing is known of {name}"))?;
            let worst = measure::error(name, p, &want, &got);
            if worst > report.worst {
                let want =
                    if let Want::Real(x) = &want { x.to_string_radix(10, Some(20)) } else { format!("{want:?}") };
                report = Report { worst, at: *at, got, want, ..report };
            }
        }
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accuracy::sample::Random;

    /// The estimates are as good as this file relies on.
    #[test]
    fn estimates_are_near_what_mpfr_says() {
        let p = Precision::Single;
        let mut random = Random::new(4);
        for (name, _) in crate::accuracy::functions() {
            for _ in 0..300 {
                let x = p.from_bits(random.bits());
                let Some(rough) = estimate(name, x) else { continue };
                let at = Sample { x: [x, 0.0, 0.0], n: 0 };
                let exact = match want(name, p, &at) {
                    Some(Want::Real(w)) => w.to_f64(),
                    Some(Want::Exact(o)) => o.value,
                    _ => continue,
                };
                if let Some(error) = bound(exact, rough) {
                    assert!(error < 2.0 * DOUBT || name == "sqrt", "{name}({x:e}): {rough:e} for {exact:e}");
                }
            }
        }
    }
}
