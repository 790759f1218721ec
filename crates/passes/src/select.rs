//! If-conversion: a branch whose arms compute next to nothing becomes `select` operations.
//!
//! ```c
//! n += a == b ? 1 : 0;        // a branch to two empty blocks, which meet with a parameter
//! ```
//!
//! A divergent branch runs both arms anyway. Without the branch a loop body is one block, which is easier to analyse
//! and needs no mask. Outside of loops only branches to empty blocks are converted, as in a sorting network; others
//! gain little. (Converting the colour computation after the loop of a Mandelbrot kernel cost a tenth of its speed.)
//!
//! The condition may be of two parts. If the second one is cheap, the two branches first become one
//! ([`merge_conditions`]):
//!
//! ```c
//! if (c > ' ' && before <= ' ')       // both branches skip the addition
//!     words++;
//! ```
//!
//! Operations that move out of an arm are speculated, so only pure and cheap ones do. Branches between addresses stay:
//! a select would hide which object they point into.

use crate::pass::Pass;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{BinOp, Block, Builder, Edge, Flags, Function, Inst, Op, Term, Type, UnOp, Value};

/// [`merge_used_conditions`] as a pass.
pub const MERGE_CONDITIONS: Pass =
    Pass::new("merge-conditions", "conditions of two parts are one branch", merge_used_conditions);

/// The pass.
pub const PASS: Pass = Pass::new("select", "if-conversion of branches to next to nothing", run);

/// Instructions in both arms together, constants apart.
const MAX_INSTS: usize = 2;

/// The most selects that replace a branch.
const MAX_VALUES: usize = 2;

/// Instructions that compute the second part of a condition, constants apart.
const MAX_CONDITION: usize = 4;

/// The same where the arm uses some of them.
const MAX_USED_CONDITION: usize = 16;

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    convert(func, false)
}

/// The same for a function that is called in loops: all of it counts as a loop.
pub fn run_in_loop(func: &mut Function) -> usize {
    convert(func, true)
}

fn convert(func: &mut Function, in_loop: bool) -> usize {
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
    let blocks: Vec<Block> = cfg.rpo().iter().copied().filter(|&b| in_loop || loops.innermost(b).is_some()).collect();
    let is_arm = |func: &Function, arm: &Arm, _: &[Inst]| arm.is_cheap(func) && arm.size(func) <= MAX_INSTS;
    let mut changed = merge_conditions(func, &cfg, &blocks, MAX_CONDITION, is_arm);
    // Merged conditions changed the edges.
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
    // Inner branches first: an arm without its branch may be small enough.
    for &b in cfg.rpo().iter().rev() {
        // Outside of loops only branches to empty blocks: the head of this file says why.
        let most = if in_loop || loops.innermost(b).is_some() { MAX_INSTS } else { 0 };
        let Term::Branch { cond, then, els } = func.blocks[b].term.clone() else { continue };
        let arm = |e: &Edge| Arm::find(func, &cfg, e).filter(|arm| arm.is_cheap(func));
        let (x, y) = (arm(&then), arm(&els));
        // A diamond, a triangle with either arm, or two edges to one block that differ in their arguments.
        let (x, y) = match (x, y) {
            _ if then.block == els.block => (Arm::none(then), Arm::none(els)),
            (Some(x), Some(y)) if x.out.block == y.out.block => (x, y),
            (Some(x), _) if x.out.block == els.block => (x, Arm::none(els)),
            (_, Some(y)) if y.out.block == then.block => (Arm::none(then), y),
            _ => continue,
        };
        changed += usize::from(choose(func, b, cond, &x, &y, most));
    }
    if changed > 0 {
        crate::util::remove_unreachable(func);
    }
    changed
}

/// Merges the parts of conditions whose arm, one block that loads and stores nothing, uses what the second part
/// computes:
///
/// ```c
/// tile[i] = x < n && t + i < n ? in[(t + i) * n + x] : 0;
/// ```
///
/// For GPUs: the compiler of the driver predicates the loads of arms that follow each other, so that they are on their
/// way together, if one branch skips each. Where the arm uses nothing of the second part, LLVM merges the branches.
pub fn merge_used_conditions(func: &mut Function) -> usize {
    let cfg = Cfg::new(func);
    merge_conditions(func, &cfg, cfg.rpo(), MAX_USED_CONDITION, |func, arm, second| {
        let insts = arm.block.map_or(&[][..], |b| &func.blocks[b].insts);
        let mut used = insts.iter().flat_map(|&i| func.insts[i].args.iter());
        insts.iter().all(|&i| is_cheap(&func.insts[i].op) || matches!(func.insts[i].op, Op::PtrAdd | Op::Load { .. }))
            && used.any(|&v| func.def_inst(v).is_some_and(|i| second.contains(&i)))
    })
}

/// Merges two branches that skip the same arm, if it is one of these: `br a, S, J` and in S `br b, T, J` become
/// `br a & b, T, J`; likewise for the other senses of the branches. (LLVM's `FoldBranchToCommonDest`.)
fn merge_conditions(
    func: &mut Function,
    cfg: &Cfg,
    blocks: &[Block],
    most: usize,
    is_arm: impl Fn(&Function, &Arm, &[Inst]) -> bool,
) -> usize {
    // The last parts of a condition first.
    let changed = blocks.iter().rev().map(|&b| usize::from(merge_condition(func, cfg, b, most, &is_arm))).sum();
    if changed > 0 {
        crate::util::remove_unreachable(func);
    }
    changed
}

