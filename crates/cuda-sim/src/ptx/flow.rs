//! Where the threads of a warp meet again after a divergent branch.
//!
//! In: the instructions of a function. Out: post-dominators, and [`Op::Converge`] instructions at the points where
//! paths join. `activemask` gives the threads that run together. On hardware these are the threads that took the same
//! way since the last join, because the compiler makes them wait at the immediate post-dominator of each divergent
//! branch. The machine runs threads one after another, so it needs these points to know which threads would run
//! together.
//!
//! Out too: whether a cycle has two entries ([`Flow::second_entry`]).
//!
//! Without an `activemask` in the module nobody can tell the difference, and nothing is inserted. Nothing else counts
//! on threads that run in step: PTX does not promise it.

use super::op::{Inst, Op};

/// The end of the function, which post-dominates everything.
const END: u32 = u32::MAX;

/// The blocks of a function and their immediate post-dominators.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    /// The block of each instruction.
    block: Vec<u32>,
    /// The immediate post-dominator of each block, or [`END`].
    after: Vec<u32>,
    /// The first instruction of each block.
    start: Vec<u32>,
}

/// Whether control may leave an instruction to elsewhere than the next one, and whether it may go on to the next.
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

/// The block of each instruction, the first instruction of each block, and what follows each block.
fn blocks(code: &[Inst]) -> (Vec<u32>, Vec<u32>, Vec<Vec<u32>>) {
    let mut first = vec![false; code.len()];
    for (at, inst) in code.iter().enumerate() {
        first[at] |= at == 0;
        for &target in targets(inst) {
            if let Some(first) = first.get_mut(target as usize) {
                *first = true;
            }
        }
        if let (true, Some(first)) = (leaves(inst).0, first.get_mut(at + 1)) {
            *first = true;
        }
    }
    let mut start = Vec::new();
    let block: Vec<u32> = first
        .iter()
        .enumerate()
        .map(|(at, first)| {
            if *first {
                start.push(at as u32);
            }
            start.len() as u32 - 1
        })
        .collect();
    let successors: Vec<Vec<u32>> = (0..start.len())
        .map(|index| {
            let end = start.get(index + 1).map_or(code.len(), |next| *next as usize);
            let last = &code[end - 1];
            let mut next: Vec<u32> =
                targets(last).iter().map(|target| block.get(*target as usize).copied().unwrap_or(END)).collect();
            if leaves(last).1 {
                next.push(block.get(end).copied().unwrap_or(END));
            }
            if matches!(last.op, Op::Return | Op::Exit | Op::Trap) {
                next.push(END);
            }
            next
        })
        .collect();
    (block, start, successors)
}

impl Flow {
    /// Analyses a function whose branch targets are positions.
    pub(super) fn new(code: &[Inst]) -> Flow {
        let (block, start, successors) = blocks(code);
        let after = post_dominators(&successors);
        Flow { block, after, start }
    }

    /// The position of a block in a cycle that control also enters elsewhere, if there is one.
    pub(super) fn second_entry(code: &[Inst]) -> Option<u32> {
        let (_, start, successors) = blocks(code);
        // Dominators are the post-dominators of the reversed graph.
        let mut predecessors = vec![Vec::new(); start.len()];
        if let Some(entry) = predecessors.first_mut() {
            entry.push(END);
        }
        for (block, next) in successors.iter().enumerate() {
            next.iter().filter(|next| **next != END).for_each(|next| predecessors[*next as usize].push(block as u32));
        }
        let before = post_dominators(&predecessors);
        let dominates = |block: u32, mut of: u32| {
            while of != block && of != END {
                of = before[of as usize];
            }
            of == block
        };
        // A graph is reducible if all that leads back to the path of a depth-first search leads to a dominator.
        let (mut seen, mut on_path) = (vec![false; start.len()], vec![false; start.len()]);
        let mut stack: Vec<(u32, usize)> = start.first().map(|_| (0, 0)).into_iter().collect();
        while let Some((block, child)) = stack.pop() {
            let at = block as usize;
            (seen[at], on_path[at]) = (true, true);
            match successors.get(at)?.get(child) {
                Some(&next) => {
                    stack.push((block, child + 1));
                    if next == END {
                        continue;
                    }
                    if on_path[next as usize] && !dominates(next, block) {
                        return Some(start[next as usize]);
                    }
                    if !seen[next as usize] {
                        stack.push((next, 0));
                    }
                }
                None => on_path[at] = false,
            }
        }
        None
    }

