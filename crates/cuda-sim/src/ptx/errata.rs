//! What NVIDIA's compiler makes wrong machine code of, or dies of, as seen with `ptxas` 12.9 to 13.5.
//!
//! In: the instructions of a function, decoded and in the tree, where registers have the same slots. Out: the first one that no module should have, and why. Code that has none of
//! these works on hardware as it does here, so that tests need none.

use super::op::{Comparison, Function, Inst, IntOp, Op, Space, Src};
use cloom_ptx::{DefUse, RegisterSet, merged, varying};
use std::collections::{HashMap, HashSet};

/// The line of an instruction to avoid, and what it is.
pub(super) fn first(code: &[Inst], registers: &DefUse<'_, '_>) -> Option<(u32, &'static str)> {
    if let Some(at) = registers.graph().second_entry() {
        // Threads of a warp are not joined behind the cycle, yet values are kept in registers of the warp there.
        return Some((code[at as usize].line, "a cycle with two entries"));
    }
    let (clamped, merged, varying) = (clamped(code), merged(registers), varying(registers));
    let choices = choices(code, &merged);
    code.iter().find_map(|inst| {
        let found = erratum(&inst.op)
            .or_else(|| converted_choice(&inst.op, &choices))
            .or_else(|| compared_bound(&inst.op, &clamped))
            .or_else(|| divided(&inst.op, &merged, &varying));
        Some((inst.line, found?))
    })
}

/// Registers with the larger of a number and zero, and with copies of such.
fn clamped(code: &[Inst]) -> HashSet<u32> {
    let mut slots = HashSet::new();
    for inst in code {
        let (dst, is_one) = match &inst.op {
            Op::Compute { function: Function::Int(IntOp::Max, ty), dst, args: [a, b, ..] } => {
                (dst, ty.is_signed() && ty.bits == 32 && [a, b].contains(&&Src::Imm(0)))
            }
            Op::Compute { function: Function::Convert(how), dst, args: [Src::Reg(from), ..] } => {
                (dst, !how.from.is_float() && !how.to.is_float() && slots.contains(from))
            }
            Op::Move { dst, src: Src::Reg(from) } => (dst, slots.contains(from)),
            _ => continue,
        };
        if is_one {
            slots.insert(dst.slot);
        }
    }
    slots
}

/// The comparison may become the predicate of the instruction that computes the bound, which is true for negative
/// numbers as well. Only of an equality.
fn compared_bound(op: &Op, clamped: &HashSet<u32>) -> Option<&'static str> {
    let Op::SetPredicate(set) = op else { return None };
    let is_equality = set.compare.how == Comparison::Eq && set.compare.ty.is_signed() && set.compare.ty.bits <= 32;
    let of_one = [&set.a, &set.b].into_iter().any(|src| matches!(src, Src::Reg(slot) if clamped.contains(slot)));
    (is_equality && of_one).then_some("an equality of what is not negative")
}

/// What is the same for all threads of a warp may be divided as if it were a pair of registers.
fn divided(op: &Op, merged: &RegisterSet, varying: &RegisterSet) -> Option<&'static str> {
    let Op::Unpack { src: Src::Reg(from), parts, bits: 16 } = op else { return None };
    let may_be_same = merged.has(*from) || !varying.has(*from);
    (parts.len() == 2 && may_be_same).then_some("a division into halves of what may be the same for a warp")
}

/// Registers with a choice of two constants, or a copy of one, that are set in one place.
fn choices(code: &[Inst], merged: &RegisterSet) -> HashMap<u32, [u64; 2]> {
    let mut choices = HashMap::new();
    for inst in code {
        let (dst, choice) = match &inst.op {
            Op::Compute { function: Function::Int(IntOp::Select, _), dst, args: [Src::Imm(a), Src::Imm(b), ..] } => {
                (dst, Some([*a, *b]))
            }
            Op::Move { dst, src: Src::Reg(from) } => (dst, choices.get(from).copied()),
            _ => continue,
        };
        if let Some(choice) = choice
            && !merged.has(dst.slot)
        {
            choices.insert(dst.slot, choice);
        }
    }
    choices
}

