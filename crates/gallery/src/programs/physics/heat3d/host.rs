//! The mesh on the machine's own threads, and the reference. In come the mesh and its rows of neighbours; the threads
//! collect from neighbours, as the kernels do, the reference distributes to them, pair by pair.

use super::mesh::Mesh;
use super::patches::Lists;
use crate::common::threads;

/// A cell's next temperature: the threads' way.
fn mean(from: &[f32], first: &[u32], neighbours: &[u32], i: usize) -> f32 {
    let row = &neighbours[first[i] as usize..first[i + 1] as usize];
    let sum: f32 = row.iter().map(|&q| from[q as usize]).sum();
    (from[i] + sum) / (1 + row.len()) as f32
}

/// The temperatures after so many steps, in double precision, pair by pair.
pub fn reference(mesh: &Mesh, steps: usize) -> Vec<f64> {
    let mut now: Vec<f64> = mesh.start.iter().map(|&t| f64::from(t)).collect();
    for _ in 0..steps {
        let mut sums: Vec<(f64, f64)> = now.iter().map(|&t| (t, 1.0)).collect();
        // Not from the rows of neighbours: a mistake in these would otherwise be in reference and result alike.
        for &(p, q) in &mesh.pairs {
            let (p, q) = (p as usize, q as usize);
            sums[p] = (sums[p].0 + now[q], sums[p].1 + 1.0);
            sums[q] = (sums[q].0 + now[p], sums[q].1 + 1.0);
        }
        for ((t, (sum, count)), held) in now.iter_mut().zip(sums).zip(&mesh.held) {
            if !held {
                *t = sum / count;
            }
        }
    }
    now
}

/// Patches of which those that cannot change are skipped.
pub struct Lazy {
    pub size: usize,
    pub depends: Lists,
    /// A change of this or less is none.
    pub still: f32,
    /// Whether each patch changed, on either board.
    pub changed: [Vec<bool>; 2],
}

/// Two boards on the host.
pub struct Host<'m> {
    pub boards: [Vec<f32>; 2],
    pub first: &'m [u32],
    pub neighbours: &'m [u32],
    pub threads: usize,
    pub lazy: Option<Lazy>,
}

impl Host<'_> {
    /// Computes one board from the other one.
    pub fn step(&mut self, from: usize) {
        let &mut Host { first, neighbours, threads, .. } = self;
        let [a, b] = &mut self.boards;
        let (from_board, to_board) = if from == 0 { (&*a, b) } else { (&*b, a) };
        let Some(lazy) = &mut self.lazy else {
            // Stretches of 1024 cells: a turn is worth its lock.
            let stretch = 1024.min(to_board.len());
            threads::rows(to_board, stretch, threads, |turn, cells| {
                for (i, cell) in cells.iter_mut().enumerate() {
                    *cell = mean(from_board, first, neighbours, turn * stretch + i);
                }
            });
            return;
        };
        let [a, b] = &mut lazy.changed;
        let (before, changed) = if from == 0 { (&*a, b) } else { (&*b, a) };
        let (size, still, depends) = (lazy.size, lazy.still, &lazy.depends);
        let mut patches: Vec<(&mut [f32], &mut bool)> = to_board.chunks_mut(size).zip(changed).collect();
        threads::rows(&mut patches, 1, threads, |patch, row| {
            let Some((cells, changed)) = row.first_mut() else { return };
            **changed = false;
            if !depends.list(patch).iter().any(|&q| before[q as usize]) {
                return;
            }
            for (i, cell) in cells.iter_mut().enumerate() {
                let (now, next) = (from_board[patch * size + i], mean(from_board, first, neighbours, patch * size + i));
                let moves = (next - now).abs() > still;
                // Also where nothing moves: this board has the temperatures of two steps ago.
                *cell = if moves { next } else { now };
                **changed |= moves;
            }
        });
    }

    /// The largest change of the last step.
    pub fn change(&self) -> f32 {
        let [a, b] = &self.boards;
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    }
}

#[cfg(test)]
mod tests {
    use super::super::mesh::Order;
    use super::super::patches;
    use super::*;

    #[test]
    fn threads_collect_what_the_reference_distributes() {
        let mesh = Mesh::new(19, 12, Order::Random);
        let (first, neighbours) = mesh.rows();
        let next: Vec<f32> = (0..19 * 12).map(|i| mean(&mesh.start, &first, &neighbours, i)).collect();
        assert!(next.iter().zip(reference(&mesh, 1)).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-6));
        // One of two cells that are not held takes the mean of both.
        let pair = Mesh {
            pairs: vec![(0, 1)],
            held: vec![false, true],
            start: vec![0.0, 1.0],
            ..Mesh::new(2, 1, Order::Rings)
        };
        assert_eq!(reference(&pair, 2), [0.75, 1.0]);
    }

    #[test]
    fn lazy_patches_that_are_skipped_could_not_have_changed() {
        let mut mesh = Mesh::new(90, 16, Order::Patches);
        mesh.cool();
        let (first, neighbours) = mesh.rows();
        let host = |size| {
            let depends = patches::depends(&patches::around(&first, &neighbours, size), size);
            let changed = [vec![true; depends.count()], vec![true; depends.count()]];
            let lazy = Some(Lazy { size, depends, still: 1e-4, changed });
            let boards = [mesh.start.clone(), mesh.start.clone()];
            Host { boards, first: &first, neighbours: &neighbours, threads: 2, lazy }
        };
        // With one patch nothing is ever skipped.
        let (mut whole, mut small) = (host(90 * 16), host(7));
        let mut slept = 0;
        for step in 0..9 {
            whole.step(step % 2);
            small.step(step % 2);
            assert_eq!(whole.boards, small.boards);
            slept += small.lazy.iter().flat_map(|l| &l.changed[1 - step % 2]).filter(|c| !**c).count();
        }
        assert!(slept > 0);
    }
}
