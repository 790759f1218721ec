//! Private arrays are prepared for registers, which have no addresses: for GPUs.
//!
//! In comes the function of a work-item; out goes the same with constant offsets where the elements that are accessed
//! are known, so that a later pass makes values of them (SROA of LLVM, [`crate::mem2reg`]).
//!
//! In registers an array costs nothing, in memory hundreds of cycles an access. (A chain of 128 dependent elements in
//! each work-item, on an H200: 40 times as long in memory.) Two things put an array into memory:
//!
//! * Loops over its elements. These loops are fully unrolled, and so are the loops that determine their trip counts: in
//!   a triangular nest the outer one first, after which the inner ones have known trip counts ([`loops`]).
//! * Elements whose index is selected from a few by data, such as the row of a pivot. After unrolling, the index is a
//!   select of constants. A load from it becomes loads of all possible elements, and selects; a store becomes stores to
//!   all of them, of the new value or the old one ([`choose`]).
//!
//! Unrolling without that gain makes code slow: then the function stays as it was. For CPUs, where an array lies in the
//! nearest cache and code in a small one, [`crate::loops::unroll`] does less.

mod array;
mod choose;
mod loops;

use crate::loops::full_unroll;
use crate::pass::{Pass, RunOthers};
use crate::{fold, redundant_params, simplify_cfg, util};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{Function, Value};
use rustc_hash::FxHashSet;

/// The pass.
pub const PASS: Pass =
    Pass::with("promote-arrays", "loops over private arrays are unrolled so that registers hold these", run);

/// The most operations of the unrolled loops of a function, and of the selects.
const MAX_OPERATIONS: usize = 6000;

/// Runs the pass. Returns how many arrays it prepared.
pub fn run(func: &mut Function, others: &RunOthers<'_>) -> usize {
    if array::indexed(func).is_empty() {
        return 0;
    }
    // If the array stays in memory after all, unrolling only makes the code longer: then this is restored.
    let before = func.clone();
    // `count` and `unroll` take loops with one latch.
    full_unroll::join_latches(func, |_, _| true);
    let mut slots = FxHashSet::default();
    // From outside in: each level makes the bounds of the next one constants.
    while unroll_level(func, others, &mut slots) {}
    let mut budget = MAX_OPERATIONS;
    // The accesses that are still not constant have indices that data selects.
    let left = array::indexed(func);
    // An array that `Wanted::add` refused is not touched: it stays in memory, as it was.
    let is_in_vain = left.iter().any(|array| slots.contains(&array.slot) && !choose::run(func, array, &mut budget));
    if is_in_vain || slots.is_empty() {
        *func = before;
        return 0;
    }
    slots.len()
}

/// Unrolls the outermost of the loops that keep arrays in memory, and adds these arrays. Returns whether there were
/// any.
fn unroll_level(func: &mut Function, others: &RunOthers<'_>, slots: &mut FxHashSet<Value>) -> bool {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let all = Loops::new(func, &cfg, &dom);
    let mut wanted = loops::Wanted::new(func, &cfg, &dom, &all);
    for array in array::indexed(func) {
        if wanted.add(&array) {
            slots.insert(array.slot);
        }
    }
    let outermost = wanted.outermost();
    // No two of these loops contain each other, so that the analysis holds for each until it is unrolled.
    for trips in &outermost {
        full_unroll::unroll(func, &all.loops[trips.number], trips.leaving, trips.count);
    }
    if outermost.is_empty() {
        return false;
    }
    util::remove_unreachable(func);
    // The inner loops' bounds and trip counts are constants after this.
    others(func, &[redundant_params::PASS, fold::PASS, simplify_cfg::PASS, fold::PASS]);
    true
}
