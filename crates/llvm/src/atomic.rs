//! Atomic operations and fences.
//!
//! In: an instruction and the memory order it has. Out: LLVM's instruction where the target has one that does as the
//! specification says, and else a loop around a compare-and-exchange.

use crate::emit::FunctionCx;
use crate::ops::int_of;
use cloom_ir::{BinOp, Flags, InstData, Op, Order, RmwOp, Scalar, Space, Type};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMRealPredicate};

/// 2^-101: see `gpu_float_sum`.
const LEAST_EXACT_SUMMAND: f32 = f32::from_bits((127 - 101) << 23);

/// The kind of access that an order is for: not every order is valid for each.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Load,
    Store,
    ReadWrite,
}

fn ordering(order: Order, access: Access) -> LLVMAtomicOrdering {
    use LLVMAtomicOrdering::*;
    match (order, access) {
        (Order::Relaxed, _) => LLVMAtomicOrderingMonotonic,
        (Order::SeqCst, _) => LLVMAtomicOrderingSequentiallyConsistent,
        (Order::Acquire | Order::AcqRel, Access::Load) => LLVMAtomicOrderingAcquire,
        (Order::Release | Order::AcqRel, Access::Store) => LLVMAtomicOrderingRelease,
        (Order::Release, Access::Load) | (Order::Acquire, Access::Store) => LLVMAtomicOrderingMonotonic,
        (Order::Acquire, _) => LLVMAtomicOrderingAcquire,
        (Order::Release, _) => LLVMAtomicOrderingRelease,
        (Order::AcqRel, _) => LLVMAtomicOrderingAcquireRelease,
    }
}

/// Whether the operand of a minimum or maximum replaces the old value, as a comparison of the two.
fn predicate(op: RmwOp) -> LLVMIntPredicate {
    match op {
        RmwOp::Smin => LLVMIntPredicate::LLVMIntSLT,
        RmwOp::Smax => LLVMIntPredicate::LLVMIntSGT,
        RmwOp::Umin => LLVMIntPredicate::LLVMIntULT,
        _ => LLVMIntPredicate::LLVMIntUGT,
    }
}

impl FunctionCx<'_, '_> {
    /// Whether only this thread can access the memory of an atomic operation: local memory, as one thread runs a group,
    /// and on a GPU private memory, on which it has no atomic instructions. Then no locked instruction is needed, and
    /// program order is enough.
    fn is_own(&self, data: &InstData) -> bool {
        let (p, x) = (self.func.ty(data.args[0]), data.args.get(1).map(|&x| self.func.ty(x).scalar));
        match self.cx.gpu {
            Some(_) => p.space() == Some(Space::Private),
            None => p.space() == Some(Space::Local) && x != Some(Scalar::F16),
        }
    }

    /// Atomic read-modify-write; returns the old value.
    fn own_rmw(&self, data: &InstData, op: RmwOp) -> LLVMValueRef {
        let ty = self.func.ty(data.args[1]);
        let x = self.value(data.args[1]);
        let old = self.plain_load(data, ty, ty.bytes());
        let named = |name: &str| self.intrinsic(name, &[self.cx.ty(ty)], &[old, x]);
        // SAFETY: `old` and `x` have one type, for which the verifier allows the operation.
        let new = unsafe {
            let b = self.builder.0;
            match op {
                RmwOp::Xchg => x,
                RmwOp::Add => LLVMBuildAdd(b, old, x, c"".as_ptr()),
                RmwOp::Sub => LLVMBuildSub(b, old, x, c"".as_ptr()),
                RmwOp::And => LLVMBuildAnd(b, old, x, c"".as_ptr()),
                RmwOp::Or => LLVMBuildOr(b, old, x, c"".as_ptr()),
                RmwOp::Xor => LLVMBuildXor(b, old, x, c"".as_ptr()),
                RmwOp::Smin => named("llvm.smin"),
                RmwOp::Smax => named("llvm.smax"),
                RmwOp::Umin => named("llvm.umin"),
                RmwOp::Umax => named("llvm.umax"),
                RmwOp::Fadd => self.arithmetic(BinOp::Fadd, old, x),
                RmwOp::Fmin | RmwOp::Fmax => self.extremum(op == RmwOp::Fmin, ty, old, x),
            }
        };
        self.own_store(data, ty, new);
        old
    }

