//! A kernel that is split at its barriers, with all that its continuations have in common.

use crate::analysis::divergence;
use crate::analysis::weights::STRIDED_ACCESS;
use crate::decisions::{Decision, Form, Operation, Reason};
use crate::passes;
use crate::split::carried_arrays::{self, Carried};
use crate::split::continuations::{self, Barrier, ContinuationGraph};
use crate::split::frame::{self, Frame, Slot};
use cloom_ir::{Block, Entity, Function, Module, Span};
use cloom_passes::PassManager;

/// A kernel split into continuations.
pub struct SplitKernel {
    /// The kernel, with a block that ends at each barrier.
    pub split: Function,
    /// Its continuations.
    pub graph: ContinuationGraph,
    /// Memory for values that live across barriers.
    pub frame: Frame,
    /// Whether private arrays are saved across a barrier.
    pub saves_arrays: bool,
}

impl SplitKernel {
    /// Splits a kernel at these barriers, at each of which a block ends.
    pub fn new(module: &Module, mut split: Function, barriers: Vec<Barrier>, manager: &PassManager<'_>) -> SplitKernel {
        // First, as it changes which values live across barriers.
        let carried = manager.step(passes::CARRIED_ARRAYS, || {
            let carried = carried_arrays::run(&mut split, &barriers);
            (carried.arrays.len(), carried)
        });
        cloom_passes::manager::verify(module, &split, passes::CARRIED_ARRAYS);
        // Of work-items of a group, not of lanes of a vector: a slot of the group is one for all of them (F2).
        let divergence = divergence::analyse(&split);
        let Carried { arrays, copies } = carried.unwrap_or_default();
        let graph = continuations::build(&split, barriers, &arrays, &divergence, manager);
        let frame = frame::lay_out(&split, &graph, &divergence);
        let saves_arrays = copies || !graph.kept_arrays.is_empty();
        SplitKernel { split, graph, frame, saves_arrays }
    }

    /// Whether the kernel checks its accesses.
    pub fn has_bounds_checks(&self) -> bool {
        self.split.kernel.as_deref().is_some_and(|meta| !meta.hidden.is_empty())
    }

    /// The decisions on its barriers: which continuation begins at each, what is saved across it, and whether
    /// work-items may go on in different ones.
    pub fn decisions(&self) -> Vec<Decision> {
        let Self { split, graph, frame, .. } = self;
        let mut decisions = Vec::new();
        for (i, c) in graph.continuations.iter().enumerate().skip(1) {
            let slots = || c.live_in.iter().filter_map(|v| frame.slots[v.index()].as_ref());
            let per_item = slots().filter(|slot| matches!(slot, Slot::Item(_))).count() as u32;
            let per_group = slots().filter(|slot| matches!(slot, Slot::Group(_))).count() as u32;
            let block = graph.barrier_after.iter().position(|&n| n == Some(i));
            let span = block.map_or(Span::NONE, |b| split.blocks[Block::new(b)].term_span);
            let number = i as u32;
            let (operation, form, reason) = match graph.batched[i] {
                true => (Operation::Loop, Form::SyntheticBarrier(number), Reason::ReadsInOrder { per_item }),
                false => (Operation::Barrier, Form::Continuation(number), Reason::Saved { per_item, per_group }),
            };
            // Each value of a work-item is stored, and loaded again.
            let cost = Some(2 * STRIDED_ACCESS * per_item);
            decisions.push(Decision { cost, ..Decision::new(operation, form, reason).at(span, split) });
        }
        if graph.divergent_dispatch {
            decisions.push(Decision::new(Operation::Dispatch, Form::PerItem, Reason::BarrierInBranch));
        }
        decisions
    }
}
