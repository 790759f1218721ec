//! Counted loops: the test that decides the trip count.
//!
//! A loop whose header tests a counter against a bound that the loop does not change runs `ceil((bound - start) /
//! step)` times, if the counter does not wrap. [`TripCount`] is that trip count, as a form that may be a constant.

use super::form::{Form, Symbol};
use super::{Affine, Ext};
use crate::entity::{Block, Value};
use crate::function::{Function, ValueDef};
use crate::inst::{IntCc, Op, Term};
use crate::loops::Loop;

/// The test in a header that alone decides whether the loop continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeaderTest {
    /// The header.
    pub header: Block,
    /// The block of the loop that follows,
    pub stay: Block,
    /// and the one outside.
    pub exit: Block,
    /// The header's parameter that is compared: the counter.
    pub counter: Value,
    /// Its number.
    pub index: usize,
    /// The loop continues while `counter cc bound`. The bound is defined outside of the loop.
    pub cc: IntCc,
    /// The bound of the counter.
    pub bound: Value,
}

impl HeaderTest {
    /// The test of a loop's header, if a counter decides: turned so that the counter is on the left and the loop goes
    /// on while it holds. It needs no analysis of the function, so that passes find candidates by it.
    pub fn of(func: &Function, l: &Loop) -> Option<HeaderTest> {
        let outside = |v| !func.is_defined_in(v, &l.blocks);
        HeaderTest::find(func, l.header, &|b| l.blocks.contains(&b), &outside)
    }

    fn find(
        func: &Function,
        header: Block,
        is_in_loop: &dyn Fn(Block) -> bool,
        is_outside: &dyn Fn(Value) -> bool,
    ) -> Option<HeaderTest> {
        let Term::Branch { cond, then, els } = &func.blocks[header].term else { return None };
        let stays = is_in_loop(then.block);
        // Both edges stay in the loop, or both leave it: the test decides nothing.
        if stays == is_in_loop(els.block) {
            return None;
        }
        let compare = &func.insts[func.def_inst(*cond)?];
        let Op::Icmp(cc) = compare.op else { return None };
        let cc = if stays { cc } else { cc.negated() };
        let (stay, exit) = if stays { (then.block, els.block) } else { (els.block, then.block) };
        let param = |v: Value| match func.values[v].def {
            ValueDef::Param(b, k) if b == header => Some(k as usize),
            _ => None,
        };
        let (a, b) = (compare.args[0], compare.args[1]);
        // `n > i` is read as `i < n`.
        let (counter, bound, cc) = if param(a).is_some() { (a, b, cc) } else { (b, a, cc.swapped()) };
        let index = param(counter)?;
        is_outside(bound).then_some(HeaderTest { header, stay, exit, counter, index, cc, bound })
    }

    /// As which numbers the counter is less than the bound, or not greater, while the loop goes on. None if the loop
    /// counts down, or to one number alone.
    pub fn reading(&self) -> Option<Ext> {
        Some(upper(self.cc)?.0)
    }

    /// As which numbers the counter is greater than the bound, or not less, while the loop goes on.
    pub fn reading_down(&self) -> Option<Ext> {
        Some(upper(self.cc.swapped())?.0)
    }

    /// Whether the loop goes on when the counter is equal to the bound.
    pub fn is_inclusive(&self) -> bool {
        matches!(self.cc, IntCc::Sle | IntCc::Ule | IntCc::Sge | IntCc::Uge | IntCc::Eq)
    }
}

/// For a comparison with an upper bound, as which numbers both are read, and whether they may be equal.
fn upper(cc: IntCc) -> Option<(Ext, bool)> {
    match cc {
        IntCc::Slt => Some((Ext::Signed, false)),
        IntCc::Sle => Some((Ext::Signed, true)),
        IntCc::Ult => Some((Ext::Unsigned, false)),
        IntCc::Ule => Some((Ext::Unsigned, true)),
        IntCc::Sgt | IntCc::Sge | IntCc::Ugt | IntCc::Uge | IntCc::Eq | IntCc::Ne => None,
    }
}

/// A loop that counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counted {
    /// Index in [`crate::loops::Loops::loops`].
    pub number: usize,
    /// The test. It is the loop's only exit.
    pub test: HeaderTest,
    /// The single latch.
    pub latch: Block,
    /// The initial value of the counter, modulo its width.
    pub start: Form,
    /// The step of the counter, modulo its width. It is loop-invariant.
    pub step: Form,
}

