//! Comparisons, logic on truth values, selection.

use crate::builtin::{Sign, c_type};
use crate::error::{Result, ensure};
use crate::func::Fn;
use crate::reader::Inst;
use cloom_ir::{BinOp, FloatCc, IntCc, Scalar, Type, UnOp, Value};
use spirv::Op;

fn int_cc(op: Op) -> Option<IntCc> {
    Some(match op {
        Op::IEqual => IntCc::Eq,
        Op::INotEqual => IntCc::Ne,
        Op::UGreaterThan => IntCc::Ugt,
        Op::SGreaterThan => IntCc::Sgt,
        Op::UGreaterThanEqual => IntCc::Uge,
        Op::SGreaterThanEqual => IntCc::Sge,
        Op::ULessThan => IntCc::Ult,
        Op::SLessThan => IntCc::Slt,
        Op::ULessThanEqual => IntCc::Ule,
        Op::SLessThanEqual => IntCc::Sle,
        _ => return None,
    })
}

/// The comparison, and whether its result is negated: the unordered ones are opposites of ordered ones.
fn float_cc(op: Op) -> Option<(FloatCc, bool)> {
    Some(match op {
        Op::FOrdEqual => (FloatCc::Oeq, false),
        Op::FUnordEqual => (FloatCc::One, true),
        Op::FOrdNotEqual | Op::LessOrGreater => (FloatCc::One, false),
        Op::FUnordNotEqual => (FloatCc::Une, false),
        Op::FOrdLessThan => (FloatCc::Olt, false),
        Op::FUnordLessThan => (FloatCc::Oge, true),
        Op::FOrdGreaterThan => (FloatCc::Ogt, false),
        Op::FUnordGreaterThan => (FloatCc::Ole, true),
        Op::FOrdLessThanEqual => (FloatCc::Ole, false),
        Op::FUnordLessThanEqual => (FloatCc::Ogt, true),
        Op::FOrdGreaterThanEqual => (FloatCc::Oge, false),
        Op::FUnordGreaterThanEqual => (FloatCc::Olt, true),
        Op::Ordered => (FloatCc::Ord, false),
        Op::Unordered => (FloatCc::Uno, false),
        _ => return None,
    })
}

impl Fn<'_, '_, '_> {
    /// Lowers an instruction, if it is one of these.
    pub fn logic(&mut self, inst: &Inst<'_>) -> Result<bool> {
        if let Some(cc) = int_cc(inst.op) {
            let [a, b] = inst.operands()?;
            // Pointers are compared by their addresses.
            let (a, b) = (self.one(a)?, self.one(b)?);
            let ty = self.ty(a);
            ensure!(ty.is_ptr() || ty.is_int() && ty.scalar != Scalar::I1, "it does not compare values of type {ty}");
            self.alike(a, b)?;
            let v = self.b().icmp(cc, a, b);
            return self.result(inst, v);
        }
        if let Some((cc, negated)) = float_cc(inst.op) {
            let [a, b] = inst.operands()?;
            let (a, b) = (self.float(a)?, self.float(b)?);
            self.alike(a, b)?;
            let to = self.ty(a).with_scalar(Scalar::I1);
            let mut v = self.b().fcmp(cc, a, b);
            if negated {
                v = self.b().unary(UnOp::Not, v);
            }
            ensure!(self.ty(v) == to, "a comparison gives truth values");
            return self.result(inst, v);
        }
        let v = match inst.op {
            Op::LogicalEqual => {
                let v = self.bools(inst, BinOp::Xor)?;
                self.b().unary(UnOp::Not, v)
            }
            Op::LogicalNotEqual => self.bools(inst, BinOp::Xor)?,
            Op::LogicalOr => self.bools(inst, BinOp::Or)?,
            Op::LogicalAnd => self.bools(inst, BinOp::And)?,
            Op::LogicalNot => {
                let a = self.truth_of(inst.word(2)?)?;
                self.b().unary(UnOp::Not, a)
            }
            Op::Any | Op::All => {
                // Lane by lane: `any` and `all` of the IR are about vectors of work-items.
                let a = self.truth_of(inst.word(2)?)?;
                let op = if inst.op == Op::Any { BinOp::Or } else { BinOp::And };
                match self.ty(a).lanes {
                    1 => a,
                    lanes => {
                        let mut all = self.b().extract_lane(a, 0);
                        for lane in 1..lanes {
                            let one = self.b().extract_lane(a, lane);
                            all = self.b().binary(op, all, one);
                        }
                        all
                    }
                }
            }
            Op::IsNan => {
                let a = self.float(inst.word(2)?)?;
                self.b().fcmp(FloatCc::Uno, a, a)
            }
            Op::IsInf => self.relational(inst, "isinf")?,
            Op::IsFinite => self.relational(inst, "isfinite")?,
            Op::IsNormal => self.relational(inst, "isnormal")?,
            Op::SignBitSet => self.relational(inst, "signbit")?,
            Op::PtrEqual | Op::PtrNotEqual => {
                let [a, b] = inst.operands()?;
                let (a, b) = (self.pointer(a)?, self.pointer(b)?);
                self.alike(a, b)?;
                self.b().icmp(if inst.op == Op::PtrEqual { IntCc::Eq } else { IntCc::Ne }, a, b)
            }
            Op::Select => return self.select(inst),
            _ => return Ok(false),
        };
        self.result(inst, v)
    }

    fn bools(&mut self, inst: &Inst<'_>, op: BinOp) -> Result<Value> {
        let [a, b] = inst.operands()?;
        let (a, b) = (self.truth_of(a)?, self.truth_of(b)?);
        self.alike(a, b)?;
        Ok(self.b().binary(op, a, b))
    }

    /// A function that gives an `int`, or a vector of integers as wide as the operand's components.
    fn relational(&mut self, inst: &Inst<'_>, name: &str) -> Result<Value> {
        let a = self.float(inst.word(2)?)?;
        let ty = self.ty(a);
        let int = match ty.lanes {
            1 => Type::I32,
            _ => ty.with_scalar(Scalar::int(ty.scalar.bits()).unwrap_or(Scalar::I32)),
        };
        let params = [c_type(ty, Sign::Signed)];
        let v = self.call_c(&c_type(int, Sign::Signed), &params, &[a], &format!("{name}(a)"), int)?;
        Ok(self.int_as_truth(v))
    }

    /// A choice of any two values of one type.
    fn select(&mut self, inst: &Inst<'_>) -> Result<bool> {
        let [cond, a, b] = inst.operands()?;
        let (ty, id) = inst.result()?;
        let cond = self.truth_of(cond)?;
        let (a, b) = (self.value_of(a)?, self.value_of(b)?);
        ensure!(self.cx.same(a.ty, b.ty)?, "the values have different types");
        let lanes = self.ty(cond).lanes;
        let mut parts = Vec::with_capacity(a.parts.len());
        for (&a, &b) in a.parts.iter().zip(b.parts.iter()) {
            let ty = self.ty(a);
            ensure!(lanes == 1 || lanes == ty.lanes, "the condition has {lanes} components for values of {}", ty.lanes);
            parts.push(self.b().select(cond, a, b));
        }
        let ty = self.cx.types.get(ty)?;
        self.define(id, ty, parts)
    }
}
