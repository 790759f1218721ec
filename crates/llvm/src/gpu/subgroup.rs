//! Sub-groups, which are warps: operations by votes and shuffles of registers.
//!
//! The work-items that execute the instruction together (`activemask`) take part. If all 32 do, a reduction is a
//! butterfly, and a scan goes in steps of 1, 2, 4 …, in the order that [`cloom_ir::subgroup`] defines. If some are
//! missing, the partial sums that they would hold are missing too. Then each work-item collects the values of all, and
//! computes the result of the whole sub-group, with the identity in place of missing values. All work-items that take
//! part agree on whether all are there, so that the branch on it is uniform.

use super::{NO_NAME, WARP};
use crate::emit::FunctionCx;
use cloom_ir::{BinOp, InstData, Query, Scalar, Type, subgroup};
use llvm_sys::LLVMIntPredicate as Int;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

/// How a lane finds its partner.
#[derive(Clone, Copy)]
enum Shuffle {
    /// By the partner's number.
    Index,
    /// By this lane's number with some bits flipped.
    Butterfly,
    /// The lane that is a number of lanes below.
    Up,
}

impl FunctionCx<'_, '_> {
    fn n32(&self, n: u64) -> LLVMValueRef {
        self.cx.constant(Type::I32, n)
    }

    /// The lanes that execute this together.
    fn active(&self) -> LLVMValueRef {
        self.nvvm("llvm.nvvm.activemask", &[])
    }

    /// This lane's number.
    fn lane_id(&self) -> LLVMValueRef {
        self.nvvm("llvm.nvvm.read.ptx.sreg.laneid", &[])
    }

    /// Waits for all work-items of the sub-group: 32, or fewer of the last one of a group.
    pub fn warp_barrier(&mut self) -> LLVMValueRef {
        let size = self.query(Query::SubgroupSize, 0);
        // SAFETY: `size` is an integer of 64 bits, and all others have 32 bits.
        let mask = unsafe {
            // A mask of `size` ones. The last sub-group of a group may be shorter; lanes that do not exist must not be
            // waited for.
            let size = LLVMBuildTrunc(self.builder.0, size, self.cx.ty(Type::I32), NO_NAME);
            let missing = LLVMBuildSub(self.builder.0, self.n32(WARP), size, NO_NAME);
            LLVMBuildLShr(self.builder.0, self.n32(u64::from(u32::MAX)), missing, NO_NAME)
        };
        self.nvvm("llvm.nvvm.bar.warp.sync", &[mask])
    }

    /// A vote.
    pub fn warp_ballot(&self, data: &InstData) -> LLVMValueRef {
        let votes = self.nvvm("llvm.nvvm.vote.ballot.sync", &[self.active(), self.value(data.args[0])]);
        // SAFETY: `votes` is an integer of 32 bits.
        unsafe { LLVMBuildZExt(self.builder.0, votes, self.cx.ty(Type::I64), NO_NAME) }
    }

    /// One shuffle of 32 bits.
    fn shuffle_word(&self, how: Shuffle, mask: LLVMValueRef, word: LLVMValueRef, by: LLVMValueRef) -> LLVMValueRef {
        let (name, clamp) = match how {
            Shuffle::Index => ("llvm.nvvm.shfl.sync.idx.i32", 31),
            Shuffle::Butterfly => ("llvm.nvvm.shfl.sync.bfly.i32", 31),
            Shuffle::Up => ("llvm.nvvm.shfl.sync.up.i32", 0),
        };
        self.nvvm(name, &[mask, word, by, self.n32(clamp)])
    }

    /// A value of another lane, which is in the mask.
    fn shuffle_value(
        &self,
        how: Shuffle,
        mask: LLVMValueRef,
        ty: Type,
        v: LLVMValueRef,
        by: LLVMValueRef,
    ) -> LLVMValueRef {
        let (b, bits) = (self.builder.0, ty.scalar.bits());
        let (i32, i64) = (self.cx.ty(Type::I32), self.cx.ty(Type::I64));
        let int = crate::ops::int_of(ty.scalar);
        let whole = self.bits_of(ty, v);
        // SAFETY: `whole` is an integer with the bits of `v`, and `moved` has as many bits as `ty`.
        unsafe {
            let moved = if bits == 64 {
                let half = self.cx.constant(Type::I64, 32);
                let low = LLVMBuildTrunc(b, whole, i32, NO_NAME);
                let high = LLVMBuildTrunc(b, LLVMBuildLShr(b, whole, half, NO_NAME), i32, NO_NAME);
                let wide = |word| LLVMBuildZExt(b, self.shuffle_word(how, mask, word, by), i64, NO_NAME);
                let (low, high) = (wide(low), wide(high));
                LLVMBuildOr(b, low, LLVMBuildShl(b, high, half, NO_NAME), NO_NAME)
            } else if bits == 32 {
                self.shuffle_word(how, mask, whole, by)
            } else {
                let word = self.shuffle_word(how, mask, LLVMBuildZExt(b, whole, i32, NO_NAME), by);
                LLVMBuildTrunc(b, word, self.cx.ty(Type::scalar(int)), NO_NAME)
            };
            LLVMBuildBitCast(b, moved, self.cx.ty(ty), NO_NAME)
        }
    }

