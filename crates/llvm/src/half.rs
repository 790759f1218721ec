//! Arithmetic on halves, which LLVM would do with library calls, or round twice.
//!
//! A half is an `i16` of LLVM throughout. LLVM's own `half` has calling conventions, libcalls and legalisations of its
//! own, which differ between CPUs; explicit conversion to float and back avoids them all. Converting is one instruction
//! where the CPU has it (F16C), integer arithmetic elsewhere. One operation on floats, rounded to half, is the
//! correctly rounded operation on halves, because 24 ≥ 2·11 + 2; only `fma` needs more: see there.

use crate::emit::FunctionCx;
use cloom_ir::{BinOp, Scalar, Type, UnOp};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMIntPredicate as Int, LLVMRealPredicate as Real};

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

impl FunctionCx<'_, '_> {
    /// A unary operation on halves.
    pub fn half_unary(&self, op: UnOp, ty: Type, a: LLVMValueRef) -> LLVMValueRef {
        let sign = self.cx.constant(ty.with_scalar(Scalar::I16), 0x8000);
        // SAFETY: a half is an integer of 16 bits here, and `sign` has the type of `a`.
        unsafe {
            match op {
                UnOp::Fneg => LLVMBuildXor(self.builder.0, a, sign, NO_NAME),
                UnOp::Fabs => LLVMBuildAnd(self.builder.0, a, LLVMBuildNot(self.builder.0, sign, NO_NAME), NO_NAME),
                _ => {
                    let float = ty.with_scalar(Scalar::F32);
                    self.to_half(float, self.unary(op, float, self.to_float(ty, a)))
                }
            }
        }
    }

    /// A sum, difference, product or quotient of halves.
    pub fn half_arithmetic(&self, op: BinOp, ty: Type, x: LLVMValueRef, y: LLVMValueRef) -> LLVMValueRef {
        let float = ty.with_scalar(Scalar::F32);
        self.to_half(float, self.arithmetic(op, self.to_float(ty, x), self.to_float(ty, y)))
    }

    /// The value in a form in which floats can be compared.
    pub fn comparable(&self, ty: Type, a: LLVMValueRef) -> LLVMValueRef {
        if ty.scalar == Scalar::F16 { self.to_float(ty, a) } else { a }
    }

    /// Double to half through float, rounded once: the float is rounded to odd, so that the second rounding sees
    /// whether the first was exact.
    pub fn double_to_half(&self, from: Type, a: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        let float = from.with_scalar(Scalar::F32);
        // SAFETY: `a` holds doubles, and `float` has as many lanes.
        unsafe {
            let near = LLVMBuildFPTrunc(b, a, self.cx.ty(float), NO_NAME);
            let back = LLVMBuildFPExt(b, near, self.cx.ty(from), NO_NAME);
            let inexact = LLVMBuildFCmp(b, Real::LLVMRealONE, back, a, NO_NAME);
            let magnitude = |v| self.intrinsic("llvm.fabs", &[self.cx.ty(from)], &[v]);
            let too_large = LLVMBuildFCmp(b, Real::LLVMRealOGT, magnitude(back), magnitude(a), NO_NAME);
            let odd = self.to_odd(float, near, inexact, too_large);
            self.to_half(float, odd)
        }
    }

