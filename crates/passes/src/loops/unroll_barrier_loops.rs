//! Unrolling of loops with barriers whose trip count is unknown at compile time.
//!
//! ```text
//! for (int i = 0; i < n; i++) {             last = n > 3 ? n - 3 : least;
//!     body(i);                       ▸      for (; i < last; i += 4) {
//!     barrier();                                body(i); barrier(); body(i + 1); barrier(); body(i + 2); …
//! }                                         }
//!                                           for (; i < n; i++) { body(i); barrier(); }
//! ```
//!
//! The values that one iteration passes to the next stay in their registers, and branches are saved. (A table of a
//! longest common subsequence, row by row, on an H200: a fifth less time.) LLVM does not unroll such loops, because a
//! convergent operation must not become control-dependent on another condition, as it does in the loop for what is left
//! over. But all work-items of a group reach a barrier equally often: if one is in every iteration, they agree on the
//! trip count. How the bound is computed is told in [`super::runtime_unroll`].

use super::full_unroll::join_latches;
use super::runtime_unroll::{Steps, args_of};
use crate::pass::Pass;
use crate::util::operations;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::{Loop, Loops};
use cloom_ir::{Block, CloneMap, Edge, Effects, Function, Op, Span, Term, Value};

/// The pass.
pub const PASS: Pass = Pass::new("unroll-barrier-loops", "loops with barriers are unrolled four times", run);

/// How many iterations become one.
const COUNT: usize = 4;
/// The most operations of a loop. Constants are none.
const MAX_OPERATIONS: usize = 160;

/// Runs the pass. Returns how many loops it unrolled.
pub fn run(func: &mut Function) -> usize {
    if !func.insts_in_layout().any(|(_, data)| matches!(data.op, Op::Barrier(_))) {
        return 0;
    }
    join_latches(func, |func, l| has_barriers(func, l) && l.exits.len() == 1);
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let wanted: Vec<(Steps, &Loop)> =
        loops.without_inner().filter_map(|l| Some((wanted(func, &cfg, &dom, l)?, l))).collect();
    for (steps, l) in &wanted {
        unroll(func, steps, l);
    }
    wanted.len()
}

/// Whether work-items meet in a loop, and only at barriers.
fn has_barriers(func: &Function, l: &Loop) -> bool {
    let mut barriers = 0;
    for (_, data) in func.insts_in(&l.blocks) {
        match &data.op {
            Op::Barrier(_) => barriers += 1,
            op if op.effects().intersects(Effects::SUBGROUP | Effects::CALL) => return false,
            _ => {}
        }
    }
    barriers > 0
}

/// How a loop counts, if it is to be unrolled.
fn wanted(func: &Function, cfg: &Cfg, dom: &DomTree, l: &Loop) -> Option<Steps> {
    let is_fit = l.exits.len() == 1 && has_barriers(func, l) && operations(func, &l.blocks) <= MAX_OPERATIONS;
    let &[latch] = l.latches.as_slice() else { return None };
    let has_barrier = |b: Block| func.blocks[b].insts.iter().any(|&i| matches!(func.insts[i].op, Op::Barrier(_)));
    // Only a barrier that every iteration reaches proves that the work-items agree on the trip count.
    let is_in_each = l.blocks.iter().any(|&b| has_barrier(b) && dom.dominates(b, latch));
    let steps = Steps::of(func, cfg, l, latch).filter(|_| is_fit && is_in_each)?;
    // LLVM unrolls others, if that is worth while.
    let is_constant = |v: Value| func.const_bits(v).is_some();
    let first = args_of(func, steps.before, l.header)[steps.test.index];
    (!(is_constant(first) && is_constant(steps.step) && is_constant(steps.test.bound))).then_some(steps)
}

/// Puts an unrolled loop in front of a loop, which does the iterations that are left over.
fn unroll(func: &mut Function, steps: &Steps, l: &Loop) {
    let Some(&latch) = l.latches.first() else { return };
    let (unrolled, params, cond) = steps.begin(func, l.header, l.header, COUNT);
    let in_header = func.blocks[l.header].params.clone();
    // `join_latches` has left one latch, so an iteration ends in one way.
    let back = args_of(func, latch, l.header);
    let mut args = params.clone();
    let mut copies: Vec<Block> = Vec::new();
    let mut heads = Vec::new();
    for number in 0..COUNT {
        // The parameters of the header are known in each copy: they are what the copy before hands on.
        let mut map = CloneMap::new(in_header.iter().copied().zip(args));
        copies.extend(map.clone_blocks(func, &l.blocks));
        let (head, end) = (map.block(l.header), map.block(latch));
        // The test of each copy goes: the new header has tested that all the iterations follow.
        let stay = map.term(&Term::Jump(steps.stay(func, l)));
        func.set_term(head, stay, Span::NONE);
        args = back.iter().map(|&v| map.value(v)).collect();
        // What follows in the same iteration of the unrolled loop is less than the bound.
        if number + 1 < COUNT
            && let Some(sum) = func.def_inst(args[steps.test.index])
        {
            func.insts[sum].flags |= steps.promise();
        }
        heads.push((head, end));
    }
    // The last copy goes back.
    for (number, &(head, end)) in heads.iter().enumerate() {
        let to = match heads.get(number + 1) {
            Some(&(next, _)) => Edge::new(next, []),
            None => Edge::new(unrolled, args.iter().copied()),
        };
        // In each copy, the latch still goes back to the header of the same copy.
        func.blocks[end].term.edges_mut().into_iter().filter(|e| e.block == head).for_each(|e| *e = to.clone());
    }
    let (then, els) = (Edge::new(heads[0].0, []), Edge::new(l.header, params));
    func.set_term(unrolled, Term::Branch { cond, then, els }, Span::NONE);
    let at = func.layout.iter().position(|&b| b == l.header).unwrap_or(func.layout.len());
    func.layout.splice(at..at, std::iter::once(unrolled).chain(copies));
}
