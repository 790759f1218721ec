//! `sandpile`: the Abelian sandpile (Bak, Tang and Wiesenfeld, 1987). A cell of four grains or more topples: each
//! neighbour gets a quarter; what leaves the board is lost. The board at which nothing topples any more does not
//! depend on the order (Dhar, 1990): synchronous steps between two boards, and toppling in place with atomics, must
//! end alike.
//!
//! An iteration is a number of steps. The synchronous variants' board is compared with that of as many steps of a
//! reference that distributes where the kernels collect. The asynchronous variant's board after so many steps is its
//! own: the reference lets it topple on, in yet another order, until it is stable, and compares it with the stable
//! board of the start.

use super::grid::{Grid, build};
use super::threads;
use crate::args;
use crate::cl::Session;
use crate::error::{Error, Result};
use crate::params::Params;
use crate::picture::{Picture, rgb};
use crate::program::{Answer, Outcome, Program, Variant, Verdict, Work, same};
use crate::random::Random;
use std::cell::RefCell;

pub struct Sandpile;

const SOURCE: &str = include_str!("../../kernels/sandpile.cl");
/// Grains of the pile in the middle at most: how often cells topple grows with their square.
const MOST_GRAINS: u32 = 1 << 18;
/// Topplings that the reference does in a few seconds.
const MOST_TOPPLINGS: f64 = 4e9;
/// Cells from one of many piles to the next.
const APART: usize = 18;
/// The side of a tile of threads.
const HOST_TILE: usize = 64;

struct Setup {
    grid: Grid,
    start: &'static str,
    board: Vec<u32>,
    steps: u32,
}

/// A step of the reference: every cell that can topple distributes what it has.
fn step(board: &[u32], w: usize) -> Vec<u32> {
    let mut next = board.to_vec();
    for (i, &grains) in board.iter().enumerate().filter(|(_, g)| **g >= 4) {
        topple(&mut next, w, i, grains / 4);
    }
    next
}

fn topple(board: &mut [u32], w: usize, i: usize, share: u32) {
    board[i] -= 4 * share;
    let x = i % w;
    if x > 0 {
        board[i - 1] += share;
    }
    if x + 1 < w {
        board[i + 1] += share;
    }
    if i >= w {
        board[i - w] += share;
    }
    if i + w < board.len() {
        board[i + w] += share;
    }
}

/// The stable board: cells that can topple wait in a stack, the last one first.
fn stable(mut board: Vec<u32>, w: usize) -> Vec<u32> {
    let mut waiting: Vec<usize> = (0..board.len()).filter(|&i| board[i] >= 4).collect();
    while let Some(i) = waiting.pop() {
        let share = board[i] / 4;
        if share == 0 {
            continue;
        }
        topple(&mut board, w, i, share);
        let (x, n) = (i % w, board.len());
        let mut look = |j: usize| {
            // It was below four before: it is not in the stack yet.
            if (4..4 + share).contains(&board[j]) {
                waiting.push(j);
            }
        };
        if x > 0 {
            look(i - 1);
        }
        if x + 1 < w {
            look(i + 1);
        }
        if i >= w {
            look(i - w);
        }
        if i + w < n {
            look(i + w);
        }
    }
    board
}

/// A cell of the next board, collected from around it: the threads' way.
fn collected(board: &[u32], w: usize, h: usize, x: usize, y: usize) -> u32 {
    let i = y * w + x;
    let mut grains = board[i] % 4;
    if x > 0 {
        grains += board[i - 1] / 4;
    }
    if x + 1 < w {
        grains += board[i + 1] / 4;
    }
    if y > 0 {
        grains += board[i - w] / 4;
    }
    if y + 1 < h {
        grains += board[i + w] / 4;
    }
    grains
}

/// A step on the host.
fn host_step(variant: &str, grid: &Grid, tile: (usize, usize), from: &[u32], to: &mut [u32]) {
    let (w, h) = (grid.w, grid.h);
    let row = |x: usize, y: usize, row: &mut [u32]| {
        for (dx, cell) in row.iter_mut().enumerate() {
            *cell = collected(from, w, h, x + dx, y);
        }
    };
    match variant {
        "seq" => to.chunks_mut(w).enumerate().for_each(|(y, part)| row(0, y, part)),
        "tiled" => threads::tiles(to, w, tile, threads::count(), |x, y, rows| {
            rows.iter_mut().enumerate().for_each(|(dy, part)| row(x, y + dy, part));
        }),
        _ => threads::rows(to, w, threads::count(), |y, part| row(0, y, part)),
    }
}

/// Colours for zero to three grains that also people tell apart who see no red or green, dark to light; cells that
/// will topple are white.
fn drawn(board: &[u32], w: usize, h: usize) -> Picture {
    let colours = [rgb(13, 22, 54), rgb(0, 105, 165), rgb(230, 159, 0), rgb(250, 235, 160), rgb(255, 255, 255)];
    Picture { width: w, height: h, pixels: board.iter().map(|&g| colours[g.min(4) as usize]).collect() }
}