    /// Half to float; exact.
    pub fn to_float(&self, from: Type, a: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        let float = self.cx.ty(from.with_scalar(Scalar::F32));
        let int = from.with_scalar(Scalar::I32);
        // SAFETY: `a` holds halves as integers of 16 bits, and all other types have as many lanes.
        unsafe {
            if self.cx.target.features().half_conversion {
                let half = LLVMBuildBitCast(b, a, self.cx.llvm_half(from), NO_NAME);
                let wide = LLVMBuildFPExt(b, half, float, NO_NAME);
                if self.cx.gpu.is_some() {
                    return wide;
                }
                // LLVM would narrow operations to halves and then scalarise the vectors, as there are no instructions
                // for them.
                return self.intrinsic("llvm.arithmetic.fence", &[float], &[wide]);
            }
            let n = |bits: u64| self.cx.constant(int, bits);
            let wide = LLVMBuildZExt(b, a, self.cx.ty(int), NO_NAME);
            let sign = LLVMBuildShl(b, LLVMBuildAnd(b, wide, n(0x8000), NO_NAME), n(16), NO_NAME);
            let magnitude = LLVMBuildAnd(b, wide, n(0x7fff), NO_NAME);
            let shifted = LLVMBuildShl(b, magnitude, n(13), NO_NAME);
            // The exponents are biased by 15 and 127. The largest exponent, 31, becomes 255: infinities and NaN stay.
            let normal = LLVMBuildAdd(b, shifted, n(112 << 23), NO_NAME);
            let special = LLVMBuildAdd(b, shifted, n(224 << 23), NO_NAME);
            let nan = LLVMBuildICmp(b, Int::LLVMIntUGT, magnitude, n(0x7c00), NO_NAME);
            // A signalling NaN becomes a quiet one, as the instruction of processors makes it.
            let quiet = LLVMBuildSelect(b, nan, n(0x40_0000), n(0), NO_NAME);
            let special = LLVMBuildOr(b, special, quiet, NO_NAME);
            // A denormal half is a multiple of 2^-24. As a float it is normal, so that this is right where denormals
            // are flushed.
            let steps = LLVMBuildSIToFP(b, magnitude, float, NO_NAME);
            let unit = self.cx.constant(from.with_scalar(Scalar::F32), u64::from(2f32.powi(-24).to_bits()));
            let small = LLVMBuildBitCast(b, LLVMBuildFMul(b, steps, unit, NO_NAME), self.cx.ty(int), NO_NAME);
            let is_small = LLVMBuildICmp(b, Int::LLVMIntULT, magnitude, n(0x400), NO_NAME);
            let is_special = LLVMBuildICmp(b, Int::LLVMIntUGE, magnitude, n(0x7c00), NO_NAME);
            let bits = LLVMBuildSelect(b, is_special, special, normal, NO_NAME);
            let bits = LLVMBuildSelect(b, is_small, small, bits, NO_NAME);
            LLVMBuildBitCast(b, LLVMBuildOr(b, bits, sign, NO_NAME), float, NO_NAME)
        }
    }

    /// Float to the nearest half, ties to even.
    pub fn to_half(&self, from: Type, a: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        let (int, short) = (from.with_scalar(Scalar::I32), self.cx.ty(from.with_scalar(Scalar::I16)));
        // SAFETY: `a` holds floats, and all other types have as many lanes.
        unsafe {
            if self.cx.target.features().half_conversion {
                let half = LLVMBuildFPTrunc(b, a, self.cx.llvm_half(from), NO_NAME);
                return LLVMBuildBitCast(b, half, short, NO_NAME);
            }
            let n = |bits: u64| self.cx.constant(int, bits);
            let and = |x, bits| LLVMBuildAnd(b, x, n(bits), NO_NAME);
            let shr = |x, by| LLVMBuildLShr(b, x, n(by), NO_NAME);
            let add = |x, y| LLVMBuildAdd(b, x, y, NO_NAME);
            let bits = LLVMBuildBitCast(b, a, self.cx.ty(int), NO_NAME);
            let sign = and(shr(bits, 16), 0x8000);
            let magnitude = and(bits, 0x7fff_ffff);
            let above = |limit| LLVMBuildICmp(b, Int::LLVMIntUGT, magnitude, n(limit), NO_NAME);
            // A NaN keeps the upper bits of its payload and is quiet: never all zeros, which would be infinity.
            let nan = LLVMBuildOr(b, and(shr(magnitude, 13), 0x1ff), n(0x7e00), NO_NAME);
            // Round to nearest even: add half a unit in the last place less one, and one more if the last bit is odd;
            // the carry is the rounding.
            let tie = add(and(shr(magnitude, 13), 1), n(0xfff));
            // 112 less in the exponent, the difference of the biases.
            let rebased = LLVMBuildSub(b, magnitude, n(0x3800_0000), NO_NAME);
            let normal = shr(add(rebased, tie), 13);
            // The unit in the last place of the float 0.5 is that of denormal halves: the addition rounds.
            let positive = LLVMBuildBitCast(b, magnitude, self.cx.ty(from), NO_NAME);
            let half = self.cx.constant(from, u64::from(0.5f32.to_bits()));
            let sum = LLVMBuildBitCast(b, LLVMBuildFAdd(b, positive, half, NO_NAME), self.cx.ty(int), NO_NAME);
            let small = LLVMBuildSub(b, sum, n(u64::from(0.5f32.to_bits())), NO_NAME);
            // From 2^-14 on, halves are normal. Floats above 0x477f_efff, which is just below 65520, round to infinity.
            // The bits of NaN are above all of them, so that NaN is selected last.
            let result = LLVMBuildSelect(b, above(0x387f_ffff), normal, small, NO_NAME);
            let result = LLVMBuildSelect(b, above(0x477f_efff), n(0x7c00), result, NO_NAME);
            let result = LLVMBuildSelect(b, above(0x7f80_0000), nan, result, NO_NAME);
            LLVMBuildTrunc(b, LLVMBuildOr(b, result, sign, NO_NAME), short, NO_NAME)
        }
    }
}
