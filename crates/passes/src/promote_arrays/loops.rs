//! The loops that have to be unrolled, so that the offsets of accesses become known.

use super::MAX_OPERATIONS;
use super::array::Array;
use crate::loops::full_unroll::{Known, count};
use crate::util::operations;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{Block, Function, Op, Term, Type, Value, ValueDef};
use rustc_hash::{FxHashMap, FxHashSet};

/// Loops with a different element in each iteration, and the loops that determine their trip counts.
pub(super) struct Wanted<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    dom: &'a DomTree,
    all: &'a Loops,
    /// Numbers of loops.
    list: Vec<usize>,
    /// The trip count of each loop that was asked for, if it is known before others are unrolled.
    trips: FxHashMap<usize, Option<Trips>>,
}

/// How often a loop runs.
#[derive(Clone, Copy)]
pub(super) struct Trips {
    /// The number of the loop.
    pub number: usize,
    /// The block that leaves it.
    pub leaving: Block,
    /// How often that block stays in the loop.
    pub count: usize,
}

impl<'a> Wanted<'a> {
    /// None yet.
    pub fn new(func: &'a Function, cfg: &'a Cfg, dom: &'a DomTree, all: &'a Loops) -> Wanted<'a> {
        Wanted { func, cfg, dom, all, list: Vec::new(), trips: FxHashMap::default() }
    }

    /// Adds the loops around an array's accesses. Returns false, and changes nothing, if after unrolling the offsets
    /// would not be constants or selects of constants, or if the code would be too long.
    pub fn add(&mut self, array: &Array) -> bool {
        let before = self.list.len();
        let is_known = self.add_accesses(array);
        if !is_known {
            self.list.truncate(before);
        }
        is_known
    }

    fn add_accesses(&mut self, array: &Array) -> bool {
        // One set for all accesses, so that what several addresses are made of is followed once.
        let mut seen = FxHashSet::default();
        for &access in &array.accesses {
            if !self.add_loops(self.func.insts[access].args[0], false, &mut seen) {
                return false;
            }
        }
        let mut at = 0;
        // The list grows on the way: the bounds of a loop may depend on the counters of loops around it.
        while let Some(&l) = self.list.get(at) {
            if !self.is_counted(l) {
                return false;
            }
            at += 1;
        }
        // Only the outermost loops need their trip counts now; those inside may know theirs once these are unrolled.
        self.outermost_numbers().into_iter().all(|l| self.trips(l).is_some()) && self.size() <= MAX_OPERATIONS
    }

    /// The outermost of the loops, with their trip counts.
    pub fn outermost(mut self) -> Vec<Trips> {
        self.outermost_numbers().into_iter().filter_map(|l| self.trips(l)).collect()
    }

    fn outermost_numbers(&self) -> Vec<usize> {
        self.list.iter().copied().filter(|&l| self.is_outermost(l)).collect()
    }

    fn is_outermost(&self, l: usize) -> bool {
        let mut around = self.all.loops[l].parent;
        while let Some(outer) = around {
            if self.list.contains(&outer) {
                return false;
            }
            around = self.all.loops[outer].parent;
        }
        true
    }

    /// Adds the loops that a value depends on. Returns false if it depends on anything else but constants and the
    /// array. A truth value may be anything, unless `conditions` matter.
    fn add_loops(&mut self, value: Value, conditions: bool, seen: &mut FxHashSet<Value>) -> bool {
        let func = self.func;
        let mut open = vec![value];
        while let Some(v) = open.pop() {
            // A select by an unknown condition is a choice of two known offsets, which `choose` writes. A trip count
            // needs the condition itself.
            if !seen.insert(v) || func.ty(v) == Type::I1 && !conditions {
                continue;
            }
            match func.values[v].def {
                ValueDef::Param(b, _) if b == func.entry() => return false,
                // The parameter of a header differs between iterations; unrolled, it is a value of its own in each
                // copy.
                ValueDef::Param(b, k) => {
                    if let Some(l) = self.all.loops.iter().position(|l| l.header == b)
                        && !self.list.contains(&l)
                    {
                        self.list.push(l);
                    }
                    open.extend(self.cfg.incoming(func, b).map(|(_, e)| e.args[k as usize]));
                }
                ValueDef::Inst(i) => {
                    let data = &func.insts[i];
                    match data.op {
                        Op::Const(_) | Op::Alloca { .. } => {}
                        Op::Select if !conditions => open.extend(&data.args[1..]),
                        Op::Select | Op::Unary(_) | Op::Binary(_) | Op::Cast(_) | Op::PtrAdd => open.extend(&data.args),
                        Op::Icmp(_) | Op::Fcmp(_) => open.extend(&data.args),
                        _ => return false,
                    }
                }
            }
        }
        true
    }

    /// The blocks that leave a loop and run once in each iteration.
    fn leaving(&self, l: usize) -> impl Iterator<Item = (Block, Value)> + use<'a> {
        let (func, dom, all) = (self.func, self.dom, self.all);
        let of = &all.loops[l];
        let is_every =
            // A block of an inner loop may run several times in one iteration of this loop.
            move |b: Block| matches!(of.latches[..], [latch] if dom.dominates(b, latch)) && all.innermost(b) == Some(l);
        of.exits.iter().filter(move |&&(b, _)| is_every(b)).filter_map(move |&(b, _)| match func.blocks[b].term {
            Term::Branch { cond, .. } => Some((b, cond)),
            _ => None,
        })
    }

    /// Whether constants and the loops around it decide the trip count of a loop. Adds these loops.
    fn is_counted(&mut self, l: usize) -> bool {
        let before = self.list.len();
        let leaving = Vec::from_iter(self.leaving(l));
        leaving.into_iter().any(|(_, cond)| {
            // A set of its own: in that of the addresses, conditions count as seen although they were not followed.
            let is_known = self.add_loops(cond, true, &mut FxHashSet::default());
            if !is_known {
                self.list.truncate(before);
            }
            is_known
        })
    }

    /// The trip count of a loop, if it is known already.
    fn trips(&mut self, number: usize) -> Option<Trips> {
        if let Some(&trips) = self.trips.get(&number) {
            return trips;
        }
        let l = &self.all.loops[number];
        // More trips would exceed the limit in any case, and counting evaluates each.
        let most = MAX_OPERATIONS / operations(self.func, &l.blocks).max(1);
        // Any block that leaves and that constants decide will do: others keep their branches in each copy.
        let trips = self.leaving(number).find_map(|(leaving, _)| {
            let count = count(self.func, self.cfg, (l, leaving), most, Known::default(), &mut |_| {})?;
            Some(Trips { number, leaving, count })
        });
        self.trips.insert(number, trips);
        trips
    }

    /// The most operations that the unrolled loops become, as far as their trip counts are known.
    fn size(&mut self) -> usize {
        let mut copies: FxHashMap<Block, usize> = FxHashMap::default();
        for l in self.list.clone() {
            // A header that leaves the loop runs once more than the rest.
            let of = &self.all.loops[l];
            let trips = self.trips(l).map_or(1, |trips| trips.count + usize::from(trips.leaving != of.header));
            for &b in &of.blocks {
                let of = copies.entry(b).or_insert(1);
                // A block in nested loops is copied the product of their trip counts.
                *of = of.saturating_mul(trips);
            }
        }
        copies.iter().fold(0, |sum, (&b, &n)| n.saturating_mul(operations(self.func, &[b])).saturating_add(sum))
    }
}
