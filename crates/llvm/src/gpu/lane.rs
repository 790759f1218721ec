//! Lanes of a vector whose index is known at run time only.
//!
//! For such a lane of a vector in memory, LLVM 19 makes one access, `ld.f32 [%r4]`, and forgets the address space:
//! NVPTX takes the address for a generic one, but an address of local, private or constant memory, or of a parameter's
//! bytes, is not generic. A vector in registers is stored, and the lane is loaded from there. On a GPU, where each lane
//! has a register, some selects are faster:
//!
//! ```text
//! extractelement <4 x float> %v, i64 %i     ▸     i & 2 ? (i & 1 ? v3 : v2) : (i & 1 ? v1 : v0)
//! insertelement <2 x float> %v, %x, i64 %i  ▸     { i == 0 ? x : v0, i == 1 ? x : v1 }
//! ```

use super::NO_NAME;
use crate::emit::FunctionCx;
use cloom_ir::Type;
use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntNE};
use llvm_sys::core::*;
use llvm_sys::prelude::*;

impl FunctionCx<'_, '_> {
    /// A lane of a vector of this type. Its index is a constant, or has 64 bits, and is less than the number of lanes.
    pub fn extract_lane(&self, from: Type, vector: LLVMValueRef, lane: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        let number = |n: u64| self.cx.constant(Type::I64, n);
        // SAFETY: `vector` is a vector of the type `from`, and all constant numbers are those of its lanes.
        unsafe {
            if !self.is_chosen(lane) {
                return LLVMBuildExtractElement(b, vector, lane, NO_NAME);
            }
            let lanes = (0..u64::from(from.lanes)).map(|i| LLVMBuildExtractElement(b, vector, number(i), NO_NAME));
            let mut left: Vec<_> = lanes.collect();
            let mut bit = 1;
            while left.len() > 1 {
                // Each bit of the index halves the list: neighbours differ in this bit. That is one comparison for each
                // bit, where comparing with each index would be one for each lane.
                let test = LLVMBuildAnd(b, lane, number(bit), NO_NAME);
                let is_odd = LLVMBuildICmp(b, LLVMIntNE, test, number(0), NO_NAME);
                let choose = |pair: &[LLVMValueRef]| match *pair {
                    [even, odd] => LLVMBuildSelect(b, is_odd, odd, even, NO_NAME),
                    _ => pair[0],
                };
                left = left.chunks(2).map(choose).collect();
                bit *= 2;
            }
            left[0]
        }
    }

    /// A vector of this type with one lane replaced. The index is like that of `extract_lane`.
    pub fn insert_lane(&self, ty: Type, vector: LLVMValueRef, lane: LLVMValueRef, x: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        // SAFETY: `vector` is a vector of the type `ty`, `x` has the type of its lanes, and all constant numbers are
        // those of lanes.
        unsafe {
            if !self.is_chosen(lane) {
                return LLVMBuildInsertElement(b, vector, x, lane, NO_NAME);
            }
            (0..u64::from(ty.lanes)).fold(vector, |to, i| {
                let i = self.cx.constant(Type::I64, i);
                let is_it = LLVMBuildICmp(b, LLVMIntEQ, lane, i, NO_NAME);
                let old = LLVMBuildExtractElement(b, vector, i, NO_NAME);
                LLVMBuildInsertElement(b, to, LLVMBuildSelect(b, is_it, x, old, NO_NAME), i, NO_NAME)
            })
        }
    }

    /// Whether the target is a GPU and the index is known at run time only.
    fn is_chosen(&self, lane: LLVMValueRef) -> bool {
        // SAFETY: `lane` is a value of the live module.
        self.cx.gpu.is_some() && unsafe { LLVMIsConstant(lane) } == 0
    }
}
