//! Exact binary floating point with one rounding at the end.
//!
//! In: bit patterns of a [`Format`] (f16, bf16, f32, f64) and a rounding mode. Out: the bit pattern of the result.
//! A value is unpacked to `±mantissa * 2^exponent` with a 128-bit mantissa. An operation computes the exact value, or
//! the exact value with its lost tail recorded in the lowest bit (a "sticky" bit). [`pack`] then rounds once. So every
//! format and every rounding mode share one path, and narrow formats are never rounded twice.

use cloom_ptx::{Class, Type};
use std::cmp::Ordering;

/// A binary interchange format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    /// Explicit bits of the mantissa.
    pub(super) mantissa: u32,
    /// Bits of the exponent.
    pub(super) exponent: u32,
}

pub(super) const F16: Format = Format { mantissa: 10, exponent: 5 };
pub(super) const BF16: Format = Format { mantissa: 7, exponent: 8 };
pub(super) const F32: Format = Format { mantissa: 23, exponent: 8 };
pub(super) const F64: Format = Format { mantissa: 52, exponent: 11 };

/// A rounding direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    /// To the nearest value, ties to even.
    Nearest,
    /// Towards zero.
    Zero,
    /// Towards negative infinity.
    Down,
    /// Towards positive infinity.
    Up,
    /// To the nearest value, ties away from zero (only `cvt.rna`).
    Away,
}

impl Format {
    /// The format of one lane of a type.
    pub(super) fn of(ty: Type) -> Option<Format> {
        match (ty.class, ty.bits) {
            (Class::Float, 16) => Some(F16),
            (Class::Float, 32) => Some(F32),
            (Class::Float, 64) => Some(F64),
            (Class::Brain, 16) => Some(BF16),
            _ => None,
        }
    }

    /// The width of a value.
    pub(super) fn bits(self) -> u32 {
        1 + self.exponent + self.mantissa
    }

    /// The sign bit.
    pub(super) fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// Positive infinity; also the mask of the exponent.
    pub(super) fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.mantissa
    }

    /// The NaN that the hardware generates.
    pub(super) fn nan(self) -> u64 {
        match self.bits() {
            64 => 0xFFF8_0000_0000_0000,
            // All ones but the sign.
            bits => (1 << (bits - 1)) - 1,
        }
    }

    /// Tells whether a bit pattern is a NaN.
    pub(super) fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() & self.mask() > self.infinity()
    }

    /// All bits of a value.
    pub(super) fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// Replaces a subnormal value by the zero of its sign.
    pub(super) fn flush(self, bits: u64) -> u64 {
        if bits & self.infinity() == 0 { bits & self.sign() } else { bits }
    }
}

/// A finite value `±mantissa * 2^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Finite {
    pub(super) negative: bool,
    pub(super) mantissa: u128,
    pub(super) exponent: i32,
}

/// An unpacked value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Nan,
    /// Infinity, negative if true.
    Infinite(bool),
    Finite(Finite),
}

/// Unpacks a bit pattern.
pub(super) fn unpack(bits: u64, format: Format) -> Number {
    let negative = bits & format.sign() != 0;
    let fraction = bits & ((1 << format.mantissa) - 1);
    let field = (bits & format.infinity()) >> format.mantissa;
    // The exponent of the last bit of a subnormal number. Numbers with the field 1 have the same.
    let scale = 1 - format.bias() - format.mantissa as i32;
    if bits & format.infinity() == format.infinity() {
        return if fraction == 0 { Number::Infinite(negative) } else { Number::Nan };
    }
    let (mantissa, exponent) =
        if field == 0 { (fraction, scale) } else { (fraction | 1 << format.mantissa, scale + field as i32 - 1) };
    Number::Finite(Finite { negative, mantissa: u128::from(mantissa), exponent })
}

