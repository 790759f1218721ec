//! Regroupable kernels: those that cannot tell how their work-items are grouped.
//!
//! In come a kernel and its continuation graph; out goes whether a launcher may choose other groups than the program
//! asks for. It may if no work-item queries local ids, group ids or local sizes, and the group shares nothing: no
//! local memory, no barrier, no sub-groups.

use crate::split::continuations::ContinuationGraph;
use cloom_ir::{Function, Module, Op, ParamKind, Query, Scope, Space};

/// Whether the launcher may choose other groups than the program.
pub fn is_regroupable(module: &Module, kernel: &Function, graph: &ContinuationGraph) -> bool {
    !graph.has_source_barriers() && !depends_on_groups(module, kernel)
}

/// Whether a kernel queries its grouping, or uses something that a group shares.
pub fn depends_on_groups(module: &Module, kernel: &Function) -> bool {
    let uses_group = kernel.insts_in_layout().map(|(_, data)| &data.op).any(|op| match *op {
        // Global ids, sizes and offsets are the same however work-items are grouped.
        Op::Query { what, .. } => {
            !matches!(what, Query::GlobalId | Query::GlobalSize | Query::GlobalOffset | Query::WorkDim)
        }
        Op::GlobalAddr(g) => module.globals[g].space == Space::Local,
        Op::Fence { scope, .. } => matches!(scope, Scope::Group | Scope::SubGroup),
        Op::Barrier(_) => true,
        ref op => op.is_subgroup(),
    });
    uses_group || kernel.kernel.iter().flat_map(|k| &k.params).any(|p| p.kind == ParamKind::Local)
}
