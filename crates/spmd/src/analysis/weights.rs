//! Costs of regions, and which must not run without an active lane.
//!
//! In comes an analysed function; out go, for each block together with all that it dominates, a rough cost and two
//! facts: whether it needs a guard, because something in it cannot obey a mask, and whether a version without masks
//! is profitable. Costs are those of a vector: a strided access 3, a gather 12, a serialised operation 40. (ispc
//! likewise decides between branching and predication by cost.)

use crate::analysis::shape::{Shape, Shapes};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{BinOp, Block, Entity, Function, Op, UnOp};
use rustc_hash::FxHashMap;

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
    for &b in cfg.rpo().iter().rev() {
        let (mut cost, mut needs_guard, mut profitable) = (1u32, loop_of.contains_key(&b), false);
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            let uniform = |k: usize| shapes.is_uniform(data.args[k]);
            let strided = |k: usize| matches!(shapes.of(data.args[k]), Shape::Strided { .. });
            cost += match &data.op {
                Op::Const(_) => 0,
                Op::Load { .. } | Op::Store { .. } => {
                    needs_guard |= uniform(0);
                    profitable |= !uniform(0);
                    if strided(0) { 3 } else { 12 }
                }
                Op::Binary(BinOp::Udiv | BinOp::Sdiv | BinOp::Urem | BinOp::Srem | BinOp::Fdiv)
                | Op::Unary(UnOp::Sqrt) => 8,
                Op::Call(_) | Op::Printf(_) | Op::DeviceCall(_) | Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } => {
                    needs_guard = true;
                    profitable = true;
                    40
                }
                // Never without need: a slow path takes as long for one lane as for all.
                Op::PureCall(_) => 40,
                Op::MemCopy { .. } | Op::MemSet { .. } | Op::AtomicLoad { .. } | Op::AtomicStore { .. } => 20,
                Op::Unary(_) => 3,
                op if op.is_subgroup() => 8,
                _ => 1,
            };
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
