//! Natural loops, their nesting, and irreducible cycles.
//!
//! A natural loop is a header and all blocks that reach one of its latches without passing it, where a latch is a
//! predecessor that the header dominates. A cycle with two entries (`goto` into a loop) has a retreating edge whose
//! target does not dominate its source; such edges are listed as irreducible, and their cycle is no loop.

use crate::cfg::Cfg;
use crate::dom::DomTree;
use crate::entity::{Block, Entity};
use crate::function::Function;
use crate::inst::Term;

/// One loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The block that begins every iteration.
    pub header: Block,
    /// The blocks that jump back to the header.
    pub latches: Vec<Block>,
    /// All blocks, in reverse postorder; the header first.
    pub blocks: Vec<Block>,
    /// Edges out of the loop: from a block of it, to a block outside.
    pub exits: Vec<(Block, Block)>,
    /// The loop around it.
    pub parent: Option<usize>,
    /// 1 for an outermost loop.
    pub depth: u32,
}

impl Loop {
    /// The one block outside of the loop that goes to its header, by one edge.
    pub fn predecessor(&self, cfg: &Cfg) -> Option<Block> {
        // A block with two edges to the header, as of a `switch`, is listed twice, and so it is none.
        let mut outside = cfg.preds(self.header).iter().copied().filter(|p| !self.latches.contains(p));
        let first = outside.next()?;
        outside.next().is_none().then_some(first)
    }

    /// The two blocks of a loop of a header and a body that jumps back to it.
    pub fn header_and_body(&self, func: &Function) -> Option<(Block, Block)> {
        match (&self.blocks[..], &self.latches[..]) {
            (&[header, body], &[latch]) if latch == body && matches!(func.blocks[body].term, Term::Jump(_)) => {
                Some((header, body))
            }
            _ => None,
        }
    }
}

/// The loops of a function, outer before inner.
#[derive(Clone, Debug)]
pub struct Loops {
    /// The loops.
    pub loops: Vec<Loop>,
    /// Edges that close a cycle without going to a dominator.
    pub irreducible: Vec<(Block, Block)>,
    innermost: Vec<Option<usize>>,
}

impl Loops {
    /// Finds the loops.
    pub fn new(func: &Function, cfg: &Cfg, dom: &DomTree) -> Loops {
        let mut found = Loops { loops: Vec::new(), irreducible: Vec::new(), innermost: vec![None; func.blocks.len()] };
        // A header stands before the headers of the loops inside it in reverse postorder.
        for &header in cfg.rpo() {
            let mut latches: Vec<Block> =
                cfg.preds(header).iter().copied().filter(|&p| dom.dominates(header, p)).collect();
            // A latch with two edges to the header is listed twice among the predecessors.
            latches.sort();
            latches.dedup();
            if !latches.is_empty() {
                found.add(func, cfg, header, latches);
            }
        }
        found.irreducible = irreducible_edges(func, cfg, dom);
        found
    }

    fn add(&mut self, func: &Function, cfg: &Cfg, header: Block, latches: Vec<Block>) {
        let mut inside = vec![false; func.blocks.len()];
        // The search goes backwards from the latches, and stops at the header, which is marked already.
        inside[header.index()] = true;
        let mut blocks = vec![header];
        let mut stack = latches.clone();
        while let Some(b) = stack.pop() {
            if !std::mem::replace(&mut inside[b.index()], true) {
                blocks.push(b);
                stack.extend_from_slice(cfg.preds(b));
            }
        }
        blocks.sort_by_key(|&b| cfg.rpo_index(b));
        let mut exits = Vec::new();
        for &b in &blocks {
            let out = func.blocks[b].term.edges();
            exits.extend(out.iter().filter(|e| !inside[e.block.index()]).map(|e| (b, e.block)));
        }
        // Outer loops were added before, so that the innermost loop so far is the one around.
        let parent = self.innermost[header.index()];
        let depth = parent.map_or(0, |p| self.loops[p].depth) + 1;
        for &b in &blocks {
            self.innermost[b.index()] = Some(self.loops.len());
        }
        self.loops.push(Loop { header, latches, blocks, exits, parent, depth });
    }

