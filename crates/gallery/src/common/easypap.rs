//! The runner of the course's smallest kernels, those of EasyPAP (Lasserre, Namyst, Wacrenier: "EasyPAP: a Framework
//! for Learning Parallel Programming", 2020): every iteration makes the next picture of the last one, pixel by pixel.
//!
//! In comes a [`PixelKernel`]: an OpenCL kernel `NAME_ocl(in, out, rows, …)` and the same as a Rust function of a
//! pixel. Out comes a program with the course's variants: the device, one thread, threads by rows, threads by tiles,
//! and the device and the threads together. What a kernel's pixels read says which rows the two have to exchange then.

use crate::cl::queue::Queue;
use crate::cl::{Arg, Buffer, Session};
use crate::common::grid::{Grid, build};
use crate::common::threads;
use crate::error::Result;
use crate::params::Params;
use crate::picture::{Picture, rgb};
use crate::program::{Answer, Outcome, Program, Variant, Verdict, Work, same_picture};
use std::cell::RefCell;
use std::ops::Range;

/// What a pixel is computed from.
pub enum Reads {
    /// Nothing, or the pixel at its own place.
    Own,
    /// The pixel below it; the last row's is in the first row.
    Below,
    /// A pixel anywhere.
    Any,
}

/// One of the course's kernels.
pub trait PixelKernel: Sync {
    const NAME: &'static str;
    const ABOUT: &'static str;
    const SOURCE: &'static str;
    const READS: Reads;
    /// Width and height change places with every iteration.
    const TURNS: bool = false;
    /// Bytes of global memory a pixel, read and written.
    const BYTES: usize = 8;

    /// The first picture.
    fn start(params: &Params) -> Result<Picture>;
    /// A pixel of the picture that iteration `i` makes of `from`.
    fn pixel(from: &Picture, i: u32, x: usize, y: usize) -> u32;
    /// What the kernel takes besides `in`, `out` and `rows`.
    fn further_args(_from: (usize, usize), _i: u32) -> Vec<Arg> {
        Vec::new()
    }
    /// The picture after `n` iterations, by a way that shares nothing with `pixel`.
    fn expected(start: &Picture, n: u32) -> Picture;
    /// How a result compares, and the form in which devices are compared.
    fn check(got: &Picture, want: &Picture) -> (Verdict, Answer) {
        (same_picture(got, want), Answer::Exact(got.pixels.clone()))
    }
}

/// A program of such a kernel.
pub struct Easy<K>(pub K);

/// The tile that a thread takes: its rows are long enough for unit strides, and it fits into a core's cache.
const HOST_TILE: usize = 64;

/// The rows that the device needs of the threads, and they of the device, before the next iteration, where the device
/// computes the rows before `split` of `h`.
fn exchange(reads: &Reads, split: usize, h: usize) -> [Range<usize>; 2] {
    match reads {
        Reads::Own => [0..0, 0..0],
        Reads::Below => [split..(split + 1).min(h), 0..split.min(1)],
        Reads::Any => [split..h, 0..split],
    }
}

fn turned<K: PixelKernel>((w, h): (usize, usize)) -> (usize, usize) {
    if K::TURNS { (h, w) } else { (w, h) }
}

/// A picture in the middle of a square: frames of a film all have the same size.
fn squared(picture: Picture) -> Picture {
    let side = picture.width.max(picture.height);
    let (left, top) = ((side - picture.width) / 2, (side - picture.height) / 2);
    let mut square = Picture::new(side, side, rgb(24, 24, 24));
    for (y, row) in picture.pixels.chunks(picture.width).enumerate() {
        square.pixels[(top + y) * side + left..][..picture.width].copy_from_slice(row);
    }
    square
}

/// Two pictures on the host and two on the device, of which each side holds its own rows.
struct Boards<'s> {
    queue: Queue<'s>,
    host: [Picture; 2],
    device: [Buffer<u32>; 2],
}

