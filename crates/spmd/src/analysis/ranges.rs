//! Value ranges of integers, also of those carried around loops.
//!
//! In comes a function with bounds of its parameters; out goes an interval for each value, whose bits are read as a
//! signed integer. (Unsigned values in the upper half of their type are of no interest here.) Forward dataflow with
//! widening; branch conditions are not used. As in [`crate::analysis::bounds`], a fact holds for every active lane;
//! but here no-wrap flags are trusted too, so that it need not hold for inactive lanes.
//!
//! Intervals are not relational, with one exception that rounding needs: `(x + 15) / 16` is not above `x`.

use crate::analysis::loop_form::Unspecified;
use crate::analysis::shape::sign_extend;
use cloom_ir::cfg::Cfg;
use cloom_ir::{BinOp, Block, CastOp, Entity, Flags, Function, InstData, Op, Type, UnOp, Value};

/// An interval of signed integers, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The minimum.
    pub low: i64,
    /// The maximum.
    pub high: i64,
}

/// How often the range of a value may grow before it is widened to the next step.
const GROWTHS_BEFORE_WIDENING: u8 = 3;

/// How many definitions the search for a relation between two values follows.
const DEPTH: u32 = 4;

impl Range {
    fn new(low: i64, high: i64) -> Range {
        Range { low, high }
    }

    /// The full range of a type.
    fn all(ty: Type) -> Range {
        if !ty.is_int() {
            return Range::new(i64::MIN, i64::MAX);
        }
        let (low, high) = ty.scalar.signed_range();
        Range::new(low, high)
    }

    fn join(self, other: Range) -> Range {
        Range::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// Whether it is a subset of another range.
    pub fn is_in(self, other: Range) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// Whether no value is negative.
    pub fn is_non_negative(self) -> bool {
        self.low >= 0
    }

    /// The next larger one of a few ranges, so that the fixed point is reached soon.
    fn widened(self, all: Range) -> Range {
        // The steps are the ends of 8 and 16 bits, as `transform::narrow` asks for 16.
        let low = [0, -0x80, -0x8000].into_iter().find(|&x| x <= self.low).unwrap_or(all.low);
        let high = [0xff, 0x7fff, 0xffff].into_iter().find(|&x| self.high <= x).unwrap_or(all.high);
        Range::new(low.max(all.low), high.min(all.high))
    }

    /// The range of a monotone `op`, from the four corners; `None` if one of them wraps.
    fn corners(self, other: Range, op: fn(i64, i64) -> Option<i64>) -> Option<Range> {
        let corner = |a: i64, b: i64| op(a, b).map(|x| Range::new(x, x));
        // The product of two negative ends may be the maximum.
        let (a, b) = (corner(self.low, other.low)?, corner(self.low, other.high)?);
        let (c, d) = (corner(self.high, other.low)?, corner(self.high, other.high)?);
        Some(a.join(b).join(c).join(d))
    }
}

/// The ranges of the values of a function.
pub struct Ranges {
    of: Vec<Option<Range>>,
}

impl Ranges {
    /// Finds the ranges. `params` has the largest unsigned values of the parameters.
    pub fn new(func: &Function, cfg: &Cfg, params: &[u64], unspecified: &Unspecified) -> Ranges {
        let mut r = Ranges { of: vec![None; func.values.len()] };
        let mut growths = vec![0u8; func.values.len()];
        for (&p, &max) in func.param_values().iter().zip(params) {
            let all = Range::all(func.ty(p));
            // A bound in the upper half of the type says nothing about the signed number.
            let bound = i64::try_from(max).ok().filter(|&max| max <= all.high);
            r.of[p.index()] = Some(bound.map_or(all, |max| Range::new(0, max)));
        }
        loop {
            let mut changed = false;
            // Back edges bring news to blocks that were visited: round after round.
            for &b in cfg.rpo() {
                if b != func.entry() {
                    for (k, &p) in func.blocks[b].params.iter().enumerate() {
                        let new = r.incoming(func, cfg, b, k, unspecified);
                        changed |= r.update(func, p, new, &mut growths);
                    }
                }
                for &i in &func.blocks[b].insts {
                    let data = &func.insts[i];
                    let Some(v) = data.result.filter(|&v| func.ty(v).is_int()) else { continue };
                    let new = r.transfer(func, data, func.ty(v));
                    changed |= r.update(func, v, new, &mut growths);
                }
            }
            if !changed {
                return r;
            }
        }
    }

    /// The range of a value.
    pub fn of(&self, func: &Function, v: Value) -> Range {
        self.of[v.index()].unwrap_or(Range::all(func.ty(v)))
    }