/// Rounds `mantissa / 2^shift` to an integer.
fn round_shift(mantissa: u128, shift: i32, negative: bool, round: Round) -> u128 {
    if shift <= 0 {
        return mantissa << -shift;
    }
    // `half` is what is lost, compared with half a unit of the kept part; `None` if nothing is lost. From 128 on, `1 <<
    // shift` does not exist.
    let (kept, half) = match shift {
        1..=127 => {
            let lost = mantissa & ((1 << shift) - 1);
            (mantissa >> shift, (lost != 0).then(|| lost.cmp(&(1 << (shift - 1)))))
        }
        128 => (0, (mantissa != 0).then(|| mantissa.cmp(&(1 << 127)))),
        _ => (0, (mantissa != 0).then_some(Ordering::Less)),
    };
    let Some(half) = half else { return kept };
    // Only what lies between two neighbours comes here: exact values have returned.
    let up = match round {
        Round::Nearest => half == Ordering::Greater || (half == Ordering::Equal && kept & 1 == 1),
        Round::Away => half != Ordering::Less,
        Round::Zero => false,
        Round::Down => negative,
        Round::Up => !negative,
    };
    kept + u128::from(up)
}

/// Rounds a finite value to a format.
pub(super) fn pack(value: Finite, format: Format, round: Round) -> u64 {
    let sign = if value.negative { format.sign() } else { 0 };
    if value.mantissa == 0 {
        return sign;
    }
    // A direction that points away from infinity ends at the largest finite number, which is one less in bits.
    let overflow = match round {
        Round::Nearest | Round::Away => format.infinity(),
        Round::Zero => format.infinity() - 1,
        Round::Down => format.infinity() - u64::from(!value.negative),
        Round::Up => format.infinity() - u64::from(value.negative),
    };
    let top = value.exponent + 127 - value.mantissa.leading_zeros() as i32;
    // Without this, the shift to the left in `round_shift` might lose bits.
    if top > format.bias() {
        return sign | overflow;
    }
    let least = 1 - format.bias();
    // Subnormal numbers have the quantum of the least normal ones, and so fewer bits: they are rounded once, like all
    // others.
    let quantum = top.max(least) - format.mantissa as i32;
    let kept = round_shift(value.mantissa, quantum - value.exponent, value.negative, round) as u64;
    // A carry out of the mantissa moves to the next exponent by itself; the hidden bit adds one to the field.
    let field = if top < least { 0 } else { (top + format.bias() - 1) as u64 };
    let bits = (field << format.mantissa) + kept;
    sign | if bits >= format.infinity() { overflow } else { bits }
}

/// Packs any value.
pub(super) fn pack_number(value: Number, format: Format, round: Round) -> u64 {
    match value {
        Number::Nan => format.nan(),
        Number::Infinite(negative) => format.infinity() | if negative { format.sign() } else { 0 },
        Number::Finite(value) => pack(value, format, round),
    }
}

/// Moves the leading bit to bit 124: there is room for a carry, and for a tail below 106 significant bits.
fn normalise(value: Finite) -> Finite {
    let shift = value.mantissa.leading_zeros() as i32 - 3;
    let mantissa = if shift >= 0 { value.mantissa << shift } else { jam(value.mantissa, -shift) };
    Finite { mantissa, exponent: value.exponent - shift, ..value }
}

/// Shifts right and keeps in the lowest bit whether something was lost.
fn jam(mantissa: u128, shift: i32) -> u128 {
    if shift > 127 {
        return u128::from(mantissa != 0);
    }
    mantissa >> shift | u128::from(mantissa & ((1 << shift) - 1) != 0)
}

/// The sum of two finite values. The rounding direction decides the sign of an exact zero.
fn add_finite(a: Finite, b: Finite, round: Round) -> Finite {
    let zero = |a: Finite, b: Finite| Finite {
        negative: if a.negative == b.negative { a.negative } else { round == Round::Down },
        mantissa: 0,
        exponent: 0,
    };
    match (a.mantissa, b.mantissa) {
        (0, 0) => return zero(a, b),
        (0, _) => return b,
        (_, 0) => return a,
        _ => {}
    }
    let (a, b) = (normalise(a), normalise(b));
    let (a, b) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
    // The lower 19 bits are zero (see `normalise`), so that bits are lost only of far smaller numbers. Then nothing
    // cancels, and the sticky bit stays below the place of rounding.
    let small = jam(b.mantissa, a.exponent - b.exponent);
    if a.negative == b.negative {
        return Finite { mantissa: a.mantissa + small, ..a };
    }
    match a.mantissa.cmp(&small) {
        Ordering::Equal => zero(a, b),
        Ordering::Greater => Finite { mantissa: a.mantissa - small, ..a },
        Ordering::Less => Finite { mantissa: small - a.mantissa, negative: b.negative, exponent: a.exponent },
    }
}

