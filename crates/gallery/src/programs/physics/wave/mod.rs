//! `wave`: water under rain over nine running films, after a demonstration of WWDC 2012 ("OpenCL: What's new and
//! tuning").
//!
//! A scene comes in; out come frames. Each frame is a few steps of the wave equation in two dimensions (leapfrog, five
//! points) with walls, edges that absorb, shoals, drops and breaking waves; then the films, a filter for each; then the
//! surface, which bends what lies below it. The kernels are full of control flow: what a compiler makes of branches
//! decides how fast they are.

mod films;
mod reference;
mod scene;

use crate::args;
use crate::cl::{Buffer, Built, Kernel, Session};
use crate::common::grid::Grid;
use crate::error::{Error, Result};
use crate::params::Params;
use crate::picture::Picture;
use crate::program::{Answer, Outcome, Program, Variant, Verdict, Work, close};
use reference::Water;
use scene::Scene;

pub struct Wave;

const SOURCE: &str = include_str!("../../../../kernels/wave.cl");
/// The reference keeps several `f64` a pixel.
const MAX_PIXELS: usize = 1 << 24;
/// Higher than any water: waves break long before.
const BOUND: f64 = 4.0;

struct Setup {
    grid: Grid,
    scene: Scene,
    rain: u32,
    steps: u32,
}

impl Setup {
    fn new(params: &Params) -> Result<Setup> {
        params.only(&["scene", "rain", "steps"])?;
        let (w, h) = params.size_or(640, 480)?;
        if w * h > MAX_PIXELS {
            return Err(Error::Params(format!("{w}x{h}: choose at most {MAX_PIXELS} pixels, with -s")));
        }
        let scene = params.choice("scene", &["pond", "harbour", "slits"])?;
        let rain = params.number("rain", if scene == "pond" { 3 } else { 1 }, 0..=64)?;
        let steps = params.number("steps", 4, 1..=64)?;
        Ok(Setup { grid: Grid::new(params, (w, h), (64, 4))?, scene: Scene::new(scene, w, h), rain, steps })
    }

    fn options(&self) -> String {
        let Grid { w, h, tw, th } = self.grid;
        let [absorb, drive] = [self.scene.absorb, self.scene.drive].map(u32::from);
        format!(
            "-DWIDTH={w} -DHEIGHT={h} -DTILE_W={tw} -DTILE_H={th} -DRAIN={} -DABSORB={absorb} -DDRIVE={drive} -DKEEP={:?}f",
            self.rain, self.scene.keep
        )
    }
}

/// The time of the films in a frame, and the angle by which hues turn.
fn clock(frame: u32) -> [f32; 2] {
    [frame as f32 * 0.05, frame as f32 * 0.04]
}

struct Device<'s> {
    session: &'s Session,
    setup: &'s Setup,
    step: Kernel,
    films: Kernel,
    filter: Kernel,
    render: Kernel,
    heights: [Buffer<f32>; 2],
    foam: Buffer<f32>,
    kind: Buffer<u8>,
    speed: Buffer<f32>,
    raw: Buffer<f32>,
    mosaic: Buffer<f32>,
    out: Buffer<u32>,
}

