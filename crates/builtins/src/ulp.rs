//! The accuracy that the specification requires of the math functions (full profile), in units in the last place.

/// The limits of one function.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limit {
    /// Its name.
    pub name: &'static str,
    /// The largest error of `float`; 0.5 is "correctly rounded", infinity "undefined".
    pub single: f64,
    /// The largest error of `double`.
    pub double: f64,
    /// The largest error of `half`.
    pub half: f64,
}

const fn limit(name: &'static str, ulp: f64, half: f64) -> Limit {
    Limit { name, single: ulp, double: ulp, half }
}

/// Correctly rounded.
const ROUNDED: f64 = 0.5;

/// The elementwise functions that the library defines, by name: the limit of `float` and `double`, which is the same,
/// and that of `half`. Where it leaves the error undefined (`lgamma`), so does this table.
pub const LIMITS: &[Limit] = &[
    limit("acos", 4.0, 2.0),
    limit("acosh", 4.0, 2.0),
    limit("acospi", 5.0, 2.0),
    limit("asin", 4.0, 2.0),
    limit("asinh", 4.0, 2.0),
    limit("asinpi", 5.0, 2.0),
    limit("atan", 5.0, 2.0),
    limit("atan2", 6.0, 2.0),
    limit("atan2pi", 6.0, 2.0),
    limit("atanh", 5.0, 2.0),
    limit("atanpi", 5.0, 2.0),
    limit("cbrt", 2.0, 2.0),
    limit("cos", 4.0, 2.0),
    limit("cosh", 4.0, 2.0),
    limit("cospi", 4.0, 2.0),
    limit("erf", 16.0, 4.0),
    limit("erfc", 16.0, 4.0),
    limit("exp", 3.0, 2.0),
    limit("exp10", 3.0, 2.0),
    limit("exp2", 3.0, 2.0),
    limit("expm1", 3.0, 2.0),
    limit("fdim", ROUNDED, ROUNDED),
    limit("fmod", 0.0, 0.0),
    limit("fract", ROUNDED, ROUNDED),
    limit("frexp", 0.0, 0.0),
    limit("hypot", 4.0, 2.0),
    limit("ilogb", 0.0, 0.0),
    limit("ldexp", ROUNDED, ROUNDED),
    limit("lgamma", f64::INFINITY, f64::INFINITY),
    limit("lgamma_r", f64::INFINITY, f64::INFINITY),
    limit("log", 3.0, 2.0),
    limit("log10", 3.0, 2.0),
    limit("log1p", 2.0, 2.0),
    limit("log2", 3.0, 2.0),
    limit("logb", 0.0, 0.0),
    limit("maxmag", 0.0, 0.0),
    limit("minmag", 0.0, 0.0),
    limit("modf", 0.0, 0.0),
    limit("nextafter", 0.0, 0.0),
    limit("pow", 16.0, 4.0),
    limit("pown", 16.0, 4.0),
    limit("powr", 16.0, 4.0),
    limit("remainder", 0.0, 0.0),
    limit("remquo", 0.0, 0.0),
    limit("rootn", 16.0, 4.0),
    limit("round", 0.0, 0.0),
    limit("rsqrt", 2.0, 1.0),
    limit("sin", 4.0, 2.0),
    limit("sincos", 4.0, 2.0),
    limit("sinh", 4.0, 2.0),
    limit("sinpi", 4.0, 2.0),
    limit("tan", 5.0, 2.5),
    limit("tanh", 5.0, 2.0),
    limit("tanpi", 6.0, 2.0),
    limit("tgamma", 16.0, 4.0),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lower, lookup, names};

    #[test]
    fn every_function_of_the_library_has_a_limit() {
        let own = |name: &&str| lookup(name).iter().any(|row| row.lower == Lower::Each(None));
        // The errors of native functions are the machine's affair.
        let has_limit = |name: &&str| *name != "nan" && !name.starts_with("native_");
        let mut want: Vec<&str> = names().filter(own).filter(has_limit).collect();
        want.sort_unstable();
        let have: Vec<&str> = LIMITS.iter().map(|l| l.name).collect();
        assert_eq!(have, want);
    }
}
