//! Tiles that sleep, EasyPAP's "lazy" variants (Lasserre, Namyst, Wacrenier 2020): where nothing changed in a tile and
//! around it in the step before, nothing will, and the tile is skipped. Two boards take turns; that of two steps ago,
//! into which the tile is not written, shows it already.
//!
//! [`Flags`] are those of a device, for kernels with `tiles.cl` before them; [`Awake`] is the same for threads.

use crate::cl::{Arg, Buffer, Session};
use crate::common::threads;
use crate::error::Result;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag a tile on a device, three times: what changed before, what changes now, and what is cleared for afterwards.
pub(crate) struct Flags([Buffer<u32>; 3]);

impl Flags {
    /// All tiles count as changed at first.
    pub fn new(session: &Session, tiles: usize) -> Result<Flags> {
        Ok(Flags([session.upload(&vec![1u32; tiles])?, session.zeroed(tiles)?, session.zeroed(tiles)?]))
    }

    /// The three arguments of a step, counted from 0 on.
    pub fn args(&self, step: usize) -> [Arg; 3] {
        [0, 1, 2].map(|k| Arg::from(&self.0[(step + k) % 3]))
    }

    /// What a step reports in.
    pub fn changed(&self, step: usize) -> &Buffer<u32> {
        &self.0[(step + 1) % 3]
    }
}

/// How far a change reaches in a step.
#[derive(Clone, Copy)]
pub(crate) struct Reach {
    /// To the tiles at the corners, too.
    pub corners: bool,
    /// Over the edge to the other side.
    pub wraps: bool,
}

/// Which tiles of a board are awake, for the machine's threads.
pub(crate) struct Awake {
    width: usize,
    tile: (usize, usize),
    reach: Reach,
    /// Tiles a row and a column.
    count: (usize, usize),
    changed: Vec<bool>,
}

impl Awake {
    /// All tiles of a board are awake at first.
    pub fn new((w, h): (usize, usize), (tw, th): (usize, usize), reach: Reach) -> Awake {
        let count = (w.div_ceil(tw), h.div_ceil(th));
        Awake { width: w, tile: (tw, th), reach, count, changed: vec![true; count.0 * count.1] }
    }

    /// How many tiles there are.
    pub fn tiles(&self) -> usize {
        self.changed.len()
    }

    /// Whether anything changed in a tile or in one that reaches it.
    fn is_awake(&self, x: usize, y: usize) -> bool {
        let Reach { corners, wraps } = self.reach;
        let near = |at: usize, n: usize| -> [Option<usize>; 3] {
            let before = if at > 0 { Some(at - 1) } else { wraps.then_some(n - 1) };
            let after = if at + 1 < n { Some(at + 1) } else { wraps.then_some(0) };
            [before, Some(at), after]
        };
        let (columns, rows) = (near(x, self.count.0), near(y, self.count.1));
        // Of the nine tiles 0 to 8 around, the middle row or column is the tile itself and those beside it.
        let beside = |dx: usize, dy: usize| corners || dx == 1 || dy == 1;
        (0..9).filter(|i| beside(i % 3, i / 3)).any(|i| match (columns[i % 3], rows[i / 3]) {
            (Some(x), Some(y)) => self.changed[y * self.count.0 + x],
            _ => false,
        })
    }

    /// A step: fills the tiles of the next board that are awake, each by `tile(x, y, rows)` with the position of its
    /// first cell, which says whether any cell changed. How many tiles changed.
    pub fn step<T: Send>(
        &mut self,
        next: &mut [T],
        tile: impl Fn(usize, usize, &mut [&mut [T]]) -> bool + Sync,
    ) -> usize {
        let now: Vec<AtomicBool> = self.changed.iter().map(|_| AtomicBool::new(false)).collect();
        let (tw, th) = self.tile;
        threads::tiles(next, self.width, self.tile, threads::count(), |x, y, rows| {
            if self.is_awake(x / tw, y / th) && tile(x, y, rows) {
                // Read when the threads have ended.
                now[y / th * self.count.0 + x / tw].store(true, Ordering::Relaxed);
            }
        });
        self.changed = now.into_iter().map(AtomicBool::into_inner).collect();
        self.changed.iter().filter(|c| **c).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tiles that run in a step after the one in the middle of a board of 5x4 tiles, or that at (0, 0), changed.
    fn awake(reach: Reach, at: (usize, usize)) -> usize {
        let mut awake = Awake::new((13, 8), (3, 2), reach);
        let mut board = vec![0u8; 13 * 8];
        assert_eq!(awake.step(&mut board, |x, y, _| (x / 3, y / 2) == at), 1);
        awake.step(&mut board, |_, _, _| true)
    }

    #[test]
    fn a_change_wakes_the_tile_and_those_that_it_reaches() {
        let reach = |corners, wraps| Reach { corners, wraps };
        assert_eq!([awake(reach(false, false), (2, 1)), awake(reach(true, false), (2, 1))], [5, 9]);
        assert_eq!([awake(reach(false, false), (0, 0)), awake(reach(true, false), (0, 0))], [3, 4]);
        assert_eq!([awake(reach(false, true), (0, 0)), awake(reach(true, true), (0, 0))], [5, 9]);
        // One tile is its own neighbour; when nothing changed, all sleep.
        let mut one = Awake::new((2, 2), (9, 9), reach(true, true));
        assert_eq!([true, false, true].map(|c| one.step(&mut [0; 4], |_, _, _| c)), [1, 0, 0]);
    }
}
