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
use crate::args;
use crate::cl::queue::{Done, Queue, Transfer};
use crate::cl::{Buffer, Kernel, Plain, Session};
use crate::error::{Error, Result};
use crate::params::Params;
use mpi::datatype::Equivalence;
use mpi::environment::Universe;
use mpi::request::WaitGuard;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Root, Source};
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::time::{Duration, Instant};

/// Rows on their way to the process before, and to the one after.
const UP: i32 = 0;
const DOWN: i32 = 1;

/// All processes of the run.
pub(crate) struct World {
    // Only `leave` drops it, which waits for the others. After an error this process just ends, and the launcher ends
    // the others.
    universe: ManuallyDrop<Universe>,
    world: SimpleCommunicator,
}

impl World {
    /// Joins the others.
    pub fn join() -> Result<World> {
        let once = || Error::Unsupported("a process can be a rank only once".into());
        let universe = mpi::initialize().ok_or_else(once)?;
        let world = universe.world();
        Ok(World { universe: ManuallyDrop::new(universe), world })
    }

    /// All went well: waits for the others, and ends MPI.
    pub fn leave(self) {
        drop(ManuallyDrop::into_inner(self.universe));
    }

    pub fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    pub fn size(&self) -> usize {
        self.world.size() as usize
    }

    /// Waits for all.
    pub fn barrier(&self) {
        self.world.barrier();
    }

    /// All elements, in the order of the ranks, on the first one; nothing on the others.
    pub fn gather<T: Plain + Equivalence>(&self, own: &[T], lens: &[usize]) -> Vec<T> {
        let root = self.world.process_at_rank(0);
        if self.rank() != 0 {
            root.gather_varcount_into(own);
            return Vec::new();
        }
        let counts: Vec<i32> = lens.iter().map(|&n| n as i32).collect();
        let starts: Vec<i32> = counts.iter().scan(0, |end, n| Some(std::mem::replace(end, *end + n))).collect();
        let mut all = vec![T::default(); lens.iter().sum()];
        let mut parts = mpi::datatype::PartitionMut::new(&mut all[..], counts, starts);
        root.gather_varcount_into_root(own, &mut parts);
        all
    }

    /// The processes before and after this one; the last one and the first are neighbours where the picture wraps.
    fn neighbours(&self, wraps: bool) -> [Option<usize>; 2] {
        let (rank, size) = (self.rank(), self.size());
        let up = if rank > 0 { Some(rank - 1) } else { wraps.then_some(size - 1) };
        let down = if rank + 1 < size { Some(rank + 1) } else { wraps.then_some(0) };
        [up, down]
    }

    /// Sends rows to both neighbours and receives as many from them.
    fn exchange<T: Plain + Equivalence>(&self, wraps: bool, first: &[T], last: &[T]) -> [Option<Vec<T>>; 2] {
        let [up, down] = self.neighbours(wraps);
        if up == Some(self.rank()) {
            return [Some(last.to_vec()), Some(first.to_vec())];
        }
        let empty = |of: Option<usize>| of.map(|_| vec![T::default(); first.len()]);
        let (mut above, mut below) = (empty(up), empty(down));
        mpi::request::scope(|scope| {
            let mut guards = Vec::new();
            let mut sent = Vec::new();
            if let (Some(up), Some(above)) = (up, &mut above) {
                let up = self.world.process_at_rank(up as i32);
                guards.push(WaitGuard::from(up.immediate_receive_into_with_tag(scope, &mut above[..], DOWN)));
                sent.push(WaitGuard::from(up.immediate_send_with_tag(scope, first, UP)));
            }
            if let (Some(down), Some(below)) = (down, &mut below) {
                let down = self.world.process_at_rank(down as i32);
                guards.push(WaitGuard::from(down.immediate_receive_into_with_tag(scope, &mut below[..], UP)));
                sent.push(WaitGuard::from(down.immediate_send_with_tag(scope, last, DOWN)));
            }
        });
        [above, below]
    }
}

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
