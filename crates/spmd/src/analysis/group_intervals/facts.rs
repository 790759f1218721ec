//! What the conditions of branches and of `select` say of values.

use super::ends::End;
use super::{GroupIntervals, Interval, Need, joined};
use crate::analysis::branch_facts::Fact;
use cloom_ir::{BinOp, Block, IntCc, Op, Value};

impl GroupIntervals<'_> {
    /// What a `select` gives where its condition holds or does not, which bounds what it chooses then.
    pub(super) fn chosen(&mut self, cond: Value, holds: bool, v: Value, at: Block, depth: u32) -> Interval {
        let own = self.of(v, at, depth);
        let Some(data) = self.func.def_inst(cond).map(|i| &self.func.insts[i]) else { return own };
        let Op::Icmp(cc) = data.op else { return own };
        if !self.func.ty(data.args[0]).is_int() {
            return own;
        }
        let cc = if holds { cc } else { cc.negated() };
        let (x, y) = (data.args[0], data.args[1]);
        // Of the number compared, or of one that is a constant away from it.
        for (cc, x, y) in [(cc, x, y), (cc.swapped(), y, x)] {
            let (base, moved) = self.moved(v);
            let (other, by) = self.moved(x);
            if base != other {
                continue;
            }
            let compared = self.of(x, at, depth);
            let fact = Fact { block: at, before: at, cc, other: y };
            let compared = self.by_facts(compared, &[fact], depth);
            let by = moved.wrapping_sub(by);
            let low = compared.low.map(|end| self.ends.plus(end, by));
            let high = compared.high.map(|end| self.ends.plus(end, by));
            if low.is_some() && high.is_some() {
                return self.within_type(Interval { low, high, needs: compared.needs }, v);
            }
        }
        own
    }

    /// A value as another one and what is added to it.
    fn moved(&self, v: Value) -> (Value, i64) {
        let func = self.func;
        let Some(data) = func.def_inst(v).map(|i| &func.insts[i]) else { return (v, 0) };
        let Some(c) = data.args.get(1).and_then(|&c| func.const_bits(c)) else { return (v, 0) };
        let unused = 64 - func.ty(v).scalar.bits();
        let c = (c << unused) as i64 >> unused;
        match data.op {
            Op::Binary(BinOp::Add) => (data.args[0], c),
            Op::Binary(BinOp::Sub) => (data.args[0], c.wrapping_neg()),
            _ => (v, 0),
        }
    }

    pub(super) fn with_facts(&mut self, own: Interval, v: Value, at: Block, depth: u32) -> Interval {
        let Some(facts) = self.facts.get(&v) else { return own };
        let facts: Vec<Fact> = facts.iter().copied().filter(|fact| self.dom.dominates(fact.block, at)).collect();
        if facts.is_empty() { own } else { self.by_facts(own, &facts, depth) }
    }

    /// An interval with what conditions say of it.
    fn by_facts(&mut self, own: Interval, facts: &[Fact], depth: u32) -> Interval {
        // All ends that are known to hold; the best one is not known before run time.
        let (mut lows, mut highs): (Vec<End>, Vec<End>) =
            (own.low.into_iter().collect(), own.high.into_iter().collect());
        let mut needs = own.needs;
        // What differs comes last: it says something where the number is known to lie on one side.
        let (differs, others): (Vec<Fact>, Vec<Fact>) = facts.iter().partition(|fact| fact.cc == IntCc::Ne);
        for fact in others.into_iter().chain(differs) {
            let other = self.of(fact.other, fact.before, depth - 1);
            let mut used = true;
            match (fact.cc, other.low, other.high) {
                (IntCc::Slt, _, Some(high)) => highs.push(self.ends.plus(high, -1)),
                (IntCc::Sle, _, Some(high)) => highs.push(high),
                (IntCc::Sgt, Some(low), _) => lows.push(self.ends.plus(low, 1)),
                (IntCc::Sge, Some(low), _) => lows.push(low),
                (IntCc::Eq, Some(low), Some(high)) => {
                    lows.push(low);
                    highs.push(high);
                }
                // Below a number without a sign that is not negative: not negative itself.
                (IntCc::Ult | IntCc::Ule, Some(low), Some(high))
                    if !self.only_constants || self.ends.range(low).0 >= 0 =>
                {
                    if self.ends.range(low).0 < 0 {
                        needs = joined(&needs, &[Need { end: low, min: 0, max: i64::MAX }]);
                    }
                    lows.push(self.ends.constant(0));
                    let by = if fact.cc == IntCc::Ult { -1 } else { 0 };
                    highs.push(self.ends.plus(high, by));
                }
                (IntCc::Ugt | IntCc::Uge, Some(low), _)
                    if lows.iter().any(|&low| self.ends.range(low).0 >= 0) && self.ends.range(low).0 >= 0 =>
                {
                    let by = if fact.cc == IntCc::Ugt { 1 } else { 0 };
                    lows.push(self.ends.plus(low, by));
                }
                (IntCc::Ne, Some(low), Some(high)) if low == high => {
                    let ends = [Some(low), self.as_sum(fact, depth)];
                    used = ends.into_iter().flatten().any(|end| self.differs(end, &mut lows, &mut highs));
                }
                _ => used = false,
            }
            if used {
                needs = joined(&needs, &other.needs);
            }
        }
        let low = lows.into_iter().reduce(|a, b| self.ends.max(a, b));
        let high = highs.into_iter().reduce(|a, b| self.ends.min(a, b));
        Interval { low, high, needs }
    }

    /// Moves an end that a number differs from.
    fn differs(&mut self, from: End, lows: &mut Vec<End>, highs: &mut Vec<End>) -> bool {
        let is_zero = self.ends.range(from) == (0, 0);
        if is_zero && lows.iter().any(|&low| self.ends.range(low).0 == 0) {
            // Zero or more, and not zero.
            lows.push(self.ends.constant(1));
        } else if highs.iter().any(|&end| self.ends.is_same(end, from)) {
            highs.push(self.ends.plus(from, -1));
        } else if lows.iter().any(|&end| self.ends.is_same(end, from)) {
            lows.push(self.ends.plus(from, 1));
        } else {
            return false;
        }
        true
    }

    /// The number that a fact compares with as one that is a constant away from another, such as `n - 1`. Where that
    /// wraps, an end that is the same is no number of the type, and no work-item or each one is within it.
    fn as_sum(&mut self, fact: Fact, depth: u32) -> Option<End> {
        let (base, by) = self.moved(fact.other);
        let of = self.of(base, fact.before, depth - 1);
        let end = of.low.filter(|_| by != 0 && of.low == of.high && of.needs.is_empty())?;
        Some(self.ends.plus(end, by))
    }
}
