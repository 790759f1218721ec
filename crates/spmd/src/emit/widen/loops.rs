//! Divergent loops: a loop that lanes leave in different iterations becomes a uniform loop with a mask of live lanes.
//!
//! In comes a loop in canonical form ([`crate::transform::canonicalize`]: one latch, one exit edge, from the header
//! or from the latch); out goes one that iterates while a lane is live (Karrenberg and Hack, CGO 2011; Moll and Hack,
//! PLDI 2018):
//!
//! ```text
//! before ─▶ head: live mask, parameters ─▶ body under the mask ─ any(stay) ─▶ head
//!                                                              └───────────▶ after, with the mask of `before`
//! ```
//!
//! A lane that leaves assigns the parameters of the exit block, blended under its own mask, and is inactive from then
//! on. Values used after the loop pass such parameters, so that each lane has the value of the iteration in which it
//! left (temporal divergence). Values inside need no blend for lanes that have left: nobody reads them.

use super::{OpenLoop, Widener};
use crate::analysis::loop_form::Form;
use crate::error::{Stop, bug};
use cloom_ir::{Block, Edge, Term, Value};

impl Widener<'_> {
    /// Emits a masked loop in canonical form.
    pub(super) fn divergent_loop(&mut self, l: usize, mask: Option<Value>) -> Result<(), Stop> {
        let item = self.item;
        let data = &item.loops.loops[l];
        let form = item.forms[l].ok_or(bug("a loop is not in canonical form"))?;
        let (header, latch, (from, exit)) = (data.header, data.latches[0], data.exits[0]);
        let diverges = item.shapes.diverges(from);
        self.decide_loop(from, header, diverges);
        // The blends at the exit read the old value. It must come from before this loop, not from an earlier iteration
        // of an outer one, which would make the outer loop carry it.
        for &p in &item.func.blocks[exit].params {
            self.clear(p);
        }
        let live = diverges.then(|| self.ssa.var(self.mask_type()));
        if let Some(var) = live {
            let all = self.mask_value(mask);
            self.ssa.write(self.cur, var, all);
        }
        let was_mixed = self.versions.is_mixed;
        if diverges && form == Form::TopTested {
            // After the all-on iterations, some lanes are active but rarely all: only a mixed version.
            self.versions.is_mixed |= self.all_on_iterations(l, header, latch, exit)?;
        }
        // `all_on_iterations` may have moved the end of the code: the loop begins where that ended.
        let (before, head, after) = (self.cur, self.new_block(), self.new_block());
        self.b().jump(head, &[]);
        self.cur = head;
        self.masks.current = match live {
            Some(var) => Some(self.ssa.read(self.func, head, var)),
            None => mask,
        };
        let open_loop =
            OpenLoop { header, latch, exit, form, diverges, live, after, after_preds: Vec::new(), continues: None };
        self.loops.push(open_loop);
        let mut ends = vec![before];
        // A bottom-tested loop has its two versions here. A top-tested one tests behind its header, which also removes
        // lanes from the mask.
        let live_mask = self.masks.current;
        match live_mask {
            Some(mask) if diverges && form == Form::BottomTested && self.takes_mask_versions(header) => {
                self.mask_versions(mask, |w, mask| w.iteration(header, head, form, mask, &mut ends))?;
            }
            mask => self.iteration(header, head, form, mask, &mut ends)?,
        }
        self.versions.is_mixed = was_mixed;
        let after_preds = self.loops.pop().map(|l| l.after_preds).unwrap_or_default();
        // `Ssa::seal` wants one entry for each block that edges come from.
        ends.sort();
        ends.dedup();
        self.ssa.seal(self.func, head, ends);
        self.ssa.seal(self.func, after, after_preds);
        self.cur = after;
        // Lanes that left early have waited here: past the loop, all lanes that entered it are on.
        self.masks.current = mask;
        if item.masked.is_masked(exit) { self.subtree(exit, mask) } else { Ok(()) }
    }

    /// Emits one iteration of a loop, from its header to the back edge.
    fn iteration(
        &mut self,
        header: Block,
        head: Block,
        form: Form,
        mask: Option<Value>,
        ends: &mut Vec<Block>,
    ) -> Result<(), Stop> {
        self.masks.current = mask;
        self.block(header)?;
        if form == Form::TopTested {
            let stay = self.leave_header(header)?;
            let loop_number = self.item.loop_of.get(&header).copied();
            let inner = loop_number.map(|l| self.item.stay_target(l));
            match (stay, inner) {
                // If all lanes stay, the body runs without a mask.
                (Some(mask), Some(inner)) if self.takes_mask_versions(header) => {
                    return self.mask_versions(mask, |w, mask| {
                        // Replaces the entry that `leave_header` made: the version without a mask must not find that
                        // mask.
                        w.masks.of_edges.insert(inner, (mask, None));
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
        // The terminator of a loop of one block is the latch's, and was emitted as such.
        if self.loops.last().is_some_and(|l| l.latch != header) {
            self.children(header)?;
        }
        let end = self.cur;
        // The latch, emitted somewhere in `children`, has left the condition in `continues`. It is taken out, so that a
        // second version of the iteration that emits no latch is found.
        let open_loop = self.loops.last_mut().and_then(|l| {
            // Each version of an iteration has an end of its own, from which the loop may be left.
            l.after_preds.push(end);
            Some((l.continues.take()?, l.after))
        });
        let (continues, after) = open_loop.ok_or(bug("the latch of a loop was not emitted"))?;
        self.b().branch(continues, head, after);
        ends.push(end);
        Ok(())
    }

    /// The branch at a loop's exit: its condition, whether true stays, and the edges that stay and leave.
    pub(super) fn stay_or_leave(&self, b: Block, exit: Block) -> Result<(Value, bool, Edge, Edge), Stop> {
        match &self.item.func.blocks[b].term {
            Term::Branch { cond, then, els } if els.block == exit => Ok((*cond, true, then.clone(), els.clone())),
            Term::Branch { cond, then, els } => Ok((*cond, false, els.clone(), then.clone())),
            _ => Err(bug("a loop's exit is no branch")),
        }
    }

    /// The masks of the lanes that stay and that leave, and the scalar condition for another iteration.
    fn stay_masks(
        &mut self,
        cond: Value,
        stays: bool,
        diverges: bool,
    ) -> Result<(Option<Value>, Option<Value>, Value), Stop> {
        let mask = self.masks.current;
        if !diverges {
            // One scalar decides for all lanes; the mask does not change in the loop.
            let lane_cond = self.base(cond)?;
            let continues = if stays { lane_cond } else { self.not(lane_cond) };
            // All lanes stay or all leave. Both edges get the whole mask, and the scalar decides which of them counts.
            return Ok((mask, mask, continues));
        }
        let lane_cond = self.lane(cond)?;
        let negated = self.not(lane_cond);
        let (stay, leave) = if stays { (lane_cond, negated) } else { (negated, lane_cond) };
        // Lanes that have left before are in neither mask.
        let (stay, leave) = (self.and(mask, stay), self.and(mask, leave));
        let continues = self.b().any(stay);
        Ok((Some(stay), Some(leave), continues))
    }

    /// Emits the exit of a top-tested loop's header, and goes on in the block of the lanes that stay. Returns their
    /// mask if lanes differ.
    fn leave_header(&mut self, header: Block) -> Result<Option<Value>, Stop> {
        let Some(&OpenLoop { exit, diverges, live, after, .. }) = self.loops.last() else {
            return Err(bug("no loop is open"));
        };
        let (cond, stays, stay_edge, leave_edge) = self.stay_or_leave(header, exit)?;
        let (stay, leave, continues) = self.stay_masks(cond, stays, diverges)?;
        self.write_params(&leave_edge, if diverges { leave } else { None }, false)?;
        if let (Some(var), Some(stay)) = (live, stay) {
            self.ssa.write(self.cur, var, stay);
        }
        self.masked_edge(&stay_edge, stay, None)?;
        self.masks.of_edges.insert(stay_edge.block, (stay, None));
        let (from, body) = (self.cur, self.new_block());
        self.b().branch(continues, body, after);
        self.seal_with_pred(body, from);
        self.cur = body;
        if let Some(l) = self.loops.last_mut() {
            l.after_preds.push(from);
        }
        Ok(if diverges { stay } else { None })
    }

    /// Emits the latch of a bottom-tested loop.
    pub(super) fn latch(&mut self, b: Block) -> Result<(), Stop> {
        let Some(&OpenLoop { exit, diverges, live, .. }) = self.loops.last() else {
            return Err(bug("no loop is open"));
        };
        let (cond, stays, back, leave_edge) = self.stay_or_leave(b, exit)?;
        let (stay, leave, continues) = self.stay_masks(cond, stays, diverges)?;
        // Blended in each iteration: a lane keeps the values of the iteration in which it left.
        self.write_params(&leave_edge, if diverges { leave } else { None }, false)?;
        self.write_params(&back, None, false)?;
        if let (Some(var), Some(stay)) = (live, stay) {
            self.ssa.write(self.cur, var, stay);
        }
        if let Some(l) = self.loops.last_mut() {
            l.continues = Some(continues);
        }
        Ok(())
    }
}
