//! Dominators, by the algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm", 2001).

use crate::cfg::Cfg;
use crate::entity::{Block, Entity};
use crate::function::Function;

/// The dominator tree of the reachable blocks.
#[derive(Clone, Debug)]
pub struct DomTree {
    /// Immediate dominator by block index; `None` for the entry and what cannot be reached.
    idom: Vec<Option<Block>>,
    children: Vec<Vec<Block>>,
    /// Entry and exit times of a walk of the tree, for constant-time queries.
    interval: Vec<(u32, u32)>,
}

impl DomTree {
    /// The tree of a function with a body.
    pub fn new(func: &Function, cfg: &Cfg) -> DomTree {
        let n = func.blocks.len();
        let mut idom: Vec<Option<Block>> = vec![None; n];
        let rpo = cfg.rpo();
        let Some(&entry) = rpo.first() else {
            return DomTree { idom, children: vec![Vec::new(); n], interval: vec![(0, 0); n] };
        };
        idom[entry.index()] = Some(entry);
        let number = |b: Block| cfg.rpo_index(b).unwrap_or(usize::MAX);
        let mut changed = true;
        while changed {
            changed = false;
            for &b in &rpo[1..] {
                let mut new: Option<Block> = None;
                for &p in cfg.preds(b) {
                    if idom[p.index()].is_none() {
                        continue;
                    }
                    new = Some(match new {
                        None => p,
                        Some(mut a) => {
                            let mut c = p;
                            while a != c {
                                while number(a) > number(c) {
                                    a = idom[a.index()].unwrap_or(entry);
                                }
                                while number(c) > number(a) {
                                    c = idom[c.index()].unwrap_or(entry);
                                }
                            }
                            a
                        }
                    });
                }
                if new.is_some() && idom[b.index()] != new {
                    idom[b.index()] = new;
                    changed = true;
                }
            }
        }
        idom[entry.index()] = None;
        let mut children = vec![Vec::new(); n];
        for &b in rpo {
            if let Some(d) = idom[b.index()] {
                children[d.index()].push(b);
            }
        }
        let mut interval = vec![(0, 0); n];
        let mut clock = 1;
        let mut stack = vec![(entry, 0usize)];
        interval[entry.index()].0 = clock;
        while let Some((b, next)) = stack.last_mut() {
            clock += 1;
            if let Some(&c) = children[b.index()].get(*next) {
                *next += 1;
                interval[c.index()].0 = clock;
                stack.push((c, 0));
            } else {
                interval[b.index()].1 = clock;
                stack.pop();
            }
        }
        DomTree { idom, children, interval }
    }

    /// The immediate dominator; `None` for the entry and what cannot be reached.
    pub fn idom(&self, b: Block) -> Option<Block> {
        self.idom[b.index()]
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
        assert_eq!(cfg.preds(b[3]).len(), 3);
    }
}
