//! The separable blur on several devices: each blurs the rows of its band and sends on those that the columns of its
//! neighbours need, the edges first.

use super::{RADIUS, SOURCE};
use crate::cl::Session;
use crate::error::Result;
use crate::params::Params;
use crate::picture::Picture;
use crate::programs::bands::{Shape, Step};
use crate::programs::devices::{self, Plan, Ran};
use crate::programs::team::Team;
use std::time::Duration;

pub(super) fn run(
    session: &Session,
    params: &Params,
    options: &str,
    data: &[f32],
    shown: impl Fn(&[f32]) -> Picture,
) -> Result<Ran<f32>> {
    let (width, height) = params.size_or(512, 512)?;
    let team = Team::open(session, params)?;
    let shape = Shape { width, height, halo: RADIUS, wraps: false };
    let mut build = Duration::ZERO;
    let mut kernels = |name: &str| devices::kernels(&team, ["gauss", SOURCE, options, name], &mut build);
    let (rows, columns) = (kernels("gauss_rows_band")?, kernels("gauss_columns_band")?);
    let adaptive = params.variant == "devices_adaptive";
    let plan = Plan { shape, boards: 3, start: data, result: 2, adaptive, build };
    devices::run(
        (session, &team),
        params,
        &plan,
        |bands| {
            bands.step(&rows, Step { from: 0, to: 1, exchange: true })?;
            bands.step(&columns, Step { from: 1, to: 2, exchange: false })
        },
        shown,
    )
}
