//! The set on several devices: each computes a band of rows, by a range that begins at the band's first row.

use super::{SOURCE, View, reference, work};
use crate::args;
use crate::cl::queue::Queue;
use crate::cl::{Buffer, Session};
use crate::common::grid::Grid;
use crate::error::Result;
use crate::params::Params;
use crate::picture::Picture;
use crate::program::{Answer, Outcome, same_picture};
use crate::splitting::plan::Source;
use crate::splitting::split::{Balance, even, speed};
use crate::splitting::worker_group::WorkerGroup;
use std::cell::RefCell;
use std::time::Instant;

/// The band of a device.
struct Band<'t> {
    queue: Queue<'t>,
    output: Buffer<u32>,
}

pub(super) fn run(
    session: &Session,
    params: &Params,
    variant: &'static str,
    (grid, max): (Grid, u32),
    options: &str,
) -> Result<Outcome> {
    let group = WorkerGroup::open(session, params)?;
    let still = params.choice("view", &["zoom", "still"])? == "still";
    let source = Source { program: "mandel", source: SOURCE, options, kernels: &["mandel_ocl"] };
    let (kernels, build) = source.build(&group.members)?;
    // Rows of tiles are split, so that groups stay whole.
    let tiles = grid.groups()[1];
    let members = group.members.len().min(tiles);
    // Each device has room for the whole picture: a split can change between iterations without a new buffer, and a row
    // has the same place everywhere.
    let band = |member| Ok(Band { queue: Session::queue(member)?, output: member.zeroed(grid.w * grid.h)? });
    let bands = group.members.iter().take(members).map(band).collect::<Result<Vec<_>>>()?;
    let split = RefCell::new(even(tiles, members));
    let (mut splits, mut balance) = (Vec::new(), Balance::default());
    let view = |i: u32| View::of(if still { 0 } else { i }, grid.w, grid.h);
    // The first row of each device, and the one after its last.
    let rows = |split: &[usize]| -> Vec<(usize, usize)> {
        let mut end = 0;
        let row = |tiles: &usize| {
            let first = end;
            end += tiles;
            ((first * grid.th).min(grid.h), (end * grid.th).min(grid.h))
        };
        split.iter().map(row).collect()
    };
    let picture = |split: &[usize]| -> Result<Picture> {
        let mut pixels = Vec::with_capacity(grid.w * grid.h);
        for (band, (first, end)) in bands.iter().zip(rows(split)) {
            if end > first {
                let into = vec![0; (end - first) * grid.w];
                pixels.extend(band.queue.read(&band.output, first * grid.w, into, &[])?.wait()?);
            }
        }
        Ok(Picture { width: grid.w, height: grid.h, pixels })
    };
    // That of the picture on the devices.
    let last = RefCell::new(split.borrow().clone());
    let compute = |i: u32| {
        let (view, current) = (view(i), split.borrow().clone());
        let start = Instant::now();
        let mut launched = Vec::new();
        for ((band, kernel), (tiles, (first, end))) in
            bands.iter().zip(&kernels).zip(current.iter().zip(rows(&current)))
        {
            let args = args![&band.output, view.left, view.xstep, view.top, view.ystep, end as u32];
            let ranges: [&[usize]; 3] = [&[0, first], &[grid.global()[0], tiles * grid.th], &grid.local()];
            launched.push(band.queue.launch(&kernel[0], args, ranges, &[])?);
            // All devices are started before any is waited for.
            band.queue.flush()?;
        }
        let mut speeds = Vec::new();
        for (done, tiles) in launched.iter().zip(&current) {
            done.wait()?;
            let (from, to) = done.span()?;
            // No launch takes longer than the host has waited for it, whatever the device's clock says.
            let busy = to.saturating_sub(from).min(start.elapsed());
            speeds.push(speed(*tiles, busy));
        }
        group.members.iter().for_each(Session::forget);
        if variant == "devices_adaptive" {
            split.replace(balance.next(&current, &speeds, 1));
        }
        last.replace(current.clone());
        splits.push(current);
        Ok(true)
    };
    let frame = |_| params.observer.frame(|| picture(&last.borrow()));
    let times = session.measure_and(params.iterations, compute, frame)?;
    let last = last.into_inner();
    let got = picture(&last)?;
    let (want, repetitions) = reference(view(params.iterations - 1), &grid, max);
    let rows: Vec<usize> = rows(&last).into_iter().map(|(first, end)| end - first).collect();
    let mut notes = group.reports(&rows, "rows");
    notes.push(format!("rows of tiles of each device, iteration by iteration: {splits:?}"));
    Ok(Outcome {
        variant,
        size: grid.size_text(),
        build,
        times,
        work: Some(work(&grid, repetitions)),
        verdict: same_picture(&got, &want),
        answer: Answer::Exact(got.pixels.clone()),
        picture: Some(got),
        chart: None,
        notes,
    })
}
