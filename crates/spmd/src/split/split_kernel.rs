//! A kernel that is split at its barriers, with all that its continuations have in common.

use crate::analysis::divergence::{self, Divergence};
use crate::passes;
use crate::split::carried_arrays::{self, Carried};
use crate::split::continuations::{self, Barrier, ContinuationGraph};
use crate::split::frame::{self, Frame};
use cloom_ir::{Function, Module};
use cloom_passes::PassManager;

/// A kernel split into continuations.
pub struct SplitKernel {
    /// The kernel, with a block that ends at each barrier.
    pub split: Function,
    /// Which of its values and branches are uniform for a group.
    pub divergence: Divergence,
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
        let carried = manager.step(passes::CARRIED_ARRAYS, || {
            let carried = carried_arrays::run(&mut split, &barriers);
            (carried.arrays.len(), carried)
        });
        cloom_passes::manager::verify(module, &split, passes::CARRIED_ARRAYS);
        let divergence = divergence::analyse(&split);
        let Carried { arrays, copies } = carried.unwrap_or_default();
        let graph = continuations::build(&split, barriers, &arrays, &divergence, manager);
        let frame = frame::lay_out(&split, &graph, &divergence);
        let saves_arrays = copies || !graph.kept_arrays.is_empty();
        SplitKernel { split, divergence, graph, frame, saves_arrays }
    }
}
