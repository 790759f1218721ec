//! Functions with one right answer (or two, where the sign of a zero is free), written with the arithmetic of Rust and
//! integers. None of it is taken from the library's sources.

use super::Precision::{Double, Half, Single};
use super::{Outcome, Precision, Sample};
use crate::device;

/// FP_ILOGB0 and FP_ILOGBNAN of the front end.
const LOG_OF_ZERO: i32 = i32::MIN;
const LOG_OF_NAN: i32 = i32::MAX;

fn value(value: f64) -> Option<Outcome> {
    Some(Outcome { value, ..Outcome::default() })
}

/// The result, if the function is one of those with one right answer.
pub fn exact(name: &str, precision: Precision, s: &Sample) -> Option<Outcome> {
    let [x, y, z] = s.x;
    match name {
        "fabs" => value(x.abs()),
        "floor" => value(x.floor()),
        "ceil" => value(x.ceil()),
        "trunc" => value(x.trunc()),
        "rint" => value(x.round_ties_even()),
        "round" => value(x.round()),
        "sqrt" => value(match precision {
            Single => f64::from((x as f32).sqrt()),
            Double => x.sqrt(),
            // A root in `double` has more than twice the bits of a `half` and two more: rounding it again gives the
            // correctly rounded one.
            Half => precision.round(x.sqrt()),
        }),
        "copysign" => value(x.copysign(y)),
        "sign" => value(if x.is_nan() || x == 0.0 { if x.is_nan() { 0.0 } else { x } } else { 1f64.copysign(x) }),
        "step" => value(if y < x { 0.0 } else { 1.0 }),
        "fmin" => value(or_number(f64::min, x, y)),
        "fmax" => value(or_number(f64::max, x, y)),
        "maxmag" | "minmag" => {
            let first = if name == "maxmag" { x.abs() > y.abs() } else { x.abs() < y.abs() };
            let second = if name == "maxmag" { y.abs() > x.abs() } else { y.abs() < x.abs() };
            // Of equal magnitudes the greater or the smaller number; of a number and NaN, which compares with nothing,
            // the number.
            let neither = or_number(if name == "maxmag" { f64::max } else { f64::min }, x, y);
            value(if first {
                x
            } else if second {
                y
            } else {
                neither
            })
        }
        // Computed in floats, where the product is exact.
        "mad" if precision == Half => value(precision.round(f64::from((x * y) as f32 + z as f32))),
        "fma" if precision == Half => value(precision.round(fused_halves(x, y, z))),
        "mad" if !device::multiplies_and_adds() => value(match precision {
            Single => f64::from(x as f32 * y as f32 + z as f32),
            _ => x * y + z,
        }),
        "fma" | "mad" => value(match precision {
            Single => f64::from((x as f32).mul_add(y as f32, z as f32)),
            _ => x.mul_add(y, z),
        }),
        "fdim" => value(match precision {
            _ if x.is_nan() || y.is_nan() => f64::NAN,
            _ if x <= y => 0.0,
            Single => f64::from(x as f32 - y as f32),
            _ => precision.round(x - y),
        }),
        // A remainder has no more bits than its arguments: it is exact in every precision.
        "fmod" => value(x % y),
        "remainder" => value(divide(x, y).map_or(f64::NAN, |d| d.0)),
        "remquo" => Some(divide(x, y).map_or(Outcome { value: f64::NAN, ..Outcome::default() }, |(value, n)| {
            Outcome { value, n, ..Outcome::default() }
        })),
        "fract" => Some(fract(precision, x)),
        "modf" => {
            let whole = x.trunc();
            let rest = if x.is_infinite() { 0.0 } else { x - whole };
            Some(Outcome { value: if x.is_nan() { x } else { rest.copysign(x) }, second: whole, n: 0 })
        }
        "frexp" => Some(match exponent(x) {
            Some(e) => Outcome { value: scale(x, -(e + 1)), n: e + 1, second: 0.0 },
            None => Outcome { value: x, ..Outcome::default() },
        }),
        "ilogb" => {
            let n = match exponent(x) {
                Some(e) => e,
                None if x == 0.0 => LOG_OF_ZERO,
                None if x.is_nan() => LOG_OF_NAN,
                None => i32::MAX,
            };
            Some(Outcome { n, ..Outcome::default() })
        }
        "logb" => value(match exponent(x) {
            Some(e) => f64::from(e),
            None if x == 0.0 => f64::NEG_INFINITY,
            None => x.abs(),
        }),
        "ldexp" => value(ldexp(precision, x, s.n)),
        "nextafter" => value(nextafter(precision, x, y)),
        _ => None,
    }
}

