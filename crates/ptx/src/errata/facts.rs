//! What the patterns ask of a whole function.
//!
//! In: a function. Out: its registers and blocks, computed once and in time that is close to linear.

use crate::tree::{Function, Inst};
use crate::uniformity::varying;
use crate::{Class, DefUse, Literal, Operand, Operation, ParseError, RegisterSet, Type, merged};
use std::collections::HashMap;

/// A function with what the patterns ask of it.
#[derive(Clone, Debug)]
pub struct Facts<'a, 't> {
    /// The instructions.
    pub of: DefUse<'a, 't>,
    /// Registers that are set in several places, or copies of such.
    pub merged: RegisterSet,
    /// Registers that depend on the thread.
    pub varying: RegisterSet,
    /// Registers that are not negative, because they are the larger of a number and zero.
    pub clamped: RegisterSet,
    /// Selects of two constants, by the slots of the registers that have them or copies of them. Each of these
    /// registers is set in one place.
    pub selects: HashMap<u32, [u64; 2]>,
    /// The position of a block in a cycle that control also enters elsewhere.
    pub second_entry: Option<u32>,
}

impl<'a, 't> Facts<'a, 't> {
    /// Looks at a function.
    pub fn new(function: &'a Function<'t>) -> Result<Facts<'a, 't>, ParseError> {
        let of = DefUse::new(function)?;
        let (merged, varying, clamped) = (merged(&of), varying(&of), clamped(&of));
        let (selects, second_entry) = (selects(&of, &merged), of.graph().second_entry());
        Ok(Facts { of, merged, varying, clamped, selects, second_entry })
    }
}

/// The types of a conversion of one value: to and from.
pub(super) fn conversion(inst: &Inst<'_>) -> Option<(Type, Type)> {
    let mut types = inst.types();
    let (to, from) = (types.next()?, types.next()?);
    (inst.name() == "cvt" && to.lanes == 1).then_some((to, from))
}

/// The register that a move copies from.
fn copied<'o, 't>(operation: &'o Operation<'_, 't>) -> Option<&'o Operand<'t>> {
    let is_register = |operand: &&Operand<'_>| operand.register().is_some();
    operation.operands.get(1).filter(is_register).filter(|_| operation.inst.name() == "mov")
}

/// Registers with the larger of a number and zero, and with copies of such.
fn clamped(of: &DefUse<'_, '_>) -> RegisterSet {
    let mut clamped = RegisterSet::new(of);
    for operation in &of.code {
        let inst = operation.inst;
        let is_signed_word = |ty: Type| ty.is_signed() && ty.bits == 32;
        let is_one = match (conversion(inst), copied(operation)) {
            (Some((to, from)), _) => {
                !from.is_float() && !to.is_float() && operation.operands.get(1).is_some_and(|a| clamped.has_operand(a))
            }
            (None, Some(from)) => clamped.has_operand(from),
            (None, None) => {
                let zero = Some(Literal::Int(0));
                inst.name() == "max"
                    && inst.types().next().is_some_and(is_signed_word)
                    && (operation.literal(1) == zero || operation.literal(2) == zero)
            }
        };
        if let (true, Some(register)) = (is_one, operation.register(0)) {
            clamped.insert(register);
        }
    }
    clamped
}

/// Registers with a select of two constants, or a copy of one, that are set in one place.
fn selects(of: &DefUse<'_, '_>, merged: &RegisterSet) -> HashMap<u32, [u64; 2]> {
    let mut selects = HashMap::new();
    for operation in &of.code {
        let select = match copied(operation).and_then(Operand::register) {
            Some(from) => selects.get(&from.slot).copied(),
            None => constants(operation),
        };
        if let (Some(select), Some(register)) = (select, operation.register(0))
            && !merged.has(register.slot)
        {
            selects.insert(register.slot, select);
        }
    }
    selects
}

/// The bits of the two constants of a select.
fn constants(operation: &Operation<'_, '_>) -> Option<[u64; 2]> {
    let ty = operation.inst.types().next().filter(|_| operation.inst.name() == "selp")?;
    Some([bits(operation.literal(1)?, ty)?, bits(operation.literal(2)?, ty)?])
}