    /// Whether every way from `from` that ends goes through `at`, which must be another position.
    pub(super) fn post_dominates(&self, at: u32, from: u32) -> bool {
        let (Some(&goal), Some(&first)) = (self.block.get(at as usize), self.block.get(from as usize)) else {
            return false;
        };
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

/// Immediate post-dominators by the iteration of Cooper, Harvey and Kennedy on the reversed graph. A block that cannot
/// reach the end has [`END`].
fn post_dominators(successors: &[Vec<u32>]) -> Vec<u32> {
    let count = successors.len();
    let mut predecessors = vec![Vec::new(); count + 1];
    let index = |block: u32| if block == END { count } else { block as usize };
    for (block, next) in successors.iter().enumerate() {
        for &next in next {
            predecessors[index(next)].push(block);
        }
    }
    // Post-order of the reversed graph from the end.
    let mut order = Vec::new();
    let mut number = vec![usize::MAX; count + 1];
    let mut seen = vec![false; count + 1];
    seen[count] = true;
    let mut stack = vec![(count, 0)];
    while let Some((block, child)) = stack.pop() {
        match predecessors[block].get(child) {
            Some(&next) => {
                stack.push((block, child + 1));
                if !seen[next] {
                    seen[next] = true;
                    stack.push((next, 0));
                }
            }
            None => {
                number[block] = order.len();
                order.push(block);
            }
        }
    }
    let mut dominator = vec![usize::MAX; count + 1];
    dominator[count] = count;
    let mut changed = true;
    while changed {
        changed = false;
        for &block in order.iter().rev().filter(|block| **block != count) {
            let mut best = usize::MAX;
            for &next in &successors[block] {
                let mut other = index(next);
                if dominator[other] == usize::MAX {
                    continue;
                }
                if best == usize::MAX {
                    best = other;
                    continue;
                }
                while best != other {
                    while number[best] < number[other] {
                        best = dominator[best];
                    }
                    while number[other] < number[best] {
                        other = dominator[other];
                    }
                }
            }
            changed |= dominator[block] != best;
            dominator[block] = best;
        }
    }
    dominator[..count].iter().map(|&block| if block >= count { END } else { block as u32 }).collect()
}

/// Inserts the meeting points of divergent branches and of calls, and analyses the result.
pub(super) fn insert_meeting_points(code: Vec<Inst>) -> (Vec<Inst>, Flow) {
    let flow = Flow::new(&code);
    let mut meet = vec![false; code.len()];
    for (at, inst) in code.iter().enumerate() {
        let (leave, stay) = leaves(inst);
        if leave && (stay || matches!(inst.op, Op::BranchIndexed { .. })) {
            let join = flow.after.get(flow.block[at] as usize).and_then(|block| flow.start.get(*block as usize));
            if let Some(&join) = join {
                meet[join as usize] = true;
            }
        }
        if let (Op::Call(_), Some(meet)) = (&inst.op, meet.get_mut(at + 1)) {
            *meet = true;
        }
    }
    let mut position = Vec::with_capacity(code.len());
    let mut out = Vec::with_capacity(code.len() + code.len() / 4);
    for (inst, meet) in code.into_iter().zip(meet) {
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
    fn a_cycle_with_two_entries_is_found() {
        // 0: @p bra 3;  1: nop;  2: nop;  3: @q bra 2;  4: ret
        let two = [guarded(Op::Branch(3)), inst(Op::Nop), inst(Op::Nop), guarded(Op::Branch(2)), inst(Op::Return)];
        assert!(matches!(Flow::second_entry(&two), Some(2 | 3)));
        // 0: @p bra 2;  1: nop;  2: @q bra 2;  3: @r bra 0;  4: ret
        let one =
            [guarded(Op::Branch(2)), inst(Op::Nop), guarded(Op::Branch(2)), guarded(Op::Branch(0)), inst(Op::Return)];
        assert_eq!(Flow::second_entry(&one), None);
        assert_eq!(Flow::second_entry(&[]), None);
    }

    #[test]
    fn ways_that_never_end_do_not_count() {
        let code = vec![guarded(Op::Branch(2)), inst(Op::Return), inst(Op::Branch(2))];
        let flow = Flow::new(&code);
        assert!(flow.post_dominates(1, 0));
        assert!(!flow.post_dominates(0, 2) && !flow.post_dominates(1, 2));
    }
}