fn merge_condition(
    func: &mut Function,
    cfg: &Cfg,
    b: Block,
    most: usize,
    is_arm: impl Fn(&Function, &Arm, &[Inst]) -> bool,
) -> bool {
    let Term::Branch { cond: first, then, els } = func.blocks[b].term.clone() else { return false };
    // The block of the second part; the way past the arm; whether the first part is true on the way to the second.
    for (second, skip, sense) in [(&then, &els, true), (&els, &then, false)] {
        let from = second.block;
        let own = cfg.preds(from).len() == 1 && func.blocks[from].params.is_empty() && from != b;
        let insts = func.blocks[from].insts.clone();
        let is_small = || computed(func, &insts) <= most && insts.iter().all(|&i| is_cheap(&func.insts[i].op));
        let Term::Branch { cond: last, then: yes, els: no } = func.blocks[from].term.clone() else { continue };
        // The second branch goes to the arm by one edge and past it by the other one.
        let (arm, arm_sense) = if &no == skip { (&yes, true) } else { (&no, false) };
        // Edges are compared with their arguments: past the arm, both branches must hand the same values to the join,
        // as one edge stands for both after this.
        let skips = if arm_sense { &no == skip } else { &yes == skip };
        let joins = || Arm::find(func, cfg, arm).is_some_and(|a| a.out.block == skip.block && is_arm(func, &a, &insts));
        // The block of the second part is emptied below, so nothing else may come to it.
        if !own || !skips || !joins() || !is_small() {
            continue;
        }
        let (arm, skip) = (arm.clone(), skip.clone());
        func.blocks[from].insts.clear();
        // Promises hold only for work-items that come to the second part.
        insts.iter().for_each(|&i| func.insts[i].flags -= Flags::NSW | Flags::NUW);
        func.blocks[b].insts.extend(insts);
        let span = func.blocks[b].term_span;
        let mut builder = Builder::new(func, b);
        builder.span = span;
        let mut of_sense = |v: Value, sense: bool| match sense {
            true => v,
            false => {
                let one = builder.iconst(Type::I1, 1);
                builder.binary(BinOp::Xor, v, one)
            }
        };
        let (first, last) = (of_sense(first, sense), of_sense(last, arm_sense));
        let cond = builder.binary(BinOp::And, first, last);
        func.set_term(b, Term::Branch { cond, then: arm, els: skip }, span);
        return true;
    }
    false
}

/// How many instructions compute something.
fn computed(func: &Function, insts: &[Inst]) -> usize {
    insts.iter().filter(|&&i| !matches!(func.insts[i].op, Op::Const(_))).count()
}

/// One path from a branch to the join.
struct Arm {
    block: Option<Block>,
    out: Edge,
}

impl Arm {
    /// A block that only this branch enters.
    fn find(func: &Function, cfg: &Cfg, e: &Edge) -> Option<Arm> {
        let data = &func.blocks[e.block];
        let Term::Jump(out) = &data.term else { return None };
        // With parameters, the instructions of the block would need what the edge hands over.
        let own = cfg.preds(e.block).len() == 1 && data.params.is_empty() && out.block != e.block;
        own.then(|| Arm { block: Some(e.block), out: out.clone() })
    }

    fn is_cheap(&self, func: &Function) -> bool {
        self.block.is_none_or(|b| func.blocks[b].insts.iter().all(|&i| is_cheap(&func.insts[i].op)))
    }

    fn none(out: Edge) -> Arm {
        Arm { block: None, out }
    }

    fn size(&self, func: &Function) -> usize {
        self.block.map_or(0, |b| computed(func, &func.blocks[b].insts))
    }
}

fn is_cheap(op: &Op) -> bool {
    match op {
        Op::Const(_) | Op::Icmp(_) | Op::Fcmp(_) | Op::Cast(_) | Op::Select => true,
        // A division takes longer than the branch that it would be moved out of.
        Op::Binary(op) => !matches!(op, BinOp::Udiv | BinOp::Sdiv | BinOp::Urem | BinOp::Srem | BinOp::Fdiv),
        Op::Unary(op) => matches!(op, UnOp::Fneg | UnOp::Fabs),
        _ => false,
    }
}

/// Replaces a branch by selects, if its arms have at most so many instructions.
fn choose(func: &mut Function, b: Block, cond: Value, x: &Arm, y: &Arm, most: usize) -> bool {
    let differ: Vec<(Value, Value)> = x.out.args.iter().copied().zip(y.out.args.iter().copied()).collect();
    let chosen = differ.iter().filter(|(x, y)| x != y).count();
    let scalars = differ.iter().all(|&(v, w)| v == w || !(func.ty(v).is_ptr() || func.ty(v).is_vector()));
    // A jump back to `b` itself would be a loop without its test.
    if x.out.block == b || chosen > MAX_VALUES || !scalars || x.size(func) + y.size(func) > most {
        return false;
    }
    // Both arms run now, so their instructions go before the branch's end.
    for arm in [x, y].into_iter().filter_map(|a| a.block) {
        let insts = std::mem::take(&mut func.blocks[arm].insts);
        // Promises hold only for work-items that take this arm.
        insts.iter().for_each(|&i| func.insts[i].flags -= Flags::NSW | Flags::NUW);
        func.blocks[b].insts.extend(insts);
    }
    let span = func.blocks[b].term_span;
    let mut builder = Builder::new(func, b);
    builder.span = span;
    let args: Vec<Value> = differ.iter().map(|&(v, w)| if v == w { v } else { builder.select(cond, v, w) }).collect();
    func.set_term(b, Term::Jump(Edge::new(x.out.block, args)), span);
    true
}
