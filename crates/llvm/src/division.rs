//! Integer division and high halves of products on vectors. Vector units have no integer division, and of 64-bit
//! products only the low half, so both are written out in other instructions.

use crate::emit::FunctionCx;
use cloom_ir::{BinOp, Scalar, Type};
use llvm_sys::LLVMIntPredicate;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

impl FunctionCx<'_, '_> {
    /// Division that never traps: a divisor of zero counts as one, and the smallest number by minus one wraps.
    pub fn divide(&self, op: BinOp, ty: Type, x: LLVMValueRef, y: LLVMValueRef, known: Option<u64>) -> LLVMValueRef {
        let b = self.builder.0;
        // A GPU divides the lanes one by one.
        let vectors = ty.is_vector() && self.cx.gpu.is_none();
        let signed = matches!(op, BinOp::Sdiv | BinOp::Srem);
        let minus_one = ty.scalar.mask();
        // Division by 0, and of the smallest number by -1, traps on x86 and is undefined in LLVM. A known divisor other
        // than these needs no select.
        let safe = known.is_some_and(|bits| bits != 0 && !(signed && bits == minus_one));
        // SAFETY: `x` and `y` are integers of the type `ty`, which the verifier checked.
        unsafe {
            let equals =
                |bits: u64| LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntEQ, y, self.cx.constant(ty, bits), NO_NAME);
            let divisor = if safe {
                y
            } else {
                let mut odd = equals(0);
                if signed {
                    odd = LLVMBuildOr(b, odd, equals(minus_one), NO_NAME);
                }
                LLVMBuildSelect(b, odd, self.cx.constant(ty, 1), y, NO_NAME)
            };
            // LLVM multiplies by the reciprocal itself, but not in vectors of 64 bits, for lack of an instruction for
            // the high half of the product.
            if let Some(divisor) = known.filter(|_| safe && vectors && ty.scalar == Scalar::I64) {
                return self.known_quotient(op, ty, x, divisor);
            }
            // Lanes of 64 bits do not fit into a double: LLVM divides them one by one.
            let by_floats = vectors && known.is_none() && ty.scalar.bits() <= 32;
            let quotient = || match by_floats {
                true => self.float_quotient(signed, ty, x, divisor),
                false if signed => LLVMBuildSDiv(b, x, divisor, NO_NAME),
                false => LLVMBuildUDiv(b, x, divisor, NO_NAME),
            };
            match op {
                BinOp::Urem | BinOp::Srem if by_floats => {
                    LLVMBuildSub(b, x, LLVMBuildMul(b, quotient(), divisor, NO_NAME), NO_NAME)
                }
                BinOp::Udiv => quotient(),
                BinOp::Urem => LLVMBuildURem(b, x, divisor, NO_NAME),
                BinOp::Srem => LLVMBuildSRem(b, x, divisor, NO_NAME),
                _ => {
                    let quotient = quotient();
                    if safe {
                        return quotient;
                    }
                    // Unsigned divisions have returned above. The divisor -1 was replaced by 1. (A remainder needs no
                    // such select: by 1 it is 0, as by -1.)
                    LLVMBuildSelect(b, equals(minus_one), LLVMBuildNeg(b, x, NO_NAME), quotient, NO_NAME)
                }
            }
        }
    }

    /// Quotients of integers by way of floats, since no vector unit divides integers. The float has more than twice
    /// their bits, or nearly: a quotient `x / y` that is no integer is at least `1 / y` away from the next one, and
    /// rounding moves it by less (at most 2³²/y · 2⁻⁵³, or 2¹⁶/y · 2⁻²⁴), so truncating the float quotient gives the
    /// exact one.
    fn float_quotient(&self, signed: bool, ty: Type, x: LLVMValueRef, y: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        let short = ty.scalar.bits() <= 16;
        let float = self.cx.ty(ty.with_scalar(if short { Scalar::F32 } else { Scalar::F64 }));
        let (int, int32) = (self.cx.ty(ty), self.cx.ty(ty.with_scalar(Scalar::I32)));
        // SAFETY: `x` and `y` are integers, and `float` has as many lanes.
        unsafe {
            let widen = |v| match signed {
                true => LLVMBuildSIToFP(b, v, float, NO_NAME),
                false => LLVMBuildUIToFP(b, v, float, NO_NAME),
            };
            let quotient = LLVMBuildFDiv(b, widen(x), widen(y), NO_NAME);
            // A quotient of short integers fits in 32 bits with sign.
            match (signed, short) {
                (_, true) => LLVMBuildTrunc(b, LLVMBuildFPToSI(b, quotient, int32, NO_NAME), int, NO_NAME),
                (true, false) => LLVMBuildFPToSI(b, quotient, int, NO_NAME),
                (false, false) => LLVMBuildFPToUI(b, quotient, int, NO_NAME),
            }
        }
    }

    /// Division of 64-bit lanes by a constant other than 0 and -1: the high half of the product with its scaled
    /// reciprocal. (Granlund, Montgomery, "Division by Invariant Integers using Multiplication", 1994, figure 4.1.)
    /// Signed numbers are divided by magnitude and negated where the signs differ.
    fn known_quotient(&self, op: BinOp, ty: Type, x: LLVMValueRef, divisor: u64) -> LLVMValueRef {
        let b = self.builder.0;
        let signed = matches!(op, BinOp::Sdiv | BinOp::Srem);
        let (negative, by) = match signed {
            true => ((divisor as i64) < 0, (divisor as i64).unsigned_abs()),
            false => (false, divisor),
        };
        let number = |bits: u64| self.cx.constant(ty, bits);
        // SAFETY: `x` and all constants are 64-bit integers with as many lanes.
        unsafe {
            // `(x ^ sign) - sign` negates where `sign` is -1, and leaves the number where it is 0.
            let sign = LLVMBuildAShr(b, x, number(63), NO_NAME);
            let magnitude = match signed {
                true => LLVMBuildSub(b, LLVMBuildXor(b, x, sign, NO_NAME), sign, NO_NAME),
                false => x,
            };
            let quotient = match by.is_power_of_two() {
                true => LLVMBuildLShr(b, magnitude, number(by.trailing_zeros().into()), NO_NAME),
                false => {
                    let (factor, shift) = reciprocal(by);
                    let high = self.mul_hi_of_halves(ty, magnitude, number(factor));
                    // The whole factor has 65 bits, so that `high + magnitude` may wrap; half of the difference plus
                    // `high` does not.
                    let rest = LLVMBuildLShr(b, LLVMBuildSub(b, magnitude, high, NO_NAME), number(1), NO_NAME);
                    LLVMBuildLShr(b, LLVMBuildAdd(b, rest, high, NO_NAME), number(shift.into()), NO_NAME)
                }
            };
            if matches!(op, BinOp::Urem | BinOp::Srem) {
                let product = LLVMBuildMul(b, quotient, number(by), NO_NAME);
                let rest = LLVMBuildSub(b, magnitude, product, NO_NAME);
                // A remainder has the sign of the dividend, whatever the divisor's sign is.
                return match signed {
                    true => LLVMBuildSub(b, LLVMBuildXor(b, rest, sign, NO_NAME), sign, NO_NAME),
                    false => rest,
                };
            }
            if !signed {
                return quotient;
            }
            let sign = if negative { LLVMBuildNot(b, sign, NO_NAME) } else { sign };
            LLVMBuildSub(b, LLVMBuildXor(b, quotient, sign, NO_NAME), sign, NO_NAME)
        }
    }

    /// The high half of a product, computed in integers of twice the width. LLVM recognises the pattern; for 64 bits
    /// there is a scalar instruction and no vector one.
    pub fn mul_hi(&self, signed: bool, ty: Type, x: LLVMValueRef, y: LLVMValueRef) -> LLVMValueRef {
        if ty.is_vector() && ty.scalar == Scalar::I64 {
            let product = self.mul_hi_of_halves(ty, x, y);
            return if signed { self.signed_mul_hi(ty, product, x, y) } else { product };
        }
        let (b, bits) = (self.builder.0, ty.scalar.bits());
        // SAFETY: `x` and `y` are integers of the type `ty`, and `wide` has as many lanes of twice their width.
        unsafe {
            let scalar = LLVMIntTypeInContext(self.cx.context, 2 * bits);
            let wide = if ty.is_vector() { LLVMVectorType(scalar, u32::from(ty.lanes)) } else { scalar };
            let widen =
                |v| if signed { LLVMBuildSExt(b, v, wide, NO_NAME) } else { LLVMBuildZExt(b, v, wide, NO_NAME) };
            let product = LLVMBuildMul(b, widen(x), widen(y), NO_NAME);
            let one = LLVMConstInt(scalar, u64::from(bits), 0);
            let amount = if ty.is_vector() {
                let mut lanes = vec![one; usize::from(ty.lanes)];
                LLVMConstVector(lanes.as_mut_ptr(), lanes.len() as u32)
            } else {
                one
            };
            LLVMBuildTrunc(b, LLVMBuildLShr(b, product, amount, NO_NAME), self.cx.ty(ty), NO_NAME)
        }
    }

    /// The high half of a product of unsigned lanes of 64 bits, from products of 32 bits.
    fn mul_hi_of_halves(&self, ty: Type, x: LLVMValueRef, y: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        let (mask, half) = (self.cx.constant(ty, 0xffff_ffff), self.cx.constant(ty, 32));
        // SAFETY: `x`, `y` and the constants are integers of one type.
        unsafe {
            let low = |v| LLVMBuildAnd(b, v, mask, NO_NAME);
            let high = |v| LLVMBuildLShr(b, v, half, NO_NAME);
            let mul = |v, w| LLVMBuildMul(b, v, w, NO_NAME);
            let add = |v, w| LLVMBuildAdd(b, v, w, NO_NAME);
            let (xl, xh, yl, yh) = (low(x), high(x), low(y), high(y));
            // Neither sum wraps: (2³²-1)² + 2³²-1 is less than 2⁶⁴.
            let first = add(mul(xh, yl), high(mul(xl, yl)));
            let second = add(mul(xl, yh), low(first));
            add(add(mul(xh, yh), high(first)), high(second))
        }
    }

    /// The high half of a signed product from the unsigned one, which took a negative factor x for x + 2⁶⁴.
    fn signed_mul_hi(&self, ty: Type, product: LLVMValueRef, x: LLVMValueRef, y: LLVMValueRef) -> LLVMValueRef {
        let (b, last) = (self.builder.0, self.cx.constant(ty, 63));
        // SAFETY: `x`, `y` and `product` are integers of one type.
        unsafe {
            let too_much = |v, other| LLVMBuildAnd(b, LLVMBuildAShr(b, v, last, NO_NAME), other, NO_NAME);
            LLVMBuildSub(b, LLVMBuildSub(b, product, too_much(x, y), NO_NAME), too_much(y, x), NO_NAME)
        }
    }
}

/// The factor and the last shift that divide by a number that is no power of two: the quotient of `n` is `(h + (n - h)
/// / 2) >> shift` with `h` the high half of `n * factor`.
fn reciprocal(by: u64) -> (u64, u32) {
    let bits = 64 - by.leading_zeros();
    let above = (1u128 << bits) - u128::from(by);
    ((((above << 64) / u128::from(by)) + 1) as u64, bits - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reciprocals_divide() {
        let numbers = [3, 5, 7, 10, 641, 1_000_000_007, (1 << 32) + 1, (1 << 63) + 1, u64::MAX - 1, u64::MAX];
        for by in numbers {
            let (factor, shift) = reciprocal(by);
            for n in [
                0,
                1,
                2,
                by - 1,
                by,
                by.wrapping_mul(3),
                1 << 32,
                1 << 63,
                u64::MAX - 1,
                u64::MAX,
                0x0123_4567_89ab_cdef,
            ] {
                let high = ((u128::from(n) * u128::from(factor)) >> 64) as u64;
                assert_eq!((((n - high) >> 1) + high) >> shift, n / by, "{n} / {by}");
            }
        }
    }
}
