//! The points at which the threads of a warp reconverge after a divergent branch.
//!
//! In: the instructions of a function. Out: post-dominators, and [`Op::Converge`] instructions at the points where
//! paths join. `activemask` gives the threads that run together. On hardware these are the threads that took the same
//! path since the last join, because ptxas makes them wait at the immediate post-dominator of each divergent branch.
//! The machine runs threads one after another, so that it needs these points to know which threads would run together.
//!
//! In a module without `activemask` these points have no effect, and none are inserted. No other instruction depends on
//! threads that run in lockstep: PTX does not promise that they do.

use super::op::{Inst, Op};
use cloom_ptx::graph::{Exits, Graph, post_dominators};

/// The blocks of a function and their immediate post-dominators.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    /// The block of each instruction.
    block: Vec<u32>,
    /// The immediate post-dominator of each block, or [`END`](cloom_ptx::graph::END).
    after: Vec<u32>,
    /// The first instruction of each block.
    start: Vec<u32>,
}

/// Whether control may leave an instruction to another one than the next, and whether it may continue with the next.
fn leaves(inst: &Inst) -> (bool, bool) {
    match inst.op {
        Op::Branch(_) | Op::BranchIndexed { .. } | Op::Return | Op::Exit | Op::Trap => (true, inst.guard.is_some()),
        _ => (false, true),
    }
}

fn targets(inst: &Inst) -> &[u32] {
    match &inst.op {
        Op::Branch(target) => std::slice::from_ref(target),
        Op::BranchIndexed { targets, .. } => targets,
        _ => &[],
    }
}

/// The blocks of a function whose branch targets are positions.
fn graph(code: &[Inst]) -> Graph {
    Graph::new(code.len(), |at| {
        let inst = &code[at];
        let (_, next) = leaves(inst);
        Exits { targets: targets(inst), next, end: matches!(inst.op, Op::Return | Op::Exit | Op::Trap) }
    })
}

impl Flow {
    /// Analyses a function whose branch targets are positions.
    pub(super) fn new(code: &[Inst]) -> Flow {
        let Graph { block, start, successors } = graph(code);
        let after = post_dominators(&successors);
        Flow { block, after, start }
    }

    /// Whether every terminating path from `from` goes through `at`, which must be another position.
    pub(super) fn post_dominates(&self, at: u32, from: u32) -> bool {
        let (Some(&goal), Some(&first)) = (self.block.get(at as usize), self.block.get(from as usize)) else {
            return false;
        };
        // Within a block, control goes from each instruction to all that follow.
        if goal == first {
            return at > from;
        }
        let mut block = first;
        while let Some(&next) = self.after.get(block as usize) {
            if next == goal {
                return true;
            }
            block = next;
        }
        false
    }
}

/// Inserts the reconvergence points of divergent branches and of calls, and analyses the result.
pub(super) fn insert_meeting_points(code: Vec<Inst>) -> (Vec<Inst>, Flow) {
    let flow = Flow::new(&code);
    let mut meet = vec![false; code.len()];
    for (at, inst) in code.iter().enumerate() {
        let (leave, stay) = leaves(inst);
        // An unconditional branch sends all threads to one place, so that they stay together.
        if leave && (stay || matches!(inst.op, Op::BranchIndexed { .. })) {
            let join = flow.after.get(flow.block[at] as usize).and_then(|block| flow.start.get(*block as usize));
            if let Some(&join) = join {
                meet[join as usize] = true;
            }
        }
        // The threads of a call may return at different times.
        if let (Op::Call(_), Some(meet)) = (&inst.op, meet.get_mut(at + 1)) {
            *meet = true;
        }
    }
    let mut position = Vec::with_capacity(code.len());
    let mut out = Vec::with_capacity(code.len() + code.len() / 4);
    for (inst, meet) in code.into_iter().zip(meet) {
        // The new position of a join is that of its reconvergence point: branches to the join stop there, too.
        position.push(out.len() as u32);
        if meet {
            out.push(Inst { line: inst.line, guard: None, op: Op::Converge });
        }
        out.push(inst);
    }
    let moved = |target: &mut u32| {
        if let Some(position) = position.get(*target as usize) {
            *target = *position;
        }
    };
    for inst in &mut out {
        match &mut inst.op {
            Op::Branch(target) => moved(target),
            Op::BranchIndexed { targets, .. } => targets.iter_mut().for_each(moved),
            _ => {}
        }
    }
    let flow = Flow::new(&out);
    (out, flow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::op::{Src, Test};

    fn inst(op: Op) -> Inst {
        Inst { line: 0, guard: None, op }
    }

    fn guarded(op: Op) -> Inst {
        Inst { guard: Some(Test { src: Src::Imm(1), negated: false }), ..inst(op) }
    }

    #[test]
    fn the_sides_of_a_condition_meet_at_its_join() {
        // 0: @p bra 3;  1: nop;  2: bra 4;  3: nop;  4: nop;  5: ret
        let code = vec![
            guarded(Op::Branch(3)),
            inst(Op::Nop),
            inst(Op::Branch(4)),
            inst(Op::Nop),
            inst(Op::Nop),
            inst(Op::Return),
        ];
        let flow = Flow::new(&code);
        assert!(flow.post_dominates(4, 0) && flow.post_dominates(4, 1) && flow.post_dominates(5, 3));
        assert!(!flow.post_dominates(3, 0) && !flow.post_dominates(1, 3) && !flow.post_dominates(0, 4));
        let (code, _) = insert_meeting_points(code);
        assert_eq!(code[4].op, Op::Converge);
        assert_eq!(code.len(), 7);
        assert_eq!(code[2].op, Op::Branch(4));
        assert_eq!(code[0].op, Op::Branch(3));
    }

    #[test]
    fn threads_that_leave_a_loop_wait_behind_it() {
        // 0: nop;  1: @p bra 3;  2: nop;  3: @q bra 0;  4: ret
        let code = vec![inst(Op::Nop), guarded(Op::Branch(3)), inst(Op::Nop), guarded(Op::Branch(0)), inst(Op::Return)];
        let flow = Flow::new(&code);
        assert!(flow.post_dominates(4, 0) && flow.post_dominates(3, 2) && !flow.post_dominates(2, 3));
        let (code, _) = insert_meeting_points(code);
        let places: Vec<usize> = (0..code.len()).filter(|at| code[*at].op == Op::Converge).collect();
        assert_eq!(places, [3, 5]);
    }

    #[test]
    fn ways_that_never_end_do_not_count() {
        let code = vec![guarded(Op::Branch(2)), inst(Op::Return), inst(Op::Branch(2))];
        let flow = Flow::new(&code);
        assert!(flow.post_dominates(1, 0));
        assert!(!flow.post_dominates(0, 2) && !flow.post_dominates(1, 2));
    }
}
