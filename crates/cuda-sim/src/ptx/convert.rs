//! Conversions between numeric types (`cvt`).
//!
//! In: a conversion and a raw register value. Out: the raw result. A signed result is extended to 64 bits, because the
//! destination register may be wider than the type.
//!
//! A float out of the range of an integer type is clamped. A NaN becomes 0, but if the source has 64 bits or the
//! destination has 64 bits, it becomes the value with only the highest bit set, as PTX specifies.

use super::alu_float::limit;
use super::op::{Convert, Type};
use super::soft::{self, F32, F64, Format, Number};

/// Converts one value.
pub(super) fn apply(how: &Convert, value: u64) -> u64 {
    match (Format::of(how.from), Format::of(how.to)) {
        (None, None) => integer_to_integer(how, value),
        (None, Some(format)) => {
            let number = soft::from_integer(integer(how.from, value));
            limit(soft::pack_number(number, format, how.round), format, how.saturate, how.relu)
        }
        (Some(format), None) => {
            let bits = value & format.mask();
            let bits = if how.flush { format.flush(bits) } else { bits };
            let (least, most) = range(how.to);
            match soft::to_integer(soft::unpack(bits, format), how.round, least, most) {
                Some(integer) => integer as u64,
                // Hence code generation tests doubles for NaN itself.
                None if format == F64 || how.to.bits == 64 => how.to.extend(1 << (how.to.bits - 1)),
                None => 0,
            }
        }
        (Some(_), Some(_)) => float_to_float(how, value),
    }
}

/// Converts two values; the first becomes the upper half of the result.
pub(super) fn apply_pair(how: &Convert, high: u64, low: u64) -> u64 {
    let scalar = Convert { to: how.to.lane(), ..*how };
    apply(&scalar, high) << 16 | apply(&scalar, low) & 0xFFFF
}

/// The value of an integer register.
fn integer(ty: Type, value: u64) -> i128 {
    let value = ty.extend(value);
    if ty.is_signed() { i128::from(value as i64) } else { i128::from(value) }
}

/// The least and the greatest value of an integer type.
fn range(ty: Type) -> (i128, i128) {
    if ty.is_signed() {
        let half = 1_i128 << (ty.bits - 1);
        (-half, half - 1)
    } else {
        (0, (1_i128 << ty.bits) - 1)
    }
}

fn integer_to_integer(how: &Convert, value: u64) -> u64 {
    let number = integer(how.from, value);
    let (least, most) = range(how.to);
    how.to.extend(if how.saturate { number.clamp(least, most) } else { number } as u64)
}

