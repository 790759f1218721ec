//! `flow`: the motion of every pixel between two frames, by the method of Lucas and Kanade (1981) on a pyramid of both.
//!
//! In come two frames, made with a known motion or read from files; out comes a displacement a pixel. At each level,
//! from coarse to fine, a few steps improve the flow: every pixel compares the first frame with the second one where
//! its own flow leads and says what flow along its gradient would explain the difference; a pixel's new flow is the
//! one that its window agrees on best (Le Besnerais and Champagnat, 2005). Each pixel is sampled once a step, not once
//! for each window that contains it, and sums over windows are separable: that makes it fast. The tensor is that of
//! the first frame, the same in all steps of a level.
//!
//! Where a window has no structure, or none in one direction, its tensor is singular. A constant on its diagonal
//! (Tikhonov's) lets such a pixel keep the flow of the coarser level in that direction. A threshold on the smaller
//! eigenvalue would do the same with a jump: then rounding decides, and results cannot be compared tightly.

mod device;
mod paint;
mod reference;
mod scene;

use crate::cl::Session;
use crate::common::grid::Grid;
use crate::error::{Error, Result};
use crate::inputs;
use crate::params::Params;
use crate::picture::Picture;
use crate::program::{Answer, Outcome, Program, Variant, Verdict, Work, close};
use device::Device;
use reference::Method;
use scene::{Frames, MOTIONS, Path};
use std::cell::RefCell;
use std::path::Path as File;

pub struct Flow;

const SOURCE: &str = include_str!("../../../kernels/flow.cl");
const IMAGE_SOURCE: &str =
    concat!(include_str!("../../../kernels/flow.cl"), include_str!("../../../kernels/flow_image.cl"));

/// Pixels of a frame, so that indices are ints and the host holds its pyramid.
const MAX_PIXELS: usize = 1 << 24;

/// The method unless knobs say otherwise: steps of a level, levels, and the window's side.
const USUAL_STEPS: usize = 3;
const USUAL_LEVELS: usize = 5;
const USUAL_WINDOW: usize = 9;
/// Gradients are weighed down from here on, in grey levels a pixel.
const EDGE: f64 = 4.0;
/// The difference of the frames, in grey levels, that halves a pixel's weight.
const TRUST: f64 = 10.0;
/// The diagonal that is added to the tensor, for each pixel of the window. The largest eigenvalue of a pixel's tensor
/// is below `EDGE` squared: the system's condition is at most 320.
const DAMPING: f64 = 0.05;

/// What the picture shows.
const SHOW: &[&str] = &["flow", "first", "second", "error"];

struct Setup {
    w: usize,
    h: usize,
    grid: Grid,
    method: Method,
    // It has fewer levels than usual.
    coarse_missing: bool,
    frames: Frames,
    // What the frames are made of, and how they move, where that is known.
    made: Option<(Picture, scene::Motion)>,
}

impl Setup {
    fn of(params: &Params) -> Result<Setup> {
        params.only(&["motion", "levels", "steps", "window", "second", "show"])?;
        params.choice("show", SHOW)?;
        let second = params.text("second");
        // A named picture keeps its own size; the shipped one is scaled to a usual one.
        let default_size = if params.input.is_none() { Some((640, 480)) } else { None };
        let sized = Params { size: params.size.or(default_size), ..params.clone() };
        // Before any picture is loaded or made, which takes time and memory.
        if let Some((w, h)) = sized.size {
            check_size(w, h)?;
        }
        let window = window(params)?;
        let (levels, steps) = (
            params.number("levels", USUAL_LEVELS as u32, 1..=12)? as usize,
            params.number("steps", USUAL_STEPS as u32, 1..=100)?,
        );
        let (name, motion) = params.choice_of("motion", MOTIONS)?;
        let (frames, made) = match second {
            Some(second) if params.text("motion").is_some() => {
                return Err(Error::Params(format!("-c motion={name},second={second}: give one of them")));
            }
            Some(_) if params.text("show") == Some("error") => {
                return Err(Error::Params("-c show=error: nobody knows the true flow between two files".into()));
            }
            Some(second) => (pair(params, second)?, None),
            None => {
                let picture = inputs::picture(&Params { size: None, ..params.clone() })?;
                let (w, h) = sized.size_or(picture.width, picture.height)?;
                check_size(w, h)?;
                let path = Path::new(motion, w, h, 1.0);
                let frames = Frames { w, h, first: path.first(&picture), second: path.second(&picture) };
                (frames, Some((picture, motion)))
            }
        };
        let (w, h) = (frames.w, frames.h);
        // The smaller side of a level is 8 pixels at least: less has no structure.
        let useful = |levels: usize| (1..levels).take_while(|l| w.min(h) >> l >= 8).count() + 1;
        let method = Method {
            radius: window / 2,
            levels: useful(levels),
            steps: steps as usize,
            damping: DAMPING * (window * window) as f64,
            edge: EDGE,
            trust: TRUST,
            nudge: 0.0,
        };
        let coarse_missing = method.levels < useful(USUAL_LEVELS);
        Ok(Setup { w, h, grid: Grid::new(params, (w, h), (64, 4))?, method, coarse_missing, frames, made })
    }

