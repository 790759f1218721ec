//! Runs a program on several devices: the split of the rows, fixed or by the speeds of the iteration before, and what
//! to tell about it.

use super::bands::Bands;
use super::plan::{Plan, Ran};
use super::team::{Team, by_speed, even, hidden, trace};
use crate::cl::{Plain, Session};
use crate::error::Result;
use crate::params::Params;
use crate::picture::Picture;
use std::cell::RefCell;

/// A new split that moves fewer rows than this share of the picture is not worth the copies.
const WORTH: f64 = 0.02;

/// Runs the iterations on the devices that the knob names. Each is measured from its first command to when all devices
/// are done.
pub(crate) fn run<T: Plain>(
    session: &Session,
    params: &Params,
    plan: &Plan<'_, T>,
    frame: impl Fn(&[T]) -> Picture,
) -> Result<Ran<T>> {
    let team = Team::open(session, params)?;
    let (kernels, build) = plan.source.build(&team.members)?;
    let is_adaptive = params.variant == "devices_adaptive";
    let shape = plan.shape;
    let members = shape.members(&team);
    let open = |split: &[usize], start: &[T]| {
        let bands = Bands::new(&team, shape, split, plan.boards)?;
        bands.scatter(0, start)?;
        Ok::<_, crate::Error>(bands)
    };
    let bands = RefCell::new(open(&even(shape.height, members), plan.start)?);
    let (last, splits) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let body = |_| {
        let mut bands = bands.borrow_mut();
        plan.steps.iter().try_for_each(|&step| bands.step(&kernels, step))?;
        bands.settle()?;
        Ok(true)
    };
    let after = |i: u32| {
        let mut bands = bands.borrow_mut();
        let spans = bands.spans()?;
        team.members.iter().for_each(Session::forget);
        splits.borrow_mut().push(bands.split());
        params.observer.frame(|| Ok(frame(&bands.gather(plan.result)?)))?;
        if is_adaptive && i + 1 < params.iterations {
            let split = by_speed(shape.height, &bands.speeds(&spans), shape.halo.max(1));
            let moved = split.iter().zip(bands.split()).map(|(a, b)| a.abs_diff(b)).max().unwrap_or_default();
            if moved as f64 > WORTH * shape.height as f64 {
                let data = if plan.result == 0 { bands.gather(0)? } else { plan.start.to_vec() };
                *bands = open(&split, &data)?;
            }
        }
        last.replace(spans);
        Ok(())
    };
    let times = session.measure_and(params.iterations, body, after)?;
    let mut bands = bands.into_inner();
    let got = bands.gather(plan.result)?;
    let mut notes = team.tells(&bands.split());
    if is_adaptive {
        notes.push(format!("rows of each device, iteration by iteration: {:?}", splits.borrow()));
    }
    let spans = last.into_inner();
    if let Some(share) = hidden(&spans) {
        notes.push(format!("{:.0} % of the time of halos on their way is hidden behind kernels", share * 100.0));
    }
    notes.extend(trace(&spans));
    Ok(Ran { build, times, got, notes })
}
