//! Decodes arithmetic, comparisons, moves and conversions.
//!
//! In: the decoder with an opcode of these families. Out: operations. An opcode such as `add` or `min` exists for
//! integers and for floats; its type decides.

use super::{Decoder, Result};
use crate::ptx::op::{
    Carry, Combine, Compare, Comparison, Convert, FloatForm, FloatOp, Function, IntOp, Op, SetPredicate, Src, Type,
};
use crate::ptx::soft::{Format, Round};
use cloom_ptx::tree::Arg;

const NOTHING: Src = Src::Imm(0);

impl Decoder<'_, '_, '_> {
    /// Opcodes that compute one value from up to four.
    pub(super) fn arithmetic(&mut self, name: &str) -> Result<Op> {
        if matches!(name, "addc" | "subc" | "madc") || self.parts.contains(&"cc") {
            return self.carry(name);
        }
        if name == "slct" {
            return self.select_by_sign();
        }
        if matches!(name, "dp4a" | "dp2a") {
            return self.dot_product(name);
        }
        let ty = self.ty()?;
        // These move or combine bits, and need no arithmetic of floats.
        if ty.is_float() && !matches!(name, "selp" | "and" | "or" | "xor" | "not") {
            return self.float(name, ty);
        }
        let (op, args) = self.integer_op(name, ty)?;
        let logic = matches!(op, IntOp::And | IntOp::Or | IntOp::Xor | IntOp::Not);
        let only_word = matches!(name, "shf" | "prmt" | "lop3" | "bmsk" | "mul24" | "mad24");
        // Logic also combines predicates, of one bit. Bit fields and counts of bits have at least 32.
        let least = match name {
            _ if only_word || matches!(name, "bfe" | "bfi" | "brev" | "clz" | "popc" | "bfind") => 32,
            _ if logic => 1,
            _ => 16,
        };
        if ty.bits < least || ty.bits == 8 || only_word && ty.bits != 32 {
            return self.unknown();
        }
        self.expect_args(args + 1, args + 1)?;
        let narrow = Type::U32;
        let wide = Type { bits: ty.bits * 2, ..ty };
        let mut src = [NOTHING; 4];
        for (index, src) in src.iter_mut().enumerate().take(args) {
            // Amounts of shifts and positions of bits have 32 bits, whatever the type is.
            let own = match (op, index) {
                (IntOp::Shl | IntOp::Shr, 1) | (IntOp::Bfe, 1 | 2) | (IntOp::Bfi, 2 | 3) => narrow,
                (IntOp::MadWide, 2) => wide,
                (IntOp::Select, 2) => Type::PRED,
                _ => ty,
            };
            *src = self.src(index + 1, own)?;
        }
        let result = match op {
            IntOp::MulWide | IntOp::MadWide => wide,
            IntOp::Clz | IntOp::Popc | IntOp::Bfind | IntOp::BfindShift => narrow,
            _ => ty,
        };
        Ok(Op::Compute { function: Function::Int(op, ty), dst: self.dst(0, result)?, args: src })
    }

    /// The integer operation of an opcode and its number of sources.
    fn integer_op(&mut self, name: &str, ty: Type) -> Result<(IntOp, usize)> {
        let packed = ty.lanes == 2;
        let found = match name {
            "add" if self.flag("sat") => (IntOp::AddSat, 2),
            "sub" if self.flag("sat") => (IntOp::SubSat, 2),
            "add" => (IntOp::Add, 2),
            "sub" => (IntOp::Sub, 2),
            "min" => (IntOp::Min, 2),
            "max" => (IntOp::Max, 2),
            "neg" if packed => (IntOp::Neg, 1),
            // PTX has none of the operations below for two integers in one register.
            _ if packed => return self.unknown(),
            "mul" => match self.one_of(&[("lo", IntOp::MulLo), ("hi", IntOp::MulHi), ("wide", IntOp::MulWide)]) {
                Some(IntOp::MulWide) if ty.bits > 32 => return self.unknown(),
                Some(op) => (op, 2),
                None => return self.unknown(),
            },
            "mad" => {
                let half = self.one_of(&[("lo", IntOp::MadLo), ("hi", IntOp::MadHi), ("wide", IntOp::MadWide)]);
                match (half, self.flag("sat")) {
                    (Some(IntOp::MadHi), true) => (IntOp::MadHiSat, 3),
                    (Some(IntOp::MadWide), false) if ty.bits > 32 => return self.unknown(),
                    (Some(op), false) => (op, 3),
                    _ => return self.unknown(),
                }
            }
            "mul24" => match self.one_of(&[("lo", IntOp::Mul24Lo), ("hi", IntOp::Mul24Hi)]) {
                Some(op) => (op, 2),
                None => return self.unknown(),
            },
            "mad24" => match self.one_of(&[("lo", IntOp::Mad24Lo), ("hi", IntOp::Mad24Hi)]) {
                Some(op) => (op, 3),
                None => return self.unknown(),
            },
            "div" => (IntOp::Div, 2),
            "rem" => (IntOp::Rem, 2),
            "abs" => (IntOp::Abs, 1),
            "neg" => (IntOp::Neg, 1),
            "sad" => (IntOp::Sad, 3),
            "and" => (IntOp::And, 2),
            "or" => (IntOp::Or, 2),
            "xor" => (IntOp::Xor, 2),
            "not" => (IntOp::Not, 1),
            "cnot" => (IntOp::CNot, 1),
            "shl" => (IntOp::Shl, 2),
            "shr" => (IntOp::Shr, 2),
            "shf" => {
                let left = self.one_of(&[("l", true), ("r", false)]);
                match (left, self.one_of(&[("wrap", true), ("clamp", false)])) {
                    (Some(true), Some(true)) => (IntOp::ShfLeft, 3),
                    (Some(true), Some(false)) => (IntOp::ShfLeftClamp, 3),
                    (Some(false), Some(true)) => (IntOp::ShfRight, 3),
                    (Some(false), Some(false)) => (IntOp::ShfRightClamp, 3),
                    _ => return self.unknown(),
                }
            }
            "bfe" => (IntOp::Bfe, 3),
            "bfi" => (IntOp::Bfi, 4),
            "brev" => (IntOp::Brev, 1),
            "clz" => (IntOp::Clz, 1),
            "popc" => (IntOp::Popc, 1),
            "bfind" if self.flag("shiftamt") => (IntOp::BfindShift, 1),
            "bfind" => (IntOp::Bfind, 1),
            "bmsk" if self.flag("clamp") => (IntOp::BmskClamp, 2),
            "bmsk" if self.flag("wrap") => (IntOp::Bmsk, 2),
            "lop3" => (IntOp::Lop3, 4),
            "selp" => (IntOp::Select, 3),
            "prmt" => {
                let mode = self.one_of(&[
                    ("f4e", IntOp::PrmtF4e),
                    ("b4e", IntOp::PrmtB4e),
                    ("rc8", IntOp::PrmtRc8),
                    ("ecl", IntOp::PrmtEcl),
                    ("ecr", IntOp::PrmtEcr),
                    ("rc16", IntOp::PrmtRc16),
                ]);
                (mode.unwrap_or(IntOp::Prmt), 3)
            }
            _ => return self.unknown(),
        };
        Ok(found)
    }

    fn dot_product(&mut self, name: &str) -> Result<Op> {
        let half = self.one_of(&[("lo", false), ("hi", true)]);
        let (first, second) = (self.ty()?, self.ty()?);
        if first.bits != 32 || second.bits != 32 {
            return self.unknown();
        }
        let op = match (name, half) {
            ("dp4a", None) => IntOp::Dp4a(second.is_signed()),
            ("dp2a", Some(false)) => IntOp::Dp2aLo(second.is_signed()),
            ("dp2a", Some(true)) => IntOp::Dp2aHi(second.is_signed()),
            _ => return self.unknown(),
        };
        self.expect_args(4, 4)?;
        let args = [self.src(1, first)?, self.src(2, second)?, self.src(3, Type::B32)?, NOTHING];
        Ok(Op::Compute { function: Function::Int(op, first), dst: self.dst(0, Type::B32)?, args })
    }

    fn select_by_sign(&mut self) -> Result<Op> {
        let flush = self.flag("ftz");
        let (ty, sign) = (self.ty()?, self.ty()?);
        if sign.bits != 32 || !(sign.is_signed() || sign.is_float()) || ty.bits < 16 {
            return self.unknown();
        }
        self.expect_args(4, 4)?;
        let args = [self.src(1, ty)?, self.src(2, ty)?, self.src(3, sign)?, NOTHING];
        Ok(Op::Compute { function: Function::SelectSign { sign, flush }, dst: self.dst(0, ty)?, args })
    }

    fn carry(&mut self, name: &str) -> Result<Op> {
        let carry_out = self.flag("cc");
        let (subtract, carry_in, multiply) = match name {
            "add" => (false, false, false),
            "addc" => (false, true, false),
            "sub" => (true, false, false),
            "subc" => (true, true, false),
            "mad" => (false, false, true),
            "madc" => (false, true, true),
            _ => return self.unknown(),
        };
        // The outer `None` is a product without its half, which is an error; `Some(None)` is no product.
        let multiply = if multiply { self.one_of(&[("lo", false), ("hi", true)]).map(Some) } else { Some(None) };
        let Some(multiply) = multiply else { return self.unknown() };
        let ty = self.ty()?;
        if ty.is_float() || ty.bits < 32 {
            return self.unknown();
        }
        let count = if multiply.is_some() { 3 } else { 2 };
        self.expect_args(count + 1, count + 1)?;
        let mut args = [NOTHING; 3];
        for (index, src) in args.iter_mut().enumerate().take(count) {
            *src = self.src(index + 1, ty)?;
        }
        let dst = self.dst(0, ty)?;
        Ok(Op::Carry(Box::new(Carry { subtract, carry_in, carry_out, multiply, ty, dst, args })))
    }

    fn float(&mut self, name: &str, ty: Type) -> Result<Op> {
        let Some(format) = Format::of(ty) else { return self.unknown() };
        // For other opcodes, the modifier stays and is an error.
        let nan = matches!(name, "min" | "max") && self.flag("NaN");
        let (op, count) = match name {
            "add" => (FloatOp::Add, 2),
            "sub" => (FloatOp::Sub, 2),
            "mul" => (FloatOp::Mul, 2),
            "fma" | "mad" => (FloatOp::Fma, 3),
            "div" => (FloatOp::Div, 2),
            "min" => (if nan { FloatOp::MinNan } else { FloatOp::Min }, 2),
            "max" => (if nan { FloatOp::MaxNan } else { FloatOp::Max }, 2),
            "abs" => (FloatOp::Abs, 1),
            "neg" => (FloatOp::Neg, 1),
            "sqrt" => (FloatOp::Sqrt, 1),
            "rcp" => (FloatOp::Rcp, 1),
            "rsqrt" => (FloatOp::Rsqrt, 1),
            "sin" => (FloatOp::Sin, 1),
            "cos" => (FloatOp::Cos, 1),
            "lg2" => (FloatOp::Lg2, 1),
            "ex2" => (FloatOp::Ex2, 1),
            "tanh" => (FloatOp::Tanh, 1),
            "copysign" => (FloatOp::CopySign, 2),
            _ => return self.unknown(),
        };
        // The result is the exact one, which each of these modifiers allows.
        self.ignore(&["approx", "full"]);
        let form = FloatForm {
            format,
            lanes: ty.lanes,
            round: self.rounding().unwrap_or(Round::Nearest),
            flush: self.flag("ftz"),
            saturate: self.flag("sat"),
            relu: self.flag("relu"),
        };
        self.expect_args(count + 1, count + 1)?;
        let mut args = [NOTHING; 4];
        for (index, src) in args.iter_mut().enumerate().take(count) {
            *src = self.src(index + 1, ty)?;
        }
        Ok(Op::Compute { function: Function::Float(op, form), dst: self.dst(0, ty)?, args })
    }

    pub(super) fn test_property(&mut self) -> Result<Op> {
        let op = self.one_of(&[
            ("finite", FloatOp::TestFinite),
            ("infinite", FloatOp::TestInfinite),
            ("number", FloatOp::TestNumber),
            ("notanumber", FloatOp::TestNan),
            ("normal", FloatOp::TestNormal),
            ("subnormal", FloatOp::TestSubnormal),
        ]);
        let ty = self.ty()?;
        let (Some(op), Some(format)) = (op, Format::of(ty)) else { return self.unknown() };
        self.expect_args(2, 2)?;
        let form = FloatForm { format, lanes: 1, round: Round::Nearest, flush: false, saturate: false, relu: false };
        let args = [self.src(1, ty)?, NOTHING, NOTHING, NOTHING];
        Ok(Op::Compute { function: Function::Float(op, form), dst: self.dst(0, Type::PRED)?, args })
    }

    /// `setp` and `set`.
    pub(super) fn compare(&mut self, name: &str) -> Result<Op> {
        let how = self.one_of(&[
            ("eq", Comparison::Eq),
            ("ne", Comparison::Ne),
            ("lt", Comparison::Lt),
            ("le", Comparison::Le),
            ("gt", Comparison::Gt),
            ("ge", Comparison::Ge),
            ("lo", Comparison::Lo),
            ("ls", Comparison::Ls),
            ("hi", Comparison::Hi),
            ("hs", Comparison::Hs),
            ("equ", Comparison::Equ),
            ("neu", Comparison::Neu),
            ("ltu", Comparison::Ltu),
            ("leu", Comparison::Leu),
            ("gtu", Comparison::Gtu),
            ("geu", Comparison::Geu),
            ("num", Comparison::Num),
            ("nan", Comparison::Nan),
        ]);
        let Some(how) = how else { return self.unknown() };
        let combine = self.one_of(&[("and", Combine::And), ("or", Combine::Or), ("xor", Combine::Xor)]);
        let flush = self.flag("ftz");
        // `set.eq.u32.f32`: the first type is that of the result. `setp` writes predicates, and has the type of the
        // operands alone.
        let result = if name == "set" { Some(self.ty()?) } else { None };
        let ty = self.ty()?;
        // These ask for NaN, which integers do not have.
        let only_float = matches!(
            how,
            Comparison::Equ
                | Comparison::Neu
                | Comparison::Ltu
                | Comparison::Leu
                | Comparison::Gtu
                | Comparison::Geu
                | Comparison::Num
                | Comparison::Nan
        );
        if only_float && !ty.is_float() || ty.lanes == 2 && (result.is_some() || !ty.is_float()) {
            return self.unknown();
        }
        // `set` writes all ones for an integer and 1.0 for a float.
        let truth = match result {
            None => 1,
            Some(ty) if ty.lanes == 2 => return self.unknown(),
            Some(ty) => match (ty.is_float(), ty.bits) {
                (false, 32) => 0xFFFF_FFFF,
                (false, 16) => 0xFFFF,
                (true, 32) => 0x3F80_0000,
                (true, 16) => {
                    if ty.class == crate::ptx::op::Class::Brain {
                        0x3F80
                    } else {
                        0x3C00
                    }
                }
                _ => return self.unknown(),
            },
        };
        let count = 3 + usize::from(combine.is_some());
        self.expect_args(count, count)?;
        let (dst, second) = match result {
            None => self.dst_pair(0, Type::PRED, Type::PRED)?,
            Some(result) => (self.dst(0, result)?, None),
        };
        let combine = match combine {
            Some(combine) => Some((combine, self.test(3)?)),
            None => None,
        };
        let compare = Compare { how, ty, flush };
        let (a, b) = (self.src(1, ty)?, self.src(2, ty)?);
        Ok(Op::SetPredicate(Box::new(SetPredicate { compare, a, b, combine, dst, second, truth })))
    }

    pub(super) fn mov(&mut self) -> Result<Op> {
        let ty = self.ty()?;
        self.expect_args(2, 2)?;
        if ty.bits == 8 {
            return self.unknown();
        }
        let part = |count: usize| Type { bits: ty.bits / count.max(1) as u32, ..ty };
        match (self.arg(0)?, self.arg(1)?) {
            // `mov.b32 {%h1, %h2}, %r1` divides a register, and `mov.b32 %r1, {%h1, %h2}` joins two.
            (Arg::Vector(parts), _) if matches!(parts.len(), 2 | 4) && ty.bits >= 16 => {
                let part = part(parts.len());
                let list: Result<Box<[_]>> = parts.iter().map(|arg| self.dst_of(arg, part, false)).collect();
                Ok(Op::Unpack { parts: list?, src: self.src(1, ty)?, bits: part.bits })
            }
            (_, Arg::Vector(parts)) if matches!(parts.len(), 2 | 4) && ty.bits >= 16 => {
                let part = part(parts.len());
                let list: Result<Box<[_]>> = parts.iter().map(|arg| self.src_of(arg, part, false)).collect();
                Ok(Op::Pack { dst: self.dst(0, ty)?, parts: list?, bits: part.bits })
            }
            _ => Ok(Op::Move { dst: self.dst(0, ty)?, src: self.src(1, ty)? }),
        }
    }

    pub(super) fn cvt(&mut self) -> Result<Op> {
        let to_integral =
            self.one_of(&[("rni", Round::Nearest), ("rzi", Round::Zero), ("rmi", Round::Down), ("rpi", Round::Up)]);
        let rounding = if self.flag("rna") { Some(Round::Away) } else { self.rounding() };
        let (flush, saturate, relu) = (self.flag("ftz"), self.flag("sat"), self.flag("relu"));
        let (to, from) = (self.ty()?, self.ty()?);
        if to == Type::PRED || from == Type::PRED || from.lanes == 2 {
            return self.unknown();
        }
        let how = Convert {
            to,
            from,
            round: to_integral.or(rounding).unwrap_or(Round::Nearest),
            integral: to_integral.is_some(),
            flush,
            saturate,
            relu,
        };
        if to.lanes == 2 {
            if Format::of(to).is_none() || Format::of(from) != Some(crate::ptx::soft::F32) {
                return self.unknown();
            }
            self.expect_args(3, 3)?;
            let args = [self.src(1, from)?, self.src(2, from)?, NOTHING, NOTHING];
            return Ok(Op::Compute { function: Function::ConvertPair(how), dst: self.dst(0, to)?, args });
        }
        self.expect_args(2, 2)?;
        let args = [self.wide_src(1, from)?, NOTHING, NOTHING, NOTHING];
        Ok(Op::Compute { function: Function::Convert(how), dst: self.wide_dst(0, to)?, args })
    }
}
