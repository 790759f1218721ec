//! Reports of refused accesses: the first one takes the record and fills it ([`cloom_ir::abi::report`]).
//!
//! They stand in branches that are seldom taken, and code generation is told so: their blocks go to the end of the
//! function, and the registers of the others are not spilled for them.

use crate::emit::FunctionCx;
use cloom_ir::abi::report;
use cloom_ir::{Block, Edge, InstData, Op, Space, Type};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMIntPredicate};

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

impl FunctionCx<'_, '_> {
    /// Fills a record, if nobody has taken it.
    pub fn report(&mut self, data: &InstData) -> LLVMValueRef {
        let (i32, global) = (self.cx.ty(Type::I32), self.cx.ty(Type::ptr(Space::Global)));
        let word = |n: u64| self.cx.constant(Type::I32, n);
        let b = self.builder.0;
        // SAFETY: the launcher gives the kernel memory for all records. Each new block ends with a branch, or the
        // builder stays in it.
        unsafe {
            let record = LLVMBuildIntToPtr(b, self.value(data.args[0]), global, NO_NAME);
            let block = |name| self.new_block(name);
            let (take, write, end) = (block(c"report.take"), block(c"report.write"), block(c"report.end"));
            let is_zero = |v| LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntEQ, v, word(0), NO_NAME);
            // A kernel that is wrong a billion times takes a load each time, and not a locked instruction.
            let taken = LLVMBuildLoad2(b, i32, record, NO_NAME);
            LLVMSetVolatile(taken, 1);
            LLVMBuildCondBr(b, is_zero(taken), take, end);
            LLVMPositionBuilderAtEnd(b, take);
            let exchange = LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXchg;
            let relaxed = LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
            let old = LLVMBuildAtomicRMW(b, exchange, record, word(1), relaxed, 0);
            LLVMBuildCondBr(b, is_zero(old), write, end);
            LLVMPositionBuilderAtEnd(b, write);
            for (n, &arg) in data.args[1..].iter().enumerate() {
                let at = self.offset(record, self.cx.constant(Type::I64, report::FIRST_WORD + 8 * n as u64));
                LLVMSetAlignment(LLVMBuildStore(b, self.value(arg), at), 8);
            }
            LLVMBuildBr(b, end);
            LLVMPositionBuilderAtEnd(b, end);
        }
        std::ptr::null_mut()
    }

    /// Whether a block reports a refused access.
    fn reports(&self, block: Block) -> bool {
        self.func.blocks[block].insts.iter().any(|&i| self.func.insts[i].op == Op::Report)
    }

    /// Tells code generation that a branch seldom goes to a report.
    pub fn weigh_reports(&self, branch: LLVMValueRef, then: &Edge, els: &Edge) {
        match (self.reports(then.block), self.reports(els.block)) {
            (true, false) => self.seldom(branch, true),
            (false, true) => self.seldom(branch, false),
            _ => {}
        }
    }

    /// Branch weights: the first target is the unlikely one, or the second.
    pub fn seldom(&self, branch: LLVMValueRef, first: bool) {
        let cx = self.cx.context;
        // SAFETY: names are given with their lengths; the branch is an instruction of this context.
        unsafe {
            let name = "branch_weights";
            let weight = |seldom| {
                LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(cx), if seldom { 1 } else { 1000 }, 0))
            };
            let mut parts =
                [LLVMMDStringInContext2(cx, name.as_ptr().cast(), name.len()), weight(first), weight(!first)];
            let node = LLVMMDNodeInContext2(cx, parts.as_mut_ptr(), parts.len());
            let kind = LLVMGetMDKindIDInContext(cx, c"prof".as_ptr(), 4);
            LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(cx, node));
        }
    }
}