    /// The innermost loop that a block is in.
    pub fn innermost(&self, b: Block) -> Option<usize> {
        self.innermost[b.index()]
    }

    /// The innermost loops.
    pub fn without_inner(&self) -> impl Iterator<Item = &Loop> {
        let mut outer = vec![false; self.loops.len()];
        self.loops.iter().filter_map(|l| l.parent).for_each(|p| outer[p] = true);
        self.loops.iter().zip(outer).filter(|&(_, outer)| !outer).map(|(l, _)| l)
    }

    /// How many loops a block is in.
    pub fn depth(&self, b: Block) -> u32 {
        self.innermost(b).map_or(0, |l| self.loops[l].depth)
    }

    /// Whether every cycle is a natural loop.
    pub fn is_reducible(&self) -> bool {
        self.irreducible.is_empty()
    }
}

/// Retreating edges of a depth-first search whose target does not dominate their source. A graph is reducible exactly
/// if there are none.
fn irreducible_edges(func: &Function, cfg: &Cfg, dom: &DomTree) -> Vec<(Block, Block)> {
    let mut found = Vec::new();
    let mut on_path = vec![false; func.blocks.len()];
    let mut seen = vec![false; func.blocks.len()];
    let mut stack: Vec<(Block, usize)> = cfg.rpo().first().map(|&b| (b, 0)).into_iter().collect();
    while let Some((b, next)) = stack.last_mut() {
        let b = *b;
        if *next == 0 {
            seen[b.index()] = true;
            on_path[b.index()] = true;
        }
        if let Some(e) = func.blocks[b].term.edge(*next) {
            *next += 1;
            // A back edge leads to a header that dominates the latch. If the target does not dominate the source, the
            // cycle has another entry.
            if on_path[e.block.index()] {
                if !dom.dominates(e.block, b) {
                    found.push((b, e.block));
                }
            } else if !seen[e.block.index()] {
                stack.push((e.block, 0));
            }
        } else {
            on_path[b.index()] = false;
            stack.pop();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops(text: &str) -> Loops {
        let module = crate::parse(text).unwrap();
        let func = module.funcs.values().next().unwrap();
        let cfg = Cfg::new(func);
        Loops::new(func, &cfg, &DomTree::new(func, &cfg))
    }

    #[test]
    fn nested_loops_know_their_blocks_and_exits() {
        let l = loops(
            "func internal @f(i1) {
             bb0(v0: i1): jump bb1
             bb1: br v0, bb2, bb6
             bb2: jump bb3
             bb3: br v0, bb4, bb5
             bb4: br v0, bb3, bb6
             bb5: br v0, bb1, bb2
             bb6: ret }",
        );
        let b = Block::new;
        assert!(l.is_reducible());
        let headers: Vec<Block> = l.loops.iter().map(|l| l.header).collect();
        assert_eq!(headers, [b(1), b(2), b(3)]);
        assert_eq!((l.loops[2].parent, l.loops[1].parent, l.loops[0].parent), (Some(1), Some(0), None));
        assert_eq!((l.depth(b(6)), l.depth(b(5)), l.depth(b(4))), (0, 2, 3));
        assert_eq!(l.loops[2].blocks, [b(3), b(4)]);
        assert_eq!(l.loops[2].exits, [(b(3), b(5)), (b(4), b(6))]);
        assert_eq!(l.loops[1].latches, [b(5)]);
    }

    #[test]
    fn a_cycle_with_two_entries_is_not_a_loop() {
        let l = loops(
            "func internal @f(i1) {
             bb0(v0: i1): br v0, bb1, bb2
             bb1: jump bb2
             bb2: br v0, bb1, bb3
             bb3: ret }",
        );
        assert!(l.loops.is_empty() && l.irreducible.len() == 1 && !l.is_reducible());
    }
}
