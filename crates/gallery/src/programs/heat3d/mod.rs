//! `heat3d`: heat spreads in an irregular mesh, as in EasyPAP's program of that name: each cell takes the mean of
//! itself and its neighbours (Jacobi's iteration), some cells are held hot or cold, and the device finds out when
//! hardly anything changes any more. The same mesh with its cells numbered by patches and at random shows the price of
//! locality; rows of neighbours against columns of them show that of the layout.

mod mesh;
mod view;

use super::threads;
use crate::args;
use crate::cl::{Arg, Session, round_up};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Work, close};
use mesh::{Mesh, Order};
use std::cell::{Cell, RefCell};

pub struct Heat3d;

const SOURCE: &str = include_str!("../../../kernels/heat3d.cl");
/// Work-items that look for the largest change.
const LOOKERS: usize = 64;
/// Below this change of a step the mesh counts as settled.
const SETTLED: f32 = 1e-6;
/// Cells of the largest mesh.
const MOST: usize = 1 << 22;

struct Setup {
    w: usize,
    h: usize,
    order: Order,
    steps: usize,
}

/// A cell's next temperature: the threads' way.
fn mean(from: &[f32], first: &[u32], neighbours: &[u32], i: usize) -> f32 {
    let row = &neighbours[first[i] as usize..first[i + 1] as usize];
    let sum: f32 = row.iter().map(|&q| from[q as usize]).sum();
    (from[i] + sum) / (1 + row.len()) as f32
}

/// The temperatures after so many steps, in double precision, pair by pair.
fn reference(mesh: &Mesh, steps: usize) -> Vec<f64> {
    let mut now: Vec<f64> = mesh.start.iter().map(|&t| f64::from(t)).collect();
    for _ in 0..steps {
        let mut sums: Vec<(f64, f64)> = now.iter().map(|&t| (t, 1.0)).collect();
        for &(p, q) in &mesh.pairs {
            let (p, q) = (p as usize, q as usize);
            sums[p] = (sums[p].0 + now[q], sums[p].1 + 1.0);
            sums[q] = (sums[q].0 + now[p], sums[q].1 + 1.0);
        }
        for ((t, (sum, count)), held) in now.iter_mut().zip(sums).zip(&mesh.held) {
            if !held {
                *t = sum / count;
            }
        }
    }
    now
}

/// Neighbours by columns, filled up with the cell after the last one; and the share that each sum is multiplied by.
fn columns(first: &[u32], neighbours: &[u32], degree: usize) -> (Vec<u32>, Vec<f32>) {
    let n = first.len() - 1;
    let mut table = vec![n as u32; degree.max(1) * n];
    let mut share = vec![1.0; n];
    for i in 0..n {
        let row = &neighbours[first[i] as usize..first[i + 1] as usize];
        row.iter().enumerate().for_each(|(k, &q)| table[k * n + i] = q);
        share[i] = 1.0 / (1 + row.len()) as f32;
    }
    (table, share)
}

impl Heat3d {
    fn setup(params: &Params) -> Result<Setup> {
        params.only(&["order", "steps"])?;
        let orders = [("patches", Order::Patches), ("rings", Order::Rings), ("random", Order::Random)];
        let order = params.choice_of("order", &orders)?.1;
        let steps = params.number("steps", 16, 1..=100_000)? as usize;
        let (w, h) = params.size_or(768, 160)?;
        if w * h > MOST {
            return Err(Error::Params(format!("-s {w}x{h}: take at most {MOST} cells")));
        }
        Ok(Setup { w, h, order, steps })
    }