impl<'s> Device<'s> {
    fn new(session: &'s Session, setup: &'s Setup, built: &Built, step: &str) -> Result<Device<'s>> {
        let n = setup.grid.w * setup.grid.h;
        Ok(Device {
            session,
            setup,
            step: built.kernel(step)?,
            films: built.kernel("wave_films")?,
            filter: built.kernel("wave_filter")?,
            render: built.kernel("wave_render")?,
            heights: [session.zeroed(n)?, session.zeroed(n)?],
            foam: session.zeroed(n)?,
            kind: session.upload(&setup.scene.kind)?,
            speed: session.upload(&setup.scene.speed)?,
            raw: session.zeroed(4 * n)?,
            mosaic: session.zeroed(4 * n)?,
            out: session.zeroed(n)?,
        })
    }

    /// The heights after so many steps, and those before the last of them.
    fn after(&self, steps: u32) -> [&Buffer<f32>; 2] {
        let newest = steps as usize % 2;
        [&self.heights[newest], &self.heights[1 - newest]]
    }

    fn frame(&self, frame: u32) -> Result<()> {
        let (s, grid) = (self.session, &self.setup.grid);
        let (global, local) = (grid.global(), grid.local());
        for step in frame * self.setup.steps..(frame + 1) * self.setup.steps {
            let [now, old] = self.after(step);
            let drive = self.setup.scene.edge(step);
            let args = args![now, old, &self.foam, &self.kind, &self.speed, step, drive];
            s.launch(&self.step, args, &global, &local)?;
        }
        let [time, angle] = clock(frame);
        s.launch(&self.films, args![&self.raw, time], &global, &local)?;
        s.launch(&self.filter, args![&self.raw, &self.mosaic, angle], &global, &local)?;
        let [now, _] = self.after((frame + 1) * self.setup.steps);
        let args = args![now, &self.foam, &self.kind, &self.speed, &self.mosaic, &self.out];
        s.launch(&self.render, args, &global, &local)
    }

    fn picture(&self) -> Result<Picture> {
        Ok(Picture { width: self.setup.grid.w, height: self.setup.grid.h, pixels: self.session.read(&self.out)? })
    }
}

/// By how much heights may differ after so many steps. A step rounds about eight times, of numbers up to the largest
/// height; those of different steps and cells do not go the same way, so that their sum grows as the root. The trace of
/// one of them spreads as a ring, whose height falls with the time: all of it counts as four at most. Only the mean of
/// all cells does not spread. It goes on until damping has swallowed it, and is that of many roundings.
fn drift(steps: u32, highest: f64, scene: &Scene) -> f64 {
    let steps = f64::from(steps);
    let lasting = 1.0 / (1.0 - f64::from(scene.keep));
    let traces = 4.0 + steps.min(lasting) / ((scene.w * scene.h) as f64).sqrt();
    8.0 * f64::from(f32::EPSILON) / 2.0 * highest.max(0.1) * traces * steps.sqrt()
}

impl Wave {
    /// All that the device has at the end of a run of so many frames.
    fn check(device: &Device<'_>, water: &Water, frames: u32) -> Result<(Verdict, f64)> {
        let setup = device.setup;
        let steps = frames * setup.steps;
        let [now, old] = device.after(steps).map(|b| device.session.read(b));
        let (now, old, foam) = (now?, old?, device.session.read(&device.foam)?);
        let energy = reference::energy(&now, &old, &setup.scene);
        let limit = drift(steps, water.highest, &setup.scene);
        let mut passed = Vec::new();
        let mut failed = |verdict: Verdict| match verdict {
            Verdict::Passed(text) => {
                passed.push(text);
                None
            }
            failed => Some(failed),
        };
        let heights = failed(close(&now, &water.now, |_| limit, "heights"));
        // Foam has twice the error of the height that breaks, and keeps it: 1 / (1 - 0.97) steps.
        let foam_wrong = heights.or_else(|| failed(close(&foam, &water.foam, |_| 2.0 * limit + 1e-5, "cells of foam")));
        if let Some(wrong) = foam_wrong {
            return Ok((wrong, energy));
        }
        if water.highest > BOUND {
            return Ok((Verdict::Failed(format!("a height of {}: the scheme is not stable", water.highest)), energy));
        }
        // The mosaic: sines of arguments up to a hundred or so, each off by some roundings, and slopes of up to fifty.
        let [time, angle] = clock(frames - 1).map(f64::from);
        let want = films::mosaic(setup.grid.w, setup.grid.h, time, angle);
        let slack = 1e-4 + time * 4e-6;
        let got: Vec<f32> = device.session.read(&device.mosaic)?.chunks(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
        let flat: Vec<f64> = want.iter().flatten().copied().collect();
        if let Some(wrong) = failed(close(&got, &flat, |_| slack, "colours of the films")) {
            return Ok((wrong, energy));
        }
        // The frame, from the device's own heights: refraction would show their roundings many times larger. A byte
        // rounds by a half, the mosaic's slack is added, and the rounding of a place between two pixels.
        let want = reference::render(&setup.scene, &now, &foam, &want);
        let got = device.session.read(&device.out)?.into_iter().flat_map(|p| {
            let [r, g, b, _] = p.to_le_bytes().map(f32::from);
            [r, g, b]
        });
        let got: Vec<f32> = got.collect();
        let flat: Vec<f64> = want.iter().flatten().copied().collect();
        let wrong = failed(close(&got, &flat, |_| 0.55 + 255.0 * slack + 0.1, "colours of the frame"));
        Ok((wrong.unwrap_or_else(|| Verdict::Passed(passed.join("; "))), energy))
    }
}

impl Program for Wave {
    fn name(&self) -> &'static str {
        "wave"
    }