/// The sum.
pub(super) fn add(a: Number, b: Number, round: Round) -> Number {
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite(x), Number::Infinite(y)) if x != y => Number::Nan,
        (Number::Infinite(x), _) | (_, Number::Infinite(x)) => Number::Infinite(x),
        (Number::Finite(a), Number::Finite(b)) => Number::Finite(add_finite(a, b, round)),
    }
}

/// The negated value.
pub(super) fn negate(a: Number) -> Number {
    match a {
        Number::Nan => Number::Nan,
        Number::Infinite(negative) => Number::Infinite(!negative),
        Number::Finite(value) => Number::Finite(Finite { negative: !value.negative, ..value }),
    }
}

fn is_negative(a: Number) -> bool {
    match a {
        Number::Nan => false,
        Number::Infinite(negative) => negative,
        Number::Finite(value) => value.negative,
    }
}

/// The exact product of two values of at most 64 significant bits.
pub(super) fn multiply(a: Number, b: Number) -> Number {
    let negative = is_negative(a) != is_negative(b);
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite(_), Number::Finite(x)) | (Number::Finite(x), Number::Infinite(_)) if x.mantissa == 0 => {
            Number::Nan
        }
        (Number::Infinite(_), _) | (_, Number::Infinite(_)) => Number::Infinite(negative),
        (Number::Finite(a), Number::Finite(b)) => {
            Number::Finite(Finite { negative, mantissa: a.mantissa * b.mantissa, exponent: a.exponent + b.exponent })
        }
    }
}

/// The quotient of two values of at most 53 significant bits.
pub(super) fn divide(a: Number, b: Number) -> Number {
    let negative = is_negative(a) != is_negative(b);
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) | (Number::Infinite(_), Number::Infinite(_)) => Number::Nan,
        (Number::Infinite(_), _) => Number::Infinite(negative),
        (_, Number::Infinite(_)) => Number::Finite(Finite { negative, mantissa: 0, exponent: 0 }),
        (Number::Finite(a), Number::Finite(b)) => match (a.mantissa, b.mantissa) {
            (0, 0) => Number::Nan,
            (_, 0) => Number::Infinite(negative),
            (0, _) => Number::Finite(Finite { negative, mantissa: 0, exponent: 0 }),
            _ => {
                // With the dividend's leading bit at the top, the quotient has at least 75 bits: more than any format,
                // and the lowest one can hold the remainder.
                let shift = a.mantissa.leading_zeros();
                let wide = a.mantissa << shift;
                let quotient = (wide / b.mantissa) | u128::from(wide % b.mantissa != 0);
                let exponent = a.exponent - shift as i32 - b.exponent;
                Number::Finite(Finite { negative, mantissa: quotient, exponent })
            }
        },
    }
}

/// The square root.
pub(super) fn square_root(a: Number) -> Number {
    match a {
        Number::Finite(value) if value.mantissa == 0 => a,
        Number::Infinite(false) => a,
        Number::Finite(value) if !value.negative => {
            // The exponent must be even, and the root of about 126 bits has 63: enough for every format.
            let mut shift = value.mantissa.leading_zeros() as i32 - 2;
            shift -= (value.exponent - shift) & 1;
            let wide = value.mantissa << shift;
            let root = wide.isqrt();
            let mantissa = root << 1 | u128::from(root * root != wide);
            Number::Finite(Finite { negative: false, mantissa, exponent: (value.exponent - shift) / 2 - 1 })
        }
        _ => Number::Nan,
    }
}

