//! Atomic read-modify-writes.
//!
//! | address | lowering |
//! |---|---|
//! | uniform | lanes are reduced first, then one atomic operation, as if they came in ascending order |
//! | varying, in local or private memory | lane by lane without a locked instruction, since one thread runs a group |
//! | varying | lane by lane |
//!
//! When many lanes add to one counter in turn, each waits for the store of the previous one to be forwarded. Lanes
//! that count the same value are found by comparing addresses at run time, also where a program has a few adjacent
//! copies of each counter; each copy is then added to once.

use super::address::Address;
use super::{Lanes, VecValue, Widener};
use crate::decisions::{Form, Reason};
use crate::error::{Stop, bug};
use cloom_ir::{Args, BinOp, CastOp, Flags, Inst, Op, RmwOp, Scalar, Type, UnOp, Value};
use smallvec::smallvec;

/// The period of lanes at which addresses are compared: the usual number of copies of a counter.
const PERIOD: u16 = 4;

impl Widener<'_> {
    /// Emits an atomic read-modify-write.
    pub(super) fn atomic(&mut self, inst: Inst) -> Result<(), Stop> {
        let item = self.item;
        let data = &item.func.insts[inst];
        let Op::AtomicRmw { op, .. } = data.op else { return Ok(()) };
        // Lanes are taken one by one below, by base and stride, so a checked stride must not be among them.
        let (p, x) = (self.exact(data.args[0])?, self.exact(data.args[1])?);
        let unused = data.result.is_none_or(|r| !item.used[cloom_ir::Entity::index(r)]);
        // One address for all lanes, the frequent case of a counter: one atomic operation instead of as many as there
        // are lanes.
        if let VecValue::Uniform(p) = p {
            match x {
                // One addition of `x` times the number of lanes that are on. Each lane's old value follows from how
                // many lanes that are on come before it.
                VecValue::Uniform(x) if matches!(op, RmwOp::Add | RmwOp::Sub) => {
                    self.decide_operation(inst, Form::Combined, Reason::SameAddress);
                    return self.uniform_add(inst, op, p, x);
                }
                // A reduction loses the old values of the lanes in between: only if nobody uses them.
                _ if unused && let Some((reduce_op, identity)) = reduction(op, item.func.ty(data.args[1]).scalar) => {
                    self.decide_operation(inst, Form::Combined, Reason::SameAddress);
                    let total = self.reduce_lanes(&x, reduce_op, identity);
                    self.single_rmw(inst, p, total)?;
                    let lanes = self.materialise(&VecValue::Uniform(total));
                    return self.finish(inst, lanes);
                }
                _ => {}
            }
        }
        // Without `update`, other groups may access the address at the same time.
        let update = non_atomic(op).filter(|_| self.is_group_private(data.args[0]));
        let Some(update) = update else { return self.serial(inst) };
        // A vector of addresses would have to be taken apart: compute them lane by lane.
        let address = if self.masks.current.is_none() { self.address(data.args[0], Some(inst))? } else { None };
        let ty = (!unused).then(|| item.func.ty(data.args[1]));
        // No base and index: lanes are taken from the vector of addresses, in a loop if there is a mask.
        let Some(a) = address else {
            self.decide_operation(inst, Form::LaneByLaneUnlocked, Reason::OneThread);
            let lanes = self.each_lane(ty, self.masks.current.is_none(), |w, lane| {
                let p = w.lane_at(&p, lane);
                let x = w.lane_at(&x, lane);
                Ok(Some(w.rmw(update, p, x)))
            })?;
            return self.finish(inst, lanes);
        };
        let is_counter =
            matches!(op, RmwOp::Add | RmwOp::Sub) && self.lanes > PERIOD && self.lanes.is_multiple_of(PERIOD);
        match x {
            VecValue::Uniform(by) if unused && is_counter => {
                self.decide_operation(inst, Form::CombinedWhereEqual, Reason::FewAddresses);
                let addresses_repeat = self.repeats(&a, PERIOD)?;
                let fast = |w: &mut Self| w.add_repeated(update, &a, by);
                // Lane by lane is right for all addresses; only what is tested may be combined.
                self.if_else_effect(addresses_repeat, fast, |w| w.rmw_lanes(update, &a, &x, None))
            }
            _ => {
                self.decide_operation(inst, Form::LaneByLaneUnlocked, Reason::OneThread);
                let lanes = self.rmw_lanes(update, &a, &x, ty)?;
                self.finish(inst, lanes)
            }
        }
    }

    /// Emits the non-atomic operation for each lane, all active. Returns the old values if `ty` is given.
    fn rmw_lanes(&mut self, op: Option<BinOp>, a: &Address, x: &VecValue, ty: Option<Type>) -> Result<Lanes, Stop> {
        let rmw_each = |w: &mut Self, a: &Address, unrolled: bool| {
            w.each_lane(ty, unrolled, |w, lane| {
                let p = w.address_of(a, lane)?;
                let x = w.lane_at(x, lane);
                Ok(Some(w.rmw(op, p, x)))
            })
        };
        match self.where_strided(a)? {
            Some((cond, strided)) => {
                let types: Vec<Type> = ty.iter().map(|&ty| self.wide_type(ty)).collect();
                // The other side is rare: a loop, to keep the code short.
                self.if_else(cond, &types, |w| rmw_each(w, &strided, true), |w| rmw_each(w, a, false))
            }
            None => rmw_each(self, a, true),
        }
    }

    /// All lanes add one uniform value, at addresses that repeat with the period.
    fn add_repeated(&mut self, op: Option<BinOp>, a: &Address, x: Value) -> Result<Lanes, Stop> {
        let ty = self.func.ty(x);
        let repetitions = u64::from(self.lanes / PERIOD);
        let repetitions = self.b().iconst(ty, repetitions);
        let x = self.b().binary(BinOp::Mul, repetitions, x);
        // Lanes 0 to 3 have the addresses of all. Two of them may be equal: one after the other, each update counts.
        for lane in 0..PERIOD {
            let lane = self.b().iconst(Type::I64, u64::from(lane));
            let p = self.address_of(a, lane)?;
            self.rmw(op, p, x);
        }
        Ok(Lanes::new())
    }

    fn finish(&mut self, inst: Inst, lanes: Lanes) -> Result<(), Stop> {
        if let Some(r) = self.item.func.insts[inst].result.filter(|_| !lanes.is_empty()) {
            self.set(r, VecValue::Varying(lanes));
        }
        Ok(())
    }

    /// Emits load, operation and store. Returns the old value.
    fn rmw(&mut self, op: Option<BinOp>, p: Value, x: Value) -> Value {
        let ty = self.func.ty(x);
        // One thread runs the group, so that nothing comes between this load and the store.
        let old = self.b().load(ty, p, ty.scalar.bytes(), Flags::empty());
        let new = match op {
            Some(op) => self.b().binary(op, old, x),
            None => x,
        };
        self.b().store(p, new, ty.scalar.bytes(), Flags::empty());
        old
    }

    /// Emits one operation, atomic unless the address is private to the group.
    fn single_rmw(&mut self, inst: Inst, p: Value, x: Value) -> Result<Value, Stop> {
        let data = &self.item.func.insts[inst];
        let Op::AtomicRmw { op, .. } = data.op else { return Err(bug("not a read-modify-write")) };
        if let Some(update) = non_atomic(op).filter(|_| self.is_group_private(data.args[0])) {
            return Ok(self.rmw(update, p, x));
        }
        let ty = self.func.ty(x);
        let args: Args = smallvec![p, x];
        let old = self.b().push(data.op.clone(), args, Some(ty), data.flags);
        old.ok_or(bug("an instruction has no result"))
    }

    /// Each active lane adds the same value to one address: a counter, mostly. A lane's result is the old value plus
    /// what the lanes before it added.
    fn uniform_add(&mut self, inst: Inst, op: RmwOp, p: Value, x: Value) -> Result<(), Stop> {
        let (ty, n) = (self.func.ty(x), self.lanes);
        let bits = self.masks.current.map(|m| self.b().ballot(m));
        let mut b = self.b();
        let active_lanes = match bits {
            Some(bits) => b.unary(UnOp::Popcount, bits),
            None => b.iconst(Type::I64, u64::from(n)),
        };
        // Modulo the width, like the additions one by one.
        let active_lanes = if ty == Type::I64 { active_lanes } else { b.cast(CastOp::Trunc, active_lanes, ty) };
        let total = b.binary(BinOp::Mul, active_lanes, x);
        let old = self.single_rmw(inst, p, total)?;
        let mut b = self.b();
        let earlier_count = match bits {
            None => b.iota(ty.scalar, n),
            Some(bits) => {
                let wide = Type::vector(Scalar::I64, n);
                let all = b.splat(bits, n);
                let (one, lane) = (b.iconst(wide, 1), b.iota(Scalar::I64, n));
                let lane_bit = b.binary(BinOp::Shl, one, lane);
                // The bits below the lane's own: the lanes that come before it.
                let lower = b.binary(BinOp::Sub, lane_bit, one);
                let earlier_lanes = b.binary(BinOp::And, all, lower);
                let count = b.unary(UnOp::Popcount, earlier_lanes);
                let to = Type::vector(ty.scalar, n);
                if ty == Type::I64 { count } else { b.cast(CastOp::Trunc, count, to) }
            }
        };
        let (x, old) = (b.splat(x, n), b.splat(old, n));
        // With lanes 1 and 3 on, 2 * `x` was added: lane 1 gets `old`, lane 3 `old + x`.
        let added = b.binary(BinOp::Mul, earlier_count, x);
        let lanes = b.binary(if op == RmwOp::Add { BinOp::Add } else { BinOp::Sub }, old, added);
        self.finish(inst, smallvec![lanes])
    }

    /// The reduction of all active lanes.
    fn reduce_lanes(&mut self, x: &VecValue, op: BinOp, identity: u64) -> Value {
        let mut all = self.materialise(x)[0];
        let ty = self.func.ty(all);
        if let Some(mask) = self.masks.current {
            let mut b = self.b();
            // A lane that is off must not change the result (V5).
            let none = b.iconst(ty, identity);
            all = b.select(mask, all, none);
        }
        let mut b = self.b();
        // A tree of halves; an odd last lane is added at the end.
        let mut odd_lanes = None;
        let mut n = ty.lanes;
        while n > 1 {
            if n % 2 == 1 {
                let last = b.extract_lane(all, n - 1);
                odd_lanes = Some(odd_lanes.map_or(last, |r| b.binary(op, r, last)));
            }
            let half = n / 2;
            let (low, high): (Vec<u16>, Vec<u16>) = ((0..half).collect(), (half..2 * half).collect());
            let (x, y) = (b.shuffle(all, all, &low), b.shuffle(all, all, &high));
            all = b.binary(op, x, y);
            n = half;
        }
        let scalar = if b.ty(all).is_vector() { b.extract_lane(all, 0) } else { all };
        odd_lanes.map_or(scalar, |r| b.binary(op, scalar, r))
    }
}