    /// Joins a new range into that of a value. Returns whether that changes it.
    fn update(&mut self, func: &Function, v: Value, new: Option<Range>, growths: &mut [u8]) -> bool {
        let all = Range::all(func.ty(v));
        // Operands that are not reached yet give no range: the next round does.
        let (old, Some(new)) = (self.of[v.index()], new) else { return false };
        // Ranges only grow, so that the loop ends.
        let mut new = if new.is_in(all) { old.map_or(new, |old| old.join(new)) } else { all };
        if old == Some(new) {
            return false;
        }
        let count = &mut growths[v.index()];
        *count = count.saturating_add(1);
        // A counter would grow by one in each round.
        if *count > GROWTHS_BEFORE_WIDENING {
            new = new.widened(all);
        }
        self.of[v.index()] = Some(new);
        true
    }

    /// The join of a block parameter's arguments. Values not reached yet count for nothing, nor do unspecified ones.
    fn incoming(&self, func: &Function, cfg: &Cfg, b: Block, k: usize, unspecified: &Unspecified) -> Option<Range> {
        let args = cfg.incoming(func, b).map(|(_, e)| e.args[k]).filter(|a| !unspecified.contains(a));
        args.filter_map(|a| self.of[a.index()]).reduce(Range::join)
    }

    fn transfer(&self, func: &Function, data: &InstData, ty: Type) -> Option<Range> {
        let all = Range::all(ty);
        let arg = |k: usize| self.of[data.args[k].index()];
        Some(match &data.op {
            Op::Const(bits) => {
                let x = sign_extend(*bits, ty.scalar);
                Range::new(x, x)
            }
            Op::Binary(op) => self.binary(func, *op, data, ty)?,
            Op::Unary(UnOp::Clz | UnOp::Ctz | UnOp::Popcount) => Range::new(0, i64::from(ty.scalar.bits())),
            Op::Unary(UnOp::Not) => {
                let x = arg(0)?;
                Range::new(!x.high, !x.low)
            }
            Op::Cast(CastOp::Trunc) => arg(0).filter(|x| x.is_in(all)).unwrap_or(all),
            Op::Cast(CastOp::Zext) => {
                let from = func.ty(data.args[0]).scalar;
                let x = arg(0)?;
                // A negative number becomes a large one.
                if x.is_non_negative() { x } else { Range::new(0, from.mask() as i64) }
            }
            Op::Cast(CastOp::Sext) => arg(0)?,
            Op::Icmp(_) | Op::Fcmp(_) | Op::Any | Op::All => all,
            Op::Select => match (arg(1), arg(2)) {
                (Some(x), Some(y)) => x.join(y),
                // A side that is not reached yet counts for nothing.
                (x, y) => x.or(y)?,
            },
            Op::Shuffle(mask) => {
                let first = func.ty(data.args[0]).lanes;
                let (x, y) = (arg(0)?, arg(1)?);
                // Only operands that a lane is taken from count.
                match (mask.iter().any(|&m| m < first), mask.iter().any(|&m| m >= first)) {
                    (true, false) => x,
                    (false, true) => y,
                    _ => x.join(y),
                }
            }
            // The range of a short vector is that of all its components.
            Op::Extract | Op::Splat => arg(0)?,
            Op::Insert => arg(0)?.join(arg(2)?),
            Op::Build => data.args.iter().map(|a| self.of[a.index()]).reduce(|x, y| Some(x?.join(y?)))??,
            Op::Iota => Range::new(0, i64::from(ty.lanes) - 1),
            _ => all,
        })
    }

