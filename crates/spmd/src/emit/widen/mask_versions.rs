//! All-on and mixed versions of masked code: branches on superword condition codes.
//!
//! Where all lanes of a mask are on, code needs no masks: plain loads and stores, no blends. So a region that is
//! profitable is written twice, and a test of the mask chooses (Shin, "Introducing control flow into vectorized code",
//! PACT 2007; ispc's `cif`):
//!
//! ```text
//! current block ─ all(mask) ─▶ all_on: code without a mask ──────────────────┐
//!               └───────────▶ mixed ─ any(mask) ─▶ some_on: code with the mask ─▶ after
//!                                   └──────────────────────────────────────────▶
//! ```
//!
//! Both versions write the same variables ([`crate::emit::ssa`]), so that what comes after cannot see which one ran.
//! Within a mixed version no further pairs are written: it is cold.

use super::Widener;
use super::weights::Weight;
use crate::error::Stop;
use crate::passes;
use cloom_ir::{Block, Entity, Value};

/// The weight of code that a vector's code may have in two versions.
pub(super) const BUDGET: u32 = 2000;

impl Widener<'_> {
    /// Whether a block and what it dominates get two versions. They are charged to the budget.
    pub(super) fn takes_mask_versions(&mut self, b: Block) -> bool {
        let Weight { cost, profitable, .. } = self.item.weight[b.index()];
        let takes = profitable && !self.is_mixed && cost <= self.budget && self.manager.is_on(passes::ALL_ON);
        if takes {
            self.budget -= cost;
        }
        takes
    }

    /// Two versions of code: without a mask if all its lanes are on, else with it. How each ends is left to the code.
    pub(super) fn mask_versions(
        &mut self,
        mask: Value,
        mut code: impl FnMut(&mut Self, Option<Value>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.manager.count(passes::ALL_ON);
        let all = self.all_on(mask);
        let (from, all_on, mixed) = (self.cur, self.new_block(), self.new_block());
        self.b().branch(all, all_on, mixed);
        self.seal_one(all_on, from);
        self.seal_one(mixed, from);
        let written = self.written.clone();
        self.cur = all_on;
        code(self, None)?;
        self.written = written;
        self.cur = mixed;
        let was_mixed = std::mem::replace(&mut self.is_mixed, true);
        code(self, Some(mask))?;
        self.is_mixed = was_mixed;
        Ok(())
    }

    /// Two versions of code, which meet after it; the one with the mask runs only if one of its lanes is on.
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
                w.seal_one(some_on, check);
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
