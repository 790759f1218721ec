//! `cloth`: flags in the wind, a curtain, a cloth that falls on a sphere: masses and links on a grid, relaxed in
//! batches of links that share no node, and without an order; drawn by kernels too. After the cloth of the Bullet
//! library on OpenCL, which Apple showed in 2010.
//!
//! In come the size of a cloth and the knobs, out go the places, a picture, and what the physics say of them.

mod device;
mod draw;
mod model;
#[cfg(feature = "mpi")]
mod ranks;
mod reference;
mod scenery;

use crate::cl::{Built, Session};
use crate::common::threads;
use crate::error::{Error, Result};
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Verdict, Work, close};
use device::Device;
use draw::Drawer;
use model::{Link, Model};
use reference::{Cloth, Facts, Reference, Way};
use std::cell::RefCell;
use std::time::Duration;

pub struct ClothProgram;

const SOURCE: &str =
    concat!(include_str!("../../../../kernels/cloth.cl"), include_str!("../../../../kernels/cloth_draw.cl"));

/// Metres by which places may differ after a frame that relaxes the links thirty times: the root of the mean square of
/// all of a cloth, and the largest. Places are some metres at most, rounded to 2^-24 of that by each of the hundreds of
/// movements of a node; most links pull errors together again, but where a cloth is pressed in its plane it gives way
/// to one side or the other, and there errors grow with every turn.
const TOLERANCE: [f64; 2] = [3e-6, 6e-5];
/// Links that the reference relaxes in a run, the first and last frame aside.
const BUDGET: usize = 60_000_000;

/// More turns have more roundings; and a place wrong by a rounding is a wrong velocity, which moves the node further in
/// each step that is left.
fn tolerance(model: &Model) -> [f64; 2] {
    let steps = f64::from(model.steps);
    let growth = f64::from(model.relax) * steps / 30.0 * (steps / 3.0);
    TOLERANCE.map(|t| t * growth.max(1.0))
}

/// Places, and those of the step before.
type State = [Vec<f32>; 2];

/// What moves the cloths.
trait Moves {
    /// Which one of several processes this is; the first one gets the states and checks them.
    fn rank(&self) -> usize {
        0
    }

    /// Enqueues the frame of that number.
    fn frame(&mut self, number: u32) -> Result<()>;

    /// The state of all cloths; all processes take part, and the first one gets it.
    fn state(&self) -> Result<State>;

    /// Where several processes move the cloths, what this one makes of a state alone.
    fn alone(&mut self, _before: &State, _number: u32) -> Result<Option<State>> {
        Ok(None)
    }

    /// Launches a frame.
    fn launches(&self) -> usize;

    /// What is particular, after frames that took so long in all.
    fn notes(&self, total: Duration) -> Vec<String>;
}

/// What the checks of a run have found.
struct Checks<'a> {
    model: &'a Model,
    way: Way<'a>,
    links: &'a [Link],
    first: State,
    before: State,
    failure: Option<String>,
    checked: u32,
    worst: f64,
    typical: f64,
    least_energy: f64,
    most_energy: f64,
    most: Facts,
}

