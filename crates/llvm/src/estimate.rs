//! Approximate reciprocals and reciprocal square roots, by the processor's estimate instructions.
//!
//! Input: a float vector of any length. Output: the reciprocal (root) with a relative error of at most 1.5 · 2⁻¹² (2⁻¹⁴
//! with AVX-512). One instruction replaces a square root and a division, which share one slow unit of a processor.
//! There is no Newton step after it, which would double the number of correct bits: it needs four multiplications and a
//! select for zeros and infinities, and on Zen 3 took longer than root and division. (On a Xeon it took half as long,
//! but the bits differ between machines; a form of eleven operations with the same bits everywhere took as long as root
//! and division.) Zeros, infinities and NaN have exact results; denormal operands count as zeros, except with AVX-512.

use crate::emit::FunctionCx;
use cloom_ir::{BinOp, Scalar, Type, UnOp};
use cloom_target::Architecture;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

impl FunctionCx<'_, '_> {
    /// An estimate of 1/x, or of 1/√x.
    pub fn near(&self, op: UnOp, ty: Type, x: LLVMValueRef) -> LLVMValueRef {
        let root = op == UnOp::RsqrtNear;
        if self.cx.target.architecture() == Architecture::X86_64 {
            return self.estimate(root, ty, x);
        }
        // NEON's estimates have eight bits; the Newton steps that they need take as long as the exact operation.
        let one = self.cx.constant(ty, 1f32.to_bits().into());
        let by = if root { self.unary(UnOp::Sqrt, ty, x) } else { x };
        self.arithmetic(BinOp::Fdiv, one, by)
    }

    /// The processor's estimate, in registers as wide as the vector, up to the widest.
    fn estimate(&self, root: bool, ty: Type, x: LLVMValueRef) -> LLVMValueRef {
        let widest = (self.cx.target.features().vector_bits / 32) as u16;
        // The smallest register has four floats; a shorter vector fills a part of one.
        let piece = ty.lanes.next_power_of_two().clamp(4, widest);
        let of_piece = Type::vector(Scalar::F32, piece);
        let lanes = ty.lanes;
        // SAFETY: `x` is a float or a vector of floats, and the numbers of all shuffles are those of lanes of their
        // operands.
        unsafe {
            if !ty.is_vector() {
                let poison = LLVMGetPoison(self.cx.ty(of_piece));
                let at = self.cx.constant(Type::I32, 0);
                let wide = LLVMBuildInsertElement(self.builder.0, poison, x, at, NO_NAME);
                return LLVMBuildExtractElement(self.builder.0, self.estimate_piece(root, piece, wide), at, NO_NAME);
            }
            if lanes == piece {
                return self.estimate_piece(root, piece, x);
            }
            // Lanes beyond the last repeat it.
            let (count, piece_lanes) = (u32::from(lanes), u32::from(piece));
            let mut sum = LLVMGetPoison(self.cx.ty(ty));
            for first in (0..count).step_by(piece.into()) {
                let part = (first..first + piece_lanes).map(|l| l.min(count - 1));
                let y = self.estimate_piece(root, piece, self.pick(x, x, part));
                // First padded to the whole length: both operands of a shuffle have one length.
                let y = self.pick(y, y, (0..count).map(|l| l.saturating_sub(first).min(piece_lanes - 1)));
                let here = first..first + piece_lanes;
                sum = self.pick(sum, y, (0..count).map(|l| if here.contains(&l) { count + l } else { l }));
            }
            sum
        }
    }

    fn estimate_piece(&self, root: bool, lanes: u16, x: LLVMValueRef) -> LLVMValueRef {
        if self.cx.target.features().vector_bits < 512 {
            let name = match (root, lanes) {
                (true, 8) => "llvm.x86.avx.rsqrt.ps.256",
                (false, 8) => "llvm.x86.avx.rcp.ps.256",
                (true, _) => "llvm.x86.sse.rsqrt.ps",
                (false, _) => "llvm.x86.sse.rcp.ps",
            };
            return self.intrinsic(name, &[], &[x]);
        }
        let name = match (root, lanes) {
            (true, 16) => "llvm.x86.avx512.rsqrt14.ps.512",
            (false, 16) => "llvm.x86.avx512.rcp14.ps.512",
            (true, 8) => "llvm.x86.avx512.rsqrt14.ps.256",
            (false, 8) => "llvm.x86.avx512.rcp14.ps.256",
            (true, _) => "llvm.x86.avx512.rsqrt14.ps.128",
            (false, _) => "llvm.x86.avx512.rcp14.ps.128",
        };
        // The mask has all lanes on, so the pass-through operand does not matter.
        let mask = Type { lanes: 1, scalar: if lanes == 16 { Scalar::I16 } else { Scalar::I8 } };
        let all = self.cx.constant(mask, mask.scalar.mask());
        self.intrinsic(name, &[], &[x, x, all])
    }
}
