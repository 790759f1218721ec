//! `heat3d`: heat spreads in an irregular mesh, as in EasyPAP's program of that name: each cell takes the mean of
//! itself and its neighbours (Jacobi's iteration), some cells are held hot or cold, and the device finds out when
//! hardly anything changes any more. The same mesh with its cells numbered by patches and at random shows the price of
//! locality; rows of neighbours against columns of them show that of the layout. Patches where nothing moves can be
//! skipped, and ranges of cells can be on several devices.

mod device;
mod host;
mod mesh;
mod parts;
mod patches;
mod view;

use crate::cl::Session;
use crate::common::threads;
use crate::error::{Error, Result};
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Work, close};
use crate::splitting::domain::Step;
use crate::splitting::plan::{Plan, Ran, Source};
use crate::splitting::{devices, plan, worker_group};
use device::Device;
use host::{Host, Lazy};
use mesh::{Mesh, Order};
use parts::Cells;
use patches::Lists;
use std::cell::{Cell, RefCell};

pub struct Heat3d;

const SOURCE: &str = include_str!("../../../../kernels/heat3d.cl");
/// Below this change of a step the mesh counts as settled.
const SETTLED: f32 = 1e-6;
/// Cells of the largest mesh.
const MAX_CELLS: usize = 1 << 22;

struct Setup {
    w: usize,
    h: usize,
    order: Order,
    steps: usize,
    is_cold: bool,
    /// Lazy: a change of this or less is none.
    still: f32,
    /// Cells of a group: of a patch.
    group: usize,
}

impl Setup {
    fn of(params: &Params, variant: &str) -> Result<Setup> {
        params.only(&["order", "steps", "start", "still", "devices"])?;
        let by_space = ("bisect", Order::Bisect);
        let mut orders = [("patches", Order::Patches), ("rings", Order::Rings), ("random", Order::Random), by_space];
        if plan::is_in_bands(variant) {
            // A range of any other order is long and thin, or everywhere.
            orders.rotate_right(1);
        }
        let order = params.choice_of("order", &orders)?.1;
        let steps = params.number("steps", 16, 1..=100_000)? as usize;
        if plan::is_in_bands(variant) && steps % 2 == 1 {
            // The next iteration starts from the board that the last one did.
            return Err(Error::Params(format!("-c steps={steps}: give an even number for several devices")));
        }
        let is_cold = params.choice("start", &["waves", "cold"])? == "cold";
        let still = params.number("still", 1, 0..=1000)? as f32 * 1e-6;
        let (w, h) = params.size_or(768, 160)?;
        if w * h > MAX_CELLS {
            return Err(Error::Params(format!("-s {w}x{h}: take at most {MAX_CELLS} cells")));
        }
        Ok(Setup { w, h, order, steps, is_cold, still, group: params.group_or(256)? })
    }

    fn mesh(&self) -> Mesh {
        let mut mesh = Mesh::new(self.w, self.h, self.order);
        if self.is_cold {
            mesh.cool();
        }
        mesh
    }

    /// The macros of the kernels. Only patches need the room that these have in local memory.
    fn options(&self, degree: usize, room: Option<usize>) -> String {
        // All kernels are built together: where nobody runs the one with patches, its local array is as small as may
        // be.
        let (group, room) = room.map_or((1, 2), |room| (self.group, room));
        let (cells, still) = (self.w * self.h, self.still);
        format!("-DCELLS={cells} -DDEGREE={degree} -DGROUP={group} -DROOM={room} -DSTILL={still:e}f")
    }
}

/// Its mesh, as everything that computes wants it.
struct Problem<'p> {
    variant: &'static str,
    setup: &'p Setup,
    mesh: &'p Mesh,
    first: &'p [u32],
    neighbours: &'p [u32],
    degree: usize,
}

/// What a run ends with, before it is checked.
struct Raw {
    ran: Ran<f32>,
    done: usize,
    settled: bool,
}

/// On the device or on the machine's threads.
fn on_one(session: &Session, params: &Params, problem: &Problem<'_>) -> Result<Raw> {
    let &Problem { variant, setup, mesh, first, neighbours, degree } = problem;
    let (n, group) = (mesh.start.len(), setup.group);
    let around = patches::around(first, neighbours, group);
    let room = if variant == "ocl_patch" { Some(device::room(&around, group)?) } else { None };
    let built = session.build("heat3d", SOURCE, &setup.options(degree, room))?;
    let on_device = variant.starts_with("ocl");
    let name = if on_device { format!("heat3d_{variant}") } else { "heat3d_ocl".into() };
    let device = Device::new(session, &built, &name, mesh, (first, neighbours), (&around, group))?;
    let lazy = |around: &Lists| {
        let changed = || vec![true; around.count()];
        let depends = patches::depends(around, group);
        Lazy { size: group, depends, still: setup.still, changed: [changed(), changed()] }
    };
    let host = RefCell::new(Host {
        boards: [mesh.start.clone(), mesh.start.clone()],
        first,
        neighbours,
        threads: if variant == "seq" { 1 } else { threads::count() },
        lazy: (variant == "threads_lazy").then(|| lazy(&around)),
    });
    let done = Cell::new(0);
    let current =
        || if on_device { device.board(done.get() % 2) } else { Ok(host.borrow().boards[done.get() % 2].clone()) };
    let mut settled = false;
    let times = session.measure_and(
        params.iterations,
        |_| {
            for _ in 0..setup.steps {
                let from = done.get() % 2;
                if on_device {
                    device.step(from)?;
                } else {
                    host.borrow_mut().step(from);
                }
                done.set(done.get() + 1);
            }
            // Inside of the measured body: the search for the largest change is a cost of the method.
            let most = if on_device { device.change()? } else { host.borrow().change() };
            settled = most < SETTLED;
            Ok(!settled)
        },
        |i| {
            params.observer.progress(i as usize + 1, params.iterations as usize)?;
            params.observer.frame(|| Ok(view::drawn(mesh, &current()?)))
        },
    )?;
    let board = done.get() % 2;
    let changed = match &host.borrow().lazy {
        Some(lazy) => Some(lazy.changed[board].iter().filter(|c| **c).count()),
        None => device.changed(board)?,
    };
    let mut note = format!("{} steps{}", done.get(), if settled { ", then settled" } else { "" });
    if let Some(changed) = changed {
        note += &format!("; patches that changed in the last: {changed} of {}", n.div_ceil(group));
    }
    let ran = Ran { build: built.time, times, got: current()?, notes: vec![note] };
    Ok(Raw { ran, done: done.get(), settled })
}