fn float_to_float(how: &Convert, value: u64) -> u64 {
    let (Some(from), Some(to)) = (Format::of(how.from), Format::of(how.to)) else { return value };
    let bits = value & from.mask();
    // `.ftz` is about single precision only, on either side.
    let bits = if how.flush && from == F32 { from.flush(bits) } else { bits };
    if from.is_nan(bits) && to == F64 && !how.saturate {
        // Widening keeps sign and payload and makes the NaN quiet.
        let sign = if bits & from.sign() != 0 { to.sign() } else { 0 };
        let payload = bits & ((1 << from.mantissa) - 1);
        return sign | to.infinity() | 1 << 51 | payload << (52 - from.mantissa);
    }
    let number = match soft::unpack(bits, from) {
        Number::Finite(value) if how.integral => Number::Finite(soft::round_integral(value, how.round)),
        number => number,
    };
    let packed = soft::pack_number(number, to, how.round);
    let packed = if how.flush && to == F32 { to.flush(packed) } else { packed };
    limit(packed, to, how.saturate, how.relu)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::soft::Round;

    fn convert(to: &str, from: &str, round: Round, integral: bool) -> Convert {
        Convert {
            to: Type::parse(to).unwrap(),
            from: Type::parse(from).unwrap(),
            round,
            integral,
            flush: false,
            saturate: false,
            relu: false,
        }
    }

    #[test]
    fn integers() {
        for (to, from, value, expected) in [
            ("u64", "u32", 0xFFFF_FFFF_FFFF_FFFF, 0xFFFF_FFFF),
            ("s64", "s32", 0xFFFF_FFFF, u64::MAX),
            ("s64", "s16", 0x8000, 0xFFFF_FFFF_FFFF_8000),
            ("s16", "s8", 0x1_80, 0xFFFF_FFFF_FFFF_FF80),
            ("s8", "s32", 0x80, 0xFFFF_FFFF_FFFF_FF80),
            ("u16", "u8", 0x1FF, 0xFF),
            ("u32", "u16", 0x1_FFFF, 0xFFFF),
            ("u32", "s8", 0xFF, 0xFFFF_FFFF),
            ("u16", "u64", 0x1_2345, 0x2345),
        ] {
            assert_eq!(apply(&convert(to, from, Round::Nearest, false), value), expected, "{to}.{from} {value:x}");
        }
        for (to, from, value, expected) in [
            ("u8", "s32", 0xFFFF_FFFF, 0),
            ("u8", "s32", 300, 255),
            ("s8", "s32", 0xFFFF_0000, 0xFFFF_FFFF_FFFF_FF80),
            ("s32", "u64", u64::MAX, 0x7FFF_FFFF),
        ] {
            let how = Convert { saturate: true, ..convert(to, from, Round::Nearest, false) };
            assert_eq!(apply(&how, value), expected, "sat {to}.{from} {value:x}");
        }
    }

    #[test]
    fn floats_to_integers() {
        let single = |value: f32| u64::from(value.to_bits());
        for (to, from, round, value, expected) in [
            ("s32", "f32", Round::Zero, single(-2.9), -2_i64 as u64),
            ("s32", "f32", Round::Nearest, single(2.5), 2),
            ("s32", "f32", Round::Down, single(-2.1), -3_i64 as u64),
            ("s32", "f32", Round::Up, single(2.1), 3),
            ("s32", "f32", Round::Zero, single(3e9), 0x7FFF_FFFF),
            ("u32", "f32", Round::Zero, single(-1.0), 0),
            ("u16", "f32", Round::Zero, single(70000.0), 0xFFFF),
            ("u8", "f32", Round::Zero, single(300.0), 0xFF),
            ("s32", "f32", Round::Zero, 0x7FC0_0000, 0),
            ("s32", "f64", Round::Zero, f64::NAN.to_bits(), 0xFFFF_FFFF_8000_0000),
            ("u32", "f64", Round::Zero, f64::NAN.to_bits(), 0x8000_0000),
            ("s64", "f32", Round::Zero, 0x7FC0_0000, 1 << 63),
            ("u64", "f32", Round::Zero, single(1e30), u64::MAX),
            ("s64", "f64", Round::Zero, (-1e300_f64).to_bits(), 1 << 63),
            ("s16", "f16", Round::Zero, 0x4900, 10),
        ] {
            assert_eq!(apply(&convert(to, from, round, true), value), expected, "{to}.{from} {value:x}");
        }
    }

    #[test]
    fn to_floats() {
        for (to, from, round, integral, value, expected) in [
            ("f32", "s32", Round::Nearest, false, 0xFFFF_FFFF, 0xBF80_0000),
            ("f32", "u32", Round::Nearest, false, 0xFFFF_FFFF, 0x4F80_0000),
            ("f32", "u32", Round::Zero, false, 0xFFFF_FFFF, 0x4F7F_FFFF),
            ("f32", "u64", Round::Nearest, false, 0x0100_0002_0000_0000, 0x5B80_0001),
            // A tie in single precision that the last bit breaks.
            ("f32", "u64", Round::Nearest, false, 0x8000_0080_0000_0001, 0x5F00_0001),
            ("f64", "s64", Round::Nearest, false, u64::MAX, 0xBFF0_0000_0000_0000),
            ("f16", "s16", Round::Nearest, false, 0xFFFF, 0xBC00),
            ("f16", "u32", Round::Nearest, false, 70000, 0x7C00),
            ("f32", "u8", Round::Nearest, false, 0x1FF, 0x437F_0000),
            ("f16", "f32", Round::Nearest, false, 0x3F80_1000, 0x3C00),
            ("f16", "f32", Round::Nearest, false, 0x3F80_1001, 0x3C01),
            ("f16", "f32", Round::Nearest, false, 0x7FC0_0000, 0x7FFF),
            ("f32", "f16", Round::Nearest, false, 0x0001, 0x3380_0000),
            ("f32", "f64", Round::Nearest, false, 0x3FF0_0000_1000_0001, 0x3F80_0001),
            ("f64", "f32", Round::Nearest, false, 0xFF80_0001, 0xFFF8_0000_2000_0000),
            ("bf16", "f32", Round::Nearest, false, 0x3F80_8001, 0x3F81),
            ("f32", "f32", Round::Nearest, true, 0x3F00_0000, 0),
            ("f32", "f32", Round::Nearest, true, 0xBF00_0000, 0x8000_0000),
            ("f32", "f32", Round::Down, true, 0xBF00_0000, 0xBF80_0000),
            ("f32", "f32", Round::Up, true, 0x3F00_0000, 0x3F80_0000),
            ("f32", "f32", Round::Zero, true, 0xFF80_0000, 0xFF80_0000),
            ("f64", "f64", Round::Nearest, true, 0x4004_0000_0000_0000, 0x4000_0000_0000_0000),
            ("f16", "f16", Round::Up, true, 0x3801, 0x3C00),
        ] {
            let got = apply(&convert(to, from, round, integral), value);
            assert_eq!(got, expected, "{to}.{from} {value:x}: {got:x}");
        }
        let saturate = Convert { saturate: true, ..convert("f32", "f32", Round::Nearest, false) };
        assert_eq!(apply(&saturate, 0x4000_0000), 0x3F80_0000);
        assert_eq!(apply(&saturate, 0xC000_0000), 0);
        let flush = Convert { flush: true, ..convert("f32", "f32", Round::Nearest, false) };
        assert_eq!(apply(&flush, 0x8000_0001), 0x8000_0000);
        let pair = convert("f16x2", "f32", Round::Nearest, false);
        assert_eq!(apply_pair(&pair, 0x3F80_0000, 0x4000_0000), 0x3C00_4000);
    }
}
