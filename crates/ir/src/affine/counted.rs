//! Counted loops: what decides how many iterations there are.
//!
//! A loop whose header tests a counter against a bound that the loop does not change runs `ceil((bound - start) /
//! step)` times, if the counter does not wrap. [`Rounds`] keeps that as a form, which may be a constant.

use super::form::{Form, Symbol};
use super::{Affine, Ext};
use crate::entity::{Block, Value};
use crate::function::ValueDef;
use crate::inst::{IntCc, Op, Term};

/// The test of a header that decides alone whether its loop goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeaderTest {
    /// The header.
    pub header: Block,
    /// The block of the loop that follows,
    pub stay: Block,
    /// and the one outside.
    pub exit: Block,
    /// The header's parameter that is compared.
    pub counter: Value,
    /// Its number.
    pub index: usize,
    /// The loop goes on while `counter cc bound`. The bound is defined outside of the loop.
    pub cc: IntCc,
    /// What it is compared with.
    pub bound: Value,
}

/// A loop that counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counted {
    /// Index in [`crate::loops::Loops::loops`].
    pub number: usize,
    /// What decides. Nothing else leaves the loop.
    pub test: HeaderTest,
    /// The one block that goes back to the header.
    pub latch: Block,
    /// What the counter begins with, modulo its width.
    pub start: Form,
    /// What each iteration adds, modulo its width. The loop does not change it.
    pub step: Form,
}

/// A number of iterations: `distance / step`, rounded up, and 0 if the distance is negative.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rounds {
    /// From the first number to the first one that is too large.
    pub distance: Form,
    /// Constant, at least 1.
    pub step: u64,
}

impl Rounds {
    /// The number, if it is known.
    pub fn known(&self) -> Option<u64> {
        let distance = self.distance.as_const()?;
        Some(u64::try_from(distance).map_or(0, |d| d.div_ceil(self.step)))
    }
}

impl Affine<'_> {
    /// The test at a header, if one counts: turned so that the counter is on the left and the loop goes on while it
    /// holds.
    pub fn header_test(&self, l: usize) -> Option<HeaderTest> {
        let (func, header) = (self.func, self.loops.loops[l].header);
        let Term::Branch { cond, then, els } = &func.blocks[header].term else { return None };
        let (stays, other) = (self.is_in(then.block, l), self.is_in(els.block, l));
        if stays == other {
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
        let (counter, bound, cc) = if param(a).is_some() { (a, b, cc) } else { (b, a, cc.swapped()) };
        let index = param(counter)?;
        let outside = self.is_invariant(l, Symbol::Value(bound, Ext::Own));
        outside.then_some(HeaderTest { header, stay, exit, counter, index, cc, bound })
    }

    /// The loop as one that counts, if it does: its header alone decides, and one latch goes back.
    pub fn counted(&self, l: usize) -> Option<Counted> {
        let data = &self.loops.loops[l];
        let (&[latch], test) = (&data.latches[..], self.header_test(l)?) else { return None };
        if !data.exits.iter().all(|&(from, _)| from == data.header) {
            return None;
        }
        let form = self.headers.get(&(test.counter, Ext::Own))?;
        let (start, step) = self.split(l, form)?;
        Some(Counted { number: l, test, latch, start, step })
    }

    /// How often a loop that counts goes round, if its counter is known not to wrap before.
    pub fn trip_count(&self, counted: &Counted) -> Option<Rounds> {
        self.rounds_while(counted.number, counted.test.cc, counted.test.counter, counted.test.bound)
    }

    /// In how many iterations of a loop, from the first one on, `a cc b` holds: it does not after that. For an effect
    /// under such a condition, that is the end of the iterations that matter. One side must grow by a constant, both
    /// must be exact in the sign of the comparison, and the loop must not change the other.
    pub fn rounds_while(&self, l: usize, cc: IntCc, a: Value, b: Value) -> Option<Rounds> {
        let (ext, closed) = match cc {
            IntCc::Slt => (Ext::Signed, false),
            IntCc::Sle => (Ext::Signed, true),
            IntCc::Ult => (Ext::Unsigned, false),
            IntCc::Ule => (Ext::Unsigned, true),
            IntCc::Sgt | IntCc::Sge | IntCc::Ugt | IntCc::Uge => return self.rounds_while(l, cc.swapped(), b, a),
            IntCc::Eq | IntCc::Ne => return None,
        };
        // Of 64 bits, a form knows nothing of wrapping.
        if self.bits(a) == 64 && !self.is_exact_wide(l, cc, a, b) {
            return None;
        }
        let distance = self.form_at(b, ext, l)?.minus(&self.form_at(a, ext, l)?);
        let (mut distance, by) = self.split(l, &distance)?;
        let step = by.as_const().filter(|&s| s < 0)?.unsigned_abs();
        if closed {
            distance = distance.plus(&Form::constant(distance.bits(), 1));
        }
        Some(Rounds { distance, step })
    }

    /// Whether numbers of 64 bits and their difference are known not to wrap: a counter goes from a number that is not
    /// negative up to such a bound, by one, or so that the bound leaves room.
    fn is_exact_wide(&self, l: usize, cc: IntCc, a: Value, b: Value) -> bool {
        if (self.facts.no_wrap)(a) {
            return true;
        }
        let is_tested = self.header_test(l).is_some_and(|t| (t.counter, t.cc, t.bound) == (a, cc, b));
        let start = self.first(l, a).and_then(|f| f.as_const());
        let step = self.const_slope(l, a).filter(|&s| s > 0);
        let (Some(step), Some((low, high)), true) = (step, self.range(b), is_tested) else { return false };
        let most = if matches!(cc, IntCc::Slt | IntCc::Ult) { high.checked_sub(1) } else { Some(high) };
        let room = most.and_then(|most| most.checked_add(step)).is_some();
        low >= 0 && room && start.is_some_and(|s| s >= 0)
    }
}
