//! Conversions of a choice of two constants, as a choice of the two converted.
//!
//! In: the text of a function. Out: for a line that converts such a choice, the line to have instead.
//!
//! # Of doubles with the same lower half
//!
//! A choice of two doubles whose lower halves are zero is one of their upper halves, and the zero may be one register
//! for several of them. Where registers are scarce, that of a second one is then put where that of the first was, and
//! is not converted: the result of the first conversion is used again. Such numbers mostly are floats, of which the
//! choice can be:
//!
//! ```text
//! selp.f64 %fd1, 0d3FF8000000000000, 0d402E400000000000, %p1;   ▸   selp.f64 …
//! cvt.rn.f32.f64 %f1, %fd1;                                         selp.f32 %f1, 0f3FC00000, 0f41720000, %p1;
//! ```
//!
//! # Of what looks like the integers 1 and 0, or is -1 and 0
//!
//! A choice of the integers 1 and 0 is a predicate as an integer, and is converted by choosing 1.0 and 0.0. It is taken
//! for that by its bits, though they be those of a float or a half, which then are the least denormal number; also
//! where the instruction converts it to an integer, of which the result is 1 and not 0. Likewise -1.0 and 0.0 become -1
//! and 0, also where the integer is unsigned and the result is to be 0. (13.5 does both, too.)
//!
//! ```text
//! selp.f32 %f1, 0f00000001, 0f00000000, %p1;   ▸   selp.f32 …
//! cvt.rzi.u32.f32 %r1, %f1;                        selp.b32 %r1, 0, 0, %p1;
//! ```
//!
//! Registers are as SSA leaves them: if both that of the choice and its predicate are set in one place, the predicate
//! is the same wherever the choice is used.

use super::super::peephole::operands;
use std::collections::{HashMap, HashSet};

/// The choices of a function, by the registers that have them or copies of them.
pub(super) struct Choices<'t>(HashMap<&'t str, Choice<'t>>);

#[derive(Clone, Copy)]
struct Choice<'t> {
    bits: [u64; 2],
    predicate: &'t str,
}

