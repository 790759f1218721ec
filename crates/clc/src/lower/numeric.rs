//! Integer, common and relational functions that are written out in instructions, by chapter of the specification.
//!
//! In come operands of one type, each a scalar or a vector of the function's width; out goes the result. Integer
//! functions take the signed or the unsigned operation by the type of their elements.

use super::func::Fn;
use crate::sema::types::elem_signed;
use cloom_builtins::{Common, Elem, Integer, Relational};
use cloom_ir::{BinOp, CastOp, FloatCc, IntCc, Op, Scalar, Type, UnOp, Value};

impl Fn<'_, '_> {
    /// Integer functions.
    pub fn integer(&mut self, f: Integer, v: &[Value], elem: Elem, ty: Type) -> Value {
        let signed = elem_signed(elem);
        let pick = |s: BinOp, u: BinOp| if signed { s } else { u };
        let at = self.ty(v[0]);
        match f {
            Integer::Abs if signed => {
                let zero = self.zero(at);
                // The least integer is its own negation; the result is unsigned, so that its bits are right.
                let minus = self.bin(BinOp::Sub, zero, v[0]);
                self.bin(BinOp::Smax, v[0], minus)
            }
            Integer::Abs => v[0],
            Integer::AbsDiff => {
                // The greater minus the smaller: the difference fits into the unsigned result.
                let high = self.bin(pick(BinOp::Smax, BinOp::Umax), v[0], v[1]);
                let low = self.bin(pick(BinOp::Smin, BinOp::Umin), v[0], v[1]);
                self.bin(BinOp::Sub, high, low)
            }
            Integer::Hadd | Integer::Rhadd => {
                // `a + b` is `2 * (a & b) + (a ^ b)`: half of it, without the carry that the sum would lose.
                let differing = self.bin(BinOp::Xor, v[0], v[1]);
                let one = self.int(at, 1);
                let half = self.bin(pick(BinOp::Ashr, BinOp::Lshr), differing, one);
                if f == Integer::Hadd {
                    let both = self.bin(BinOp::And, v[0], v[1]);
                    return self.bin(BinOp::Add, both, half);
                }
                let either = self.bin(BinOp::Or, v[0], v[1]);
                self.bin(BinOp::Sub, either, half)
            }
            Integer::MadHi => {
                let high = self.bin(pick(BinOp::SmulHi, BinOp::UmulHi), v[0], v[1]);
                self.bin(BinOp::Add, high, v[2])
            }
            Integer::MadSat => self.mad_sat(v, elem),
            // Operands of more than 24 bits give an undefined result, so that the whole product will do.
            Integer::Mul24 => self.bin(BinOp::Mul, v[0], v[1]),
            Integer::Mad24 => {
                let product = self.bin(BinOp::Mul, v[0], v[1]);
                self.bin(BinOp::Add, product, v[2])
            }
            Integer::Upsample => {
                let high = self.b().cast(CastOp::Zext, v[0], ty);
                let low = self.b().cast(CastOp::Zext, v[1], ty);
                // The first operand is the high half, in the width of the result.
                let bits = self.int(ty, i64::from(elem.bits()));
                let high = self.bin(BinOp::Shl, high, bits);
                self.bin(BinOp::Or, high, low)
            }
            Integer::BitfieldInsert => {
                let (offset, count) = (self.bit_number(v[2], at), self.bit_number(v[3], at));
                let mask = self.low_bits(count);
                let mask = self.bin(BinOp::Shl, mask, offset);
                let moved = self.bin(BinOp::Shl, v[1], offset);
                // The bits that differ, in the field only: where they are flipped, the base becomes the inserted value.
                let change = self.bin(BinOp::Xor, v[0], moved);
                let change = self.bin(BinOp::And, change, mask);
                self.bin(BinOp::Xor, v[0], change)
            }
            Integer::BitfieldExtractUnsigned => {
                let (offset, count) = (self.bit_number(v[1], at), self.bit_number(v[2], at));
                let mask = self.low_bits(count);
                let moved = self.bin(BinOp::Lshr, v[0], offset);
                self.bin(BinOp::And, moved, mask)
            }
            Integer::BitfieldExtractSigned => {
                let (offset, count) = (self.bit_number(v[1], at), self.bit_number(v[2], at));
                // To the top, and down again with the sign.
                let width = self.int(at, i64::from(elem.bits()));
                let down = self.bin(BinOp::Sub, width, count);
                let up = self.bin(BinOp::Sub, down, offset);
                let top = self.bin(BinOp::Shl, v[0], up);
                let field = self.bin(BinOp::Ashr, top, down);
                let zero = self.zero(at);
                let none = self.b().icmp(IntCc::Eq, count, zero);
                self.b().select(none, zero, field)
            }
        }
    }

