//! Head and tail merging: what both arms of a branch begin with moves before the branch, and stores to one address at
//! the ends of both arms become one store after it.
//!
//! ```c
//! if (dark) out[i] = darken(in[i]); else out[i] = brighten(in[i]);      // becomes
//! p = in[i]; if (dark) p = darken(p); else p = brighten(p); out[i] = p;
//! ```
//!
//! A divergent branch runs both arms under masks: an operation that the arms have in common runs twice, and each store
//! is masked; merged, it runs once and unmasked. A load moves up only if no effect precedes it in its arm. A store
//! moves down past pure operations alone.

use crate::cse;
use crate::pass::Pass;
use crate::util::Renames;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{Block, Edge, Flags, Function, Inst, Op, Term, Type, Value, ValueData, ValueDef};
use rustc_hash::FxHashMap;

/// The pass.
pub const PASS: Pass = Pass::new("merge-branches", "what both arms of a branch begin or end with", run);

/// Arms with more instructions in their first blocks are left alone.
const MAX_INSTS: usize = 1000;

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let cfg = Cfg::new(func);
    let mut renames = Renames::default();
    let mut changed = 0;
    // Arms that only this branch enters: what moves up must dominate its uses.
    let own = |arm: Block| cfg.preds(arm).len() == 1;
    let branches: Vec<(Block, Block, Block)> = cfg
        .rpo()
        .iter()
        .filter_map(|&b| match &func.blocks[b].term {
            Term::Branch { then, els, .. } if then.block != els.block && own(then.block) && own(els.block) => {
                Some((b, then.block, els.block))
            }
            _ => None,
        })
        .collect();
    // Stale once `sink` has added a block, which `two_ends` finds out by the terminators.
    let dom = DomTree::new(func, &cfg);
    let post = DomTree::post(func, &cfg);
    let ends = |func: &Function, (b, then, els): (Block, Block, Block)| {
        post.idom(b).and_then(|join| Some((join, two_ends(func, &cfg, &dom, join, [then, els])?)))
    };
    // Outer branches first: what moves up from an inner one may move on in the next run.
    for &(b, then, els) in &branches {
        changed += hoist(func, b, [then, els], Arms::First, &mut renames);
        // An address that both arms compute in their last blocks.
        if let Some((join, ends)) = ends(func, (b, then, els)) {
            // If other blocks jump to the join, there are paths through `b` that run neither end: what moves up is
            // speculated.
            let arms = if cfg.preds(join).len() == 2 { Arms::Last } else { Arms::Any };
            changed += hoist(func, b, ends, arms, &mut renames);
        }
    }
    renames.apply(func);
    for &branch in &branches {
        if let Some((join, ends)) = ends(func, branch) {
            changed += sink(func, join, ends);
        }
    }
    changed
}

/// The blocks of two arms of which something moves up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arms {
    /// The first ones.
    First,
    /// The last ones, one of which is executed.
    Last,
    /// Two that may both be passed by.
    Any,
}

/// Moves what a block of one arm and a block of the other have in common to the end of the block that branches; loads
/// only if the blocks are the first ones.
fn hoist(func: &mut Function, b: Block, [then, els]: [Block; 2], arms: Arms, renames: &mut Renames) -> usize {
    // Other blocks may follow effects of their arm, past which a load must not move.
    let loads = arms == Arms::First;
    if func.blocks[then].insts.len().max(func.blocks[els].insts.len()) > MAX_INSTS {
        return 0;
    }
    let mut equal: FxHashMap<u64, Vec<Inst>> = FxHashMap::default();
    for i in movable(func, then, loads) {
        equal.entry(cse::hash(func, i)).or_default().push(i);
    }
    let mut moved = Vec::new();
    let mut gone = Vec::new();
    for i in movable(func, els, loads) {
        for a in &mut func.insts[i].args {
            *a = renames.get(*a);
        }
        // Equal operands are values from before the branch, or ones that have moved up themselves: a value of one arm
        // cannot be an operand in the other.
        let Some(bucket) = equal.get_mut(&cse::hash(func, i)) else { continue };
        let Some(at) = bucket.iter().position(|&other| cse::same(func, i, other)) else { continue };
        // Removed, because one instruction of an arm stands for one of the other.
        let other = bucket.remove(at);
        let (flags, op) = (func.insts[i].flags, func.insts[i].op.clone());
        // Promises (`nsw`) of one arm do not hold for the other.
        let both = func.insts[other].flags.of_both(flags);
        func.insts[other].flags = if arms == Arms::Any { both.speculated() } else { both };
        // `same` ignores alignments; the one load may claim only what both did.
        if let (Op::Load { align }, Op::Load { align: less }) = (&mut func.insts[other].op, &op) {
            *align = (*align).min(*less);
        }
        if let (Some(from), Some(to)) = (func.insts[i].result, func.insts[other].result) {
            renames.set(from, to);
        }
        moved.push(other);
        gone.push(i);
    }
    // In the order of the arm whose instructions stay, so that operands come first.
    let order = std::mem::take(&mut func.blocks[then].insts);
    let (up, stay): (Vec<Inst>, Vec<Inst>) = order.into_iter().partition(|i| moved.contains(i));
    func.blocks[then].insts = stay;
    func.blocks[els].insts.retain(|i| !gone.contains(i));
    let count = up.len();
    func.blocks[b].insts.extend(up);
    count
}