    fn own_store(&self, data: &InstData, ty: Type, x: LLVMValueRef) {
        // SAFETY: the first operand is a pointer, `x` is a value of the live module, and `store` is the instruction
        // that was just made.
        unsafe {
            let store = LLVMBuildStore(self.builder.0, x, self.value(data.args[0]));
            LLVMSetAlignment(store, ty.bytes());
            LLVMSetVolatile(store, i32::from(data.flags.contains(Flags::VOLATILE)));
        }
    }

    /// A minimum or maximum that no other memory access is ordered by. It mostly leaves memory as it is: then a load
    /// tells the old value, and neither a locked instruction nor the cache line of another processor is needed. (The
    /// maxima of a million numbers in 1024 buckets: 1.3 ms, before that 5.1.)
    fn relaxed_extremum(&self, data: &InstData, op: RmwOp) -> LLVMValueRef {
        let ty = self.func.ty(data.args[1]);
        let (x, b) = (self.value(data.args[1]), self.builder.0);
        // SAFETY: the comparison and the phi have values of one type. Each new block ends with a branch, or the builder
        // stays in it.
        unsafe {
            let seen = self.atomic_load(data, ty, Order::Relaxed);
            let changes = LLVMBuildICmp(b, predicate(op), x, seen, c"".as_ptr());
            let block = |name| self.new_block(name);
            let (from, change, join) = (LLVMGetInsertBlock(b), block(c"extremum"), block(c"extremum.end"));
            LLVMBuildCondBr(b, changes, change, join);
            LLVMPositionBuilderAtEnd(b, change);
            let old = self.locked_rmw(data, op, Order::Relaxed);
            LLVMBuildBr(b, join);
            LLVMPositionBuilderAtEnd(b, join);
            let result = LLVMBuildPhi(b, self.cx.ty(ty), c"".as_ptr());
            // The load is the operation where memory stays as it is. Where it would change, another thread may have
            // been in between: the result is what the instruction found.
            LLVMAddIncoming(result, [seen, old].as_mut_ptr(), [from, change].as_mut_ptr(), 2);
            result
        }
    }