    /// A number of bits, a `uint`, as an integer of the width of what it shifts.
    fn bit_number(&mut self, n: Value, ty: Type) -> Value {
        let op = match ty.scalar.bits() {
            32 => return n,
            64 => CastOp::Zext,
            _ => CastOp::Trunc,
        };
        self.b().cast(op, n, ty)
    }

    /// The `count` lowest bits, from none to all: shifts by the width do nothing, so that none is a case of its own.
    fn low_bits(&mut self, count: Value) -> Value {
        let ty = self.ty(count);
        let (zero, ones) = (self.zero(ty), self.int(ty, -1));
        let width = self.int(ty, i64::from(ty.scalar.bits()));
        let unused = self.bin(BinOp::Sub, width, count);
        let low = self.bin(BinOp::Lshr, ones, unused);
        let none = self.b().icmp(IntCc::Eq, count, zero);
        self.b().select(none, zero, low)
    }

    /// Common functions; clamp, min and max of integers too.
    pub fn common(&mut self, f: Common, v: &[Value], elem: Elem, ty: Type) -> Value {
        if elem == Elem::F16 && matches!(f, Common::Mix | Common::Smoothstep | Common::Degrees | Common::Radians) {
            return self.in_float(v, ty, |this, v, ty| this.common(f, v, Elem::F32, ty));
        }
        let (signed, float) = (elem_signed(elem), elem.is_float());
        let pick = |s: BinOp, u: BinOp| if signed { s } else { u };
        match f {
            Common::Clamp if float => {
                let low = self.bin(BinOp::Fmax, v[0], v[1]);
                self.bin(BinOp::Fmin, low, v[2])
            }
            Common::Clamp => {
                let low = self.bin(pick(BinOp::Smax, BinOp::Umax), v[0], v[1]);
                self.bin(pick(BinOp::Smin, BinOp::Umin), low, v[2])
            }
            Common::Min if float => {
                // `min` and `max` leave NaNs undefined, so that one comparison will do; `fmin` and `fmax` must return
                // the number.
                let less = self.b().fcmp(FloatCc::Olt, v[1], v[0]);
                self.b().select(less, v[1], v[0])
            }
            Common::Max if float => {
                let less = self.b().fcmp(FloatCc::Olt, v[0], v[1]);
                self.b().select(less, v[1], v[0])
            }
            Common::Min => self.bin(pick(BinOp::Smin, BinOp::Umin), v[0], v[1]),
            Common::Max => self.bin(pick(BinOp::Smax, BinOp::Umax), v[0], v[1]),
            Common::Mix => {
                let way = self.bin(BinOp::Fsub, v[1], v[0]);
                self.mad([way, v[2], v[0]], ty)
            }
            Common::Step => {
                let (zero, one) = (self.float(ty, 0.0), self.float(ty, 1.0));
                let below = self.b().fcmp(FloatCc::Olt, v[1], v[0]);
                self.b().select(below, zero, one)
            }
            Common::Smoothstep => {
                let (zero, one) = (self.float(ty, 0.0), self.float(ty, 1.0));
                let way = self.bin(BinOp::Fsub, v[2], v[0]);
                let whole = self.bin(BinOp::Fsub, v[1], v[0]);
                let t = self.bin(BinOp::Fdiv, way, whole);
                let t = self.bin(BinOp::Fmax, t, zero);
                let t = self.bin(BinOp::Fmin, t, one);
                let square = self.bin(BinOp::Fmul, t, t);
                // `t * t * (3 - 2 * t)`
                let (two, three) = (self.float(ty, -2.0), self.float(ty, 3.0));
                let factor = self.mad([t, two, three], ty);
                self.bin(BinOp::Fmul, square, factor)
            }
            Common::Degrees => {
                let k = self.float(ty, 180.0 / std::f64::consts::PI);
                self.bin(BinOp::Fmul, v[0], k)
            }
            Common::Radians => {
                let k = self.float(ty, std::f64::consts::PI / 180.0);
                self.bin(BinOp::Fmul, v[0], k)
            }
            Common::Sign => {
                let zero = self.float(ty, 0.0);
                let one = self.float(ty, 1.0);
                // Zeros keep their sign, and a NaN gives zero.
                let signed_one = self.bin(BinOp::Copysign, one, v[0]);
                let not_zero = self.b().fcmp(FloatCc::One, v[0], zero);
                let number = self.b().fcmp(FloatCc::Ord, v[0], v[0]);
                let r = self.b().select(not_zero, signed_one, v[0]);
                self.b().select(number, r, zero)
            }
        }
    }

