//! Linearisation of divergent control flow: the order of blocks, their masks, and the guards that skip them.
//!
//! Divergent control flow becomes data flow as in Karrenberg and Hack's "Whole-function vectorization" (CGO 2011);
//! uniform branches outside of masked regions stay branches, as in Moll and Hack's "Partial control-flow
//! linearization" (PLDI 2018). In come the function of one work-item in canonical form and its masked blocks
//! ([`crate::analysis::masked`]); out goes vector code:
//!
//! * An unmasked block becomes a block, and its terminator stays a branch (`uniform_term`).
//! * A masked region becomes a chain of blocks in the order of the dominator tree, siblings in reverse postorder. A
//!   child that may have no active lane, and which is expensive or needs a guard, is skipped by a branch:
//!
//! ```text
//! current block ─ any(mask of child) ─▶ guarded: the child and all that it dominates ─▶ after
//!               └────────────────────────────────────────────────────────────────────▶
//! ```
//!
//! * The mask of a block with one forward predecessor is that of the edge (`Masks::of_edges`). The mask of one with
//!   several is a variable into which each edge ors its lanes (`Masks::vars`). A block that post-dominates its
//!   dominator has the dominator's mask. `of_edges` may be keyed by block because of canonical form: no masked
//!   branch has two edges to one block, which [`crate::analysis::input`] checks.
//!
//! Dominance is preserved, so that only block parameters need blends ([`super::params`]). Loops are in
//! [`super::loops`], versions for masks that are all on in [`super::mask_versions`], costs in
//! [`crate::analysis::weights`]. The argument for correctness: `docs/internals/spmd.md`, section 1.

use super::{Widened, Widener};
use crate::analysis::input::VectorInput;
use crate::analysis::loop_form::Form;
use crate::analysis::weights::Weight;
use crate::error::{Stop, bug};
use cloom_ir::ssa::Var;
use cloom_ir::{BinOp, Block, Edge, Entity, Term, Value};
use smallvec::SmallVec;

/// A region that costs less runs even if no lane is active.
const MIN_GUARDED_COST: u32 = 16;

impl VectorInput {
    /// The sources of a block's forward edges.
    pub(super) fn forward_preds(&self, b: Block) -> SmallVec<[Block; 4]> {
        self.cfg.preds(b).iter().copied().filter(|&p| !self.dom.dominates(b, p)).collect()
    }

    /// Whether all lanes of a block's immediate dominator reach it (in the same iteration of a loop).
    pub(super) fn has_all_lanes(&self, b: Block) -> bool {
        let Some(d) = self.dom.idom(b) else { return true };
        // `while (c) { if (x) A; B; }`: past the header only the lanes that stay are on, and B has all of them, though
        // it does not post-dominate the header. So the first block inside takes the header's place.
        let anchor = match self.loop_of.get(&d) {
            Some(&l) if self.forms[l] == Some(Form::TopTested) && self.masked.is_masked(d) => self.stay_target(l),
            _ => d,
        };
        b == anchor || self.post.dominates(b, anchor)
    }

    /// The successor, inside the loop, of a top-tested loop's header.
    pub(super) fn stay_target(&self, l: usize) -> Block {
        let data = &self.loops.loops[l];
        let edges = self.func.blocks[data.header].term.edges();
        edges.iter().map(|e| e.block).find(|&t| t != data.exits[0].1).unwrap_or(data.header)
    }
}

