//! The comparisons that hold where a block runs, because of the branch that leads there.

use cloom_ir::cfg::Cfg;
use cloom_ir::{BinOp, Block, Function, IntCc, Op, Term, UnOp, Value};

/// A condition that holds in the blocks that a block dominates: `value cc other`.
#[derive(Clone, Copy)]
pub struct Fact {
    /// The block.
    pub block: Block,
    /// Where the branch is: there the other number is what it is compared with.
    pub before: Block,
    /// How the value compares,
    pub cc: IntCc,
    /// and with what.
    pub other: Value,
}

/// Tells `found` each comparison of integers that holds in a block that is entered by one edge of a branch, from both
/// sides, in reverse postorder. At most `most` conditions of a branch are looked at: they may be a graph with shared
/// parts, which would be visited once for each path.
pub fn comparisons(func: &Function, cfg: &Cfg, most: u32, mut found: impl FnMut(Value, Fact)) {
    for &block in cfg.rpo() {
        // With two ways in, the condition need not hold.
        let &[before] = cfg.preds(block) else { continue };
        let Term::Branch { cond, then, els } = &func.blocks[before].term else { continue };
        if then.block == els.block {
            continue;
        }
        let mut stack = vec![(*cond, then.block == block)];
        let mut left = most;
        while let Some((cond, holds)) = stack.pop()
            && left > 0
        {
            left -= 1;
            let Some(data) = func.def_inst(cond).map(|i| &func.insts[i]) else { continue };
            match data.op {
                // `a && b` holds: both do. Where it does not hold, one of them is unknown.
                Op::Binary(BinOp::And) if holds => stack.extend(data.args.iter().map(|&a| (a, true))),
                Op::Binary(BinOp::Or) if !holds => stack.extend(data.args.iter().map(|&a| (a, false))),
                Op::Unary(UnOp::Not) => stack.push((data.args[0], !holds)),
                Op::Icmp(cc) if func.ty(data.args[0]).is_int() => {
                    let cc = if holds { cc } else { cc.negated() };
                    let (x, y) = (data.args[0], data.args[1]);
                    found(x, Fact { block, before, cc, other: y });
                    found(y, Fact { block, before, cc: cc.swapped(), other: x });
                }
                _ => {}
            }
        }
    }
}