impl Sandpile {
    fn setup(params: &Params) -> Result<Setup> {
        params.only(&["start", "grains", "steps"])?;
        let (start, _) = params.choice_of("start", &[("piles", 0), ("pile", 1), ("uniform", 2), ("random", 3)])?;
        let most = params.number("grains", 0, 0..=MOST_GRAINS)?;
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
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "start=piles|pile|uniform|random: many piles, one pile, as many grains everywhere, up to so many",
            "grains=0: how many; 0 for a number that suits the size",
            "steps=16: steps an iteration",
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
            _ => "sandpile_ocl".into(),
        };
        Ok((setup.grid.options(&plain, "sandpile"), kernel))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let setup = Sandpile::setup(params)?;
        let is_async = variant == "ocl_async";
        if is_async && Sandpile::topplings(&setup) > MOST_TOPPLINGS {
            return Err(Error::Params(
                "the reference would have to let this board topple for minutes: choose a smaller -s, fewer grains, or \
                 -c start=pile"
                    .into(),
            ));
        }
        let Setup { grid, start, board, steps } = setup;
        let (options, name) = self.build_options(params)?;
        let (built, kernel) = build(session, "sandpile", SOURCE, &options, &name)?;
        let unstable_kernel = built.kernel("sandpile_unstable")?;
        let host_tile = params.tile_or(HOST_TILE, HOST_TILE)?;
        let on_device = variant.starts_with("ocl");
        let tiles: usize = grid.groups().iter().product();
        // Both boards start alike: what a sleeping tile's `out` holds must be what it was.
        let boards = [session.upload(&board)?, session.upload(&board)?];
        let flags = [session.upload(&vec![1u32; tiles])?, session.zeroed::<u32>(tiles)?];
        let unstable = session.zeroed::<u32>(1)?;
        let host = RefCell::new([board.clone(), if on_device { Vec::new() } else { board.clone() }]);
        let done = std::cell::Cell::new(0usize);
        let now = |step: usize| if is_async { 0 } else { step % 2 };
        let current = || -> Result<Vec<u32>> {
            let b = now(done.get());
            if on_device { session.read(&boards[b]) } else { Ok(host.borrow()[b].clone()) }
        };
        let mut is_stable = false;
        let times = session.measure_and(
            params.iterations,
            |_| {
                for _ in 0..steps {
                    let (from, to) = (now(done.get()), now(done.get() + 1));
                    if !on_device {
                        let [a, b] = &mut *host.borrow_mut();
                        let (a, b) = if from == 0 { (a, b) } else { (b, a) };
                        host_step(variant, &grid, host_tile, a, b);
                    } else if is_async {
                        session.launch(&kernel, args![&boards[0]], &grid.global(), &grid.local())?;
                    } else if variant == "ocl_lazy" {
                        let args = args![&boards[from], &boards[to], &flags[from], &flags[to]];
                        session.launch(&kernel, args, &grid.global(), &grid.local())?;
                    } else {
                        let args = args![&boards[from], &boards[to]];
                        session.launch(&kernel, args, &grid.global(), &grid.local())?;
                    }
                    done.set(done.get() + 1);
                }
                let b = now(done.get());
                is_stable = if on_device {
                    session.write(&unstable, &[0])?;
                    session.launch(&unstable_kernel, args![&boards[b], &unstable], &grid.global(), &grid.local())?;
                    session.read(&unstable)?[0] == 0
                } else {
                    host.borrow()[b].iter().all(|&grains| grains < 4)
                };
                Ok(!is_stable)
            },
            |i| {
                params.observer.progress(i as usize + 1, params.iterations as usize)?;
                params.observer.frame(|| Ok(drawn(&current()?, grid.w, grid.h)))
            },
        )?;

        let got = current()?;
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
            let mut left = done.get();
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
            build: built.time,
            times,
            work: Some(Work::new((cells * steps as usize) as f64, "cell").moving(cells * steps as usize * 8)),
            verdict,
            answer,
            picture: Some(drawn(&got, grid.w, grid.h)),
            chart: None,
            notes: vec![format!("{} steps; {}stable", done.get(), if is_stable { "" } else { "not yet " })],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_the_stack_end_alike_and_cells_collect_what_others_distribute() {
        let (w, h) = (13, 9);
        let mut random = Random::new(5);
        let start: Vec<u32> = (0..w * h).map(|_| random.below(40) as u32).collect();
        let next = step(&start, w);
        for (i, &grains) in next.iter().enumerate() {
            assert_eq!(grains, collected(&start, w, h, i % w, i / w));
        }
        let mut board = start.clone();
        while board.iter().any(|&g| g >= 4) {
            board = step(&board, w);
        }
        assert_eq!(board, stable(start, w));
        assert_eq!(stable(vec![7], 1), [3]);
        // Sixteen grains in the middle of an open board.
        let mut pile = vec![0; 49];
        pile[24] = 16;
        let end = stable(pile, 7);
        assert_eq!(end.iter().sum::<u32>(), 16, "nothing reached the edge");
    }
}