    fn about(&self) -> &'static str {
        "water under rain over nine running films"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "ocl", about: "a branch for each event, heights from global memory" },
            Variant { name: "local", about: "the same with the tile and its border in local memory" },
            Variant { name: "branchless", about: "selections in place of branches" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "scene=pond|harbour|slits: walls, depths and edges",
            "rain=3: how many drops a step may have, 0 to 64, one in sixteen of which falls; 1 for other scenes than pond",
            "steps=4: steps a frame, 1 to 64",
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        Ok((Setup::new(params)?.options(), format!("wave_step_{}", self.variant(params)?)))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let (options, step) = self.build_options(params)?;
        let setup = Setup::new(params)?;
        let Grid { w, h, .. } = setup.grid;
        if params.iterations.checked_mul(setup.steps).is_none() {
            return Err(Error::Params(format!("-i {}: choose fewer iterations or steps", params.iterations)));
        }
        session.fits::<f32>(4 * w * h)?;
        let built = session.build("wave", SOURCE, &options)?;
        let device = Device::new(session, &setup, &built, &step)?;
        let times = session.measure_and(
            params.iterations,
            |frame| device.frame(frame).map(|()| true),
            |frame| {
                params.observer.frame(|| device.picture())?;
                params.observer.progress(frame as usize + 1, params.iterations as usize)
            },
        )?;
        let mut water = Water::still(w * h);
        for step in 0..params.iterations * setup.steps {
            water.step(&setup.scene, step, setup.rain, setup.scene.edge(step));
        }
        let (verdict, energy) = Wave::check(&device, &water, params.iterations)?;
        let [now, _] = device.after(params.iterations * setup.steps);
        let heights = session.read(now)?;
        let limit = 2.0 * drift(params.iterations * setup.steps, water.highest, &setup.scene);
        let rate = 1.0 / times.median().as_secs_f64().max(1e-9);
        // What a user of Cloom switches its vectoriser off with; others do not read it.
        let lanes = match std::env::var("CLOOM_LANES") {
            _ if session.found.platform != "Cloom" => String::new(),
            Ok(lanes) if lanes == "1" => ", with Cloom's vectoriser off".to_owned(),
            Ok(lanes) => format!(", with CLOOM_LANES={lanes}"),
            Err(_) => String::new(),
        };
        // A step moves six numbers and a byte a cell; films and filter write four floats and read as many, a frame four
        // floats, heights, foam, speed, kind and the pixel.
        let bytes = w * h * (setup.steps as usize * 25 + 16 + 32 + 33);
        Ok(Outcome {
            variant,
            size: format!("{}, {} steps a frame", setup.grid.size_text(), setup.steps),
            build: built.time,
            times,
            work: Some(Work::new((w * h) as f64, "pixel").moving(bytes)),
            verdict,
            answer: Answer::close(heights, |_| limit),
            picture: Some(device.picture()?),
            chart: None,
            notes: vec![
                format!("{rate:.1} frames a second{lanes}"),
                format!("energy {energy:.3} at the end, the highest wave {:.3}", water.highest),
            ],
        })
    }
}
