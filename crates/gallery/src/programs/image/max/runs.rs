//! Runs of `max`: from the first numbers to those at which nothing changes, on the device, on the machine's threads, or
//! on both. In come the first numbers, out come the last ones and how many sweeps that took.

use crate::args;
use crate::cl::{Built, Session, round_up};
use crate::common::grid::Grid;
use crate::common::threads;
use crate::common::tiles::{Awake, Flags, Reach};
use crate::error::Result;
use crate::splitting::hybrid::Hybrid;

/// Sweeps between two looks at whether anything changed: each look waits for the device.
const BATCH: usize = 16;
/// Numbers of a cache line.
const LINE: usize = 16;

/// A sweep in place, down and right, and one up and left; whether anything changed.
fn there_and_back(labels: &mut [u32], w: usize) -> bool {
    let mut changed = false;
    let mut take = |labels: &mut [u32], i: usize, beside: Option<usize>, across: Option<usize>| {
        if labels[i] != 0 {
            let largest = [beside, across].into_iter().flatten().map(|j| labels[j]).fold(labels[i], u32::max);
            changed |= largest != labels[i];
            labels[i] = largest;
        }
    };
    // In place, a number runs along a whole row or column in one sweep, as long as that goes with the order of the
    // pixels.
    for i in 0..labels.len() {
        take(labels, i, (i % w > 0).then(|| i - 1), i.checked_sub(w));
    }
    for i in (0..labels.len()).rev() {
        let below = (i + w < labels.len()).then_some(i + w);
        take(labels, i, ((i + 1) % w > 0).then_some(i + 1), below);
    }
    changed
}

/// The largest number around a pixel: the threads' way.
fn largest(from: &[u32], w: usize, x: usize, y: usize) -> u32 {
    let i = y * w + x;
    let mut most = from[i];
    if most == 0 {
        return 0;
    }
    if x > 0 {
        most = most.max(from[i - 1]);
    }
    if x + 1 < w {
        most = most.max(from[i + 1]);
    }
    if y > 0 {
        most = most.max(from[i - w]);
    }
    if i + w < from.len() {
        most = most.max(from[i + w]);
    }
    most
}

/// A run on the device: sweeps until nothing changes. `frame` hears of the numbers after each batch.
pub(super) fn on_device(
    session: &Session,
    (variant, built): (&str, &Built),
    (grid, start): (&Grid, &[u32]),
    mut frame: impl FnMut(&dyn Fn() -> Result<Vec<u32>>) -> Result<()>,
) -> Result<(Vec<u32>, usize)> {
    let boards = [session.upload(start)?, session.upload(start)?];
    let tiles: usize = grid.groups().iter().product();
    let flags = Flags::new(session, tiles)?;
    let changed = session.zeroed::<u32>(BATCH)?;
    let kernel = built.kernel(&format!("max_{variant}"))?;
    let mut sweeps = 0;
    loop {
        session.write(&changed, &[0; BATCH])?;
        for sweep in 0..BATCH as u32 {
            let mut args = args![&boards[sweeps % 2], &boards[1 - sweeps % 2], &changed, sweep].to_vec();
            if variant == "ocl_lazy" {
                args.extend(flags.args(sweeps));
            }
            session.launch(&kernel, &args, &grid.global(), &grid.local())?;
            sweeps += 1;
        }
        let labels = || session.read(&boards[sweeps % 2]);
        let changed = session.read(&changed)?;
        frame(&labels)?;
        // Only the last sweep counts: one that changes nothing is followed by others that change nothing.
        if changed[BATCH - 1] == 0 {
            return Ok((labels()?, sweeps));
        }
    }
}

/// Numbers from one row to the next of `max_lines`: whole cache lines, an odd number of them, so that those of rows one
/// below the other lie in different sets of a cache.
pub(super) fn pitch(w: usize) -> usize {
    (w.div_ceil(LINE) | 1) * LINE
}

