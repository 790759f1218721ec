//! printf into a buffer: each call writes a record, which the launcher reads after the launch. The layout is that of
//! [`cloom_ir::abi::gpu`].

use super::NO_NAME;
use crate::Error;
use crate::emit::FunctionCx;
use cloom_ir::abi::{self, gpu};
use cloom_ir::{Entity, InstData, Scalar, Space, StrRef, Type, Value};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMIntPredicate};

impl FunctionCx<'_, '_> {
    /// Writes a record, if there is room.
    pub fn print_record(&mut self, data: &InstData, format: StrRef) -> Result<LLVMValueRef, Error> {
        let Some((&item, args)) = data.args.split_first() else {
            return Err(Error::Internal("printf without a work-item".into()));
        };
        let (offsets, size) = abi::printf_layout(args.iter().map(|&a: &Value| self.func.ty(a)));
        let record = gpu::RECORD_ARGS + u64::from(size);
        let n64 = |n: u64| self.cx.constant(Type::I64, n);
        let n32 = |n: u64| self.cx.constant(Type::I32, n);
        // SAFETY: the buffer has the layout that `cloom_ir::abi::gpu` fixes, and records are written only where there
        // is room. Each new block ends with a branch, or the builder stays in it.
        unsafe {
            let b = self.builder.0;
            let i32 = self.cx.ty(Type::I32);
            let buffer = self.descriptor(gpu::PRINT, Type::ptr(Space::Global));
            let at = |base, by: u64| self.offset(base, n64(by));
            let block = |name| self.new_block(name);
            let (reserve, write, end) = (block(c"print"), block(c"print.write"), block(c"print.end"));
            let capacity = LLVMBuildLoad2(b, i32, at(buffer, gpu::PRINT_CAPACITY), NO_NAME);
            // If the buffer is full, nothing is added to the count, so that it cannot wrap.
            let used = LLVMBuildLoad2(b, i32, at(buffer, gpu::PRINT_USED), NO_NAME);
            LLVMSetVolatile(used, 1);
            let is_open = LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntULE, used, capacity, NO_NAME);
            LLVMBuildCondBr(b, is_open, reserve, end);
            LLVMPositionBuilderAtEnd(b, reserve);
            let begin = LLVMBuildAtomicRMW(
                b,
                LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAdd,
                at(buffer, gpu::PRINT_USED),
                n32(record),
                LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic,
                0,
            );
            // With 64 bits, the end of the record does not wrap.
            let wide = |v| LLVMBuildZExt(b, v, self.cx.ty(Type::I64), NO_NAME);
            let begin = wide(begin);
            let fits = LLVMBuildICmp(
                b,
                LLVMIntPredicate::LLVMIntULE,
                LLVMBuildAdd(b, begin, n64(record), NO_NAME),
                wide(capacity),
                NO_NAME,
            );
            // A record that does not fit has raised the count nevertheless: the launcher sees by it that something is
            // missing, and later calls see a full buffer.
            LLVMBuildCondBr(b, fits, write, end);
            LLVMPositionBuilderAtEnd(b, write);
            let place = self.offset(at(buffer, gpu::PRINT_RECORDS), begin);
            let store = |value, by: u64, align: u32| {
                LLVMSetAlignment(LLVMBuildStore(b, value, at(place, by)), align);
            };
            store(n32(format.index() as u64), gpu::RECORD_FORMAT, 4);
            store(n32(u64::from(size)), gpu::RECORD_SIZE, 4);
            store(self.value(item), gpu::RECORD_ITEM, 8);
            for (&arg, offset) in args.iter().zip(offsets) {
                let value = match self.func.ty(arg).scalar {
                    Scalar::Ptr(_) => LLVMBuildPtrToInt(b, self.value(arg), self.cx.ty(Type::I64), NO_NAME),
                    _ => self.value(arg),
                };
                store(value, gpu::RECORD_ARGS + u64::from(offset), 8);
            }
            LLVMBuildBr(b, end);
            LLVMPositionBuilderAtEnd(b, end);
        }
        Ok(std::ptr::null_mut())
    }
}