    /// Whether a lane is in a mask.
    fn has_lane(&self, mask: LLVMValueRef, lane: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        // SAFETY: `mask` and `lane` are integers of 32 bits.
        unsafe {
            let bit = LLVMBuildLShr(b, mask, lane, NO_NAME);
            LLVMBuildTrunc(b, bit, self.cx.ty(Type::I1), NO_NAME)
        }
    }

    /// The value of a lane; `missing` if it is not in the mask.
    fn value_of_lane(
        &self,
        mask: LLVMValueRef,
        ty: Type,
        v: LLVMValueRef,
        lane: LLVMValueRef,
        missing: u64,
    ) -> LLVMValueRef {
        // All lanes of the mask shuffle, also those that select `missing` afterwards: a lane that branched around the
        // shuffle would be waited for.
        let moved = self.shuffle_value(Shuffle::Index, mask, ty, v, lane);
        // SAFETY: `moved` and `missing` have the type `ty`, and the condition is one truth value.
        unsafe {
            let missing = self.cx.constant(ty, missing);
            LLVMBuildSelect(self.builder.0, self.has_lane(mask, lane), moved, missing, NO_NAME)
        }
    }

    /// The value of any lane.
    pub fn warp_shuffle(&self, data: &InstData, ty: Type) -> LLVMValueRef {
        let mask = self.active();
        // SAFETY: the second operand is an integer of 32 bits, which the verifier checked.
        let lane = unsafe { LLVMBuildAnd(self.builder.0, self.value(data.args[1]), self.n32(WARP - 1), NO_NAME) };
        self.value_of_lane(mask, ty, self.value(data.args[0]), lane, 0)
    }

    /// Two values combined.
    fn combine(&self, op: BinOp, ty: Type, x: LLVMValueRef, y: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        let llvm = self.cx.ty(ty);
        let named = |name: &str| self.intrinsic(name, &[llvm], &[x, y]);
        // SAFETY: `x` and `y` have the type `ty`, for which the verifier allows the operation.
        unsafe {
            match op {
                BinOp::Add => LLVMBuildAdd(b, x, y, NO_NAME),
                BinOp::Mul => LLVMBuildMul(b, x, y, NO_NAME),
                BinOp::And => LLVMBuildAnd(b, x, y, NO_NAME),
                BinOp::Or => LLVMBuildOr(b, x, y, NO_NAME),
                BinOp::Xor => LLVMBuildXor(b, x, y, NO_NAME),
                BinOp::Umin => named("llvm.umin"),
                BinOp::Umax => named("llvm.umax"),
                BinOp::Smin => named("llvm.smin"),
                BinOp::Smax => named("llvm.smax"),
                BinOp::Fmin | BinOp::Fmax => self.extremum(op == BinOp::Fmin, ty, x, y),
                _ if ty.scalar == Scalar::F16 => self.half_arithmetic(op, ty, x, y),
                _ => self.arithmetic(op, x, y),
            }
        }
    }

    /// The result of `whole` if all lanes are here, else that of `rest`.
    fn by_mask(
        &self,
        mask: LLVMValueRef,
        ty: Type,
        whole: impl FnOnce(&Self) -> LLVMValueRef,
        rest: impl FnOnce(&Self) -> LLVMValueRef,
    ) -> LLVMValueRef {
        let b = self.builder.0;
        // SAFETY: both results have the type of the phi, which has one incoming value for each of its two predecessors.
        // Each new block ends with a branch, or the builder stays in it.
        unsafe {
            let block = |name| self.new_block(name);
            let (all, some, end) = (block(c"warp.all"), block(c"warp.some"), block(c"warp.end"));
            let is_whole = LLVMBuildICmp(b, Int::LLVMIntEQ, mask, self.n32(u64::from(u32::MAX)), NO_NAME);
            LLVMBuildCondBr(b, is_whole, all, some);
            LLVMPositionBuilderAtEnd(b, all);
            let mut first = whole(self);
            let mut from_first = LLVMGetInsertBlock(b);
            LLVMBuildBr(b, end);
            LLVMPositionBuilderAtEnd(b, some);
            let mut second = rest(self);
            let mut from_second = LLVMGetInsertBlock(b);
            LLVMBuildBr(b, end);
            LLVMPositionBuilderAtEnd(b, end);
            let result = LLVMBuildPhi(b, self.cx.ty(ty), NO_NAME);
            LLVMAddIncoming(result, &mut first, &mut from_first, 1);
            LLVMAddIncoming(result, &mut second, &mut from_second, 1);
            result
        }
    }

