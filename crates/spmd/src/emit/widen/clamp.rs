//! Strided values through `clamp`, division and remainder, with run-time checks of the stride.
//!
//! Stencils clamp or wrap the indices of neighbours, and kernels compute row and column of a pixel from its linear
//! index. In comes a minimum, maximum, quotient or remainder of a strided value; out goes the same stride (for a
//! quotient: zero) and the condition under which it holds: no lane is clamped, or all lanes have the same quotient.
//! That takes one or two scalar comparisons, and holds for all vectors but those at the border, whose lanes are
//! computed as vectors.

use super::scalar_mask::StridedCompare;
use super::{VecValue, Widener};
use crate::analysis::shape::Shape;
use crate::error::{Stop, bug};
use cloom_ir::{BinOp, Inst, IntCc, Op, Scalar, Value};

impl Widener<'_> {
    /// Emits the minimum or maximum of a strided value and a uniform one.
    pub(super) fn clamped(
        &mut self,
        op: BinOp,
        args: [Value; 2],
        by: i64,
        cond: Option<Value>,
    ) -> Result<VecValue, Stop> {
        // (A limit that is a quotient has a checked stride of 0.)
        let has_nonzero_stride = |v: Value| matches!(self.item.shapes.of(v), Shape::Strided { by: 1.. | ..=-1, .. });
        // The value may be on either side: `min(i, n)` and `min(n, i)`.
        let [x, limit] = if has_nonzero_stride(args[0]) { args } else { [args[1], args[0]] };
        let (base, bound) = (self.base(x)?, self.base(limit)?);
        let signed = matches!(op, BinOp::Smin | BinOp::Smax);
        let lower = matches!(op, BinOp::Smax | BinOp::Umax);
        let unclamped = match (signed, lower) {
            (true, true) => IntCc::Sge,
            (true, false) => IntCc::Sle,
            (false, true) => IntCc::Uge,
            (false, false) => IntCc::Ule,
        };
        let compare = StridedCompare { cc: unclamped, base, by, bound };
        // `min(max(x, 0), n)`: where the inner check holds, no lane wraps, and the outer one need not test it again.
        let test = self.holds_for_all(compare, !self.is_clamped(x, signed));
        let cond = Some(self.and(cond, test));
        Ok(VecValue::Strided { base, by, cond })
    }

    /// Whether the check of a strided value implies that it does not wrap: that of a minimum or maximum does.
    pub(super) fn is_clamped(&self, v: Value, signed: bool) -> bool {
        let func = &self.item.func;
        let Some(i) = func.def_inst(v) else { return false };
        let limits = match func.insts[i].op {
            Op::Binary(BinOp::Smin | BinOp::Smax) => signed,
            Op::Binary(BinOp::Umin | BinOp::Umax) => !signed,
            _ => false,
        };
        limits && matches!(self.item.shapes.of(v), Shape::Strided { .. })
    }

    /// Emits the remainder of a strided value by a uniform divisor, or its low bits.
    pub(super) fn remainder(&mut self, inst: Inst, by: i64, cond: Option<Value>) -> Result<VecValue, Stop> {
        let data = &self.item.func.insts[inst];
        let n = self.base(data.args[1])?;
        // Lane 0's remainder, which `have_same_quotient` compares with the divisor.
        let base = self.clone_scalar(inst)?.ok_or(bug("an instruction has no result"))?;
        let division = match data.op {
            Op::Binary(BinOp::And) => Division::LowBits,
            Op::Binary(BinOp::Srem) => Division::Signed,
            _ => Division::Unsigned,
        };
        let test = self.have_same_quotient(data.args[0], by, base, n, division)?;
        let cond = Some(self.and(cond, test));
        Ok(VecValue::Strided { base, by, cond })
    }

    /// Emits the quotient of a strided value by a uniform divisor, or its right shift.
    pub(super) fn quotient(&mut self, inst: Inst, cond: Option<Value>) -> Result<VecValue, Stop> {
        let item = self.item;
        let data = &item.func.insts[inst];
        let (x, d) = (data.args[0], data.args[1]);
        let Shape::Strided { by, .. } = item.shapes.of(x) else {
            return Err(bug("a quotient of a value that is not strided"));
        };
        let (from, n) = (self.base(x)?, self.base(d)?);
        let ty = self.func.ty(from);
        let (remainder, n, division) = match data.op {
            Op::Binary(op @ (BinOp::Udiv | BinOp::Sdiv)) => {
                let signed = op == BinOp::Sdiv;
                let remainder = self.b().binary(if signed { BinOp::Srem } else { BinOp::Urem }, from, n);
                (remainder, n, if signed { Division::Signed } else { Division::Unsigned })
            }
            _ => {
                let amount = item.func.const_bits(d).ok_or(bug("a shift by a value that is not constant"))?;
                // A right shift rounds down, also if the value is negative: the low bits are the remainder in both
                // cases.
                let low = self.b().iconst(ty, (1u64 << amount) - 1);
                (self.b().binary(BinOp::And, from, low), low, Division::LowBits)
            }
        };
        let base = self.clone_scalar(inst)?.ok_or(bug("an instruction has no result"))?;
        let test = self.have_same_quotient(x, by, remainder, n, division)?;
        let cond = Some(self.and(cond, test));
        Ok(VecValue::Strided { base, by: 0, cond })
    }

    /// Whether all lanes of a strided value have the same quotient, from lane 0's remainder by `n`: it must be at
    /// least as far from its limit as the last lane is from lane 0.
    fn have_same_quotient(
        &mut self,
        x: Value,
        by: i64,
        remainder: Value,
        n: Value,
        division: Division,
    ) -> Result<Value, Stop> {
        let from = self.base(x)?;
        let ty = self.func.ty(remainder);
        let span = by.unsigned_abs().saturating_mul(u64::from(self.lanes - 1));
        // No check could hold, and sums below might wrap.
        if span > ty.scalar.mask() >> 1 {
            return Ok(self.b().iconst(ty.with_scalar(Scalar::I1), 0));
        }
        let mut cond = None;
        if division != Division::LowBits {
            // Lanes with the same positive quotient do not wrap, but lane 0 alone does not tell.
            cond = Some(self.no_wrap(x, by, division == Division::Signed)?);
            // Rounding towards zero makes the quotient 0 on both sides of 0: `-3 / 4` and `3 / 4`. So only numbers that
            // are not negative are taken.
            if division == Division::Signed {
                let zero = self.b().iconst(ty, 0);
                for v in [from, n] {
                    let test = self.b().icmp(IntCc::Sge, v, zero);
                    cond = Some(self.and(cond, test));
                }
            }
        }
        let mut b = self.b();
        let distance = b.iconst(ty, span);
        // Lanes go down from lane 0's remainder, and reach `remainder - span` at the last one.
        let test = if by < 0 {
            b.icmp(IntCc::Uge, remainder, distance)
        } else if division == Division::LowBits {
            // The largest remainder is the mask itself.
            let last = b.binary(BinOp::Add, remainder, distance);
            let fits = b.icmp(IntCc::Uge, n, distance);
            let test = b.icmp(IntCc::Ule, last, n);
            b.binary(BinOp::And, fits, test)
        } else {
            // With a divisor of at most the distance, `n - distance` would wrap. (It may be zero: then this is false.)
            let wide = b.icmp(IntCc::Ugt, n, distance);
            // `i / 16` in 8 lanes of stride 1: lane 0's remainder must be below 16 - 7.
            let limit = b.binary(BinOp::Sub, n, distance);
            let test = b.icmp(IntCc::Ult, remainder, limit);
            b.binary(BinOp::And, wide, test)
        };
        Ok(self.and(cond, test))
    }
}

/// The kind of division.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Division {
    /// By a power of two: the low bits are the remainder.
    LowBits,
    /// Unsigned.
    Unsigned,
    /// Signed.
    Signed,
}
