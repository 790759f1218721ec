//! Operations for which the hardware has instructions that LLVM does not choose by itself.

use super::NO_NAME;
use crate::Error;
use crate::emit::FunctionCx;
use cloom_ir::float_range::{Bounds, bounds, is_lost_if_small};
use cloom_ir::{BinOp, CastOp, Flags, InstData, Op, Scalar, Type, UnOp, Value};
use llvm_sys::LLVMRealPredicate;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

impl FunctionCx<'_, '_> {
    /// An operation for which a GPU has an instruction of its own; `None` for the others.
    pub fn gpu_math(&self, data: &InstData, ty: Type) -> Result<Option<LLVMValueRef>, Error> {
        let arg = |i: usize| self.value(data.args[i]);
        let from = data.args.first().map_or(ty, |&a| self.func.ty(a));
        let is_f32 = ty.scalar == Scalar::F32;
        let is_near = data.flags.intersects(Flags::FPMATH | Flags::AFN);
        Ok(Some(match data.op {
            Op::Unary(UnOp::RsqrtNear) => self.approximate("llvm.nvvm.rsqrt.approx.ftz.f", ty, arg(0)),
            Op::Unary(UnOp::RecipNear) => self.approximate("llvm.nvvm.rcp.approx.ftz.f", ty, arg(0)),
            Op::Unary(UnOp::Exp2Near) => self.approximate("llvm.nvvm.ex2.approx.ftz.f", ty, arg(0)),
            Op::Unary(UnOp::Log2Near) => self.approximate("llvm.nvvm.lg2.approx.ftz.f", ty, arg(0)),
            Op::Unary(UnOp::SinNear) => self.approximate("llvm.nvvm.sin.approx.ftz.f", ty, arg(0)),
            Op::Unary(UnOp::CosNear) => self.approximate("llvm.nvvm.cos.approx.ftz.f", ty, arg(0)),
            // The reciprocal of a square root, within 1 ULP; denormals count.
            Op::Binary(BinOp::Fdiv) if is_f32 && is_near && self.is_one(data.args[0]) => {
                match self.near_root(data.args[1]) {
                    Some(root) if self.is_normal(root) => {
                        self.approximate("llvm.nvvm.rsqrt.approx.ftz.f", ty, self.value(root))
                    }
                    Some(root) => self.each_lane(ty, &[self.value(root)], |a| {
                        self.pure_assembly("rsqrt.approx.f32 $0, $1;", "=f,f", a)
                    }),
                    None if self.has_normal_reciprocal(data.args[1]) => {
                        self.approximate("llvm.nvvm.rcp.approx.ftz.f", ty, arg(1))
                    }
                    None => self.each_lane(ty, &[arg(1)], |a| self.pure_assembly("rcp.approx.f32 $0, $1;", "=f,f", a)),
                }
            }
            // Full range, at most 2 ULP off; denormals count.
            Op::Binary(BinOp::Fdiv) if is_f32 && is_near => {
                let fast = data.flags.contains(Flags::ARCP | Flags::AFN);
                let text = if fast { "div.approx.f32 $0, $1, $2;" } else { "div.full.f32 $0, $1, $2;" };
                self.each_lane(ty, &[arg(0), arg(1)], |a| self.pure_assembly(text, "=f,f,f", a))
            }
            // At most 1 ULP off.
            Op::Unary(UnOp::Sqrt) if is_f32 && is_near => {
                // A flushed denormal changes the result only if the root is used as a small number: the root of a
                // denormal is less than 2^-63.
                let is_lost = || data.result.is_some_and(|root| is_lost_if_small(self.func, root));
                let ftz = if self.is_normal(data.args[0]) || is_lost() { ".ftz" } else { "" };
                self.approximate(&format!("llvm.nvvm.sqrt.approx{ftz}.f"), ty, arg(0))
            }
            // `min` and `max` return the number if the other operand is NaN, and order -0 below +0.
            Op::Binary(op @ (BinOp::Fmin | BinOp::Fmax)) if matches!(ty.scalar, Scalar::F32 | Scalar::F64) => {
                let name = if op == BinOp::Fmin { "llvm.minnum" } else { "llvm.maxnum" };
                self.intrinsic(name, &[self.cx.ty(ty)], &[arg(0), arg(1)])
            }
            // The instruction clamps, but the LLVM operation that selects it is poison where it would clamp. The
            // instruction makes 0 of a NaN of 32 bits, and the farthest number of a NaN of 64 bits.
            Op::Cast(op @ (CastOp::FtoS | CastOp::FtoU))
                if ty.scalar == Scalar::I32 && matches!(from.scalar, Scalar::F32 | Scalar::F64) =>
            {
                let to = if op == CastOp::FtoS { "s32" } else { "u32" };
                let (of, class) = if from.scalar == Scalar::F32 { ("f32", "f") } else { ("f64", "d") };
                let (text, constraints) = (format!("cvt.rzi.{to}.{of} $0, $1;"), format!("=r,{class}"));
                let int = self.cx.ty(Type::I32);
                let clamped = self.each_lane(ty, &[arg(0)], |a| self.assembly_with(&text, &constraints, int, a, false));
                match from.scalar {
                    Scalar::F64 => self.unless_nan(arg(0), clamped),
                    _ => clamped,
                }
            }
            Op::Cast(CastOp::Space) => self.space_cast(from, ty, arg(0)),
            Op::Cast(CastOp::SpaceOf) => self.space_of(ty, arg(0)),
            _ => return Ok(None),
        }))
    }

