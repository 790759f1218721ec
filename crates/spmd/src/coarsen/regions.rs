//! The region of a branch: the blocks up to the join of all paths from it, or up to the end of the function.
//!
//! The input is a function, and a block whose branch may be taken differently. The output is the blocks to copy, if a
//! copy is right: no edge leaves them except to the join, and they have no barrier. Other edges may enter them; the
//! copy does not have those.

use crate::decisions::coarsening::CoarsenReason;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{Block, Entity, Function, Op, Term, Value, ValueDef};

/// The most instructions of a region: each of the coarsened work-items gets a copy.
const MAX_SIZE: usize = 40;

/// The blocks between a branch and the join of its paths.
pub(super) struct Region {
    /// In reverse postorder.
    pub(super) blocks: Vec<Block>,
    /// The block where the paths join; `None` if they lead to returns.
    pub(super) join: Option<Block>,
}

/// The region of a block's branch, or why it cannot be copied.
pub(super) fn region(func: &Function, cfg: &Cfg, post: &DomTree, branch: Block) -> Result<Region, CoarsenReason> {
    if !matches!(func.blocks[branch].term, Term::Branch { .. }) {
        return Err(CoarsenReason::GroupSwitch);
    }
    let (_, inside) = post.influence_region(func, branch);
    // In a loop the region contains the branch itself, and its copies would have to iterate.
    if inside[branch.index()] {
        return Err(CoarsenReason::GroupBranchInLoop);
    }
    let blocks: Vec<Block> = cfg.rpo().iter().copied().filter(|b| inside[b.index()]).collect();
    let insts = || blocks.iter().flat_map(|&b| &func.blocks[b].insts);
    // Copies run one after the other: no group could wait for another one inside.
    if insts().any(|&i| matches!(func.insts[i].op, Op::Barrier(_) | Op::Fence { .. })) {
        return Err(CoarsenReason::GroupBranchWaits);
    }
    if insts().count() > MAX_SIZE {
        return Err(CoarsenReason::GroupBranchLong);
    }
    if escapes(func, cfg, &inside) {
        return Err(CoarsenReason::GroupBranchEscapes);
    }
    Ok(Region { blocks, join: post.idom(branch) })
}

/// Whether a value of these blocks is used outside of them, other than as an argument of an edge to the join.
fn escapes(func: &Function, cfg: &Cfg, inside: &[bool]) -> bool {
    // A value of a copy belongs to one group; outside, there is one value for each only through the parameters of the
    // join.
    let blocks = cfg.blocks_of_insts(func);
    let home = |v: Value| match func.values[v].def {
        ValueDef::Inst(i) => blocks[i.index()],
        ValueDef::Param(b, _) => Some(b),
    };
    let is_inside = |v: Value| home(v).is_some_and(|b| inside[b.index()]);
    cfg.rpo().iter().filter(|b| !inside[b.index()]).any(|&b| {
        let data = &func.blocks[b];
        let mut found = data.insts.iter().flat_map(|&i| &func.insts[i].args).any(|&v| is_inside(v));
        data.term.for_each_use(|v| found |= is_inside(v));
        found
    })
}
