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
//! Operations that move out of an arm are speculated, so only pure and cheap ones do. Branches between addresses stay:
//! a select would hide which object they point into.

use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{BinOp, Block, Builder, Edge, Flags, Function, Op, Term, UnOp, Value};

/// Instructions in both arms together, constants apart.
const MAX_INSTS: usize = 2;

/// The most selects that replace a branch.
const MAX_VALUES: usize = 2;

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
    let mut changed = 0;
    // Inner branches first: an arm without its branch may be small enough.
    for &b in cfg.rpo().iter().rev() {
        let most = if in_loop || loops.innermost(b).is_some() { MAX_INSTS } else { 0 };
        let Term::Branch { cond, then, els } = func.blocks[b].term.clone() else { continue };
        let arm = |e: &Edge| Arm::find(func, &cfg, e);
        let (x, y) = (arm(&then), arm(&els));
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

/// One path from a branch to the join.
struct Arm {
    block: Option<Block>,
    out: Edge,
}

impl Arm {
    /// A block of cheap instructions that only this branch enters.
    fn find(func: &Function, cfg: &Cfg, e: &Edge) -> Option<Arm> {
        let data = &func.blocks[e.block];
        let cheap = data.insts.iter().all(|&i| is_cheap(&func.insts[i].op));
        let Term::Jump(out) = &data.term else { return None };
        let own = cfg.preds(e.block).len() == 1 && data.params.is_empty() && out.block != e.block;
        (own && cheap).then(|| Arm { block: Some(e.block), out: out.clone() })
    }

    fn none(out: Edge) -> Arm {
        Arm { block: None, out }
    }

    fn size(&self, func: &Function) -> usize {
        func.insts_in(self.block.as_slice()).filter(|(_, data)| !matches!(data.op, Op::Const(_))).count()
    }
}

fn is_cheap(op: &Op) -> bool {
    match op {
        Op::Const(_) | Op::Icmp(_) | Op::Fcmp(_) | Op::Cast(_) | Op::Select => true,
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
    if x.out.block == b || chosen > MAX_VALUES || !scalars || x.size(func) + y.size(func) > most {
        return false;
    }
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
