//! The bounds of the loops over a group's vectors: they end at the last vector with an active work-item
//! ([`crate::analysis::active_bound`]).
//!
//! In comes one version of a continuation; out go, written before its loops, the ends of the loops by dimension, and
//! how many vectors a whole row and a whole plane have, as vectors keep their numbers if others do not run.
//!
//! ```text
//! factor*id + rest - less < limit   becomes   id < ceil((limit + less - rest) / factor)
//! ```
//!
//! if nothing wraps for the largest id.

use super::{Body, Emitter, Part};
use crate::analysis::active_bound::{self, Bound, Sum};
use crate::error::{Stop, bug};
use crate::params::MAX_LOCAL_SIZE;
use crate::params::Param;
use crate::passes;
use cloom_ir::affine::{Form, Symbol};
use cloom_ir::{Args, BinOp, Block, Builder, CastOp, Flags, Function, IntCc, Type, Value, ValueDef};
use rustc_hash::FxHashMap;

/// The bounds of the loops over vectors.
pub(super) struct LoopBounds {
    /// The ids at which the loops end, by dimension.
    pub ends: [Value; 3],
    /// Vectors in a whole row, if the loop over a row may end before,
    pub row: Option<Value>,
    /// and in a whole plane, if the loop over its rows may.
    pub plane: Option<Value>,
}

/// Expressions of a continuation's function that are computed once for the group, in a block before its vectors.
pub(super) struct GroupExpressions<'a> {
    func: &'a Function,
    params: &'a [Param],
    /// What continuations before have computed ([`Param::Uniform`]).
    uniform: &'a FxHashMap<Value, Value>,
    pre: Block,
    /// What is computed already.
    done: FxHashMap<Value, Value>,
}

impl<'a> GroupExpressions<'a> {
    /// Expressions of a function with these parameters, computed at the end of `pre`.
    pub(super) fn new(
        func: &'a Function,
        params: &'a [Param],
        uniform: &'a FxHashMap<Value, Value>,
        pre: Block,
    ) -> GroupExpressions<'a> {
        GroupExpressions { func, params, uniform, pre, done: FxHashMap::default() }
    }
}

/// Numbers from here on need not be exact: they are above the largest `int`.
const SATURATED: u64 = 1 << 31;

/// Products have no more bits than this, so that two of them can be multiplied, and sums of some multiplied with ids.
const PRODUCT_BITS: u32 = 32;

/// Limits above this one are this one.
const MAX_LIMIT: u64 = MAX_LOCAL_SIZE << 34;

