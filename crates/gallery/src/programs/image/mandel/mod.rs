//! `mandel`: the Mandelbrot set, zooming in a little with each iteration. On the device alone, or on the device and the
//! machine's own threads together, the rows split in a fixed way or as the times of the last iteration suggest.

mod devices;

use crate::args;
use crate::cl::Session;
use crate::common::grid::{Grid, build};
use crate::common::threads;
use crate::error::Result;
use crate::params::Params;
use crate::picture::{Picture, rgb};
use crate::program::{Answer, Outcome, Program, Variant, Work, same_picture};
use crate::splitting::split::{Balance, speed};
use crate::splitting::worker_group;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub struct Mandel;

const SOURCE: &str = include_str!("../../../../kernels/mandel.cl");

/// The part of the plane that the picture shows.
#[derive(Clone, Copy)]
pub(crate) struct View {
    pub(crate) left: f32,
    pub(crate) xstep: f32,
    pub(crate) top: f32,
    pub(crate) ystep: f32,
}

impl View {
    /// The view of an iteration: the whole set first, then closer to a point of its boundary.
    pub(crate) fn of(iteration: u32, w: usize, h: usize) -> View {
        // A float holds 24 bits: below this width, neighbouring pixels would fall on one number.
        let width = (3.2 * 0.95f64.powi(iteration.min(200) as i32)).max(1e-3);
        let t = (3.2 - width) / 3.2;
        let (cx, cy) = (-0.7 + t * (-0.743_643_9 + 0.7), t * 0.131_825_9);
        let step = width / w as f64;
        View {
            left: (cx - width / 2.0) as f32,
            xstep: step as f32,
            top: (cy + step * h as f64 / 2.0) as f32,
            ystep: step as f32,
        }
    }
}

pub(crate) fn colour(n: u32, max: u32) -> u32 {
    if n >= max {
        return rgb(0, 0, 0);
    }
    let wave = |v: u32| if v % 512 < 256 { v % 512 } else { 511 - v % 512 } as u8;
    rgb(wave(n * 5), wave(n * 7), wave(n * 11 + 96))
}

/// How often z = z² + c can be repeated.
pub(crate) fn repeated(view: View, x: usize, y: usize, max: u32) -> u32 {
    let (cr, ci) = (view.left + view.xstep * x as f32, view.top - view.ystep * y as f32);
    let (mut zr, mut zi) = (0.0f32, 0.0f32);
    let mut n = 0;
    while n < max {
        let (rr, ii) = (zr * zr, zi * zi);
        if rr + ii > 4.0 {
            break;
        }
        // In the order of the kernel, which switches contraction off: another rounding would change `n` near the
        // boundary, and pictures are compared bit by bit.
        let ri = zr * zi;
        zr = rr - ii + cr;
        zi = ri + ri + ci;
        n += 1;
    }
    n
}

fn pixel(view: View, x: usize, y: usize, max: u32) -> u32 {
    colour(repeated(view, x, y, max), max)
}

/// The picture of the reference, and how many repetitions that took.
fn reference(view: View, grid: &Grid, max: u32) -> (Picture, u64) {
    let mut want = Picture::new(grid.w, grid.h, 0);
    let repetitions = AtomicU64::new(0);
    threads::rows(&mut want.pixels, grid.w, threads::count(), |y, row| {
        let mut of_row = 0;
        for (x, p) in row.iter_mut().enumerate() {
            let n = repeated(view, x, y, max);
            of_row += u64::from(n);
            *p = colour(n, max);
        }
        repetitions.fetch_add(of_row, Ordering::Relaxed);
    });
    (want, repetitions.into_inner())
}

/// What a picture takes: three products and five sums a repetition.
fn work(grid: &Grid, repetitions: u64) -> Work {
    let pixels = grid.w * grid.h;
    Work::new(pixels as f64, "pixel").moving(pixels * 4).computing(8.0 * repetitions as f64)
}

impl Mandel {
    pub(crate) fn grid(&self, params: &Params) -> Result<(Grid, u32)> {
        params.only(&["max", "view", "devices"])?;
        params.choice("view", &["zoom", "still"])?;
        let max = params.number("max", 512, 1..=1_000_000)?;
        Ok((Grid::new(params, params.size_or(1024, 1024)?, (16, 16))?, max))
    }
}

