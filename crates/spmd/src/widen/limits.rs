//! Strided values between limits and remainders of strided values, as stencils have them at the border of a picture or on a torus.
//!
//! In come a minimum, a maximum or a remainder of a strided value; out goes the same stride, and the condition under which it is: no lane
//! is cut off, or all lanes have the same quotient. That is one comparison or two of scalars, and holds for all vectors but those at
//! the border; for these, lanes are computed one by one.

use super::whole::Order;
use super::{Wide, Widener};
use crate::Limit;
use crate::shape::Shape;
use cloom_ir::{BinOp, Inst, IntCc, Op, Value};

impl Widener<'_> {
    /// The smaller or larger one of a strided number and one that is the same for all lanes.
    pub(super) fn limited(&mut self, op: BinOp, args: [Value; 2], by: i64, cond: Option<Value>) -> Result<Wide, Limit> {
        let [x, limit] = if self.item.shapes.is_uniform(args[0]) { [args[1], args[0]] } else { args };
        let (base, bound) = (self.base(x)?, self.base(limit)?);
        let signed = matches!(op, BinOp::Smin | BinOp::Smax);
        let lower = matches!(op, BinOp::Smax | BinOp::Umax);
        let keeps = match (signed, lower) {
            (true, true) => IntCc::Sge,
            (true, false) => IntCc::Sle,
            (false, true) => IntCc::Uge,
            (false, false) => IntCc::Ule,
        };
        let order = Order { cc: keeps, base, by, bound };
        let test = self.holds_for_all(order, !self.is_limited(x, signed));
        let cond = Some(self.and(cond, test));
        Ok(Wide::Strided { base, by, cond })
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
    pub(super) fn remainder(&mut self, inst: Inst, by: i64, cond: Option<Value>) -> Result<Wide, Limit> {
        let data = &self.item.func.insts[inst];
        let (op, x) = (&data.op, data.args[0]);
        let from = self.base(x)?;
        let n = self.base(data.args[1])?;
        let base = self.clone_scalar(inst)?.ok_or(Limit::Lanes("an instruction has no result"))?;
        let ty = self.func.ty(base);
        let span = by.unsigned_abs().saturating_mul(u64::from(self.lanes - 1));
        if span > ty.scalar.mask() >> 1 {
            let cond = Some(self.b().iconst(ty.with_scalar(cloom_ir::Scalar::I1), 0));
            return Ok(Wide::Strided { base, by, cond });
        }
        let mut cond = cond;
        let low_bits = *op == Op::Binary(BinOp::And);
        if !low_bits {
            // Lanes that have one quotient, above zero, do not wrap, but lane 0 alone does not tell.
            let signed = *op == Op::Binary(BinOp::Srem);
            let test = self.no_wrap(x, by, signed)?;
            cond = Some(self.and(cond, test));
            if signed {
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
            b.icmp(IntCc::Uge, base, distance)
        } else if low_bits {
            // The largest remainder is the mask itself.
            let last = b.binary(BinOp::Add, base, distance);
            let whole = b.icmp(IntCc::Uge, n, distance);
            let test = b.icmp(IntCc::Ule, last, n);
            b.binary(BinOp::And, whole, test)
        } else {
            let wide = b.icmp(IntCc::Ugt, n, distance);
            let most = b.binary(BinOp::Sub, n, distance);
            let test = b.icmp(IntCc::Ult, base, most);
            b.binary(BinOp::And, wide, test)
        };
        let cond = Some(self.and(cond, test));
        Ok(Wide::Strided { base, by, cond })
    }
}
