//! How exact the math functions are: each through the compiled path, measured against results that share nothing with
//! the library.
//!
//! * [`precision`]: `float`, `double` and `half`, and the error of a result in units in the last place.
//! * [`oracle`]: the expected result of a function: a real number from MPFR, or one exact value ([`exact`]).
//! * [`sample`]: the arguments of the samples.
//! * [`measure`]: kernels, runs, and the worst error found.
//! * [`sweep`]: all values of `float`.
//!
//! Values of every precision travel as `f64`, which holds every `float` and `half`.

pub mod exact;
pub mod measure;
pub mod oracle;
pub mod precision;
pub mod sample;
pub mod sweep;

pub use measure::{Report, measure};
pub use precision::Precision;

use cloom_builtins::ulp::{LIMITS, Limit};

/// The arguments of one call.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sample {
    /// The floating-point arguments, as many as the function has.
    pub x: [f64; 3],
    /// The integer argument, if the function has one.
    pub n: i32,
}

/// The results of one call: its value, and what it stored.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Outcome {
    /// The value, unless it is an integer.
    pub value: f64,
    /// What was stored through a pointer to the type of the argument.
    pub second: f64,
    /// What was stored through a pointer to `int`, or the value of `ilogb`.
    pub n: i32,
}

/// The functions that are measured, with their signatures as the table of built-in functions writes them.
pub fn functions() -> Vec<(&'static str, &'static str)> {
    let math =
        |sig: &str| ["T(T)", "T(T,T)", "T(T,T,T)", "T(T,pT)", "T(T,pN)", "T(T,T,pN)", "N(T)", "T(T,N)"].contains(&sig);
    let mut list: Vec<_> = cloom_builtins::names()
        .filter(|name| !name.starts_with("__cl_"))
        .flat_map(|name| cloom_builtins::lookup(name).iter().map(move |row| (name, row)))
        .filter(|(_, row)| row.set.iter().all(|e| e.is_float()) && row.lanes.len() == 6 && math(row.sig))
        .map(|(name, row)| (name, row.sig))
        // Measured by absolute errors.
        .filter(|(name, _)| !["mix", "smoothstep"].contains(name))
        .collect();
    list.sort_unstable();
    list
}

/// Whether a function exists in a precision: `half_sin` and its like are for `float` alone.
pub fn has(name: &str, precision: Precision) -> bool {
    precision == Precision::Single || !(name.starts_with("half_") || name.starts_with("native_"))
}

/// The largest error that the specification allows, in units in the last place; 0 for functions whose results need no
/// rounding, 0.5 for correctly rounded ones. What the specification leaves to the implementation (`native_`, `lgamma`)
/// has limits of our own.
pub fn limit(name: &str, precision: Precision) -> f64 {
    if name.starts_with("half_") || name.starts_with("native_") {
        return 8192.0;
    }
    let of = |l: &Limit| match precision {
        Precision::Single => l.single,
        Precision::Double => l.double,
        Precision::Half => l.half,
    };
    match name {
        "degrees" | "radians" => 2.0,
        _ => LIMITS.iter().find(|l| l.name == name).map_or(0.5, of),
    }
}