impl Program for Mandel {
    fn name(&self) -> &'static str {
        "mandel"
    }

    fn about(&self) -> &'static str {
        "the Mandelbrot set, zooming"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "ocl", about: "one work-item a pixel" },
            Variant {
                name: "threads",
                about: "the machine's threads alone, no OpenCL: what the others are held against",
            },
            Variant { name: "hybrid_fixed", about: "upper half on the device, lower half on the machine's threads" },
            Variant { name: "hybrid_adaptive", about: "the same, split by the speeds of the iteration before" },
            Variant { name: "devices_fixed", about: "several devices, each with as many rows" },
            Variant { name: "devices_adaptive", about: "several devices, split by the speeds of the iteration before" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "max=512: iterations a point at most",
            "view=zoom|still: closer with each iteration, or all alike",
            worker_group::KNOB,
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let (grid, max) = self.grid(params)?;
        Ok((format!("{} -DMAX_ITERATIONS={max}", grid.options(params, "mandel")), "mandel_ocl".into()))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let (grid, max) = self.grid(params)?;
        let (options, name) = self.build_options(params)?;
        if variant.starts_with("devices") {
            return devices::run(session, params, variant, (grid, max), &options);
        }
        let (built, kernel) = build(session, "mandel", SOURCE, &options, &name)?;
        let still = params.choice("view", &["zoom", "still"])? == "still";
        let output = session.zeroed::<u32>(grid.w * grid.h)?;
        let host = RefCell::new(vec![0u32; grid.w * grid.h]);

        // The rows of tiles that the device computes; threads take the rest.
        let tile_rows = grid.groups()[1];
        let mut share = match variant {
            "ocl" => tile_rows,
            "threads" => 0,
            _ => tile_rows / 2,
        };
        let (mut shares, mut balance) = (Vec::new(), Balance::default());
        let last = Cell::new((0, View::of(0, grid.w, grid.h)));
        // The whole picture after an iteration: the device's rows above those of the threads.
        let picture = || -> Result<Picture> {
            let rows = last.get().0;
            let mut pixels = host.borrow_mut();
            pixels[..rows * grid.w].copy_from_slice(&session.read(&output)?[..rows * grid.w]);
            Ok(Picture { width: grid.w, height: grid.h, pixels: pixels.clone() })
        };
        let compute = |i: u32| {
            let view = View::of(if still { 0 } else { i }, grid.w, grid.h);
            let rows = (share * grid.th).min(grid.h);
            shares.push(rows);
            let start = Instant::now();
            let mut own = Duration::ZERO;
            let mut device = Duration::ZERO;
            let mut host = host.borrow_mut();
            std::thread::scope(|scope| -> Result<()> {
                let rest = &mut host[rows * grid.w..];
                // Started before the launch, because waiting for the device blocks this thread.
                let worker = scope.spawn(|| {
                    let start = Instant::now();
                    if !rest.is_empty() {
                        threads::rows(rest, grid.w, threads::count(), |y, row| {
                            for (x, p) in row.iter_mut().enumerate() {
                                *p = pixel(view, x, rows + y, max);
                            }
                        });
                    }
                    start.elapsed()
                });
                if rows > 0 {
                    let args = args![&output, view.left, view.xstep, view.top, view.ystep, rows as u32];
                    session.launch(&kernel, args, &[grid.global()[0], share * grid.th], &grid.local())?;
                    session.finish()?;
                    device = start.elapsed();
                }
                own = worker.join().unwrap_or_default();
                Ok(())
            })?;
            last.set((rows, view));
            if variant == "hybrid_adaptive" && rows > 0 && rows < grid.h {
                let speeds = [speed(rows, device), speed(grid.h - rows, own)];
                // Both keep at least one row of tiles to be measured by.
                share = balance.next(&[share, tile_rows - share], &speeds, 1)[0];
            }
            Ok(true)
        };
        let times = session.measure_and(params.iterations, compute, |_| params.observer.frame(picture))?;

        let view = last.get().1;
        let picture = picture()?;
        let (want, repetitions) = reference(view, &grid, max);
        let notes = match variant {
            "hybrid_fixed" | "hybrid_adaptive" => vec![format!("rows on the device, an iteration each: {shares:?}")],
            _ => Vec::new(),
        };
        Ok(Outcome {
            variant,
            size: grid.size_text(),
            build: built.time,
            times,
            work: Some(work(&grid, repetitions)),
            verdict: same_picture(&picture, &want),
            answer: Answer::Exact(picture.pixels.clone()),
            picture: Some(picture),
            chart: None,
            notes,
        })
    }
}
