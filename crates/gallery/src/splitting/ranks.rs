//! A picture in bands of rows, one a process: each process computes on a device of its own, and exchanges the rows
//! around its band with its neighbours through MPI.
//!
//! ```text
//! device  [edges][      inner rows       ][edges][ …
//! host           [read][send, receive][write]
//! ```
//!
//! As on several devices (`parts`), the rows that neighbours need come first, and go on while the others are computed.

use crate::cl::queue::{Done, Transfer};
use crate::cl::{Kernel, Session};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::picture::Picture;
use crate::splitting::band::{Band, Shape, Step, neighbours};
use crate::splitting::communicator::{Communicator, Sent};
use crate::splitting::plan::{Plan, Ran};
use crate::splitting::split::even;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// This process's part of a picture.
pub(crate) struct Rank<'s, T: Sent> {
    communicator: &'s Communicator,
    band: Band<'s, T>,
    split: Vec<usize>,
    // Halos on their way to the device.
    arriving: Vec<Transfer<T>>,
    /// The time between edges and halos, in which inner rows are computed.
    exchanging: Duration,
}

impl<'s, T: Sent> Rank<'s, T> {
    /// A band of a picture, with zeros in all boards.
    pub fn new(communicator: &'s Communicator, session: &'s Session, shape: Shape, boards: usize) -> Result<Self> {
        let Shape { height, halo, wraps, .. } = shape;
        let (rank, size, least) = (communicator.rank(), communicator.size(), halo.max(1));
        if (size > 1 || wraps) && height < size * least {
            return Err(Error::Params(format!(
                "{height} rows for {size} ranks, which need {least} each: choose a larger -s or fewer ranks"
            )));
        }
        let split = even(height, size);
        let band = Band::new(session, shape, (split[..rank].iter().sum(), split[rank]), boards)?;
        Ok(Rank { communicator, band, split, arriving: Vec::new(), exchanging: Duration::ZERO })
    }

    /// Writes its part of a picture to a board.
    pub fn write(&self, board: usize, picture: &[T]) -> Result<()> {
        self.band.write(board, picture)
    }

    /// Whether another process needs rows of this one, or it needs its own at the other end.
    fn has_neighbours(&self) -> bool {
        neighbours(self.communicator.rank(), self.communicator.size(), self.band.shape.wraps) != [None; 2]
    }

    /// A step, as in `Parts::step`.
    pub fn step(&mut self, kernels: &[Kernel], step: Step<'_>) -> Result<()> {
        let step = Step { exchange: step.exchange && self.has_neighbours(), ..step };
        let (band, kernel) = (&self.band, &kernels[step.kernel]);
        let (width, halo) = (band.shape.width, band.shape.halo);
        let arriving = std::mem::take(&mut self.arriving);
        let after: Vec<&Done> = arriving.iter().map(Transfer::done).collect();
        let [first, last] = band.edges(kernel, step, &after)?;
        if !step.exchange {
            return Ok(());
        }
        let board = &band.boards[step.to];
        let edge =
            |row: usize, after: &Done| band.reads.read(board, row * width, vec![T::default(); halo * width], &[after]);
        let (first, last) = (edge(halo, &first)?, edge(band.rows, &last)?);
        band.reads.flush()?;
        // Enqueued before the host waits for the edges: the device computes while MPI exchanges them.
        band.inner(kernel, step)?;
        let (first, last) = (first.wait()?, last.wait()?);
        let start = Instant::now();
        let [above, below] = self.communicator.exchange(band.shape.wraps, &first, &last);
        self.exchanging += start.elapsed();
        for (rows, at) in [(above, 0), (below, halo + band.rows)] {
            if let Some(rows) = rows {
                self.arriving.push(band.writes.write(board, at * width, rows, &[])?);
            }
        }
        band.writes.flush()
    }

    /// Waits for this process's steps.
    pub fn settle(&self) -> Result<()> {
        self.band.kernels.finish()
    }

    /// The whole picture on a board, on the first process; nothing on the others.
    pub fn gather(&self, board: usize) -> Result<Vec<T>> {
        self.settle()?;
        let lens: Vec<usize> = self.split.iter().map(|rows| rows * self.band.shape.width).collect();
        Ok(self.communicator.gather(&self.band.read(board)?, &lens))
    }

    /// What each rank has, and how long this one exchanged halos.
    pub fn reports(&self, total: Duration) -> Vec<String> {
        let share = 100.0 * self.exchanging.as_secs_f64() / total.as_secs_f64().max(1e-9);
        vec![
            format!("{} ranks with {:?} rows", self.communicator.size(), self.split),
            format!("the first one exchanged halos for {share:.1} % of the time, while it computed its inner rows"),
        ]
    }
}

/// Runs the iterations, each measured from when all processes begin to when all have done their part. The first process
/// has the whole result; the others end with [`Error::NotFirst`].
pub(crate) fn run<T: Sent>(
    session: &Session,
    params: &Params,
    plan: &Plan<'_, T>,
    frame: impl Fn(&[T]) -> Picture,
) -> Result<Ran<T>> {
    let communicator = Communicator::join()?;
    let start = Instant::now();
    let kernels = plan.source.build_for(session)?;
    let build = start.elapsed();
    let rank = Rank::new(&communicator, session, plan.shape, plan.boards)?;
    rank.write(0, plan.start)?;
    let rank = RefCell::new(rank);
    let is_first = communicator.rank() == 0;
    let body = |_| {
        let mut rank = rank.borrow_mut();
        communicator.barrier();
        plan.steps.iter().try_for_each(|&step| rank.step(&kernels, step))?;
        rank.settle()?;
        communicator.barrier();
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
    let notes = rank.reports(times.wall.iter().sum());
    drop(rank);
    let number = communicator.rank();
    communicator.leave();
    if number > 0 {
        return Err(Error::NotFirst { rank: number });
    }
    Ok(Ran { build, times, got, notes })
}
