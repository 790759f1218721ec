//! The rewrites of [`ERRATA`](super::ERRATA).
//!
//! In: a function and the position of an instruction that the row's pattern has found. Out: the statements that replace
//! it, or nothing for an unknown form. The statements set the same results as the instruction, and nothing else.

use super::constant;
use super::facts::{Facts, conversion};
use super::patterns::{compared, negated_word};
use crate::draft::Builder;
use crate::tree::{Arg, Inst, Statement};
use crate::{Class, Literal, Operation, Type};
use std::borrow::Cow;

type Statements<'t> = Option<Vec<Statement<'t>>>;

const B16: Type = Type { class: Class::Bits, bits: 16, lanes: 1 };
const F32: Type = Type { class: Class::Float, bits: 32, lanes: 1 };

/// Computes in 32 bits.
///
/// ```text
/// min.u16 %h2, %h1, 127;      ▸      { .reg .b32 %wide0, %wide1;
///                                      cvt.u32.u16 %wide0, %h1;
///                                      mov.u32 %wide1, 127;
///                                      min.u32 %wide0, %wide0, %wide1;
///                                      cvt.u16.u32 %h2, %wide0; }
/// ```
pub(super) fn extremum<'t>(facts: &Facts<'_, 't>, at: usize) -> Statements<'t> {
    let inst = facts.of.code[at].inst;
    let ty = inst.types().next()?;
    if ty.lanes == 2 {
        return extremum_of_pairs(inst, ty);
    }
    let [to, a, b] = inst.args.as_slice() else { return None };
    let (sign, name) = (if ty.is_signed() { 's' } else { 'u' }, plain_extremum(inst)?);
    let mut new = Builder::new(inst);
    let wide = [new.register(Type::B32, "%wide0"), new.register(Type::B32, "%wide1")];
    for (wide, operand) in wide.iter().zip([a, b]) {
        match constant_of(operand) {
            Some(value) => new.inst(format!("mov.{sign}32"), [wide.clone(), Arg::int(extended(ty, value))]),
            None => new.inst(format!("cvt.{sign}32.{sign}16"), [wide.clone(), operand.clone()]),
        }
    }
    // Constants are moved to a register first, so that one form of the instruction serves all.
    let [first, second] = wide;
    new.inst(format!("{name}.{sign}32"), [first.clone(), first.clone(), second]);
    // The low half is the same for both signs.
    new.inst("cvt.u16.u32", [to.clone(), first]);
    new.finish()
}

/// `min` or `max`, if the instruction has no modifiers but a type.
fn plain_extremum<'a>(inst: &'a Inst<'_>) -> Option<&'a str> {
    (inst.modifiers().count() == 1).then(|| inst.name())
}

/// Computes each half by itself.
fn extremum_of_pairs<'t>(inst: &Inst<'t>, ty: Type) -> Statements<'t> {
    let [to, a, b] = inst.args.as_slice() else { return None };
    let (sign, name) = (if ty.is_signed() { 's' } else { 'u' }, plain_extremum(inst)?);
    let mut new = Builder::new(inst);
    let lower = [new.register(Type::B32, "%lower0"), new.register(Type::B32, "%lower1")];
    let upper = [new.register(Type::B32, "%upper0"), new.register(Type::B32, "%upper1")];
    let sixteen = || Arg::int(16);
    for (operand, (lower, upper)) in [a, b].into_iter().zip(lower.iter().zip(&upper)) {
        if let Some(value) = constant_of(operand) {
            // One constant has both halves, each of which is extended by itself.
            let lane = ty.lane();
            new.inst(format!("mov.{sign}32"), [lower.clone(), Arg::int(extended(lane, value))]);
            new.inst(format!("mov.{sign}32"), [upper.clone(), Arg::int(extended(lane, value >> 16))]);
            continue;
        }
        // Moved to the top and back, the lower half is extended as the type says.
        new.inst("shl.b32", [lower.clone(), operand.clone(), sixteen()]);
        new.inst(format!("shr.{sign}32"), [lower.clone(), lower.clone(), sixteen()]);
        new.inst(format!("shr.{sign}32"), [upper.clone(), operand.clone(), sixteen()]);
    }
    for [first, second] in [&lower, &upper] {
        new.inst(format!("{name}.{sign}32"), [first.clone(), first.clone(), second.clone()]);
    }
    let ([lower, _], [upper, _]) = (lower, upper);
    // The lower two bytes of each: `mov.b32 %r, {lower, upper}` would need 16-bit registers.
    new.inst("prmt.b32", [to.clone(), lower, upper, Arg::int(0x5410)]);
    new.finish()
}

