//! One by a square root, where multiplications are much faster than roots and quotients.
//!
//! In go floats of any number of lanes; out come the very bits of `1.0f / sqrt(x)`, so that results do not depend on the machine. A step
//! of Newton's method from the processor's estimate (14 bits) gives y, about one by the root; then s = xy + (x - (xy)²) y/2 is the root,
//! rounded correctly, and y + y (1 - sy) the quotient of one and s: P. Markstein, Computation of elementary functions on the IBM RISC
//! System/6000 processor, IBM J. Res. Dev. 34 (1990). Powers of four only change the exponents, so that the 2²⁴ numbers from 2 to 8 stand
//! for all; the tests try them. The quotient is wrong where the mantissa of x is all ones and that of s with it. Vectors with such lanes,
//! or with zeros, infinities, NaN, negative or very small ones, where products would be denormal, take the root and the quotient.
//!
//! It takes eleven operations in place of an instruction of 20 cycles and one of 16, on vectors of 512 bits of Intel's processors: n-body,
//! 1.4 to 1.8 times as fast. On Zen 5, which takes roots and quotients meanwhile, it is slower.

use crate::emit::FunctionCx;
use crate::target::Level;
use cloom_ir::{BinOp, Op, Scalar, Type, UnOp, Value};
use llvm_sys::LLVMIntPredicate;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

/// The bits of 2⁻⁹⁶, the least number, and of infinity.
const LEAST: u64 = 31 << MANTISSA;
const INFINITY: u64 = 255 << MANTISSA;
const MANTISSA: u32 = 23;

impl FunctionCx<'_, '_> {
    /// Of what a quotient is one by the root, if it is worth another way.
    pub fn root_below_one(&self, ty: Type, x: Value, y: Value) -> Option<LLVMValueRef> {
        let worth = self.cx.intel && self.cx.level == Level::V4 && ty.scalar == Scalar::F32 && ty.lanes >= 4;
        if !worth || self.func.const_bits(x) != Some(1f32.to_bits().into()) {
            return None;
        }
        let root = &self.func.insts[self.func.def_inst(y)?];
        (root.op == Op::Unary(UnOp::Sqrt)).then(|| self.value(root.args[0]))
    }

    /// One by the root of each lane.
    pub fn one_by_root(&self, ty: Type, x: LLVMValueRef) -> LLVMValueRef {
        let (b, llvm) = (self.builder.0, self.cx.ty(ty));
        let float = |v: f32| self.cx.constant(ty, v.to_bits().into());
        let ints = ty.with_scalar(Scalar::I32);
        let int = |v: u64| self.cx.constant(ints, v);
        let fma = |x, y, z| self.intrinsic("llvm.fma", &[llvm], &[x, y, z]);
        let times = |x, y| self.arithmetic(BinOp::Fmul, x, y);
        let minus = |x| self.unary(UnOp::Fneg, ty, x);
        // SAFETY: (and in all of this file) operands are translated values of the types that the verifier checked; each block that is
        // made here ends with a branch or is where the builder stays.
        unsafe {
            let block =
                |name: &std::ffi::CStr| LLVMAppendBasicBlockInContext(self.cx.context, self.llvm, name.as_ptr());
            let [usual, rare, join] = [c"root", c"root.rare", c"root.end"].map(block);
            let bits = LLVMBuildBitCast(b, x, self.cx.ty(ints), NO_NAME);
            let above = LLVMBuildSub(b, bits, int(LEAST), NO_NAME);
            let outside = LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntUGE, above, int(INFINITY - LEAST), NO_NAME);
            let ones = (1 << MANTISSA) - 1;
            let mantissa = LLVMBuildAnd(b, bits, int(ones), NO_NAME);
            let full = LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntEQ, mantissa, int(ones), NO_NAME);
            let not = LLVMBuildOr(b, outside, full, NO_NAME);
            LLVMBuildCondBr(b, self.any(ty.with_scalar(Scalar::I1), not), rare, usual);

            LLVMPositionBuilderAtEnd(b, usual);
            let near = self.near(UnOp::RsqrtNear, ty, x);
            let error = fma(minus(times(x, near)), near, float(1.0));
            let y = fma(times(near, float(0.5)), error, near);
            let s = times(x, y);
            let s = fma(fma(minus(s), s, x), times(y, float(0.5)), s);
            let mut quick = fma(y, fma(minus(s), y, float(1.0)), y);
            LLVMBuildBr(b, join);

            LLVMPositionBuilderAtEnd(b, rare);
            let mut exact = self.arithmetic(BinOp::Fdiv, float(1.0), self.unary(UnOp::Sqrt, ty, x));
            LLVMBuildBr(b, join);

            LLVMPositionBuilderAtEnd(b, join);
            let result = LLVMBuildPhi(b, llvm, NO_NAME);
            let (mut from_usual, mut from_rare) = (usual, rare);
            LLVMAddIncoming(result, &mut quick, &mut from_usual, 1);
            LLVMAddIncoming(result, &mut exact, &mut from_rare, 1);
            result
        }
    }
}
