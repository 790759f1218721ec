//! `life`: Conway's Game of Life on a torus or on a finite board. The device itself finds out, by a reduction over the
//! tiles, when nothing changes any more; the run then stops.

use crate::args;
use crate::cl::{Arg, Buffer, Kernel, Session};
use crate::common::grid::{Grid, build};
use crate::common::threads;
use crate::common::tiles::{Awake, Flags, Reach};
use crate::error::{Error, Result};
use crate::inputs;
use crate::params::Params;
use crate::picture::{Picture, rgb};
use crate::program::{Answer, Outcome, Program, Variant, Verdict, Work, same};
use crate::random::Random;
use crate::splitting::band::{Shape, Step};
use crate::splitting::plan::{self, Plan, Ran, Source};
use crate::splitting::worker_group;
use std::cell::RefCell;

pub struct Life;

const SOURCE: &str = concat!(include_str!("../../../kernels/tiles.cl"), include_str!("../../../kernels/life.cl"));
/// Work-items of the reduction.
const COUNTERS: usize = 64;

/// Cells of a work-item of the wide variant.
const WIDE: usize = 16;

/// The side of a tile of threads.
const HOST_TILE: usize = 32;

struct Setup {
    grid: Grid,
    torus: bool,
    cells: Vec<u32>,
}

/// A step of the reference: neighbours counted row by row, threads over rows.
fn step(cells: &[u32], w: usize, h: usize, torus: bool) -> Vec<u32> {
    let alive = |x: usize, y: usize, dx: isize, dy: isize| {
        let (nx, ny) = (x as isize + dx, y as isize + dy);
        let inside = (0..w as isize).contains(&nx) && (0..h as isize).contains(&ny);
        if !inside && !torus {
            return 0;
        }
        cells[ny.rem_euclid(h as isize) as usize * w + nx.rem_euclid(w as isize) as usize]
    };
    let mut next = vec![0; cells.len()];
    threads::rows(&mut next, w, threads::count(), |y, row| {
        for (x, cell) in row.iter_mut().enumerate() {
            let around = [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];
            let n: u32 = around.iter().map(|&(dx, dy)| alive(x, y, dx, dy)).sum();
            *cell = u32::from(matches!((cells[y * w + x], n), (_, 3) | (1, 2)));
        }
    });
    next
}

/// Two boards in turns, on the device or on the host.
enum Boards<'s> {
    Device {
        session: &'s Session,
        /// The step, and the one that counts the tiles that changed.
        kernels: Box<[Kernel; 2]>,
        /// What a step covers.
        range: Grid,
        boards: [Buffer<u32>; 2],
        flags: Flags,
        count: Buffer<u32>,
    },
    Threads {
        boards: [Vec<u32>; 2],
        awake: Awake,
    },
}

impl Boards<'_> {
    /// A step; how many tiles changed.
    fn advance(&mut self, i: usize, (w, h, torus): (usize, usize, bool)) -> Result<usize> {
        match self {
            Boards::Device { session, kernels, range, boards, flags, count } => {
                let [before, now, after] = flags.args(i);
                let args = &[Arg::from(&boards[i % 2]), Arg::from(&boards[(i + 1) % 2]), before, now, after];
                session.launch(&kernels[0], args, &range.global(), &range.local())?;
                let changed = flags.changed(i);
                let args = args![changed, changed.len() as u32, &*count, Arg::Local(COUNTERS * 4)];
                // One group adds up all flags, so that the host reads one number and not one for each tile.
                session.launch(&kernels[1], args, &[COUNTERS], &[COUNTERS])?;
                Ok(session.read(count)?[0] as usize)
            }
            Boards::Threads { boards: [a, b], awake } => {
                let (from, to) = if i.is_multiple_of(2) { (&*a, b) } else { (&*b, a) };
                let near = |at: usize, n: usize| {
                    let (before, after) = (at.checked_sub(1), (at + 1 < n).then_some(at + 1));
                    if torus { (before.or(Some(n - 1)), after.or(Some(0))) } else { (before, after) }
                };
                Ok(awake.step(to, |x, y, rows| {
                    let mut changed = false;
                    for (y, row) in (y..).zip(rows) {
                        let (above, below) = near(y, h);
                        let lines = [above, Some(y), below].map(|y| y.map(|y| &from[y * w..][..w]));
                        let alive = |x: usize| lines.iter().flatten().map(|line| line[x]).sum::<u32>();
                        for (x, cell) in (x..).zip(row.iter_mut()) {
                            let (left, right) = near(x, w);
                            // The cell itself is counted too: three is a birth or two neighbours, four with a living
                            // cell is three neighbours.
                            let all = alive(x) + left.map_or(0, alive) + right.map_or(0, alive);
                            let own = from[y * w + x];
                            *cell = u32::from(all == 3 || (all == 4 && own == 1));
                            changed |= *cell != own;
                        }
                    }
                    changed
                }))
            }
        }
    }

    /// The board after so many steps.
    fn board(&self, steps: usize) -> Result<Vec<u32>> {
        match self {
            Boards::Device { session, boards, .. } => session.read(&boards[steps % 2]),
            Boards::Threads { boards, .. } => Ok(boards[steps % 2].clone()),
        }
    }
}

