//! Rematerialisation: values that work-items need after a barrier and compute again from what the group keeps.
//!
//! In comes a kernel with its continuations and what lives into each; out goes which of these values need no slot for
//! each work-item:
//!
//! ```c
//! for (int d = 0; d < n; d++) {
//!     const int j = d - (int)get_local_id(0);
//!     barrier(CLK_LOCAL_MEM_FENCE);
//!     line[j & 63] += row[j];        // j: again from d, which is uniform for the group, and the id
//! }
//! ```
//!
//! That saves a load and a store in each iteration; above all, a value from memory has no shape for later stages,
//! while they see here that neighbours read neighbours. (Briggs, Cooper, Torczon, "Rematerialization", PLDI 1992, for
//! spills.) Loads are never repeated: another work-item may have written there.
//!
//! Obligation (frame, F3): the group's slot holds the value from which the work-item's came. Were it from another
//! iteration, some path from the slot's definition to the barrier would pass that definition once more; then a path
//! from the kernel's start to the use would miss the definition of the work-item's value, which dominates its uses.
//! Only a loop that work-items leave in different iterations leaves each with another value (`is_temporally_divergent`), and with
//! divergent dispatch nothing is rematerialised.

use crate::analysis::divergence::Divergence;
use crate::split::continuations::{Continuation, is_cheap};
use cloom_ir::{Entity, Function, Op, Value, ValueDef};

/// How deep an expression may be.
const DEPTH: u32 = 4;

/// Finds them, and adds what they are made of to what lives into the continuations that need them.
pub fn find(
    func: &Function,
    divergence: &Divergence,
    remat_anywhere: &[bool],
    continuations: &mut [Continuation],
) -> Vec<bool> {
    let search = Search { func, divergence, remat_anywhere };
    let mut remat_from_group = vec![false; func.values.len()];
    for c in continuations {
        let mut leaves = Vec::new();
        for &v in &c.live_in {
            let known = leaves.len();
            remat_from_group[v.index()] = !divergence.is_uniform(v) && search.leaves(v, DEPTH, &mut leaves);
            if !remat_from_group[v.index()] {
                leaves.truncate(known);
            }
        }
        leaves.retain(|u| !c.live_in.contains(u));
        leaves.sort();
        leaves.dedup();
        c.live_in.extend(leaves);
    }
    remat_from_group
}

struct Search<'a> {
    func: &'a Function,
    divergence: &'a Divergence,
    remat_anywhere: &'a [bool],
}

impl Search<'_> {
    /// Collects what a value is made of by cheap operations: values that are the same for the group. False if there is anything else.
    fn leaves(&self, v: Value, depth: u32, leaves: &mut Vec<Value>) -> bool {
        let ValueDef::Inst(i) = self.func.values[v].def else { return false };
        let data = &self.func.insts[i];
        is_cheap(&data.op)
            && data.args.iter().all(|&a| {
                if self.remat_anywhere[a.index()] {
                    return true;
                }
                // (The address of a private array is one of each work-item's own, whatever is the same about it.)
                if self.divergence.is_uniform(a) && self.divergence.is_temporally_divergent(a) {
                    return false;
                }
                if self.divergence.is_uniform(a) && !matches!(self.func.def_op(a), Some(Op::Alloca { .. })) {
                    leaves.push(a);
                    return true;
                }
                depth > 0 && self.leaves(a, depth - 1, leaves)
            })
    }
}
