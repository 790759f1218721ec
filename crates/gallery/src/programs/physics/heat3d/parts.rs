//! The mesh in parts, one a device: each has a range of cells. Which of them others need, and which it needs of others,
//! follows from the mesh alone.
//!
//! A part's cells are numbered anew, so that everything that a launch or a transfer touches is one stretch:
//!
//! ```text
//! board   [cells that others need | other cells | halo from part 0 | halo from part 2 | … | 0]
//! packed  [for part 0 | for part 2 | …]      a cell that two others need is there twice
//! ```
//!
//! A kernel packs the cells of the border, and the stretch for a part goes straight into its halo. Both sides list the
//! same cells in the order of their numbers in the whole mesh.

use super::mesh::Mesh;
use crate::args;
use crate::cl::queue::{Done, Queue};
use crate::cl::{Buffer, Kernel, Session, round_up};
use crate::error::Result;
use crate::splitting::domain::{Domain, Part, Step, Way};

/// The kernels of a part, in this order.
pub const KERNELS: &[&str] = &["heat3d_part", "heat3d_pack"];

/// The mesh as devices share it.
pub struct Cells<'m> {
    pub mesh: &'m Mesh,
    /// Where each row of neighbours begins, and all rows.
    pub first: &'m [u32],
    pub neighbours: &'m [u32],
    pub degree: usize,
    /// Work-items of a group.
    pub group: usize,
}

/// Which cells a part has.
#[derive(Default, Debug, PartialEq, Eq)]
struct Layout {
    /// Those of its range: first those that others need.
    own: Vec<u32>,
    /// How many others need.
    border: usize,
    /// Those of others that it needs, other by other.
    halo: Vec<u32>,
    /// What it sends, other by other, as places in `own`.
    sends: Vec<u32>,
}

/// The layout of each part of so many cells, and what goes from which to which.
fn layouts(pairs: &[(u32, u32)], split: &[usize]) -> (Vec<Layout>, Vec<Way>) {
    let mut end = 0;
    let after = |cells: &usize| {
        end += cells;
        end
    };
    let ends: Vec<usize> = split.iter().map(after).collect();
    let part_of = |cell: u32| ends.partition_point(|&end| end <= cell as usize);
    // Who has it, who needs it. Even a cell that is held counts as one that needs its neighbours: so who sends also
    // gets.
    let mut needs: Vec<(usize, usize, u32)> = Vec::new();
    for &(p, q) in pairs {
        let (of_p, of_q) = (part_of(p), part_of(q));
        if of_p != of_q {
            needs.extend([(of_p, of_q, p), (of_q, of_p, q)]);
        }
    }
    needs.sort_unstable();
    needs.dedup();
    let mut layouts = Vec::new();
    for (m, (&end, &cells)) in ends.iter().zip(split).enumerate() {
        let first = end - cells;
        // Places in `own`, once they are known.
        let mut place = vec![None; cells];
        let mut own: Vec<u32> = needs.iter().filter(|n| n.0 == m).map(|n| n.2).collect();
        own.sort_unstable();
        own.dedup();
        let border = own.len();
        own.iter().enumerate().for_each(|(at, &cell)| place[cell as usize - first] = Some(at as u32));
        own.extend((first..end).filter(|cell| place[cell - first].is_none()).map(|cell| cell as u32));
        let sends = needs.iter().filter(|n| n.0 == m).filter_map(|n| place[n.2 as usize - first]).collect();
        layouts.push(Layout { own, border, halo: Vec::new(), sends });
    }
    // In the order of the senders, as the halos are: those lists grow here.
    let mut ways: Vec<Way> = Vec::new();
    let mut sent = vec![0; split.len()];
    for &(from, to, cell) in &needs {
        let receiver = &mut layouts[to];
        match ways.last_mut() {
            Some(way) if (way.from, way.to) == (from, to) => way.len += 1,
            _ => {
                let target = receiver.own.len() + receiver.halo.len();
                // Edge 1 is the launch that packs: what is sent is read from there, not from the board.
                ways.push(Way { from, to, source: sent[from], edge: 1, target, len: 1 });
            }
        }
        receiver.halo.push(cell);
        sent[from] += 1;
    }
    (layouts, ways)
}

