//! Whether a kernel can tell how its work-items are grouped.
//!
//! In come a kernel and its continuation graph; out goes whether a launcher may choose other groups than the program
//! asks for. It may if no work-item asks for its group or shares anything with it: no local ids or sizes, no local
//! memory, no barrier, no sub-groups.

use crate::split::continuations::ContinuationGraph;
use cloom_ir::{Function, Module, Op, ParamKind, Query, Scope, Space};

/// Whether work-items may be grouped otherwise than the program says.
pub fn is_regroupable(module: &Module, kernel: &Function, graph: &ContinuationGraph) -> bool {
    !graph.waits() && !knows_groups(module, kernel)
}

/// Whether a kernel asks how its work-items are grouped, or shares what groups share.
fn knows_groups(module: &Module, kernel: &Function) -> bool {
    let insts = kernel.layout.iter().flat_map(|&b| &kernel.blocks[b].insts);
    let asks = insts.map(|&i| &kernel.insts[i].op).any(|op| match *op {
        Op::Query { what, .. } => {
            !matches!(what, Query::GlobalId | Query::GlobalSize | Query::GlobalOffset | Query::WorkDim)
        }
        Op::GlobalAddr(g) => module.globals[g].space == Space::Local,
        Op::Fence { scope, .. } => matches!(scope, Scope::Group | Scope::SubGroup),
        Op::Barrier => true,
        ref op => op.is_subgroup(),
    });
    asks || kernel.kernel.iter().flat_map(|k| &k.params).any(|p| p.kind == ParamKind::Local)
}