fn constant_of(operand: &Arg<'_>) -> Option<u64> {
    match operand {
        Arg::Literal(Literal::Int(value)) => Some(*value),
        _ => None,
    }
}

/// The low bits of a value as a number of this type. A negative number has 64 bits.
fn extended(ty: Type, value: u64) -> u64 {
    ty.extend(value)
}

/// Replaces a negation by a product: ptxas cuts a product to 16 bits, and a conversion too.
///
/// ```text
/// neg.s16 %h2, %h1;      ▸      mul.lo.s16 %h2, %h1, -1;
/// ```
pub(super) fn negation<'t>(facts: &Facts<'_, 't>, at: usize) -> Statements<'t> {
    let inst = facts.of.code[at].inst;
    let [to, a] = inst.args.as_slice() else { return None };
    let mut new = Builder::new(inst);
    match &*inst.opcode {
        "neg.s16" => new.inst("mul.lo.s16", [to.clone(), a.clone(), Arg::int(u64::MAX)]),
        "abs.s16" => {
            let wide = new.register(Type::B32, "%wide");
            new.inst("cvt.s32.s16", [wide.clone(), a.clone()]);
            new.inst("abs.s32", [wide.clone(), wide.clone()]);
            new.inst("cvt.u16.u32", [to.clone(), wide]);
        }
        _ => return None,
    }
    new.finish()
}

/// Negates by the complement, which ptxas adds to and does not take for a negation.
///
/// ```text
/// neg.s32 %r2, %r1;      ▸      { .reg .b32 %inverse; not.b32 %inverse, %r1; add.s32 %r2, %inverse, 1; }
/// ```
pub(super) fn negated_word_by_complement<'t>(facts: &Facts<'_, 't>, at: usize) -> Statements<'t> {
    let operation = &facts.of.code[at];
    let inst = operation.inst;
    let (to, from) = (inst.args.first()?, inst.args.get(negated_word(operation)?)?);
    // A sum with `cc` would set another carry.
    if inst.has("cc") {
        return None;
    }
    let mut new = Builder::new(inst);
    let inverse = new.register(Type::B32, "%inverse");
    new.inst("not.b32", [inverse.clone(), from.clone()]);
    new.inst("add.s32", [to.clone(), inverse, Arg::int(1)]);
    new.finish()
}

/// The opcode of a comparison with another operand type. It has no modifier for denormal numbers: those of halves are
/// normal floats.
fn comparison_of(inst: &Inst<'_>, ty: &str) -> String {
    let mut parts: Vec<&str> = inst.opcode.split('.').filter(|part| *part != "ftz").collect();
    // The last part is the type of the operands; what is before it stays.
    parts.pop();
    parts.push(ty);
    parts.join(".")
}