impl Widener<'_> {
    /// Emits all blocks.
    pub(super) fn run(mut self) -> Result<Widened, Stop> {
        let item = self.item;
        let start = self.cur;
        let mut result = None;
        let mut started = rustc_hash::FxHashSet::default();
        // In reverse postorder a dominator comes before what it dominates, so every operand is emitted before its use.
        for &b in item.cfg.rpo() {
            // The other masked blocks are emitted with the entry of their region, by `children`.
            let is_entry = b == item.func.entry()
                || !item.masked.is_masked(b)
                || item.masked.begins_region(&item.cfg, &item.dom, b);
            if !is_entry {
                continue;
            }
            self.cur = if b == item.func.entry() { start } else { self.region_block(b) };
            started.insert(b);
            // All lanes that the code starts with run an unmasked block together.
            self.masks.current = self.masks.entry;
            if item.masked.is_masked(b) {
                self.subtree(b, self.masks.entry)?;
                let after = self.region_end(b)?;
                self.jump_to(after);
                continue;
            }
            self.block(b)?;
            match &item.func.blocks[b].term {
                // Canonical form has one return, and all lanes come to it.
                Term::Return(Some(v)) => result = Some((self.cur, self.get(*v)?)),
                // `if (c) A; else B; C;` with a varying `c`: A and B are emitted here, one after the other, and C is
                // the region's end.
                _ if item.masked.is_linear(b) => {
                    self.linearised_term(b)?;
                    self.children(b)?;
                    // The successors may join in another masked region, a loop perhaps; that is emitted with them.
                    let after = self.region_end(b)?;
                    self.jump_to(after);
                }
                _ => self.uniform_term(b)?,
            }
        }
        // Only now are all predecessors known: a back edge is emitted after the header that it leads to. Sorted, as the
        // order of sealing is the order in which block parameters are made.
        let mut open: Vec<Block> = self.emitted.blocks.values().copied().collect();
        open.sort();
        for b in open {
            let mut preds = self.emitted.preds.remove(&b).unwrap_or_default();
            preds.sort();
            preds.dedup();
            self.ssa.seal(self.func, b, preds);
        }
        // A block that was left out would be lost code, not a compile error.
        let all = item.cfg.rpo().iter().all(|b| self.emitted.done.contains(b));
        if !all || self.emitted.blocks.keys().any(|b| !started.contains(b)) {
            return Err(bug("a block was not emitted"));
        }
        let (end, result) = result.ok_or(bug("no block returns"))?;
        Ok(Widened { end, result, decisions: self.recorder.finish() })
    }

    /// The end of a region that starts at `b` or at its successors: the first unmasked block that post-dominates `b`.
    fn region_end(&self, b: Block) -> Result<Block, Stop> {
        let mut at = b;
        while let Some(next) = self.item.post.idom(at) {
            if !self.item.masked.is_masked(next) {
                return Ok(next);
            }
            at = next;
        }
        Err(bug("a masked region has no end"))
    }

    /// The block emitted for an unmasked block or for the entry of a region.
    fn region_block(&mut self, b: Block) -> Block {
        if let Some(&p) = self.emitted.blocks.get(&b) {
            return p;
        }
        let p = self.func.add_block();
        self.emitted.blocks.insert(b, p);
        p
    }

    /// Jumps to the start of `to`.
    fn jump_to(&mut self, to: Block) {
        let (target, from) = (self.region_block(to), self.cur);
        self.emitted.preds.entry(target).or_default().push(from);
        self.b().jump(target, &[]);
    }

    /// Emits the parameters and instructions of a block under the present mask.
    pub(super) fn block(&mut self, b: Block) -> Result<(), Stop> {
        let item = self.item;
        self.emitted.done.insert(b);
        if b != item.func.entry() {
            for &p in &item.func.blocks[b].params {
                let wide = self.read_param(p);
                self.set(p, wide);
            }
        }
        // The dominator of a join runs before each edge to it, once in an iteration: the place to clear it (M4).
        for &c in item.dom.children(b) {
            self.clear_join(c);
        }
        let mut insts = &item.func.blocks[b].insts[..];
        while let [first, rest @ ..] = insts {
            // A long initialiser of an array becomes a loop over lanes; its instructions are emitted together.
            let run = self.store_run(insts);
            if run > 0 {
                self.stores_in_loop(&insts[..run])?;
                insts = &insts[run..];
                continue;
            }
            self.span = item.func.insts[*first].span;
            self.inst(*first)?;
            insts = rest;
        }
        self.span = item.func.blocks[b].term_span;
        Ok(())
    }

    /// Before the edges to a join are emitted: clears its mask and parameters. (Otherwise a loop would carry them
    /// around from the previous iteration.)
    fn clear_join(&mut self, b: Block) {
        let item = self.item;
        if item.masked.is_masked(b) && self.has_mask_var(b) {
            let var = self.mask_var(b);
            let ty = self.mask_type();
            let empty = self.b().iconst(ty, 0);
            self.ssa.write(self.cur, var, empty);
        }
        if item.shapes.joins[b.index()] {
            for &p in &item.func.blocks[b].params {
                self.joins.assigned.remove(&p);
                self.clear(p);
            }
        }
    }

    pub(super) fn clear(&mut self, p: Value) {
        for var in self.param_vars(p) {
            let ty = self.ssa.ty(var);
            let zero = self.b().iconst(ty, 0);
            self.ssa.write(self.cur, var, zero);
        }
    }

    fn mask_var(&mut self, b: Block) -> Var {
        let ty = self.mask_type();
        let ssa = &mut self.ssa;
        *self.masks.vars.entry(b).or_insert_with(|| ssa.var(ty))
    }

    /// Whether a masked block has several forward edges, which do not bring all lanes of its dominator.
    pub(super) fn has_mask_var(&self, b: Block) -> bool {
        self.item.forward_preds(b).len() > 1 && !self.item.has_all_lanes(b)
    }

    /// Emits an edge from a linearised block, which the lanes of `mask` take. `only_if`: the uniform condition under
    /// which they do.
    pub(super) fn masked_edge(&mut self, e: &Edge, mask: Option<Value>, only_if: Option<Value>) -> Result<(), Stop> {
        let item = self.item;
        let to = e.block;
        if let Some(l) = self.loops.last()
            && to == l.header
        {
            // A back edge needs no blend: lanes that have left the loop get values that nobody reads.
            return self.write_params(e, None, false);
        }
        let joins = item.shapes.joins[to.index()];
        // Where no divergent paths join, all lanes that are on take the same edge. A block with such an edge has a
        // guard (the last rule of `weights`), so that an edge which is not taken does not overwrite the parameters.
        self.write_params(e, if joins { mask } else { None }, joins)?;
        if !item.masked.is_masked(to) {
            return Ok(());
        }
        if self.has_mask_var(to) {
            let var = self.mask_var(to);
            let m = self.mask_value(mask);
            // The mask of a uniform branch's edge is that of the branch on both sides. In a variable, which counts for
            // lanes of other edges too, the side that is not taken must add no lane.
            let m = match only_if {
                Some(c) => {
                    let n = self.lanes;
                    let c = self.b().splat(c, n);
                    self.b().binary(BinOp::And, m, c)
                }
                None => m,
            };
            // No lanes before the first edge: `clear_join` has emptied it in the dominator.
            let old = self.ssa.read(self.func, self.cur, var);
            let new = self.b().binary(BinOp::Or, old, m);
            self.ssa.write(self.cur, var, new);
        } else if self.item.forward_preds(to).len() == 1 {
            // (A block with several edges and no variable has all lanes of its dominator, whose mask `children` uses.)
            self.masks.of_edges.insert(to, (mask, only_if));
        }
        Ok(())
    }

    /// Emits the terminator of a linearised block: its edges assign masks and parameters, and nothing branches.
    pub(super) fn linearised_term(&mut self, b: Block) -> Result<(), Stop> {
        let item = self.item;
        let mask = self.masks.current;
        if let Some(l) = self.loops.last()
            && l.form == Form::BottomTested
            && l.latch == b
        {
            return self.latch(b);
        }
        match &item.func.blocks[b].term {
            Term::Jump(e) => self.masked_edge(e, mask, None),
            Term::Branch { cond, then, els } => {
                // All lanes take the same side. The masks stay as they are, and the scalar condition guards each side:
                // it costs less than a vector comparison, and skips the side that is not taken.
                if item.shapes.is_uniform(*cond) {
                    let c = self.base(*cond)?;
                    let n = self.not(c);
                    self.masked_edge(then, mask, Some(c))?;
                    self.masked_edge(els, mask, Some(n))
                } else {
                    self.decide_linearised(b);
                    let c = self.lane(*cond)?;
                    let n = self.not(c);
                    let (on, off) = (self.and(mask, c), self.and(mask, n));
                    // With a folded tail, `all_on` tests the scalar `entry_full` and the comparison `c`, and needs no
                    // vector mask.
                    if mask == self.masks.entry && self.masks.entry_full.is_some() {
                        self.masks.parts_of_entry.extend([(on, c), (off, n)]);
                    }
                    self.masked_edge(then, Some(on), None)?;
                    self.masked_edge(els, Some(off), None)
                }
            }
            Term::Unreachable => Ok(()),
            Term::Switch { .. } => Err(bug("a switch is masked")),
            Term::Return(_) => Err(bug("a return is masked")),
        }
    }

    /// Emits the terminator of a block that all lanes leave by the same edge: it stays a branch.
    fn uniform_term(&mut self, b: Block) -> Result<(), Stop> {
        let item = self.item;
        let mut term = item.func.blocks[b].term.clone();
        if let Term::Jump(e) = &term {
            self.write_params(e, None, false)?;
            self.jump_to(e.block);
            return Ok(());
        }
        let around = std::iter::successors(item.loops.innermost(b), |&l| item.loops.loops[l].parent);
        let mut around = around.map(|l| &item.loops.loops[l]);
        if let Some(left) = around.find(|l| l.exits.iter().any(|&(from, _)| from == b)) {
            self.decide_loop(b, left.header, false);
        }
        if let Some(v) = term.operand() {
            let x = self.base(v)?;
            match &mut term {
                Term::Branch { cond, .. } => *cond = x,
                Term::Switch { value, .. } => *value = x,
                _ => {}
            }
        }
        // Each edge gets a block that assigns its arguments.
        let from = self.cur;
        let mut edges = Vec::new();
        for e in term.edges_mut() {
            let edge_block = self.func.add_block();
            edges.push((edge_block, e.clone()));
            *e = Edge::new(edge_block, []);
        }
        let span = item.func.blocks[b].term_span;
        self.func.set_term(from, term, span);
        // Now that the branch is there, each of these blocks has its one predecessor.
        for (edge_block, e) in edges {
            self.seal_with_pred(edge_block, from);
            self.cur = edge_block;
            self.write_params(&e, None, false)?;
            self.jump_to(e.block);
        }
        Ok(())
    }

    /// Emits a masked block and all that it dominates, linearised.
    pub(super) fn subtree(&mut self, b: Block, mask: Option<Value>) -> Result<(), Stop> {
        self.masks.current = mask;
        if let Some(&l) = self.item.loop_of.get(&b) {
            return self.divergent_loop(l, mask);
        }
        self.block(b)?;
        self.linearised_term(b)?;
        self.children(b)
    }

    /// Emits what `b` dominates in the same loop.
    pub(super) fn children(&mut self, b: Block) -> Result<(), Stop> {
        let item = self.item;
        let own_loop = item.loops.innermost(b);
        let mask = match item.loop_of.get(&b) {
            // Past a top-tested header, only the lanes that stay are active.
            Some(&l) if item.forms[l] == Some(Form::TopTested) && item.masked.is_masked(b) => {
                self.masks.of_edges.get(&self.item.stay_target(l)).map_or(self.masks.current, |m| m.0)
            }
            _ => self.masks.current,
        };
        // A dominator of the block after a loop lies in the loop, but `divergent_loop` emits that block itself, behind
        // the loop. So children in the same loop remain, and the headers of loops directly inside it.
        let mut children: Vec<Block> = item.dom.children(b).to_vec();
        children.retain(|&c| {
            let inner = item.loops.innermost(c);
            let in_loop =
                inner == own_loop || item.loop_of.get(&c).is_some_and(|&l| item.loops.loops[l].parent == own_loop);
            item.masked.is_masked(c) && in_loop && c != b
        });
        // The sources of all edges to a join come before it, so that its mask is complete when it is read.
        children.sort_by_key(|&c| item.cfg.rpo_index(c));
        for c in children {
            // It has the mask of its dominator, and the same guard.
            if self.item.has_all_lanes(c) {
                self.subtree(c, mask)?;
                continue;
            }
            let (own_mask, only_if) = if self.has_mask_var(c) {
                let var = self.mask_var(c);
                (Some(self.ssa.read(self.func, self.cur, var)), None)
            } else {
                *self.masks.of_edges.get(&c).ok_or(bug("a masked block has no edge to it"))?
            };
            let Weight { cost, needs_guard, .. } = item.weight[c.index()];
            // With `only_if` the mask is that of the parent, and an all-on version of the parent has no mask here.
            if let (None, Some(own_mask)) = (only_if, own_mask)
                && self.takes_mask_versions(c)
            {
                self.skipped_or_mask_versions(own_mask, |w, mask| w.subtree(c, mask))?;
                continue;
            }
            // A test and a branch that is perhaps mispredicted cost more than to compute what nobody uses.
            if only_if.is_none() && !needs_guard && cost < MIN_GUARDED_COST {
                self.subtree(c, own_mask)?;
                continue;
            }
            let test = match (only_if, own_mask) {
                // The scalar condition is enough: a child that needs a lane that is on makes its parent need one
                // (`weights` passes this up), so the parent has a guard of its own.
                (Some(c), _) => c,
                (None, Some(m)) => self.b().any(m),
                // All lanes are on, on every path here.
                (None, None) => {
                    self.subtree(c, own_mask)?;
                    continue;
                }
            };
            // guarded: some lane is active.
            let (from, guarded, after) = (self.cur, self.new_block(), self.new_block());
            self.b().branch(test, guarded, after);
            self.seal_with_pred(guarded, from);
            self.cur = guarded;
            self.subtree(c, own_mask)?;
            let end = self.cur;
            self.b().jump(after, &[]);
            self.ssa.seal(self.func, after, vec![from, end]);
            self.cur = after;
        }
        Ok(())
    }
}
