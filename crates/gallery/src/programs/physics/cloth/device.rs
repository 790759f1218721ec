//! The cloths on the device: buffers, kernels, and the launches that make up a frame in each variant.

use super::model::{Batch, FRAME_TIME, Link, Model, grid_batches};
use super::{Moves, State};
use crate::args;
use crate::cl::{Arg, Buffer, Built, Kernel, Session, round_up};
use crate::error::{Error, Result};
use crate::params::Params;
use std::time::Duration;

/// How a variant relaxes the links.
enum Relax {
    /// Lists of links, a launch a batch: kernel, first link, how many.
    Lists(Vec<(Kernel, u32, u32)>),
    /// A launch a batch of the grid.
    Grid(Vec<(Kernel, Batch)>),
    /// A launch a kind of patch: over seams of columns, of rows.
    Patches([Kernel; 4]),
    /// A launch a frame.
    Fused(Kernel),
    /// From one state to another.
    Gather(Kernel),
    /// All links at once, then what they want is applied. The first link of each node, and the end of the last one's.
    Scatter(Kernel, Kernel, Buffer<u32>),
}

pub struct Device<'a> {
    session: &'a Session,
    model: &'a Model,
    tile: (usize, usize),
    group: usize,
    /// Three states: the places, those of the step before, and one for what comes next.
    states: [Buffer<f32>; 3],
    inverse: Buffer<f32>,
    weights: Buffer<f32>,
    ends: Buffer<u32>,
    rests: Buffer<f32>,
    stiffs: Buffer<f32>,
    sums: Buffer<i32>,
    move_kernel: Kernel,
    collide_kernel: Kernel,
    relax: Relax,
    fused_local: bool,
}

/// Whether the places of a cloth fit into local memory.
pub fn fits_local(session: &Session, model: &Model) -> bool {
    12 * model.nodes() as u64 <= session.found.local_memory
}

/// A buffer has an element at least.
fn or_one<T: Copy + Default>(mut v: Vec<T>) -> Vec<T> {
    if v.is_empty() {
        v.push(T::default());
    }
    v
}

