//! Private variables become SSA values.
//!
//! `slots` finds the private arrays whose address is only ever used, at known offsets, by loads, stores, copies and
//! fills, and splits them into slots: ranges of bytes that are always accessed apart from the others. `rename` then
//! replaces each slot by values, with block parameters at joins where the slot is live. A slot that is also accessed in
//! parts (a `float4` and its components, a union) becomes a vector whose lanes are the parts.
//!
//! A slot that is read before it is written is zero: the IR has no undefined value, and C promises nothing.

mod rename;
mod slots;

use crate::pass::Pass;
use cloom_ir::Function;

/// The pass.
pub const PASS: Pass = Pass::new("mem2reg", "private variables become values, split into slots", run);

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    // Renaming follows the dominator tree, which has no unreachable blocks: accesses in them would be left over.
    let changed = crate::util::remove_unreachable(func);
    let slots = slots::find(func);
    if slots.list.is_empty() {
        return changed;
    }
    rename::run(func, &slots);
    changed + slots.list.len()
}
