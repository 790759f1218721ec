//! Fused multiply-add, `a * b + c` rounded once, on targets without the instruction.
//!
//! The product of two floats is exact in `f64`. The sum is not, and rounding it to a float rounds twice, which goes
//! wrong only where the first rounding made a tie for the second, or where the float is denormal and so has fewer bits.
//! Most vectors have no such lane: a test of the bits of their sums shows it. For the rest, the sum is rounded to odd,
//! which never makes a tie. The sum of a product of halves, in floats, always is.
//!
//! The product of two doubles is the exact sum of two doubles unless it is very large or very small. Vectors with such
//! a lane call the host's function for each lane, and so do scalar doubles.

use crate::emit::FunctionCx;
use crate::handles::c_string;
use crate::ops::int_of;
use cloom_ir::{CastOp, Scalar, Type};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMIntPredicate as Int, LLVMLinkage, LLVMRealPredicate as Real};

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

impl FunctionCx<'_, '_> {
    /// `a * b + c`, rounded once.
    pub fn fma(&mut self, ty: Type, args: [LLVMValueRef; 3]) -> LLVMValueRef {
        match ty.scalar {
            Scalar::F32 | Scalar::F64 if self.cx.target.features().fma => return self.fused(ty, args),
            Scalar::F64 if !ty.is_vector() => return self.fused(ty, args),
            Scalar::F64 => return self.call_of_doubles(ty, args),
            _ => {}
        }
        // The product of two halves is exact in a float already.
        let wide = ty.with_scalar(if ty.scalar == Scalar::F16 { Scalar::F32 } else { Scalar::F64 });
        let [x, y, z] = args.map(|a| self.cast(CastOp::Fext, ty, wide, a));
        let product = self.product(x, y);
        let exact = || self.cast(CastOp::Ftrunc, wide, ty, self.odd_sum(wide, product, z));
        if ty.scalar == Scalar::F16 {
            return exact();
        }
        // SAFETY: `product` and `z` are floats of the type `wide`.
        let sum = unsafe { LLVMBuildFAdd(self.builder.0, product, z, NO_NAME) };
        let near = self.cast(CastOp::Ftrunc, wide, ty, sum);
        self.unless(ty, self.rounds_twice(ty, sum), near, exact)
    }

    /// The operation of LLVM: an instruction, or a call for each lane.
    fn fused(&self, ty: Type, args: [LLVMValueRef; 3]) -> LLVMValueRef {
        self.intrinsic("llvm.fma", &[self.cx.ty(ty)], &args)
    }

    /// A call of a function with [`Self::doubles`] as its body: that is a hundred instructions, and a library function
    /// of doubles uses a hundred fused operations.
    fn call_of_doubles(&mut self, ty: Type, mut args: [LLVMValueRef; 3]) -> LLVMValueRef {
        let b = self.builder.0;
        // SAFETY: the function that is made has three parameters of its result's type, and the builder returns to its
        // block.
        unsafe {
            let (of, callee) = match self.cx.fused.get(&ty) {
                Some(&known) => known,
                None => {
                    let here = LLVMGetInsertBlock(b);
                    let llvm = self.cx.ty(ty);
                    let of = LLVMFunctionType(llvm, [llvm; 3].as_mut_ptr(), 3, 0);
                    let callee = LLVMAddFunction(self.cx.llvm, c_string(&format!("fma.{ty}")).as_ptr(), of);
                    LLVMSetLinkage(callee, LLVMLinkage::LLVMInternalLinkage);
                    self.cx.describe(callee);
                    // `new_block` appends to `self.llvm`: the blocks of the slow path belong to the new function.
                    let caller = std::mem::replace(&mut self.llvm, callee);
                    let block = LLVMAppendBasicBlockInContext(self.cx.context, callee, c"start".as_ptr());
                    LLVMPositionBuilderAtEnd(b, block);
                    LLVMBuildRet(b, self.doubles(ty, [0, 1, 2].map(|i| LLVMGetParam(callee, i))));
                    self.llvm = caller;
                    LLVMPositionBuilderAtEnd(b, here);
                    self.cx.fused.insert(ty, (of, callee));
                    (of, callee)
                }
            };
            LLVMBuildCall2(b, of, callee, args.as_mut_ptr(), 3, NO_NAME)
        }
    }

    /// The operation on doubles, by the exact sum of the parts of the product, unless parts are too large or too small.
    fn doubles(&self, ty: Type, args: [LLVMValueRef; 3]) -> LLVMValueRef {
        let product = self.product(args[0], args[1]);
        let near = self.sum_of_three(ty, args, product);
        self.unless(ty, self.leaves_range(ty, args, product), near, || self.fused(ty, args))
    }

    fn product(&self, x: LLVMValueRef, y: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: both operands are floats of one type.
        unsafe { LLVMBuildFMul(self.builder.0, x, y, NO_NAME) }
    }