/// A glider that moves down and right, wherever there is room for one.
fn gliders(w: usize, h: usize) -> Vec<u32> {
    let mut cells = vec![0; w * h];
    for top in (2..h.saturating_sub(6)).step_by(12) {
        for left in (2..w.saturating_sub(6)).step_by(12) {
            put_glider(&mut cells, w, left, top);
        }
    }
    cells
}

/// One of them alone, in the middle: nearly all tiles sleep.
fn glider(w: usize, h: usize) -> Vec<u32> {
    let mut cells = vec![0; w * h];
    if w >= 3 && h >= 3 {
        put_glider(&mut cells, w, (w - 3) / 2, (h - 3) / 2);
    }
    cells
}

fn put_glider(cells: &mut [u32], w: usize, left: usize, top: usize) {
    for (x, y) in [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)] {
        cells[(top + y) * w + left + x] = 1;
    }
}

/// Blocks of four cells: nothing ever changes.
fn blocks(w: usize, h: usize) -> Vec<u32> {
    let on = |i: usize, n: usize| i % 4 < 2 && i / 4 * 4 + 3 < n;
    (0..w * h).map(|i| u32::from(on(i % w, w) && on(i / w, h))).collect()
}

/// Bytes of rows that are a multiple of WIDE long, four in a number.
fn packed(cells: &[u32], w: usize) -> Vec<u32> {
    let byte = |row: &[u32], x: usize| row.get(x).copied().unwrap_or(0) & 255;
    let row = |row: &[u32]| -> Vec<u32> {
        (0..w.next_multiple_of(WIDE)).step_by(4).map(|x| (0..4).map(|k| byte(row, x + k) << (8 * k)).sum()).collect()
    };
    cells.chunks(w).flat_map(row).collect()
}

/// And back.
fn unpacked(board: &[u32], w: usize) -> Vec<u32> {
    let row = |row: &[u32]| -> Vec<u32> { (0..w).map(|x| row[x / 4] >> (x % 4 * 8) & 255).collect() };
    board.chunks(w.next_multiple_of(WIDE) / 4).flat_map(row).collect()
}

/// The board as a picture: small boards in larger cells, so that a person sees them.
fn shown(cells: &[u32], grid: &Grid) -> Picture {
    let side = (512 / grid.w.max(grid.h)).clamp(1, 16);
    Picture::from_fn(grid.w * side, grid.h * side, |x, y| match cells[y / side * grid.w + x / side] {
        0 => rgb(16, 20, 32),
        _ => rgb(240, 220, 90),
    })
}

impl Life {
    fn setup(params: &Params) -> Result<Setup> {
        params.only(&["board", "start", "param", "steps", "devices"])?;
        let torus = params.choice("board", &["torus", "finite"])? == "torus";
        let start = params.choice("start", &["picture", "random", "gliders", "glider", "still"])?;
        // Few cells in a small board, where a person sees them.
        let size = params.size.or((start != "picture" && start != "random").then_some((96, 96)));
        let picture = inputs::picture(&Params { size, ..params.clone() })?;
        let (w, h) = (picture.width, picture.height);
        let cells = match start {
            "random" => {
                let mut random = Random::new(1970);
                (0..w * h).map(|_| u32::from(random.below(10) < 3)).collect()
            }
            "gliders" => gliders(w, h),
            "glider" => glider(w, h),
            "still" => blocks(w, h),
            // Odd brightness: the picture's grain decides, its smooth parts start empty or full.
            _ => picture.luma().iter().map(|l| u32::from(l % 5 < 2)).collect(),
        };
        Ok(Setup { grid: Grid::new(params, (w, h), (16, 16))?, torus, cells })
    }
}

