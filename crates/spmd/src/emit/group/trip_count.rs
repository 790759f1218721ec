//! Where the loops over a group's vectors end: at the last one that has something to do, as
//! [`crate::analysis::active_bound`] tells.

use super::{Body, Emitter, Part};
use crate::analysis::active_bound::{self, Bound, Factor, Sum};
use crate::error::{Stop, bug};
use crate::passes;
use crate::split::continuation_fn::Param;
use cloom_ir::{Args, BinOp, Block, CastOp, Flags, Function, IntCc, Op, Type, Value, ValueDef};
use rustc_hash::FxHashMap;

/// The ends of the loops.
pub(super) struct LoopBounds {
    /// By dimension.
    pub at: [Value; 3],
    /// Vectors in a whole row, if the loop along it ends early,
    pub row: Option<Value>,
    /// and in a whole plane.
    pub plane: Option<Value>,
}

/// No local size is larger.
const MOST: u64 = 1 << 20;

impl Emitter<'_> {
    /// Writes the ends of a continuation's loops into `pre`.
    pub(super) fn loop_bounds(
        &mut self,
        part: &Part,
        uniform: &FxHashMap<Value, Value>,
        pre: Block,
        step: impl Fn(usize) -> u64,
    ) -> Result<LoopBounds, Stop> {
        let sizes = self.sizes;
        let mut ends = LoopBounds { at: sizes, row: None, plane: None };
        let func = match &part.body {
            Body::Scalar(func) => func,
            Body::Vector(item) => &item.func,
        };
        let on = self.manager.is_on(passes::ACTIVE_BOUND);
        let bounded = if on { active_bound::find(func, &part.params) } else { Default::default() };
        bounded.iter().flatten().for_each(|_| self.manager.count(passes::ACTIVE_BOUND));
        let mut known = FxHashMap::default();
        for (d, bounds) in bounded.iter().enumerate() {
            let Some(bounds) = bounds else { continue };
            let mut b = self.at(pre);
            let mut end = b.iconst(Type::I64, 1);
            for bound in bounds {
                let below = self.first_idle_id(func, &part.params, bound, d, (uniform, pre), &mut known)?;
                end = self.at(pre).binary(BinOp::Umax, end, below);
            }
            ends.at[d] = self.at(pre).binary(BinOp::Umin, end, sizes[d]);
        }
        let [inner, middle, _] = self.width.order;
        if bounded[inner].is_some() {
            ends.row = Some(self.steps(pre, sizes[inner], step(inner)));
        }
        if bounded[middle].is_some() {
            let row = self.steps(pre, sizes[inner], step(inner));
            let rows = self.steps(pre, sizes[middle], step(middle));
            ends.plane = Some(self.at(pre).binary_flags(BinOp::Mul, row, rows, Flags::NUW | Flags::NSW));
        }
        Ok(ends)
    }

    /// How many steps lead through a dimension.
    fn steps(&mut self, pre: Block, size: Value, step: u64) -> Value {
        if step == 1 {
            return size;
        }
        let mut b = self.at(pre);
        let (rest, step) = (b.iconst(Type::I64, step - 1), b.iconst(Type::I64, step));
        let sum = b.binary_flags(BinOp::Add, size, rest, Flags::NUW | Flags::NSW);
        b.binary(BinOp::Udiv, sum, step)
    }

    /// The lowest id that a bound surely keeps out, or more than there are.
    fn first_idle_id(
        &mut self,
        func: &Function,
        params: &[Param],
        bound: &Bound,
        dim: usize,
        (uniform, pre): (&FxHashMap<Value, Value>, Block),
        known: &mut FxHashMap<Value, Value>,
    ) -> Result<Value, Stop> {
        let Bound::Below { sum, limit, signed, closed } = bound else {
            return Ok(self.at(pre).iconst(Type::I64, 1));
        };
        let (extend, most) = match signed {
            true => (CastOp::Sext, BinOp::Smin),
            false => (CastOp::Zext, BinOp::Umin),
        };
        let mut wide = |e: &mut Self, v: Value, op: CastOp| {
            let v = e.rematerialise(func, params, v, (uniform, pre), known)?;
            let mut b = e.at(pre);
            Ok::<_, Stop>(if b.ty(v) == Type::I64 { v } else { b.cast(op, v, Type::I64) })
        };
        let limit = wide(self, *limit, extend)?;
        let Sum { ids, plus } = sum;
        let plus: Vec<Value> = plus.iter().map(|&v| wide(self, v, CastOp::Zext)).collect::<Result<_, _>>()?;
        let mut factors = [None; 3];
        for (new, by) in factors.iter_mut().zip(ids) {
            *new = match *by {
                Some(Factor::Value(v)) => Some(wide(self, v, CastOp::Zext)?),
                Some(Factor::Const(c)) => Some(self.at(pre).iconst(Type::I64, c)),
                None => None,
            };
        }
        let sizes = self.sizes;
        let mut b = self.at(pre);
        let (zero, one) = (b.iconst(Type::I64, 0), b.iconst(Type::I64, 1));
        // Products of ids and 32 bits, and their sums, are below this.
        let high = b.iconst(Type::I64, MOST << 34);
        let mut end = b.binary(most, limit, high);
        if *closed {
            end = b.binary(BinOp::Add, end, one);
        }
        if *signed {
            end = b.binary(BinOp::Smax, end, zero);
        }
        let is_one = |d: usize| ids[d] == Some(Factor::Const(1));
        if plus.is_empty() && (0..3).all(|d| factors[d].is_none() || d == dim && is_one(d)) {
            return Ok(end);
        }
        // What is compared must not wrap for any work-item, in 32 bits with a sign or without one.
        let plus = plus.into_iter().reduce(|x, y| b.binary(BinOp::Add, x, y)).unwrap_or(zero);
        let mut largest = plus;
        for (&factor, &size) in factors.iter().zip(&sizes) {
            let Some(by) = factor else { continue };
            let last = b.binary(BinOp::Sub, size, one);
            let most = b.binary(BinOp::Mul, last, by);
            largest = b.binary(BinOp::Add, largest, most);
        }
        let wrap = b.iconst(Type::I64, i32::MAX as u64);
        let mut fits = b.icmp(IntCc::Ule, largest, wrap);
        let mut count = b.binary(BinOp::UsubSat, end, plus);
        if let Some(by) = factors[dim].filter(|_| !is_one(dim)) {
            let some = b.icmp(IntCc::Ne, by, zero);
            fits = b.binary(BinOp::And, fits, some);
            let less = b.binary(BinOp::Sub, by, one);
            let up = b.binary(BinOp::Add, count, less);
            count = b.binary(BinOp::Udiv, up, by);
        }
        Ok(b.select(fits, count, sizes[dim]))
    }

    /// A value that is the same for the group, computed in `pre`.
    pub(super) fn rematerialise(
        &mut self,
        func: &Function,
        params: &[Param],
        v: Value,
        (uniform, pre): (&FxHashMap<Value, Value>, Block),
        known: &mut FxHashMap<Value, Value>,
    ) -> Result<Value, Stop> {
        if let Some(&known) = known.get(&v) {
            return Ok(known);
        }
        let new = match func.values[v].def {
            ValueDef::Param(_, k) => match params[k as usize] {
                Param::Uniform(u) => *uniform.get(&u).ok_or(bug("a value of the group is missing"))?,
                p => self.group_value(p)?,
            },
            ValueDef::Inst(i) => {
                let data = func.insts[i].clone();
                let args = data.args.iter().map(|&a| self.rematerialise(func, params, a, (uniform, pre), known));
                let args = args.collect::<Result<Args, _>>()?;
                let op: Op = data.op;
                let new = self.at(pre).push(op, args, Some(func.ty(v)), data.flags);
                new.ok_or(bug("an instruction has no result"))?
            }
        };
        known.insert(v, new);
        Ok(new)
    }
}