    fn options(cells: usize, degree: usize) -> String {
        format!("-DCELLS={cells} -DDEGREE={degree}")
    }
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
            Variant { name: "seq", about: "one thread of the machine, no OpenCL" },
            Variant { name: "threads", about: "the machine's threads, which take stretches of cells as they get free" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &["order=patches|rings|random: how cells are numbered", "steps=16: steps an iteration"]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let setup = Heat3d::setup(params)?;
        let kernel = if self.variant(params)? == "ocl_ell" { "heat3d_ocl_ell" } else { "heat3d_ocl" };
        Ok((Heat3d::options(setup.w * setup.h, 8), kernel.into()))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let Setup { w, h, order, steps } = Heat3d::setup(params)?;
        let mesh = Mesh::new(w, h, order);
        let n = w * h;
        let (first, neighbours) = mesh.rows();
        let degree = first.windows(2).map(|w| (w[1] - w[0]) as usize).max().unwrap_or(0);
        let built = session.build("heat3d", SOURCE, &Heat3d::options(n, degree))?;
        let kernel = built.kernel(&self.build_options(params)?.1)?;
        let change_kernel = built.kernel("heat3d_change")?;
        // One more cell: what columns are filled up with.
        let start: Vec<f32> = mesh.start.iter().copied().chain([0.0]).collect();
        let boards = [session.upload(&start)?, session.upload(&start)?];
        // A mesh without any neighbours has an empty list, and no buffer is empty.
        let listed: Vec<u32> = neighbours.iter().copied().chain([0]).collect();
        let (table, share) = columns(&first, &neighbours, degree);
        let rows = [session.upload(&first)?, session.upload(if variant == "ocl_ell" { &table } else { &listed })?];
        let share = session.upload(&share)?;
        let changes = session.zeroed::<f32>(LOOKERS)?;
        let on_device = variant.starts_with("ocl");
        let host = RefCell::new([start.clone(), start.clone()]);
        let group = params.group_or(256)?;
        let done = Cell::new(0);
        let current = || -> Result<Vec<f32>> {
            let b = done.get() % 2;
            let mut now = if on_device { session.read(&boards[b])? } else { host.borrow()[b].clone() };
            now.truncate(n);
            Ok(now)
        };
        let mut settled = false;
        let times = session.measure_and(
            params.iterations,
            |_| {
                for _ in 0..steps {
                    let (from, to) = (done.get() % 2, (done.get() + 1) % 2);
                    if on_device {
                        let by = if variant == "ocl_ell" { Arg::from(&share) } else { Arg::from(&rows[0]) };
                        let args = [Arg::from(&boards[from]), Arg::from(&boards[to]), by, Arg::from(&rows[1])];
                        session.launch(&kernel, &args, &[round_up(n, group)], &[group])?;
                    } else {
                        let [a, b] = &mut *host.borrow_mut();
                        let (a, b) = if from == 0 { (a, b) } else { (b, a) };
                        let count = if variant == "seq" { 1 } else { threads::count() };
                        // Stretches of 1024 cells: a turn is worth its lock.
                        let stretch = 1024.min(n);
                        let from = &*a;
                        threads::rows(&mut b[..n], stretch, count, |turn, cells| {
                            for (i, cell) in cells.iter_mut().enumerate() {
                                *cell = mean(from, &first, &neighbours, turn * stretch + i);
                            }
                        });
                    }
                    done.set(done.get() + 1);
                }
                let most = if on_device {
                    session.launch(&change_kernel, args![&boards[0], &boards[1], &changes], &[LOOKERS], &[])?;
                    session.read(&changes)?.into_iter().fold(0.0, f32::max)
                } else {
                    let [a, b] = &*host.borrow();
                    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
                };
                settled = most < SETTLED;
                Ok(!settled)
            },
            |i| {
                params.observer.progress(i as usize + 1, params.iterations as usize)?;
                params.observer.frame(|| Ok(view::drawn(&mesh, &current()?)))
            },
        )?;

        let got = current()?;
        let want = reference(&mesh, done.get());
        // A step adds up nine numbers of at most 1 and divides: ten roundings and what OpenCL's division may be off,
        // two and a half units. A mean makes errors of before no larger, so that those of the steps add up at worst.
        let limit = done.get() as f64 * 13.0 * 2f64.powi(-24);
        // Devices may find the mesh settled an iteration apart.
        let apart = if settled { steps as f64 * 2.0 * f64::from(SETTLED) } else { 0.0 };
        let bytes = n * 12 + neighbours.len() * 4;
        Ok(Outcome {
            variant,
            size: format!("{w}x{h} cells, {} pairs of neighbours, groups of {group}", mesh.pairs.len()),
            build: built.time,
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
            notes: vec![format!("{} steps{}", done.get(), if settled { ", then settled" } else { "" })],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_collect_what_the_reference_distributes() {
        let mesh = Mesh::new(19, 12, Order::Random);
        let (first, neighbours) = mesh.rows();
        let next: Vec<f32> = (0..19 * 12).map(|i| mean(&mesh.start, &first, &neighbours, i)).collect();
        assert!(next.iter().zip(reference(&mesh, 1)).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-6));
        // One of two cells that are not held takes the mean of both.
        let pair = Mesh {
            pairs: vec![(0, 1)],
            held: vec![false, true],
            start: vec![0.0, 1.0],
            ..Mesh::new(2, 1, Order::Rings)
        };
        assert_eq!(reference(&pair, 2), [0.75, 1.0]);
        assert_eq!(columns(&[0, 1, 1], &[1], 2).0, [1, 2, 2, 2]);
    }
}
