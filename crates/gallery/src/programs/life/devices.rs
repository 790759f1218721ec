//! Life on several devices: each has a band of rows, and sends its first and its last one on while it computes the
//! others.

use super::{SOURCE, Setup};
use crate::cl::Session;
use crate::error::{Error, Result};
use crate::params::Params;
use crate::picture::Picture;
use crate::programs::bands::{Shape, Step};
use crate::programs::devices::{self, Plan, Ran};
use crate::programs::team::Team;
use std::time::Duration;

/// The generations of an iteration: even, so that the result is on the board that the next one starts from.
pub(super) fn steps(params: &Params) -> Result<u32> {
    let steps = params.number("steps", 8, 2..=1000)?;
    if steps % 2 == 1 {
        return Err(Error::Params(format!("-c steps={steps}: give an even number")));
    }
    Ok(steps)
}

/// The times, the cells after all iterations, and notes.
pub(super) fn run(
    session: &Session,
    params: &Params,
    setup: &Setup,
    options: &str,
    shown: impl Fn(&[u32]) -> Picture,
) -> Result<Ran<u32>> {
    let team = Team::open(session, params)?;
    let shape = Shape { width: setup.grid.w, height: setup.grid.h, halo: 1, wraps: setup.torus };
    let mut build = Duration::ZERO;
    let kernels = devices::kernels(&team, ["life", SOURCE, options, "life_band"], &mut build)?;
    let adaptive = params.variant == "devices_adaptive";
    let plan = Plan { shape, boards: 2, start: &setup.cells, result: 0, adaptive, build };
    let steps = steps(params)? as usize;
    devices::run(
        (session, &team),
        params,
        &plan,
        |bands| {
            (0..steps).try_for_each(|s| bands.step(&kernels, Step { from: s % 2, to: (s + 1) % 2, exchange: true }))
        },
        shown,
    )
}