/// The generations of an iteration in bands: even, so that the result is on the board that the next one starts from.
fn steps(params: &Params) -> Result<u32> {
    let steps = params.number("steps", 8, 2..=1000)?;
    if steps % 2 == 1 {
        return Err(Error::Params(format!("-c steps={steps}: give an even number")));
    }
    Ok(steps)
}

/// On several devices or in several processes, checked as on one device.
fn on_bands(
    session: &Session,
    params: &Params,
    variant: &'static str,
    setup: &Setup,
    options: &str,
) -> Result<Outcome> {
    let grid = &setup.grid;
    let steps = steps(params)?;
    let step_of = |s: usize| Step { kernel: 0, from: s % 2, to: (s + 1) % 2, exchange: true, more: &[] };
    let plan = Plan {
        source: Source { program: "life", source: SOURCE, options, kernels: &["life_band"] },
        shape: Shape { width: grid.w, items: grid.w, height: grid.h, halo: 1, wraps: setup.torus },
        boards: 2,
        start: &setup.cells,
        steps: (0..steps as usize).map(step_of).collect(),
        result: 0,
    };
    let Ran { build, times, got, notes } = plan::run(session, params, &plan, |cells| shown(cells, grid))?;
    let mut cells = setup.cells.clone();
    for _ in 0..steps * params.iterations {
        cells = step(&cells, grid.w, grid.h, setup.torus);
    }
    let generations = (grid.w * grid.h) as f64 * f64::from(steps);
    Ok(Outcome {
        variant,
        size: format!("{}x{}, {}", grid.w, grid.h, if setup.torus { "torus" } else { "finite board" }),
        build,
        times,
        work: Some(Work::new(generations, "cell").moving(grid.w * grid.h * 8 * steps as usize)),
        verdict: same(&got, &cells, "cells"),
        picture: Some(shown(&got, grid)),
        answer: Answer::Exact(got),
        chart: None,
        notes,
    })
}