    /// `result` where `x` is a number, and 0 where it is not.
    fn unless_nan(&self, x: LLVMValueRef, result: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        // SAFETY: the result has a lane for each of the floats.
        unsafe {
            let is_number = LLVMBuildFCmp(b, LLVMRealPredicate::LLVMRealORD, x, x, NO_NAME);
            LLVMBuildSelect(b, is_number, result, LLVMConstNull(LLVMTypeOf(result)), NO_NAME)
        }
    }

    /// Whether a value is 1 in all lanes.
    fn is_one(&self, v: Value) -> bool {
        self.func.const_bits(v) == Some(1f32.to_bits().into())
    }

    /// The operand of a square root that need not be correctly rounded, if the value is such a root.
    fn near_root(&self, v: Value) -> Option<Value> {
        let data = &self.func.insts[self.func.def_inst(v)?];
        let is_near = data.flags.intersects(Flags::FPMATH | Flags::AFN);
        (data.op == Op::Unary(UnOp::Sqrt) && is_near).then(|| data.args[0])
    }

    /// Whether a float is never so small that an instruction which flushes denormals would be wrong.
    fn is_normal(&self, v: Value) -> bool {
        bounds(self.func, v).least >= f64::from(f32::MIN_POSITIVE)
    }

    /// Whether neither a float nor its reciprocal is a denormal.
    fn has_normal_reciprocal(&self, v: Value) -> bool {
        let Bounds { least, most } = bounds(self.func, v);
        least >= f64::from(f32::MIN_POSITIVE) && most <= 1.0 / f64::from(f32::MIN_POSITIVE)
    }

    /// An instruction on floats that only computes.
    fn pure_assembly(&self, text: &str, constraints: &str, args: &[LLVMValueRef]) -> LLVMValueRef {
        self.assembly_with(text, constraints, self.cx.ty(Type::F32), args, false)
    }

    /// An approximation of `f32`.
    fn approximate(&self, name: &str, ty: Type, x: LLVMValueRef) -> LLVMValueRef {
        self.each_lane(ty, &[x], |a| self.nvvm(name, a))
    }

    /// The bits of a value of at most 64 bits, as an integer of that width.
    pub fn bits_of(&self, ty: Type, v: LLVMValueRef) -> LLVMValueRef {
        let int = self.cx.ty(ty.with_scalar(crate::ops::int_of(ty.scalar)));
        // SAFETY: `int` has as many bits as the type of `v`.
        unsafe { LLVMBuildBitCast(self.builder.0, v, int, NO_NAME) }
    }
}