/// A run on the device along lines: until neither columns nor rows change anything.
pub(super) fn on_lines(
    session: &Session,
    built: &Built,
    (grid, start): (&Grid, &[u32]),
    mut frame: impl FnMut(&dyn Fn() -> Result<Vec<u32>>) -> Result<()>,
) -> Result<(Vec<u32>, usize)> {
    let pitch = pitch(grid.w);
    let mut padded = vec![0; pitch * grid.h];
    padded.chunks_mut(pitch).zip(start.chunks(grid.w)).for_each(|(to, from)| to[..grid.w].copy_from_slice(from));
    let board = session.upload(&padded)?;
    let changed = session.zeroed::<u32>(2)?;
    // Few lines a group: there are not many, and each core shall have some. A platform left to choose takes larger
    // groups, or groups of one for a prime number of lines.
    let group = grid.tw;
    let (columns, rows) = (built.kernel("max_columns")?, built.kernel("max_rows")?);
    let labels = || -> Result<Vec<u32>> {
        Ok(session.read(&board)?.chunks(pitch).flat_map(|row| &row[..grid.w]).copied().collect())
    };
    let mut sweeps = 0;
    loop {
        session.write(&changed, &[0; 2])?;
        session.launch(&columns, args![&board, &changed, 0u32], &[round_up(grid.w, group)], &[group])?;
        session.launch(&rows, args![&board, &changed, 1u32], &[round_up(grid.h, group)], &[group])?;
        sweeps += 2;
        let changed = session.read(&changed)?;
        frame(&labels)?;
        if changed == [0, 0] {
            return Ok((labels()?, sweeps));
        }
    }
}

/// A run on the device and the machine's threads: sweeps until neither side changes anything. The rows are split anew
/// after each batch. Also says how.
pub(super) fn on_both(
    session: &Session,
    built: &Built,
    grid: Grid,
    start: &[u32],
) -> Result<(Vec<u32>, usize, String)> {
    let kernel = built.kernel("max_ocl")?;
    let changed = session.zeroed::<u32>(BATCH)?;
    let mut boards = Hybrid::new(session, grid, start)?;
    let mut sweeps = 0;
    loop {
        session.write(&changed, &[0; BATCH])?;
        let mut on_host = false;
        for sweep in 0..BATCH as u32 {
            on_host = boards.step(&kernel, args![&changed, sweep], |from, y, row| {
                row.iter_mut().enumerate().for_each(|(x, label)| *label = largest(from, grid.w, x, y));
            })?;
        }
        sweeps += BATCH;
        if !on_host && session.read(&changed)?[BATCH - 1] == 0 {
            return Ok((boards.board()?, sweeps, boards.reports()));
        }
        boards.adjust()?;
    }
}

/// A run on the machine's threads.
pub(super) fn on_host(variant: &str, w: usize, tile: (usize, usize), start: &[u32]) -> (Vec<u32>, usize) {
    let mut labels = start.to_vec();
    let mut sweeps = 0;
    if variant == "seq" {
        while there_and_back(&mut labels, w) {
            sweeps += 1;
        }
        // With the sweep that found nothing to change.
        return (labels, sweeps + 1);
    }
    // As the labels are: a tile that sleeps is not written.
    let mut next = start.to_vec();
    let mut awake = Awake::new((w, start.len() / w), tile, Reach { corners: false, wraps: false });
    loop {
        let from = &labels;
        let row = |x: usize, y: usize, row: &mut [u32]| {
            row.iter_mut().enumerate().for_each(|(dx, label)| *label = largest(from, w, x + dx, y));
        };
        let fill = |x: usize, y: usize, rows: &mut [&mut [u32]]| {
            rows.iter_mut().enumerate().for_each(|(dy, part)| row(x, y + dy, part));
        };
        let changed = match variant {
            "lazy" => {
                awake.step(&mut next, |x, y, rows| {
                    fill(x, y, rows);
                    (y..).zip(rows).any(|(y, part)| **part != from[y * w + x..][..part.len()])
                }) > 0
            }
            "tiled" => {
                threads::tiles(&mut next, w, tile, threads::count(), fill);
                next != *from
            }
            _ => {
                threads::rows(&mut next, w, threads::count(), |y, part| row(0, y, part));
                next != *from
            }
        };
        sweeps += 1;
        std::mem::swap(&mut labels, &mut next);
        if !changed {
            return (labels, sweeps);
        }
    }
}