    /// Relational functions.
    pub fn relational(&mut self, f: Relational, v: &[Value], elem: Elem, ty: Type) -> Value {
        let at = self.ty(v[0]);
        match f {
            Relational::IsEqual => self.float_test(FloatCc::Oeq, v[0], v[1], ty),
            Relational::IsNotEqual => self.float_test(FloatCc::Une, v[0], v[1], ty),
            Relational::IsGreater => self.float_test(FloatCc::Ogt, v[0], v[1], ty),
            Relational::IsGreaterEqual => self.float_test(FloatCc::Oge, v[0], v[1], ty),
            Relational::IsLess => self.float_test(FloatCc::Olt, v[0], v[1], ty),
            Relational::IsLessEqual => self.float_test(FloatCc::Ole, v[0], v[1], ty),
            Relational::IsLessGreater => self.float_test(FloatCc::One, v[0], v[1], ty),
            Relational::IsOrdered => self.float_test(FloatCc::Ord, v[0], v[1], ty),
            Relational::IsUnordered => self.float_test(FloatCc::Uno, v[0], v[1], ty),
            Relational::IsNan => self.float_test(FloatCc::Uno, v[0], v[0], ty),
            Relational::IsFinite => {
                let (a, inf) = (self.b().unary(UnOp::Fabs, v[0]), self.infinity(at));
                self.float_test(FloatCc::Olt, a, inf, ty)
            }
            Relational::IsInf => {
                let (a, inf) = (self.b().unary(UnOp::Fabs, v[0]), self.infinity(at));
                self.float_test(FloatCc::Oeq, a, inf, ty)
            }
            Relational::IsNormal => {
                let least = match elem {
                    // The smallest number that is not subnormal.
                    Elem::F16 => f64::from(2.0f32.powi(-14)),
                    Elem::F32 => f64::from(f32::MIN_POSITIVE),
                    _ => f64::MIN_POSITIVE,
                };
                let (a, inf) = (self.b().unary(UnOp::Fabs, v[0]), self.infinity(at));
                let least = self.float(at, least);
                let finite = self.b().fcmp(FloatCc::Olt, a, inf);
                let normal = self.b().fcmp(FloatCc::Oge, a, least);
                let both = self.bin(BinOp::And, finite, normal);
                self.truth(both, ty)
            }
            Relational::Signbit => {
                // By the bits: a comparison with zero misses -0 and NaNs.
                let int = self.same_bits(v[0]);
                let t = self.negative(int);
                self.truth(t, ty)
            }
            Relational::Any | Relational::All => {
                let op = if f == Relational::Any { BinOp::Or } else { BinOp::And };
                let mut all = v[0];
                // Halves of the vector, then quarters: few operations where a vector stays one.
                let mut lanes = at.lanes;
                while lanes > 2 && lanes.is_multiple_of(2) {
                    lanes /= 2;
                    let (low, high): (Vec<u16>, Vec<u16>) = ((0..lanes).collect(), (lanes..2 * lanes).collect());
                    let (low, high) = (self.b().shuffle(all, all, &low), self.b().shuffle(all, all, &high));
                    all = self.bin(op, low, high);
                }
                if at.is_vector() {
                    let rest = all;
                    all = self.b().extract_lane(rest, 0);
                    for i in 1..lanes {
                        let lane = self.b().extract_lane(rest, i);
                        all = self.bin(op, all, lane);
                    }
                }
                let t = self.negative(all);
                self.truth(t, ty)
            }
            Relational::Bitselect => {
                let (a, b, c) = (self.same_bits(v[0]), self.same_bits(v[1]), self.same_bits(v[2]));
                // Bits of the mask choose the second operand where they are set.
                let not = self.b().unary(UnOp::Not, c);
                let a = self.bin(BinOp::And, a, not);
                let b = self.bin(BinOp::And, b, c);
                let r = self.bin(BinOp::Or, a, b);
                if elem.is_float() { self.b().cast(CastOp::Bitcast, r, ty) } else { r }
            }
            Relational::Select => {
                // A vector's condition is the sign bit of each component; a scalar's is any value but zero.
                let c = if ty.is_vector() { self.negative(v[2]) } else { self.non_zero(v[2]) };
                self.b().select(c, v[1], v[0])
            }
            Relational::ClSelect => {
                let c = self.non_zero(v[0]);
                self.b().select(c, v[1], v[2])
            }
        }
    }