    /// The true flow, `u` of all pixels and then `v`.
    fn truth(&self, part: f64) -> Option<Vec<f64>> {
        let (_, motion) = self.made.as_ref()?;
        let path = Path::new(*motion, self.w, self.h, part);
        let flow: Vec<[f64; 2]> = (0..self.w * self.h).map(|i| path.flow(i % self.w, i / self.w)).collect();
        Some((0..2).flat_map(|c| flow.iter().map(move |f| f[c])).collect())
    }
}

/// The window's side.
fn window(params: &Params) -> Result<usize> {
    match params.number("window", USUAL_WINDOW as u32, 5..=63)? {
        window if window % 2 == 0 => {
            Err(Error::Params(format!("-c window={window}: give an odd number, so that it has a middle")))
        }
        window => Ok(window as usize),
    }
}

fn check_size(w: usize, h: usize) -> Result<()> {
    if w.checked_mul(h).is_none_or(|n| n > MAX_PIXELS) || w > 1 << 20 || h > 1 << 20 {
        return Err(Error::Params(format!(
            "frames of {w}x{h}: take at most {MAX_PIXELS} pixels, and sides up to {}",
            1 << 20
        )));
    }
    Ok(())
}

/// Two files.
fn pair(params: &Params, second: &str) -> Result<Frames> {
    let Some(first) = &params.input else {
        return Err(Error::Params(format!("-c second={second}: name the first frame with -l")));
    };
    params.observer.reads_input();
    let (a, b) = (Picture::load(first)?, Picture::load(File::new(second))?);
    if (a.width, a.height) != (b.width, b.height) {
        return Err(Error::Params(format!(
            "{} is {}x{} and {second} is {}x{}: give two frames of the same size",
            first.display(),
            a.width,
            a.height,
            b.width,
            b.height
        )));
    }
    let (w, h) = params.size_or(a.width, a.height)?;
    check_size(w, h)?;
    let bytes = |p: Picture| if (w, h) == (p.width, p.height) { p.luma() } else { p.mirrored_to(w, h).luma() };
    Ok(Frames { w, h, first: bytes(a), second: bytes(b) })
}

fn window_of(variant: &str) -> &'static str {
    match variant {
        "buffer" => "direct",
        "separable" => "separable",
        _ => "running",
    }
}

/// How far each vector is from the true one.
fn errors(flow: &[f32], truth: &[f64]) -> Vec<f64> {
    let n = flow.len() / 2;
    (0..n).map(|i| (f64::from(flow[i]) - truth[i]).hypot(f64::from(flow[n + i]) - truth[n + i])).collect()
}

fn mean(of: impl Iterator<Item = f64>) -> (f64, usize) {
    let (sum, n) = of.fold((0.0, 0), |(sum, n), v| (sum + v, n + 1));
    (sum / n.max(1) as f64, n)
}

impl Setup {
    /// By how many pixels the device may differ from the reference.
    ///
    /// Where the second frame is read is a float: up to side / 2^24 beside the exact place. A step answers a difference
    /// of places with one of the flow, larger by the root of the condition, 18, at most; a level doubles what the
    /// coarser one had, of half the side. The rounding of sums, a few 2^-24 of the flow times the condition, is of
    /// that order.
    fn tolerance(&self) -> f64 {
        let side = self.w.max(self.h).max(64) as f64;
        side * 2f64.powi(-24) * 18.0 * 2.0
    }

    /// Compares with the reference. Steps converge where the frames are alike, and forget rounding. At hidden places,
    /// where levels are missing, and under small windows there may be nothing to converge to, and steps make rounding
    /// larger. With the usual method, or one that is steadier, no component may be off for that. With others, one of a
    /// thousand may, and twice as many as in the reference when its places are moved by a float's rounding.
    fn verdict(&self, got: &[f32], want: &[f64], tolerance: f64) -> Verdict {
        let what = "components of the flow";
        let off = |got: f64, want: f64| (got - want).is_nan() || (got - want).abs() > tolerance;
        let exceptions = got.iter().zip(want).filter(|(g, w)| off(f64::from(**g), **w)).count();
        // Nobody knows whether two files are alike.
        let steady = self.made.is_some()
            && self.method.steps <= USUAL_STEPS
            && self.method.radius >= USUAL_WINDOW / 2
            && !self.coarse_missing;
        let mut allowed = 0;
        if !steady && exceptions > 0 && got.iter().all(|v| v.is_finite()) {
            // The reference itself, moved by as much as a float rounds a place: what jumps there is ill-conditioned,
            // not wrong.
            let nudge = self.w.max(self.h) as f64 * 2f64.powi(-24);
            let nudged = reference::flow(&self.frames, &Method { nudge, ..self.method });
            allowed = want.len() / 1000 + 2 * nudged.iter().zip(want).filter(|(n, w)| off(**n, **w)).count();
        }
        if exceptions == 0 || exceptions > allowed {
            return match close(got, want, |_| tolerance, what) {
                Verdict::Failed(why) => Verdict::Failed(format!("{exceptions} of {} {what} differ; {why}", got.len())),
                passed => passed,
            };
        }
        let all = got.len();
        Verdict::Passed(format!(
            "all but {exceptions} of {all} {what} within {tolerance:.1e} pixels; {allowed} may be off"
        ))
    }

