//! `sandpile`: the Abelian sandpile (Bak, Tang and Wiesenfeld, 1987). A cell of four grains or more topples: each
//! neighbour gets a quarter; what leaves the board is lost. The board at which nothing topples any more does not
//! depend on the order (Dhar, 1990): synchronous steps between two boards, and toppling in place with atomics, must
//! end alike.
//!
//! An iteration is a number of steps. The synchronous variants' board is compared with that of as many steps of a
//! reference that distributes where the kernels collect. The asynchronous variant's board after so many steps is its
//! own: the reference lets it topple on, in yet another order, until it is stable, and compares it with the stable
//! board of the start.

mod boards;
mod reference;

use crate::cl::Session;
use crate::common::grid::{Grid, build};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::picture::{Picture, rgb};
use crate::program::{Answer, Outcome, Program, Variant, Verdict, Work, same};
use crate::random::Random;
use crate::splitting::band::{Shape, Step};
use crate::splitting::plan::{self, Plan, Ran, Source};
use crate::splitting::worker_group;
use boards::Boards;
use reference::{stable, step};
use std::cell::RefCell;

pub struct Sandpile;

const SOURCE: &str =
    concat!(include_str!("../../../../kernels/tiles.cl"), include_str!("../../../../kernels/sandpile.cl"));
/// Grains of the pile in the middle at most: how often cells topple grows with their square.
const MAX_GRAINS: u32 = 1 << 18;
/// Topplings that the reference does in a few seconds.
const MAX_TOPPLINGS: f64 = 4e9;
/// Cells from one of many piles to the next.
const APART: usize = 18;

struct Setup {
    grid: Grid,
    start: &'static str,
    board: Vec<u32>,
    steps: u32,
}

/// Colours for zero to three grains that also people tell apart who see no red or green, dark to light; cells that
/// will topple are white.
fn drawn(board: &[u32], w: usize, h: usize) -> Picture {
    let colours = [rgb(13, 22, 54), rgb(0, 105, 165), rgb(230, 159, 0), rgb(250, 235, 160), rgb(255, 255, 255)];
    Picture { width: w, height: h, pixels: board.iter().map(|&g| colours[g.min(4) as usize]).collect() }
}

impl Sandpile {
    fn setup(params: &Params) -> Result<Setup> {
        params.only(&["start", "grains", "steps", "devices"])?;
        let (start, _) = params.choice_of("start", &[("piles", 0), ("pile", 1), ("uniform", 2), ("random", 3)])?;
        let most = params.number("grains", 0, 0..=MAX_GRAINS)?;
        let steps = params.number("steps", 16, 1..=100_000)?;
        let (w, h) = params.size_or(256, 256)?;
        let mut board = vec![0u32; w * h];
        match start {
            "uniform" => board.fill(if most == 0 { 4 } else { most }),
            "random" => {
                let mut random = Random::new(1987);
                let below = if most == 0 { 6 } else { most as usize + 1 };
                board.iter_mut().for_each(|grains| *grains = random.below(below) as u32);
            }
            // As many as end on three quarters of the smaller side: about two grains a cell of a disc.
            "pile" => {
                let grains = if most == 0 { (w.min(h).pow(2) * 4 / 5).clamp(4, 50_000) as u32 } else { most };
                board[h / 2 * w + w / 2] = grains;
            }
            // Piles of different heights, apart: each makes a figure of its own before it meets the others.
            _ => {
                let mut random = Random::new(1990);
                let middles = |side: usize| {
                    (0..(side / APART).max(1)).map(move |i| (2 * i + 1) * side / (2 * (side / APART).max(1)))
                };
                for y in middles(h) {
                    for x in middles(w) {
                        let own = 150 + random.below(500) as u32;
                        board[y * w + x] = if most == 0 { own } else { most };
                    }
                }
            }
        }
        Ok(Setup { grid: Grid::new(params, (w, h), (16, 16))?, start, board, steps })
    }

    /// An estimate of the topplings until the board is stable: grains beyond what stays walk at random to the edge.
    fn topplings(setup: &Setup) -> f64 {
        // Piles that hardly meet spread alone.
        let apart = setup.start == "piles" && setup.board.iter().all(|&grains| grains <= 2000);
        if apart {
            return setup.board.iter().map(|&grains| 0.1 * f64::from(grains).powi(2)).sum();
        }
        let total: f64 = setup.board.iter().map(|&g| f64::from(g)).sum();
        let side = setup.grid.w.min(setup.grid.h) as f64;
        // A pile spreads over a disc of two grains a cell; a board that is full all over loses what it has too much
        // over its edge.
        let disc = 0.03 * total * total;
        let edge = 0.035 * total * side * side;
        disc.min(edge)
    }
}

/// On several devices: as many steps as asked for, without a look at whether anything can topple still.
fn on_bands(session: &Session, params: &Params, setup: &Setup, options: &str) -> Result<Ran<u32>> {
    let Setup { grid, steps, .. } = *setup;
    if steps % 2 == 1 {
        return Err(Error::Params(format!("-c steps={steps}: give an even number on several devices")));
    }
    let step_of = |s: usize| Step { kernel: 0, from: s % 2, to: (s + 1) % 2, exchange: true, more: &[] };
    let plan = Plan {
        source: Source { program: "sandpile", source: SOURCE, options, kernels: &["sandpile_band"] },
        shape: Shape { width: grid.w, items: grid.w, height: grid.h, halo: 1, wraps: false },
        boards: 2,
        start: &setup.board,
        steps: (0..steps as usize).map(step_of).collect(),
        result: 0,
    };
    plan::run(session, params, &plan, |board| drawn(board, grid.w, grid.h))
}

