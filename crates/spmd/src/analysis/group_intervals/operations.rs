//! The interval of an operation's result, from those of its operands.

use super::ends::{End, Ends};
use super::{GroupIntervals, Interval, Need, Needs, joined};
use cloom_ir::{BinOp, Block, CastOp, Inst, Op, Type, Value};

/// Longer shifts are those of hashes.
const MAX_SHIFT: u64 = 20;

/// Factors of 64 bits must not be larger.
const MOST_FACTOR: i64 = 1 << 31;

impl GroupIntervals<'_> {
    pub(super) fn of_inst(&mut self, i: Inst, v: Value, at: Block, depth: u32) -> Interval {
        let func = self.func;
        let data = &func.insts[i];
        let arg = |k: usize| data.args[k];
        let constant = |k: usize| func.const_bits(data.args[k]);
        let depth = depth - 1;
        match data.op {
            Op::Binary(op @ (BinOp::Add | BinOp::Sub)) => {
                let (x, y) = (self.of(arg(0), at, depth), self.of(arg(1), at, depth));
                let ends = &mut self.ends;
                let (low, high) = match op {
                    BinOp::Add => {
                        (x.low.zip(y.low).map(|(a, b)| ends.sum(a, b)), x.high.zip(y.high).map(|(a, b)| ends.sum(a, b)))
                    }
                    _ => (
                        x.low.zip(y.high).map(|(a, b)| ends.difference(a, b)),
                        x.high.zip(y.low).map(|(a, b)| ends.difference(a, b)),
                    ),
                };
                let needs = joined(&x.needs, &y.needs);
                match (low, high) {
                    (Some(_), Some(_)) => self.within_type(Interval { low, high, needs }, v),
                    // What is not known may be anything: the sum may wrap there, and then has no other end either. A
                    // step up does not wrap at the lower end, nor one down at the upper end.
                    _ => self.step(op, &x, &y, Interval { low, high, needs }, v),
                }
            }
            Op::Binary(BinOp::Mul) => self.product(arg(0), arg(1), v, at, depth),
            Op::Binary(BinOp::Shl) => {
                let Some(by) = constant(1).filter(|&by| by <= MAX_SHIFT) else { return Interval::unknown() };
                let x = self.of(arg(0), at, depth);
                let (Some(low), Some(high)) = (x.low, x.high) else { return Interval::unknown() };
                let by = self.ends.constant(1 << by);
                let (low, high) = (self.ends.product(low, by), self.ends.product(high, by));
                self.within_type(Interval { low: Some(low), high: Some(high), needs: x.needs }, v)
            }
            Op::Binary(BinOp::Ashr | BinOp::Lshr) => {
                let Some(by) = constant(1).filter(|&by| by < u64::from(func.ty(v).scalar.bits())) else {
                    return Interval::unknown();
                };
                let mut x = self.of(arg(0), at, depth);
                if data.op == Op::Binary(BinOp::Lshr) {
                    let Some(positive) = self.not_negative(x) else { return Interval::unknown() };
                    x = positive;
                }
                let mut shifted = |end: End| self.ends.shifted(end, by as u32);
                Interval { low: x.low.map(&mut shifted), high: x.high.map(&mut shifted), needs: x.needs }
            }
            Op::Binary(BinOp::Udiv | BinOp::Sdiv) => {
                let x = self.of(arg(0), at, depth);
                let (Some(x), Some(by)) = (self.not_negative(x), self.divisor(arg(1), at, depth)) else {
                    return Interval::unknown();
                };
                let needs = joined(&x.needs, &by.needs);
                match constant(1).and_then(|by| i64::try_from(by).ok()).filter(|&by| by > 0) {
                    Some(by) => {
                        let mut of = |end: End| self.ends.quotient(end, by);
                        Interval { low: x.low.map(&mut of), high: x.high.map(&mut of), needs }
                    }
                    None => Interval { low: Some(self.ends.constant(0)), high: x.high, needs },
                }
            }
            Op::Binary(op @ (BinOp::Urem | BinOp::Srem)) => {
                let Some(by) = self.divisor(arg(1), at, depth) else { return Interval::unknown() };
                let Some(most) = by.high.map(|end| self.ends.plus(end, -1)) else { return Interval::unknown() };
                let low = Some(self.ends.constant(0));
                let by = Interval { low, high: Some(most), needs: by.needs };
                if op == BinOp::Urem {
                    return by;
                }
                let x = self.of(arg(0), at, depth);
                let Some(x) = self.not_negative(x) else { return Interval::unknown() };
                Interval { needs: joined(&by.needs, &x.needs), ..by }
            }
            Op::Binary(BinOp::And) => {
                let Some(most) = constant(1).filter(|&c| c <= self.sign(v) as u64) else { return Interval::unknown() };
                let (low, high) = (self.ends.constant(0), self.ends.constant(most as i64));
                Interval { low: Some(low), high: Some(high), needs: Needs::default() }
            }
            Op::Binary(op @ (BinOp::Smin | BinOp::Smax)) => self.extremum(op, arg(0), arg(1), at, depth),
            Op::Binary(BinOp::Umin) => {
                let (x, y) = (self.of(arg(0), at, depth), self.of(arg(1), at, depth));
                // The smaller one is not above the other, which is no large number.
                match self.not_negative(y).or_else(|| self.not_negative(x)) {
                    Some(one) => Interval { low: Some(self.ends.constant(0)), ..one },
                    None => Interval::unknown(),
                }
            }
            Op::Select => {
                let x = self.chosen(arg(0), true, arg(1), at, depth);
                let y = self.chosen(arg(0), false, arg(2), at, depth);
                self.join(Some(x), y)
            }
            Op::Cast(CastOp::Sext) if func.ty(arg(0)) != Type::I1 => self.of(arg(0), at, depth),
            Op::Cast(CastOp::Zext) if func.ty(arg(0)) != Type::I1 => {
                let x = self.of(arg(0), at, depth);
                self.not_negative(x).unwrap_or_else(Interval::unknown)
            }
            Op::Cast(CastOp::Trunc) => {
                let x = self.of(arg(0), at, depth);
                let is_whole = x.low.is_some() && x.high.is_some();
                if is_whole { self.within_type(x, v) } else { Interval::unknown() }
            }
            _ => Interval::unknown(),
        }
    }

    /// The sum or the difference of a number with one end and a step away from the other one.
    fn step(&mut self, op: BinOp, x: &Interval, y: &Interval, of: Interval, v: Value) -> Interval {
        let is_half = |x: &Interval| x.low.is_some() != x.high.is_some();
        let (from, step) = if is_half(x) { (x, y) } else { (y, x) };
        let (Some(low), Some(high)) = (step.low, step.high) else { return Interval::unknown() };
        let need = match (op, from.low, from.high) {
            (BinOp::Add, None, Some(_)) => Need { end: low, min: 0, max: i64::MAX },
            (BinOp::Add, Some(_), None) => Need { end: high, min: i64::MIN, max: 0 },
            (BinOp::Sub, Some(_), None) if is_half(x) => Need { end: low, min: 0, max: i64::MAX },
            (BinOp::Sub, None, Some(_)) if is_half(x) => Need { end: high, min: i64::MIN, max: 0 },
            _ => return Interval::unknown(),
        };
        let (least, most) = self.ends.range(need.end);
        let new = if least < need.min || most > need.max { vec![need] } else { Vec::new() };
        self.within_type(Interval { needs: joined(&of.needs, &new), ..of }, v)
    }

    /// An interval that must not be below zero, if its lower end is known.
    fn not_negative(&mut self, of: Interval) -> Option<Interval> {
        let low = of.low?;
        let needs = match self.ends.range(low) {
            (0.., _) => of.needs,
            _ => joined(&of.needs, &[Need { end: low, min: 0, max: i64::MAX }]),
        };
        Some(Interval { needs, ..of })
    }

    /// The interval of a divisor, which must be one or more.
    fn divisor(&mut self, v: Value, at: Block, depth: u32) -> Option<Interval> {
        let of = self.of(v, at, depth);
        let low = of.low?;
        let needs = match self.ends.range(low) {
            (1.., _) => of.needs,
            _ => joined(&of.needs, &[Need { end: low, min: 1, max: i64::MAX }]),
        };
        Some(Interval { needs, ..of })
    }

    fn product(&mut self, x: Value, y: Value, v: Value, at: Block, depth: u32) -> Interval {
        let (x, y) = (self.of(x, at, depth), self.of(y, at, depth));
        let (Some(a), Some(b), Some(c), Some(d)) = (x.low, x.high, y.low, y.high) else { return Interval::unknown() };
        // The ends of a number of 32 bits lie within its type, or all but a few numbers away where a condition gives
        // them.
        let (x, y) = match self.func.ty(v) == Type::I64 {
            true => (self.within(x, -MOST_FACTOR, MOST_FACTOR), self.within(y, -MOST_FACTOR, MOST_FACTOR)),
            false => (x, y),
        };
        let mut needs = joined(&x.needs, &y.needs);
        let is_const = |ends: &Ends, low: End, high: End| {
            let (least, most) = ends.range(low);
            (least == most && low == high).then_some(least)
        };
        let (low, high) = match (is_const(&self.ends, a, b), is_const(&self.ends, c, d)) {
            // A constant below zero turns the interval round.
            (_, Some(..=-1)) => (self.ends.product(b, c), self.ends.product(a, c)),
            (Some(..=-1), _) => (self.ends.product(a, d), self.ends.product(a, c)),
            (_, Some(_)) => (self.ends.product(a, c), self.ends.product(b, c)),
            (Some(_), _) => (self.ends.product(a, c), self.ends.product(a, d)),
            _ => {
                let new = [a, c].into_iter().filter(|&low| self.ends.range(low).0 < 0);
                let new: Vec<Need> = new.map(|end| Need { end, min: 0, max: i64::MAX }).collect();
                needs = joined(&needs, &new);
                // Neither end is below zero: the needs say it of the lower ones, and of the upper ones what executes.
                (self.ends.product_of_naturals(a, c), self.ends.product(b, d))
            }
        };
        self.within_type(Interval { low: Some(low), high: Some(high), needs }, v)
    }

    /// The smaller or the greater of two: one known end is enough where it is the one that counts.
    fn extremum(&mut self, op: BinOp, x: Value, y: Value, at: Block, depth: u32) -> Interval {
        let (x, y) = (self.of(x, at, depth), self.of(y, at, depth));
        let ends = &mut self.ends;
        let both = |a: Option<End>, b: Option<End>, f: fn(&mut Ends, End, End) -> End, ends: &mut Ends| {
            a.zip(b).map(|(a, b)| f(ends, a, b))
        };
        let (low, high) = match op {
            BinOp::Smin => {
                (both(x.low, y.low, Ends::min, ends), both(x.high, y.high, Ends::min, ends).or(x.high).or(y.high))
            }
            _ => (both(x.low, y.low, Ends::max, ends).or(x.low).or(y.low), both(x.high, y.high, Ends::max, ends)),
        };
        Interval { low, high, needs: joined(&x.needs, &y.needs) }
    }
}
