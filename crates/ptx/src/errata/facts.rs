//! The analyses that the patterns use.
//!
//! In: a function. Out: its registers and blocks, computed once and in nearly linear time.

use crate::tree::{Arg, Function, Inst};
use crate::uniformity::varying;
use crate::{Class, DefUse, Literal, Operand, Operation, ParseError, Register, RegisterSet, Type, merged};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;

/// A function with its analyses, most of which are computed on first use.
#[derive(Clone, Debug)]
pub struct Facts<'a, 't> {
    /// The instructions.
    pub of: DefUse<'a, 't>,
    merged: OnceCell<RegisterSet>,
    varying: OnceCell<RegisterSet>,
    clamped: OnceCell<RegisterSet>,
    in_two_extrema: OnceCell<RegisterSet>,
    selects: OnceCell<Selects<'a, 't>>,
    second_entry: OnceCell<Option<u32>>,
}

/// Selects, by the slots of their results.
pub type Selects<'a, 't> = FxHashMap<u32, Select<'a, 't>>;

/// A select of two constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Select<'a, 't> {
    /// The constants.
    pub bits: [u64; 2],
    /// The predicate, with its register.
    pub predicate: Option<(&'a Arg<'t>, Register)>,
}

impl<'a, 't> Facts<'a, 't> {
    /// Looks at a function.
    pub fn new(function: &'a Function<'t>) -> Result<Facts<'a, 't>, ParseError> {
        Ok(Facts {
            // The analyses come later, on demand: most functions have none of the opcodes that patterns look at
            // closely.
            of: DefUse::new(function)?,
            merged: OnceCell::new(),
            varying: OnceCell::new(),
            clamped: OnceCell::new(),
            in_two_extrema: OnceCell::new(),
            selects: OnceCell::new(),
            second_entry: OnceCell::new(),
        })
    }

    /// Registers that several instructions set, or copies of such.
    pub fn merged(&self) -> &RegisterSet {
        self.merged.get_or_init(|| merged(&self.of))
    }

    /// Registers that depend on the thread.
    pub fn varying(&self) -> &RegisterSet {
        self.varying.get_or_init(|| varying(&self.of))
    }

    /// Registers that may hold the larger of a number and zero.
    pub fn clamped(&self) -> &RegisterSet {
        self.clamped.get_or_init(|| clamped(&self.of))
    }

    /// Registers that are compared in two extrema of the same kind, the second of which reads the result of the first.
    pub fn in_two_extrema(&self) -> &RegisterSet {
        self.in_two_extrema.get_or_init(|| in_two_extrema(&self.of))
    }

    /// Selects of two constants, and copies of such. Only one instruction sets each of their registers.
    pub fn selects(&self) -> &Selects<'a, 't> {
        self.selects.get_or_init(|| selects(&self.of, self.merged()))
    }

