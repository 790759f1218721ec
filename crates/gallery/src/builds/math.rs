//! Kernels that call functions of the math library, each once. The wanted results are computed in double precision,
//! from Rust's library and from series.

use crate::args;
use crate::cl::Session;
use crate::error::Result;
use crate::program::{Verdict, close};
use std::f64::consts::PI;
use std::fmt::Write;

/// Arguments that each function is called with.
const N: usize = 64;

/// A call of a function, on `x` and `y` between 0.1 and 0.9.
type Call = (&'static str, fn(f64, f64) -> f64);

/// Functions that belong together.
pub(super) struct Group {
    pub(super) name: &'static str,
    calls: &'static [Call],
}

pub(super) const GROUPS: &[Group] = &[
    Group {
        name: "exponents and powers",
        calls: &[
            ("exp(x)", |x, _| x.exp()),
            ("exp2(x)", |x, _| x.exp2()),
            ("exp10(x)", |x, _| 10f64.powf(x)),
            ("expm1(x)", |x, _| x.exp_m1()),
            ("log(x)", |x, _| x.ln()),
            ("log2(x)", |x, _| x.log2()),
            ("log10(x)", |x, _| x.log10()),
            ("log1p(x)", |x, _| x.ln_1p()),
            ("pow(x, y)", f64::powf),
            ("powr(x, y)", f64::powf),
            ("pown(x, 3)", |x, _| x.powi(3)),
            ("rootn(x, 3)", |x, _| x.cbrt()),
            ("sqrt(x)", |x, _| x.sqrt()),
            ("rsqrt(x)", |x, _| 1.0 / x.sqrt()),
            ("cbrt(x)", |x, _| x.cbrt()),
            ("hypot(x, y)", f64::hypot),
        ],
    },
    Group {
        name: "trigonometry",
        calls: &[
            ("sin(x)", |x, _| x.sin()),
            ("cos(x)", |x, _| x.cos()),
            ("tan(x)", |x, _| x.tan()),
            ("sinpi(x)", |x, _| (x * PI).sin()),
            ("cospi(x)", |x, _| (x * PI).cos()),
            ("tanpi(x / 4.0f)", |x, _| (x * PI / 4.0).tan()),
        ],
    },
    Group {
        name: "inverse trigonometry",
        calls: &[
            ("asin(x)", |x, _| x.asin()),
            ("acos(x)", |x, _| x.acos()),
            ("atan(x)", |x, _| x.atan()),
            ("atan2(x, y)", f64::atan2),
            ("asinpi(x)", |x, _| x.asin() / PI),
            ("acospi(x)", |x, _| x.acos() / PI),
            ("atanpi(x)", |x, _| x.atan() / PI),
            ("atan2pi(x, y)", |x, y| x.atan2(y) / PI),
        ],
    },
    Group {
        name: "hyperbolic",
        calls: &[
            ("sinh(x)", |x, _| x.sinh()),
            ("cosh(x)", |x, _| x.cosh()),
            ("tanh(x)", |x, _| x.tanh()),
            ("asinh(x)", |x, _| x.asinh()),
            ("acosh(1.0f + x)", |x, _| (1.0 + x).acosh()),
            ("atanh(x)", |x, _| x.atanh()),
        ],
    },
    Group {
        name: "error and gamma",
        calls: &[
            ("erf(x)", |x, _| erf(x)),
            ("erfc(x)", |x, _| 1.0 - erf(x)),
            ("tgamma(x)", |x, _| gamma(x)),
            ("lgamma(x)", |x, _| gamma(x).ln()),
        ],
    },
    Group {
        name: "rounding and parts",
        calls: &[
            ("floor(4.0f * x)", |x, _| (4.0 * x).floor()),
            ("ceil(4.0f * x)", |x, _| (4.0 * x).ceil()),
            ("trunc(4.0f * x)", |x, _| (4.0 * x).trunc()),
            ("rint(4.0f * x)", |x, _| (4.0 * x).round_ties_even()),
            ("round(4.0f * x)", |x, _| (4.0 * x).round()),
            ("fabs(-x)", |x, _| x),
            ("fmod(4.0f * x, y)", |x, y| (4.0 * x) % y),
            ("remainder(x, 2.0f)", |x, _| x),
            ("fdim(x, y)", |x, y| (x - y).max(0.0)),
            ("fmax(x, y)", f64::max),
            ("fmin(x, y)", f64::min),
            ("fma(x, y, x)", |x, y| x * y + x),
            ("mad(x, y, y)", |x, y| x * y + y),
            ("copysign(x, -y)", |x, _| -x),
            ("ldexp(x, 5)", |x, _| x * 32.0),
            ("logb(x)", |x, _| x.log2().floor()),
            ("(float)ilogb(x)", |x, _| x.log2().floor()),
            ("nextafter(x, y)", |x, _| x),
            ("maxmag(x, -y)", |x, y| if x > y { x } else { -y }),
            ("minmag(x, -y)", |x, y| if x < y { x } else { -y }),
        ],
    },
];

/// The error function by its Taylor series, which converges quickly below one.
fn erf(x: f64) -> f64 {
    let (mut sum, mut power) = (0.0, x);
    for n in 0..40 {
        sum += power / f64::from(2 * n + 1);
        power *= -x * x / f64::from(n + 1);
    }
    sum * 2.0 / PI.sqrt()
}

/// The gamma function by Stirling's series, at an argument that recurrence has made large.
fn gamma(x: f64) -> f64 {
    const SHIFT: i32 = 12;
    let product: f64 = (0..SHIFT).map(|k| x + f64::from(k)).product();
    let z = x + f64::from(SHIFT);
    let series = 1.0 / (12.0 * z) - 1.0 / (360.0 * z.powi(3)) + 1.0 / (1260.0 * z.powi(5));
    ((z - 0.5) * z.ln() - z + (2.0 * PI).ln() / 2.0 + series).exp() / product
}

fn source(groups: &[Group]) -> String {
    let mut text = "kernel void math(global const float *in, global float *out)\n{\n".to_owned();
    text += "    const uint i = get_global_id(0), n = get_global_size(0);\n";
    // The second argument is the mirror image of the first: all pairs differ, and both are in the same range.
    text += "    const float x = in[i], y = in[n - 1 - i];\n\n";
    for (k, (call, _)) in groups.iter().flat_map(|g| g.calls).enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    out[{k} * n + i] = {call};");
    }
    text + "}\n"
}