    /// The fast result, unless one of its lanes is doubtful: then the slow way computes all lanes.
    fn unless(
        &self,
        ty: Type,
        doubtful: LLVMValueRef,
        mut near: LLVMValueRef,
        otherwise: impl FnOnce() -> LLVMValueRef,
    ) -> LLVMValueRef {
        let b = self.builder.0;
        let any = self.any(ty.with_scalar(Scalar::I1), doubtful);
        // SAFETY: `near` and `exact` have the type of the phi, which has one incoming value for each predecessor. Each
        // new block ends with a branch, or the builder stays in it.
        unsafe {
            let [rare, join] = [c"fma.rare", c"fma.end"].map(|name| self.new_block(name));
            let mut here = LLVMGetInsertBlock(b);
            self.seldom(LLVMBuildCondBr(b, any, rare, join), true);

            LLVMPositionBuilderAtEnd(b, rare);
            let mut exact = otherwise();
            let mut from_rare = LLVMGetInsertBlock(b);
            LLVMBuildBr(b, join);

            LLVMPositionBuilderAtEnd(b, join);
            let result = LLVMBuildPhi(b, self.cx.ty(ty), NO_NAME);
            LLVMAddIncoming(result, &mut near, &mut here, 1);
            LLVMAddIncoming(result, &mut exact, &mut from_rare, 1);
            result
        }
    }

    /// Twice the upper half of each double: its exponent and the first bits, without the sign.
    fn magnitude(&self, ty: Type, x: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        let (long, int) = (ty.with_scalar(Scalar::I64), ty.with_scalar(Scalar::I32));
        // SAFETY: `x` holds doubles, and `long` and `int` are integers with as many lanes.
        unsafe {
            let bits = LLVMBuildBitCast(b, x, self.cx.ty(long), NO_NAME);
            let high = LLVMBuildLShr(b, bits, self.cx.constant(long, 32), NO_NAME);
            let high = LLVMBuildTrunc(b, high, self.cx.ty(int), NO_NAME);
            LLVMBuildAdd(b, high, high, NO_NAME)
        }
    }

    /// Whether [`Self::sum_of_three`] may be wrong: a number is so large that its parts may not be finite, or product
    /// and third operand are so small that bits of the product may lie below the least double. (Beside an operand that
    /// is larger these do not count.)
    fn leaves_range(&self, ty: Type, args: [LLVMValueRef; 3], product: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        let int = ty.with_scalar(Scalar::I32);
        // As `magnitude` has powers of two.
        let power = |n: i64| ((n + 1023) as u64) << 21;
        // SAFETY: the magnitudes and the constants are 32-bit integers with as many lanes as the operands.
        unsafe {
            let [x, y, z] = args.map(|a| self.magnitude(ty, a));
            let larger = |x, y| self.intrinsic("llvm.umax", &[self.cx.ty(int)], &[x, y]);
            let n = |bits| self.cx.constant(int, bits);
            // `split` multiplies by 2^27 + 1: below 2^990 that stays finite.
            let too_large = LLVMBuildICmp(b, Int::LLVMIntUGE, larger(larger(x, y), z), n(power(990)), NO_NAME);
            // One comparison for both ends: below 2^-850 the difference wraps to a large number. The end of 2^1020 also
            // finds products of factors below 2^990 that are too large.
            let above = LLVMBuildSub(b, larger(self.magnitude(ty, product), z), n(power(-850)), NO_NAME);
            let outside = LLVMBuildICmp(b, Int::LLVMIntUGE, above, n(power(1020) - power(-850)), NO_NAME);
            LLVMBuildOr(b, too_large, outside, NO_NAME)
        }
    }

    /// The product as a sum of two doubles (Dekker), and the sum of these and the third operand with all but the last
    /// addition exact or rounded to odd (Boldo and Melquiond, as below).
    fn sum_of_three(&self, ty: Type, [x, y, z]: [LLVMValueRef; 3], product: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        // SAFETY: all values are doubles of the type `ty`.
        unsafe {
            let (add, sub) = (|x, y| LLVMBuildFAdd(b, x, y, NO_NAME), |x, y| LLVMBuildFSub(b, x, y, NO_NAME));
            // 2^27 + 1.
            let factor = self.cx.constant(ty, 134_217_729f64.to_bits());
            // Halves of 26 bits.
            let split = |x| {
                let scaled = self.product(x, factor);
                let high = sub(scaled, sub(scaled, x));
                (high, sub(x, high))
            };
            let ((x1, x0), (y1, y0)) = (split(x), split(y));
            // Each step is exact in this order, from the largest part to the smallest: `rest` is the rounding error of
            // `product`.
            let rest = sub(self.product(x1, y1), product);
            let rest = add(add(rest, self.product(x1, y0)), self.product(x0, y1));
            let rest = add(rest, self.product(x0, y0));
            let (small, small_error) = self.exact_sum(z, rest);
            let (large, large_error) = self.exact_sum(product, small);
            add(large, self.odd_sum(ty, small_error, large_error))
        }
    }

