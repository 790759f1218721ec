//! The types of instructions, registers and variables.
//!
//! In: a name such as `u32`. Out: its class, its width, and how many lanes it packs; and the name again.

use std::fmt;

/// How the bits of a value are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Bits without a meaning.
    Bits,
    /// An unsigned integer.
    Unsigned,
    /// An integer in two's complement.
    Signed,
    /// A floating-point number of IEEE 754.
    Float,
    /// The upper half of an IEEE 754 number of 32 bits (`bf16`).
    Brain,
    /// True or false.
    Predicate,
}

/// The type of an instruction. `lanes` is 2 for packed types such as `f16x2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// How its bits are meant.
    pub class: Class,
    /// The width of one lane.
    pub bits: u32,
    /// 2 for packed types, else 1.
    pub lanes: u32,
}

impl Type {
    /// `b32`
    pub const B32: Type = Type { class: Class::Bits, bits: 32, lanes: 1 };
    /// `u32`
    pub const U32: Type = Type { class: Class::Unsigned, bits: 32, lanes: 1 };
    /// `pred`
    pub const PRED: Type = Type { class: Class::Predicate, bits: 1, lanes: 1 };

    /// Reads a type name such as `u32`.
    pub fn parse(name: &str) -> Option<Type> {
        let (class, bits, lanes) = match name {
            "pred" => (Class::Predicate, 1, 1),
            "b8" => (Class::Bits, 8, 1),
            "b16" => (Class::Bits, 16, 1),
            "b32" => (Class::Bits, 32, 1),
            "b64" => (Class::Bits, 64, 1),
            "u8" => (Class::Unsigned, 8, 1),
            "u16" => (Class::Unsigned, 16, 1),
            "u32" => (Class::Unsigned, 32, 1),
            "u64" => (Class::Unsigned, 64, 1),
            "s8" => (Class::Signed, 8, 1),
            "s16" => (Class::Signed, 16, 1),
            "s32" => (Class::Signed, 32, 1),
            "s64" => (Class::Signed, 64, 1),
            "f16" => (Class::Float, 16, 1),
            "f32" => (Class::Float, 32, 1),
            "f64" => (Class::Float, 64, 1),
            "bf16" => (Class::Brain, 16, 1),
            "f16x2" => (Class::Float, 16, 2),
            "bf16x2" => (Class::Brain, 16, 2),
            "u16x2" => (Class::Unsigned, 16, 2),
            "s16x2" => (Class::Signed, 16, 2),
            _ => return None,
        };
        Some(Type { class, bits, lanes })
    }

    /// Bytes in memory.
    pub fn size(self) -> u32 {
        (self.bits * self.lanes).div_ceil(8)
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self.class, Class::Float | Class::Brain)
    }

    /// Whether it is an integer in two's complement.
    pub fn is_signed(self) -> bool {
        self.class == Class::Signed
    }

    /// One lane of the type.
    pub fn lane(self) -> Type {
        Type { lanes: 1, ..self }
    }

    /// Extends the low bits of a register to 64 bits as the type says.
    pub fn extend(self, value: u64) -> u64 {
        let spare = 64 - (self.bits * self.lanes).min(64);
        // A packed value has a sign in each lane, so that its bits above are zeros.
        if self.is_signed() && self.lanes == 1 {
            ((value << spare) as i64 >> spare) as u64
        } else {
            value << spare >> spare
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = match self.class {
            Class::Bits => "b",
            Class::Unsigned => "u",
            Class::Signed => "s",
            Class::Float => "f",
            Class::Brain => "bf",
            Class::Predicate => return out.write_str("pred"),
        };
        write!(out, "{letters}{}{}", self.bits, if self.lanes == 2 { "x2" } else { "" })
    }
}
