//! The cloths in several processes: each has a band of rows of all of them, and exchanges the rows around it with its
//! neighbours after every turn, while its device computes the rows between (see `programs::ranks`).
//!
//! Links are relaxed in Jacobi's way. A node then adds up what its links want from the places before, in an order that
//! does not depend on who has its neighbours, so that the bands have the bits of one process. A batch of links moves
//! both ends of each, so that the twelve batches of a turn would have to be exchanged one by one.

use super::device::Device;
use super::model::{FRAME_TIME, Model};
use super::{Moves, State};
use crate::args;
use crate::cl::{Buffer, Built, Kernel, Session};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::program::Outcome;
use crate::splitting::band::{Shape, Step};
use crate::splitting::communicator::Communicator;
use crate::splitting::ranks::Rank;
use std::time::Duration;

/// Bending links lead to the next row but one.
const HALO: usize = 2;

const KERNELS: [&str; 3] = ["cloth_move_band", "cloth_gather_band", "cloth_collide_band"];
const MOVE: usize = 0;
const GATHER: usize = 1;
const COLLIDE: usize = 2;

pub(super) fn run(session: &Session, params: &Params, model: &Model) -> Result<Outcome> {
    let communicator = Communicator::join()?;
    let played = super::play(session, params, "ranks", model, |built| {
        Ok(Box::new(Bands::new(&communicator, session, params, model, built)?))
    });
    // After any other error, the other ranks may still wait in an exchange; leaving in good order would wait for them.
    if matches!(played, Ok(_) | Err(Error::NotFirst { .. })) {
        communicator.leave();
    }
    played
}

/// This process's band.
struct Bands<'a> {
    communicator: &'a Communicator,
    session: &'a Session,
    model: &'a Model,
    rank: Rank<'a, f32>,
    kernels: Vec<Kernel>,
    inverse: Buffer<f32>,
    /// The boards of the places, of those of the step before, and of what comes next.
    boards: [usize; 3],
    /// The first process moves the cloths alone too, to compare.
    alone: Option<Device<'a>>,
}

impl<'a> Bands<'a> {
    fn new(
        communicator: &'a Communicator,
        session: &'a Session,
        params: &Params,
        model: &'a Model,
        built: &Built,
    ) -> Result<Bands<'a>> {
        let items = model.w * model.flags;
        // A row has all x, all y and all z of all cloths, so that a halo is one stretch and one message.
        let shape = Shape { width: 3 * items, items, height: model.h, halo: HALO, wraps: false };
        let rank = Rank::new(communicator, session, shape, 3)?;
        for (board, state) in model.start().iter().enumerate() {
            rank.write(board, &in_rows(model, state))?;
        }
        let alone = || Device::new(session, params, model, built, "jacobi", &[]);
        Ok(Bands {
            communicator,
            session,
            model,
            rank,
            kernels: KERNELS.iter().map(|name| built.kernel(name)).collect::<Result<_>>()?,
            inverse: session.upload(&model.inverse())?,
            boards: [0, 1, 2],
            alone: (communicator.rank() == 0).then(alone).transpose()?,
        })
    }

    /// A step of the solver.
    fn step(&mut self, time: f32) -> Result<()> {
        let (rank, kernels, inverse) = (&mut self.rank, &self.kernels, args![&self.inverse]);
        let [mut places, mut before, mut next] = self.boards;
        let more = args![&self.inverse, time];
        rank.step(kernels, Step { kernel: MOVE, from: places, to: before, exchange: true, more })?;
        std::mem::swap(&mut places, &mut before);
        for turn in 1..=self.model.relax {
            // What is pushed out next has no neighbours.
            let exchange = turn < self.model.relax;
            rank.step(kernels, Step { kernel: GATHER, from: places, to: next, exchange, more: inverse })?;
            std::mem::swap(&mut places, &mut next);
        }
        // The neighbours' next step moves nodes by the places around them: only now are these final.
        rank.step(kernels, Step { kernel: COLLIDE, from: before, to: places, exchange: true, more: inverse })?;
        self.boards = [places, before, next];
        Ok(())
    }
}

impl Moves for Bands<'_> {
    fn rank(&self) -> usize {
        self.communicator.rank()
    }

    fn frame(&mut self, number: u32) -> Result<()> {
        let start = number as f32 * FRAME_TIME;
        self.communicator.barrier();
        for step in 0..self.model.steps {
            self.step(start + step as f32 * self.model.step_time())?;
        }
        self.rank.settle()?;
        self.communicator.barrier();
        self.session.forget();
        Ok(())
    }

    fn state(&self) -> Result<State> {
        let [places, before, _] = self.boards;
        let planes = |board| Ok(in_planes(self.model, &self.rank.gather(board)?));
        Ok([planes(places)?, planes(before)?])
    }

    fn alone(&mut self, before: &State, number: u32) -> Result<Option<State>> {
        let Some(device) = &mut self.alone else { return Ok(None) };
        device.place(before)?;
        device.frame(number)?;
        device.state().map(Some)
    }

    fn launches(&self) -> usize {
        ((self.model.relax + 2) * self.model.steps) as usize
    }

    fn notes(&self, total: Duration) -> Vec<String> {
        self.rank.reports(total)
    }
}

/// A plane of all places, that number of x, y, z, as rows of all cloths: where element `i` of the rows lies in planes.
fn place_in_planes(model: &Model, i: usize) -> usize {
    let items = model.w * model.flags;
    let (y, plane, flag, x) = (i / (3 * items), i / items % 3, i % items / model.w, i % model.w);
    ((plane * model.flags + flag) * model.h + y) * model.w + x
}

fn in_rows(model: &Model, planes: &[f32]) -> Vec<f32> {
    (0..planes.len()).map(|i| planes[place_in_planes(model, i)]).collect()
}

fn in_planes(model: &Model, rows: &[f32]) -> Vec<f32> {
    let mut planes = vec![0.0; rows.len()];
    for (i, &v) in rows.iter().enumerate() {
        planes[place_in_planes(model, i)] = v;
    }
    planes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_what_planes_have() {
        let config = "flags=2".into();
        let model = Model::new(&Params { size: Some((2, 3)), config, ..Params::default() }).unwrap();
        // All x of both cloths, all y, all z.
        let planes: Vec<f32> = (0..36u8).map(f32::from).collect();
        let rows = in_rows(&model, &planes);
        assert_eq!(rows[..12], [0.0, 1.0, 6.0, 7.0, 12.0, 13.0, 18.0, 19.0, 24.0, 25.0, 30.0, 31.0]);
        assert_eq!(rows[12..16], [2.0, 3.0, 8.0, 9.0]);
        assert_eq!(in_planes(&model, &rows), planes);
    }
}
