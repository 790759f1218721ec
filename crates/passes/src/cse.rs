//! Common subexpression elimination: an operation is replaced by an equal one that dominates it.
//!
//! Operations without operands (constants, queries, addresses of globals) move to the entry block first, so that there
//! is one of each. Loads from constant memory count as pure: nothing writes there while a kernel runs.
//!
//! Blocks are visited in preorder of the dominator tree, as in LLVM's EarlyCSE. What does not dominate the block that
//! is visited dominates no later one either, so that it leaves the table: an operation that each of many sibling blocks
//! has, as the cases of a `switch` do, is compared with one other and not with all before it.

use crate::pass::Pass;
use crate::util::Renames;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{Block, Flags, Function, Inst, InstData, Op, Space};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// The pass.
pub const PASS: Pass = Pass::new("cse", "equal operations share one", run);

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let mut changed = hoist_nullary(func);
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let mut table: FxHashMap<u64, SmallVec<[(Block, Inst); 1]>> = FxHashMap::default();
    let mut renames = Renames::default();
    let mut stack = vec![func.entry()];
    while let Some(b) = stack.pop() {
        // In reverse, so that children are visited in the tree's order.
        stack.extend(dom.children(b).iter().rev());
        let mut insts = std::mem::take(&mut func.blocks[b].insts);
        insts.retain(|&i| {
            // Operands first, so that two operations on equal values are equal.
            for a in &mut func.insts[i].args {
                *a = renames.get(*a);
            }
            let (true, Some(r)) = (is_shareable(func, i), func.insts[i].result) else { return true };
            let bucket = table.entry(hash(func, i)).or_default();
            // A bucket is a stack along the dominator tree: what does not dominate this block is never needed again.
            while bucket.last().is_some_and(|&(home, _)| !dom.dominates(home, b)) {
                bucket.pop();
            }
            let found = bucket.iter().find(|(_, other)| same(func, i, *other));
            let Some(&(_, other)) = found else {
                bucket.push((b, i));
                return true;
            };
            // The survivor keeps the flags that both had: a promise of only one may not hold for the other.
            let flags = func.insts[i].flags;
            func.insts[other].flags = func.insts[other].flags.of_both(flags);
            if let Some(v) = func.insts[other].result {
                renames.set(r, v);
            }
            changed += 1;
            false
        });
        func.blocks[b].insts = insts;
    }
    renames.apply(func);
    changed
}

fn is_shareable(func: &Function, i: Inst) -> bool {
    let data = &func.insts[i];
    match data.op {
        // Without volatile: two reads of the same constant memory give the same value.
        Op::Load { .. } => {
            !data.flags.contains(Flags::VOLATILE) && func.ty(data.args[0]).space() == Some(Space::Constant)
        }
        _ => data.op.is_pure(),
    }
}

fn result_type(func: &Function, data: &InstData) -> Option<cloom_ir::Type> {
    data.result.map(|r| func.ty(r))
}

/// A hash; equal operations have the same.
pub(crate) fn hash(func: &Function, i: Inst) -> u64 {
    let data = &func.insts[i];
    let mut h = FxHasher::default();
    // Alignments and promises are not hashed: `same` does not compare them, and equal operations must have equal
    // hashes.
    std::mem::discriminant(&data.op).hash(&mut h);
    match &data.op {
        Op::Const(bits) => bits.hash(&mut h),
        Op::Unary(op) => op.hash(&mut h),
        Op::Binary(op) => op.hash(&mut h),
        Op::Icmp(cc) => cc.hash(&mut h),
        Op::Fcmp(cc) => cc.hash(&mut h),
        Op::Cast(op) => op.hash(&mut h),
        Op::Shuffle(mask) => mask.hash(&mut h),
        Op::GlobalAddr(g) => g.hash(&mut h),
        Op::Query { what, dim } => (what, dim).hash(&mut h),
        _ => {}
    }
    data.args.hash(&mut h);
    result_type(func, data).hash(&mut h);
    h.finish()
}

/// Whether two instructions compute the same. Flags that change what is computed must be equal; promises need not be.
pub(crate) fn same(func: &Function, a: Inst, b: Inst) -> bool {
    let (x, y) = (&func.insts[a], &func.insts[b]);
    let op = match (&x.op, &y.op) {
        // The dominating load keeps its own alignment, which may be the smaller one.
        (Op::Load { .. }, Op::Load { .. }) => true,
        (p, q) => p == q,
    };
    let promises = Flags::NSW | Flags::NUW | Flags::SPECULATED;
    op && x.args == y.args && x.flags - promises == y.flags - promises && result_type(func, x) == result_type(func, y)
}

fn hoist_nullary(func: &mut Function) -> usize {
    let entry = func.entry();
    let mut hoisted = Vec::new();
    let mut changed = 0;
    for k in 0..func.layout.len() {
        let b = func.layout[k];
        let mut insts = std::mem::take(&mut func.blocks[b].insts);
        insts.retain(|&i| {
            let op = &func.insts[i].op;
            let nullary = matches!(op, Op::Const(_) | Op::Query { .. } | Op::GlobalAddr(_));
            if nullary {
                changed += usize::from(b != entry);
                hoisted.push(i);
            }
            !nullary
        });
        func.blocks[b].insts = insts;
    }
    // In front of the entry's other instructions, some of which use them.
    let rest = std::mem::take(&mut func.blocks[entry].insts);
    hoisted.extend(rest);
    func.blocks[entry].insts = hoisted;
    changed
}