    /// Of sums of doubles, whether a float next to each may be wrong because the sum was rounded before: the sum is in
    /// the middle between two floats, or the float denormal. Some sums that would be right are reported too.
    fn rounds_twice(&self, ty: Type, sum: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        let (long, int) = (ty.with_scalar(Scalar::I64), ty.with_scalar(Scalar::I32));
        let n = |bits: u64| self.cx.constant(int, bits);
        // SAFETY: `sum` holds doubles, and `long` and `int` are integers with as many lanes.
        unsafe {
            let bits = LLVMBuildBitCast(b, sum, self.cx.ty(long), NO_NAME);
            let low = LLVMBuildTrunc(b, bits, self.cx.ty(int), NO_NAME);
            // A float has 29 bits less.
            let below = LLVMBuildAnd(b, low, n(0x1fff_ffff), NO_NAME);
            let tie = LLVMBuildICmp(b, Int::LLVMIntEQ, below, n(0x1000_0000), NO_NAME);
            // Below 2^-126, but not zero, which is exact. No sum is a denormal double.
            let less_one = LLVMBuildSub(b, self.magnitude(ty, sum), n(1), NO_NAME);
            let denormal = LLVMBuildICmp(b, Int::LLVMIntULT, less_one, n(0x7020_0000 - 1), NO_NAME);
            LLVMBuildOr(b, tie, denormal, NO_NAME)
        }
    }

    /// A rounded sum and its rounding error (Knuth's TwoSum).
    fn exact_sum(&self, x: LLVMValueRef, y: LLVMValueRef) -> (LLVMValueRef, LLVMValueRef) {
        let b = self.builder.0;
        // SAFETY: `x` and `y` are floats of one type.
        unsafe {
            let sub = |x, y| LLVMBuildFSub(b, x, y, NO_NAME);
            let sum = LLVMBuildFAdd(b, x, y, NO_NAME);
            let t = sub(sum, x);
            (sum, LLVMBuildFAdd(b, sub(x, sub(sum, t)), sub(y, t), NO_NAME))
        }
    }

    /// The sum of two floats or doubles, rounded to odd: if it is not exact, the one of its two neighbours whose last
    /// bit is set. (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using
    /// rounding to odd", 2008.)
    fn odd_sum(&self, ty: Type, p: LLVMValueRef, z: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        let int = ty.with_scalar(int_of(ty.scalar));
        // SAFETY: `p` and `z` are floats of the type `ty`, and `int` has as many bits in as many lanes.
        unsafe {
            let (sum, error) = self.exact_sum(p, z);
            let size = self.intrinsic("llvm.fabs", &[self.cx.ty(ty)], &[error]);
            // Infinities and NaN have an error that is NaN, for which this comparison is false: they stay.
            let inexact = LLVMBuildFCmp(b, Real::LLVMRealOGT, size, LLVMConstNull(self.cx.ty(ty)), NO_NAME);
            let bits = |x| LLVMBuildBitCast(b, x, self.cx.ty(int), NO_NAME);
            let signs = LLVMBuildXor(b, bits(error), bits(sum), NO_NAME);
            let too_large = LLVMBuildICmp(b, Int::LLVMIntSLT, signs, LLVMConstNull(self.cx.ty(int)), NO_NAME);
            self.to_odd(ty, sum, inexact, too_large)
        }
    }

    /// What was rounded to `x`, rounded to odd: if it is not exact and the last bit is clear, the neighbour on the
    /// other side.
    pub fn to_odd(&self, ty: Type, x: LLVMValueRef, inexact: LLVMValueRef, too_large: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        let int = ty.with_scalar(int_of(ty.scalar));
        // Adding the mask `too_large` and setting the bit by `inexact` would be fewer instructions, but LLVM 19 does
        // not terminate on them for AVX-512.
        // SAFETY: `x` holds floats, `int` has as many bits in as many lanes, and the conditions are truth values for
        // the lanes.
        unsafe {
            let one = self.cx.constant(int, 1);
            let bits = LLVMBuildBitCast(b, x, self.cx.ty(int), NO_NAME);
            let low = LLVMBuildAnd(b, bits, one, NO_NAME);
            // The bits of a float are ordered like its magnitude: one more or less is the neighbour, whatever the sign
            // is.
            let even = LLVMBuildICmp(b, Int::LLVMIntEQ, low, LLVMConstNull(self.cx.ty(int)), NO_NAME);
            let (more, less) = (LLVMBuildAdd(b, bits, one, NO_NAME), LLVMBuildSub(b, bits, one, NO_NAME));
            let moved = LLVMBuildSelect(b, too_large, less, more, NO_NAME);
            let move_it = LLVMBuildAnd(b, inexact, even, NO_NAME);
            LLVMBuildBitCast(b, LLVMBuildSelect(b, move_it, moved, bits, NO_NAME), self.cx.ty(ty), NO_NAME)
        }
    }
}