    /// The mean distance from the true flow that this motion of the shipped picture keeps: half as much again as it has
    /// at ordinary sizes. It is not asked of frames without an inside, nor of other pictures and methods.
    fn bound(&self, params: &Params, inside: usize) -> Option<f64> {
        let usual = ["window", "levels", "steps"].iter().all(|key| params.text(key).is_none());
        if inside < 4000 || !usual || params.input.is_some() {
            return None;
        }
        Some(match self.made.as_ref()?.1 {
            scene::Motion::Translate | scene::Motion::Rotate | scene::Motion::Zoom => 0.12,
            scene::Motion::Wave => 0.3,
            scene::Motion::Real => 0.7,
        })
    }

    /// The errors of the pixels whose window and target lie well inside.
    fn inside(&self, errors: &[f64], truth: &[f64]) -> (f64, usize) {
        let edge = 24.0;
        let within = |x: f64, y: f64| {
            x >= edge && y >= edge && x <= self.w as f64 - 1.0 - edge && y <= self.h as f64 - 1.0 - edge
        };
        let n = self.w * self.h;
        mean((0..n).filter_map(|i| {
            let (x, y) = ((i % self.w) as f64, (i / self.w) as f64);
            (within(x, y) && within(x + truth[i], y + truth[n + i])).then_some(errors[i])
        }))
    }

    /// Bytes that the passes read and write.
    fn bytes(&self, variant: &str) -> usize {
        let pixels: usize = (0..self.method.levels).map(|l| self.w.div_ceil(1 << l) * self.h.div_ceil(1 << l)).sum();
        // The claims read six floats and write five, the solution reads seven and writes two.
        let step = if variant == "buffer" { 20 } else { 30 };
        // Pyramid, gradient, what a level starts from, medians.
        4 * pixels * (step * self.method.steps + 18)
    }
}