/// Tests floats instead of halves. It is no slower, as the value is mostly needed as a float too.
pub(super) fn test_for_nan<'t>(facts: &Facts<'_, 't>, at: usize) -> Statements<'t> {
    let inst = facts.of.code[at].inst;
    let [to, a, b, others @ ..] = inst.args.as_slice() else { return None };
    let ty = compared(inst)?;
    let opcode = comparison_of(inst, "f32");
    let args = |to: &Arg<'t>, a: Arg<'t>, b: Arg<'t>| [&[to.clone(), a, b], others].concat();
    let mut new = Builder::new(inst);
    if ty.lanes == 1 {
        let wide = [new.register(F32, "%wide0"), new.register(F32, "%wide1")];
        for (wide, half) in wide.iter().zip([a, b]) {
            as_float(&mut new, ty, wide, half);
        }
        let [a, b] = wide;
        new.inst(opcode, args(to, a, b));
        return new.finish();
    }
    // The results are a pair of predicates. The second comparison may read the first of them.
    let (Arg::Pair(low, high), "setp", true) = (to, inst.name(), others.is_empty()) else { return None };
    let halves = [new.register(B16, "%low"), new.register(B16, "%high")];
    let upper = new.register(Type::B32, "%upper");
    let of_a = [new.register(F32, "%a0"), new.register(F32, "%a1")];
    let of_b = [new.register(F32, "%b0"), new.register(F32, "%b1")];
    for (from, wide) in [(a, &of_a), (b, &of_b)] {
        // Like a divided register below: it may be set by several instructions.
        new.inst("cvt.u16.u32", [halves[0].clone(), from.clone()]);
        new.inst("shr.u32", [upper.clone(), from.clone(), Arg::int(16)]);
        new.inst("cvt.u16.u32", [halves[1].clone(), upper.clone()]);
        for (wide, half) in wide.iter().zip(&halves) {
            as_float(&mut new, ty, wide, half);
        }
    }
    let ([a0, a1], [b0, b1]) = (of_a, of_b);
    new.inst(opcode.clone(), args(&Arg::Name(low), a0, b0));
    new.inst(opcode, args(&Arg::Name(high), a1, b1));
    new.finish()
}

/// Sets a float to the number that a half is.
fn as_float<'t>(new: &mut Builder<'_, 't>, ty: Type, wide: &Arg<'t>, half: &Arg<'t>) {
    if ty.class == Class::Brain {
        // The other half of the float is zero.
        let zero = new.register(B16, "%zero");
        new.inst("mov.b16", [zero.clone(), Arg::int(0)]);
        new.inst("mov.b32", [wide.clone(), Arg::Vector(vec![zero, half.clone()])]);
    } else {
        new.inst("cvt.f32.f16", [wide.clone(), half.clone()]);
    }
}

/// Moves the byte by `prmt`, which ptxas does not take for a signed byte, and which is one instruction too. A field
/// that ends at the highest bit becomes a shift.
///
/// ```text
/// bfe.s32 %r2, %r1, 8, 8;      ▸      prmt.b32 %r2, %r1, 0, 0x9991;
/// ```
pub(super) fn extraction<'t>(facts: &Facts<'_, 't>, at: usize) -> Statements<'t> {
    let operation = &facts.of.code[at];
    let [to, a, ..] = operation.inst.args.as_slice() else { return None };
    let (Some(Literal::Int(first)), Some(Literal::Int(count))) = (operation.literal(2), operation.literal(3)) else {
        return None;
    };
    // The instruction takes the low byte of both operands.
    let first = first & 0xFF;
    let mut new = Builder::new(operation.inst);
    // The field reaches the sign bit.
    if first + count >= 32 {
        new.inst("shr.s32", [to.clone(), a.clone(), Arg::int(first.min(31))]);
        return new.finish();
    }
    // A digit of the mask is the number of a byte, or 8 more for its sign.
    let byte = first / 8;
    let mask = match count {
        8 => 0x8880 + byte * 0x1111,
        _ => 0x9910 + byte * 0x1111,
    };
    new.inst("prmt.b32", [to.clone(), a.clone(), Arg::int(0), Arg::int(mask)]);
    new.finish()
}