impl Boards<'_> {
    /// The rows of board `b` that the device computed go to the host.
    fn collect(&mut self, b: usize, rows: Range<usize>) -> Result<()> {
        if !rows.is_empty() {
            let w = self.host[b].width;
            let part = vec![0; rows.len() * w];
            let part = self.queue.read(&self.device[b], rows.start * w, part, &[])?.wait()?;
            self.host[b].pixels[rows.start * w..rows.end * w].copy_from_slice(&part);
        }
        Ok(())
    }

    /// The rows that the host computed go to the device.
    fn hand_over(&self, b: usize, rows: Range<usize>) -> Result<()> {
        if !rows.is_empty() {
            let w = self.host[b].width;
            let part = self.host[b].pixels[rows.start * w..rows.end * w].to_vec();
            self.queue.write(&self.device[b], rows.start * w, part, &[])?.wait()?;
        }
        Ok(())
    }
}

/// The threads' part of an iteration: the rows from `first` on.
fn on_host<K: PixelKernel>(
    variant: &str,
    tile: (usize, usize),
    from: &Picture,
    i: u32,
    first: usize,
    to: &mut Picture,
) {
    let w = to.width;
    let rest = &mut to.pixels[first * w..];
    let row = |x: usize, y: usize, row: &mut [u32]| {
        for (dx, pixel) in row.iter_mut().enumerate() {
            *pixel = K::pixel(from, i, x + dx, y);
        }
    };
    match variant {
        "seq" => rest.chunks_mut(w).enumerate().for_each(|(y, part)| row(0, first + y, part)),
        "tiled" => threads::tiles(rest, w, tile, threads::count(), |x, y, rows| {
            rows.iter_mut().enumerate().for_each(|(dy, part)| row(x, first + y + dy, part));
        }),
        _ => threads::rows(rest, w, threads::count(), |y, part| row(0, first + y, part)),
    }
}

