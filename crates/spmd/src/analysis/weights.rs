//! Costs of regions, and which must not run without an active lane.
//!
//! In comes an analysed function; out go, for each block together with all that it dominates, a rough cost and two
//! facts: whether it needs a guard, because something in it cannot obey a mask, and whether a version without masks
//! is profitable. Costs are those of a vector ([`op_cost`]). (ispc likewise decides between branching and predication
//! by cost.)

use crate::analysis::op_class::{OpClass, class};
use crate::analysis::shape::{Shape, Shapes};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{Block, Entity, Function, Op};
use rustc_hash::FxHashMap;

/// The cost of an access that is one vector in memory, or close to that.
pub const STRIDED_ACCESS: u32 = 3;
/// The cost of an access with an address for each lane.
pub const INDEXED_ACCESS: u32 = 12;
/// The cost of an operation that runs lane by lane.
pub const SERIAL: u32 = 40;

/// The cost of an operation for all lanes of a vector, in instructions, roughly. `strided` says whether its first
/// operand is; of an access, that is the address.
pub fn op_cost(op: &Op, strided: bool) -> u32 {
    match class(op) {
        OpClass::Constant => 0,
        OpClass::Access if strided => STRIDED_ACCESS,
        OpClass::Access => INDEXED_ACCESS,
        OpClass::FloatDivision | OpClass::IntegerDivision | OpClass::Subgroup => 8,
        OpClass::Call | OpClass::Print | OpClass::AtomicUpdate | OpClass::PureCall => SERIAL,
        OpClass::Copy | OpClass::AtomicAccess => 20,
        OpClass::Unary => 3,
        OpClass::Simple
        | OpClass::Multiply
        | OpClass::Conversion
        | OpClass::Shuffle
        | OpClass::VectorAccess
        | OpClass::Sample
        | OpClass::Order => 1,
    }
}

/// The cost of a block with all that it dominates.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Weight {
    /// In instructions, roughly.
    pub cost: u32,
    /// Whether it must not run without an active lane.
    pub needs_guard: bool,
    /// Whether it is cheaper without a mask.
    pub profitable: bool,
}

/// Computes the weight of each block with all that it dominates.
pub(crate) fn weights(
    func: &Function,
    cfg: &Cfg,
    dom: &DomTree,
    shapes: &Shapes,
    loop_of: &FxHashMap<Block, usize>,
) -> Vec<Weight> {
    let mut weight = vec![Weight::default(); func.blocks.len()];
    // Backward, so that what a block dominates has its weight before the block.
    for &b in cfg.rpo().iter().rev() {
        // A loop whose trip count is uniform, such as `do … while (++i != n)`, would run although no lane enters it,
        // and perhaps not end.
        let (mut cost, mut needs_guard, mut profitable) = (1u32, loop_of.contains_key(&b), false);
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            let uniform = |k: usize| shapes.is_uniform(data.args[k]);
            let strided = data.args.first().is_some_and(|&a| matches!(shapes.of(a), Shape::Strided { .. }));
            cost += op_cost(&data.op, strided);
            match class(&data.op) {
                OpClass::Access => {
                    // An access at a uniform address is one scalar access, which no mask can turn off.
                    needs_guard |= uniform(0);
                    profitable |= !uniform(0);
                }
                // (A pure call is not executed without need, as a slow path takes as long for one lane as for all. Its
                // cost sees to that.)
                OpClass::Call | OpClass::Print | OpClass::AtomicUpdate => {
                    needs_guard = true;
                    profitable = true;
                }
                _ => {}
            }
        }
        // An edge assigns parameters without a blend where lanes do not join, and always those that are not varying:
        // it must then really be taken.
        for e in func.blocks[b].term.edges() {
            let unblended = !shapes.joins[e.block.index()]
                || func.blocks[e.block].params.iter().any(|&p| shapes.of(p) != Shape::Varying);
            needs_guard |= unblended && cfg.preds(e.block).len() > 1 && !e.args.is_empty();
        }
        for &c in dom.children(b) {
            let inner = weight[c.index()];
            cost = cost.saturating_add(inner.cost);
            needs_guard |= inner.needs_guard;
            profitable |= inner.profitable;
        }
        weight[b.index()] = Weight { cost, needs_guard, profitable };
    }
    weight
}
