//! Runs a program on several devices: the split of the rows, fixed or by the speeds of the iteration before, and what
//! to tell about it.

use super::bands::{Bands, Shape};
use super::team::{Team, by_speed, even, hidden, trace};
use crate::cl::{Kernel, Plain, Session, Times};
use crate::error::Result;
use crate::params::Params;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// A new split that moves fewer rows than this share of the picture is not worth the copies.
const WORTH: f64 = 0.02;

/// How a program runs in bands.
pub(crate) struct Plan<'p, T> {
    pub shape: Shape,
    pub boards: usize,
    /// What board 0 holds at first.
    pub start: &'p [T],
    /// The board with the result of an iteration. If it is board 0, the next iteration goes on from there.
    pub result: usize,
    /// Whether the split follows the speeds.
    pub adaptive: bool,
    /// How long the kernels took to build.
    pub build: Duration,
}

/// How it ran.
pub(crate) struct Ran<T> {
    pub build: Duration,
    pub times: Times,
    /// The picture on the board of the result.
    pub got: Vec<T>,
    pub notes: Vec<String>,
}

/// Builds the kernel of that name on each device.
pub(crate) fn kernels(
    team: &Team,
    [program, source, options, name]: [&str; 4],
    build: &mut Duration,
) -> Result<Vec<Kernel>> {
    let start = Instant::now();
    let kernel = |member: &Session| member.build(program, source, options)?.kernel(name);
    let kernels = team.members.iter().map(kernel).collect::<Result<_>>();
    *build += start.elapsed();
    kernels
}

/// Runs the iterations. `advance` enqueues one; it is measured from there until all devices are done. `frame` gets the
/// picture after each iteration, if anybody wants it.
pub(crate) fn run<'t, T: Plain>(
    (session, team): (&Session, &'t Team),
    params: &Params,
    plan: &Plan<'_, T>,
    advance: impl Fn(&mut Bands<'t, T>) -> Result<()>,
    frame: impl Fn(&[T]) -> crate::Picture,
) -> Result<Ran<T>> {
    let shape = plan.shape;
    let members = shape.members(team);
    let open = |split: &[usize], start: &[T]| -> Result<Bands<'t, T>> {
        let mut bands = Bands::new(team, shape, split, plan.boards)?;
        bands.scatter(0, start)?;
        Ok(bands)
    };
    let bands = RefCell::new(open(&even(shape.height, members), plan.start)?);
    let (last, splits) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let body = |_| {
        let mut bands = bands.borrow_mut();
        advance(&mut bands)?;
        bands.settle()?;
        Ok(true)
    };
    let after = |i: u32| {
        let mut bands = bands.borrow_mut();
        let spans = bands.spans()?;
        team.members.iter().for_each(Session::forget);
        splits.borrow_mut().push(bands.split());
        params.observer.frame(|| Ok(frame(&bands.gather(plan.result)?)))?;
        if plan.adaptive && i + 1 < params.iterations {
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
    if plan.adaptive {
        notes.push(format!("rows of each device, iteration by iteration: {:?}", splits.borrow()));
    }
    let spans = last.into_inner();
    if let Some(share) = hidden(&spans) {
        notes.push(format!("{:.0} % of the time of halos on their way is hidden behind kernels", share * 100.0));
    }
    notes.extend(trace(&spans));
    Ok(Ran { build: plan.build, times, got, notes })
}
