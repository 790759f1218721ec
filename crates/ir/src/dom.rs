//! Dominators, by the algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm", 2001).

use crate::cfg::Cfg;
use crate::entity::{Block, Entity};
use crate::function::Function;

/// A dominator tree of the reachable blocks; of the reversed graph, a post-dominator tree.
#[derive(Clone, Debug)]
pub struct DomTree {
    /// Immediate dominator by block index; `None` for roots and unreachable blocks.
    idom: Vec<Option<Block>>,
    children: Vec<Vec<Block>>,
    /// Entry and exit times of a traversal of the tree, for constant-time queries.
    interval: Vec<(u32, u32)>,
}

/// Immediate dominators in a graph given by node numbers: `order` is a reverse postorder that begins with the root,
/// `preds` the predecessors of each node. The root's is itself; `usize::MAX` for nodes that are not in the order.
fn immediate(order: &[usize], preds: &[Vec<usize>]) -> Vec<usize> {
    let mut number = vec![usize::MAX; preds.len()];
    for (i, &b) in order.iter().enumerate() {
        number[b] = i;
    }
    let mut idom = vec![usize::MAX; preds.len()];
    let Some(&root) = order.first() else { return idom };
    idom[root] = root;
    let mut changed = true;
    // In reverse postorder, one round is enough for a reducible graph; the next finds nothing to change.
    while changed {
        changed = false;
        for &b in &order[1..] {
            let mut new = usize::MAX;
            for &p in &preds[b] {
                // Not visited yet, as the latch of a loop in the first round, or not reached from the root.
                if idom[p] == usize::MAX {
                    continue;
                }
                if new == usize::MAX {
                    new = p;
                    continue;
                }
                // The nearest common dominator: the one with the larger number moves up, since a dominator has a
                // smaller one.
                let (mut x, mut y) = (new, p);
                while x != y {
                    while number[x] > number[y] {
                        x = idom[x];
                    }
                    while number[y] > number[x] {
                        y = idom[y];
                    }
                }
                new = x;
            }
            if idom[b] != new {
                idom[b] = new;
                changed = true;
            }
        }
    }
    idom
}

/// Nodes reachable from `root`, in reverse postorder.
fn reverse_postorder(root: usize, succs: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; succs.len()];
    let mut post = Vec::new();
    let mut stack = vec![(root, 0usize)];
    seen[root] = true;
    while let Some((b, next)) = stack.last_mut() {
        let b = *b;
        if let Some(&s) = succs[b].get(*next) {
            *next += 1;
            if !std::mem::replace(&mut seen[s], true) {
                stack.push((s, 0));
            }
        } else {
            post.push(b);
            stack.pop();
        }
    }
    post.reverse();
    post
}

impl DomTree {
    /// The dominator tree of a function with a body.
    pub fn new(func: &Function, cfg: &Cfg) -> DomTree {
        let n = func.blocks.len();
        let order: Vec<usize> = cfg.rpo().iter().map(|b| b.index()).collect();
        let preds: Vec<Vec<usize>> =
            func.blocks.keys().map(|b| cfg.preds(b).iter().map(|p| p.index()).collect()).collect();
        Self::from_immediate(n, &order, &immediate(&order, &preds))
    }

    /// The post-dominator tree: a block's parent is the nearest block that every path from it to the end passes. Blocks
    /// that end the function are roots, and so are blocks whose paths join nowhere before the end, or never end.
    pub fn post(func: &Function, cfg: &Cfg) -> DomTree {
        let n = func.blocks.len();
        // Node n stands for the end. Edges are reversed: predecessors in that graph are the function's successors.
        let mut preds: Vec<Vec<usize>> = vec![Vec::new(); n + 1];
        let mut succs: Vec<Vec<usize>> = vec![Vec::new(); n + 1];
        for &b in cfg.rpo() {
            let edges = func.blocks[b].term.edges();
            let out: Vec<usize> =
                if edges.is_empty() { vec![n] } else { edges.iter().map(|e| e.block.index()).collect() };
            for s in out {
                preds[b.index()].push(s);
                succs[s].push(b.index());
            }
        }
        let order = reverse_postorder(n, &succs);
        let mut idom = immediate(&order, &preds);
        // The entry of the end itself. A block whose immediate post-dominator is the end keeps `n`, by which
        // `from_immediate` knows a root.
        idom.pop();
        let order: Vec<usize> = order.into_iter().filter(|&b| b != n).collect();
        Self::from_immediate(n, &order, &idom)
    }

