//! The functions' results as real numbers, by MPFR, whose results are correctly rounded to any number of bits.
//!
//! The edge cases are C's, which MPFR keeps too, and where OpenCL says something else, OpenCL's.

use super::exact::exact;
use super::{Outcome, Precision, Sample};
use rug::Float;
use rug::float::Special;
use rug::ops::Pow;

/// The expected result of a call.
#[derive(Clone, Debug)]
pub enum Want {
    /// The number nearest to this one.
    Real(Float),
    /// The number nearest to the first; the second is stored.
    Two(Float, Float),
    /// The number nearest to this one, and this integer is stored.
    WithInt(Float, i32),
    /// Exactly this.
    Exact(Outcome),
}

/// The result of a function. None: it is not known here.
pub fn want(name: &str, precision: Precision, s: &Sample) -> Option<Want> {
    // Approximate functions are measured like the ones that they stand for.
    let (base, approximate) = match name.strip_prefix("half_").or_else(|| name.strip_prefix("native_")) {
        Some(base) => (base, true),
        None => (name, false),
    };
    if !approximate && let Some(outcome) = exact(base, precision, s) {
        return Some(Want::Exact(outcome));
    }
    let bits = precision.oracle_bits();
    let f = |x: f64| Float::with_val(bits, x);
    match base {
        "sincos" => Some(Want::Two(f(s.x[0]).sin(), f(s.x[0]).cos())),
        "lgamma" => Some(Want::Real(lgamma(bits, s.x[0]).0)),
        "lgamma_r" => {
            let (value, sign) = lgamma(bits, s.x[0]);
            Some(Want::WithInt(value, sign))
        }
        _ => real(base, bits, s).map(Want::Real),
    }
}

fn real(name: &str, bits: u32, s: &Sample) -> Option<Float> {
    let [x, y, _] = s.x.map(|v| Float::with_val(bits, v));
    let negative_zero = x.is_zero() && x.is_sign_negative();
    Some(match name {
        "acos" => x.acos(),
        "acosh" => x.acosh(),
        "acospi" => x.acos_pi(),
        "asin" => x.asin(),
        "asinh" => x.asinh(),
        "asinpi" => x.asin_pi(),
        "atan" => x.atan(),
        "atan2" => x.atan2(&y),
        "atan2pi" => x.atan2_pi(&y),
        "atanh" => x.atanh(),
        "atanpi" => x.atan_pi(),
        "cbrt" => x.cbrt(),
        "cos" => x.cos(),
        "cosh" => x.cosh(),
        "cospi" => x.cos_pi(),
        // Pi has more bits than the result, so that its own error does not show.
        "degrees" => x * 180 / Float::with_val(bits + 16, rug::float::Constant::Pi),
        "divide" => x / y,
        "erf" => x.erf(),
        // Far below the range; MPFR would take its time.
        "erfc" if x.is_finite() && x > 100 => tiny(bits, false),
        "erfc" => x.erfc(),
        "exp" => x.exp(),
        "exp10" => x.exp10(),
        "exp2" => x.exp2(),
        "expm1" => x.exp_m1(),
        "hypot" => x.hypot(&y),
        "log" => x.ln(),
        "log10" => x.log10(),
        "log1p" => x.ln_1p(),
        "log2" => x.log2(),
        "pow" => x.pow(&y),
        "pown" => x.pow(s.n),
        "powr" => powr(bits, &x, &y),
        "radians" => x * Float::with_val(bits + 16, rug::float::Constant::Pi) / 180,
        "recip" => x.recip(),
        "rootn" => x.root_i(s.n),
        // A function of the root, like 1 / sqrt(x).
        "rsqrt" if negative_zero => Float::with_val(bits, Special::NegInfinity),
        "rsqrt" => x.recip_sqrt(),
        "sin" => x.sin(),
        "sinh" => x.sinh(),
        "sinpi" => x.sin_pi(),
        "sqrt" => x.sqrt(),
        "tan" => x.tan(),
        "tanh" => x.tanh(),
        "tanpi" => x.tan_pi(),
        "tgamma" => tgamma(bits, x),
        _ => return None,
    })
}

/// A number below all ranges.
fn tiny(bits: u32, negative: bool) -> Float {
    Float::with_val(bits, Float::i_exp(if negative { -1 } else { 1 }, -100_000))
}

/// e^(y log x), which has no value where that has none.
fn powr(bits: u32, x: &Float, y: &Float) -> Float {
    let nothing = || Float::with_val(bits, Special::Nan);
    let edge = x.is_zero() || x.is_infinite();
    if x.is_nan() || y.is_nan() || (x.is_sign_negative() && !x.is_zero()) {
        return nothing();
    }
    if (y.is_zero() && edge) || (*x == 1 && y.is_infinite()) {
        return nothing();
    }
    // Zero counts as positive.
    x.clone().abs().pow(y)
}

fn tgamma(bits: u32, x: Float) -> Float {
    if x.is_finite() && x < -200 && !x.is_integer() {
        // Between -2k and 1 - 2k the function is positive.
        let odd = x.clone().floor().to_integer_bit();
        return tiny(bits, odd);
    }
    // Beyond the range of `double`, which ends below 172; MPFR would take long for the greatest numbers.
    if x.is_finite() && x > 200 {
        return Float::with_val(bits, Special::Infinity);
    }
    x.gamma()
}

trait LowBit {
    /// Whether an integer is odd.
    fn to_integer_bit(self) -> bool;
}

impl LowBit for Float {
    fn to_integer_bit(self) -> bool {
        let half = self >> 1u32;
        !half.is_integer()
    }
}

/// log|gamma(x)| and the sign of gamma(x): 0 at zero and at the poles, to which our library counts minus infinity.
fn lgamma(bits: u32, x: f64) -> (Float, i32) {
    let pole = x == 0.0 || (x < 0.0 && x.floor() == x);
    let sign = if pole { 0 } else { 1 - 2 * i32::from(x < 0.0 && (x.floor() % 2.0) != 0.0) };
    let value = Float::with_val(bits, x).ln_abs_gamma().0;
    (value, sign)
}