/// Whether two outcomes are the same, up to the kind of NaN and, where the specification leaves it free, the sign of
/// zero.
pub fn same(name: &str, want: &Outcome, got: &Outcome) -> bool {
    let free_zero = ["fmin", "fmax", "maxmag", "minmag"].contains(&name);
    let equal = |a: f64, b: f64| {
        (a.is_nan() && b.is_nan()) || a.to_bits() == b.to_bits() || (free_zero && a == 0.0 && b == 0.0)
    };
    equal(want.value, got.value) && equal(want.second, got.second) && want.n == got.n
}

/// The smaller or larger of two; of a number and no number the number, also if that signals, where Rust's functions
/// differ by machine.
fn or_number(of: fn(f64, f64) -> f64, x: f64, y: f64) -> f64 {
    match (x.is_nan(), y.is_nan()) {
        (false, false) => of(x, y),
        (true, _) => y,
        (_, true) => x,
    }
}

/// The exponent of a finite number other than zero.
fn exponent(x: f64) -> Option<i32> {
    if x == 0.0 || !x.is_finite() {
        return None;
    }
    let bits = x.to_bits() << 1 >> 53;
    let fraction = x.to_bits() & ((1 << 52) - 1);
    Some(match bits {
        // A denormal number has no hidden bit: its highest set bit is the exponent. The least one, 2^-1074, has 63
        // zeros in front.
        0 => -1011 - fraction.leading_zeros() as i32,
        e => e as i32 - 1023,
    })
}

/// x * 2^n where the result is exact.
fn scale(x: f64, n: i32) -> f64 {
    let power = |n: i32| f64::from_bits(((n + 1023) as u64) << 52);
    // `f64` has no power of two for each `n` that occurs, such as 1074 for the least denormal number; it has one for a
    // third of it.
    let third = n / 3;
    x * power(third) * power(third) * power(n - 2 * third)
}

/// `x * y + z` of halves, as a number that rounds to the same half: the sum is a number of units of 2^-48, of which the
/// upper 40 bits are kept and, in the last one, whether there are others.
fn fused_halves(x: f64, y: f64, z: f64) -> f64 {
    let sum = x * y + z;
    if !sum.is_finite() || sum == 0.0 {
        return sum;
    }
    let units = |v: f64| (v * 2f64.powi(48)) as i128;
    let exact = units(x * y) + units(z);
    let size = exact.unsigned_abs();
    let dropped = (128 - size.leading_zeros()).saturating_sub(40);
    let kept = (size >> dropped) | u128::from(size & ((1 << dropped) - 1) != 0);
    scale(kept as f64, dropped as i32 - 48).copysign(sum)
}

fn ldexp(precision: Precision, x: f64, n: i32) -> f64 {
    let Some(e) = exponent(x) else { return x };
    let to = e.saturating_add(n);
    if to > 1100 {
        return f64::INFINITY.copysign(x);
    }
    if to < -1100 {
        return 0f64.copysign(x);
    }
    match precision {
        // A float scaled within the range of double is exact, and rounds once to float; outside, it is beyond float
        // too.
        Single if to > 200 => f64::INFINITY.copysign(x),
        Single if to < -200 => 0f64.copysign(x),
        Single => f64::from(scale(x, n) as f32),
        Half if to > 100 => f64::INFINITY.copysign(x),
        Half if to < -100 => 0f64.copysign(x),
        Half => precision.round(scale(x, n)),
        // All but the last factor are exact when the significand is brought to [1, 2) first.
        Double => {
            let m = scale(x, -e);
            match to {
                1024.. => f64::INFINITY.copysign(x),
                -1022.. => scale(m, to),
                _ => m * f64::from_bits(1 << 52) * f64::from_bits(((to + 1022 + 1023).max(0) as u64) << 52),
            }
        }
    }
}

fn nextafter(precision: Precision, x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if x == y {
        return y;
    }
    match precision {
        Single if y > x => f64::from((x as f32).next_up()),
        Single => f64::from((x as f32).next_down()),
        Double if y > x => x.next_up(),
        Double => x.next_down(),
        Half if x == 0.0 => precision.from_bits(1).copysign(y),
        Half => precision.step(x, if (y > x) == (x > 0.0) { 1 } else { -1 }),
    }
}