/// A conversion of a choice by which the result is wrong.
fn converted_choice(op: &Op, choices: &HashMap<u32, [u64; 2]>) -> Option<&'static str> {
    let Op::Compute { function: Function::Convert(how), args: [Src::Reg(from), ..], .. } = op else { return None };
    let choice = choices.get(from)?;
    let are = |first, second| *choice == [first, second] || *choice == [second, first];
    let is_float = |bits: &u64| {
        let float = f64::from_bits(*bits) as f32;
        f64::from(float).to_bits() == *bits && (float.is_normal() || float == 0.0)
    };
    let is_unsigned = !how.to.is_float() && !how.to.is_signed();
    let minus_one = f32::to_bits(-1.0).into();
    match how.from.bits {
        _ if !how.from.is_float() => None,
        // Under register pressure, the conversion of a second choice may be that of the first one: the lower halves of
        // the doubles are zero, and share a register.
        64 if how.to.is_float() && how.to.bits == 32 && choice.iter().all(is_float) => {
            Some("a conversion of a choice of doubles that are floats")
        }
        // They are taken for the integers one and zero.
        16 | 32 if are(1, 0) => Some("a conversion of a choice of the least number and zero"),
        // As if the result had a sign.
        32 if is_unsigned && (are(minus_one, 0) || are(minus_one, f32::to_bits(-0.0).into())) => {
            Some("a conversion of a choice of -1 and zero to an unsigned number")
        }
        _ => None,
    }
}