impl<'a> Device<'a> {
    pub fn new(
        session: &'a Session,
        params: &Params,
        model: &'a Model,
        built: &Built,
        variant: &str,
        batches: &[Vec<Link>],
    ) -> Result<Device<'a>> {
        // What takes them in no order takes those of a node together.
        let links = if variant == "unordered" { model.links() } else { batches.concat() };
        let relax = match variant {
            "grid" => {
                let kernel = |b: Batch| {
                    let name = match (b.across, b.reach) {
                        (true, 1) => "cloth_across_1",
                        (true, _) => "cloth_across_2",
                        _ => "cloth_down",
                    };
                    Ok((built.kernel(name)?, b))
                };
                Relax::Grid(grid_batches().into_iter().map(kernel).collect::<Result<_>>()?)
            }
            "reduced" => {
                // Three floats for the place of each node and one for whether it may move: `tile` and `may` of
                // `cloth_patch`.
                let bytes = 16 * model.patch as u64 * model.patch as u64;
                if bytes > session.found.local_memory {
                    return Err(Error::Params(format!(
                        "a patch needs {bytes} bytes of local memory, this device has {}; choose a smaller -c patch=",
                        session.found.local_memory
                    )));
                }
                let k = || built.kernel("cloth_patch");
                Relax::Patches([k()?, k()?, k()?, k()?])
            }
            "fused" => Relax::Fused(built.kernel("cloth_fused")?),
            "jacobi" => Relax::Gather(built.kernel("cloth_gather")?),
            "unordered" => {
                // The search needs links sorted by their first end, as `model.links()` gives them.
                let first = |node: usize| links.partition_point(|l| l.a < node) as u32;
                let firsts: Vec<u32> = (0..=model.nodes()).map(first).collect();
                Relax::Scatter(built.kernel("cloth_scatter")?, built.kernel("cloth_apply")?, session.upload(&firsts)?)
            }
            _ => {
                // A kernel a batch, so that no argument changes from launch to launch.
                let mut lists = Vec::new();
                let mut first = 0;
                for batch in batches {
                    lists.push((built.kernel("cloth_batch")?, first, batch.len() as u32));
                    first += batch.len() as u32;
                }
                Relax::Lists(lists)
            }
        };
        let [p, q] = model.start();
        // All first ends, then all second ends: neighbouring work-items read neighbouring elements in both loads.
        let ends = links.iter().map(|l| l.a as u32).chain(links.iter().map(|l| l.b as u32)).collect();
        Ok(Device {
            session,
            model,
            tile: params.tile_or(64, 1)?,
            group: params.group_or(64)?,
            states: [session.upload(&p)?, session.upload(&q)?, session.zeroed(p.len())?],
            inverse: session.upload(&model.inverse())?,
            weights: session.upload(&model.weights(&links))?,
            ends: session.upload(&or_one(ends))?,
            rests: session.upload(&or_one(links.iter().map(|l| l.rest).collect()))?,
            stiffs: session.upload(&or_one(links.iter().map(|l| l.stiff).collect()))?,
            sums: session.zeroed(p.len())?,
            move_kernel: built.kernel("cloth_move")?,
            collide_kernel: built.kernel("cloth_collide")?,
            relax,
            fused_local: fits_local(session, model),
        })
    }

    /// Lets the cloths go on from another state.
    #[cfg(feature = "mpi")]
    pub fn place(&self, state: &State) -> Result<()> {
        self.states.iter().zip(state).try_for_each(|(buffer, data)| self.session.write(buffer, data))
    }

    /// Whether a batch has a link.
    fn has(&self, b: &Batch) -> bool {
        let (along, other) = if b.across { (self.model.w, self.model.h) } else { (self.model.h, self.model.w) };
        // The first link of a batch begins at `phase * reach` and ends `reach` further on.
        along > b.reach + b.phase * b.reach && other > b.aside.unsigned_abs() as usize
    }

    /// Groups of the k-th kind of patch.
    fn patches(&self, k: usize) -> [usize; 2] {
        // There is one seam less than there are patches.
        let count = |n: usize, over: usize| n.div_ceil(self.model.patch) - over;
        [count(self.model.w, k & 1), count(self.model.h, k >> 1)]
    }

    /// The range of a kernel over nodes.
    fn nodes(&self) -> [[usize; 2]; 2] {
        let (tw, th) = self.tile;
        [[round_up(self.model.w, tw), round_up(self.model.h * self.model.flags, th)], [tw, th]]
    }

    /// Every link once.
    fn relax(&self) -> Result<()> {
        let (s, m, p, (tw, th)) = (self.session, self.model, &self.states[0], self.tile);
        match &self.relax {
            Relax::Lists(lists) => {
                for (kernel, first, count) in lists {
                    let args = args![p, &self.inverse, &self.ends, &self.rests, &self.stiffs, *first, *count];
                    s.launch(kernel, args, &[round_up(*count as usize, self.group), m.flags], &[self.group, 1])?;
                }
            }
            Relax::Grid(batches) => {
                for (kernel, b) in batches.iter().filter(|(_, b)| self.has(b)) {
                    let (rest, stiff) = m.rest(b);
                    let (reach, phase) = (b.reach as i32, b.phase as i32);
                    if b.across {
                        // Only every other node of a row begins a link, so that half as many work-items cover the same
                        // tile.
                        let half = [(tw / 2).max(1), th];
                        let columns = m.w.div_ceil(2 * b.reach);
                        let global = [round_up(columns, half[0]), round_up(m.h * m.flags, th)];
                        s.launch(kernel, args![p, &self.inverse, phase, rest, stiff], &global, &half)?;
                    } else {
                        let global = [round_up(m.w, tw), round_up(Model::half(m.h) * m.flags, th)];
                        let args = args![p, &self.inverse, b.aside, reach, phase, rest, stiff];
                        s.launch(kernel, args, &global, &[tw, th])?;
                    }
                }
            }
            Relax::Patches(kernels) => {
                for (k, kernel) in kernels.iter().enumerate() {
                    let [columns, rows] = self.patches(k);
                    if columns == 0 || rows == 0 {
                        continue;
                    }
                    let args = args![p, &self.inverse, (k & 1) as i32, (k >> 1) as i32, rows as i32];
                    s.launch(kernel, args, &[columns * m.patch, rows * m.flags], &[m.patch, 1])?;
                }
            }
            Relax::Gather(kernel) => {
                let [global, local] = self.nodes();
                s.launch(kernel, args![p, &self.states[2], &self.inverse], &global, &local)?;
            }
            Relax::Scatter(scatter, apply, firsts) => {
                let [global, local] = self.nodes();
                let args = args![p, &self.inverse, firsts, &self.ends, &self.rests, &self.stiffs, &self.sums];
                s.launch(scatter, args, &[round_up(m.nodes(), self.group), m.flags], &[self.group, 1])?;
                s.launch(apply, args![p, &self.inverse, &self.weights, &self.sums], &global, &local)?;
            }
            Relax::Fused(_) => {}
        }
        Ok(())
    }
}

