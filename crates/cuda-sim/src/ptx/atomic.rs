//! The new value of an atomic operation.
//!
//! In: the operation, its type, the old value and the operands. Out: the new value. Reading and writing memory is the
//! machine's part; threads run one at a time, so nothing can come between.

use super::op::{AtomicOp, FloatForm, FloatOp, IntOp, Type};
use super::soft::{F32, Format, Round};
use super::{alu_float, alu_int};

/// The new value in global memory, where sums of `f32` take denormal numbers for zero (PTX ISA, "atom").
pub(super) fn apply_global(op: AtomicOp, ty: Type, old: u64, b: u64, c: u64) -> u64 {
    match (op, Format::of(ty)) {
        (AtomicOp::Add, Some(F32)) => F32.flush(apply(op, ty, F32.flush(old), F32.flush(b), c)),
        _ => apply(op, ty, old, b, c),
    }
}

/// The new value. For `cas`, `b` is what is compared and `c` what is stored.
pub(super) fn apply(op: AtomicOp, ty: Type, old: u64, b: u64, c: u64) -> u64 {
    let integer = |op: IntOp| alu_int::apply(op, ty, [old, b, 0, 0]);
    let number = |int: IntOp, float: FloatOp| match Format::of(ty) {
        Some(format) => {
            let form = FloatForm {
                format,
                lanes: ty.lanes,
                round: Round::Nearest,
                flush: false,
                saturate: false,
                relu: false,
            };
            alu_float::apply(float, &form, [old, b, 0])
        }
        None => integer(int),
    };
    match op {
        AtomicOp::Add => number(IntOp::Add, FloatOp::Add),
        AtomicOp::Min => number(IntOp::Min, FloatOp::Min),
        AtomicOp::Max => number(IntOp::Max, FloatOp::Max),
        AtomicOp::And => integer(IntOp::And),
        AtomicOp::Or => integer(IntOp::Or),
        AtomicOp::Xor => integer(IntOp::Xor),
        AtomicOp::Exchange => b,
        AtomicOp::CompareSwap => {
            if ty.extend(old) == ty.extend(b) {
                c
            } else {
                old
            }
        }
        AtomicOp::Increment => {
            if ty.extend(old) >= ty.extend(b) {
                0
            } else {
                old.wrapping_add(1)
            }
        }
        AtomicOp::Decrement => {
            let value = ty.extend(old);
            if value == 0 || value > ty.extend(b) { b } else { value - 1 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_values() {
        let single = |value: f32| u64::from(value.to_bits());
        for (op, ty, old, b, c, expected) in [
            (AtomicOp::Add, "u32", 0xFFFF_FFFF, 2, 0, 1),
            (AtomicOp::Add, "f32", single(1.5), single(2.0), 0, single(3.5)),
            (AtomicOp::Add, "f64", 1.5_f64.to_bits(), 2.0_f64.to_bits(), 0, 3.5_f64.to_bits()),
            (AtomicOp::Add, "f16x2", 0x3C00_4000, 0x3C00_3C00, 0, 0x4000_4200),
            (AtomicOp::Min, "s32", 0xFFFF_FFFF, 2, 0, 0xFFFF_FFFF),
            (AtomicOp::Min, "u32", 0xFFFF_FFFF, 2, 0, 2),
            (AtomicOp::Max, "s64", u64::MAX, 2, 0, 2),
            (AtomicOp::And, "b32", 0b1100, 0b1010, 0, 0b1000),
            (AtomicOp::Or, "b32", 0b1100, 0b1010, 0, 0b1110),
            (AtomicOp::Xor, "b64", 0b1100, 0b1010, 0, 0b0110),
            (AtomicOp::Exchange, "b64", 1, 2, 0, 2),
            (AtomicOp::CompareSwap, "b32", 5, 0x1_0000_0005, 9, 9),
            (AtomicOp::CompareSwap, "b16", 5, 6, 9, 5),
            (AtomicOp::Increment, "u32", 3, 4, 0, 4),
            (AtomicOp::Increment, "u32", 4, 4, 0, 0),
            (AtomicOp::Decrement, "u32", 0, 4, 0, 4),
            (AtomicOp::Decrement, "u32", 9, 4, 0, 4),
            (AtomicOp::Decrement, "u32", 3, 4, 0, 2),
        ] {
            let ty = Type::parse(ty).unwrap();
            let mask = u64::MAX >> (64 - ty.size() * 8);
            assert_eq!(apply(op, ty, old, b, c) & mask, expected, "{op:?} {ty:?} {old:x} {b:x}");
        }
    }
}
