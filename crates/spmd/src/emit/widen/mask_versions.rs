//! All-on and mixed versions of masked code: branches on superword condition codes (BOSCC).
//!
//! If all lanes of a mask are on, code needs no mask: plain loads and stores, no blends. So a profitable region is
//! emitted twice, and a test of the mask chooses (Shin, "Introducing Control Flow into Vectorized Code", PACT 2007;
//! ispc's `cif`):
//!
//! ```text
//! current block ─ all(mask) ─▶ all_on: code without a mask ──────────────────┐
//!               └───────────▶ mixed ─ any(mask) ─▶ some_on: code with the mask ─▶ after
//!                                   └──────────────────────────────────────────▶
//! ```
//!
//! Both versions assign the same variables ([`cloom_ir::ssa`]), so that the code after them does not depend on
//! which one ran. A mixed version is cold and contains no further pairs.
//!
//! A vector that is not full starts with a mask, and its code is a copy of its own. But if all that a mask makes slower
//! is in regions with two versions, that copy is not needed: the mixed versions do for it (*tail folding*; LLVM's loop
//! vectoriser folds the tail into its only loop), and a scalar test chooses. The guard that most kernels begin with is
//! such a case:
//!
//! ```c
//! if (get_global_id(0) >= n) return;   // the rest of the kernel has an all-on and a mixed version
//! ```

use super::Widener;
use crate::analysis::input::VectorInput;
use crate::analysis::weights::Weight;
use crate::error::Stop;
use crate::passes;
use cloom_ir::{Block, Entity, Flags, Op, Term, Value};
use cloom_passes::PassManager;

/// The total weight of code that may be emitted in two versions.
pub(super) const BUDGET: u32 = 2000;

impl VectorInput {
    /// Whether vectors that are not full share the code of full ones: outside of regions with an all-on and a mixed
    /// version there is nothing that a mask makes slower.
    pub(crate) fn folds_tail(&self, manager: &PassManager<'_>) -> bool {
        if !manager.is_on(passes::FOLD_TAIL) || !manager.is_on(passes::ALL_ON) {
            return false;
        }
        // The weight of all regions with two versions, which share one budget.
        let mut versions = 0u32;
        let outside = self
            .cfg
            .rpo()
            .iter()
            .copied()
            .filter(|&b| !self.masked.is_masked(b) || self.masked.begins_region(&self.cfg, &self.dom, b));
        let folds = outside.into_iter().all(|b| self.is_cheap_under_mask(b, &mut versions));
        // Without such a region nothing is gained. Above the budget, some region would have a version with a mask
        // alone.
        folds && versions > 0 && versions <= BUDGET
    }

    /// Whether a block and all that it dominates can run under the mask that the code starts with at no cost, apart
    /// from regions with two versions, whose weight is added to `versions`.
    fn is_cheap_under_mask(&self, b: Block, versions: &mut u32) -> bool {
        // A masked loop tests its mask of live lanes in each iteration.
        if self.masked.is_masked(b) && self.loop_of.contains_key(&b) {
            return false;
        }
        let unmasked = self.func.blocks[b].insts.iter().all(|&i| {
            let data = &self.func.insts[i];
            let uniform_load = matches!(data.op, Op::Load { .. }) && self.shapes.is_uniform(data.args[0]);
            // An access with a mask is slower, and a long strip of row loads would never run (`clone_scalar`).
            (data.op.is_pure() || uniform_load) && !data.flags.contains(Flags::ASSUME_FALSE_OK)
        });
        let linearised = self.masked.is_masked(b) || self.masked.is_linear(b);
        unmasked
            && self.dom.children(b).iter().filter(|&&c| linearised && self.masked.is_masked(c)).all(|&c| {
                // Such a child has the mask of its dominator, which nothing tests.
                let uniform_edge = matches!(&self.forward_preds(c)[..], &[p] if self.has_uniform_term(p));
                if self.has_all_lanes(c) || uniform_edge {
                    return self.is_cheap_under_mask(c, versions);
                }
                let Weight { cost, profitable, .. } = self.weight[c.index()];
                if profitable {
                    *versions = versions.saturating_add(cost);
                }
                matches!(&self.forward_preds(c)[..], &[p] if self.has_scalar_test(p))
            })
    }

    /// Whether a scalar comparison tells if all lanes take an edge of a block ([`super::scalar_mask`]). Else the mask
    /// of the vector's end would be a part of that test, in each vector. (A bitonic sort's step, where half of the
    /// lanes are on: 0.16 ms, and 0.20 so.)
    fn has_scalar_test(&self, b: Block) -> bool {
        let Term::Branch { cond, .. } = &self.func.blocks[b].term else { return false };
        self.func.def_inst(*cond).is_some_and(|i| self.is_strided_compare(i))
    }

    /// Whether all lanes that are in a block leave it by the same edge.
    fn has_uniform_term(&self, b: Block) -> bool {
        match &self.func.blocks[b].term {
            Term::Branch { cond, .. } => self.shapes.is_uniform(*cond),
            _ => true,
        }
    }
}

impl Widener<'_> {
    /// Whether a block and all that it dominates get two versions. If so, takes their weight from the budget.
    pub(super) fn takes_mask_versions(&mut self, b: Block) -> bool {
        let Weight { cost, profitable, .. } = self.item.weight[b.index()];
        // A mixed version has none of its own, as it is cold: two versions in each of n nested regions would be 2^n
        // copies.
        let takes =
            profitable && !self.versions.is_mixed && cost <= self.versions.budget && self.manager.is_on(passes::ALL_ON);
        if takes {
            self.versions.budget -= cost;
        }
        takes
    }

    /// Emits code twice: without a mask, where all its lanes are on, and with it. The code itself ends both versions.
    pub(super) fn mask_versions(
        &mut self,
        mask: Value,
        mut code: impl FnMut(&mut Self, Option<Value>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.manager.count(passes::ALL_ON);
        let all = self.all_on(mask);
        let (from, all_on, mixed) = (self.cur, self.new_block(), self.new_block());
        self.b().branch(all, all_on, mixed);
        self.seal_with_pred(all_on, from);
        self.seal_with_pred(mixed, from);
        // Each version has its own first edge to a join, which writes without a blend.
        let assigned_params = self.joins.assigned.clone();
        self.cur = all_on;
        code(self, None)?;
        self.joins.assigned = assigned_params;
        self.cur = mixed;
        let was_mixed = std::mem::replace(&mut self.versions.is_mixed, true);
        code(self, Some(mask))?;
        self.versions.is_mixed = was_mixed;
        Ok(())
    }

    /// Emits code in two versions, which join after it; the one with the mask is skipped if no lane is on.
    pub(super) fn skipped_or_mask_versions(
        &mut self,
        mask: Value,
        mut code: impl FnMut(&mut Self, Option<Value>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let after = self.new_block();
        let mut ends = Vec::new();
        self.mask_versions(mask, |w, mask| {
            if let Some(mask) = mask {
                // Behind the test that not all are on, perhaps none is.
                let any = w.b().any(mask);
                let (check, some_on) = (w.cur, w.new_block());
                w.b().branch(any, some_on, after);
                w.seal_with_pred(some_on, check);
                ends.push(check);
                w.cur = some_on;
            }
            code(w, mask)?;
            w.b().jump(after, &[]);
            ends.push(w.cur);
            Ok(())
        })?;
        self.ssa.seal(self.func, after, ends);
        self.cur = after;
        Ok(())
    }
}
