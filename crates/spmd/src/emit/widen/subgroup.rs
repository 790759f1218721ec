//! Sub-group operations: a sub-group is a vector, and its present work-items are the active lanes.
//!
//! Results that are the same for all (ballots, reductions, the value of one lane) stay scalars, and so does control
//! flow that depends on them. Reductions are trees of shuffles; scans are steps of 1, 2, 4 … (Hillis and Steele).
//! Inactive lanes count as the identity. Floats are combined in the order of [`cloom_ir::subgroup`].

use super::{VecValue, Widener};
use crate::error::{Stop, bug};
use cloom_ir::{BinOp, CastOp, Flags, Inst, Op, Scalar, Space, Type, Value, eval, subgroup};
use smallvec::smallvec;

/// The depth of an expression whose lanes are evaluated at compile time.
const MAX_EVAL_DEPTH: u32 = 8;

impl Widener<'_> {
    /// Emits a sub-group operation.
    pub(super) fn subgroup(&mut self, inst: Inst) -> Result<(), Stop> {
        let item = self.item;
        let data = &item.func.insts[inst];
        let Some(r) = data.result else { return Ok(()) };
        // Operands are exchanged between the lanes that are on: each case takes the mask into account.
        let wide = match data.op {
            Op::SubgroupBallot => {
                let yes = self.lane(data.args[0])?;
                // A lane that is off has no bit in a ballot, whatever its value.
                let yes = self.and(self.masks.current, yes);
                VecValue::Uniform(self.b().ballot(yes))
            }
            Op::SubgroupShuffle => self.exchange(data.args[0], data.args[1])?,
            Op::SubgroupReduce { op, cluster } => self.reduce(op, cluster, data.args[0])?,
            Op::SubgroupScan { op, exclusive } => self.scan(op, exclusive, data.args[0])?,
            _ => return Err(bug("not an operation on sub-groups")),
        };
        let wide = match wide {
            // The analysis may not have known that all lanes get the same, and users expect the form that it found.
            VecValue::Uniform(_) if !item.shapes.is_uniform(r) => VecValue::Varying(self.materialise(&wide)),
            wide => wide,
        };
        self.set(r, wide);
        Ok(())
    }

    /// The lanes of a value, inactive ones replaced by `off`.
    fn active_or(&mut self, v: Value, off: u64) -> Result<Value, Stop> {
        let lanes = self.lane(v)?;
        let Some(mask) = self.masks.current else { return Ok(lanes) };
        let ty = self.func.ty(lanes);
        let off = self.b().iconst(ty, off);
        Ok(self.b().select(mask, lanes, off))
    }

    fn exchange(&mut self, value: Value, lane_index: Value) -> Result<VecValue, Stop> {
        // A lane that is off gives 0 (`Op::SubgroupShuffle`).
        let lanes = self.active_or(value, 0)?;
        if self.item.shapes.is_uniform(lane_index) {
            let lane_index = self.base(lane_index)?;
            return Ok(VecValue::Uniform(self.b().extract(lanes, lane_index)));
        }
        let lane_index = self.lane(lane_index)?;
        let count = u64::from(self.lanes);
        // `sub_group_shuffle_xor(x, 1)`: with the lane's number as a constant, this is one shuffle and no memory.
        if let Some(constants) = self.constant_lanes(lane_index, MAX_EVAL_DEPTH) {
            let picks: Vec<u16> = constants.iter().map(|&n| (n % count) as u16).collect();
            return Ok(VecValue::Varying(smallvec![self.b().shuffle(lanes, lanes, &picks)]));
        }
        Ok(VecValue::Varying(smallvec![self.permute_in_memory(lanes, lane_index)]))
    }

    /// Private memory for a vector, shared by all exchanges: what is stored is loaded at once.
    fn exchange_memory(&mut self) -> Value {
        if let Some(buffer) = self.memory.exchange_buffer {
            return buffer;
        }
        let entry = self.func.entry();
        let buffer = cloom_ir::Builder::new(self.func, entry).alloca(8 * u64::from(self.lanes), 64);
        // It must precede its uses, and the entry may be the current block.
        self.func.move_last_to_front(entry);
        self.memory.exchange_buffer = Some(buffer);
        buffer
    }

    /// Permutes lanes by run-time indices, through memory.
    fn permute_in_memory(&mut self, lanes: Value, lane_index: Value) -> Value {
        let ty = self.func.ty(lanes);
        let (size, align) = (u64::from(ty.scalar.bytes()), ty.bytes().min(64).next_power_of_two());
        let buffer = self.exchange_memory();
        let (count, wide) = (u64::from(ty.lanes), Type::vector(Scalar::I64, ty.lanes));
        let all = self.mask_value(None);
        let mut b = self.b();
        b.store(buffer, lanes, align, Flags::empty());
        let lane_index = b.cast(CastOp::Zext, lane_index, wide);
        let (last, step) = (b.iconst(wide, count - 1), b.iconst(wide, size));
        // The number of lanes is a power of two in kernels with sub-groups, so that this is the modulus.
        let lane_index = b.binary(BinOp::And, lane_index, last);
        let offset = b.binary(BinOp::Mul, lane_index, step);
        let base = b.splat(buffer, ty.lanes);
        let from = b.ptr_add(base, offset);
        debug_assert_eq!(b.ty(from).space(), Some(Space::Private));
        b.gather(ty, from, all, size as u32, Flags::empty())
    }

    /// The constant lanes of an emitted value, if all are known at compile time.
    fn constant_lanes(&self, v: Value, depth: u32) -> Option<Vec<u64>> {
        let ty = self.func.ty(v);
        let data = &self.func.insts[self.func.def_inst(v).filter(|_| depth > 0 && ty.is_int())?];
        let constants = |k: usize| self.constant_lanes(data.args[k], depth - 1);
        let lanes = usize::from(ty.lanes);
        match data.op {
            Op::Const(bits) => Some(vec![bits; lanes]),
            // The number of a work-item in its sub-group is a lane number by now.
            Op::Iota => Some((0..lanes as u64).collect()),
            Op::Splat => Some(vec![*constants(0)?.first()?; lanes]),
            Op::Binary(op) => {
                let (a, b) = (constants(0)?, constants(1)?);
                Some(a.iter().zip(&b).map(|(&a, &b)| eval::binary(op, ty.scalar, a, b)).collect())
            }
            Op::Cast(op @ (CastOp::Trunc | CastOp::Zext | CastOp::Sext)) => {
                let from = self.func.ty(data.args[0]).scalar;
                Some(constants(0)?.iter().map(|&a| eval::cast(op, from, ty.scalar, a)).collect())
            }
            _ => None,
        }
    }

    fn reduce(&mut self, op: BinOp, cluster: u16, value: Value) -> Result<VecValue, Stop> {
        let identity = subgroup::identity(op, self.item.func.ty(value).scalar);
        let mut all = self.active_or(value, identity.ok_or(bug("a sub-group operation has no identity"))?)?;
        let mut n = self.lanes;
        // All lanes of a cluster get its result: a butterfly. The partners of lane `l` are `l ^ step`, inside the
        // cluster.
        if cluster < n {
            let mut step = cluster / 2;
            while step > 0 {
                let picks: Vec<u16> = (0..n).map(|l| l ^ step).collect();
                let others = self.b().shuffle(all, all, &picks);
                all = self.b().binary(op, all, others);
                step /= 2;
            }
            return Ok(VecValue::Varying(smallvec![all]));
        }
        // One result for all lanes: halves instead, each step on a vector of half the length.
        while n > 1 {
            n /= 2;
            let (low, high): (Vec<u16>, Vec<u16>) = ((0..n).collect(), (n..2 * n).collect());
            let (x, y) = if n > 1 {
                (self.b().shuffle(all, all, &low), self.b().shuffle(all, all, &high))
            } else {
                (self.b().extract_lane(all, 0), self.b().extract_lane(all, 1))
            };
            all = self.b().binary(op, x, y);
        }
        Ok(VecValue::Uniform(all))
    }

    fn scan(&mut self, op: BinOp, exclusive: bool, value: Value) -> Result<VecValue, Stop> {
        let identity = subgroup::identity(op, self.item.func.ty(value).scalar);
        let identity = identity.ok_or(bug("a sub-group operation has no identity"))?;
        // Lanes that are off count as the identity, and so change no sum of the lanes after them.
        let mut sums = self.active_or(value, identity)?;
        let (ty, n) = (self.func.ty(sums), self.lanes);
        let identity_lanes = self.b().iconst(ty, identity);
        // Shifts lanes up by `step`; the first `step` lanes get the identity.
        let shift_up = |w: &mut Self, v: Value, step: u16| {
            // Lane `n` of the pair is lane 0 of the second vector: the identity.
            let picks: Vec<u16> = (0..n).map(|l| l.checked_sub(step).unwrap_or(n)).collect();
            w.b().shuffle(v, identity_lanes, &picks)
        };
        if exclusive {
            sums = shift_up(self, sums, 1);
        }
        let mut step = 1;
        // After the step of `s`, lane `l` has the sum of the 2 * `s` lanes up to it, or of all there are.
        while step < n {
            let shifted = shift_up(self, sums, step);
            sums = self.b().binary(op, shifted, sums);
            step *= 2;
        }
        Ok(VecValue::Varying(smallvec![sums]))
    }
}
