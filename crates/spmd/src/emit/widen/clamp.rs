//! Strided values through `clamp`, division and remainder, with run-time checks of the stride.
//!
//! Stencils clamp or wrap the indices of neighbours, and kernels find row and column of a pixel from its number. In
//! come a minimum, a maximum, a quotient or a remainder of a strided value; out goes the same stride, or none for a
//! quotient, and the condition under which it holds: no lane is cut off, or all lanes have the same quotient. That is
//! one or two scalar comparisons, and holds for all vectors but those at the border; for these, lanes are computed one
//! by one.

use super::scalar_mask::StridedCompare;
use super::{VecValue, Widener};
use crate::analysis::shape::Shape;
use crate::error::{Stop, bug};
use cloom_ir::{BinOp, Inst, IntCc, Op, Scalar, Value};

impl Widener<'_> {
    /// The smaller or larger one of a strided number and one that is the same for all lanes.
    pub(super) fn limited(
        &mut self,
        op: BinOp,
        args: [Value; 2],
        by: i64,
        cond: Option<Value>,
    ) -> Result<VecValue, Stop> {
        // (A limit that is a quotient steps too, by nothing.)
        let steps = |v: Value| matches!(self.item.shapes.of(v), Shape::Strided { by: 1.. | ..=-1, .. });
        let [x, limit] = if steps(args[0]) { args } else { [args[1], args[0]] };
        let (base, bound) = (self.base(x)?, self.base(limit)?);
        let signed = matches!(op, BinOp::Smin | BinOp::Smax);
        let lower = matches!(op, BinOp::Smax | BinOp::Umax);
        let keeps = match (signed, lower) {
            (true, true) => IntCc::Sge,
            (true, false) => IntCc::Sle,
            (false, true) => IntCc::Uge,
            (false, false) => IntCc::Ule,
        };
        let order = StridedCompare { cc: keeps, base, by, bound };
        let test = self.holds_for_all(order, !self.is_limited(x, signed));
        let cond = Some(self.and(cond, test));
        Ok(VecValue::Strided { base, by, cond })
    }

    /// Whether the condition of a strided value says that it does not wrap: that of a minimum or a maximum does.
    pub(super) fn is_limited(&self, v: Value, signed: bool) -> bool {
        let func = &self.item.func;
        let Some(i) = func.def_inst(v) else { return false };
        let limits = match func.insts[i].op {
            Op::Binary(BinOp::Smin | BinOp::Smax) => signed,
            Op::Binary(BinOp::Umin | BinOp::Umax) => !signed,
            _ => false,
        };
        limits && matches!(self.item.shapes.of(v), Shape::Strided { .. })
    }

    /// What is left of a strided number by a divisor that is the same for all lanes, or of its low bits.
    pub(super) fn remainder(&mut self, inst: Inst, by: i64, cond: Option<Value>) -> Result<VecValue, Stop> {
        let data = &self.item.func.insts[inst];
        let n = self.base(data.args[1])?;
        let base = self.clone_scalar(inst)?.ok_or(bug("an instruction has no result"))?;
        let part = match data.op {
            Op::Binary(BinOp::And) => Part::LowBits,
            Op::Binary(BinOp::Srem) => Part::Signed,
            _ => Part::Unsigned,
        };
        let test = self.have_one_quotient(data.args[0], by, base, n, part)?;
        let cond = Some(self.and(cond, test));
        Ok(VecValue::Strided { base, by, cond })
    }

    /// The quotient of a strided number by a divisor that is the same for all lanes, or what is left of it when low bits are shifted out.
    pub(super) fn quotient(&mut self, inst: Inst, cond: Option<Value>) -> Result<VecValue, Stop> {
        let item = self.item;
        let data = &item.func.insts[inst];
        let (x, d) = (data.args[0], data.args[1]);
        let Shape::Strided { by, .. } = item.shapes.of(x) else {
            return Err(bug("a quotient of what is not strided"));
        };
        let (from, n) = (self.base(x)?, self.base(d)?);
        let ty = self.func.ty(from);
        let (rest, n, part) = match data.op {
            Op::Binary(op @ (BinOp::Udiv | BinOp::Sdiv)) => {
                let signed = op == BinOp::Sdiv;
                let rest = self.b().binary(if signed { BinOp::Srem } else { BinOp::Urem }, from, n);
                (rest, n, if signed { Part::Signed } else { Part::Unsigned })
            }
            _ => {
                let amount = item.func.const_bits(d).ok_or(bug("a shift by what is no constant"))?;
                let low = self.b().iconst(ty, (1u64 << amount) - 1);
                (self.b().binary(BinOp::And, from, low), low, Part::LowBits)
            }
        };
        let base = self.clone_scalar(inst)?.ok_or(bug("an instruction has no result"))?;
        let test = self.have_one_quotient(x, by, rest, n, part)?;
        let cond = Some(self.and(cond, test));
        Ok(VecValue::Strided { base, by: 0, cond })
    }

    /// Whether all lanes of a strided value have one quotient, by what lane 0 leaves of the divisor `n`: a remainder at least as far
    /// from its limit as the last lane is from lane 0.
    fn have_one_quotient(&mut self, x: Value, by: i64, rest: Value, n: Value, part: Part) -> Result<Value, Stop> {
        let from = self.base(x)?;
        let ty = self.func.ty(rest);
        let span = by.unsigned_abs().saturating_mul(u64::from(self.lanes - 1));
        if span > ty.scalar.mask() >> 1 {
            return Ok(self.b().iconst(ty.with_scalar(Scalar::I1), 0));
        }
        let mut cond = None;
        if part != Part::LowBits {
            // Lanes that have one quotient, above zero, do not wrap, but lane 0 alone does not tell.
            cond = Some(self.no_wrap(x, by, part == Part::Signed)?);
            if part == Part::Signed {
                let zero = self.b().iconst(ty, 0);
                for v in [from, n] {
                    let test = self.b().icmp(IntCc::Sge, v, zero);
                    cond = Some(self.and(cond, test));
                }
            }
        }
        let mut b = self.b();
        let distance = b.iconst(ty, span);
        let test = if by < 0 {
            b.icmp(IntCc::Uge, rest, distance)
        } else if part == Part::LowBits {
            // The largest remainder is the mask itself.
            let last = b.binary(BinOp::Add, rest, distance);
            let whole = b.icmp(IntCc::Uge, n, distance);
            let test = b.icmp(IntCc::Ule, last, n);
            b.binary(BinOp::And, whole, test)
        } else {
            let wide = b.icmp(IntCc::Ugt, n, distance);
            let most = b.binary(BinOp::Sub, n, distance);
            let test = b.icmp(IntCc::Ult, rest, most);
            b.binary(BinOp::And, wide, test)
        };
        Ok(self.and(cond, test))
    }
}

/// How a number is divided.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// By a power of two: its low bits are the remainder.
    LowBits,
    /// By a number, both unsigned.
    Unsigned,
    /// By a number, both signed.
    Signed,
}