/// Selects the two converted constants. If the predicate may have changed by then, the bits of the value tell which of
/// the two it is.
///
/// ```text
/// selp.f32 %f1, 0f00000001, 0f00000000, %p1;   ▸   selp.f32 …
/// cvt.rzi.u32.f32 %r1, %f1;                        selp.b32 %r1, 0, 0, %p1;
/// ```
///
/// It relies on the registers as LLVM assigns them: if only one instruction sets the select's register, and only one
/// its predicate, the predicate has the same value at each use of the select.
pub(super) fn converted_select<'t>(facts: &Facts<'_, 't>, at: usize) -> Statements<'t> {
    let operation = &facts.of.code[at];
    let [to, value] = operation.inst.args.as_slice() else { return None };
    let (to_type, from) = conversion(operation.inst)?;
    let select = facts.selects().get(&operation.register(1)?.slot)?;
    let [a, b] = select.bits;
    let (a_converted, b_converted) = (constant::converted(a, operation.inst)?, constant::converted(b, operation.inst)?);
    let opcode: Cow<'t, str> = match to_type.class {
        Class::Float if to_type.bits >= 32 => format!("selp.f{}", to_type.bits).into(),
        // A type of 8 bits is in a wider register.
        _ => format!("selp.b{}", operation.register(0)?.bits).into(),
    };
    let mut new = Builder::new(operation.inst);
    // The rewrite names the predicate at another place: there the name must mean the same register, with the same
    // value.
    let is_kept = |name: &str, slot: u32| !facts.merged().has(slot) && facts.of.is_plain(name);
    let predicate = match select.predicate {
        Some((Arg::Name(name), register)) if is_kept(name, register.slot) => Arg::Name(name),
        _ => {
            let bits = Type { class: Class::Bits, ..from };
            let (first, is_first) = (new.register(bits, "%bits"), new.register(Type::PRED, "%first"));
            new.inst(format!("mov.{bits}"), [first.clone(), value.clone()]);
            new.inst(format!("setp.eq.{bits}"), [is_first.clone(), first, Arg::int(a)]);
            is_first
        }
    };
    new.inst(opcode, [to.clone(), a_converted, b_converted, predicate]);
    new.finish()
}

/// Negates the result, which ptxas does not look through, and which takes no machine instruction.
///
/// ```text
/// setp.eq.s32 %p1, %r2, 255;      ▸      setp.ne.s32 %p1, %r2, 255;
///                                        not.pred %p1, %p1;
/// ```
pub(super) fn equality<'t>(facts: &Facts<'_, 't>, at: usize) -> Statements<'t> {
    let inst = facts.of.code[at].inst;
    let [to, a, b, other @ ..] = inst.args.as_slice() else { return None };
    let ty = compared(inst)?;
    let mut new = Builder::new(inst);
    let differs = format!("setp.ne.{ty}");
    if let (Arg::Name(_), [], "setp", None) = (to, other, inst.name(), inst.guard) {
        new.inst(differs, [to.clone(), a.clone(), b.clone()]);
        new.inst("not.pred", [to.clone(), to.clone()]);
        return new.finish();
    }
    // The results are written last: the other predicate, which is read in between, may be one of them.
    let (differ, equal) = (new.register(Type::PRED, "%differ"), new.register(Type::PRED, "%equal"));
    new.inst(differs, [differ.clone(), a.clone(), b.clone()]);
    new.inst("not.pred", [equal.clone(), differ.clone()]);
    if let [other] = other {
        let both = match inst.modifiers().nth(1)? {
            name @ ("and" | "or" | "xor") => format!("{name}.pred"),
            _ => return None,
        };
        let other = match other {
            Arg::Not(name) => {
                let opposite = new.register(Type::PRED, "%other");
                new.inst("not.pred", [opposite.clone(), Arg::Name(name)]);
                opposite
            }
            other => other.clone(),
        };
        new.inst(both.clone(), [equal.clone(), equal.clone(), other.clone()]);
        new.inst(both, [differ.clone(), differ.clone(), other]);
    }
    match (inst.name(), to) {
        ("setp", Arg::Name(_)) => new.inst("mov.pred", [to.clone(), equal]),
        ("setp", Arg::Pair(first, second)) => {
            for (to, from) in [(first, equal), (second, differ)].into_iter().filter(|(to, _)| **to != "_") {
                new.inst("mov.pred", [Arg::Name(to), from]);
            }
        }
        ("set", Arg::Name(_)) => {
            let result = inst.types().next()?;
            let one = match (result.class, result.bits) {
                (Class::Float, 32) => Arg::Literal(Literal::Single(1.0_f32.to_bits())),
                (Class::Signed | Class::Unsigned, 32) => Arg::int(u64::MAX),
                _ => return None,
            };
            let (ty, zero) = match one {
                Arg::Literal(Literal::Single(_)) => ("selp.f32", Arg::Literal(Literal::Single(0))),
                _ => ("selp.b32", Arg::int(0)),
            };
            new.inst(ty, [to.clone(), one, zero, equal]);
        }
        _ => return None,
    }
    new.finish()
}

