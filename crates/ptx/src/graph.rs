//! Control flow: blocks, dominators, and cycles with two entries.
//!
//! In: how control leaves each instruction. Out: the blocks and what follows each. It knows no instruction, so that it
//! serves both the tree and the decoded code of the simulated GPU.

/// The end of the function, which post-dominates everything.
pub const END: u32 = u32::MAX;

/// How control leaves an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exits<'a> {
    /// The positions it may go to. One behind the last instruction is the end of the function.
    pub targets: &'a [u32],
    /// Whether it may go on to the next instruction.
    pub next: bool,
    /// Whether the function may end here.
    pub end: bool,
}

impl Exits<'_> {
    /// Whether a block ends here.
    fn is_last(&self) -> bool {
        !self.targets.is_empty() || self.end || !self.next
    }
}

/// The blocks of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The block of each instruction.
    pub block: Vec<u32>,
    /// The first instruction of each block.
    pub start: Vec<u32>,
    /// What follows each block: blocks, or [`END`].
    pub successors: Vec<Vec<u32>>,
}

impl Graph {
    /// The blocks of so many instructions.
    pub fn new<'a>(count: usize, exits: impl Fn(usize) -> Exits<'a>) -> Graph {
        let mut first = vec![false; count];
        for at in 0..count {
            first[at] |= at == 0;
            let exits = exits(at);
            for &target in exits.targets {
                if let Some(first) = first.get_mut(target as usize) {
                    *first = true;
                }
            }
            if let (true, Some(first)) = (exits.is_last(), first.get_mut(at + 1)) {
                *first = true;
            }
        }
        let mut start = Vec::new();
        let mut block: Vec<u32> = Vec::with_capacity(count);
        for (at, first) in first.into_iter().enumerate() {
            if first {
                start.push(at as u32);
            }
            block.push(start.len() as u32 - 1);
        }
        let block_at = |at: usize| block.get(at).copied().unwrap_or(END);
        let successors = (0..start.len()).map(|index| {
            let end = start.get(index + 1).map_or(count, |next| *next as usize);
            let exits = exits(end - 1);
            let mut next: Vec<u32> = exits.targets.iter().map(|target| block_at(*target as usize)).collect();
            if exits.next {
                next.push(block_at(end));
            }
            if exits.end {
                next.push(END);
            }
            next
        });
        let successors = successors.collect();
        Graph { block, start, successors }
    }

    /// The position of a block in a cycle that control also enters elsewhere, if there is one.
    pub fn second_entry(&self) -> Option<u32> {
        let Graph { start, successors, .. } = self;
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
}

/// Immediate post-dominators by the iteration of Cooper, Harvey and Kennedy on the reversed graph. A block that cannot
/// reach the end has [`END`].
pub fn post_dominators(successors: &[Vec<u32>]) -> Vec<u32> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of instructions with these targets, which go on to the next; a function ends behind the last.
    fn graph(targets: &[&[u32]]) -> Graph {
        Graph::new(targets.len(), |at| Exits { targets: targets[at], next: true, end: false })
    }

    #[test]
    fn blocks_begin_at_targets_and_behind_branches() {
        let graph = graph(&[&[2], &[], &[], &[0, 9]]);
        assert_eq!(graph.block, [0, 1, 2, 2]);
        assert_eq!(graph.start, [0, 1, 2]);
        assert_eq!(graph.successors, [vec![2, 1], vec![2], vec![0, END, END]]);
        let stops = Graph::new(2, |at| Exits { targets: &[], next: at == 1, end: at == 0 });
        assert_eq!(stops.successors, [[END], [END]]);
        assert_eq!(Graph::new(0, |_| unreachable!()), Graph::default());
    }

    #[test]
    fn a_cycle_with_two_entries_is_found() {
        // Branches 0 to 3, and 3 to 2.
        assert!(matches!(graph(&[&[3], &[], &[], &[2], &[]]).second_entry(), Some(2 | 3)));
        // A loop in a loop.
        assert_eq!(graph(&[&[2], &[], &[2], &[0], &[]]).second_entry(), None);
        assert_eq!(Graph::default().second_entry(), None);
    }

    #[test]
    fn the_sides_of_a_condition_meet_at_its_join() {
        let graph = graph(&[&[2], &[3], &[], &[]]);
        assert_eq!(post_dominators(&graph.successors), [3, 3, 3, END]);
    }
}
