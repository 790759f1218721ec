//! The cloths in several processes, which share them: each plays and checks its own, the first one draws all.

use super::model::Model;
use super::play;
use crate::cl::Session;
use crate::error::{Error, Result};
use crate::params::Params;
use crate::program::{Outcome, Verdict};
use crate::programs::team::even;
use crate::programs::world::World;

pub(super) fn run(session: &Session, params: &Params, whole: &Model) -> Result<Outcome> {
    let world = World::join()?;
    let (rank, size) = (world.rank(), world.size());
    if whole.flags < size {
        return Err(Error::Params(format!("-c flags={}: give as many as there are ranks, {size}", whole.flags)));
    }
    let parts = even(whole.flags, size);
    let model = Model { flags: parts[rank], first: parts[..rank].iter().sum(), ..whole.clone() };
    let mut outcome = play(session, params, "ranks", &model, (whole, Some(&world)))?;
    outcome
        .notes
        .insert(0, format!("{size} ranks with {parts:?} cloths; the other notes and the rate are of the first"));
    world.leave();
    match outcome.verdict {
        // What is wrong is told by whom it concerns.
        Verdict::Passed(_) if rank > 0 => Err(Error::NotFirst { rank }),
        _ => Ok(outcome),
    }
}
