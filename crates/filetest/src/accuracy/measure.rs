//! Runs a function on samples through the compiled path and finds the worst error.

use super::exact::same;
use super::oracle::{Want, want};
use super::{Outcome, Precision, Sample};
use crate::device::{Bench, Built, Data};

/// The result of a measurement.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// The worst error, in units in the last place; infinite for a wrong NaN, infinity, zero or exact result.
    pub worst: f64,
    /// Where.
    pub at: Sample,
    /// The result there.
    pub got: Outcome,
    /// The expected result.
    pub want: String,
    /// How many calls were made.
    pub count: usize,
}

impl Report {
    /// No calls yet.
    pub fn new() -> Self {
        let (at, got) = (Sample::default(), Outcome::default());
        Self { worst: -1.0, at, got, want: String::new(), count: 0 }
    }

    /// Both together.
    pub fn merge(self, other: Report) -> Report {
        let count = self.count + other.count;
        Report { count, ..if other.worst > self.worst { other } else { self } }
    }
}

impl Default for Report {
    fn default() -> Self {
        Self::new()
    }
}

/// The kernel that calls a function on vectors of `width`. Its arguments are three arrays of the type, one of `int`,
/// and the three results: the value, and what is stored of either type.
pub fn kernel(name: &str, sig: &str, p: Precision, width: usize) -> String {
    let t = p.name();
    let lanes = if width == 1 { String::new() } else { width.to_string() };
    let load = |array: &str| match width {
        1 => format!("{array}[i]"),
        _ => format!("vload{width}(i, {array})"),
    };
    let store = |value: &str, array: &str| match width {
        1 => format!("{array}[i] = {value};"),
        _ => format!("vstore{width}({value}, i, {array});"),
    };
    let (a, b, c, n) = (load("a"), load("b"), load("c"), load("n"));
    let body = match sig {
        "T(T)" => store(&format!("{name}({a})"), "r"),
        "T(T,T)" => store(&format!("{name}({a}, {b})"), "r"),
        "T(T,T,T)" => store(&format!("{name}({a}, {b}, {c})"), "r"),
        "T(T,pT)" => {
            format!("{t}{lanes} s; {} {}", store(&format!("{name}({a}, &s)"), "r"), store("s", "r2"))
        }
        "T(T,pN)" => format!("int{lanes} s; {} {}", store(&format!("{name}({a}, &s)"), "r"), store("s", "m")),
        "T(T,T,pN)" => format!("int{lanes} s; {} {}", store(&format!("{name}({a}, {b}, &s)"), "r"), store("s", "m")),
        "N(T)" => store(&format!("{name}({a})"), "m"),
        _ => store(&format!("{name}({a}, {n})"), "r"),
    };
    format!(
        "kernel void test_{name}{lanes}(global const {t} *a, global const {t} *b, global const {t} *c, \
         global const int *n, global {t} *r, global {t} *r2, global int *m)\n\
         {{\n    size_t i = get_global_id(0);\n    {body}\n}}\n"
    )
}

/// Runs a function on samples; their number need not be a multiple of `width`.
pub fn run(
    bench: &Bench,
    function: (&str, &str),
    p: Precision,
    width: usize,
    options: &str,
    samples: &[Sample],
) -> Result<Vec<Outcome>, String> {
    let built = bench.build(&kernel(function.0, function.1, p, width), options)?;
    run_built(&built, function, p, width, samples)
}

/// Runs the [`kernel`] of a function, built before.
pub fn run_built(
    built: &Built<'_>,
    (name, sig): (&str, &str),
    p: Precision,
    width: usize,
    samples: &[Sample],
) -> Result<Vec<Outcome>, String> {
    let items = samples.len().div_ceil(width);
    let filled = items * width;
    // The last vector is filled with copies of the last sample.
    let sample = |i: usize| samples.get(i).or(samples.last()).copied().unwrap_or_default();
    let mut arrays: [Vec<u8>; 3] = Default::default();
    let mut n = Vec::new();
    for s in (0..filled).map(sample) {
        for (array, x) in arrays.iter_mut().zip(s.x) {
            p.put(array, x);
        }
        n.extend(s.n.to_le_bytes());
    }
    // A third of a stored lane is padding in vectors of three; vstore3 has none.
    let fresh = filled * p.size();
    let args = [
        Data::Bytes(&arrays[0]),
        Data::Bytes(&arrays[1]),
        Data::Bytes(&arrays[2]),
        Data::Bytes(&n),
        Data::Fresh(fresh),
        Data::Fresh(fresh),
        Data::Fresh(filled * 4),
    ];
    let lanes = if width == 1 { String::new() } else { width.to_string() };
    let out = built.run(&format!("test_{name}{lanes}"), items, items.min(64), &args)?;
    let (values, seconds) = (p.values(&out[4]), p.values(&out[5]));
    let ints = out[6].as_chunks::<4>().0.iter().map(|&b| i32::from_le_bytes(b));
    // Arrays that the signature does not write hold the fill byte; they are no result.
    let stores = (sig == "T(T,pT)", sig.contains("pN") || sig == "N(T)");
    let outcome = |((value, second), n)| Outcome {
        value: if sig == "N(T)" { 0.0 } else { value },
        second: if stores.0 { second } else { 0.0 },
        n: if stores.1 { n } else { 0 },
    };
    Ok(values.into_iter().zip(seconds).zip(ints).map(outcome).take(samples.len()).collect())
}

/// The error of one outcome.
pub fn error(name: &str, p: Precision, want: &Want, got: &Outcome) -> f64 {
    match want {
        Want::Real(value) => p.ulps(value, got.value),
        Want::Two(value, second) => p.ulps(value, got.value).max(p.ulps(second, got.second)),
        Want::WithInt(value, n) => {
            if *n == got.n {
                p.ulps(value, got.value)
            } else {
                f64::INFINITY
            }
        }
        Want::Exact(outcome) => {
            if same(name, outcome, got) {
                0.0
            } else {
                f64::INFINITY
            }
        }
    }
}

/// Runs a function on samples and compares with the oracle.
pub fn measure(bench: &Bench, function: (&str, &str), p: Precision, samples: &[Sample]) -> Result<Report, String> {
    let name = function.0;
    let mut report = Report::new();
    for (at, got) in samples.iter().zip(run(bench, function, p, 1, "", samples)?) {
        let want = want(name, p, at).ok_or_else(|| format!("nothing is known of {name}"))?;
        let worst = error(name, p, &want, &got);
        report.count += 1;
        if worst > report.worst {
            let want = match want {
                Want::Real(x) => x.to_string_radix(10, Some(20)),
                Want::Two(x, y) => {
                    format!("{}, {}", x.to_string_radix(10, Some(20)), y.to_string_radix(10, Some(20)))
                }
                Want::WithInt(x, n) => format!("{}, {n}", x.to_string_radix(10, Some(20))),
                Want::Exact(o) => format!("{o:?}"),
            };
            report = Report { worst, at: *at, got, want, ..report };
        }
    }
    Ok(report)
}