/// The reduction for an operation at a uniform address, with its identity.
fn reduction(op: RmwOp, scalar: Scalar) -> Option<(BinOp, u64)> {
    let (ones, sign) = (scalar.mask(), (scalar.mask() >> 1) + 1);
    Some(match op {
        // The sum of all lanes is then subtracted once.
        RmwOp::Add | RmwOp::Sub => (BinOp::Add, 0),
        RmwOp::And => (BinOp::And, ones),
        RmwOp::Or => (BinOp::Or, 0),
        RmwOp::Xor => (BinOp::Xor, 0),
        RmwOp::Smin => (BinOp::Smin, ones >> 1),
        RmwOp::Smax => (BinOp::Smax, sign),
        RmwOp::Umin => (BinOp::Umin, ones),
        RmwOp::Umax => (BinOp::Umax, 0),
        // The bits of a NaN, which changes nothing.
        RmwOp::Fmin => (BinOp::Fmin, ones >> 1),
        RmwOp::Fmax => (BinOp::Fmax, ones >> 1),
        // A sum depends on the order.
        RmwOp::Xchg | RmwOp::Fadd => return None,
    })
}

/// The non-atomic form of an operation; the inner `None` is an exchange.
fn non_atomic(op: RmwOp) -> Option<Option<BinOp>> {
    Some(match op {
        RmwOp::Xchg => None,
        RmwOp::Add => Some(BinOp::Add),
        RmwOp::Sub => Some(BinOp::Sub),
        RmwOp::And => Some(BinOp::And),
        RmwOp::Or => Some(BinOp::Or),
        RmwOp::Xor => Some(BinOp::Xor),
        RmwOp::Smin => Some(BinOp::Smin),
        RmwOp::Smax => Some(BinOp::Smax),
        RmwOp::Umin => Some(BinOp::Umin),
        RmwOp::Umax => Some(BinOp::Umax),
        RmwOp::Fadd => Some(BinOp::Fadd),
        RmwOp::Fmin => Some(BinOp::Fmin),
        RmwOp::Fmax => Some(BinOp::Fmax),
    })
}
