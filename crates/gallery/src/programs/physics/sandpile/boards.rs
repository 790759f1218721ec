//! The sandpile's boards, and how they go on by a step: on the device, on the machine's threads, or on both. In comes
//! the first board, out comes the one after so many steps, and whether anything can topple there.

use super::Setup;
use crate::args;
use crate::cl::{Arg, Buffer, Built, Kernel, Session};
use crate::common::threads;
use crate::common::tiles::{Awake, Flags, Reach};
use crate::error::Result;
use crate::params::Params;
use crate::splitting::hybrid::Hybrid;

/// The side of a tile of threads.
const HOST_TILE: usize = 64;

/// A cell of the next board, collected from around it: the threads' way.
pub(super) fn collected(board: &[u32], w: usize, h: usize, x: usize, y: usize) -> u32 {
    let i = y * w + x;
    // A cell of nine grains topples twice in one step: it keeps the remainder, and each neighbour gets the quotient.
    let mut grains = board[i] % 4;
    if x > 0 {
        grains += board[i - 1] / 4;
    }
    if x + 1 < w {
        grains += board[i + 1] / 4;
    }
    if y > 0 {
        grains += board[i - w] / 4;
    }
    if y + 1 < h {
        grains += board[i + w] / 4;
    }
    grains
}

/// Where they are. Of two boards, a step reads one and writes the other; a variant that works in place has one.
enum Place<'s> {
    Device { boards: [Buffer<u32>; 2], flags: Flags },
    Threads { boards: [Vec<u32>; 2], awake: Awake, tile: (usize, usize) },
    Both(Hybrid<'s>),
}

/// The boards of a run.
pub(super) struct Boards<'s> {
    session: &'s Session,
    variant: &'static str,
    grid: crate::common::grid::Grid,
    kernel: Kernel,
    unstable_kernel: Kernel,
    unstable: Buffer<u32>,
    place: Place<'s>,
    /// How many steps have been made.
    pub done: usize,
}

impl<'s> Boards<'s> {
    /// As the variant wants them. All start alike: what a sleeping tile is not written to must hold what it was.
    pub fn new(
        session: &'s Session,
        params: &Params,
        variant: &'static str,
        setup: &Setup,
        (built, kernel): (&Built, Kernel),
    ) -> Result<Boards<'s>> {
        let (grid, start) = (setup.grid, &setup.board);
        let place = match variant {
            "hybrid" => Place::Both(Hybrid::new(session, grid, start)?),
            _ if variant.starts_with("ocl") => Place::Device {
                boards: [session.upload(start)?, session.upload(start)?],
                flags: Flags::new(session, grid.groups().iter().product())?,
            },
            _ => {
                let tile = params.tile_or(HOST_TILE, HOST_TILE)?;
                let awake = Awake::new((grid.w, grid.h), tile, Reach { corners: false, wraps: false });
                Place::Threads { boards: [start.clone(), start.clone()], awake, tile }
            }
        };
        let (unstable_kernel, unstable) = (built.kernel("sandpile_unstable")?, session.zeroed(1)?);
        Ok(Boards { session, variant, grid, kernel, unstable_kernel, unstable, place, done: 0 })
    }

    /// Which of the two boards is that of a step.
    fn now(&self, step: usize) -> usize {
        if self.variant == "ocl_async" { 0 } else { step % 2 }
    }

    /// A step.
    pub fn advance(&mut self) -> Result<()> {
        let (w, h) = (self.grid.w, self.grid.h);
        let (from, to) = (self.now(self.done), self.now(self.done + 1));
        match &mut self.place {
            Place::Device { boards, flags } => {
                let mut args = vec![Arg::from(&boards[from])];
                if self.variant != "ocl_async" {
                    args.push(Arg::from(&boards[to]));
                }
                if self.variant == "ocl_lazy" {
                    args.extend(flags.args(self.done));
                }
                self.session.launch(&self.kernel, &args, &self.grid.global(), &self.grid.local())?;
            }
            Place::Both(boards) => {
                boards.step(&self.kernel, &[], |from, y, row| {
                    row.iter_mut().enumerate().for_each(|(x, cell)| *cell = collected(from, w, h, x, y));
                })?;
            }
            Place::Threads { boards: [a, b], awake, tile } => {
                let (from, to) = if from == 0 { (&*a, b) } else { (&*b, a) };
                let row = |x: usize, y: usize, row: &mut [u32]| {
                    row.iter_mut().enumerate().for_each(|(dx, cell)| *cell = collected(from, w, h, x + dx, y));
                };
                let fill = |x: usize, y: usize, rows: &mut [&mut [u32]]| {
                    rows.iter_mut().enumerate().for_each(|(dy, part)| row(x, y + dy, part));
                };
                match self.variant {
                    "seq" => to.chunks_mut(w).enumerate().for_each(|(y, part)| row(0, y, part)),
                    "tiled" => threads::tiles(to, w, *tile, threads::count(), fill),
                    "lazy" => {
                        awake.step(to, |x, y, rows| {
                            fill(x, y, rows);
                            (y..).zip(rows).any(|(y, part)| **part != from[y * w + x..][..part.len()])
                        });
                    }
                    _ => threads::rows(to, w, threads::count(), |y, part| row(0, y, part)),
                }
            }
        }
        self.done += 1;
        Ok(())
    }

    /// At the end of an iteration: whether nothing can topple. Rows are split anew where two sides share them.
    pub fn rest(&mut self) -> Result<bool> {
        let at = self.now(self.done);
        self.session.write(&self.unstable, &[0])?;
        let lower: &[u32] = match &self.place {
            Place::Device { boards, .. } => {
                let args = args![&boards[at], &self.unstable];
                self.session.launch(&self.unstable_kernel, args, &self.grid.global(), &self.grid.local())?;
                &[]
            }
            Place::Both(boards) => {
                if boards.look(&self.unstable_kernel, &self.unstable)? == 0 {
                    boards.lower()
                } else {
                    // The device's rows can topple: the lower ones need no look, and any number from four on says so.
                    &[4]
                }
            }
            Place::Threads { boards, .. } => &boards[at],
        };
        let is_stable = lower.iter().all(|&grains| grains < 4) && self.session.read(&self.unstable)?[0] == 0;
        if let Place::Both(boards) = &mut self.place {
            boards.adjust()?;
        }
        Ok(is_stable)
    }

    /// The board after the steps so far.
    pub fn board(&self) -> Result<Vec<u32>> {
        let at = self.now(self.done);
        match &self.place {
            Place::Device { boards, .. } => self.session.read(&boards[at]),
            Place::Threads { boards, .. } => Ok(boards[at].clone()),
            Place::Both(boards) => boards.board(),
        }
    }

    /// How two sides shared the rows, as a note.
    pub fn reports(&self) -> Option<String> {
        match &self.place {
            Place::Both(boards) => Some(boards.reports()),
            _ => None,
        }
    }
}
