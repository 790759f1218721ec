//! How a program runs in parts, of a picture by default: what its kernels are and what an iteration enqueues. Several
//! devices (`devices`) and several processes (`ranks`) run the same plan.

use crate::cl::{Kernel, Session, Times};
use crate::error::Result;
use crate::params::Params;
use crate::picture::Picture;
use crate::splitting::band::{Shape, Step};
use crate::splitting::communicator::Sent;
use crate::splitting::devices;
#[cfg(feature = "mpi")]
use crate::splitting::ranks;
use std::time::{Duration, Instant};

/// What runs.
pub(crate) struct Plan<'p, T, D = Shape> {
    pub source: Source<'p>,
    /// What is split.
    pub shape: D,
    pub boards: usize,
    /// What board 0 holds at first.
    pub start: &'p [T],
    /// What an iteration does.
    pub steps: Vec<Step<'p>>,
    /// The board with the result of an iteration. If it is board 0, the next iteration goes on from there.
    pub result: usize,
}

/// Kernels and what they are built from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'p> {
    pub program: &'p str,
    pub source: &'p str,
    pub options: &'p str,
    pub kernels: &'p [&'p str],
}

impl Source<'_> {
    /// Builds the kernels for each of the sessions, and how long that took.
    pub fn build(&self, sessions: &[Session]) -> Result<(Vec<Vec<Kernel>>, Duration)> {
        let start = Instant::now();
        let kernels = sessions.iter().map(|s| self.build_for(s)).collect::<Result<_>>()?;
        Ok((kernels, start.elapsed()))
    }

    /// Builds them for one.
    pub fn build_for(&self, session: &Session) -> Result<Vec<Kernel>> {
        let built = session.build(self.program, self.source, self.options)?;
        self.kernels.iter().map(|name| built.kernel(name)).collect()
    }
}

/// How it ran.
pub(crate) struct Ran<T> {
    pub build: Duration,
    pub times: Times,
    /// What is on the board of the result.
    pub got: Vec<T>,
    pub notes: Vec<String>,
}

/// Whether a variant runs in bands.
pub(crate) fn is_in_bands(variant: &str) -> bool {
    variant.starts_with("devices") || variant == "ranks"
}

/// Runs the plan in the way of the variant. `frame` gets the picture after each iteration, if anybody wants it.
pub(crate) fn run<T: Sent>(
    session: &Session,
    params: &Params,
    plan: &Plan<'_, T>,
    frame: impl Fn(&[T]) -> Picture,
) -> Result<Ran<T>> {
    #[cfg(feature = "mpi")]
    if params.variant == "ranks" {
        return ranks::run(session, params, plan, frame);
    }
    devices::run(session, params, plan, frame)
}