    fn float_test(&mut self, cc: FloatCc, a: Value, b: Value, ty: Type) -> Value {
        let t = self.b().fcmp(cc, a, b);
        self.truth(t, ty)
    }

    fn infinity(&mut self, ty: Type) -> Value {
        self.float(ty, f64::INFINITY)
    }

    /// The integers of the same bits.
    fn same_bits(&mut self, v: Value) -> Value {
        let ty = self.ty(v);
        if ty.is_int() {
            return v;
        }
        let int = ty.with_scalar(Scalar::int(ty.scalar.bits()).unwrap_or(Scalar::I32));
        self.b().cast(CastOp::Bitcast, v, int)
    }

    /// Whether the highest bit is set.
    fn negative(&mut self, v: Value) -> Value {
        let ty = self.ty(v);
        let zero = self.zero(ty);
        self.b().icmp(IntCc::Slt, v, zero)
    }

    /// A function of halves by that of floats, rounded once.
    fn in_float(&mut self, v: &[Value], ty: Type, f: impl FnOnce(&mut Self, &[Value], Type) -> Value) -> Value {
        let float = ty.with_scalar(Scalar::F32);
        let wide: Vec<Value> = v.iter().map(|&x| self.convert_elem(x, Elem::F16, Elem::F32)).collect();
        let result = f(self, &wide, float);
        self.convert_elem(result, Elem::F32, Elem::F16)
    }

    /// `a * b + c`, rounded once or twice, whichever is faster on the target.
    pub fn mad(&mut self, [a, b, c]: [Value; 3], ty: Type) -> Value {
        if ty.scalar == Scalar::F16 {
            return self.in_float(&[a, b, c], ty, |this, v, ty| this.mad([v[0], v[1], v[2]], ty));
        }
        if self.lw.opts.contract {
            // `mad` may round once or twice: without an instruction for it, to round once takes many times as long.
            return self.push_fast(Op::Fma, &[a, b, c], ty);
        }
        let product = self.bin(BinOp::Fmul, a, b);
        self.bin(BinOp::Fadd, product, c)
    }

    /// `a * b + c` exactly, then to the nearest value of the type.
    fn mad_sat(&mut self, v: &[Value], elem: Elem) -> Value {
        let ty = self.ty(v[0]);
        let signed = elem_signed(elem);
        let bits = i64::from(elem.bits());
        let low = self.bin(BinOp::Mul, v[0], v[1]);
        let high = self.bin(if signed { BinOp::SmulHi } else { BinOp::UmulHi }, v[0], v[1]);
        // The sum in twice the width: low half, carry, high half.
        let sum = self.bin(BinOp::Add, low, v[2]);
        // The sum is smaller than an operand exactly if it wrapped.
        let carried = self.b().icmp(IntCc::Ult, sum, low);
        let carry = self.b().cast(CastOp::Zext, carried, ty);
        let mut top = self.bin(BinOp::Add, high, carry);
        if !signed {
            let zero = self.zero(ty);
            let fits = self.b().icmp(IntCc::Eq, top, zero);
            let most = self.int(ty, -1);
            return self.b().select(fits, sum, most);
        }
        let last = self.int(ty, bits - 1);
        // The high half of the addend is its sign. The sum fits if the high half is the sign of the low half.
        let extension = self.bin(BinOp::Ashr, v[2], last);
        top = self.bin(BinOp::Add, top, extension);
        let sign = self.bin(BinOp::Ashr, sum, last);
        let fits = self.b().icmp(IntCc::Eq, top, sign);
        let (min, max) = (1u64 << (bits - 1), (1u64 << (bits - 1)) - 1);
        let (min, max) = (self.b().iconst(ty, min), self.b().iconst(ty, max));
        let below = self.negative(top);
        let limit = self.b().select(below, min, max);
        self.b().select(fits, sum, limit)
    }
}