/// The range of cells of a device.
pub struct Range<'s> {
    queues: [Queue<'s>; 3],
    layout: Layout,
    boards: Vec<Buffer<f32>>,
    /// What it sends, for each board: a step packs while the last step's cells may still be on their way.
    packed: Vec<Buffer<f32>>,
    neighbours: Buffer<u32>,
    share: Buffer<f32>,
    sends: Buffer<u32>,
    group: usize,
}

impl<'s> Range<'s> {
    fn new(session: &'s Session, cells: &Cells<'_>, layout: Layout, boards: usize) -> Result<Range<'s>> {
        let Layout { own, halo, sends, .. } = &layout;
        let n = own.len();
        let mut place = vec![0; cells.mesh.places.len()];
        own.iter().chain(halo).enumerate().for_each(|(at, &cell)| place[cell as usize] = at as u32);
        // Where a cell has fewer neighbours than others, it has the one after the halo, which stays at zero.
        let mut table = vec![(n + halo.len()) as u32; cells.degree.max(1) * n];
        let mut share = vec![1.0; n];
        for (i, &cell) in own.iter().enumerate() {
            let row = cells.first[cell as usize] as usize..cells.first[cell as usize + 1] as usize;
            let row = &cells.neighbours[row];
            row.iter().enumerate().for_each(|(k, &q)| table[k * n + i] = place[q as usize]);
            share[i] = 1.0 / (1 + row.len()) as f32;
        }
        // No buffer is empty.
        let listed: Vec<u32> = if sends.is_empty() { vec![0] } else { sends.clone() };
        let all = |len: usize| (0..boards).map(|_| session.zeroed::<f32>(len)).collect::<Result<Vec<_>>>();
        Ok(Range {
            queues: [session.queue()?, session.queue()?, session.queue()?],
            boards: all(n + halo.len() + 1)?,
            packed: all(listed.len())?,
            neighbours: session.upload(&table)?,
            share: session.upload(&share)?,
            sends: session.upload(&listed)?,
            group: cells.group,
            layout,
        })
    }

    /// Enqueues the next temperatures of the cells from one place to another one.
    fn launch(&self, kernel: &Kernel, step: Step<'_>, (begin, end): (usize, usize), after: &[&Done]) -> Result<Done> {
        let (from, to) = (&self.boards[step.from], &self.boards[step.to]);
        let args = args![from, to, &self.share, &self.neighbours, self.layout.own.len() as u32, end as u32];
        let global = [round_up(end - begin, self.group)];
        self.queues[0].launch(kernel, args, [&[begin], &global, &[self.group]], after)
    }

    /// The cells that are computed first.
    fn first(&self, step: Step<'_>) -> usize {
        let Layout { own, border, .. } = &self.layout;
        if step.exchange && *border > 0 { *border } else { own.len() }
    }
}

impl Domain<f32> for Cells<'_> {
    type Part<'s> = Range<'s>;
    const UNITS: &'static str = "cells";

    fn units(&self) -> usize {
        self.mesh.places.len()
    }

    fn least(&self) -> usize {
        1
    }

    fn parts<'s>(&self, members: &'s [Session], split: &[usize], boards: usize) -> Result<(Vec<Range<'s>>, Vec<Way>)> {
        let (layouts, ways) = layouts(&self.mesh.pairs, split);
        let range = |(member, layout)| Range::new(member, self, layout, boards);
        Ok((members.iter().zip(layouts).map(range).collect::<Result<_>>()?, ways))
    }
}