impl Checks<'_> {
    /// What the checks of all frames say, with that of the picture. `compared` says what else was compared.
    fn verdict(&self, drawn: Verdict, compared: &str) -> Verdict {
        let [typical, most] = tolerance(self.model);
        match (&self.failure, drawn) {
            (Some(why), _) => Verdict::Failed(why.clone()),
            (None, Verdict::Failed(why)) => Verdict::Failed(why),
            (None, Verdict::Passed(drawn)) => Verdict::Passed(format!(
                "{} frames checked, each from the state before it: places within {typical:.1e} m (root of the mean \
                 square) and {most:.1e} m (largest), the errors are {:.3} and {:.3} of it{compared}; pinned nodes \
                 stay, nothing is entered; {drawn}",
                self.checked,
                self.typical / typical,
                self.worst / most
            )),
        }
    }

    /// Compares the state after a frame with what the reference makes of the state before it.
    fn check(&mut self, frame: u32, after: &State) {
        let (m, n) = (self.model, self.model.nodes());
        let reference = Reference::new(m);
        let mut found: Vec<(f64, f64, String)> = vec![(0.0, 0.0, String::new()); m.flags];
        threads::rows(&mut found, 1, threads::count(), |flag, found| {
            let mut cloth = Cloth::of(m, &self.before, flag);
            reference.frame(&mut cloth, &self.way, flag, frame);
            // Coordinate by coordinate: all x of this flag, all y, all z, as a state has them for all flags.
            let got: Vec<f32> = (0..3 * n).map(|i| after[0][i / n * n * m.flags + flag * n + i % n]).collect();
            let want: Vec<f64> = (0..3 * n).map(|i| cloth.p[i % n][i / n]).collect();
            let errors = || got.iter().zip(&want).map(|(&g, w)| (f64::from(g) - w).abs());
            let mean = (errors().map(|e| e * e).sum::<f64>() / errors().count() as f64).sqrt();
            found[0] = (errors().fold(0.0, f64::max), mean, String::new());
            let [typical, most] = tolerance(m);
            if mean > typical {
                found[0].2 =
                    format!("frame {frame}, flag {flag}: places differ by {mean:e} m (root of the mean square)");
            }
            if let Verdict::Failed(why) = close(&got, &want, |_| most, "coordinate") {
                found[0].2 = format!("frame {frame}, flag {flag}: {why}");
            }
        });
        // The flag of the lowest number that failed is the one that is told, whatever thread was first.
        self.checked += 1;
        for (worst, mean, why) in found {
            self.worst = self.worst.max(worst);
            self.typical = self.typical.max(mean);
            if !why.is_empty() && self.failure.is_none() {
                self.failure = Some(why);
            }
        }
    }

    /// Several processes must have the bits that one has.
    fn same(&mut self, frame: u32, after: &State, alone: &State) {
        let pairs = || after.iter().flatten().zip(alone.iter().flatten());
        let wrong = pairs().filter(|(a, b)| a.to_bits() != b.to_bits()).count();
        if wrong > 0 && self.failure.is_none() {
            let most = pairs().map(|(a, b)| f64::from(a - b).abs()).fold(0.0, f64::max);
            self.failure =
                Some(format!("frame {frame}: {wrong} numbers are not those of one process, by {most:e} m at most"));
        }
    }

    /// What must hold of every state of every cloth.
    fn facts(&mut self, frame: u32, after: &State, flags: impl Iterator<Item = usize>) {
        let m = self.model;
        for flag in flags {
            let first = Cloth::of(m, &self.first, flag);
            let facts = Facts::of(m, self.links, &Cloth::of(m, after, flag), &first);
            let start = Facts::of(m, self.links, &first, &first);
            let still = m.winds() == [0.0; 4];
            // What links store is not counted: a hundredth of what the cloth has by its height is left to them.
            let limit = start.energy() + 0.01 * start.potential.abs();
            // Bounds that no sound cloth comes near. MARGIN keeps nodes outside of what they lie on, so that rounding
            // alone never gives a depth. Wind does work, so that energy may grow only where the air is still.
            let bad = [
                (!facts.finite, "a place is no number".to_owned()),
                (facts.pinned_moved > 0.0, format!("a pinned node moved by {:e} m", facts.pinned_moved)),
                (facts.depth > 0.0, format!("a node is {:e} m inside of what it lies on", facts.depth)),
                (facts.residual > 1.0, format!("links are {} times too long", facts.residual + 1.0)),
                (facts.fastest > 50.0, format!("a node has {} m/s", facts.fastest)),
                (
                    still && facts.energy() > limit,
                    format!("energy grew from {} to {} J", start.energy(), facts.energy()),
                ),
            ];
            if let Some((_, why)) = bad.into_iter().find(|b| b.0)
                && self.failure.is_none()
            {
                self.failure = Some(format!("frame {frame}, flag {flag}: {why}"));
            }
            self.least_energy = self.least_energy.min(facts.energy());
            self.most_energy = self.most_energy.max(facts.energy());
            self.most.stretch = self.most.stretch.max(facts.stretch);
            self.most.fastest = self.most.fastest.max(facts.fastest);
        }
    }
}