/// Builds a kernel of these groups, and compares all results.
pub(super) fn run(session: &Session, groups: &[Group]) -> Result<Verdict> {
    // No multiple of a quarter, where a rounding function would jump.
    let data: Vec<f32> = (0..N).map(|i| 0.1 + 0.8 * (i as f32 + 0.37) / N as f32).collect();
    let calls: Vec<Call> = groups.iter().flat_map(|g| g.calls).copied().collect();
    let (input, output) = (session.upload(&data)?, session.zeroed::<f32>(N * calls.len())?);
    let kernel = session.build("math", &source(groups), "")?.kernel("math")?;
    session.launch(&kernel, args![&input, &output], &[N], &[N])?;
    session.finish()?;
    let of = |f: fn(f64, f64) -> f64| (0..N).map(move |i| (f, i));
    let points = calls.iter().flat_map(|(_, f)| of(*f));
    let want: Vec<f64> = points.map(|(f, i)| f(data[i].into(), data[N - 1 - i].into())).collect();
    let verdict = close(&session.read(&output)?, &want, |i| 1e-5 * (1.0 + want[i].abs()), "results");
    Ok(match verdict {
        Verdict::Failed(why) => Verdict::Failed(format!("{why} (each function has {N})")),
        passed => passed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_agree_with_known_values() {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-10 * b.abs();
        assert!(close(erf(0.5), 0.520_499_877_813_046_5) && close(erf(0.9), 0.796_908_212_422_832));
        assert!(close(gamma(0.5), PI.sqrt()) && close(gamma(5.0), 24.0));
    }

    #[test]
    fn no_function_is_called_twice() {
        let mut names: Vec<&str> = GROUPS.iter().flat_map(|g| g.calls).map(|(call, _)| *call).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!((names.len(), count > 50), (count, true));
        assert_eq!(source(&GROUPS[..1]).matches("out[").count(), GROUPS[0].calls.len());
    }
}
