//! The control-flow graph of a function: predecessors, reverse postorder, reachability.

use crate::entity::{Block, Entity};
use crate::function::Function;
use crate::inst::Edge;

/// Computed once; stale as soon as a terminator changes.
#[derive(Clone, Debug)]
pub struct Cfg {
    preds: Vec<Vec<Block>>,
    /// Beside each predecessor, which of its edges it is.
    numbers_of_edges: Vec<Vec<u32>>,
    rpo: Vec<Block>,
    number: Vec<u32>,
}

impl Cfg {
    /// The graph of a function with a body.
    pub fn new(func: &Function) -> Cfg {
        let mut preds = vec![Vec::new(); func.blocks.len()];
        let mut numbers_of_edges = vec![Vec::new(); func.blocks.len()];
        let mut post = Vec::with_capacity(func.layout.len());
        let mut seen = vec![false; func.blocks.len()];
        // Depth-first search without recursion: a block and how many of its successors were visited.
        let mut stack = Vec::new();
        if let Some(&entry) = func.layout.first() {
            seen[entry.index()] = true;
            stack.push((entry, 0));
        }
        while let Some((block, next)) = stack.last_mut() {
            let block = *block;
            // Not the list of all edges each time, which takes time in the square of a switch's cases. (24,000 cases:
            // 2.0 s instead of 16.9.)
            if let Some(e) = func.blocks[block].term.edge(*next) {
                let to = e.block;
                preds[to.index()].push(block);
                numbers_of_edges[to.index()].push(*next as u32);
                *next += 1;
                if !std::mem::replace(&mut seen[to.index()], true) {
                    stack.push((to, 0));
                }
            } else {
                post.push(block);
                stack.pop();
            }
        }
        post.reverse();
        let mut number = vec![u32::MAX; func.blocks.len()];
        for (i, b) in post.iter().enumerate() {
            number[b.index()] = i as u32;
        }
        Cfg { preds, numbers_of_edges, rpo: post, number }
    }

    /// Reachable blocks, each before its successors except along back edges.
    pub fn rpo(&self) -> &[Block] {
        &self.rpo
    }

    /// Index of a block in [`Cfg::rpo`], if it is reachable.
    pub fn rpo_index(&self, b: Block) -> Option<usize> {
        let n = self.number[b.index()];
        (n != u32::MAX).then_some(n as usize)
    }

    /// Whether the block can run at all.
    pub fn is_reachable(&self, b: Block) -> bool {
        self.number[b.index()] != u32::MAX
    }

    /// The block of each instruction, by its index, if that is reachable.
    pub fn blocks_of_insts(&self, func: &Function) -> Vec<Option<Block>> {
        let mut block_of = vec![None; func.insts.len()];
        for &b in self.rpo() {
            for &i in &func.blocks[b].insts {
                block_of[i.index()] = Some(b);
            }
        }
        block_of
    }

    /// Reachable predecessors, one entry per edge.
    pub fn preds(&self, b: Block) -> &[Block] {
        &self.preds[b.index()]
    }

    /// The edges to a block, each with its source, in the order of [`Cfg::preds`]. To look for them among all edges of
    /// the predecessors would take time in the square of the cases of a `switch`: each case that is also reached from
    /// the one before it is a join.
    pub fn incoming<'a>(
        &'a self,
        func: &'a Function,
        b: Block,
    ) -> impl Iterator<Item = (Block, &'a Edge)> + Clone + 'a {
        let numbers = &self.numbers_of_edges[b.index()];
        let edge = |(&p, &i): (&Block, &u32)| func.blocks[p].term.edge(i as usize).map(|e| (p, e));
        self.preds(b).iter().zip(numbers).filter_map(edge)
    }
}
