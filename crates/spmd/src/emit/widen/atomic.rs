//! Atomic read-modify-writes.
//!
//! | address | what becomes of it |
//! |---|---|
//! | one for all lanes | lanes are put together first, and one operation does it all, as if they came in ascending order |
//! | each its own, in memory of the group | lane by lane without a locked instruction, since one thread runs a group |
//! | each its own | lane by lane |
//!
//! A counter that many lanes add to one after the other has each of them wait for the store before it. Lanes that
//! count the same values, even in a few copies of the counters side by side, are found by comparing addresses, and
//! then each copy is added to once.

use super::address::Address;
use super::{Lanes, VecValue, Widener};
use crate::error::{Stop, bug};
use cloom_ir::{Args, BinOp, CastOp, Flags, Inst, Op, RmwOp, Scalar, Type, UnOp, Value};
use smallvec::smallvec;

/// In so many lanes' distance, addresses are compared: the copies of a counter, mostly.
const REPEATED: u16 = 4;

impl Widener<'_> {
    /// An atomic read-modify-write.
    pub(super) fn atomic(&mut self, inst: Inst) -> Result<(), Stop> {
        let item = self.item;
        let data = &item.func.insts[inst];
        let Op::AtomicRmw { op, .. } = data.op else { return Ok(()) };
        let (p, x) = (self.exact(data.args[0])?, self.exact(data.args[1])?);
        let unused = data.result.is_none_or(|r| !item.used[cloom_ir::Entity::index(r)]);
        if let VecValue::Uniform(p) = p {
            match x {
                VecValue::Uniform(x) if matches!(op, RmwOp::Add | RmwOp::Sub) => return self.count(inst, op, p, x),
                _ if unused && let Some((joined, neutral)) = joining(op, item.func.ty(data.args[1]).scalar) => {
                    let total = self.join(&x, joined, neutral);
                    self.once(inst, p, total)?;
                    let lanes = self.spread(&VecValue::Uniform(total));
                    return self.finish(inst, lanes);
                }
                _ => {}
            }
        }
        let plain = plain_op(op).filter(|_| self.is_own(data.args[0]));
        let Some(plain) = plain else { return self.serial(inst) };
        // Whose vector of addresses would have to be taken apart.
        let address = if self.mask.is_none() { self.address(data.args[0], Some(inst))? } else { None };
        let ty = (!unused).then(|| item.func.ty(data.args[1]));
        let Some(a) = address else {
            let lanes = self.each_lane(ty, self.mask.is_none(), |w, lane| {
                let p = w.one(&p, lane);
                let x = w.one(&x, lane);
                Ok(Some(w.plainly(plain, p, x)))
            })?;
            return self.finish(inst, lanes);
        };
        let counts =
            matches!(op, RmwOp::Add | RmwOp::Sub) && self.lanes > REPEATED && self.lanes.is_multiple_of(REPEATED);
        match x {
            VecValue::Uniform(by) if unused && counts => {
                let repeats = self.repeats(&a, REPEATED)?;
                let fast = |w: &mut Self| w.add_repeats(plain, &a, by);
                self.both(repeats, fast, |w| w.plain_lanes(plain, &a, &x, None))
            }
            _ => {
                let lanes = self.plain_lanes(plain, &a, &x, ty)?;
                self.finish(inst, lanes)
            }
        }
    }

    /// What each lane does, none being off. Gives what was there if it says of what type.
    fn plain_lanes(&mut self, op: Option<BinOp>, a: &Address, x: &VecValue, ty: Option<Type>) -> Result<Lanes, Stop> {
        let each = |w: &mut Self, a: &Address, unrolled: bool| {
            w.each_lane(ty, unrolled, |w, lane| {
                let p = w.address_of(a, lane)?;
                let x = w.one(x, lane);
                Ok(Some(w.plainly(op, p, x)))
            })
        };
        match self.where_strided(a)? {
            Some((cond, strided)) => {
                let types: Vec<Type> = ty.iter().map(|&ty| self.wide_type(ty)).collect();
                self.one_of(cond, &types, |w| each(w, &strided, true), |w| each(w, a, false))
            }
            None => each(self, a, true),
        }
    }

    /// One number added by all lanes, at addresses that repeat.
    fn add_repeats(&mut self, op: Option<BinOp>, a: &Address, x: Value) -> Result<Lanes, Stop> {
        let ty = self.func.ty(x);
        let times = u64::from(self.lanes / REPEATED);
        let times = self.b().iconst(ty, times);
        let x = self.b().binary(BinOp::Mul, times, x);
        for lane in 0..REPEATED {
            let lane = self.b().iconst(Type::I64, u64::from(lane));
            let p = self.address_of(a, lane)?;
            self.plainly(op, p, x);
        }
        Ok(Lanes::new())
    }

    fn finish(&mut self, inst: Inst, lanes: Lanes) -> Result<(), Stop> {
        if let Some(r) = self.item.func.insts[inst].result.filter(|_| !lanes.is_empty()) {
            self.set(r, VecValue::Varying(lanes));
        }
        Ok(())
    }

    /// Read, change, write; gives the old value.
    fn plainly(&mut self, op: Option<BinOp>, p: Value, x: Value) -> Value {
        let ty = self.func.ty(x);
        let old = self.b().load(ty, p, ty.scalar.bytes(), Flags::empty());
        let new = match op {
            Some(op) => self.b().binary(op, old, x),
            None => x,
        };
        self.b().store(p, new, ty.scalar.bytes(), Flags::empty());
        old
    }

    /// The operation, once.
    fn once(&mut self, inst: Inst, p: Value, x: Value) -> Result<Value, Stop> {
        let data = &self.item.func.insts[inst];
        let Op::AtomicRmw { op, .. } = data.op else { return Err(bug("no read-modify-write")) };
        if let Some(plain) = plain_op(op).filter(|_| self.is_own(data.args[0])) {
            return Ok(self.plainly(plain, p, x));
        }
        let ty = self.func.ty(x);
        let args: Args = smallvec![p, x];
        let old = self.b().push(data.op.clone(), args, Some(ty), data.flags);
        old.ok_or(bug("an instruction has no result"))
    }

    /// The same number added to one place by every lane that is on: a counter, mostly. A lane finds what was there, and what those
    /// before it added.
    fn count(&mut self, inst: Inst, op: RmwOp, p: Value, x: Value) -> Result<(), Stop> {
        let (ty, n) = (self.func.ty(x), self.lanes);
        let bits = self.mask.map(|m| self.b().ballot(m));
        let mut b = self.b();
        let number = match bits {
            Some(bits) => b.unary(UnOp::Popcount, bits),
            None => b.iconst(Type::I64, u64::from(n)),
        };
        let number = if ty == Type::I64 { number } else { b.cast(CastOp::Trunc, number, ty) };
        let total = b.binary(BinOp::Mul, number, x);
        let old = self.once(inst, p, total)?;
        let mut b = self.b();
        let before = match bits {
            None => b.iota(ty.scalar, n),
            Some(bits) => {
                let wide = Type::vector(Scalar::I64, n);
                let all = b.splat(bits, n);
                let (one, lane) = (b.iconst(wide, 1), b.iota(Scalar::I64, n));
                let own = b.binary(BinOp::Shl, one, lane);
                let lower = b.binary(BinOp::Sub, own, one);
                let those = b.binary(BinOp::And, all, lower);
                let count = b.unary(UnOp::Popcount, those);
                let to = Type::vector(ty.scalar, n);
                if ty == Type::I64 { count } else { b.cast(CastOp::Trunc, count, to) }
            }
        };
        let (x, old) = (b.splat(x, n), b.splat(old, n));
        let added = b.binary(BinOp::Mul, before, x);
        let lanes = b.binary(if op == RmwOp::Add { BinOp::Add } else { BinOp::Sub }, old, added);
        self.finish(inst, smallvec![lanes])
    }

    /// The lanes that are on, put together.
    fn join(&mut self, x: &VecValue, op: BinOp, neutral: u64) -> Value {
        let mut all = self.spread(x)[0];
        let ty = self.func.ty(all);
        if let Some(mask) = self.mask {
            let mut b = self.b();
            let none = b.iconst(ty, neutral);
            all = b.select(mask, all, none);
        }
        let mut b = self.b();
        // Halves; a middle that two halves would share is left for the end.
        let mut rest = None;
        let mut n = ty.lanes;
        while n > 1 {
            if n % 2 == 1 {
                let last = b.extract_lane(all, n - 1);
                rest = Some(rest.map_or(last, |r| b.binary(op, r, last)));
            }
            let half = n / 2;
            let (low, high): (Vec<u16>, Vec<u16>) = ((0..half).collect(), (half..2 * half).collect());
            let (x, y) = (b.shuffle(all, all, &low), b.shuffle(all, all, &high));
            all = b.binary(op, x, y);
            n = half;
        }
        let one = if b.ty(all).is_vector() { b.extract_lane(all, 0) } else { all };
        rest.map_or(one, |r| b.binary(op, one, r))
    }
}

/// How lanes that go to one place are put together before, and what changes nothing.
fn joining(op: RmwOp, scalar: Scalar) -> Option<(BinOp, u64)> {
    let (ones, sign) = (scalar.mask(), (scalar.mask() >> 1) + 1);
    Some(match op {
        RmwOp::Add | RmwOp::Sub => (BinOp::Add, 0),
        RmwOp::And => (BinOp::And, ones),
        RmwOp::Or => (BinOp::Or, 0),
        RmwOp::Xor => (BinOp::Xor, 0),
        RmwOp::Smin => (BinOp::Smin, ones >> 1),
        RmwOp::Smax => (BinOp::Smax, sign),
        RmwOp::Umin => (BinOp::Umin, ones),
        RmwOp::Umax => (BinOp::Umax, 0),
        RmwOp::Xchg | RmwOp::Fadd => return None,
    })
}

/// The operation of a read-modify-write on its own; inside, nothing for an exchange.
fn plain_op(op: RmwOp) -> Option<Option<BinOp>> {
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
    })
}
