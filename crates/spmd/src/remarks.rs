//! Remarks: what was decided for a kernel and why, as data for the build log, `cloom show` and `cloom explain`.

use crate::context::{Context, Slot};
use crate::divergence::{Cause, Divergence};
use crate::regions::Plan;
use cloom_ir::{Entity, Function, Op, Span};

/// One decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remark {
    /// Where in the source.
    pub span: Span,
    /// What became of it.
    pub what: String,
    /// Why.
    pub why: String,
}

/// Writes down what the stages decided.
pub fn collect(func: &Function, plan: &Plan, context: &Context, divergence: &Divergence) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for (i, c) in plan.continuations.iter().enumerate().skip(1) {
        let kept = c.live_in.iter().filter(|v| matches!(context.slots[v.index()], Some(Slot::Item(_)))).count();
        let shared = c.live_in.iter().filter(|v| matches!(context.slots[v.index()], Some(Slot::Group(_)))).count();
        let span = plan
            .barrier_after
            .iter()
            .position(|&n| n == Some(i))
            .map_or(Span::NONE, |b| func.blocks[cloom_ir::Block::new(b)].term_span);
        remarks.push(Remark {
            span,
            what: format!("barrier: continuation {i}"),
            why: format!("{kept} values are kept for each work-item across it, {shared} once for the group"),
        });
    }
    if plan.own_next {
        remarks.push(Remark {
            span: Span::NONE,
            what: "each work-item keeps its own next continuation".into(),
            why: "a branch that may differ between work-items decides whether a barrier is reached".into(),
        });
    }
    for &b in &func.layout {
        let block = &func.blocks[b];
        let Some(cond) = block.term.operand().filter(|_| divergence.is_divergent_branch(b)) else { continue };
        let why = match divergence.cause(cond) {
            Some(Cause::Source(i)) => match &func.insts[i].op {
                Op::Query { what, dim } => format!("it depends on {}({dim})", what.name()),
                Op::Load { .. } => "it depends on a value from memory".into(),
                Op::Alloca { .. } => "it depends on a private variable's address".into(),
                _ => "it depends on an atomic operation or a call".into(),
            },
            Some(Cause::Branch(_)) => "it depends on which way an earlier branch went".into(),
            None => continue,
        };
        remarks.push(Remark { span: block.term_span, what: "divergent branch".into(), why });
    }
    remarks
}