/// A number of iterations: `distance / step`, rounded up, and 0 if the distance is negative.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TripCount {
    /// From the initial value to the first value that fails the test.
    pub distance: Form,
    /// Constant, at least 1.
    pub step: u64,
}

impl TripCount {
    /// The number, if it is known.
    pub fn known(&self) -> Option<u64> {
        let distance = self.distance.as_const()?;
        Some(u64::try_from(distance).map_or(0, |d| d.div_ceil(self.step)))
    }
}

impl Affine<'_> {
    /// The test of a loop's header, if a counter decides: see [`HeaderTest::of`].
    pub fn header_test(&self, l: usize) -> Option<HeaderTest> {
        let outside = |v| self.is_invariant(l, Symbol::Value(v, Ext::Own));
        HeaderTest::find(self.func, self.loops.loops[l].header, &|b| self.is_in(b, l), &outside)
    }

    /// The loop as a counted one, if its header is the only exit and it has one latch.
    pub fn counted(&self, l: usize) -> Option<Counted> {
        // With a second exit the loop may end before the test fails. The single latch is for passes that rewrite the
        // loop: all latches of a recurrence have the same step.
        let data = &self.loops.loops[l];
        let (&[latch], test) = (&data.latches[..], self.header_test(l)?) else { return None };
        if !data.exits.iter().all(|&(from, _)| from == data.header) {
            return None;
        }
        let form = self.headers.get(&(test.counter, Ext::Own))?;
        let (start, step) = self.split(l, form)?;
        Some(Counted { number: l, test, latch, start, step })
    }

    /// The trip count of a counted loop, if its counter is known not to wrap.
    pub fn trip_count(&self, counted: &Counted) -> Option<TripCount> {
        self.trip_count_while(counted.number, counted.test.cc, counted.test.counter, counted.test.bound)
    }

    /// The number of iterations, from the first on, in which `a cc b` holds; it does not hold afterwards. If the
    /// effects of a loop are control-dependent on the condition, later iterations do nothing. One side must have a
    /// constant step, the other be loop-invariant, and both be exact in the comparison's signedness.
    pub fn trip_count_while(&self, l: usize, cc: IntCc, a: Value, b: Value) -> Option<TripCount> {
        let Some((ext, closed)) = upper(cc) else {
            // `a > b` counts like `b < a`. Equality has no upper bound either way round, so that this ends.
            return upper(cc.swapped()).and_then(|_| self.trip_count_while(l, cc.swapped(), b, a));
        };
        // A form of 64 bits does not say whether it wraps.
        if self.bits(a) == 64 && !self.is_exact_wide(l, cc, a, b) {
            return None;
        }
        // The distance from `a` to `b` shrinks in each iteration: one subtraction serves a counter that rises to a
        // fixed bound, and a bound that falls to a fixed number.
        let distance = self.form_at(b, ext, l)?.minus(&self.form_at(a, ext, l)?);
        let (mut distance, by) = self.split(l, &distance)?;
        let step = by.as_const().filter(|&s| s < 0)?.unsigned_abs();
        if closed {
            // `a <= b` is `a < b + 1`. Extended numbers have at most 32 bits, so that the sum does not wrap in 64; at
            // 64 bits `is_exact_wide` has looked for room.
            distance = distance.plus(&Form::constant(distance.bits(), 1));
        }
        Some(TripCount { distance, step })
    }

    /// Whether the distance in 64 bits is known not to wrap: the counter goes from a non-negative number to a
    /// non-negative bound, by one, or the bound leaves room for a step.
    fn is_exact_wide(&self, l: usize, cc: IntCc, a: Value, b: Value) -> bool {
        if upper(cc).is_some_and(|(ext, _)| (self.facts.no_wrap)(a, ext)) {
            return true;
        }
        let is_tested = self.header_test(l).is_some_and(|t| (t.counter, t.cc, t.bound) == (a, cc, b));
        let start = self.first(l, a).and_then(|f| f.as_const());
        let step = self.const_slope(l, a).filter(|&s| s > 0);
        let (Some(step), Some((low, high)), true) = (step, self.range(b), is_tested) else { return false };
        // The counter is at most `most` when the test lets it pass, and must not wrap in the step after that.
        let most = if matches!(cc, IntCc::Slt | IntCc::Ult) { high.checked_sub(1) } else { Some(high) };
        let room = most.and_then(|most| most.checked_add(step)).is_some();
        low >= 0 && room && start.is_some_and(|s| s >= 0)
    }
}