    fn binary(&self, func: &Function, op: BinOp, data: &InstData, ty: Type) -> Option<Range> {
        let all = Range::all(ty);
        let (x, y) = (self.of[data.args[0].index()]?, self.of[data.args[1].index()]?);
        let amount = func.const_bits(data.args[1]).map(|k| (k % u64::from(ty.scalar.bits())) as u32);
        let non_negative = x.is_non_negative() && y.is_non_negative();
        let exact = |r: Option<Range>| r.filter(|r| r.is_in(all)).unwrap_or(all);
        Some(match op {
            BinOp::Add => exact(x.corners(y, i64::checked_add)),
            BinOp::Sub => {
                let plain = x.corners(y, i64::checked_sub);
                // `a - b` without a wrap, as a difference of unsigned numbers, is not negative.
                let above = non_negative
                    && (data.flags.contains(Flags::NUW) || self.at_most(func, data.args[1], data.args[0], DEPTH));
                exact(plain.map(|r| if above { Range::new(r.low.max(0), r.high) } else { r }))
            }
            BinOp::Mul => exact(x.corners(y, i64::checked_mul)),
            // The factor must be positive as an `i64`, or the corners would be swapped.
            BinOp::Shl => match amount.map(|k| 1i64.checked_shl(k).filter(|&f| f > 0)) {
                Some(Some(f)) => exact(x.corners(Range::new(f, f), i64::checked_mul)),
                _ => all,
            },
            // A shift brings a number nearer to 0 or -1, by whatever amount.
            BinOp::Ashr => match amount {
                Some(k) => Range::new(x.low >> k, x.high >> k),
                None => Range::new(x.low.min(0), x.high.max(0)),
            },
            BinOp::Lshr if x.is_non_negative() => match amount {
                Some(k) => Range::new(x.low >> k, x.high >> k),
                None => Range::new(0, x.high),
            },
            BinOp::Lshr => match amount {
                Some(k) if k > 0 => Range::new(0, (ty.scalar.mask() >> k) as i64),
                _ => all,
            },
            BinOp::And if non_negative => Range::new(0, x.high.min(y.high)),
            // One operand without a sign bit clears that of the other.
            BinOp::And if x.is_non_negative() => Range::new(0, x.high),
            BinOp::And if y.is_non_negative() => Range::new(0, y.high),
            BinOp::Or | BinOp::Xor if non_negative => Range::new(0, fill_bits_below(x.high | y.high)),
            // The smallest by the largest, and the other way round. A divisor of zero counts as one.
            BinOp::Udiv | BinOp::Sdiv if non_negative => Range::new(x.low / y.high.max(1), x.high / y.low.max(1)),
            // Division by zero divides by one, which leaves no remainder.
            BinOp::Urem | BinOp::Srem if non_negative => Range::new(0, x.high.min((y.high - 1).max(0))),
            BinOp::Smin => Range::new(x.low.min(y.low), x.high.min(y.high)),
            BinOp::Smax => Range::new(x.low.max(y.low), x.high.max(y.high)),
            BinOp::Umin if non_negative => Range::new(x.low.min(y.low), x.high.min(y.high)),
            BinOp::Umax if non_negative => Range::new(x.low.max(y.low), x.high.max(y.high)),
            // A negative value is a large unsigned one.
            BinOp::Umin if x.is_non_negative() => Range::new(0, x.high),
            BinOp::Umin if y.is_non_negative() => Range::new(0, y.high),
            _ => all,
        })
    }

    /// Whether `v <= limit` is proved, where both are not negative.
    fn at_most(&self, func: &Function, v: Value, limit: Value, depth: u32) -> bool {
        if v == limit {
            return true;
        }
        let (Some(i), true) = (func.def_inst(v), depth > 0) else { return false };
        let data = &func.insts[i];
        let non_negative = |v: Value| self.of[v.index()].is_some_and(Range::is_non_negative);
        let is_at_most = |v: Value| self.at_most(func, v, limit, depth - 1);
        let constant = data.args.get(1).and_then(|&c| func.const_bits(c));
        match data.op {
            Op::Binary(BinOp::And | BinOp::Umin) if data.args.iter().all(|&a| non_negative(a)) => {
                data.args.iter().any(|&a| is_at_most(a))
            }
            Op::Binary(BinOp::Lshr) => constant.filter(|&k| k < u64::from(func.ty(v).scalar.bits())).is_some_and(|k| {
                self.rounded_up(func, data.args[0], limit, (1u64 << k) - 1) || is_at_most(data.args[0])
            }),
            Op::Binary(BinOp::Udiv) => constant
                .filter(|&d| d > 0)
                .is_some_and(|d| self.rounded_up(func, data.args[0], limit, d - 1) || is_at_most(data.args[0])),
            _ => false,
        }
    }

    /// Whether `v` is `from` plus a constant of at most `more`, without wrapping.
    fn rounded_up(&self, func: &Function, v: Value, from: Value, more: u64) -> bool {
        let Some(i) = func.def_inst(v) else { return false };
        let data = &func.insts[i];
        let (Op::Binary(BinOp::Add), Some(c)) = (&data.op, data.args.get(1).and_then(|&c| func.const_bits(c))) else {
            return false;
        };
        let (Some(x), high) = (self.of[from.index()], Range::all(func.ty(v)).high) else { return false };
        data.args[0] == from && c <= more && x.high.checked_add(c as i64).is_some_and(|sum| sum <= high)
    }
}

/// All bits up to the highest set bit of a value that is not negative.
fn fill_bits_below(x: i64) -> i64 {
    (u64::MAX >> 1 >> (x.leading_zeros().max(1) - 1)) as i64
}