    /// The position of a block at which control enters a cycle for the second time, if a cycle has two entries.
    pub fn second_entry(&self) -> Option<u32> {
        *self.second_entry.get_or_init(|| self.of.graph().second_entry())
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
    operation.operands.get(1).filter(is_register).filter(|_| operation.name == "mov")
}

/// Registers with the larger of a number and zero, or with zero in place of some numbers, and with copies of such.
/// ptxas itself infers that a register is zero, and that a select computes a maximum. Some registers in the set are not
/// such ones; that does no harm.
fn clamped(of: &DefUse<'_, '_>) -> RegisterSet {
    let mut clamped = RegisterSet::new(of);
    for operation in &of.code {
        let is_zero = |index| operation.literal(index) == Some(Literal::Int(0));
        let is_clamped = |index| operation.operands.get(index).is_some_and(|operand| clamped.has_operand(operand));
        let ty = || operation.inst.types().next();
        let is_one = match operation.name {
            "mov" => is_clamped(1),
            // Conversions to and from floats change the bits, and with them what is known.
            "cvt" => {
                let is_integer = |(to, from): (Type, Type)| !from.is_float() && !to.is_float();
                is_clamped(1) && conversion(operation.inst).is_some_and(is_integer)
            }
            "max" => {
                // A register may hold zero without this analysis seeing it, since ptxas propagates constants.
                let may_be_zero = |index| is_zero(index) || operation.register(index).is_some();
                may_be_zero(1)
                    && may_be_zero(2)
                    && ty().is_some_and(|ty| ty.is_signed() && ty.lanes == 1 && ty.bits <= 32)
            }
            "selp" => {
                // Selects that make a truth value of a predicate have another type.
                let is_bits = |ty: Type| ty.class == Class::Bits && matches!(ty.bits, 16 | 32);
                (is_zero(1) || is_zero(2)) && ty().is_some_and(is_bits)
            }
            _ => false,
        };
        if let (true, Some(register)) = (is_one, operation.register(0)) {
            clamped.insert(register);
        }
    }
    clamped
}

/// `min` or `max` of signed words, and copies: which are read by which. Returns the registers that the inner one of two
/// nested extrema of the same kind reads, itself or by a copy.
fn in_two_extrema(of: &DefUse<'_, '_>) -> RegisterSet {
    let kind = |operation: &Operation<'_, '_>| {
        let is_signed_word = |ty: Type| ty.is_signed() && ty.bits == 32;
        let ty = operation.inst.types().next();
        ["min", "max"].iter().position(|name| operation.name == *name).filter(|_| ty.is_some_and(is_signed_word))
    };
    let mut read = [RegisterSet::new(of), RegisterSet::new(of)];
    let mut nested = RegisterSet::new(of);
    // Most functions have no such extremum: for them the loop does not run at all.
    let mut is_changed = of.code.iter().any(|operation| kind(operation).is_some());
    // Users come later in the text, but for those in the next iteration of a loop.
    while std::mem::take(&mut is_changed) {
        for operation in of.code.iter().rev() {
            let Some(result) = operation.register(0) else { continue };
            let operands = || [1, 2].into_iter().filter_map(|index| operation.register(index));
            if let Some(kind) = kind(operation) {
                // The result is read by an extremum of the same kind, so this one is the inner of the two.
                let is_inner = read[kind].has(result.slot);
                for register in operands() {
                    is_changed |= read[kind].insert(register);
                    is_changed |= is_inner && nested.insert(register);
                }
            } else if let Some(register) = copied(operation).and_then(Operand::register) {
                for set in read.iter_mut().chain([&mut nested]) {
                    is_changed |= set.has(result.slot) && set.insert(register);
                }
            }
        }
    }
    nested
}

/// Registers with a select of two constants, or a copy of one, that only one instruction sets.
fn selects<'a, 't>(of: &DefUse<'a, 't>, merged: &RegisterSet) -> Selects<'a, 't> {
    let mut selects = Selects::default();
    for operation in &of.code {
        let select = match operation.name {
            "selp" => select_of(operation),
            // Moves are frequent, and most functions have no select of constants.
            "mov" | "cvt" if selects.is_empty() => None,
            "mov" => copied(operation).and_then(Operand::register).and_then(|from| selects.get(&from.slot).copied()),
            "cvt" => cut(operation, &selects),
            _ => None,
        };
        if let (Some(select), Some(register)) = (select, operation.register(0))
            // With a second definition, the register need not hold the select where it is converted.
            && !merged.has(register.slot)
        {
            selects.insert(register.slot, select);
        }
    }
    selects
}

/// The lower halves of a select: an integer conversion that does not change these bits.
fn cut<'a, 't>(operation: &Operation<'a, 't>, selects: &Selects<'a, 't>) -> Option<Select<'a, 't>> {
    let select = selects.get(&operation.register(1)?.slot)?;
    let (to, from) = conversion(operation.inst)?;
    let is_cut = !to.is_float() && !from.is_float() && to.bits == 16 && from.bits == 32;
    is_cut.then(|| Select { bits: select.bits.map(|bits| bits & 0xFFFF), ..*select })
}

/// The select of two constants that an instruction is.
fn select_of<'a, 't>(operation: &Operation<'a, 't>) -> Option<Select<'a, 't>> {
    let constants = (operation.literal(1)?, operation.literal(2)?);
    let ty = operation.inst.types().next()?;
    let bits = [bits(constants.0, ty)?, bits(constants.1, ty)?];
    Some(Select { bits, predicate: operation.inst.args.get(3).zip(operation.register(3)) })
}

/// The bits of a constant of a type. Decimal numbers are only floats and doubles.
fn bits(literal: Literal, ty: Type) -> Option<u64> {
    let number = match literal {
        // Negative numbers have 64 bits in the tree.
        Literal::Int(value) => return Some(value & u64::MAX >> (64 - ty.bits.clamp(1, 64))),
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
            facts.clamped().has_operand(&facts.of.code.last().unwrap().operands[1])
        })
    }

    /// The select that the last instruction copies.
    fn select(body: &str) -> Option<[u64; 2]> {
        with(body, |facts| {
            let last = facts.of.code.last().and_then(|operation| operation.register(1)).unwrap();
            facts.selects().get(&last.slot).map(|select| select.bits)
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