/// Rounds a finite value to an integral value.
pub(super) fn round_integral(value: Finite, round: Round) -> Finite {
    if value.exponent >= 0 || value.mantissa == 0 {
        return value;
    }
    let mantissa = round_shift(value.mantissa, -value.exponent, value.negative, round);
    Finite { mantissa, exponent: 0, ..value }
}

/// The integer nearest to a value in a direction, clamped to `least..=most`; `None` for a NaN.
pub(super) fn to_integer(value: Number, round: Round, least: i128, most: i128) -> Option<i128> {
    match value {
        Number::Nan => None,
        Number::Infinite(negative) => Some(if negative { least } else { most }),
        Number::Finite(value) => {
            let whole = round_integral(value, round);
            // The shift below would reach the sign bit. No integer type has that many bits.
            let huge = whole.mantissa != 0 && whole.exponent > whole.mantissa.leading_zeros() as i32 - 2;
            if huge {
                return Some(if value.negative { least } else { most });
            }
            let magnitude = if whole.mantissa == 0 { 0 } else { (whole.mantissa << whole.exponent) as i128 };
            Some((if value.negative { -magnitude } else { magnitude }).clamp(least, most))
        }
    }
}

/// An integer as an unpacked value.
pub(super) fn from_integer(value: i128) -> Number {
    Number::Finite(Finite { negative: value < 0, mantissa: value.unsigned_abs(), exponent: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random bit patterns with many values of interest.
    fn patterns(seed: u64, count: usize) -> Vec<u64> {
        let mut state = seed;
        (0..count)
            .map(|index| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                if index % 7 == 0 { state & 0xFF00_0000_FF80_0001 } else { state }
            })
            .collect()
    }

    fn same32(got: u64, expected: f32) -> bool {
        if expected.is_nan() { F32.is_nan(got) } else { got == u64::from(expected.to_bits()) }
    }

    fn same64(got: u64, expected: f64) -> bool {
        if expected.is_nan() { F64.is_nan(got) } else { got == expected.to_bits() }
    }

    #[test]
    fn agrees_with_the_processor_in_single_precision() {
        let inputs = patterns(0x1234_5678_9ABC_DEF1, 20000);
        for three in inputs.windows(3) {
            // Close exponents make cancellations and ties frequent.
            let near = three[0] & 0x3F_FFFF | 0x3F80_0000;
            for [a, b, c] in [[three[0], three[1], three[2]], [near, near ^ three[1] & 0x8180_0001, three[2]]] {
                let [x, y, z] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
                let [ux, uy, uz] = [x, y, z].map(|value| unpack(u64::from(value.to_bits()), F32));
                let packed = |value| pack_number(value, F32, Round::Nearest);
                assert!(same32(packed(add(ux, uy, Round::Nearest)), x + y), "{x:e} + {y:e}");
                assert!(same32(packed(multiply(ux, uy)), x * y), "{x:e} * {y:e}");
                assert!(same32(packed(divide(ux, uy)), x / y), "{x:e} / {y:e}");
                assert!(same32(packed(square_root(ux)), x.sqrt()), "sqrt {x:e}");
                let fused = add(multiply(ux, uy), uz, Round::Nearest);
                assert!(same32(packed(fused), x.mul_add(y, z)), "{x:e} * {y:e} + {z:e}");
            }
        }
    }

    #[test]
    fn agrees_with_the_processor_in_double_precision() {
        let inputs = patterns(0xFEED_5678_9ABC_DEF1, 20000);
        for three in inputs.windows(3) {
            let near = three[0] >> 12 | 0x3FF0_0000_0000_0000;
            for [a, b, c] in [[three[0], three[1], three[2]], [near, near ^ (three[1] & (3 << 52 | 1 << 63)), near]] {
                let [x, y, z] = [a, b, c].map(f64::from_bits);
                let [ux, uy, uz] = [a, b, c].map(|bits| unpack(bits, F64));
                let packed = |value| pack_number(value, F64, Round::Nearest);
                assert!(same64(packed(add(ux, uy, Round::Nearest)), x + y), "{x:e} + {y:e}");
                assert!(same64(packed(multiply(ux, uy)), x * y), "{x:e} * {y:e}");
                assert!(same64(packed(divide(ux, uy)), x / y), "{x:e} / {y:e}");
                assert!(same64(packed(square_root(ux)), x.sqrt()), "sqrt {x:e}");
                let fused = add(multiply(ux, uy), uz, Round::Nearest);
                assert!(same64(packed(fused), x.mul_add(y, z)), "{x:e} * {y:e} + {z:e}");
                let narrow = pack_number(ux, F32, Round::Nearest);
                assert!(same32(narrow, x as f32), "{x:e}");
            }
        }
    }

    #[test]
    fn directed_rounding_brackets_the_value() {
        let third = divide(from_integer(1), from_integer(3));
        let minus = negate(third);
        for (value, round, expected) in [
            (third, Round::Nearest, 0x3EAA_AAAB),
            (third, Round::Zero, 0x3EAA_AAAA),
            (third, Round::Down, 0x3EAA_AAAA),
            (third, Round::Up, 0x3EAA_AAAB),
            (minus, Round::Zero, 0xBEAA_AAAA),
            (minus, Round::Down, 0xBEAA_AAAB),
            (minus, Round::Up, 0xBEAA_AAAA),
        ] {
            assert_eq!(pack_number(value, F32, round), expected, "{round:?}");
        }
        let huge = Finite { negative: false, mantissa: 1, exponent: 200 };
        for (round, expected) in [
            (Round::Nearest, 0x7F80_0000),
            (Round::Zero, 0x7F7F_FFFF),
            (Round::Down, 0x7F7F_FFFF),
            (Round::Up, 0x7F80_0000),
        ] {
            assert_eq!(pack(huge, F32, round), expected);
        }
        let tiny = Finite { negative: true, mantissa: 1, exponent: -300 };
        for (round, expected) in [(Round::Nearest, 0x8000_0000), (Round::Down, 0x8000_0001), (Round::Up, 0x8000_0000)] {
            assert_eq!(pack(tiny, F32, round), expected);
        }
    }

    #[test]
    fn halves_round_once() {
        // 1 + 2^-11 is a tie; the tail of 2^-40 decides, though f32 would lose it first.
        let tie = add(
            from_integer(1),
            Number::Finite(Finite { negative: false, mantissa: 1, exponent: -11 }),
            Round::Nearest,
        );
        let tail = Number::Finite(Finite { negative: false, mantissa: 1, exponent: -40 });
        assert_eq!(pack_number(tie, F16, Round::Nearest), 0x3C00);
        assert_eq!(pack_number(add(tie, tail, Round::Nearest), F16, Round::Nearest), 0x3C01);
        for bits in 0..=0xFFFF_u16 {
            let half = half::f16::from_bits(bits);
            let wide = pack_number(unpack(u64::from(bits), F16), F32, Round::Nearest);
            assert!(same32(wide, half.to_f32()), "{bits:#x}");
            if !half.is_nan() {
                let value = unpack(wide, F32);
                assert_eq!(pack_number(value, F16, Round::Nearest), u64::from(bits));
            }
            let brain = pack_number(unpack(u64::from(bits), BF16), F32, Round::Nearest);
            assert!(same32(brain, half::bf16::from_bits(bits).to_f32()), "{bits:#x}");
        }
    }

    #[test]
    fn integers_are_clamped() {
        let value = |x: f64| unpack(x.to_bits(), F64);
        for (x, round, expected) in [
            (2.5, Round::Nearest, 2),
            (3.5, Round::Nearest, 4),
            (-2.5, Round::Nearest, -2),
            (-2.5, Round::Down, -3),
            (-2.5, Round::Up, -2),
            (2.1, Round::Up, 3),
            (-0.7, Round::Zero, 0),
            (1e30, Round::Zero, 127),
            (-1e300, Round::Zero, -128),
            (f64::INFINITY, Round::Zero, 127),
        ] {
            assert_eq!(to_integer(value(x), round, -128, 127), Some(expected), "{x}");
        }
        assert_eq!(to_integer(Number::Nan, Round::Zero, -128, 127), None);
    }
}