impl Emitter<'_> {
    /// Writes the bounds of a continuation's loops into `pre`.
    pub(super) fn loop_bounds(
        &mut self,
        part: &Part,
        uniform: &FxHashMap<Value, Value>,
        pre: Block,
        step: impl Fn(usize) -> u64,
    ) -> Result<LoopBounds, Stop> {
        let sizes = self.sizes;
        let mut loops = LoopBounds { ends: sizes, row: None, plane: None };
        // The analysis reads the function of one work-item, which both forms have.
        let func = match &part.body {
            Body::Scalar(func) => func,
            Body::Vector(item) => &item.func,
        };
        let on = self.manager.is_on(passes::ACTIVE_BOUND);
        let bounded = if on { active_bound::find(func, &part.params) } else { Default::default() };
        bounded.iter().flatten().for_each(|_| self.manager.count(passes::ACTIVE_BOUND));
        let mut expressions = GroupExpressions::new(func, &part.params, uniform, pre);
        for (d, bounds) in bounded.iter().enumerate() {
            let Some(bounds) = bounds else { continue };
            // The first vector always runs: it stores the values of the group, and computes the next continuation.
            let mut end = self.at(pre).iconst(Type::I64, 1);
            for bound in bounds {
                let below = self.first_idle_id(&mut expressions, bound, d)?;
                end = self.at(pre).binary(BinOp::Umax, end, below);
            }
            // A limit may be above the size of the group, such as an `n` of many groups.
            loops.ends[d] = self.at(pre).binary(BinOp::Umin, end, sizes[d]);
        }
        let [inner, middle, _] = self.width.order;
        // Slots of the frame are numbered by vectors of the whole group; so numbers must not depend on the bounds,
        // which differ from continuation to continuation.
        if bounded[inner].is_some() {
            loops.row = Some(self.iterations(pre, sizes[inner], step(inner)));
        }
        if bounded[middle].is_some() {
            let row = self.iterations(pre, sizes[inner], step(inner));
            let rows = self.iterations(pre, sizes[middle], step(middle));
            loops.plane = Some(self.at(pre).binary_flags(BinOp::Mul, row, rows, Flags::NUW | Flags::NSW));
        }
        Ok(loops)
    }

    /// How many iterations a loop over a whole dimension has.
    pub(super) fn iterations(&mut self, pre: Block, size: Value, step: u64) -> Value {
        if step == 1 {
            return size;
        }
        let mut b = self.at(pre);
        let (rest, step) = (b.iconst(Type::I64, step - 1), b.iconst(Type::I64, step));
        let sum = b.binary_flags(BinOp::Add, size, rest, Flags::NUW | Flags::NSW);
        b.binary(BinOp::Udiv, sum, step)
    }

    /// An id that no work-item with an effect reaches by a bound; the size of the group, or more, if there is none.
    fn first_idle_id(
        &mut self,
        expressions: &mut GroupExpressions<'_>,
        bound: &Bound,
        dim: usize,
    ) -> Result<Value, Stop> {
        let pre = expressions.pre;
        let Bound::Below { sum, limit, signed, closed } = bound else {
            return Ok(self.at(pre).iconst(Type::I64, 1));
        };
        let Sum { factors, rest, less } = &**sum;
        let limit = self.rematerialise(expressions, *limit)?;
        let mut b = self.at(pre);
        let (zero, one) = (b.iconst(Type::I64, 0), b.iconst(Type::I64, 1));
        // The limit is compared as the source compares the sum with it.
        let (extend, least) = if *signed { (CastOp::Sext, BinOp::Smin) } else { (CastOp::Zext, BinOp::Umin) };
        let limit = if b.ty(limit) == Type::I64 { limit } else { b.cast(extend, limit, Type::I64) };
        // Above all sums that do not wrap and all ids, with room for what is added below.
        let high = b.iconst(Type::I64, MAX_LIMIT);
        let mut end = b.binary(least, limit, high);
        // `sum - less < limit` is `sum < limit + less`, and `sum <= limit` is `sum < limit + 1`. The limit is at most
        // `MAX_LIMIT` here, so that nothing wraps.
        let more = u64::from(*less) + u64::from(*closed);
        if more > 0 {
            let more = b.iconst(Type::I64, more);
            end = b.binary(BinOp::Add, end, more);
        }
        // A negative limit leaves no work-item; as an unsigned number it would leave all.
        if *signed {
            end = b.binary(BinOp::Smax, end, zero);
        }
        let is_one = |d: usize| factors[d].as_ref().is_some_and(|by| by.as_const() == Some(1));
        // `id < limit`, the most frequent form: the sum is the id itself, and needs no test for wraps.
        if rest.as_const() == Some(0) && (0..3).all(|d| factors[d].is_none() || d == dim && is_one(d)) {
            return Ok(end);
        }
        // `largest` is the sum for the last work-item of the whole group, `own` the factor of the id of this dimension.
        let rest = self.magnitude(expressions, rest)?;
        let (mut largest, mut own) = (rest, one);
        for (d, factor) in factors.iter().enumerate() {
            let Some(factor) = factor else { continue };
            let by = self.magnitude(expressions, factor)?;
            let size = self.sizes[d];
            let mut b = self.at(pre);
            let last = b.binary(BinOp::Sub, size, one);
            let most = b.binary(BinOp::Mul, last, by);
            largest = b.binary(BinOp::Add, largest, most);
            if d == dim {
                own = by;
            }
        }
        // What is compared must not wrap for any work-item, in 32 bits with a sign or without one.
        let size = self.sizes[dim];
        let mut b = self.at(pre);
        let wrap = b.iconst(Type::I64, i32::MAX as u64);
        // If it does not fit, the loop runs over the whole dimension.
        let mut fits = b.icmp(IntCc::Ule, largest, wrap);
        // The other ids are left out of the sum, as they may be 0: that is where the most ids of this dimension are
        // active.
        let mut count = b.binary(BinOp::UsubSat, end, rest);
        if !is_one(dim) {
            // With a factor of 0, known at run time only, the condition is the same for all ids.
            let some = b.icmp(IntCc::Ne, own, zero);
            fits = b.binary(BinOp::And, fits, some);
            let less = b.binary(BinOp::Sub, own, one);
            // Rounded up: `2 * l + n / 2 < m` holds for `l` below `(m - n / 2 + 1) / 2`.
            let up = b.binary(BinOp::Add, count, less);
            count = b.binary(BinOp::Udiv, up, own);
        }
        Ok(b.select(fits, count, size))
    }

    /// The value of a form without negative coefficients, all symbols read as unsigned numbers, as an `i64`; or, where
    /// a product may have more than [`PRODUCT_BITS`], a number that is exact or at least [`SATURATED`].
    fn magnitude(&mut self, expressions: &mut GroupExpressions<'_>, form: &Form) -> Result<Value, Stop> {
        let pre = expressions.pre;
        let mut sum = None;
        for (m, c) in form.terms() {
            // The product so far, and how many bits it has.
            let mut product: Option<(Value, u32)> = None;
            for &s in m {
                let Symbol::Value(v, _) = s else { return Err(bug("a bound is made of what the group does not know")) };
                let v = self.rematerialise(expressions, v)?;
                let mut b = self.at(pre);
                let bits = b.ty(v).scalar.bits();
                let v = if bits == 64 { v } else { b.cast(CastOp::Zext, v, Type::I64) };
                product = Some(match product {
                    None => saturated(&mut b, v, bits),
                    Some((p, bits_p)) => {
                        // Both factors have at most 32 bits, so that their product is exact in 64.
                        let (v, bits) = saturated(&mut b, v, bits);
                        let p = b.binary(BinOp::Mul, p, v);
                        saturated(&mut b, p, bits_p + bits)
                    }
                });
            }
            let mut b = self.at(pre);
            let term = match product {
                None => b.iconst(Type::I64, c.unsigned_abs().min(SATURATED)),
                Some((p, _)) if c == 1 => p,
                Some((p, bits)) => {
                    // A saturated factor makes the product saturated too, unless the other one is 0.
                    let by = c.unsigned_abs().min(SATURATED);
                    let factor = b.iconst(Type::I64, by);
                    let p = b.binary(BinOp::Mul, p, factor);
                    saturated(&mut b, p, bits + u64::BITS - by.leading_zeros()).0
                }
            };
            sum = Some(sum.map_or(term, |s| self.at(pre).binary(BinOp::Add, s, term)));
        }
        Ok(sum.unwrap_or_else(|| self.at(pre).iconst(Type::I64, 0)))
    }

    /// A value that is the same for the group, computed in the block of the expressions.
    pub(super) fn rematerialise(&mut self, expressions: &mut GroupExpressions<'_>, v: Value) -> Result<Value, Stop> {
        if let Some(&done) = expressions.done.get(&v) {
            return Ok(done);
        }
        let func = expressions.func;
        let new = match func.values[v].def {
            // Only parameters of the entry come here: `Shared` admits no others.
            ValueDef::Param(_, k) => match expressions.params[k as usize] {
                Param::Uniform(u) => *expressions.uniform.get(&u).ok_or(bug("a value of the group is missing"))?,
                p => self.group_value(p)?,
            },
            ValueDef::Inst(i) => {
                let data = &func.insts[i];
                let args = data.args.iter().map(|&a| self.rematerialise(expressions, a));
                let args = args.collect::<Result<Args, _>>()?;
                let new = self.at(expressions.pre).push(data.op.clone(), args, Some(func.ty(v)), data.flags);
                new.ok_or(bug("an instruction has no result"))?
            }
        };
        expressions.done.insert(v, new);
        Ok(new)
    }
}

/// A number of so many bits, or, if it may have more than [`PRODUCT_BITS`], the lower one of it and [`SATURATED`]; and
/// how many bits it has then.
fn saturated(b: &mut Builder<'_>, v: Value, bits: u32) -> (Value, u32) {
    if bits <= PRODUCT_BITS {
        return (v, bits);
    }
    let most = b.iconst(Type::I64, SATURATED);
    (b.binary(BinOp::Umin, v, most), 32)
}
