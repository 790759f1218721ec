//! Life in several processes: each has a band of rows.

use super::devices::steps;
use super::{SOURCE, Setup};
use crate::cl::Session;
use crate::error::Result;
use crate::params::Params;
use crate::picture::Picture;
use crate::programs::bands::{Shape, Step};
use crate::programs::devices::Ran;
use crate::programs::ranks::{self, Plan};

pub(super) fn run(
    session: &Session,
    params: &Params,
    setup: &Setup,
    options: &str,
    shown: impl Fn(&[u32]) -> Picture,
) -> Result<Ran<u32>> {
    let shape = Shape { width: setup.grid.w, height: setup.grid.h, halo: 1, wraps: setup.torus };
    let built = session.build("life", SOURCE, options)?;
    let kernel = built.kernel("life_band")?;
    let steps = steps(params)? as usize;
    let plan = Plan { shape, boards: 2, start: &setup.cells, result: 0, build: built.time };
    ranks::run(
        session,
        params,
        &plan,
        |rank| (0..steps).try_for_each(|s| rank.step(&kernel, Step { from: s % 2, to: (s + 1) % 2, exchange: true })),
        shown,
    )
}