impl Program for Life {
    fn name(&self) -> &'static str {
        "life"
    }

    fn about(&self) -> &'static str {
        "the Game of Life, until nothing changes"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "ocl", about: "neighbours from global memory" },
            Variant { name: "ocl_local", about: "the tile and its border in local memory" },
            Variant { name: "ocl_wide", about: "sixteen cells a work-item, a byte each" },
            Variant { name: "ocl_lazy", about: "tiles that cannot change are skipped" },
            Variant { name: "lazy", about: "the same on the machine's threads, no OpenCL" },
            Variant { name: "devices_fixed", about: "several devices, each with as many rows" },
            Variant { name: "devices_adaptive", about: "several devices, split by the speeds of the iteration before" },
            #[cfg(feature = "mpi")]
            Variant { name: "ranks", about: "several processes, each with a band of rows; start them with mpirun" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "board=torus|finite: what lies beyond the edge",
            "start=picture|random|gliders|glider|still: the first board",
            "steps=8: generations an iteration on several devices, even",
            worker_group::KNOB,
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let setup = Life::setup(params)?;
        let plain = Params { config: String::new(), ..params.clone() };
        let options = format!(
            "{} -DTORUS={} -DPITCH={}",
            setup.grid.options(&plain, "life"),
            u32::from(setup.torus),
            setup.grid.w.next_multiple_of(WIDE)
        );
        let name = match self.variant(params)? {
            v if plan::is_in_bands(v) => "band",
            "lazy" => "ocl_lazy",
            v => v,
        };
        Ok((options, format!("life_{name}")))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let setup = Life::setup(params)?;
        let (options, name) = self.build_options(params)?;
        if plan::is_in_bands(variant) {
            return on_bands(session, params, variant, &setup, &options);
        }
        let Setup { grid, torus, mut cells } = setup;
        let (built, kernel) = build(session, "life", SOURCE, &options, &name)?;
        let wide = variant == "ocl_wide";
        // Both boards start alike: a lazy tile's `out` must hold what it held before.
        let (boards, tiles) = if variant == "lazy" {
            let tile = params.tile_or(HOST_TILE, HOST_TILE)?;
            let awake = Awake::new((grid.w, grid.h), tile, Reach { corners: true, wraps: torus });
            let tiles = awake.tiles();
            (Boards::Threads { boards: [cells.clone(), cells.clone()], awake }, tiles)
        } else {
            let range = if wide { Grid { w: grid.w.div_ceil(WIDE), ..grid } } else { grid };
            let tiles: usize = range.groups().iter().product();
            let start = if wide { packed(&cells, grid.w) } else { cells.clone() };
            let device = Boards::Device {
                session,
                kernels: Box::new([kernel, built.kernel("life_count")?]),
                range,
                boards: [session.upload(&start)?, session.upload(&start)?],
                flags: Flags::new(session, tiles)?,
                count: session.zeroed(1)?,
            };
            (device, tiles)
        };
        let boards = RefCell::new(boards);
        let mut active = None;
        let board = |done: usize| -> Result<Vec<u32>> {
            let board = boards.borrow().board(done)?;
            Ok(if wide { unpacked(&board, grid.w) } else { board })
        };
        let advance = |i: u32| {
            let changed = boards.borrow_mut().advance(i as usize, (grid.w, grid.h, torus))?;
            active = Some(changed);
            Ok(changed > 0)
        };
        let frame = |i: u32| params.observer.frame(|| Ok(shown(&board(i as usize + 1)?, &grid)));
        let times = session.measure_and(params.iterations, advance, frame)?;

        let done = times.wall.len();
        let got = board(done)?;
        let (mut steps, mut stable) = (0, false);
        while steps < params.iterations as usize && !stable {
            let next = step(&cells, grid.w, grid.h, torus);
            stable = next == cells;
            cells = next;
            steps += 1;
        }
        let mut verdict = same(&got, &cells, "cells");
        // That the device stopped at the right step is part of the result: a lost flag would end the run too early.
        if steps != done {
            verdict = Verdict::Failed(format!("stopped after {done} steps, the reference after {steps}"));
        }
        let picture = shown(&got, &grid);
        Ok(Outcome {
            variant,
            size: format!("{}, {}", grid.size_text(), if torus { "torus" } else { "finite board" }),
            build: built.time,
            times,
            work: Some(Work::new((grid.w * grid.h) as f64, "cell").moving(grid.w * grid.h * if wide { 2 } else { 8 })),
            verdict,
            answer: Answer::Exact(got),
            picture: Some(picture),
            chart: None,
            notes: vec![format!(
                "{} steps{}; tiles that changed in the last: {} of {tiles}",
                done,
                if active == Some(0) { ", then stable" } else { "" },
                active.unwrap_or(0)
            )],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_moves_a_glider_and_keeps_a_block() {
        let (w, h) = (16, 16);
        let start = gliders(9, 9);
        let count: u32 = start.iter().sum();
        assert_eq!(count, 5, "one glider fits");
        let mut cells = vec![0; w * h];
        put_glider(&mut cells, w, 0, 0);
        assert_eq!(glider(w, h).iter().sum::<u32>(), 5);
        let mut moved = cells.clone();
        for _ in 0..4 {
            moved = step(&moved, w, h, true);
        }
        let shifted: Vec<u32> = (0..w * h).map(|i| cells[(i / w + h - 1) % h * w + (i % w + w - 1) % w]).collect();
        assert_eq!(moved, shifted, "four steps take it one down and one right");
        let still = blocks(w, h);
        assert_eq!(step(&still, w, h, false), still);
        assert!(still.contains(&1));
        let odd: Vec<u32> = (0..57).map(|i| u32::from(i % 3 == 0)).collect();
        assert_eq!(unpacked(&packed(&odd, 19), 19), odd);
        assert_eq!(packed(&odd, 19)[..2], [0x0100_0001, 0x0001_0000]);
    }
}