    /// A read-modify-write of a float, by compare and exchange, with what `new` makes of the old value. One that no
    /// other access is ordered by does not write where memory stays as it is, like `relaxed_extremum`.
    fn float_rmw(&self, data: &InstData, order: Order, new: impl FnOnce(LLVMValueRef) -> LLVMValueRef) -> LLVMValueRef {
        let ty = self.func.ty(data.args[1]);
        let (float, int) = (self.cx.ty(ty), self.cx.ty(ty.with_scalar(int_of(ty.scalar))));
        let (p, b) = (self.value(data.args[0]), self.builder.0);
        // The order as written: on a GPU `order` is relaxed, with fences around.
        let is_relaxed = matches!(data.op, Op::AtomicRmw { order: Order::Relaxed, .. });
        let may_skip = is_relaxed && !data.flags.contains(Flags::VOLATILE);
        // SAFETY: `int` has as many bits as `float`, and both phis have one incoming value for each predecessor. Each
        // new block ends with a branch, or the builder stays in it.
        unsafe {
            // As integers: LLVM's compare-and-exchange takes no floats, and a comparison of NaN would never be equal.
            let seen = LLVMBuildBitCast(b, self.atomic_load(data, ty, Order::Relaxed), int, c"".as_ptr());
            let block = |name| self.new_block(name);
            let (from, again, end) = (LLVMGetInsertBlock(b), block(c"update"), block(c"update.end"));
            LLVMBuildBr(b, again);
            LLVMPositionBuilderAtEnd(b, again);
            let old = LLVMBuildPhi(b, int, c"".as_ptr());
            let new = new(LLVMBuildBitCast(b, old, float, c"".as_ptr()));
            let new = LLVMBuildBitCast(b, new, int, c"".as_ptr());
            let exchange = if may_skip { block(c"update.exchange") } else { again };
            if may_skip {
                let is_same = LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntEQ, new, old, c"".as_ptr());
                LLVMBuildCondBr(b, is_same, end, exchange);
                LLVMPositionBuilderAtEnd(b, exchange);
            }
            let (success, failure) = (ordering(order, Access::ReadWrite), ordering(order, Access::Load));
            let pair = LLVMBuildAtomicCmpXchg(b, p, old, new, success, failure, 0);
            self.keep_generic(data, pair);
            let (found, done) =
                (LLVMBuildExtractValue(b, pair, 0, c"".as_ptr()), LLVMBuildExtractValue(b, pair, 1, c"".as_ptr()));
            LLVMBuildCondBr(b, done, end, again);
            LLVMAddIncoming(old, [seen, found].as_mut_ptr(), [from, exchange].as_mut_ptr(), 2);
            LLVMPositionBuilderAtEnd(b, end);
            let result = LLVMBuildPhi(b, int, c"".as_ptr());
            LLVMAddIncoming(result, [old].as_mut_ptr(), [exchange].as_mut_ptr(), 1);
            if may_skip {
                LLVMAddIncoming(result, [old].as_mut_ptr(), [again].as_mut_ptr(), 1);
            }
            LLVMBuildBitCast(b, result, float, c"".as_ptr())
        }
    }

    /// A minimum or maximum of floats: LLVM's own leaves it to the target which zero it is.
    fn float_extremum(&self, data: &InstData, smaller: bool, order: Order) -> LLVMValueRef {
        let (ty, x) = (self.func.ty(data.args[1]), self.value(data.args[1]));
        self.float_rmw(data, order, |old| self.extremum(smaller, ty, old, x))
    }

    /// A sum in global memory of a GPU, where the instruction for it takes denormal numbers for zero, operands and sum
    /// (`atom` in the manual of its instructions). That shows only if the summand is below 2^-101: to a larger one a
    /// denormal number adds nothing, and with a normal number its sum is not denormal. Smaller ones are added by
    /// compare and exchange; of those, a zero mostly takes a load.
    fn gpu_float_sum(&self, data: &InstData) -> LLVMValueRef {
        let ty = self.func.ty(data.args[1]);
        let (x, b) = (self.value(data.args[1]), self.builder.0);
        let size = self.intrinsic("llvm.fabs", &[self.cx.ty(ty)], &[x]);
        // SAFETY: the phi has one incoming value for each of its two predecessors. Each new block ends with a branch,
        // or the builder stays in it.
        unsafe {
            let least = self.cx.constant(ty, u64::from(LEAST_EXACT_SUMMAND.to_bits()));
            // Unordered: of NaN, the instruction makes NaN as well.
            let is_exact = LLVMBuildFCmp(b, LLVMRealPredicate::LLVMRealUGE, size, least, c"".as_ptr());
            let block = |name| self.new_block(name);
            let (direct, small, end) = (block(c"sum"), block(c"sum.small"), block(c"sum.end"));
            LLVMBuildCondBr(b, is_exact, direct, small);
            LLVMPositionBuilderAtEnd(b, direct);
            let added = self.locked_rmw(data, RmwOp::Fadd, Order::Relaxed);
            LLVMBuildBr(b, end);
            LLVMPositionBuilderAtEnd(b, small);
            let exchanged = self.float_rmw(data, Order::Relaxed, |old| self.arithmetic(BinOp::Fadd, old, x));
            // `float_rmw` leaves the builder in its last block.
            let exchange = LLVMGetInsertBlock(b);
            LLVMBuildBr(b, end);
            LLVMPositionBuilderAtEnd(b, end);
            let result = LLVMBuildPhi(b, self.cx.ty(ty), c"".as_ptr());
            LLVMAddIncoming(result, [added, exchanged].as_mut_ptr(), [direct, exchange].as_mut_ptr(), 2);
            result
        }
    }

    /// Whether a GPU's instruction for this sum takes denormal numbers for zero where the program does not.
    fn flushes_sums(&self, data: &InstData) -> bool {
        let (p, x) = (self.func.ty(data.args[0]), self.func.ty(data.args[1]));
        let is_global = matches!(p.space(), Some(Space::Global | Space::Generic));
        x.scalar == Scalar::F32 && is_global && !self.cx.denorms_are_zero
    }

    /// A relaxed read-modify-write on a GPU, where local memory is shared by threads.
    pub fn gpu_rmw(&self, data: &InstData, op: RmwOp) -> LLVMValueRef {
        match op {
            _ if self.is_own(data) => self.own_rmw(data, op),
            RmwOp::Fmin | RmwOp::Fmax => self.float_extremum(data, op == RmwOp::Fmin, Order::Relaxed),
            RmwOp::Fadd if self.flushes_sums(data) => self.gpu_float_sum(data),
            _ => self.locked_rmw(data, op, Order::Relaxed),
        }
    }

    pub fn atomic_rmw(&self, data: &InstData, op: RmwOp, order: Order) -> LLVMValueRef {
        match op {
            _ if self.is_own(data) => self.own_rmw(data, op),
            RmwOp::Smin | RmwOp::Smax | RmwOp::Umin | RmwOp::Umax
                if order == Order::Relaxed && !data.flags.contains(Flags::VOLATILE) =>
            {
                self.relaxed_extremum(data, op)
            }
            RmwOp::Fmin | RmwOp::Fmax => self.float_extremum(data, op == RmwOp::Fmin, order),
            _ => self.locked_rmw(data, op, order),
        }
    }

    fn locked_rmw(&self, data: &InstData, op: RmwOp, order: Order) -> LLVMValueRef {
        use LLVMAtomicRMWBinOp::*;
        let op = match op {
            RmwOp::Xchg => LLVMAtomicRMWBinOpXchg,
            RmwOp::Add => LLVMAtomicRMWBinOpAdd,
            RmwOp::Sub => LLVMAtomicRMWBinOpSub,
            RmwOp::And => LLVMAtomicRMWBinOpAnd,
            RmwOp::Or => LLVMAtomicRMWBinOpOr,
            RmwOp::Xor => LLVMAtomicRMWBinOpXor,
            RmwOp::Smin => LLVMAtomicRMWBinOpMin,
            RmwOp::Smax => LLVMAtomicRMWBinOpMax,
            RmwOp::Umin => LLVMAtomicRMWBinOpUMin,
            RmwOp::Umax => LLVMAtomicRMWBinOpUMax,
            RmwOp::Fadd => LLVMAtomicRMWBinOpFAdd,
            // Not used: see `float_extremum`.
            RmwOp::Fmin => LLVMAtomicRMWBinOpFMin,
            RmwOp::Fmax => LLVMAtomicRMWBinOpFMax,
        };
        let (p, x) = (self.value(data.args[0]), self.value(data.args[1]));
        // SAFETY: `p` is a pointer, and the verifier allows the operation for the type of `x`.
        let update = unsafe { LLVMBuildAtomicRMW(self.builder.0, op, p, x, ordering(order, Access::ReadWrite), 0) };
        self.keep_generic(data, update);
        update
    }

    /// Keeps LLVM from finding out on a GPU that a generic pointer is one to private memory, where it then has no
    /// instruction for an atomic operation: what is volatile stays as it is.
    fn keep_generic(&self, data: &InstData, update: LLVMValueRef) {
        if self.cx.gpu.is_some() && self.func.ty(data.args[0]).space() == Some(Space::Generic) {
            // SAFETY: `update` is an atomic instruction, which has the flag `volatile`.
            unsafe { LLVMSetVolatile(update, 1) }
        }
    }

    pub fn cmpxchg(&self, data: &InstData, order: Order) -> LLVMValueRef {
        let [p, expected, new] = [0, 1, 2].map(|i| self.value(data.args[i]));
        if self.is_own(data) {
            let ty = self.func.ty(data.args[1]);
            let old = self.plain_load(data, ty, ty.bytes());
            // SAFETY: `old`, `expected` and `new` have one type, which the verifier checked.
            let new = unsafe {
                let is = LLVMBuildICmp(self.builder.0, LLVMIntPredicate::LLVMIntEQ, old, expected, c"".as_ptr());
                LLVMBuildSelect(self.builder.0, is, new, old, c"".as_ptr())
            };
            self.own_store(data, ty, new);
            return old;
        }
        // SAFETY: `p` is a pointer, and the verifier checked that `expected` and `new` have one type.
        unsafe {
            let pair = LLVMBuildAtomicCmpXchg(
                self.builder.0,
                p,
                expected,
                new,
                ordering(order, Access::ReadWrite),
                ordering(order, Access::Load),
                0,
            );
            self.keep_generic(data, pair);
            LLVMBuildExtractValue(self.builder.0, pair, 0, c"".as_ptr())
        }
    }

    pub fn atomic_load(&self, data: &InstData, ty: Type, order: Order) -> LLVMValueRef {
        let load = self.plain_load(data, ty, ty.bytes());
        // SAFETY: `load` is a load instruction, and `ordering` gives only orders that a load may have.
        unsafe { LLVMSetOrdering(load, ordering(order, Access::Load)) };
        load
    }

    pub fn atomic_store(&self, data: &InstData, order: Order) -> LLVMValueRef {
        let store = self.store(data, self.func.ty(data.args[1]).bytes());
        // SAFETY: `store` is a store instruction, and `ordering` gives only orders that a store may have.
        unsafe { LLVMSetOrdering(store, ordering(order, Access::Store)) };
        store
    }

    pub fn fence(&self, order: Order) -> LLVMValueRef {
        if order == Order::Relaxed {
            return std::ptr::null_mut();
        }
        // SAFETY: the builder stands in a block of this function.
        unsafe { LLVMBuildFence(self.builder.0, ordering(order, Access::ReadWrite), 0, c"".as_ptr()) }
    }
}