/// Converts to 32 bits and cuts off the upper half, which ptxas does not copy in this way. For NaN, or for a number
/// that 16 bits cannot hold, the result differs; LLVM leaves it open.
///
/// ```text
/// cvt.rzi.u16.f32 %h1, %f1;      ▸      { .reg .b32 %wide;
///                                         cvt.rzi.u32.f32 %wide, %f1;
///                                         cvt.u16.u32 %h1, %wide; }
/// ```
pub(super) fn float_to_16_bits<'t>(facts: &Facts<'_, 't>, at: usize) -> Statements<'t> {
    let inst = facts.of.code[at].inst;
    let [to, a] = inst.args.as_slice() else { return None };
    let mut parts: Vec<&str> = inst.opcode.split('.').collect();
    // The type of the result stands before that of the operand, which is the last part.
    let place = parts.len().checked_sub(2)?;
    parts[place] = match parts[place] {
        "u16" => "u32",
        "s16" => "s32",
        _ => return None,
    };
    let mut new = Builder::new(inst);
    let wide = new.register(Type::B32, "%wide");
    new.inst(parts.join("."), [wide.clone(), a.clone()]);
    new.inst("cvt.u16.u32", [to.clone(), wide]);
    new.finish()
}

/// Shifts instead of dividing into registers, which is no slower.
///
/// ```text
/// mov.b32 {%h1, %h2}, %r1;      ▸      { .reg .b32 %upper;
///                                        cvt.u16.u32 %h1, %r1;
///                                        shr.u32 %upper, %r1, 16;
///                                        cvt.u16.u32 %h2, %upper; }
/// ```
pub(super) fn halves<'t>(facts: &Facts<'_, 't>, at: usize) -> Statements<'t> {
    let operation: &Operation<'_, 't> = &facts.of.code[at];
    let [Arg::Vector(halves), from] = operation.inst.args.as_slice() else { return None };
    let [lower, upper] = halves.as_slice() else { return None };
    let is_wanted = |half: &&Arg<'t>| match half {
        // LLVM declares a register of this name in a block of its own, for a half that it does not need.
        Arg::Name(name) => !matches!(*name, "_" | "tmp"),
        _ => true,
    };
    let mut new = Builder::new(operation.inst);
    let shifted = new.register(Type::B32, "%upper");
    let mut from = from.clone();
    // Shifts and conversions of integers take no register of a floating-point type.
    if facts.of.floats.has(operation.register(1)?.slot) {
        let bits = new.register(Type::B32, "%bits");
        new.inst("mov.b32", [bits.clone(), from]);
        from = bits;
    }
    if let Some(lower) = Some(lower).filter(is_wanted) {
        new.inst("cvt.u16.u32", [lower.clone(), from.clone()]);
    }
    if let Some(upper) = Some(upper).filter(is_wanted) {
        new.inst("shr.u32", [shifted.clone(), from, Arg::int(16)]);
        new.inst("cvt.u16.u32", [upper.clone(), shifted]);
    }
    new.finish()
}
