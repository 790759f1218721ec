//! Control flow: blocks, dominators, and cycles with two entries.
//!
//! In: how control leaves each instruction. Out: the blocks and their successors. It knows no instructions, so that
//! both the tree and the decoded code of the simulated GPU use it.

/// The end of the function, which post-dominates everything.
pub const END: u32 = u32::MAX;

/// How control leaves an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exits<'a> {
    /// The positions it may go to. The position after the last instruction is the end of the function.
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
    /// The successors of each block: blocks, or [`END`].
    pub successors: Vec<Vec<u32>>,
}

impl Graph {
    /// The blocks of `count` instructions.
    pub fn new<'a>(count: usize, exits: impl Fn(usize) -> Exits<'a>) -> Graph {
        let mut first = vec![false; count];
        for at in 0..count {
            // A block begins at the entry, at each target, and behind each instruction that ends a block.
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
        // The position after the last instruction has no block: it is the end.
        let block_at = |at: usize| block.get(at).copied().unwrap_or(END);
        let successors = (0..start.len()).map(|index| {
            // Only the last instruction of a block has exits of its own: an earlier one just goes on.
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
        let dominates = Dominance::new(start.len(), successors);
        // A graph is reducible if every edge back to the path of a depth-first search leads to a dominator.
        let (mut seen, mut on_path) = (vec![false; start.len()], vec![false; start.len()]);
        // From the entry, so that only blocks are visited that it reaches: `holds` knows no others. The stack is
        // explicit because a chain of blocks may be as long as the text.
        let mut stack: Vec<(u32, usize)> = start.first().map(|_| (0, 0)).into_iter().collect();
        while let Some((block, child)) = stack.pop() {
            let at = block as usize;
            (seen[at], on_path[at]) = (true, true);
            match successors.get(at)?.get(child) {
                Some(&next) => {
                    stack.push((block, child + 1));
                    // The end is no block, and no edge leads back from it.
                    if next == END {
                        continue;
                    }
                    // An edge back to a block that control can avoid on its way here: the cycle has another entry.
                    if on_path[next as usize] && !dominates.holds(next, block) {
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

/// The dominance relation, by the intervals of subtrees in the dominator tree.
struct Dominance {
    enter: Vec<u32>,
    leave: Vec<u32>,
}

impl Dominance {
    /// For `count` blocks. The first one is the entry.
    fn new(count: usize, successors: &[Vec<u32>]) -> Dominance {
        // Dominators are the post-dominators of the reversed graph.
        // The reversed graph ends in the entry, so the entry gets the end as its successor there.
        let mut predecessors = vec![Vec::new(); count];
        if let Some(entry) = predecessors.first_mut() {
            entry.push(END);
        }
        for (block, next) in successors.iter().enumerate() {
            next.iter().filter(|next| **next != END).for_each(|next| predecessors[*next as usize].push(block as u32));
        }
        let mut children = vec![Vec::new(); count];
        for (block, before) in post_dominators(&predecessors).into_iter().enumerate() {
            // The entry, and blocks that it does not reach, have no dominator.
            if before != END {
                children[before as usize].push(block as u32);
            }
        }
        let (mut enter, mut leave, mut clock) = (vec![0; count], vec![0; count], 0);
        let mut stack: Vec<(u32, usize)> = (count > 0).then_some((0, 0)).into_iter().collect();
        while let Some((block, child)) = stack.pop() {
            // The clock ticks at each visit, so that the interval of a block encloses those of its subtree and no
            // others.
            clock += 1;
            if child == 0 {
                enter[block as usize] = clock;
            }
            match children[block as usize].get(child) {
                Some(&next) => stack.extend([(block, child + 1), (next, 0)]),
                None => leave[block as usize] = clock,
            }
        }
        Dominance { enter, leave }
    }

    /// Whether a block dominates another one. Both are reachable.
    fn holds(&self, block: u32, of: u32) -> bool {
        let (block, of) = (block as usize, of as usize);
        self.enter[block] <= self.enter[of] && self.leave[of] <= self.leave[block]
    }
}

/// No node.
const NONE: usize = usize::MAX;

/// The nodes of the reversed graph that the end reaches, numbered in the order in which a depth-first search finds
/// them, with the state of the algorithm of Lengauer and Tarjan.
struct Dominators {
    /// The block of each number; the end has number 0.
    order: Vec<usize>,
    /// The number of each block, and then the number of the end.
    number: Vec<usize>,
    /// The parent in the tree of the search.
    parent: Vec<usize>,
    semi: Vec<usize>,
    /// A node on the compressed path to the root with the least semi-dominator.
    label: Vec<usize>,
    /// The next node of the compressed path.
    ancestor: Vec<usize>,
}

impl Dominators {
    /// Searches from the end.
    fn new(successors: &[Vec<u32>]) -> Dominators {
        let count = successors.len();
        let mut predecessors = vec![Vec::new(); count + 1];
        for (block, next) in successors.iter().enumerate() {
            next.iter().for_each(|&next| predecessors[index(next, count)].push(block));
        }
        let (mut order, mut number, mut parent) = (Vec::new(), vec![NONE; count + 1], Vec::new());
        // The algorithm needs the numbers of a depth-first search.
        let mut stack = vec![(count, 0)];
        while let Some((block, from)) = stack.pop() {
            // A block is on the stack once for each edge. The edge that is popped first is the one of the depth-first
            // search.
            if number[block] != NONE {
                continue;
            }
            let own = order.len();
            number[block] = own;
            order.push(block);
            parent.push(from);
            stack.extend(predecessors[block].iter().filter(|next| number[**next] == NONE).map(|next| (*next, own)));
        }
        // At first each node is its own semi-dominator, and a tree of its own in the forest.
        let nodes: Vec<usize> = (0..order.len()).collect();
        Dominators { number, parent, semi: nodes.clone(), label: nodes, ancestor: vec![NONE; order.len()], order }
    }

    /// The node with the least semi-dominator on the path from a node to the root of its tree in the forest.
    fn least(&mut self, node: usize) -> usize {
        let mut path = Vec::new();
        let mut at = node;
        // By iteration, as recursion would overflow the stack on long chains.
        // Up to the child of the root: the root itself does not count in the least semi-dominator.
        while self.ancestor[at] != NONE && self.ancestor[self.ancestor[at]] != NONE {
            path.push(at);
            at = self.ancestor[at];
        }
        // From the root down, each node takes the result of its ancestor.
        while let Some(at) = path.pop() {
            let above = self.ancestor[at];
            if self.semi[self.label[above]] < self.semi[self.label[at]] {
                self.label[at] = self.label[above];
            }
            self.ancestor[at] = self.ancestor[above];
        }
        self.label[node]
    }

    /// The immediate dominator of each number.
    fn solve(mut self, successors: &[Vec<u32>]) -> Vec<usize> {
        let count = self.order.len();
        let mut dominator = vec![0; count];
        let mut waiting = vec![Vec::new(); count];
        // In descending order of the numbers: the nodes that are linked to the forest so far are those with higher
        // numbers.
        for node in (1..count).rev() {
            // The graph is reversed: the successors of a block are the predecessors of its node.
            for &next in &successors[self.order[node]] {
                let next = self.number[index(next, successors.len())];
                if next != NONE {
                    let least = self.least(next);
                    self.semi[node] = self.semi[node].min(self.semi[least]);
                }
            }
            // A node waits in the list of its semi-dominator until the path from there down to the node is linked.
            waiting[self.semi[node]].push(node);
            let parent = self.parent[node];
            self.ancestor[node] = parent;
            for other in std::mem::take(&mut waiting[parent]) {
                let least = self.least(other);
                // In the first case `other` has the dominator of `least`, which is not known yet: the loop below looks
                // it up.
                dominator[other] = if self.semi[least] < self.semi[other] { least } else { parent };
            }
        }
        for node in 1..count {
            // Then it is the dominator of a node with a lower number, which is final by now.
            if dominator[node] != self.semi[node] {
                dominator[node] = dominator[dominator[node]];
            }
        }
        dominator
    }
}

/// The index of a block. The end has the index after all blocks.
fn index(block: u32, count: usize) -> usize {
    if block == END { count } else { block as usize }
}

/// Immediate post-dominators by the algorithm of Lengauer and Tarjan (1979) on the reversed graph, whose time is close
/// to linear for any text. A block that cannot reach the end has [`END`].
pub fn post_dominators(successors: &[Vec<u32>]) -> Vec<u32> {
    let nodes = Dominators::new(successors);
    let (order, number) = (nodes.order.clone(), nodes.number.clone());
    let dominator = nodes.solve(successors);
    let block = |number: usize| match order[dominator[number]] {
        block if block == successors.len() => END,
        block => block as u32,
    };
    number[..successors.len()].iter().map(|&number| if number == NONE { END } else { block(number) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of instructions with these targets, which may also continue with the next one. The function ends
    /// after the last.
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

    /// Whether the end is reached from a block, or reached by a path that avoids the block `without`.
    fn ends(successors: &[Vec<u32>], from: u32, without: Option<u32>) -> bool {
        let (mut seen, mut stack) = (vec![false; successors.len()], vec![from]);
        while let Some(block) = stack.pop() {
            if block == END {
                return true;
            }
            if Some(block) != without && !std::mem::replace(&mut seen[block as usize], true) {
                stack.extend(&successors[block as usize]);
            }
        }
        false
    }

    /// Random graphs against the definitions.
    #[test]
    fn dominators_are_those_of_the_definition() {
        let mut state = 1_u64;
        let mut below = |bound: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as u32 % bound
        };
        for _ in 0..2000 {
            let count = 1 + below(9);
            let successors: Vec<Vec<u32>> = (0..count)
                .map(|_| {
                    let next = 1 + below(2);
                    (0..next).map(|_| below(count + 1)).map(|next| if next == count { END } else { next }).collect()
                })
                .collect();
            let after = post_dominators(&successors);
            for block in (0..count).filter(|block| ends(&successors, *block, None)) {
                let must_pass = |other: u32| other != block && !ends(&successors, block, Some(other));
                let mut found = Vec::new();
                let mut at = after[block as usize];
                while at != END {
                    found.push(at);
                    at = after[at as usize];
                }
                found.sort_unstable();
                assert_eq!(found, (0..count).filter(|other| must_pass(*other)).collect::<Vec<_>>(), "{successors:?}");
            }
            assert!((0..count).all(|block| ends(&successors, block, None) || after[block as usize] == END));
        }
    }

    /// A text of some megabytes may be one function of such a shape.
    #[test]
    fn long_chains_take_little_time() {
        let count = 200_000;
        let back: Vec<[u32; 1]> = vec![[0]; count];
        let forward: Vec<[u32; 1]> = vec![[count as u32 - 1]; count];
        for targets in [back, forward] {
            let targets: Vec<&[u32]> = targets.iter().map(<[u32; 1]>::as_slice).collect();
            assert_eq!(graph(&targets).second_entry(), None);
        }
    }
}
