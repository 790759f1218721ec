//! Divergent loops: a loop that lanes leave in different iterations becomes a uniform loop over a mask of live lanes.
//!
//! In comes a loop in canonical form ([`crate::transform::canonicalize`]: one latch, one exit, from the header or from
//! the latch); out goes one that goes on while a lane is live (the transformation of divergent loops by Moll and Hack,
//! PLDI 2018):
//!
//! ```text
//! before ─▶ head: live mask, parameters ─▶ body under the mask ─ any(stay) ─▶ head
//!                                                              └───────────▶ after: the exit block under the mask from before
//! ```
//!
//! A lane that leaves writes the parameters of the exit block, blended under its own mask, and is off from then on.
//! What a loop computes and is used after it passes such a parameter, so that each lane has the value of the iteration
//! in which it left. Values of lanes that have left need no blend in the loop: nobody reads them.

use super::{OpenLoop, Widener};
use crate::error::{Stop, bug};
use crate::transform::canonicalize::Form;
use cloom_ir::{Block, Edge, Term, Value};

impl Widener<'_> {
    /// A loop in canonical form under a mask.
    pub(super) fn divergent_loop(&mut self, l: usize, mask: Option<Value>) -> Result<(), Stop> {
        let item = self.item;
        let data = &item.loops.loops[l];
        let form = item.forms[l].ok_or(bug("a loop is not in canonical form"))?;
        let (header, latch, (from, exit)) = (data.header, data.latches[0], data.exits[0]);
        let diverges = item.shapes.diverges(from);
        for &p in &item.func.blocks[exit].params {
            self.clear(p);
        }
        let live = diverges.then(|| self.ssa.var(self.mask_type()));
        if let Some(var) = live {
            let all = self.mask_value(mask);
            self.ssa.write(self.cur, var, all);
        }
        let was_mixed = self.is_mixed;
        if diverges && form == Form::TopTested {
            // What is left has some lanes on, but seldom all: its mixed version alone.
            self.is_mixed |= self.all_on_iterations(l, header, latch, exit)?;
        }
        let (before, head, after) = (self.cur, self.new_block(), self.new_block());
        self.b().jump(head, &[]);
        self.cur = head;
        self.mask = match live {
            Some(var) => Some(self.ssa.read(self.func, head, var)),
            None => mask,
        };
        let open = OpenLoop { header, latch, exit, form, diverges, live, after, left: Vec::new(), continues: None };
        self.loops.push(open);
        let mut ends = vec![before];
        let live_mask = self.mask;
        match live_mask {
            Some(mask) if diverges && form == Form::BottomTested && self.takes_mask_versions(header) => {
                self.mask_versions(mask, |w, mask| w.iteration(header, head, form, mask, &mut ends))?;
            }
            mask => self.iteration(header, head, form, mask, &mut ends)?,
        }
        self.is_mixed = was_mixed;
        let left = self.loops.pop().map(|l| l.left).unwrap_or_default();
        ends.sort();
        ends.dedup();
        self.ssa.seal(self.func, head, ends);
        self.ssa.seal(self.func, after, left);
        self.cur = after;
        self.mask = mask;
        if item.masked.is_masked(exit) { self.subtree(exit, mask) } else { Ok(()) }
    }

    /// One iteration of a loop, from its header to the back edge.
    fn iteration(
        &mut self,
        header: Block,
        head: Block,
        form: Form,
        mask: Option<Value>,
        ends: &mut Vec<Block>,
    ) -> Result<(), Stop> {
        self.mask = mask;
        self.block(header)?;
        if form == Form::TopTested {
            let stay = self.leave_header(header)?;
            let loop_number = self.item.loop_of.get(&header).copied();
            let inner = loop_number.map(|l| self.stay_target(l));
            match (stay, inner) {
                // Those that stay may be all lanes.
                (Some(mask), Some(inner)) if self.takes_mask_versions(header) => {
                    return self.mask_versions(mask, |w, mask| {
                        w.edge_masks.insert(inner, (mask, None));
                        w.children(header)?;
                        w.b().jump(head, &[]);
                        ends.push(w.cur);
                        Ok(())
                    });
                }
                _ => self.children(header)?,
            }
            self.b().jump(head, &[]);
            ends.push(self.cur);
            return Ok(());
        }
        self.linearised_term(header)?;
        if self.loops.last().is_some_and(|l| l.latch != header) {
            self.children(header)?;
        }
        let end = self.cur;
        let open = self.loops.last_mut().and_then(|l| {
            l.left.push(end);
            Some((l.continues.take()?, l.after))
        });
        let (again, after) = open.ok_or(bug("a latch was not reached"))?;
        self.b().branch(again, head, after);
        ends.push(end);
        Ok(())
    }

    /// A branch that decides on another iteration: by what, whether true stays, and the edges that stay and leave.
    pub(super) fn stay_or_leave(&self, b: Block, exit: Block) -> Result<(Value, bool, Edge, Edge), Stop> {
        match &self.item.func.blocks[b].term {
            Term::Branch { cond, then, els } if els.block == exit => Ok((*cond, true, then.clone(), els.clone())),
            Term::Branch { cond, then, els } => Ok((*cond, false, els.clone(), then.clone())),
            _ => Err(bug("a loop's exit is no branch")),
        }
    }

    /// The masks of lanes that stay and leave, and the scalar that says whether there is another iteration.
    fn decide(
        &mut self,
        cond: Value,
        stays: bool,
        diverges: bool,
    ) -> Result<(Option<Value>, Option<Value>, Value), Stop> {
        let mask = self.mask;
        if !diverges {
            let c = self.base(cond)?;
            let again = if stays { c } else { self.not(c) };
            return Ok((mask, mask, again));
        }
        let c = self.lane(cond)?;
        let n = self.not(c);
        let (stay, leave) = if stays { (c, n) } else { (n, c) };
        let (stay, leave) = (self.and(mask, stay), self.and(mask, leave));
        let again = self.b().any(stay);
        Ok((Some(stay), Some(leave), again))
    }

    /// The exit of a header: goes on in a block for those that stay. Gives their mask, if lanes differ.
    fn leave_header(&mut self, header: Block) -> Result<Option<Value>, Stop> {
        let Some(&OpenLoop { exit, diverges, live, after, .. }) = self.loops.last() else {
            return Err(bug("no loop is open"));
        };
        let (cond, stays, stay_edge, leave_edge) = self.stay_or_leave(header, exit)?;
        let (stay, leave, again) = self.decide(cond, stays, diverges)?;
        self.write_params(&leave_edge, if diverges { leave } else { None }, false)?;
        if let (Some(var), Some(stay)) = (live, stay) {
            self.ssa.write(self.cur, var, stay);
        }
        self.masked_edge(&stay_edge, stay, None)?;
        self.edge_masks.insert(stay_edge.block, (stay, None));
        let (from, body) = (self.cur, self.new_block());
        self.b().branch(again, body, after);
        self.seal_one(body, from);
        self.cur = body;
        if let Some(l) = self.loops.last_mut() {
            l.left.push(from);
        }
        Ok(if diverges { stay } else { None })
    }

    /// The latch of a loop that is left from there.
    pub(super) fn latch(&mut self, b: Block) -> Result<(), Stop> {
        let Some(&OpenLoop { exit, diverges, live, .. }) = self.loops.last() else {
            return Err(bug("no loop is open"));
        };
        let (cond, stays, back, leave_edge) = self.stay_or_leave(b, exit)?;
        let (stay, leave, again) = self.decide(cond, stays, diverges)?;
        self.write_params(&leave_edge, if diverges { leave } else { None }, false)?;
        self.write_params(&back, None, false)?;
        if let (Some(var), Some(stay)) = (live, stay) {
            self.ssa.write(self.cur, var, stay);
        }
        if let Some(l) = self.loops.last_mut() {
            l.continues = Some(again);
        }
        Ok(())
    }
}
