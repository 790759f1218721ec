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
//! Both versions assign the same variables ([`crate::emit::ssa`]), so that the code after them does not depend on
//! which one ran. A mixed version is cold and contains no further pairs.

use super::Widener;
use super::weights::Weight;
use crate::error::Stop;
use crate::passes;
use cloom_ir::{Block, Entity, Value};

/// The total weight of code that may be emitted in two versions.
pub(super) const BUDGET: u32 = 2000;

impl Widener<'_> {
    /// Whether a block and all that it dominates get two versions. If so, takes their weight from the budget.
    pub(super) fn takes_mask_versions(&mut self, b: Block) -> bool {
        let Weight { cost, profitable, .. } = self.item.weight[b.index()];
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