impl Program for ClothProgram {
    fn name(&self) -> &'static str {
        "cloth"
    }

    fn about(&self) -> &'static str {
        "flags in the wind: masses, links, and how to relax them all at once"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant {
                name: "batches",
                about: "lists of links, coloured: a launch a batch of links that share no node",
            },
            Variant { name: "grid", about: "the same batches by index arithmetic, without lists" },
            Variant {
                name: "reduced",
                about: "four launches: patches in local memory with barriers, then their seams",
            },
            Variant { name: "fused", about: "a group a cloth: all steps of a frame in one launch" },
            Variant { name: "jacobi", about: "each node gathers what its links want; converges slower" },
            Variant { name: "unordered", about: "one batch of all links, whose pulls atomics add up" },
            #[cfg(feature = "mpi")]
            Variant {
                name: "ranks",
                about: "jacobi in several processes, each with a band of rows; start them with mpirun",
            },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "flags=1: how many cloths, 1 to 100",
            "scene=flag|drape|sphere: on a pole, by two corners, or falling on a sphere",
            "relax=10: how often a step relaxes all links, 1 to 60",
            "steps=3: steps a frame, 1 to 12",
            "wind=100: percent of the scene's wind, 0 to 300",
            "colours=grid|greedy: the colouring of batches: that of a grid, or that of any mesh",
            "add=fixed|float: how atomics add in unordered",
            "patch=32: the side of a patch of reduced, even, 4 to 64",
            "picture=640: the width of the picture, 64 to 2560",
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let model = Model::new(params)?;
        let links = model.batches().iter().map(Vec::len).sum();
        let name = match self.variant(params)? {
            "batches" => "cloth_batch",
            "grid" => "cloth_down",
            "reduced" => "cloth_patch",
            "fused" => "cloth_fused",
            "ranks" => "cloth_gather_band",
            "jacobi" => "cloth_gather",
            _ => "cloth_scatter",
        };
        Ok((model.options(links, false) + &draw::options(&model), name.into()))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let model = Model::new(params)?;
        #[cfg(feature = "mpi")]
        if variant == "ranks" {
            return ranks::run(session, params, &model);
        }
        play(session, params, variant, &model, |built| {
            Ok(Box::new(Device::new(session, params, &model, built, variant, &model.batches())?))
        })
    }
}

