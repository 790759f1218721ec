//! Arithmetic, shifts and bits.

use crate::builtin::Sign;
use crate::error::{Result, ensure};
use crate::func::Fn;
use crate::reader::Inst;
use cloom_ir::{BinOp, CastOp, Flags, IntCc, Op as IrOp, Scalar, Type, UnOp, Value};
use spirv::{Decoration, Op};

/// Operations of two integers of one type.
fn int_op(op: Op) -> Option<BinOp> {
    Some(match op {
        Op::IAdd => BinOp::Add,
        Op::ISub => BinOp::Sub,
        Op::IMul => BinOp::Mul,
        Op::UDiv => BinOp::Udiv,
        Op::SDiv => BinOp::Sdiv,
        Op::UMod => BinOp::Urem,
        Op::SRem => BinOp::Srem,
        Op::BitwiseOr => BinOp::Or,
        Op::BitwiseXor => BinOp::Xor,
        Op::BitwiseAnd => BinOp::And,
        _ => return None,
    })
}

fn float_op(op: Op) -> Option<BinOp> {
    Some(match op {
        Op::FAdd => BinOp::Fadd,
        Op::FSub => BinOp::Fsub,
        Op::FMul => BinOp::Fmul,
        Op::FDiv => BinOp::Fdiv,
        _ => return None,
    })
}

/// `r` has the sign of the divisor `b`, not that of the dividend.
const FLOORED: &str = "return ((r != 0) & ((r < 0) != (b < 0))) ? r + b : r;";

