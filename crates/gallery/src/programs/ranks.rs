//! A picture in bands of rows, one a process: each process computes on a device of its own, and exchanges the rows
//! around its band with its neighbours through MPI.
//!
//! ```text
//! device  [edges][      inner rows       ][edges][ …
//! host           [read][send, receive][write]
//! ```
//!
//! As on several devices (`bands`), the rows that neighbours need come first, and go on while the others are computed.

use super::bands::{Shape, Step, band, parts};
use super::devices::Ran;
use super::team::even;
use super::world::World;
use crate::args;
use crate::cl::queue::{Done, Queue, Transfer};
use crate::cl::{Buffer, Kernel, Plain, Session};
use crate::error::{Error, Result};
use crate::params::Params;
use mpi::datatype::Equivalence;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// How a picture is split, and what a program runs on it.
pub(crate) struct Rank<'s, T: Plain> {
    world: &'s World,
    shape: Shape,
    kernels: Queue<'s>,
    reads: Queue<'s>,
    writes: Queue<'s>,
    split: Vec<usize>,
    first: usize,
    rows: usize,
    boards: Vec<Buffer<T>>,
    // Halos on their way to the device.
    arriving: Vec<Transfer<T>>,
    /// The time between edges and halos, in which inner rows are computed.
    exchanging: Duration,
}

impl<'s, T: Plain + Equivalence> Rank<'s, T> {
    /// This process's band of the picture, on so many boards, of which the first one holds it.
    pub fn new(world: &'s World, session: &'s Session, shape: Shape, boards: usize, picture: &[T]) -> Result<Self> {
        let Shape { width, height, halo, wraps } = shape;
        let (rank, size) = (world.rank(), world.size());
        if height < size * halo.max(1) {
            return Err(Error::Params(format!(
                "{height} rows for {size} ranks, which need {} each: choose a larger -s or fewer ranks",
                halo.max(1)
            )));
        }
        let split = even(height, size);
        let (first, rows) = (split[..rank].iter().sum(), split[rank]);
        let data = band(picture, shape, first, rows);
        let others = (1..boards).map(|_| session.zeroed::<T>((rows + 2 * halo) * width));
        let boards = std::iter::once(session.upload(&data)).chain(others).collect::<Result<Vec<_>>>()?;
        let [kernels, reads, writes] = [session.queue()?, session.queue()?, session.queue()?];
        let (arriving, exchanging) = (Vec::new(), Duration::ZERO);
        let shape = Shape { wraps, ..shape };
        Ok(Rank { world, shape, kernels, reads, writes, split, first, rows, boards, arriving, exchanging })
    }

    /// A step of the kernel, as in `Bands::step`.
    pub fn step(&mut self, kernel: &Kernel, step: Step) -> Result<()> {
        let Shape { width, halo, wraps, .. } = self.shape;
        let parts = parts(self.rows, halo, step.exchange);
        let (from, to) = (&self.boards[step.from], &self.boards[step.to]);
        let launch = |(first, rows): (usize, usize), after: &[&Done]| {
            let args = args![from, to, first as i32, self.first as i32 - halo as i32];
            self.kernels.launch(kernel, args, [&[], &[width, rows], &[]], after)
        };
        let arriving = std::mem::take(&mut self.arriving);
        let after: Vec<&Done> = arriving.iter().map(Transfer::done).collect();
        let first = launch(parts[0], &after)?;
        let last = if parts[1].1 > 0 { launch(parts[1], &[])? } else { first.clone() };
        self.kernels.flush()?;
        if !step.exchange {
            return Ok(());
        }
        let edge =
            |row: usize, after: &Done| self.reads.read(to, row * width, vec![T::default(); halo * width], &[after]);
        let edges = [edge(halo, &first)?, edge(self.rows, &last)?];
        self.reads.flush()?;
        if parts[2].1 > 0 {
            launch(parts[2], &[])?;
            self.kernels.flush()?;
        }
        let [first, last] = edges;
        let (first, last) = (first.wait()?, last.wait()?);
        let start = Instant::now();
        let [above, below] = self.world.exchange(wraps, &first, &last);
        self.exchanging += start.elapsed();
        for (rows, at) in [(above, 0), (below, halo + self.rows)] {
            if let Some(rows) = rows {
                self.arriving.push(self.writes.write(to, at * width, rows, &[])?);
            }
        }
        self.writes.flush()
    }

    /// Waits for this process's steps.
    pub fn settle(&self) -> Result<()> {
        self.kernels.finish()
    }

    /// The whole picture on a board, on the first process; nothing on the others.
    pub fn gather(&self, board: usize) -> Result<Vec<T>> {
        self.settle()?;
        let Shape { width, halo, .. } = self.shape;
        let own = vec![T::default(); self.rows * width];
        let own = self.reads.read(&self.boards[board], halo * width, own, &[])?.wait()?;
        let lens: Vec<usize> = self.split.iter().map(|rows| rows * width).collect();
        Ok(self.world.gather(&own, &lens))
    }

    /// What each rank has, and how long this one exchanged halos.
    pub fn tells(&self, total: Duration) -> Vec<String> {
        let share = 100.0 * self.exchanging.as_secs_f64() / total.as_secs_f64().max(1e-9);
        vec![
            format!("{} ranks with {:?} rows", self.world.size(), self.split),
            format!("the first one exchanged halos for {share:.1} % of the time, while it computed its inner rows"),
        ]
    }
}

/// How a program runs in bands.
pub(crate) struct Plan<'p, T> {
    pub shape: Shape,
    pub boards: usize,
    /// What board 0 holds at first.
    pub start: &'p [T],
    /// The board with the result of an iteration.
    pub result: usize,
    /// How long the kernels took to build.
    pub build: Duration,
}

/// Runs the iterations, each measured from when all processes begin to when all have done their part. The first process
/// has the whole result; the others end with [`Error::NotFirst`].
pub(crate) fn run<T: Plain + Equivalence>(
    session: &Session,
    params: &Params,
    plan: &Plan<'_, T>,
    advance: impl Fn(&mut Rank<'_, T>) -> Result<()>,
    frame: impl Fn(&[T]) -> crate::Picture,
) -> Result<Ran<T>> {
    let world = World::join()?;
    let rank = RefCell::new(Rank::new(&world, session, plan.shape, plan.boards, plan.start)?);
    let is_first = world.rank() == 0;
    let body = |_| {
        let mut rank = rank.borrow_mut();
        world.barrier();
        advance(&mut rank)?;
        rank.settle()?;
        world.barrier();
        session.forget();
        Ok(true)
    };
    let after = |_| {
        // All take part in a film, whether or not they write it.
        if params.observer.wants_frames() {
            let picture = rank.borrow().gather(plan.result)?;
            return if is_first { params.observer.frame(|| Ok(frame(&picture))) } else { Ok(()) };
        }
        Ok(())
    };
    let times = session.measure_and(params.iterations, body, after)?;
    let rank = rank.into_inner();
    let got = rank.gather(plan.result)?;
    let notes = rank.tells(times.wall.iter().sum());
    drop(rank);
    let number = world.rank();
    world.leave();
    if number > 0 {
        return Err(Error::NotFirst { rank: number });
    }
    Ok(Ran { build: plan.build, times, got, notes })
}