/// What came out of a run.
struct Done {
    ran: Ran<u32>,
    steps: usize,
    /// What the run itself says of the board.
    is_stable: bool,
}

/// On one device, on the machine's threads, or on both.
fn on_boards(session: &Session, params: &Params, variant: &'static str, setup: &Setup) -> Result<Done> {
    let grid = setup.grid;
    let (options, name) = Sandpile.build_options(params)?;
    let (built, kernel) = build(session, "sandpile", SOURCE, &options, &name)?;
    let boards = RefCell::new(Boards::new(session, params, variant, setup, (&built, kernel))?);
    let mut is_stable = false;
    let body = |_| {
        let mut boards = boards.borrow_mut();
        (0..setup.steps).try_for_each(|_| boards.advance())?;
        is_stable = boards.rest()?;
        Ok(!is_stable)
    };
    let after = |i: u32| {
        params.observer.progress(i as usize + 1, params.iterations as usize)?;
        params.observer.frame(|| Ok(drawn(&boards.borrow().board()?, grid.w, grid.h)))
    };
    let times = session.measure_and(params.iterations, body, after)?;
    let boards = boards.into_inner();
    let note = format!("{} steps; {}stable", boards.done, if is_stable { "" } else { "not yet " });
    let notes = std::iter::once(note).chain(boards.reports()).collect();
    Ok(Done { ran: Ran { build: built.time, times, got: boards.board()?, notes }, steps: boards.done, is_stable })
}

impl Program for Sandpile {
    fn name(&self) -> &'static str {
        "sandpile"
    }

    fn about(&self) -> &'static str {
        "the Abelian sandpile, in steps or in any order"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "ocl", about: "all cells at once, between two boards" },
            Variant { name: "ocl_lazy", about: "the same; tiles where nothing can move are skipped" },
            Variant { name: "ocl_async", about: "in place, in any order, with atomics" },
            Variant { name: "seq", about: "one thread of the machine, no OpenCL" },
            Variant { name: "threads", about: "the machine's threads, which take rows as they get free" },
            Variant { name: "tiled", about: "the machine's threads, which take tiles as they get free" },
            Variant { name: "lazy", about: "the same; tiles where nothing can move are skipped" },
            Variant { name: "hybrid", about: "upper rows on the device, lower rows on threads, split by their speeds" },
            Variant { name: "devices_fixed", about: "several devices, each with as many rows" },
            Variant { name: "devices_adaptive", about: "several devices, split by the speeds of the iteration before" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "start=piles|pile|uniform|random: many piles, one pile, as many grains everywhere, up to so many",
            "grains=0: how many; 0 for a number that suits the size",
            "steps=16: steps an iteration; an even number on several devices",
            worker_group::KNOB,
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let setup = Sandpile::setup(params)?;
        let plain = Params { config: String::new(), ..params.clone() };
        let kernel = match self.variant(params)? {
            variant @ ("ocl_lazy" | "ocl_async") => format!("sandpile_{variant}"),
            variant if plan::is_in_bands(variant) => "sandpile_band".into(),
            _ => "sandpile_ocl".into(),
        };
        Ok((setup.grid.options(&plain, "sandpile"), kernel))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let setup = Sandpile::setup(params)?;
        let is_async = variant == "ocl_async";
        if is_async && Sandpile::topplings(&setup) > MAX_TOPPLINGS {
            return Err(Error::Params(
                "the reference would have to let this board topple for minutes: choose a smaller -s, fewer grains, or \
                 -c start=pile"
                    .into(),
            ));
        }
        let Done { ran, steps: done, is_stable } = if plan::is_in_bands(variant) {
            let ran = on_bands(session, params, &setup, &self.build_options(params)?.0)?;
            // Several devices do not look for it while they run; the note follows from the result.
            let is_stable = ran.got.iter().all(|&grains| grains < 4);
            Done { steps: ran.times.wall.len() * setup.steps as usize, ran, is_stable }
        } else {
            on_boards(session, params, variant, &setup)?
        };
        let Ran { build, times, got, notes } = ran;
        let Setup { grid, start, board, steps } = setup;

        let (verdict, answer) = if is_async {
            let want = stable(board, grid.w);
            let end = stable(got.clone(), grid.w);
            let verdict = match same(&end, &want, "cells") {
                Verdict::Passed(_) => Verdict::Passed("it ends on the one stable board of its start".into()),
                failed => failed,
            };
            // The board itself depends on the order, where it ends does not.
            (verdict, Answer::Exact(end))
        } else {
            let mut want = board;
            let mut left = done;
            // A stable board stays as it is: further steps of the device change nothing.
            while left > 0 && want.iter().any(|&grains| grains >= 4) {
                want = step(&want, grid.w);
                left -= 1;
            }
            let mut verdict = same(&got, &want, "cells");
            if is_stable != want.iter().all(|&grains| grains < 4) {
                verdict = Verdict::Failed(format!("it is said to be {}stable", if is_stable { "" } else { "un" }));
            }
            (verdict, Answer::Exact(got.clone()))
        };
        let cells = grid.w * grid.h;
        Ok(Outcome {
            variant,
            size: format!("{}, {start}", grid.size_text()),
            build,
            times,
            work: Some(Work::new((cells * steps as usize) as f64, "cell").moving(cells * steps as usize * 8)),
            verdict,
            answer,
            picture: Some(drawn(&got, grid.w, grid.h)),
            chart: None,
            notes,
        })
    }
}
