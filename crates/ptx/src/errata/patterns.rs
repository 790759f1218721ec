//! The patterns of [`ERRATA`](super::ERRATA).
//!
//! In: a function and the position of an instruction. Out: whether the instruction has the bug of the row. The row says
//! why ptxas gets it wrong.

use super::facts::{Facts, conversion};
use crate::tree::Inst;
use crate::{Literal, Operand, Operation, Type};

/// -1.0 as a float.
const MINUS_ONE: u64 = 0xBF80_0000;
/// -0.0 as a float.
const MINUS_ZERO: u64 = 0x8000_0000;

/// Whether the first type of the instruction is an integer of 16 bits, or two of them.
fn is_of_16_bits(operation: &Operation<'_, '_>) -> bool {
    let is_integer = |ty: Type| !ty.is_float() && ty.bits == 16;
    operation.inst.types().next().is_some_and(is_integer)
}

pub(super) fn is_second_entry(facts: &Facts<'_, '_>, at: usize) -> bool {
    facts.second_entry().is_some_and(|second| second as usize == at)
}

pub(super) fn is_extremum_of_16_bits(facts: &Facts<'_, '_>, at: usize) -> bool {
    is_of_16_bits(&facts.of.code[at])
}

pub(super) fn is_negation_of_16_bits(facts: &Facts<'_, '_>, at: usize) -> bool {
    is_of_16_bits(&facts.of.code[at])
}

/// The type of a comparison's operands.
pub(super) fn compared(inst: &Inst<'_>) -> Option<Type> {
    inst.types().last()
}

pub(super) fn is_half_tested_for_nan(facts: &Facts<'_, '_>, at: usize) -> bool {
    let operation = &facts.of.code[at];
    let is_half = |ty: Type| ty.is_float() && ty.bits == 16;
    operation.inst.modifiers().any(|part| matches!(part, "nan" | "num"))
        && compared(operation.inst).is_some_and(is_half)
}

pub(super) fn is_signed_byte_extracted(facts: &Facts<'_, '_>, at: usize) -> bool {
    let operation = &facts.of.code[at];
    let is_signed_word = |ty: Type| ty.is_signed() && ty.bits == 32;
    operation.inst.types().next().is_some_and(is_signed_word)
        && matches!(operation.literal(2), Some(Literal::Int(first)) if first % 8 == 0)
        && matches!(operation.literal(3), Some(Literal::Int(8 | 16)))
}

/// The types of a conversion, and the constants of the select that it converts.
fn converted_select(facts: &Facts<'_, '_>, at: usize) -> Option<(Type, Type, [u64; 2])> {
    let operation = &facts.of.code[at];
    let (to, from) = conversion(operation.inst).filter(|(_, from)| from.is_float())?;
    let select = facts.selects().get(&operation.register(1)?.slot)?;
    Some((to, from, select.bits))
}

/// Whether the constants are these two, in any order.
fn are([a, b]: [u64; 2], first: u64, second: u64) -> bool {
    [a, b] == [first, second] || [b, a] == [first, second]
}

pub(super) fn is_select_of_doubles_converted(facts: &Facts<'_, '_>, at: usize) -> bool {
    let is_float = |bits: &u64| {
        let float = f64::from_bits(*bits) as f32;
        f64::from(float).to_bits() == *bits && (float.is_normal() || float == 0.0)
    };
    converted_select(facts, at).is_some_and(|(to, from, select)| {
        from.is_float() && from.bits == 64 && to.is_float() && to.bits == 32 && select.iter().all(is_float)
    })
}

pub(super) fn is_select_of_least_number_converted(facts: &Facts<'_, '_>, at: usize) -> bool {
    converted_select(facts, at)
        .is_some_and(|(_, from, select)| from.is_float() && matches!(from.bits, 16 | 32) && are(select, 1, 0))
}

pub(super) fn is_select_of_minus_one_converted(facts: &Facts<'_, '_>, at: usize) -> bool {
    converted_select(facts, at).is_some_and(|(to, from, select)| {
        let is_unsigned = !to.is_float() && !to.is_signed();
        from.is_float()
            && from.bits == 32
            && is_unsigned
            && (are(select, MINUS_ONE, 0) || are(select, MINUS_ONE, MINUS_ZERO))
    })
}

pub(super) fn is_equality_with_bound(facts: &Facts<'_, '_>, at: usize) -> bool {
    let operation = &facts.of.code[at];
    let is_signed = |ty: Type| ty.is_signed() && ty.bits <= 32;
    let mut operands = operation.operands.iter().skip(1).take(2);
    operation.inst.has("eq")
        && compared(operation.inst).is_some_and(is_signed)
        && operands.any(|operand| facts.clamped().has_operand(operand))
}

pub(super) fn is_negated_in_two_extrema(facts: &Facts<'_, '_>, at: usize) -> bool {
    let operation = &facts.of.code[at];
    negated_word(operation).is_some()
        && operation.register(0).is_some_and(|result| facts.in_two_extrema().has(result.slot))
}

/// The index of the operand of which an instruction computes the negation, in 32 bits.
pub(super) fn negated_word(operation: &Operation<'_, '_>) -> Option<usize> {
    let is_word = |ty: Type| !ty.is_float() && ty.bits == 32 && ty.lanes == 1;
    let is = |index, value: i32| match operation.literal(index) {
        Some(Literal::Int(bits)) => bits as u32 == value as u32,
        _ => false,
    };
    operation.inst.types().next().filter(|&ty| is_word(ty))?;
    match operation.name {
        "neg" => Some(1),
        "sub" if is(1, 0) => Some(2),
        // Only the low half of a product by -1 is a negation, and `mad` computes one only if it adds zero.
        "mul" | "mad" if operation.name == "mad" && !is(3, 0) || !operation.inst.has("lo") => None,
        "mul" | "mad" if is(2, -1) => Some(1),
        "mul" | "mad" if is(1, -1) => Some(2),
        _ => None,
    }
}

pub(super) fn is_float_to_16_bits(facts: &Facts<'_, '_>, at: usize) -> bool {
    let types = conversion(facts.of.code[at].inst);
    types.is_some_and(|(to, from)| from.is_float() && !to.is_float() && to.bits == 16)
}

pub(super) fn is_uniform_divided(facts: &Facts<'_, '_>, at: usize) -> bool {
    let operation = &facts.of.code[at];
    let is_word = |ty: Type| ty.bits == 32;
    let has_halves = matches!(operation.operands.first(), Some(Operand::Group(halves)) if halves.len() == 2);
    // Safe is only a register that depends on the thread and that one instruction sets (see the reason in the table).
    let may_be_same = |slot: u32| facts.merged().has(slot) || !facts.varying().has(slot);
    has_halves
        && operation.inst.types().next().is_some_and(is_word)
        && operation.register(1).is_some_and(|from| may_be_same(from.slot))
}

pub(super) fn is_generic_address_of_32_bits(facts: &Facts<'_, '_>, at: usize) -> bool {
    let operation = &facts.of.code[at];
    let is_space = |part: &str| {
        // A word such as `shared::cta` names a space and its owner.
        let space = part.split("::").next().unwrap_or_default();
        matches!(space, "global" | "const" | "shared" | "local" | "param")
    };
    let is_narrow = |operand: &Operand<'_>| matches!(operand, Operand::Address(Some(register)) if register.bits == 32);
    operation.operands.iter().any(is_narrow) && !operation.inst.modifiers().any(is_space)
}