    /// `order` has each block after its immediate dominator; a block that is its own immediate dominator is a root.
    fn from_immediate(n: usize, order: &[usize], immediate: &[usize]) -> DomTree {
        let mut idom = vec![None; n];
        let mut children = vec![Vec::new(); n];
        let mut roots = Vec::new();
        for &b in order {
            match immediate[b] {
                d if d < n && d != b => {
                    idom[b] = Some(Block::new(d));
                    children[d].push(Block::new(b));
                }
                _ => roots.push(b),
            }
        }
        // Times begin at 1, so that zeros mean a block that is not in the tree.
        let mut interval = vec![(0, 0); n];
        let mut clock = 0;
        for root in roots {
            clock += 1;
            interval[root].0 = clock;
            let mut stack = vec![(root, 0usize)];
            while let Some((b, next)) = stack.last_mut() {
                clock += 1;
                if let Some(&c) = children[*b].get(*next) {
                    *next += 1;
                    interval[c.index()].0 = clock;
                    stack.push((c.index(), 0));
                } else {
                    interval[*b].1 = clock;
                    stack.pop();
                }
            }
        }
        DomTree { idom, children, interval }
    }

    /// The immediate dominator; `None` for the entry and unreachable blocks.
    pub fn idom(&self, b: Block) -> Option<Block> {
        self.idom[b.index()]
    }

    /// In a post-dominator tree, the influence region of a branch: the blocks on the ways from it to where these meet,
    /// the immediate post-dominator, which is none of them; to the ends of the function if they do not meet. A branch
    /// that leads back to itself is one of them. Also whether each block, by its index, is one.
    pub fn influence_region(&self, func: &Function, branch: Block) -> (Vec<Block>, Vec<bool>) {
        let meet = self.idom(branch);
        let mut inside = vec![false; func.blocks.len()];
        let mut stack: Vec<Block> = func.blocks[branch].term.edges().iter().map(|e| e.block).collect();
        let mut region = Vec::new();
        while let Some(b) = stack.pop() {
            if Some(b) == meet || std::mem::replace(&mut inside[b.index()], true) {
                continue;
            }
            region.push(b);
            stack.extend(func.blocks[b].term.edges().iter().map(|e| e.block));
        }
        (region, inside)
    }

    /// The blocks whose immediate dominator is `b`, in reverse postorder.
    pub fn children(&self, b: Block) -> &[Block] {
        &self.children[b.index()]
    }

    /// Whether every path to `b` passes `a`; a block dominates itself. False if one cannot be reached.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let ((a_in, a_out), (b_in, b_out)) = (self.interval[a.index()], self.interval[b.index()]);
        a_in != 0 && b_in != 0 && a_in <= b_in && b_out <= a_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Type};

    /// entry → (a | b) → join → (join | exit); one block is unreachable.
    fn diamond() -> (Function, Vec<Block>) {
        let mut f = Function::new("f", vec![Type::I1], None);
        let b: Vec<Block> = (0..6).map(|_| f.add_block()).collect();
        let c = f.add_block_param(b[0], Type::I1);
        let mut w = Builder::new(&mut f, b[0]);
        w.branch(c, b[1], b[2]);
        for from in [1, 2, 5] {
            w.switch_to(b[from]);
            w.jump(b[3], &[]);
        }
        w.switch_to(b[3]);
        w.branch(c, b[3], b[4]);
        w.switch_to(b[4]);
        w.ret(None);
        (f, b)
    }

    #[test]
    fn a_join_is_dominated_by_the_branch_and_not_by_its_arms() {
        let (f, b) = diamond();
        let cfg = Cfg::new(&f);
        let dom = DomTree::new(&f, &cfg);
        assert_eq!(dom.idom(b[3]), Some(b[0]));
        assert_eq!(dom.idom(b[4]), Some(b[3]));
        assert_eq!(dom.idom(b[0]), None);
        assert!(dom.dominates(b[0], b[4]) && dom.dominates(b[3], b[3]));
        assert!(!dom.dominates(b[1], b[3]) && !dom.dominates(b[4], b[3]));
        assert!(!dom.dominates(b[5], b[3]) && !dom.dominates(b[0], b[5]) && !cfg.is_reachable(b[5]));
        // The edge from the unreachable block does not count.
        assert_eq!(cfg.preds(b[3]).len(), 3);
        let post = DomTree::post(&f, &cfg);
        assert_eq!((post.idom(b[0]), post.idom(b[1]), post.idom(b[3])), (Some(b[3]), Some(b[3]), Some(b[4])));
        assert!(post.idom(b[4]).is_none() && post.dominates(b[4], b[0]) && !post.dominates(b[1], b[0]));
    }
}
