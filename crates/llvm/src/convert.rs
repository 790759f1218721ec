//! Conversion of vectors of floats to integers, saturating, NaN to zero.
//!
//! LLVM's saturating conversions take vectors apart, lane by lane with two comparisons each. Written out here: the
//! float is brought into the range of the integer first, NaN to zero, where the conversion is an instruction.

use crate::emit::FunctionCx;
use cloom_ir::{Scalar, Type, eval};
use llvm_sys::LLVMRealPredicate as Real;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

impl FunctionCx<'_, '_> {
    /// Lanes of floats or doubles to integers: toward zero, saturating, NaN to zero.
    pub fn saturate(&self, signed: bool, from: Type, to: Type, x: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        let (float, bits) = (from.scalar, to.scalar.bits());
        // The bounds are the integer's smallest number and one more than its largest, which are floats.
        let (low, end) = if signed {
            (-(2f64.powi(bits as i32 - 1)), 2f64.powi(bits as i32 - 1))
        } else {
            (0.0, 2f64.powi(bits as i32))
        };
        let number = |x: f64| self.cx.constant(from, eval::from_f64(float, x));
        // Short integers by way of those of 32 bits.
        let by = if bits < 32 { to.with_scalar(Scalar::I32) } else { to };
        let convert = |x| {
            // SAFETY: `x` holds floats, and `by` is an integer type with as many lanes.
            unsafe {
                match signed || bits < 32 {
                    true => LLVMBuildFPToSI(b, x, self.cx.ty(by), NO_NAME),
                    false => LLVMBuildFPToUI(b, x, self.cx.ty(by), NO_NAME),
                }
            }
        };
        // SAFETY: `x` and the constants have the type `from`, and the converted values have the type `by`.
        unsafe {
            let compare = |p, y| LLVMBuildFCmp(b, p, x, y, NO_NAME);
            // Above zero, which NaN is not; or NaN made zero, then above the smallest.
            let x = if signed {
                LLVMBuildSelect(b, compare(Real::LLVMRealORD, number(0.0)), x, number(0.0), NO_NAME)
            } else {
                x
            };
            let above = LLVMBuildFCmp(b, Real::LLVMRealOGT, x, number(low), NO_NAME);
            let x = LLVMBuildSelect(b, above, x, number(low), NO_NAME);
            // `convert_int_sat(float)`: 2^31 - 1 is no float. Rounded to one it would be 2^31, which the conversion
            // does not take, so that the largest integer is selected after it.
            let digits = if float == Scalar::F32 { 24 } else { 53 };
            if bits <= digits {
                // The largest number is a float too.
                let below = LLVMBuildFCmp(b, Real::LLVMRealOLT, x, number(end - 1.0), NO_NAME);
                let x = LLVMBuildSelect(b, below, x, number(end - 1.0), NO_NAME);
                let whole = convert(x);
                return if by == to { whole } else { LLVMBuildTrunc(b, whole, self.cx.ty(to), NO_NAME) };
            }
            let below = LLVMBuildFCmp(b, Real::LLVMRealOLT, x, number(end), NO_NAME);
            let whole = convert(LLVMBuildSelect(b, below, x, number(0.0), NO_NAME));
            let largest = if signed { to.scalar.mask() >> 1 } else { to.scalar.mask() };
            LLVMBuildSelect(b, below, whole, self.cx.constant(to, largest), NO_NAME)
        }
    }
}
