//! The precisions: values to bytes and back, and the error of a result in units in the last place (ULP).

use cloom_ir::{Scalar, eval};
use rug::Float;

/// A type of floating-point numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Precision {
    /// `float`
    Single,
    /// `double`
    Double,
    /// `half`
    Half,
}

use Precision::{Double, Half, Single};

impl Precision {
    /// How the language calls it.
    pub fn name(self) -> &'static str {
        match self {
            Single => "float",
            Double => "double",
            Half => "half",
        }
    }

    /// The integer as wide, in the language.
    pub fn bits_name(self) -> &'static str {
        match self {
            Single => "int",
            Double => "long",
            Half => "short",
        }
    }

    /// Bytes of a value.
    pub fn size(self) -> usize {
        match self {
            Single => 4,
            Double => 8,
            Half => 2,
        }
    }

    /// Bits of the significand, the hidden one included.
    pub fn digits(self) -> i32 {
        match self {
            Single => 24,
            Double => 53,
            Half => 11,
        }
    }

    /// The exponent of the smallest normal number.
    pub fn least_exponent(self) -> i32 {
        match self {
            Single => -126,
            Double => -1022,
            Half => -14,
        }
    }

    /// The exponent of the smallest power of two that is too large.
    pub fn overflow_exponent(self) -> i32 {
        match self {
            Single => 128,
            Double => 1024,
            Half => 16,
        }
    }

    /// The smallest normal number.
    pub fn least_normal(self) -> f64 {
        match self {
            Single => f64::from(f32::MIN_POSITIVE),
            Double => f64::MIN_POSITIVE,
            Half => 2f64.powi(-14),
        }
    }

    /// The value with these bits, of which narrower types take the low ones.
    pub fn from_bits(self, bits: u64) -> f64 {
        match self {
            Single => f64::from(f32::from_bits(bits as u32)),
            Double => f64::from_bits(bits),
            Half => eval::to_f64(Scalar::F16, bits & 0xffff),
        }
    }

    /// The bits of a value of this precision.
    pub fn to_bits(self, x: f64) -> u64 {
        match self {
            Single => u64::from((x as f32).to_bits()),
            Double => x.to_bits(),
            Half => eval::from_f64(Scalar::F16, x),
        }
    }

    /// The nearest value of this precision.
    pub fn round(self, x: f64) -> f64 {
        match self {
            Single => f64::from(x as f32),
            Double => x,
            Half => self.from_bits(self.to_bits(x)),
        }
    }

    /// The next value up (`steps` > 0) or down in the order of the bits of a positive number.
    pub fn step(self, x: f64, steps: i64) -> f64 {
        self.from_bits(self.to_bits(x).wrapping_add_signed(steps))
    }

    /// Whether a value lies below the normal numbers.
    pub fn is_denormal(self, x: f64) -> bool {
        x != 0.0 && x.abs() < self.least_normal()
    }

    /// Appends a value to bytes.
    pub fn put(self, bytes: &mut Vec<u8>, x: f64) {
        match self {
            Single => bytes.extend((x as f32).to_le_bytes()),
            Double => bytes.extend(x.to_le_bytes()),
            Half => bytes.extend((self.to_bits(x) as u16).to_le_bytes()),
        }
    }

    /// All values in bytes.
    pub fn values(self, bytes: &[u8]) -> Vec<f64> {
        match self {
            Single => bytes.as_chunks::<4>().0.iter().map(|&b| f64::from(f32::from_le_bytes(b))).collect(),
            Double => bytes.as_chunks::<8>().0.iter().map(|&b| f64::from_le_bytes(b)).collect(),
            Half => {
                let bits = bytes.as_chunks::<2>().0.iter().map(|&b| u64::from(u16::from_le_bytes(b)));
                bits.map(|b| self.from_bits(b)).collect()
            }
        }
    }

    /// Bits that a real number needs so that its own error does not matter.
    pub fn oracle_bits(self) -> u32 {
        match self {
            Single | Half => 64,
            Double => 96,
        }
    }

    /// The error of `got`, where `want` is the result up to a relative error of 2^-40 ULP. Infinite when one is NaN and
    /// the other is not, an infinity is wrong, or a zero has the wrong sign.
    pub fn ulps(self, want: &Float, got: f64) -> f64 {
        if want.is_nan() || got.is_nan() {
            return if want.is_nan() == got.is_nan() { 0.0 } else { f64::INFINITY };
        }
        if want.is_zero() {
            let same = got == 0.0 && want.is_sign_negative() == got.is_sign_negative();
            return if same { 0.0 } else { f64::INFINITY };
        }
        if want.is_infinite() {
            let same = got.is_infinite() && want.is_sign_negative() == got.is_sign_negative();
            return if same { 0.0 } else { f64::INFINITY };
        }
        // MPFR's exponent is of a significand below 1.
        let mut exponent = want.get_exp().unwrap_or(0) - 1;
        if got.is_infinite() {
            if want.is_sign_negative() != got.is_sign_negative() {
                return f64::INFINITY;
            }
            if exponent >= self.overflow_exponent() {
                return 0.0;
            }
        }
        // Beyond the range, the unit is that of the largest numbers.
        exponent = exponent.min(self.overflow_exponent() - 1);
        // The lower neighbour of a power of two is nearer.
        let shifted: Float = want.clone() >> want.get_exp().unwrap_or(0);
        let power = shifted == 0.5 || shifted == -0.5;
        if power && got.is_finite() {
            exponent -= 1;
        }
        let unit = exponent.max(self.least_exponent()) - (self.digits() - 1);
        // An infinity stands for the power of two that is too large.
        if self != Double && want.get_exp().is_some_and(|e| e.abs() < 1000) {
            // A double holds both well enough.
            let largest = 2f64.powi(self.overflow_exponent());
            let reached = if got.is_finite() { got } else { got.signum() * largest };
            return (reached - want.to_f64()).abs() * 2f64.powi(-unit);
        }
        let bits = self.oracle_bits() + 64;
        let reached = if got.is_finite() {
            Float::with_val(bits, got)
        } else {
            Float::with_val(bits, Float::i_exp(1, self.overflow_exponent())) * got.signum()
        };
        let error = (reached - want).abs() >> unit;
        error.to_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(x: f64) -> Float {
        Float::with_val(120, x)
    }

    #[test]
    fn errors_are_counted_in_units_of_the_result() {
        let third = exact(1.0) / 3;
        let near = Single.ulps(&third, f64::from(1.0f32 / 3.0));
        assert!(near > 0.3 && near < 0.5, "{near}");
        assert!((Single.ulps(&exact(1.5), Single.step(1.5, 3)) - 3.0).abs() < 1e-9);
        assert!((Double.ulps(&exact(1.5), Double.step(1.5, -2)) - 2.0).abs() < 1e-9);
        assert_eq!(Single.ulps(&exact(1.0), f64::from(1.0f32 - f32::EPSILON / 2.0)), 1.0, "below a power of two");
        assert_eq!(Double.ulps(&(exact(f64::MIN_POSITIVE) >> 3), 0.0), 2f64.powi(49), "denormals have one unit");
        assert_eq!(Half.ulps(&exact(1.5), 1.5 + 3.0 / 1024.0), 3.0);
        assert_eq!(Half.ulps(&exact(2f64.powi(-20)), 0.0), 16.0, "denormals have one unit");
    }

    #[test]
    fn what_has_no_value_is_right_or_wrong() {
        assert_eq!(Single.ulps(&exact(f64::NAN), f64::NAN), 0.0);
        assert_eq!(Single.ulps(&exact(f64::NAN), 1.0), f64::INFINITY);
        assert_eq!(Single.ulps(&exact(-0.0), 0.0), f64::INFINITY);
        assert_eq!(Single.ulps(&exact(f64::NEG_INFINITY), f64::INFINITY), f64::INFINITY);
        assert_eq!(Single.ulps(&exact(1e300), f64::INFINITY), 0.0, "beyond the range");
        let most = exact(f64::from(f32::MAX));
        assert_eq!(Single.ulps(&most, f64::INFINITY), 1.0);
        assert_eq!(Half.ulps(&exact(65504.0), f64::INFINITY), 1.0);
        assert_eq!(Half.ulps(&exact(1e5), f64::INFINITY), 0.0);
        assert_eq!(Single.ulps(&exact(1e38), f64::NEG_INFINITY), f64::INFINITY);
    }
}
