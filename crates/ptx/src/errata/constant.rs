//! Conversions of constants, for the rewrite of selects that are converted.
//!
//! In: the bits of a constant and the instruction that converts it. Out: the converted constant. It handles the
//! constants that the patterns look for: zero, one and -1, the least denormal number, and doubles that are floats.

use super::facts::conversion;
use crate::tree::{Arg, Inst};
use crate::{Class, Literal, Type};

/// The result of converting a constant with these bits.
pub(super) fn converted<'t>(bits: u64, inst: &Inst<'_>) -> Option<Arg<'t>> {
    let (to, from) = conversion(inst)?;
    let mut number = number(bits, from)?;
    let words = || inst.modifiers().filter(|word| Type::parse(word).is_none());
    // The operand is flushed before it is rounded.
    if words().any(|word| word == "ftz") && number.abs() < f32::MIN_POSITIVE.into() {
        number = 0.0_f64.copysign(number);
    }
    // Noted and applied at the end: the order of the words in the opcode is not that of the steps.
    let (mut is_rounded_up, mut is_saturated) = (false, false);
    for word in words() {
        number = match word {
            "rzi" => number.trunc(),
            "rni" => number.round_ties_even(),
            "rmi" => number.floor(),
            "rpi" => number.ceil(),
            "rn" | "rz" | "rm" | "ftz" => number,
            "rp" => {
                is_rounded_up = true;
                number
            }
            "sat" => {
                is_saturated = true;
                number
            }
            _ => return None,
        };
    }
    if is_saturated && to.is_float() {
        number = number.clamp(0.0, 1.0);
    }
    literal(number, to, is_rounded_up)
}

/// The number with these bits.
fn number(bits: u64, ty: Type) -> Option<f64> {
    Some(match (ty.class, ty.bits) {
        (Class::Float, 64) => f64::from_bits(bits),
        (Class::Float, 32) => f32::from_bits(bits as u32).into(),
        (Class::Brain, 16) => f32::from_bits((bits as u32) << 16).into(),
        // The only halves that a pattern looks for.
        (Class::Float, 16) => match bits {
            0 => 0.0,
            1 => f64::from(1.0_f32 / (1 << 24) as f32),
            _ => return None,
        },
        _ => return None,
    })
}

/// A number as a constant of a type. For an integer type it is an integer.
fn literal<'t>(number: f64, ty: Type, is_rounded_up: bool) -> Option<Arg<'t>> {
    let literal = match (ty.class, ty.bits) {
        // The constants are small, so that no type clamps them, except that an unsigned one takes -1 to 0, as the cast
        // does.
        (Class::Signed, _) => Literal::Int(number as i64 as u64),
        (Class::Unsigned, _) => Literal::Int(number as u64),
        (Class::Float, 64) => Literal::Double(number.to_bits()),
        (Class::Float, 32) => Literal::Single((number as f32).to_bits()),
        (Class::Float | Class::Brain, 16) => Literal::Int(half(number, ty.class, is_rounded_up)?.into()),
        _ => return None,
    };
    Some(Arg::Literal(literal))
}

/// The bits of a 16-bit float: zero or one, the least such number, or less than half of that.
fn half(number: f64, class: Class, is_rounded_up: bool) -> Option<u16> {
    let is_brain = class == Class::Brain;
    // Also of a zero: -0 stays -0.
    let sign = u16::from(number.is_sign_negative()) << 15;
    // The least denormal number of the format: 2^-24 for halves.
    let least = if is_brain { f64::from(f32::from_bits(1 << 16)) } else { f64::from(1.0_f32 / (1 << 24) as f32) };
    let size = number.abs();
    Some(match size {
        0.0 => sign,
        1.0 if is_brain => sign | 0x3F80,
        1.0 => sign | 0x3C00,
        _ if size == least => sign | 1,
        _ if is_brain && f64::from(f32::from_bits((number as f32).to_bits() & 0xFFFF_0000)) == number => {
            ((number as f32).to_bits() >> 16) as u16
        }
        // Less than half of the least number rounds to zero, or in one direction to the least number.
        _ if size < least / 2.0 => sign | u16::from(is_rounded_up && number > 0.0),
        _ => return None,
    })
}