fn erratum(op: &Op) -> Option<&'static str> {
    match op {
        // Of a constant, and compared with it, it becomes one instruction for both halves of a register, and the answer
        // is that of the upper half.
        Op::Compute { function: Function::Int(IntOp::Min | IntOp::Max, ty), .. } if ty.bits == 16 => {
            Some("an extremum of 16 bits")
        }
        // The upper half of the register is taken to be zero, or the sign, also in copies, which leave it as it was.
        Op::Compute { function: Function::Convert(how), .. }
            if how.from.is_float() && !how.to.is_float() && how.to.bits == 16 =>
        {
            Some("a conversion of a float to 16 bits")
        }
        // The result has 32 bits and is not cut before it is extended by its sign.
        Op::Compute { function: Function::Int(IntOp::Neg | IntOp::Abs, ty), .. } if ty.bits == 16 => {
            Some("a negation or an absolute value of 16 bits")
        }
        // Converted as an unsigned number, it is taken for a signed one.
        Op::Compute {
            function: Function::Int(IntOp::Bfe, ty), args: [_, Src::Imm(first), Src::Imm(count), _], ..
        } if ty.is_signed() && ty.bits == 32 && first % 8 == 0 && matches!(count, 8 | 16) => {
            Some("an extraction of a signed byte")
        }
        // What LLVM 19 makes of an access of which it has forgotten the memory.
        Op::Load { space: Space::Generic, address, .. } | Op::Store { space: Space::Generic, address, .. }
            if address.narrow =>
        {
            Some("a generic address of 32 bits")
        }
        // It dies of some.
        Op::SetPredicate(set)
            if set.compare.ty.is_float()
                && set.compare.ty.bits == 16
                && matches!(set.compare.how, Comparison::Nan | Comparison::Num) =>
        {
            Some("a test of a half for NaN")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::ptx::Module;

    fn refused(body: &str) -> bool {
        let registers = ".reg .pred %p<3>;\n.reg .b16 %h<4>;\n.reg .b32 %r<4>;\n.reg .f32 %f<4>;\n.reg .f64 %d<4>;\n";
        let module =
            format!(".version 7.8\n.target sm_90\n.address_size 64\n.entry k() {{\n{registers}{body}\nret;\n}}\n");
        match Module::parse(&module) {
            Ok(_) => false,
            Err(error) => {
                assert!(error.to_string().contains("NVIDIA's compiler"), "{error}");
                true
            }
        }
    }

    #[test]
    fn what_is_compiled_wrongly_is_refused() {
        assert!(refused("min.u16 %h1, %h2, 127;"));
        assert!(refused("max.s16 %h1, %h2, -1;"));
        assert!(refused("setp.nan.f16 %p1, %h1, %h1;"));
        assert!(refused("@%p1 bra A;\nB: mov.u32 %r1, 1;\nA: @%p2 bra B;"));
        assert!(refused("min.s16 %h1, %h2, %h3;"));
        assert!(refused("max.s16x2 %r1, %r2, %r3;"));
        assert!(refused("neg.s16 %h1, %h2;"));
        assert!(refused("abs.s16 %h1, %h2;"));
        assert!(!refused("mul.lo.s16 %h1, %h2, -1;\nneg.s32 %r1, %r2;\nneg.f16 %h1, %h2;"));
        assert!(refused("cvt.rzi.u16.f32 %h1, %f1;"));
        assert!(refused("cvt.rmi.s16.f64 %h1, %d1;"));
        assert!(!refused("cvt.rzi.u32.f32 %r1, %f1;\ncvt.u16.u32 %h1, %r1;\ncvt.rn.f16.f32 %h2, %f1;"));
        assert!(refused("bfe.s32 %r1, %r2, 8, 8;"));
        assert!(!refused("bfe.s32 %r1, %r2, 4, 8;\nbfe.u32 %r1, %r2, 8, 8;\nprmt.b32 %r1, %r2, 0, 0x9991;"));
        let choice = "selp.f64 %d1, 0d3FF8000000000000, 0d402E400000000000, %p1;\n";
        assert!(refused(&format!("{choice}cvt.rn.f32.f64 %f1, %d1;")));
        assert!(!refused(&format!("{choice}add.f64 %d2, %d1, %d1;\ncvt.rn.f32.f64 %f1, %d2;")));
        assert!(!refused("selp.f64 %d1, 0d3FB999999999999A, 0d402E400000000000, %p1;\ncvt.rn.f32.f64 %f1, %d1;"));
        let least = "selp.f32 %f1, 0f00000001, 0f00000000, %p1;\n";
        assert!(refused(&format!("{least}cvt.rzi.u32.f32 %r1, %f1;")));
        assert!(refused("selp.u16 %h1, 0, 1, %p1;\ncvt.f32.f16 %f1, %h1;"));
        assert!(refused("selp.u32 %r1, 1, 0, %p1;\nmov.b32 %f1, %r1;\ncvt.f64.f32 %d1, %f1;"));
        assert!(!refused(&format!("{least}@%p2 mov.f32 %f1, %f2;\ncvt.rzi.u32.f32 %r1, %f1;")));
        assert!(!refused("selp.u32 %r1, 1, 0, %p1;\ncvt.rn.f32.s32 %f1, %r1;"));
        let negative = "selp.f32 %f1, 0fBF800000, 0f00000000, %p1;\n";
        assert!(refused(&format!("{negative}cvt.rzi.u32.f32 %r1, %f1;")));
        assert!(!refused(&format!("{negative}cvt.rzi.s32.f32 %r1, %f1;")));
        let clamped = "max.s32 %r1, %r2, 0;\ncvt.u16.u32 %h1, %r1;\n";
        assert!(refused(&format!("{clamped}setp.eq.s32 %p1, %r1, 255;")));
        assert!(refused(&format!("{clamped}setp.eq.s16 %p1, 255, %h1;")));
        assert!(!refused(&format!("{clamped}setp.ne.s16 %p1, %h1, 255;\nsetp.eq.s32 %p1, %r2, 255;")));
        let merged = "mov.u32 %r1, 242;\n@%p1 add.s32 %r1, %r2, 1;\nmov.u32 %r2, %r1;\n";
        assert!(refused(&format!("{merged}mov.b32 {{%h1, %h2}}, %r1;")));
        assert!(refused(&format!("{merged}mov.b32 {{%h1, %h2}}, %r2;")));
        let halves = "mov.b32 {%h1, %h2}, %r1;";
        assert!(refused(&format!("mov.u32 %r1, %ctaid.x;\n{halves}")));
        assert!(refused(&format!("ld.shared.u32 %r1, [8];\n{halves}")));
        let of_thread = "mov.u32 %r2, %tid.x;\n";
        assert!(!refused(&format!("{of_thread}add.s32 %r1, %r2, 1;\n{halves}")));
        assert!(!refused(&format!("{of_thread}setp.eq.s32 %p1, %r2, 0;\nselp.b32 %r1, 1, 2, %p1;\n{halves}")));
        assert!(!refused(&format!("{of_thread}shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;\n{halves}")));
        assert!(refused(&format!("{of_thread}redux.sync.or.b32 %r1, %r2, -1;\n{halves}")));
        assert!(!refused(&format!("{of_thread}ld.shared.u32 %r1, [%r2+4];\n{halves}")));
        assert!(!refused(&format!("{merged}shr.u32 %r3, %r1, 16;\ncvt.u16.u32 %h2, %r3;")));
        assert!(refused("ld.u32 %r1, [%r2];") && refused("st.u32 [%r2+4], %r1;"));
        assert!(!refused("ld.shared.u32 %r1, [%r2];\nst.local.u32 [%r2], %r1;"));
        assert!(!refused("min.u32 %r1, %r2, 127;\nsetp.lt.f16 %p1, %h1, %h1;"));
        assert!(!refused("setp.nan.f32 %p1, %r1, %r1;\nA: @%p1 bra A;"));
    }
}
