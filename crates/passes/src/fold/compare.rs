//! Rules for comparisons; above all, they undo the conversion of a truth value to an `int` and back.

use super::{Folded, Folder};
use cloom_ir::float_range::bounds;
use cloom_ir::{CastOp, Flags, FloatCc, IntCc, Op, Scalar, UnOp, Value, eval};
use smallvec::smallvec;

fn becomes(op: Op, args: cloom_ir::Args) -> Folded {
    Folded::Becomes(op, args, Flags::empty())
}

impl Folder<'_> {
    pub(super) fn icmp(&mut self, cc: IntCc, a: Value, b: Value) -> Folded {
        if a == b {
            let holds = matches!(cc, IntCc::Eq | IntCc::Sle | IntCc::Sge | IntCc::Ule | IntCc::Uge);
            return Folded::Const(holds.into());
        }
        let Some(c) = self.bits(b) else {
            // Constants go to the right, where the rules look for them.
            return if self.bits(a).is_some() {
                becomes(Op::Icmp(cc.swapped()), smallvec![b, a])
            } else {
                Folded::Keep
            };
        };
        let ty = self.func.ty(a);
        match (cc, c) {
            (IntCc::Ult, 0) => return Folded::Const(0),
            (IntCc::Uge, 0) => return Folded::Const(1),
            (IntCc::Ugt, 0) => return becomes(Op::Icmp(IntCc::Ne), smallvec![a, b]),
            // No number is below 0, so both say that it is 0.
            (IntCc::Ule, 0) | (IntCc::Ult, 1) => {
                let zero = self.iconst(ty, 0);
                return becomes(Op::Icmp(IntCc::Eq), smallvec![a, zero]);
            }
            _ => {}
        }
        if ty.scalar == Scalar::I1 {
            return match (cc, c) {
                (IntCc::Ne, 0) | (IntCc::Eq, 1) => Folded::Is(a),
                (IntCc::Ne, 1) | (IntCc::Eq, 0) => becomes(Op::Unary(UnOp::Not), smallvec![a]),
                _ => Folded::Keep,
            };
        }
        // The rules below look through extensions and selects of numbers, and only for equality.
        if !matches!(cc, IntCc::Eq | IntCc::Ne) || ty.is_ptr() {
            return Folded::Keep;
        }
        self.equality(cc, a, c)
    }

    /// `a` equal, or not, to a constant.
    fn equality(&mut self, cc: IntCc, a: Value, c: u64) -> Folded {
        let ty = self.func.ty(a);
        match self.def(a) {
            // A widened value against a constant: against the narrow constant, if there is one.
            Some((Op::Cast(op @ (CastOp::Zext | CastOp::Sext)), args)) => {
                let (op, x) = (*op, args[0]);
                let narrow = self.func.ty(x);
                let low = c & narrow.scalar.mask();
                // The constant is no extension of anything: `(int)b == 300` for a `uchar` is false.
                if eval::cast(op, narrow.scalar, ty.scalar, low) != c {
                    return Folded::Const((cc == IntCc::Ne).into());
                }
                let low = self.iconst(narrow, low);
                becomes(Op::Icmp(cc), smallvec![x, low])
            }
            // One of two different constants.
            Some((Op::Select, args)) => {
                let (truth, x, y) = (args[0], args[1], args[2]);
                let (Some(x), Some(y)) = (self.bits(x), self.bits(y)) else { return Folded::Keep };
                // One condition for all lanes of a vector has another type than the result.
                if self.func.ty(truth).lanes != ty.lanes {
                    return Folded::Keep;
                }
                // `(a < b ? 1 : 0) != 0`, as C has it for the value of a comparison, is the comparison again.
                match ((x == c) == (cc == IntCc::Eq), (y == c) == (cc == IntCc::Eq)) {
                    (true, true) => Folded::Const(1),
                    (false, false) => Folded::Const(0),
                    (true, false) => Folded::Is(truth),
                    (false, true) => becomes(Op::Unary(UnOp::Not), smallvec![truth]),
                }
            }
            _ => Folded::Keep,
        }
    }

    pub(super) fn fcmp(&mut self, cc: FloatCc, a: Value, b: Value) -> Folded {
        if a != b {
            return if self.is_never_less(cc, a, b) { Folded::Const(0) } else { Folded::Keep };
        }
        // A value differs from itself only as a NaN.
        match cc {
            FloatCc::Oeq | FloatCc::Ole | FloatCc::Oge => becomes(Op::Fcmp(FloatCc::Ord), smallvec![a, b]),
            FloatCc::Une => becomes(Op::Fcmp(FloatCc::Uno), smallvec![a, b]),
            FloatCc::One | FloatCc::Olt | FloatCc::Ogt => Folded::Const(0),
            FloatCc::Ord | FloatCc::Uno => Folded::Keep,
        }
    }

    /// Whether `a` is less than a constant in no case, and that is asked: as of a sum that is not small, whether it is
    /// a denormal.
    fn is_never_less(&self, cc: FloatCc, a: Value, b: Value) -> bool {
        let (Some(_), FloatCc::Olt | FloatCc::Ole) = (self.bits(b), cc) else { return false };
        let magnitude = match self.def(a) {
            Some((Op::Unary(UnOp::Fabs), args)) => args[0],
            _ => a,
        };
        let (least, limit) = (bounds(self.func, magnitude).least, bounds(self.func, b).most);
        least >= 0.0 && (least > limit || least == limit && cc == FloatCc::Olt)
    }
}
