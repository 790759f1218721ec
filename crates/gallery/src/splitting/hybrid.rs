//! Two boards of cells of which the device computes the upper rows and the machine's threads the lower ones, where a
//! cell depends on those beside it: after each step, either side gets the row of the other that touches its own.
//!
//! In come the kernel's launch and a function of a row. How many rows of tiles the device has follows from the speeds
//! of both sides so far; rows that change sides are copied between two steps.
//!
//! ```text
//! device   [row in][      kernel      ][row out]
//! threads      [   the lower rows    ]
//! ```

use crate::cl::queue::Queue;
use crate::cl::{Arg, Buffer, Kernel, Session};
use crate::common::grid::Grid;
use crate::common::threads;
use crate::error::Result;
use crate::splitting::split::{Balance, speed};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A board in two parts.
pub(crate) struct Hybrid<'s> {
    grid: Grid,
    queue: Queue<'s>,
    device: [Buffer<u32>; 2],
    host: [Vec<u32>; 2],
    /// The board with the last step's result.
    at: usize,
    /// Rows of tiles on the device.
    share: usize,
    /// Since the share has been the same: how long either side computed.
    busy: [Duration; 2],
    balance: Balance,
    /// The rows on the device, each time that they became others.
    rows: Vec<usize>,
}

impl<'s> Hybrid<'s> {
    /// Half of the rows of tiles on either side.
    pub fn new(session: &'s Session, grid: Grid, start: &[u32]) -> Result<Hybrid<'s>> {
        let device = [session.upload(start)?, session.upload(start)?];
        let share = grid.groups()[1] / 2;
        let host = [start.to_vec(), start.to_vec()];
        let rows = vec![share * grid.th];
        let (queue, busy, balance) = (session.queue()?, Default::default(), Balance::default());
        Ok(Hybrid { grid, queue, device, host, at: 0, share, busy, balance, rows })
    }

    /// The rows on the device: whole groups, and fewer than there are. It has none of a single row of tiles.
    fn split(&self) -> usize {
        self.share * self.grid.th
    }

    /// A step. The kernel takes the two boards and `further` arguments; `row(board, y, cells)` fills a row of the
    /// threads. Whether a cell of theirs changed.
    pub fn step(
        &mut self,
        kernel: &Kernel,
        further: &[Arg],
        row: impl Fn(&[u32], usize, &mut [u32]) + Sync,
    ) -> Result<bool> {
        let (w, split) = (self.grid.w, self.split());
        let (from, to) = (self.at, 1 - self.at);
        let mut launched = None;
        if split > 0 {
            // The first row of the threads, on which the device's last row depends.
            let touching = self.host[from][split * w..][..w].to_vec();
            let incoming = self.queue.write(&self.device[from], split * w, touching, &[])?;
            let mut all = vec![Arg::from(&self.device[from]), Arg::from(&self.device[to])];
            all.extend(further);
            let global = [self.grid.global()[0], split];
            let done = self.queue.launch(kernel, &all, [&[], &global, &self.grid.local()], &[])?;
            let outgoing = self.queue.read(&self.device[to], (split - 1) * w, vec![0; w], &[])?;
            // The device must work while the threads do; without a flush the commands may wait until somebody waits for
            // them.
            self.queue.flush()?;
            launched = Some((incoming, done, outgoing));
        }
        let start = Instant::now();
        let changed = AtomicBool::new(false);
        let [a, b] = &mut self.host;
        let (old, new) = if from == 0 { (&*a, b) } else { (&*b, a) };
        threads::rows(&mut new[split * w..], w, threads::count(), |y, cells| {
            row(old, split + y, cells);
            if *cells != old[(split + y) * w..][..w] {
                changed.store(true, Ordering::Relaxed);
            }
        });
        self.busy[1] += start.elapsed();
        // The transfer's memory lives until here, when the kernel after it has ended.
        if let Some((_incoming, done, outgoing)) = launched {
            self.host[to][(split - 1) * w..][..w].copy_from_slice(&outgoing.wait()?);
            let (start, end) = done.span()?;
            self.busy[0] += end.saturating_sub(start);
        }
        self.at = to;
        Ok(changed.into_inner())
    }

    /// What `kernel(board, flag)` over the device's rows leaves in the flag, 0 before. All of it goes through one
    /// queue.
    pub fn look(&self, kernel: &Kernel, flag: &Buffer<u32>) -> Result<u32> {
        if self.share == 0 {
            return Ok(0);
        }
        self.queue.write(flag, 0, vec![0], &[])?.wait()?;
        let args = [Arg::from(&self.device[self.at]), Arg::from(flag)];
        let global = [self.grid.global()[0], self.split()];
        self.queue.launch(kernel, &args, [&[], &global, &self.grid.local()], &[])?;
        Ok(self.queue.read(flag, 0, vec![0], &[])?.wait()?[0])
    }

    /// The threads' rows.
    pub fn lower(&self) -> &[u32] {
        &self.host[self.at][self.split() * self.grid.w..]
    }

    /// The whole board.
    pub fn board(&self) -> Result<Vec<u32>> {
        let mut board = self.host[self.at].clone();
        let cells = self.split() * self.grid.w;
        if cells > 0 {
            let device = self.queue.read(&self.device[self.at], 0, vec![0; cells], &[])?.wait()?;
            board[..cells].copy_from_slice(&device);
        }
        Ok(board)
    }

    /// Splits the rows by the speeds since they were split last.
    pub fn adjust(&mut self) -> Result<()> {
        let tiles = self.grid.groups()[1];
        let speeds = [speed(self.share, self.busy[0]), speed(tiles - self.share, self.busy[1])];
        self.busy = Default::default();
        let share = self.balance.next(&[self.share, tiles - self.share], &speeds, 1)[0];
        self.split_at(share)
    }

    /// Gives the device so many rows of tiles.
    fn split_at(&mut self, share: usize) -> Result<()> {
        let w = self.grid.w;
        let before = self.split();
        self.share = share;
        let after = self.split();
        if after > before {
            let moved = self.host[self.at][before * w..after * w].to_vec();
            self.queue.write(&self.device[self.at], before * w, moved, &[])?.wait()?;
        } else if after < before {
            // With the row above them, which the threads' next step reads: theirs is that of an earlier step.
            let first = after.saturating_sub(1);
            let moved =
                self.queue.read(&self.device[self.at], first * w, vec![0; (before - first) * w], &[])?.wait()?;
            self.host[self.at][first * w..before * w].copy_from_slice(&moved);
        }
        if after != before {
            self.rows.push(after);
        }
        Ok(())
    }

    /// As a note: how the rows were split, the last times.
    pub fn reports(&self) -> String {
        let last = &self.rows[self.rows.len().saturating_sub(8)..];
        format!("rows on the device, of {}, split after split: {last:?}", self.grid.h)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::grid::build;
    use crate::error::Error;

    /// A cell is the sum of those above, below and of itself.
    const SOURCE: &str = "__kernel void sums(__global const unsigned *in, __global unsigned *out) {
        const int x = get_global_id(0), y = get_global_id(1), i = y * WIDTH + x;
        if (x < WIDTH && y < HEIGHT)
            out[i] = in[i] + (y > 0 ? in[i - WIDTH] : 0) + (y + 1 < HEIGHT ? in[i + WIDTH] : 0);
    }";

    fn sum(board: &[u32], w: usize, x: usize, y: usize) -> u32 {
        let at = |y: usize| board.get(y * w + x).copied().unwrap_or(0);
        at(y).wrapping_add(at(y + 1)).wrapping_add(if y > 0 { at(y - 1) } else { 0 })
    }

    #[test]
    fn rows_may_change_sides_after_any_step() {
        let grid = Grid { w: 5, h: 23, tw: 5, th: 4 };
        let start: Vec<u32> = (0..grid.w * grid.h).map(|i| (i * i) as u32 + 1).collect();
        let sessions = match Session::all() {
            Ok(sessions) => sessions,
            Err(Error::NoLoader | Error::NoPlatform) => return,
            Err(e) => panic!("{e}"),
        };
        for session in sessions {
            let options = format!("-DWIDTH={} -DHEIGHT={}", grid.w, grid.h);
            let (_built, kernel) = build(&session, "sums", SOURCE, &options, "sums").expect("it builds");
            let mut boards = Hybrid::new(&session, grid, &start).expect("there is memory");
            let mut want = start.clone();
            // Up and down, by one row of tiles and by several, and to none on the device; the last has 3 rows only.
            for share in [3, 2, 5, 1, 4, 0, 2, 0, 1] {
                let row = |from: &[u32], y: usize, row: &mut [u32]| {
                    row.iter_mut().enumerate().for_each(|(x, cell)| *cell = sum(from, grid.w, x, y));
                };
                boards.step(&kernel, &[], row).expect("it runs");
                want = (0..want.len()).map(|i| sum(&want, grid.w, i % grid.w, i / grid.w)).collect();
                boards.split_at(share).expect("rows are copied");
                assert_eq!(boards.board().expect("it is read"), want, "{}: {share}", session.found.platform);
            }
        }
    }
}