/// The bits of a constant of a type. Decimal numbers stand for floats and doubles only.
fn bits(literal: Literal, ty: Type) -> Option<u64> {
    let number = match literal {
        Literal::Int(value) => return Some(value),
        Literal::Single(bits) if ty.bits == 32 => return Some(bits.into()),
        Literal::Double(bits) if ty.bits == 64 => return Some(bits),
        Literal::Single(bits) => f64::from(f32::from_bits(bits)),
        Literal::Double(bits) => f64::from_bits(bits),
        Literal::Decimal(value) => value,
    };
    match (ty.class, ty.bits) {
        (Class::Float, 32) => Some((number as f32).to_bits().into()),
        (Class::Float, 64) => Some(number.to_bits()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Item;

    fn with<T>(body: &str, see: impl FnOnce(&Facts<'_, '_>) -> T) -> T {
        let text = format!(".entry k() {{ {} {body} }}", super::super::REGISTERS);
        let module = crate::parse(&text).unwrap();
        let Some(Item::Function(function)) = module.items.first() else { panic!() };
        see(&Facts::new(function).unwrap())
    }

    /// Whether the register that the last instruction copies is not negative.
    fn is_clamped(body: &str) -> bool {
        with(&format!("{body} mov.b32 %r3, %r1;"), |facts| {
            facts.clamped.has_operand(&facts.of.code.last().unwrap().operands[1])
        })
    }

    /// The select that the last instruction copies.
    fn select(body: &str) -> Option<[u64; 2]> {
        with(body, |facts| {
            let last = facts.of.code.last().and_then(|operation| operation.register(1)).unwrap();
            facts.selects.get(&last.slot).copied()
        })
    }

    #[test]
    fn the_larger_of_a_number_and_zero_is_clamped() {
        for body in [
            "max.s32 %r1, %r2, 0;",
            "max.s32 %r1, 0, %r2;",
            "max.s32 %r2, %r2, 0; mov.u32 %r1, %r2;",
            "max.s32 %r2, %r2, 0; cvt.u16.u32 %h1, %r2; cvt.u32.u16 %r1, %h1;",
        ] {
            assert!(is_clamped(body), "{body}");
        }
        for body in [
            "max.s32 %r1, %r2, 1;",
            "max.u32 %r1, %r2, 0;",
            "min.s32 %r1, %r2, 0;",
            "max.s32 %r2, %r2, 0; add.s32 %r1, %r2, 1;",
            "max.s32 %r2, %r2, 0; cvt.rn.f32.s32 %f1, %r2; mov.b32 %r1, %f1;",
        ] {
            assert!(!is_clamped(body), "{body}");
        }
    }

    #[test]
    fn selects_of_constants_have_their_bits() {
        for (body, bits) in [
            ("selp.b32 %r1, 1, 0, %p1; mov.b32 %r2, %r1;", [1, 0]),
            ("selp.f32 %f1, 0fBF800000, 0.5, %p1; mov.b32 %r2, %f1;", [0xBF80_0000, 0x3F00_0000]),
            ("selp.f64 %d1, 0f3F800000, 1.5, %p1; mov.f64 %d2, %d1;", [1.0f64.to_bits(), 1.5f64.to_bits()]),
            ("selp.f32 %f1, 1.5, 0d3FF0000000000000, %p1; mov.f32 %f2, %f1;", [0x3FC0_0000, 0x3F80_0000]),
            ("selp.b32 %r1, 1, 0, %p1; mov.b32 %f1, %r1; mov.b32 %f2, %f1;", [1, 0]),
        ] {
            assert_eq!(select(body), Some(bits), "{body}");
        }
        for body in [
            "selp.b32 %r1, 1, %r2, %p1; mov.b32 %r2, %r1;",
            "selp.b32 %r1, 1, 0, %p1; mov.b32 %r1, 5; mov.b32 %r2, %r1;",
            "selp.b32 %r1, 1, 0, %p1; add.s32 %r2, %r1, 1; mov.b32 %r3, %r2;",
        ] {
            assert_eq!(select(body), None, "{body}");
        }
    }
}