impl Part<f32> for Range<'_> {
    fn kernels(&self) -> &Queue<'_> {
        &self.queues[0]
    }

    fn reads(&self) -> &Queue<'_> {
        &self.queues[1]
    }

    fn writes(&self) -> &Queue<'_> {
        &self.queues[2]
    }

    fn board(&self, board: usize) -> &Buffer<f32> {
        &self.boards[board]
    }

    fn outgoing(&self, board: usize) -> &Buffer<f32> {
        &self.packed[board]
    }

    fn write(&self, board: usize, all: &[f32]) -> Result<()> {
        let Layout { own, halo, .. } = &self.layout;
        let data = own.iter().chain(halo).map(|&cell| all[cell as usize]).chain([0.0]).collect();
        self.writes().write(&self.boards[board], 0, data, &[])?.wait().map(drop)
    }

    fn read(&self, board: usize) -> Result<Vec<f32>> {
        let own = &self.layout.own;
        let data = self.reads().read(&self.boards[board], 0, vec![0.0; own.len()], &[])?.wait()?;
        // The cells of the border come first on the board; the caller wants them in the mesh's order.
        let first = own.iter().min().copied().unwrap_or(0);
        let mut sorted = vec![0.0; own.len()];
        own.iter().zip(data).for_each(|(&cell, t)| sorted[(cell - first) as usize] = t);
        Ok(sorted)
    }

    fn edges(&self, kernels: &[Kernel], step: Step<'_>, after: &[&Done]) -> Result<[Done; 2]> {
        let border = self.launch(&kernels[0], step, (0, self.first(step)), after)?;
        let sends = self.layout.sends.len();
        // No event to wait for: the queue is in order, and the border's launch is before this one.
        let packed = if step.exchange && sends > 0 {
            let args = args![&self.boards[step.to], &self.packed[step.to], &self.sends, sends as u32];
            let global = [round_up(sends, self.group)];
            self.queues[0].launch(&kernels[1], args, [&[], &global, &[self.group]], &[])?
        } else {
            border.clone()
        };
        self.queues[0].flush()?;
        Ok([border, packed])
    }

    fn inner(&self, kernels: &[Kernel], step: Step<'_>) -> Result<Option<Done>> {
        let (begin, end) = (self.first(step), self.layout.own.len());
        if begin == end {
            return Ok(None);
        }
        let done = self.launch(&kernels[0], step, (begin, end), &[])?;
        self.queues[0].flush()?;
        Ok(Some(done))
    }
}

#[cfg(test)]
mod tests {
    use super::super::mesh::Order;
    use super::*;

    #[test]
    fn both_sides_of_a_way_list_the_same_cells() {
        // A path of six cells, and one edge from its start to its end.
        let pairs = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)];
        let (parts, ways) = layouts(&pairs, &[1, 3, 2]);
        assert_eq!(parts[0], Layout { own: vec![0], border: 1, halo: vec![1, 5], sends: vec![0, 0] });
        assert_eq!(parts[1], Layout { own: vec![1, 3, 2], border: 2, halo: vec![0, 4], sends: vec![0, 1] });
        assert_eq!(parts[2], Layout { own: vec![4, 5], border: 2, halo: vec![0, 3], sends: vec![1, 0] });
        assert_eq!(ways[0], Way { from: 0, to: 1, source: 0, edge: 1, target: 3, len: 1 });
        assert_eq!(ways[1], Way { from: 0, to: 2, source: 1, edge: 1, target: 2, len: 1 });
        assert_eq!(ways[4], Way { from: 2, to: 0, source: 0, edge: 1, target: 2, len: 1 });

        for order in [Order::Bisect, Order::Random, Order::Rings] {
            let mesh = Mesh::new(23, 17, order);
            let split = [100, 1, 150, 140];
            let (parts, ways) = layouts(&mesh.pairs, &split);
            assert_eq!(layouts(&mesh.pairs, &[391]).0[0].border, 0);
            let mut halos = vec![0; 4];
            for way in ways {
                let (from, to) = (&parts[way.from], &parts[way.to]);
                let sent = from.sends[way.source..][..way.len].iter().map(|&at| from.own[at as usize]);
                let got = &to.halo[way.target - to.own.len()..][..way.len];
                assert!(sent.eq(got.iter().copied()));
                halos[way.to] += way.len;
            }
            assert!(parts.iter().zip(halos).all(|(part, got)| part.halo.len() == got));
            // What is not of the border has no neighbour elsewhere.
            let part_of = |cell: u32| parts.iter().position(|p| p.own.contains(&cell));
            for part in &parts {
                let inner = &part.own[part.border..];
                for (p, q) in mesh.pairs.iter().filter(|(p, q)| inner.contains(p) || inner.contains(q)) {
                    assert_eq!(part_of(*p), part_of(*q));
                }
            }
        }
    }
}
