//! Offsets of pointers to local and private memory, which have 32 bits.
//!
//! LLVM cuts such an offset to 32 bits, and then leaves out operations that change only its upper bits. But its alias
//! analysis takes the offset for a number of 64 bits that does not wrap (`BasicAA` until LLVM 20, which "[does not
//! decompose past casts with different index width][pr]"):
//!
//! ```text
//! a[min(x, 0x80000001) & 7]      ▸      load a + (min(x, 0x80000001) << 2)
//! ```
//!
//! The offset is 0 or 4. Taken as a number of 64 bits, it lies eight gigabytes before the array. So no load seems to
//! read the stores to the array, and LLVM removes them. This only happens if LLVM knows that a number is far from zero,
//! which it learns from constants. An offset that depends on such a constant is hidden behind an instruction that does
//! nothing.
//!
//! [pr]: https://github.com/llvm/llvm-project/pull/119365

use super::NO_NAME;
use crate::emit::FunctionCx;
use cloom_ir::{Op, Space, Type, Value};
use llvm_sys::core::LLVMBuildTrunc;
use llvm_sys::prelude::*;
use std::collections::HashSet;

/// A constant of at least this magnitude is far from zero: it is more than an index into local or private memory.
const FAR: u32 = 1 << 16;

/// The most values that are looked at. An offset that depends on more may depend on any constant.
const MAX_VALUES: usize = 64;

impl FunctionCx<'_, '_> {
    /// The offset to add to a pointer of this type.
    pub fn offset_for(&self, pointer: Type, by: Value) -> LLVMValueRef {
        let value = self.value(by);
        let is_short = self.cx.gpu.is_some() && matches!(pointer.space(), Some(Space::Local | Space::Private));
        if !is_short || self.func.const_bits(by).is_some() || !self.may_be_far(by) {
            return value;
        }
        let ty = self.cx.ty(Type::I32);
        // SAFETY: `value` is an offset, which is an integer of 64 bits.
        let low = unsafe { LLVMBuildTrunc(self.builder.0, value, ty, NO_NAME) };
        self.assembly_with("mov.b32 $0, $1;", "=r,r", ty, &[low], false)
    }

    /// Whether a number may depend on a constant that is far from zero. The constant may be in memory.
    fn may_be_far(&self, v: Value) -> bool {
        let (mut left, mut seen) = (vec![v], HashSet::new());
        while let Some(v) = left.pop() {
            let inst = self.func.def_inst(v).filter(|_| seen.insert(v));
            let Some(data) = inst.map(|i| &self.func.insts[i]) else { continue };
            match data.op {
                Op::Const(bits) if (bits as i32).unsigned_abs() >= FAR => return true,
                Op::GlobalAddr(g) if self.cx.module.globals[g].space == Space::Constant => return true,
                // The number may come from a table of constants, to which the address leads.
                Op::Load { .. } => left.push(data.args[0]),
                ref op if op.is_pure() => left.extend(&data.args),
                _ => {}
            }
            if seen.len() >= MAX_VALUES {
                return true;
            }
        }
        false
    }
}
