//! Masked blocks: the influence regions of divergent branches, from the branch to its immediate post-dominator.
//!
//! Such blocks are linearised and run under masks; all others keep their terminators. A region must be entered from
//! one block: where an unmasked edge leads into its middle, the branch that it comes from is taken into the region too
//! ("linear": its successors are linearised although all lanes take the same edge).

use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{Block, Entity, Function, Term};

/// Which blocks run under masks.
pub struct Masked {
    block: Vec<bool>,
    linear: Vec<bool>,
}

impl Masked {
    /// Whether the block runs under a mask.
    pub fn is_masked(&self, b: Block) -> bool {
        self.block[b.index()]
    }

    /// Whether the successors of the block are linearised.
    pub fn is_linear(&self, b: Block) -> bool {
        self.linear[b.index()]
    }

    /// Whether all forward edges to a block come from blocks that are neither masked nor linear: the block is the
    /// entry of a region.
    pub fn begins_region(&self, cfg: &Cfg, dom: &DomTree, b: Block) -> bool {
        let mut forward_preds = cfg.preds(b).iter().filter(|&&p| !dom.dominates(b, p));
        forward_preds.all(|&p| !self.is_masked(p) && !self.is_linear(p))
    }
}

/// Finds the masked blocks. `diverges` says which branches are divergent.
pub fn find(func: &Function, cfg: &Cfg, dom: &DomTree, post: &DomTree, diverges: &dyn Fn(Block) -> bool) -> Masked {
    let mut m = Masked { block: vec![false; func.blocks.len()], linear: vec![false; func.blocks.len()] };
    let mut work: Vec<Block> = cfg.rpo().iter().copied().filter(|&b| diverges(b)).collect();
    loop {
        while let Some(b) = work.pop() {
            // Each block once: this ends, as blocks only become linear.
            if std::mem::replace(&mut m.linear[b.index()], true) {
                continue;
            }
            for x in post.influence_region(func, b).0 {
                m.block[x.index()] = true;
                // The terminator of a masked block is linearised even if it is uniform.
                if matches!(func.blocks[x].term, Term::Branch { .. } | Term::Switch { .. }) {
                    work.push(x);
                }
            }
        }
        // A masked block that has both masked and unmasked predecessors belongs to a larger region: extend that up to
        // its immediate dominator.
        for &b in cfg.rpo().iter().filter(|&&b| m.is_masked(b)) {
            let is_entry = m.begins_region(cfg, dom, b);
            if let Some(head) = dom.idom(b).filter(|&d| !is_entry && !m.is_linear(d) && !m.is_masked(d)) {
                work.push(head);
            }
        }
        if work.is_empty() {
            return m;
        }
    }
}
