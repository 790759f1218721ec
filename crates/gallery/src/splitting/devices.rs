//! Runs a program on several devices: the split of what they share, fixed or by the speeds of the iteration before,
//! and what to tell about it.

use crate::cl::{Plain, Session};
use crate::error::Result;
use crate::params::Params;
use crate::picture::Picture;
use crate::splitting::domain::Domain;
use crate::splitting::parts::Parts;
use crate::splitting::plan::{Plan, Ran};
use crate::splitting::split::{Balance, even};
use crate::splitting::worker_group::{WorkerGroup, hidden, trace};
use std::cell::RefCell;

/// A new split that moves fewer units than this share of them is not worth the copies.
const WORTH: f64 = 0.02;

/// Runs the iterations on the devices that the knob names. Each is measured from its first command to when all devices
/// are done.
pub(crate) fn run<T: Plain, D: Domain<T>>(
    session: &Session,
    params: &Params,
    plan: &Plan<'_, T, D>,
    frame: impl Fn(&[T]) -> Picture,
) -> Result<Ran<T>> {
    let group = WorkerGroup::open(session, params)?;
    let (kernels, build) = plan.source.build(&group.members)?;
    let is_adaptive = params.variant == "devices_adaptive";
    let (units, least) = (plan.shape.units(), plan.shape.least());
    // How many of the devices can take part.
    let members = group.members.len().min(units / least).max(1);
    let open = |split: &[usize], start: &[T]| {
        let parts = Parts::<D, T>::new(&group, &plan.shape, split, plan.boards)?;
        parts.scatter(0, start)?;
        Ok::<_, crate::Error>(parts)
    };
    let parts = RefCell::new(open(&even(units, members), plan.start)?);
    let (last, splits) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let body = |_| {
        let mut parts = parts.borrow_mut();
        plan.steps.iter().try_for_each(|&step| parts.step(&kernels, step))?;
        parts.settle()?;
        Ok(true)
    };
    let mut balance = Balance::default();
    let after = |i: u32| {
        let mut parts = parts.borrow_mut();
        let spans = parts.spans()?;
        group.members.iter().for_each(Session::forget);
        splits.borrow_mut().push(parts.split().to_vec());
        params.observer.frame(|| Ok(frame(&parts.gather(plan.result)?)))?;
        if is_adaptive && i + 1 < params.iterations {
            let split = balance.next(parts.split(), &parts.speeds(&spans), least);
            let moved = split.iter().zip(parts.split()).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or_default();
            if moved as f64 > WORTH * units as f64 {
                // What board 0 must hold: the state that goes on, or the start where every iteration begins anew.
                let data = if plan.result == 0 { parts.gather(0)? } else { plan.start.to_vec() };
                *parts = open(&split, &data)?;
            }
        }
        last.replace(spans);
        Ok(())
    };
    let times = session.measure_and(params.iterations, body, after)?;
    let mut parts = parts.into_inner();
    let got = parts.gather(plan.result)?;
    let mut notes = group.reports(parts.split(), D::UNITS);
    if is_adaptive {
        notes.push(format!("{} of each device, iteration by iteration: {:?}", D::UNITS, splits.borrow()));
    }
    if parts.split().len() > 1 {
        notes.push(format!("elements that each device gets of the others in a step: {:?}", parts.received()));
    }
    let spans = last.into_inner();
    if let Some(share) = hidden(&spans) {
        notes.push(format!("{:.0} % of the time of halos on their way is hidden behind kernels", share * 100.0));
    }
    notes.extend(trace(&spans));
    Ok(Ran { build, times, got, notes })
}
