//! Lane ranges: how far apart the lanes of a varying value are at most.
//!
//! In comes an analysed function and a value; out goes an upper bound of the difference between two lanes:
//!
//! ```c
//! size_t i = get_global_id(0);
//! a[(i & ~15) | (i * 5 + 3 & 15)] += 1.0f;    // 8 lanes: at most 22 + 15 elements apart
//! ```
//!
//! Such accesses stay in a few cache lines, though no stride describes them. The bound is an estimate for the cost
//! model: wrapping is left out.

use crate::analysis::input::VectorInput;
use crate::analysis::shape::{Shape, signed_const};
use cloom_ir::{BinOp, CastOp, Op, Value};

/// How many operations are looked through, from a value to those that it is computed from.
const MAX_DEPTH: u32 = 12;

/// The largest difference between two of so many lanes of a value, in its own units (of addresses, bytes); `None` if
/// nothing is known.
pub fn of(item: &VectorInput, v: Value, lanes: u32) -> Option<u64> {
    range(item, v, u64::from(lanes) - 1, MAX_DEPTH)
}

fn range(item: &VectorInput, v: Value, last_lane: u64, depth: u32) -> Option<u64> {
    match item.shapes.of(v) {
        Shape::Unknown | Shape::Uniform => return Some(0),
        // The first and the last lane are farthest apart.
        Shape::Strided { by, .. } => return by.unsigned_abs().checked_mul(last_lane),
        Shape::Varying if depth == 0 => return None,
        Shape::Varying => {}
    }
    let func = &item.func;
    let data = &func.insts[func.def_inst(v)?];
    let of = |n: usize| range(item, *data.args.get(n)?, last_lane, depth - 1);
    // Canonical form has constants on the right.
    let constant = || signed_const(func, *data.args.get(1)?);
    match data.op {
        Op::PtrAdd | Op::Binary(BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor) => of(0)?.checked_add(of(1)?),
        Op::Binary(BinOp::Mul) => of(0)?.checked_mul(constant()?.unsigned_abs()),
        Op::Binary(BinOp::Shl) => of(0)?.checked_mul(1u64.checked_shl(constant()?.try_into().ok()?)?),
        Op::Binary(BinOp::Urem | BinOp::Srem) => Some(constant()?.unsigned_abs()),
        // Low bits kept, or low bits cleared.
        Op::Binary(BinOp::And) => match constant()? {
            // `x & 15` is below 16 whatever `x` is.
            mask if mask >= 0 => Some(of(0).unwrap_or(u64::MAX).min(mask.unsigned_abs())),
            // `x & ~15` rounds each lane down by up to 15.
            mask => of(0)?.checked_add((!mask).unsigned_abs()),
        },
        Op::Cast(CastOp::Zext | CastOp::Sext | CastOp::Trunc) => of(0),
        _ => None,
    }
}