impl<'t> Choices<'t> {
    /// Those of a function, of which these registers are set in several places.
    pub fn new(function: &'t str, merged: &HashSet<&str>) -> Choices<'t> {
        let mut choices = HashMap::new();
        for line in function.lines() {
            let mut words = operands(line);
            let (Some(operation), Some(to), Some(a)) = (words.next(), words.next(), words.next()) else { continue };
            let choice = match operation.strip_prefix("selp.") {
                Some(ty) => words.next().zip(words.next()).and_then(|(b, predicate)| {
                    let bits = [constant(a, ty)?, constant(b, ty)?];
                    (!merged.contains(predicate)).then_some(Choice { bits, predicate })
                }),
                None if matches!(operation, "mov.b32" | "mov.b16" | "cvt.u16.u32") => choices.get(a).copied(),
                None => None,
            };
            if let Some(choice) = choice
                && !merged.contains(to)
            {
                choices.insert(to, choice);
            }
        }
        Choices(choices)
    }

    /// A conversion of one of them, as a choice of the two converted.
    pub fn converted(&self, line: &str) -> Option<String> {
        let mut words = operands(line);
        let (operation, to, from) = (words.next()?, words.next()?, words.next()?);
        let mut types = operation.strip_prefix("cvt.")?.rsplit('.');
        let (from_type, to_type) = (types.next()?, types.next()?);
        let Choice { bits: [a, b], predicate } = *self.0.get(from)?;
        let converted = |bits| literal(number(bits, from_type, to_type)?, types.clone(), to_type);
        let (a, b) = (converted(a)?, converted(b)?);
        let ty = match to_type {
            "f32" | "f64" => to_type.to_string(),
            _ => format!("b{}", &to_type[1..]),
        };
        Some(format!("\tselp.{ty} \t{to}, {a}, {b}, {predicate};\n"))
    }
}

/// The bits of a constant of a type.
fn constant(word: &str, ty: &str) -> Option<u64> {
    let bits = match word.strip_prefix("0f").or_else(|| word.strip_prefix("0d")).or_else(|| word.strip_prefix("0x")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => word.parse::<i64>().ok()? as u64,
    };
    let width: u32 = ty.get(1..)?.parse().ok()?;
    Some(bits & u64::MAX >> 64u32.checked_sub(width)?)
}

/// The number that a constant is, if a conversion of a choice with it may be wrong.
fn number(bits: u64, from: &str, to: &str) -> Option<f64> {
    match (from, bits) {
        ("f64", _) if to == "f32" => {
            let float = f64::from_bits(bits) as f32;
            let is_same = f64::from(float).to_bits() == bits && (float.is_normal() || float == 0.0);
            is_same.then_some(float.into())
        }
        ("f32" | "f16", 0) => Some(0.0),
        ("f32", 0x8000_0000) | ("f16", 0x8000) => Some(-0.0),
        ("f32", 0xbf80_0000) | ("f16", 0xbc00) => Some(-1.0),
        ("f32", 1) => Some(f32::from_bits(1).into()),
        ("f16", 1) => Some(f64::from(1.0f32 / (1 << 24) as f32)),
        _ => None,
    }
}

/// A number as a constant of a type, rounded as these words say.
fn literal<'w>(mut number: f64, words: impl Iterator<Item = &'w str>, to: &str) -> Option<String> {
    for word in words {
        number = match word {
            // Floats and doubles have the number as it is.
            "rn" | "rz" => number,
            "rm" | "rp" if to != "f16" => number,
            "rzi" => number.trunc(),
            "rni" => number.round_ties_even(),
            "rmi" => number.floor(),
            "rpi" => number.ceil(),
            // Of what comes in: it is said behind the rounding, and so comes first here.
            "ftz" if number.abs() < f32::MIN_POSITIVE.into() => 0.0f64.copysign(number),
            "ftz" => number,
            _ => return None,
        };
    }
    Some(match to {
        "u16" | "u32" | "u64" => (number as u64).to_string(),
        "s16" | "s32" | "s64" => (number as i64).to_string(),
        "f64" => format!("0d{:016X}", number.to_bits()),
        "f32" => format!("0f{:08X}", (number as f32).to_bits()),
        // One, zero, or so small that it is rounded to that.
        "f16" => {
            format!("{}", u16::from(number.is_sign_negative()) << 15 | if number.abs() == 1.0 { 0x3c00 } else { 0 })
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::avoid;

    /// What becomes of a conversion of a choice.
    fn converted(choice: &str, conversion: &str) -> Option<String> {
        let text = avoid(&format!("\t{choice}\n\t{conversion}\n"));
        let last = text.lines().last().unwrap_or_default().trim_start().replace(" \t", " ");
        (last != conversion.replace(" \t", " ")).then_some(last)
    }

    #[test]
    fn choices_of_doubles_are_converted_as_choices_of_floats() {
        let choice = "\tselp.f64 \t%fd1, 0d3FF8000000000000, 0d402E400000000000, %p1;\n";
        let convert = "\tcvt.rn.f32.f64 \t%f1, %fd1;\n";
        let of_floats = "\tselp.f32 \t%f1, 0f3FC00000, 0f41720000, %p1;\n";
        let between = |lines: &str| avoid(&format!("{choice}{lines}{convert}"));
        for other in ["", "\tsetp.ne.f64 \t%p2, %fd1, %fd2;\n", "\t@%p1 bra \t$L__BB0_2;\n", "$L__BB0_2:\n"] {
            assert_eq!(between(other), format!("{choice}{other}{of_floats}"));
        }
        // A loop may be laid out before what goes ahead of it.
        assert_eq!(avoid(&format!("{convert}{choice}")), format!("{of_floats}{choice}"));
        // What is set twice; another function.
        let twice = "\tsetp.eq.s32 \t%p1, %r1, 0;\n\tsetp.eq.s32 \t%p1, %r2, 0;\n";
        for new in ["\tmov.f64 \t%fd1, %fd2;\n", twice, "\tld.global.v2.f64 \t{%fd3, %fd1}, [%rd1];\n", "}\n"] {
            assert_eq!(between(new), format!("{choice}{new}{convert}"));
        }
        // A tenth is no float.
        let tenth = choice.replace("0d3FF8000000000000", "0d3FB999999999999A") + convert;
        assert_eq!(avoid(&tenth), tenth);
    }

    #[test]
    fn the_least_number_is_not_one() {
        let float = |conversion: &str| converted("selp.f32 %f1, 0f00000001, 0f00000000, %p1;", conversion);
        let wanted = |text: &str| Some(text.to_string());
        assert_eq!(float("cvt.rzi.u32.f32 %r1, %f1;"), wanted("selp.b32 %r1, 0, 0, %p1;"));
        assert_eq!(float("cvt.rpi.s64.f32 %rd1, %f1;"), wanted("selp.b64 %rd1, 1, 0, %p1;"));
        assert_eq!(float("cvt.rpi.ftz.s32.f32 %r1, %f1;"), wanted("selp.b32 %r1, 0, 0, %p1;"));
        assert_eq!(float("cvt.rpi.f32.f32 %f2, %f1;"), wanted("selp.f32 %f2, 0f3F800000, 0f00000000, %p1;"));
        let wide = "selp.f64 %fd1, 0d36A0000000000000, 0d0000000000000000, %p1;";
        assert_eq!(float("cvt.f64.f32 %fd1, %f1;"), wanted(wide));
        assert_eq!(float("cvt.rn.f16.f32 %rs1, %f1;"), wanted("selp.b16 %rs1, 0, 0, %p1;"));
        assert_eq!(float("cvt.rp.f16.f32 %rs1, %f1;"), None);
        let half = |conversion: &str| converted("selp.u16 %rs1, 0, 1, %p1;", conversion);
        assert_eq!(half("cvt.f32.f16 %f1, %rs1;"), wanted("selp.f32 %f1, 0f00000000, 0f33800000, %p1;"));
        // An integer is one.
        assert_eq!(half("cvt.rn.f32.u16 %f1, %rs1;"), None);
        let copied = converted("selp.u32 %r1, 1, 0, %p1;\n\tmov.b32 \t%f1, %r1;", "cvt.rzi.s32.f32 %r2, %f1;");
        assert_eq!(copied, wanted("selp.b32 %r2, 0, 0, %p1;"));
    }

    #[test]
    fn less_than_zero_is_zero_without_a_sign() {
        let choice = |conversion: &str| converted("selp.f32 %f1, 0fBF800000, 0f80000000, %p1;", conversion);
        assert_eq!(choice("cvt.rzi.u32.f32 %r1, %f1;"), Some("selp.b32 %r1, 0, 0, %p1;".into()));
        assert_eq!(choice("cvt.rzi.s32.f32 %r1, %f1;"), Some("selp.b32 %r1, -1, 0, %p1;".into()));
        assert_eq!(choice("cvt.rn.f16.f32 %rs1, %f1;"), Some("selp.b16 %rs1, 48128, 32768, %p1;".into()));
        assert_eq!(converted("selp.f32 %f1, 0fBF800000, %f2, %p1;", "cvt.rzi.u32.f32 %r1, %f1;"), None);
    }
}