impl Moves for Device<'_> {
    fn frame(&mut self, number: u32) -> Result<()> {
        let start = number as f32 * FRAME_TIME;
        let [global, local] = self.nodes();
        if let Relax::Fused(kernel) = &self.relax {
            let mut args = args![&self.states[0], &self.states[1], &self.inverse, start].to_vec();
            if self.fused_local {
                // Three floats a node.
                args.push(Arg::Local(12 * self.model.nodes()));
            }
            return self.session.launch(kernel, &args, &[self.group * self.model.flags], &[self.group]);
        }
        for step in 0..self.model.steps {
            // The same float arithmetic as in `cloth_fused` and in the reference: the phase of the wind depends on the
            // last bit.
            let time = start + step as f32 * self.model.step_time();
            let args = args![&self.states[0], &self.states[1], &self.inverse, time];
            self.session.launch(&self.move_kernel, args, &global, &local)?;
            // `cloth_move` has written the new places over those of the step before the last.
            self.states.swap(0, 1);
            for _ in 0..self.model.relax {
                self.relax()?;
                // Only Jacobi's way writes another state: each node must see the places before the turn. The others
                // relax in place.
                if matches!(self.relax, Relax::Gather(_)) {
                    self.states.swap(0, 2);
                }
            }
            let args = args![&self.states[0], &self.states[1], &self.inverse];
            self.session.launch(&self.collide_kernel, args, &global, &local)?;
        }
        Ok(())
    }

    fn state(&self) -> Result<State> {
        Ok([self.session.read(&self.states[0])?, self.session.read(&self.states[1])?])
    }

    fn launches(&self) -> usize {
        let a_turn = match &self.relax {
            Relax::Fused(_) => return 1,
            Relax::Lists(lists) => lists.len(),
            Relax::Grid(batches) => batches.iter().filter(|(_, b)| self.has(b)).count(),
            Relax::Patches(_) => (0..4).filter(|k| self.patches(*k).iter().all(|&n| n > 0)).count(),
            Relax::Gather(_) => 1,
            Relax::Scatter(..) => 2,
        };
        (a_turn * self.model.relax as usize + 2) * self.model.steps as usize
    }

    fn notes(&self, _: Duration) -> Vec<String> {
        let place = if self.fused_local { "local" } else { "global memory: they do not fit into local" };
        let note =
            matches!(self.relax, Relax::Fused(_)).then(|| format!("the places of a cloth lie in {place} memory"));
        note.into_iter().collect()
    }
}