/// Instructions of a block that may be executed before it: pure ones, and loads before any effect.
fn movable(func: &Function, b: Block, loads: bool) -> Vec<Inst> {
    let mut effects = !loads;
    let insts = func.blocks[b].insts.iter().copied();
    insts
        .filter(|&i| {
            let data = &func.insts[i];
            effects |= data.op.has_effect() || data.flags.contains(Flags::VOLATILE);
            data.op.is_pure() || !effects && matches!(data.op, Op::Load { .. })
        })
        .collect()
}

/// The blocks where the two arms end, if each has one that jumps to the join.
fn two_ends(func: &Function, cfg: &Cfg, dom: &DomTree, join: Block, arms: [Block; 2]) -> Option<[Block; 2]> {
    let end = |arm: Block| {
        let mut ends = cfg.preds(join).iter().copied().filter(|&p| dom.dominates(arm, p));
        // Two ends of one arm would need a store in each.
        let only = ends.next().filter(|_| ends.next().is_none())?;
        matches!(&func.blocks[only].term, Term::Jump(e) if e.block == join).then_some(only)
    };
    let (a, b) = (end(arms[0])?, end(arms[1])?);
    (arms.iter().all(|&arm| arm != join) && a != b).then_some([a, b])
}

/// The last effect of a block, if it is a store that may move to the block's end: its index in the block.
fn last_store(func: &Function, b: Block) -> Option<(usize, Inst)> {
    let insts = &func.blocks[b].insts;
    // A load is not pure, so that it ends the search too: it may read what the store writes.
    let at = insts.iter().rposition(|&i| !func.insts[i].op.is_pure())?;
    let data = &func.insts[insts[at]];
    (matches!(data.op, Op::Store { .. }) && !data.flags.contains(Flags::VOLATILE)).then_some((at, insts[at]))
}

/// Moves stores to one address that both arms end with to a block between them and the join.
fn sink(func: &mut Function, join: Block, ends: [Block; 2]) -> usize {
    let mut count = 0;
    let mut between: Option<Block> = None;
    while let (Some((at, a)), Some((bt, b))) = (last_store(func, ends[0]), last_store(func, ends[1])) {
        let (x, y) = (func.insts[a].clone(), func.insts[b].clone());
        let (Op::Store { align }, Op::Store { align: other }) = (&x.op, &y.op) else { break };
        // A value that both arms use comes from before the branch.
        if x.args[0] != y.args[0] || func.ty(x.args[1]) != func.ty(y.args[1]) {
            break;
        }
        let align = *align.min(other);
        // One block for all stores of this join, made for the first of them.
        let block = *between.get_or_insert_with(|| put_between(func, join, ends));
        func.blocks[ends[0]].insts.remove(at);
        func.blocks[ends[1]].insts.remove(bt);
        let ty = func.ty(x.args[1]);
        let value = add_param(func, block, ty);
        for (end, new) in ends.into_iter().zip([x.args[1], y.args[1]]) {
            for e in func.blocks[end].term.edges_mut() {
                e.args.push(new);
            }
        }
        func.insts[a].op = Op::Store { align };
        func.insts[a].args = [x.args[0], value].into_iter().collect();
        // A hint that only one of the stores has, such as non-temporal, is dropped.
        func.insts[a].flags = x.flags & y.flags;
        // The last ones are found first.
        func.blocks[block].insts.insert(0, a);
        count += 1;
    }
    count
}

/// A new block between both ends and the join.
fn put_between(func: &mut Function, join: Block, ends: [Block; 2]) -> Block {
    let block = func.add_loose_block();
    let types: Vec<Type> = func.blocks[join].params.iter().map(|&p| func.ty(p)).collect();
    let args: Vec<Value> = types.into_iter().map(|ty| add_param(func, block, ty)).collect();
    let span = func.blocks[ends[0]].term_span;
    func.set_term(block, Term::Jump(Edge::new(join, args)), span);
    for end in ends {
        for e in func.blocks[end].term.edges_mut() {
            e.block = block;
        }
    }
    let at = func.layout.iter().position(|&b| b == join).unwrap_or(func.layout.len());
    func.layout.insert(at, block);
    block
}

fn add_param(func: &mut Function, block: Block, ty: Type) -> Value {
    let k = func.blocks[block].params.len() as u32;
    let v = func.values.push(ValueData { ty, def: ValueDef::Param(block, k) });
    func.blocks[block].params.push(v);
    v
}
