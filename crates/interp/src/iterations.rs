//! In which iteration of its loops a work-item is.
//!
//! In come the edges that a work-item takes; kept is a stack of counters, one for each loop around the point that it
//! has reached, in all functions that it is in. A barrier in a loop demands that all work-items of a group execute it
//! in the same iterations; and a loop that does not end is the one whose counter is the greatest.

use crate::code::To;
use cloom_ir::Span;

/// A loop that a work-item is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Counter {
    /// Where the loop starts.
    head: Span,
    /// How many times it has gone round.
    rounds: u64,
}

/// The loops that a work-item is in, outermost first. It may still have loops that were left; the depth of an
/// instruction says how many count.
#[derive(Default)]
pub(crate) struct Iterations(Vec<Counter>);

impl Iterations {
    /// Forgets those of a function that returns, or all.
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// The loops of a function begin at `base`, so many of which are around the point of a call: those of the callee
    /// come behind them.
    pub fn enter(&mut self, base: usize, depth: u32) -> usize {
        self.0.truncate(base + depth as usize);
        self.0.len()
    }

    /// Takes an edge to the header of a loop, which is the `to.loop_depth`-th of the function.
    pub fn edge(&mut self, base: usize, to: &To, head: Span, goes_back: bool) {
        let index = base + to.loop_depth as usize - 1;
        if goes_back && let Some(counter) = self.0.get_mut(index) {
            counter.rounds += 1;
            self.0.truncate(index + 1);
            return;
        }
        self.0.truncate(index);
        // A jump into the middle of nested loops has not passed the headers of the outer ones.
        self.0.resize(index, Counter { head, rounds: 0 });
        self.0.push(Counter { head, rounds: 0 });
    }

    /// The iteration of the innermost of the loops around an instruction.
    pub fn innermost(&self, base: usize, depth: u32) -> Option<u64> {
        let index = (base + depth as usize).checked_sub(1).filter(|&i| depth > 0 && i >= base)?;
        self.0.get(index).map(|c| c.rounds)
    }

    /// The iterations of the loops from `base` on, so many.
    pub fn rounds(&self, base: usize, depth: u32) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().skip(base).take(depth as usize).map(|c| c.rounds)
    }

    /// The loop that has gone round most often: its start, and how many times. Loops inside of an endless one begin
    /// anew in each of its iterations.
    pub fn most(&self) -> Option<(Span, u64)> {
        let first = self.0.iter().rev().max_by_key(|c| c.rounds)?;
        Some((first.head, first.rounds))
    }
}