impl Fn<'_, '_, '_> {
    /// Lowers an instruction, if it is one of these.
    pub fn arith(&mut self, inst: &Inst<'_>) -> Result<bool> {
        if let Some(op) = int_op(inst.op) {
            let [a, b] = inst.operands()?;
            let (a, b) = (self.int(a)?, self.int(b)?);
            self.alike(a, b)?;
            let flags = self.wraps(inst)?;
            let v = self.b().binary_flags(op, a, b, flags);
            return self.result(inst, v);
        }
        if let Some(op) = float_op(inst.op) {
            let [a, b] = inst.operands()?;
            let (a, b) = (self.float(a)?, self.float(b)?);
            self.alike(a, b)?;
            let v = self.float_binary(op, a, b, inst.result()?.1)?;
            return self.result(inst, v);
        }
        let v = match inst.op {
            Op::SNegate => {
                let a = self.int(inst.word(2)?)?;
                let (ty, flags) = (self.ty(a), self.wraps(inst)?);
                let zero = self.b().iconst(ty, 0);
                self.b().binary_flags(BinOp::Sub, zero, a, flags)
            }
            Op::FNegate => self.float_unary(inst, UnOp::Fneg)?,
            Op::Not => self.int_unary(inst, UnOp::Not)?,
            Op::BitReverse => self.int_unary(inst, UnOp::BitReverse)?,
            Op::BitCount => {
                // The count may have another width than what is counted.
                let n = self.int_unary(inst, UnOp::Popcount)?;
                let to = self.result_type(inst)?;
                self.resized(n, to, false)
            }
            Op::ShiftLeftLogical => self.shift(inst, BinOp::Shl)?,
            Op::ShiftRightLogical => self.shift(inst, BinOp::Lshr)?,
            Op::ShiftRightArithmetic => self.shift(inst, BinOp::Ashr)?,
            Op::SMod => {
                let [a, b] = inst.operands()?;
                let (a, b) = (self.int(a)?, self.int(b)?);
                self.alike(a, b)?;
                self.floored_remainder(a, b)
            }
            Op::FRem | Op::FMod => {
                let [a, b] = inst.operands()?;
                let (a, b) = (self.float(a)?, self.float(b)?);
                self.alike(a, b)?;
                let ty = self.ty(a);
                if inst.op == Op::FRem {
                    self.call_numbers("fmod", Sign::Signed, &[a, b], ty)?
                } else {
                    let t = crate::builtin::c_type(ty, Sign::Signed);
                    let text = format!("{{ {t} r = fmod(a, b); {FLOORED} }}");
                    self.call_c(&t, &[t.clone(), t.clone()], &[a, b], &text, ty)?
                }
            }
            Op::VectorTimesScalar => {
                let [a, b] = inst.operands()?;
                let (a, b) = (self.float(a)?, self.float(b)?);
                let ty = self.ty(a);
                ensure!(ty.is_vector() && self.ty(b) == ty.lane(), "the scalar is not of the vector's type");
                let b = self.b().splat(b, ty.lanes);
                self.float_binary(BinOp::Fmul, a, b, inst.result()?.1)?
            }
            Op::Dot => self.dot(inst)?,
            Op::BitFieldInsert | Op::BitFieldSExtract | Op::BitFieldUExtract => self.bit_field(inst)?,
            Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => return self.extended_result(inst),
            Op::SDot | Op::UDot | Op::SUDot | Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => {
                self.integer_dot(inst)?
            }
            Op::ExpectKHR => {
                let [value, expected] = inst.operands()?;
                let (value, expected) = (self.one(value)?, self.one(expected)?);
                self.alike(value, expected)?;
                value
            }
            _ => return Ok(false),
        };
        self.result(inst, v)
    }

    /// The promises that a result does not wrap.
    fn wraps(&self, inst: &Inst<'_>) -> Result<Flags> {
        let (_, id) = inst.result()?;
        let mut flags = Flags::empty();
        // Of the operations that come here, only these may have the flags (V49).
        if !matches!(inst.op, Op::IAdd | Op::ISub | Op::IMul | Op::SNegate) {
            return Ok(flags);
        }
        for (decoration, _) in self.cx.module.decorations(id) {
            match decoration {
                d if d == Decoration::NoSignedWrap as u32 => flags |= Flags::NSW,
                d if d == Decoration::NoUnsignedWrap as u32 => flags |= Flags::NUW,
                _ => {}
            }
        }
        Ok(flags)
    }

    fn int_unary(&mut self, inst: &Inst<'_>, op: UnOp) -> Result<Value> {
        let a = self.int(inst.word(2)?)?;
        Ok(self.b().unary(op, a))
    }

    fn float_unary(&mut self, inst: &Inst<'_>, op: UnOp) -> Result<Value> {
        let a = self.float(inst.word(2)?)?;
        let ty = self.ty(a);
        self.push_fast(IrOp::Unary(op), &[a], ty, inst.result()?.1)
    }

    /// A sum takes a product into one operation that rounds once, where that is allowed and quicker.
    fn float_binary(&mut self, op: BinOp, a: Value, b: Value, id: u32) -> Result<Value> {
        let ty = self.ty(a);
        // One fused operation on halves takes longer than two.
        let contract = self.contract
            && ty.scalar != Scalar::F16
            && self.cx.module.decoration(id, Decoration::NoContraction).is_none();
        if contract && matches!(op, BinOp::Fadd | BinOp::Fsub) {
            let minus = |this: &mut Self, v: Value| this.push_fast(IrOp::Unary(UnOp::Fneg), &[v], ty, id);
            // The product stays for its other users; without any, a pass removes it. `x * y - b` is `fma(x, y, -b)`,
            // and `a - x * y` is `fma(-x, y, a)`.
            if let Some(&(x, y)) = self.products.get(&a) {
                let b = if op == BinOp::Fsub { minus(self, b)? } else { b };
                return self.push_fast(IrOp::Fma, &[x, y, b], ty, id);
            }
            if let Some(&(x, y)) = self.products.get(&b) {
                let x = if op == BinOp::Fsub { minus(self, x)? } else { x };
                return self.push_fast(IrOp::Fma, &[x, y, a], ty, id);
            }
        }
        let v = self.push_fast(IrOp::Binary(op), &[a, b], ty, id)?;
        if contract && op == BinOp::Fmul {
            self.products.insert(v, (a, b));
        }
        Ok(v)
    }

    /// The amount of a shift may have another width than what is shifted.
    fn shift(&mut self, inst: &Inst<'_>, op: BinOp) -> Result<Value> {
        let [a, by] = inst.operands()?;
        let (a, by) = (self.int(a)?, self.int(by)?);
        let ty = self.ty(a);
        let by = self.resized(by, ty, false);
        self.alike(a, by)?;
        Ok(self.b().binary(op, a, by))
    }

    fn floored_remainder(&mut self, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        let r = self.b().binary(BinOp::Srem, a, b);
        let zero = self.b().iconst(ty, 0);
        let some = self.b().icmp(IntCc::Ne, r, zero);
        // Negative if the signs differ.
        let signs = self.b().binary(BinOp::Xor, r, b);
        let differ = self.b().icmp(IntCc::Slt, signs, zero);
        let both = self.b().binary(BinOp::And, some, differ);
        let sum = self.b().binary(BinOp::Add, r, b);
        self.b().select(both, sum, r)
    }

    fn dot(&mut self, inst: &Inst<'_>) -> Result<Value> {
        let [a, b] = inst.operands()?;
        let (a, b) = (self.float(a)?, self.float(b)?);
        self.alike(a, b)?;
        let (ty, id) = (self.ty(a), inst.result()?.1);
        ensure!(ty.is_vector(), "it takes vectors");
        // OpenCL C has no `dot` of more components.
        if ty.lanes <= 4 {
            return self.call_numbers("dot", Sign::Signed, &[a, b], ty.lane());
        }
        let products = self.push_fast(IrOp::Binary(BinOp::Fmul), &[a, b], ty, id)?;
        let mut sum = self.b().extract_lane(products, 0);
        for lane in 1..ty.lanes {
            let product = self.b().extract_lane(products, lane);
            sum = self.push_fast(IrOp::Binary(BinOp::Fadd), &[sum, product], ty.lane(), id)?;
        }
        Ok(sum)
    }

    /// Offset and count are scalar integers of any width.
    fn bit_field(&mut self, inst: &Inst<'_>) -> Result<Value> {
        let (name, sign) = match inst.op {
            Op::BitFieldInsert => ("bitfield_insert", Sign::Unsigned),
            Op::BitFieldSExtract => ("bitfield_extract_signed", Sign::Signed),
            _ => ("bitfield_extract_unsigned", Sign::Unsigned),
        };
        let values = if inst.op == Op::BitFieldInsert { 2 } else { 1 };
        let mut args = Vec::new();
        for i in 0..values {
            args.push(self.int(inst.word(2 + i)?)?);
        }
        for i in values..values + 2 {
            let n = self.scalar_int(inst.word(2 + i)?)?;
            args.push(self.resized(n, Type::I32, false));
        }
        let ty = self.ty(args[0]);
        ensure!(args[..values].iter().all(|&v| self.ty(v) == ty), "operands have different types");
        let mut params = vec![crate::builtin::c_type(ty, sign); values];
        params.extend(["uint".to_owned(), "uint".to_owned()]);
        let names: Vec<String> = (0..args.len()).map(crate::builtin::param_name).collect();
        self.call_c(&params[0].clone(), &params, &args, &format!("{name}({})", names.join(", ")), ty)
    }

    /// Two results in a structure: low half and carry, or low half and high half.
    fn extended_result(&mut self, inst: &Inst<'_>) -> Result<bool> {
        let [a, b] = inst.operands()?;
        let (a, b) = (self.int(a)?, self.int(b)?);
        self.alike(a, b)?;
        let (ty, id) = inst.result()?;
        let of = self.ty(a);
        let (low, high) = match inst.op {
            Op::IAddCarry => {
                let sum = self.b().binary(BinOp::Add, a, b);
                // A sum that wrapped is less than either operand.
                let carry = self.b().icmp(IntCc::Ult, sum, a);
                (sum, self.b().cast(CastOp::Zext, carry, of))
            }
            Op::ISubBorrow => {
                let difference = self.b().binary(BinOp::Sub, a, b);
                let borrow = self.b().icmp(IntCc::Ult, a, b);
                (difference, self.b().cast(CastOp::Zext, borrow, of))
            }
            op => {
                let high = if op == Op::UMulExtended { BinOp::UmulHi } else { BinOp::SmulHi };
                (self.b().binary(BinOp::Mul, a, b), self.b().binary(high, a, b))
            }
        };
        let ty = self.cx.types.get(ty)?;
        self.define(id, ty, vec![low, high])
    }

    /// A product of vectors of four bytes, or of bytes packed in 32 bits.
    fn integer_dot(&mut self, inst: &Inst<'_>) -> Result<Value> {
        let saturates = matches!(inst.op, Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat);
        let (left, right) = match inst.op {
            Op::SDot | Op::SDotAccSat => (Sign::Signed, Sign::Signed),
            Op::UDot | Op::UDotAccSat => (Sign::Unsigned, Sign::Unsigned),
            _ => (Sign::Signed, Sign::Unsigned),
        };
        let [a, b] = inst.operands()?;
        let (a, b) = (self.int(a)?, self.int(b)?);
        self.alike(a, b)?;
        let (ty, to) = (self.ty(a), self.result_type(inst)?);
        let packed = ty == Type::I32;
        if packed {
            let format = inst.word(if saturates { 5 } else { 4 })?;
            ensure!(format == spirv::PackedVectorFormat::PackedVectorFormat4x8Bit as u32, "its format is not known");
        } else {
            ensure!(ty == Type::vector(Scalar::I8, 4), "vectors of {ty} are not supported: of four bytes are");
        }
        ensure!(to.is_int() && !to.is_vector() && to.scalar.bits() >= 8, "the result is no integer");
        let sign = if left == Sign::Unsigned { Sign::Unsigned } else { Sign::Signed };
        let word = |s: Sign| if s == Sign::Signed { "s" } else { "u" };
        let of = if sign == Sign::Signed { "int" } else { "uint" };
        let name = match packed {
            true => format!("dot_4x8packed_{}{}_{of}", word(left), word(right)),
            false => "dot".to_owned(),
        };
        let params = match packed {
            true => vec!["uint".to_owned(); 2],
            false => vec![crate::builtin::c_type(ty, left), crate::builtin::c_type(ty, right)],
        };
        let product = self.call_c(of, &params, &[a, b], &format!("{name}(a, b)"), Type::I32)?;
        let signed = sign == Sign::Signed;
        if !saturates {
            return Ok(self.resized(product, to, signed));
        }
        let sum = self.int(inst.word(4)?)?;
        ensure!(self.ty(sum) == to, "the accumulator is not of the result's type");
        // The product fits 18 bits: in narrower types it is added exactly first.
        if to.scalar.bits() >= 32 {
            let product = self.resized(product, to, signed);
            let op = if signed { BinOp::SaddSat } else { BinOp::UaddSat };
            return Ok(self.b().binary(op, product, sum));
        }
        let wide = self.resized(sum, Type::I32, signed);
        let wide = self.b().binary(BinOp::Add, wide, product);
        let narrow = crate::builtin::c_type(to, sign);
        self.call_c(&narrow, &[of.to_owned()], &[wide], &format!("convert_{narrow}_sat(a)"), to)
    }
}