/// Plays the frames and checks them. `mover` makes what moves the cloths out of the kernels.
fn play<'a>(
    session: &'a Session,
    params: &Params,
    variant: &'static str,
    model: &'a Model,
    mover: impl FnOnce(&Built) -> Result<Box<dyn Moves + 'a>>,
) -> Result<Outcome> {
    let batches = model.batches();
    let links = if variant == "reduced" { model.waves() } else { batches.concat() };
    let options = model.options(links.len(), device::fits_local(session, model)) + &draw::options(model);
    let built = session.build("cloth", SOURCE, &options)?;
    let mover = mover(&built)?;
    let rank = mover.rank();
    let drawer = Drawer::new(session, model, &built)?;
    let draw = |places: &[f32]| drawer.draw(&session.upload(places)?);

    // One link after the other (Gauss and Seidel), the result depends on the order: the reference takes the variant's
    // own. Links of a batch share no node, so that their order among themselves does not matter.
    let at_once = matches!(variant, "jacobi" | "unordered" | "ranks");
    let grid_order: Vec<Link> = Model { greedy: false, ..model.clone() }.batches().concat();
    let serial = match variant {
        "batches" | "reduced" => &links,
        _ => &grid_order,
    };
    let a_frame = links.len() * model.flags * (model.relax * model.steps) as usize;
    // With many frames, only every so many are checked, so that the reference does not take longer than BUDGET links.
    let every = (params.iterations as usize * a_frame).div_ceil(BUDGET).max(1) as u32;
    let first = model.start();
    let mut checks = Checks {
        model,
        way: if at_once { Way::AtOnce(&links) } else { Way::Serial(serial) },
        links: &links,
        before: first.clone(),
        first,
        failure: None,
        checked: 0,
        worst: 0.0,
        typical: 0.0,
        least_energy: f64::INFINITY,
        most_energy: f64::NEG_INFINITY,
        most: Facts::default(),
    };
    let (mut answer, mut last_before) = (Vec::new(), checks.before.clone());
    let mut compared = "";
    // What moves the cloths is borrowed by turns.
    let cell = RefCell::new(mover);
    let times = session.measure_and(
        params.iterations,
        |i| {
            cell.borrow_mut().frame(i)?;
            Ok(true)
        },
        |i| {
            let mut mover = cell.borrow_mut();
            // All ranks must call this: it gathers the bands of all.
            let after = mover.state()?;
            if rank > 0 {
                return Ok(());
            }
            let last = i + 1 == params.iterations;
            if i % every == 0 || last {
                checks.check(i, &after);
                if let Some(alone) = mover.alone(&checks.before, i)? {
                    checks.same(i, &after, &alone);
                    compared = ", and the bits are those of one process";
                }
            }
            // All cloths in the last frame; before it, one or two, which cost next to nothing.
            checks.facts(i, &after, (0..model.flags).filter(|f| last || f % 99 == 0));
            // Devices are compared by the first frame: they start it from the same bits, and rounding parts them
            // afterwards.
            if i == 0 {
                answer.clone_from(&after[0]);
            }
            params.observer.frame(|| draw(&after[0]))?;
            last_before = std::mem::replace(&mut checks.before, after);
            params.observer.progress(i as usize + 1, params.iterations as usize)
        },
    )?;

    if rank > 0 {
        return Err(Error::NotFirst { rank });
    }
    let mover = cell.into_inner();
    let places = &checks.before[0];
    let picture = draw(places)?;
    let drawn = draw::compare(&picture, &draw::reference(model, places));
    let most = tolerance(model)[1];
    let verdict = checks.verdict(drawn, compared);
    let done = times.wall.len() as u32;
    let seconds = times.median().as_secs_f64().max(1e-9);
    let mut notes = vec![
        format!(
            "{} links in {} batches a cloth; {} launches a frame",
            links.len(),
            if at_once { 1 } else { batches.len() },
            mover.launches()
        ),
        format!(
            "energy {:.3} to {:.3} J; fastest node {:.2} m/s; longest structural link {:.1} % too long",
            checks.least_energy,
            checks.most_energy,
            checks.most.fastest,
            checks.most.stretch * 100.0
        ),
        format!("flags at 60 frames a second: {:.1}", model.flags as f64 / 60.0 / seconds),
    ];
    notes.extend(mover.notes(times.wall.iter().sum()));
    notes.push(convergence(model, &checks, &last_before, done - 1, &grid_order));
    Ok(Outcome {
        variant,
        size: size(model),
        build: built.time,
        times,
        // A link: three differences, five for the length, four for the share, nine to move each end.
        work: Some(Work::new(a_frame as f64, "link").computing(30.0 * a_frame as f64)),
        verdict,
        answer: Answer::close(answer, |_| 2.0 * most),
        picture: Some(picture),
        chart: None,
        notes,
    })
}

fn size(model: &Model) -> String {
    let Model { flags, w, h, scene, .. } = model;
    format!("{flags} cloth{} of {w}x{h} nodes, {}", if *flags > 1 { "s" } else { "" }, scene.name)
}

/// How far the links of the first cloth are from rest after the last frame, in this variant's way and in that of
/// batches, both from the same state.
fn convergence(model: &Model, checks: &Checks<'_>, before: &State, frame: u32, batches: &[Link]) -> String {
    let residual = |cloth: &Cloth| Facts::of(model, batches, cloth, cloth).residual * 100.0;
    let here = Cloth::of(model, &checks.before, 0);
    let mut there = Cloth::of(model, before, 0);
    Reference::new(model).frame(&mut there, &Way::Serial(batches), 0, frame);
    let sure = format!("after {} turns of the last step links are {:.2} % too long", model.relax, residual(&here));
    format!("{sure} (root of the mean square); by batches, from the same state, {:.2} %", residual(&there))
}