    /// A reduction within clusters.
    pub fn warp_reduce(&self, data: &InstData, ty: Type, op: BinOp, cluster: u16) -> LLVMValueRef {
        let v = self.value(data.args[0]);
        let cluster = u64::from(cluster).clamp(1, WARP);
        let identity = subgroup::identity(op, ty.scalar).unwrap_or(0);
        let mask = self.active();
        let whole = |cx: &Self| {
            let (mut v, mut step) = (v, cluster / 2);
            while step > 0 {
                v = cx.combine(op, ty, v, cx.shuffle_value(Shuffle::Butterfly, mask, ty, v, cx.n32(step)));
                step /= 2;
            }
            v
        };
        let rest = |cx: &Self| {
            // SAFETY: both operands are integers of 32 bits.
            let first = unsafe {
                let keep = cx.n32(u64::from(u32::MAX) & !(cluster - 1));
                LLVMBuildAnd(cx.builder.0, cx.lane_id(), keep, NO_NAME)
            };
            // SAFETY: both operands are integers of 32 bits.
            let lane = |i| unsafe { LLVMBuildAdd(cx.builder.0, first, cx.n32(i), NO_NAME) };
            let mut values: Vec<_> = (0..cluster).map(|i| cx.value_of_lane(mask, ty, v, lane(i), identity)).collect();
            while values.len() > 1 {
                // The halves are combined as the butterfly does with its largest step first, so that sums of floats
                // have the same bits.
                let (low, high) = values.split_at(values.len() / 2);
                values = low.iter().zip(high).map(|(&x, &y)| cx.combine(op, ty, x, y)).collect();
            }
            values[0]
        };
        self.by_mask(mask, ty, whole, rest)
    }

    /// A scan.
    pub fn warp_scan(&self, data: &InstData, ty: Type, op: BinOp, exclusive: bool) -> LLVMValueRef {
        let v = self.value(data.args[0]);
        let identity = subgroup::identity(op, ty.scalar).unwrap_or(0);
        let mask = self.active();
        let whole = |cx: &Self| {
            let b = cx.builder.0;
            let lane = cx.lane_id();
            // Whether there is a lane `step` below, and its value.
            let below = |v, step: u64| {
                // Lanes that have no lane `step` below get their own value back; the callers select by the truth value.
                let moved = cx.shuffle_value(Shuffle::Up, mask, ty, v, cx.n32(step));
                // SAFETY: both operands are integers of 32 bits.
                (unsafe { LLVMBuildICmp(b, Int::LLVMIntUGE, lane, cx.n32(step), NO_NAME) }, moved)
            };
            // SAFETY: callers give a truth value and two values of one type.
            let pick = |is, x, y| unsafe { LLVMBuildSelect(b, is, x, y, NO_NAME) };
            let mut v = v;
            if exclusive {
                let (is, moved) = below(v, 1);
                v = pick(is, moved, cx.cx.constant(ty, identity));
            }
            let mut step = 1;
            while step < WARP {
                let (is, moved) = below(v, step);
                v = pick(is, cx.combine(op, ty, moved, v), v);
                step *= 2;
            }
            v
        };
        let rest = |cx: &Self| {
            let b = cx.builder.0;
            let mut values: Vec<_> = (0..WARP).map(|i| cx.value_of_lane(mask, ty, v, cx.n32(i), identity)).collect();
            if exclusive {
                values.rotate_right(1);
                values[0] = cx.cx.constant(ty, identity);
            }
            let mut step = 1;
            while step < values.len() {
                // From the top, so that `values[i - step]` is still that of the step before.
                for i in (step..values.len()).rev() {
                    values[i] = cx.combine(op, ty, values[i - step], values[i]);
                }
                step *= 2;
            }
            let lane = cx.lane_id();
            let is = |i: usize| {
                // SAFETY: both operands are integers of 32 bits.
                unsafe { LLVMBuildICmp(b, Int::LLVMIntEQ, lane, cx.n32(i as u64), NO_NAME) }
            };
            // Every lane has all 32 results, and selects its own: that needs no memory.
            let mut own = values[0];
            for (i, &value) in values.iter().enumerate().skip(1) {
                // SAFETY: all values have the type `ty`, and the condition is one truth value.
                own = unsafe { LLVMBuildSelect(b, is(i), value, own, NO_NAME) };
            }
            own
        };
        self.by_mask(mask, ty, whole, rest)
    }
}
