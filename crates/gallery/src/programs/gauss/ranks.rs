//! The separable blur in several processes: each has a band of rows.

use super::{RADIUS, SOURCE};
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
    options: &str,
    data: &[f32],
    shown: impl Fn(&[f32]) -> Picture,
) -> Result<Ran<f32>> {
    let (width, height) = params.size_or(512, 512)?;
    let shape = Shape { width, height, halo: RADIUS, wraps: false };
    let built = session.build("gauss", SOURCE, options)?;
    let (rows, columns) = (built.kernel("gauss_rows_band")?, built.kernel("gauss_columns_band")?);
    let plan = Plan { shape, boards: 3, start: data, result: 2, build: built.time };
    ranks::run(
        session,
        params,
        &plan,
        |rank| {
            rank.step(&rows, Step { from: 0, to: 1, exchange: true })?;
            rank.step(&columns, Step { from: 1, to: 2, exchange: false })
        },
        shown,
    )
}