impl Program for Flow {
    fn name(&self) -> &'static str {
        "flow"
    }

    fn about(&self) -> &'static str {
        "the motion of every pixel between two frames"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "running", about: "sums over windows: down columns by running sums, then along rows" },
            Variant { name: "separable", about: "the same along rows, then down columns, tap by tap" },
            Variant { name: "buffer", about: "every pixel sums its whole window" },
            Variant { name: "image", about: "as running, with frames as images that a sampler reads" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "motion=translate|rotate|zoom|wave|real: how the second frame is made; real is a thing before a background",
            "levels=5: of the pyramid, 1 to 12; no more than leave a side of 8 pixels",
            "steps=3: of each level, 1 to 100",
            "window=9: its side, odd, 5 to 63",
            "second=FILE: the second frame, a PNG file; the first one is that of -l",
            "show=flow|first|second|error: the picture: the flow, a frame, or the distance from the true flow",
        ]
    }

    fn source(&self, params: &Params) -> &'static str {
        if params.variant == "image" { IMAGE_SOURCE } else { SOURCE }
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let window = window(params)?;
        let variant = self.variant(params)?;
        let options = format!(
            "-DR={} -DWINDOW_{} -DEDGE={:?}f -DTRUST={:?}f -DDAMPING={:?}f",
            window / 2,
            window_of(variant),
            EDGE * EDGE,
            TRUST * TRUST,
            DAMPING * (window * window) as f64
        );
        Ok((options, "flow_solve".into()))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let setup = Setup::of(params)?;
        let (options, _) = self.build_options(params)?;
        let built = session.build("flow", self.source(params), &options)?;
        let device = RefCell::new(Device::new(session, &setup, variant, &built)?);
        let truth = setup.truth(1.0);
        // One scale for all frames of a film, where the true flow is known; else colours would change their meaning.
        let longest = |flow: &[f32]| match &truth {
            Some(t) => paint::scale(&t.iter().map(|&v| v as f32).collect::<Vec<f32>>()),
            None => paint::scale(flow),
        };
        // The frames of a film: the motion goes farther with each, up to all of it in the last.
        let film = if params.observer.wants_frames() { setup.made.as_ref() } else { None };
        let show = |i: u32| match film {
            Some((picture, motion)) => {
                let part = f64::from(i + 1) / f64::from(params.iterations);
                device.borrow_mut().show(&Path::new(*motion, setup.w, setup.h, part).second(picture))
            }
            None => Ok(()),
        };
        show(0)?;
        let body = |_| device.borrow().run().map(|()| true);
        let times = session.measure_and(params.iterations, body, |i| {
            params.observer.frame(|| {
                let flow = device.borrow().flow()?;
                Ok(paint::flow(&setup.frames, &flow, longest(&flow)))
            })?;
            params.observer.progress(i as usize + 1, params.iterations as usize)?;
            if i + 1 < params.iterations { show(i + 1) } else { Ok(()) }
        })?;
        let got = device.borrow().flow()?;

        let want = reference::flow(&setup.frames, &setup.method);
        let tolerance = setup.tolerance();
        let mut verdict = setup.verdict(&got, &want, tolerance);
        let (w, h) = (setup.w, setup.h);
        let n = w * h;
        let mut picture = match params.choice("show", SHOW)? {
            "first" => paint::grey(w, h, &setup.frames.first),
            "second" => paint::grey(w, h, &setup.frames.second),
            _ => paint::flow(&setup.frames, &got, longest(&got)),
        };
        let (length, _) = mean((0..n).map(|i| f64::from(got[i].hypot(got[n + i]))));
        let mut notes = vec![format!(
            "{} levels, {} steps each, window {}; mean length {length:.3} pixels",
            setup.method.levels,
            setup.method.steps,
            2 * setup.method.radius + 1
        )];
        if let Some(truth) = &truth {
            let errors = errors(&got, truth);
            let ((all, _), (inner, inside)) = (mean(errors.iter().copied()), setup.inside(&errors, truth));
            notes.push(format!(
                "end-point error against the true flow: {all:.4} pixels in the mean, {inner:.4} of {inside} inside"
            ));
            if let (Verdict::Passed(_), Some(bound)) = (&verdict, setup.bound(params, inside))
                && inner > bound
            {
                verdict =
                    Verdict::Failed(format!("the mean end-point error inside is {inner:.4} pixels, over {bound}"));
            }
            if params.text("show") == Some("error") {
                picture = paint::error(w, h, &errors);
            }
        }
        Ok(Outcome {
            variant,
            size: setup.grid.size_text(),
            build: built.time,
            times,
            work: Some(Work::new(n as f64, "pixel").moving(setup.bytes(variant))),
            verdict,
            answer: Answer::close(got, |_| 2.0 * tolerance),
            picture: Some(picture),
            chart: None,
            notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(config: &str, input: Option<&str>) -> Params {
        let input = input.map(Into::into);
        Params { config: config.into(), input, size: Some((40, 30)), ..Params::default() }
    }

    #[test]
    fn what_it_cannot_do_is_refused_with_a_reason() {
        let why = |params: Params| Setup::of(&params).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(why(with("window=8", None)).contains("odd"));
        assert!(why(with("show=all", None)).contains("flow, first"));
        assert!(why(with("second=b.png", None)).contains("-l"));
        assert!(why(with("second=b.png,motion=wave", Some("a.png"))).contains("one of them"));
        assert!(why(Params { size: Some((5000, 5000)), ..Params::default() }).contains("at most"));
        assert!(why(Params { size: Some((0, 5)), ..Params::default() }).contains("from 1"));
    }

    #[test]
    fn files_are_taken_as_they_are_and_told_of_when_broken() {
        let folder = std::env::temp_dir().join(format!("cloom-flow-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
        let save = |name: &str, w: usize, h: usize| {
            paint::grey(w, h, &vec![77; w * h]).save(File::new(&path(name))).unwrap();
        };
        save("a.png", 12, 9);
        save("b.png", 12, 9);
        save("c.png", 12, 8);
        let whole = std::fs::read(path("b.png")).unwrap();
        std::fs::write(path("half.png"), &whole[..whole.len() / 2]).unwrap();
        let of = |first: &str, second: &str| {
            let params = with(&format!("second={}", path(second)), Some(&path(first)));
            Setup::of(&Params { size: None, ..params })
        };
        let setup = of("a.png", "b.png").unwrap();
        assert_eq!((setup.w, setup.h), (12, 9));
        assert_eq!(setup.method.levels, 1);
        let why = |first: &str, second: &str| of(first, second).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(why("a.png", "c.png").contains("same size"), "{}", why("a.png", "c.png"));
        assert!(why("a.png", "no.png").contains("no.png"));
        assert!(why("half.png", "a.png").contains("half.png"));
        assert!(why("a.png", "half.png").contains("half.png"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