/// On several devices.
fn on_several(session: &Session, params: &Params, problem: &Problem<'_>) -> Result<Raw> {
    let &Problem { setup, mesh, first, neighbours, degree, .. } = problem;
    let step_of = |s: usize| Step { kernel: 0, from: s % 2, to: (s + 1) % 2, exchange: true, more: &[] };
    let options = setup.options(degree, None);
    let plan = Plan {
        source: Source { program: "heat3d", source: SOURCE, options: &options, kernels: parts::KERNELS },
        shape: Cells { mesh, first, neighbours, degree, group: setup.group },
        boards: 2,
        start: &mesh.start,
        steps: (0..setup.steps).map(step_of).collect(),
        result: 0,
    };
    let ran = devices::run(session, params, &plan, |now| view::drawn(mesh, now))?;
    Ok(Raw { ran, done: setup.steps * params.iterations as usize, settled: false })
}

impl Program for Heat3d {
    fn name(&self) -> &'static str {
        "heat3d"
    }

    fn about(&self) -> &'static str {
        "heat in an irregular mesh"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "ocl", about: "neighbours in compressed rows" },
            Variant { name: "ocl_ell", about: "neighbours in columns, filled up to the largest number" },
            Variant {
                name: "ocl_patch",
                about: "a patch and the cells around it in local memory, columns of two bytes",
            },
            Variant { name: "ocl_lazy", about: "columns; patches that cannot change are skipped" },
            Variant { name: "devices_fixed", about: "several devices, each with as many cells" },
            Variant { name: "devices_adaptive", about: "several devices, split by the speeds of the iteration before" },
            Variant { name: "seq", about: "one thread of the machine, no OpenCL" },
            Variant { name: "threads", about: "the machine's threads, which take stretches of cells as they get free" },
            Variant { name: "threads_lazy", about: "the same with patches; those that cannot change are skipped" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "order=patches|rings|random|bisect: how cells are numbered; several devices take bisect",
            "steps=16: steps an iteration, even on several devices",
            "start=waves|cold: what lies between the rings that are held",
            "still=1: lazy patches take a change of so many millionths for none",
            worker_group::KNOB,
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let variant = self.variant(params)?;
        let setup = Setup::of(params, variant)?;
        let kernel = match variant {
            v if plan::is_in_bands(v) => "part",
            v if v.starts_with("ocl") => v,
            _ => "ocl",
        };
        // A square patch has as many cells around it as a quarter of its own, others have more.
        let room = (variant == "ocl_patch").then_some(3 * setup.group + 1);
        Ok((setup.options(8, room), format!("heat3d_{kernel}")))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let setup = Setup::of(params, variant)?;
        let mesh = setup.mesh();
        let (first, neighbours) = mesh.rows();
        let degree = first.windows(2).map(|w| (w[1] - w[0]) as usize).max().unwrap_or(0);
        let problem = Problem { variant, setup: &setup, mesh: &mesh, first: &first, neighbours: &neighbours, degree };
        let run = if plan::is_in_bands(variant) { on_several } else { on_one };
        let Raw { ran: Ran { build, times, got, notes }, done, settled } = run(session, params, &problem)?;

        let want = host::reference(&mesh, done);
        // A step adds up nine numbers of at most 1 and divides: ten roundings and what OpenCL's division may be off,
        // two and a half units. A lazy step leaves out a change of `still` at most. A mean makes errors of before no
        // larger, so that those of the steps add up at worst.
        let left_out = if variant.ends_with("lazy") { f64::from(setup.still) } else { 0.0 };
        let limit = done as f64 * (13.0 * 2f64.powi(-24) + left_out);
        let Setup { w, h, steps, group, .. } = setup;
        // Devices may find the mesh settled an iteration apart.
        let apart = if settled { steps as f64 * 2.0 * f64::from(SETTLED) } else { 0.0 };
        let n = w * h;
        let bytes = n * 12 + neighbours.len() * if variant == "ocl_patch" { 2 } else { 4 };
        Ok(Outcome {
            variant,
            size: format!("{w}x{h} cells, {} pairs of neighbours, groups of {group}", mesh.pairs.len()),
            build,
            times,
            work: Some(
                Work::new((n * steps) as f64, "cell")
                    .moving(bytes * steps)
                    .computing(((neighbours.len() + n) * steps) as f64),
            ),
            verdict: close(&got, &want, |_| limit, "temperatures"),
            answer: Answer::close(got.clone(), |_| 2.0 * limit + apart),
            picture: Some(view::drawn(&mesh, &got)),
            chart: None,
            notes,
        })
    }
}
