//! Rematerialisation: values live across a barrier that are computed again from group slots and ids.
//!
//! In comes a kernel with its continuations and their live-in values; out goes which of these values need no slot for
//! each work-item:
//!
//! ```c
//! for (int d = 0; d < n; d++) {
//!     const int j = d - (int)get_local_id(0);
//!     barrier(CLK_LOCAL_MEM_FENCE);
//!     line[j & 63] += row[j];        // j is rematerialised from d, which is uniform for the group, and the id
//! }
//! ```
//!
//! That saves a store and a load in each iteration. More importantly, a value loaded from a slot has no shape, while
//! a rematerialised one has its stride: here the loads of `row` are contiguous. (Briggs, Cooper and Torczon,
//! "Rematerialization", PLDI 1992, for spills.) Loads are never repeated: another work-item may have written there.
//!
//! Obligation F3 (frame): the group slot holds the value from which the work-item's value was computed. If it were
//! from another iteration, some path from the slot's definition to the barrier would pass that definition once more;
//! then a path from the kernel's start to the use would miss the definition of the work-item's value, which dominates
//! its uses. Only in a loop that work-items leave in different iterations may they have different values of one
//! definition (`is_temporally_divergent`); and with divergent dispatch nothing is rematerialised.

use crate::analysis::divergence::Divergence;
use crate::split::continuations::{Continuation, is_cheap};
use cloom_ir::{Entity, Function, Op, Value, ValueDef};

/// The depth of an expression tree that may be rematerialised.
const DEPTH: u32 = 4;

/// Finds these values, and adds the group-uniform leaves of their expressions to the live-in values of the
/// continuations that need them.
pub fn find(
    func: &Function,
    divergence: &Divergence,
    remat_anywhere: &[bool],
    continuations: &mut [Continuation],
) -> Vec<bool> {
    let search = Search { func, divergence, remat_anywhere };
    let mut remat_from_group = vec![false; func.values.len()];
    for c in continuations {
        // Leaves of a search that fails are dropped again: they would have slots for nothing.
        let mut leaves = Vec::new();
        for &v in &c.live_in {
            let leaves_before = leaves.len();
            remat_from_group[v.index()] = !divergence.is_uniform(v) && search.leaves(v, DEPTH, &mut leaves);
            if !remat_from_group[v.index()] {
                leaves.truncate(leaves_before);
            }
        }
        // A leaf becomes live into the continuation, and so gets a slot of the group.
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
    /// Collects the group-uniform leaves of a value's expression of cheap operations. False if there is any other
    /// leaf.
    fn leaves(&self, v: Value, depth: u32, leaves: &mut Vec<Value>) -> bool {
        let ValueDef::Inst(i) = self.func.values[v].def else { return false };
        let data = &self.func.insts[i];
        is_cheap(&data.op)
            && data.args.iter().all(|&a| {
                if self.remat_anywhere[a.index()] {
                    return true;
                }
                // (Each work-item has its own copy of a private array, so that its address is never group-uniform.)
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