fn fract(precision: Precision, x: f64) -> Outcome {
    let below_one = match precision {
        Single => f64::from(1f32.next_down()),
        Double => 1f64.next_down(),
        Half => 1.0 - 2f64.powi(-11),
    };
    let whole = x.floor();
    let rest = if x.is_infinite() { 0.0 } else { precision.round(x - whole).min(below_one) };
    let value = match x {
        _ if x.is_nan() => x,
        _ if rest == 0.0 => 0f64.copysign(x),
        _ => rest,
    };
    Outcome { value, second: whole, n: 0 }
}

/// The remainder of the nearest quotient (a tie goes to the even one), and seven bits of the quotient with its sign. By
/// long division, one bit at a time.
fn divide(x: f64, y: f64) -> Option<(f64, i32)> {
    if !x.is_finite() || y == 0.0 || y.is_nan() {
        return None;
    }
    let (Some(ex), false) = (exponent(x), y.is_infinite()) else { return Some((x, 0)) };
    let ey = exponent(y)?;
    let significand = |v: f64, e: i32| (scale(v.abs(), -e) * 2f64.powi(52)) as i128;
    let (mut rest, divisor) = (significand(x, ex), significand(y, ey));
    let negative = (x < 0.0) != (y < 0.0);
    // Less than half of the divisor in any case: the nearest quotient is zero.
    if ex < ey - 1 {
        return Some((x, 0));
    }
    let mut quotient = 0i32;
    // `rest` is in units of 2^(ex - 52) at first, of 2^(ey - 52) at last; one bit of room below for ex = ey - 1.
    let divisor = divisor << 1;
    rest <<= if ex < ey { 0 } else { 1 };
    for step in (0..=(ex - ey).max(0)).rev() {
        // Only the low seven bits of the quotient are a result, and the quotient may have hundreds of bits.
        quotient = (quotient << 1) & 0xff;
        if rest >= divisor {
            rest -= divisor;
            quotient |= 1;
        }
        if step > 0 {
            rest <<= 1;
        }
    }
    if 2 * rest > divisor || (2 * rest == divisor && quotient & 1 == 1) {
        rest -= divisor;
        quotient += 1;
    }
    let size = scale(rest.unsigned_abs() as f64 * 2f64.powi(-53), ey);
    let flipped = (rest < 0) != (x.is_sign_negative());
    let remainder = if rest == 0 {
        0f64.copysign(x)
    } else if flipped {
        -size
    } else {
        size
    };
    let bits = quotient & 0x7f;
    Some((remainder, if negative { -bits } else { bits }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_and_scales_are_exact() {
        assert_eq!(exponent(1.0), Some(0));
        assert_eq!(exponent(-0.75), Some(-1));
        assert_eq!(exponent(f64::from_bits(1)), Some(-1074));
        assert_eq!(exponent(f64::MIN_POSITIVE.next_down()), Some(-1023));
        assert_eq!(scale(f64::from_bits(1), 1074), 1.0);
        assert_eq!(scale(1.5, -1022), 1.5 * f64::MIN_POSITIVE);
    }

    #[test]
    fn scaling_rounds_once() {
        assert_eq!(ldexp(Double, 3.0, -1075), 2.0 * f64::from_bits(1), "a tie goes to the even neighbour");
        assert_eq!(ldexp(Double, 1.0, -1075), 0.0);
        assert_eq!(ldexp(Double, 1.5, -1075), f64::from_bits(1));
        assert_eq!(ldexp(Single, 1.0, -149), f64::from(f32::from_bits(1)));
        assert_eq!(ldexp(Single, 1.0, 128), f64::INFINITY);
        assert_eq!(ldexp(Double, f64::from_bits(1), 2097), 2f64.powi(1023));
    }

    #[test]
    fn division_goes_to_the_nearest_quotient() {
        assert_eq!(divide(5.0, 3.0), Some((-1.0, 2)));
        assert_eq!(divide(-5.0, 3.0), Some((1.0, -2)));
        assert_eq!(divide(2.5, 1.0), Some((0.5, 2)));
        assert_eq!(divide(3.5, 1.0), Some((-0.5, 4)));
        assert_eq!(divide(0.75, 1.0), Some((-0.25, 1)));
        assert_eq!(divide(0.5, 1.0), Some((0.5, 0)));
        assert_eq!(
            divide(1e300, 7.0).map(|d| d.0),
            Some({
                let r = 1e300 % 7.0;
                if r > 3.5 { r - 7.0 } else { r }
            })
        );
        assert_eq!(divide(1.0, f64::INFINITY), Some((1.0, 0)));
        assert_eq!(divide(1.0, 0.0), None);
    }
}