impl<K: PixelKernel> Program for Easy<K> {
    fn name(&self) -> &'static str {
        K::NAME
    }

    fn about(&self) -> &'static str {
        K::ABOUT
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "ocl", about: "one work-item a pixel" },
            Variant { name: "seq", about: "one thread of the machine, no OpenCL: what the others are held against" },
            Variant { name: "threads", about: "the machine's threads, which take rows as they get free" },
            Variant { name: "tiled", about: "the machine's threads, which take tiles as they get free" },
            Variant { name: "hybrid", about: "upper half on the device, lower half on the machine's threads" },
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        K::SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let start = K::start(params)?;
        let grid = Grid::new(params, (start.width, start.height), (16, 16))?;
        Ok((grid.options(params, K::NAME), format!("{}_ocl", K::NAME)))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let start = K::start(params)?;
        let size = (start.width, start.height);
        let grid = Grid::new(params, size, (16, 16))?;
        let host_tile = params.tile_or(HOST_TILE, HOST_TILE)?;
        let (options, name) = self.build_options(params)?;
        let (built, kernel) = build(session, K::NAME, K::SOURCE, &options, &name)?;
        let device = [session.upload(&start.pixels)?, session.zeroed::<u32>(start.pixels.len())?];
        let mut boards = Boards { queue: session.queue()?, host: [start.clone(), start.clone()], device };
        // How many rows of tiles the device takes, of a picture with so many rows.
        let split_of = |h: usize| match variant {
            "ocl" => h,
            "hybrid" => (h.div_ceil(grid.th) / 2 * grid.th).min(h),
            _ => 0,
        };
        let shared = RefCell::new(&mut boards);
        let mut sides = size;
        let times = session.measure_and(
            params.iterations,
            |i| {
                let mut boards = shared.borrow_mut();
                let (from, to) = (i as usize % 2, (i as usize + 1) % 2);
                let (w, h) = turned::<K>(sides);
                let rows = split_of(h);
                let grid = Grid { w, h: rows, ..grid };
                // The number of pixels stays, so that only the sides change.
                boards.host[to].width = w;
                boards.host[to].height = h;
                let Boards { host: [a, b], device, .. } = &mut **boards;
                let (old, new) = if from == 0 { (&*a, b) } else { (&*b, a) };
                std::thread::scope(|scope| -> Result<()> {
                    let mut work = move || on_host::<K>(variant, host_tile, old, i, rows, new);
                    // A thread of their own is only needed beside the device.
                    if rows == 0 {
                        work();
                        return Ok(());
                    }
                    if rows < h {
                        // Before the launch, as waiting for the device blocks this thread.
                        scope.spawn(work);
                    }
                    let mut all = vec![Arg::from(&device[from]), Arg::from(&device[to]), Arg::from(rows as u32)];
                    all.extend(K::further_args(sides, i));
                    session.launch(&kernel, &all, &grid.global(), &grid.local())?;
                    session.finish()
                })?;
                if rows > 0 && rows < h {
                    // After both sides have ended: rows that the next iteration reads from the other side.
                    let [to_device, to_host] = exchange(&K::READS, rows, h);
                    boards.hand_over(to, to_device)?;
                    boards.collect(to, to_host)?;
                }
                sides = (w, h);
                Ok(true)
            },
            |i| {
                params.observer.progress(i as usize + 1, params.iterations as usize)?;
                params.observer.frame(|| {
                    let mut boards = shared.borrow_mut();
                    let b = (i as usize + 1) % 2;
                    let rows = split_of(boards.host[b].height);
                    boards.collect(b, 0..rows)?;
                    let picture = boards.host[b].clone();
                    Ok(if K::TURNS { squared(picture) } else { picture })
                })
            },
        )?;

        let last = times.wall.len() % 2;
        let rows = split_of(boards.host[last].height);
        // All of it at once where the device made all: that looks at the guards behind the buffer's end, too.
        if variant == "ocl" {
            boards.host[last].pixels = session.read(&boards.device[last])?;
        }
        boards.collect(last, 0..if variant == "ocl" { 0 } else { rows })?;
        let [a, b] = boards.host;
        let got = if last == 0 { a } else { b };
        let want = K::expected(&start, times.wall.len() as u32);
        let (mut verdict, answer) = K::check(&got, &want);
        if (got.width, got.height) != (want.width, want.height) {
            verdict = Verdict::Failed(format!("a picture of {}x{}", got.width, got.height));
        }
        let notes = match variant {
            "hybrid" => vec![format!("the device made {rows} of {} rows", got.height)],
            _ => Vec::new(),
        };
        Ok(Outcome {
            variant,
            size: match variant {
                "seq" | "threads" => format!("{}x{}", size.0, size.1),
                "tiled" => format!("{}x{} in tiles of {}x{}", size.0, size.1, host_tile.0, host_tile.1),
                _ => grid.size_text(),
            },
            build: built.time,
            times,
            work: Some(Work::new(got.pixels.len() as f64, "pixel").moving(got.pixels.len() * K::BYTES)),
            verdict,
            answer,
            picture: Some(got),
            chart: None,
            notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_and_threads_exchange_what_the_other_reads() {
        assert_eq!(exchange(&Reads::Own, 8, 20), [0..0, 0..0]);
        assert_eq!(exchange(&Reads::Below, 8, 20), [8..9, 0..1]);
        assert_eq!(exchange(&Reads::Below, 0, 20), [0..1, 0..0]);
        assert_eq!(exchange(&Reads::Any, 8, 20), [8..20, 0..8]);
    }

    #[test]
    fn a_frame_is_square() {
        let p = squared(Picture { width: 1, height: 3, pixels: vec![1, 2, 3] });
        let dark = rgb(24, 24, 24);
        assert_eq!(p.pixels, [dark, 1, dark, dark, 2, dark, dark, 3, dark]);
    }
}
