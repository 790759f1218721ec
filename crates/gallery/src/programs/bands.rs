//! A picture in bands of rows, one a device, each with a few rows of its neighbours around it: the halo.
//!
//! A step computes the rows that neighbours need first, and sends them on while it computes the others:
//!
//! ```text
//! kernels  [edges][   inner rows    ][edges][   inner …
//! halos           [out]                     [out]
//!                   [in]  ── the next step's edges wait for it, by its event
//! ```
//!
//! The host enqueues step after step and waits for none of them.

use super::band::{Band, Shape, Step, neighbours};
use super::team::{Span, Team, clock};
use crate::cl::queue::Done;
use crate::cl::relay::{Relay, relay};
use crate::cl::{Kernel, Plain};
use crate::error::Result;
use std::time::{Duration, Instant};

/// The bands of a picture of `T`s, in so many boards: a step reads one and writes another one.
pub(crate) struct Bands<'t, T: Plain> {
    shape: Shape,
    bands: Vec<Band<'t, T>>,
    // Halos on their way to each band.
    arriving: Vec<Vec<Done>>,
    // What each device's clock must be advanced by.
    clocks: Vec<i64>,
    under_way: Vec<Relay<T>>,
    log: Vec<Logged>,
}

/// What is told of when it is done.
struct Logged {
    member: usize,
    what: char,
    /// A kernel begins with itself, a halo when the edge that it is a copy of has been computed.
    begins: (usize, Done),
    ends: Done,
}

impl Logged {
    fn kernel(member: usize, done: &Done) -> Logged {
        Logged { member, what: '#', begins: (member, done.clone()), ends: done.clone() }
    }
}

impl Shape {
    /// How many of the devices can take part: each needs the rows that a neighbour wants of it.
    pub fn members(&self, team: &Team) -> usize {
        team.members.len().min(self.height / self.halo.max(1)).max(1)
    }
}

impl<'t, T: Plain> Bands<'t, T> {
    /// Bands of so many rows, with zeros in all boards.
    pub fn new(team: &'t Team, shape: Shape, split: &[usize], boards: usize) -> Result<Bands<'t, T>> {
        let epoch = Instant::now();
        let mut first = 0;
        let (mut bands, mut clocks) = (Vec::new(), Vec::new());
        for (member, &rows) in team.members.iter().zip(split) {
            let band = Band::new(member, shape, (first, rows), boards)?;
            let probe = || Ok(band.reads.read(&band.boards[0], 0, vec![T::default()], &[])?.done().clone());
            clocks.push(clock(&band.reads, probe, epoch)?);
            bands.push(band);
            first += rows;
        }
        let arriving = bands.iter().map(|_| Vec::new()).collect();
        Ok(Bands { shape, bands, arriving, clocks, under_way: Vec::new(), log: Vec::new() })
    }

    /// Writes a picture to a board of all devices, with the halos.
    pub fn scatter(&self, board: usize, picture: &[T]) -> Result<()> {
        self.bands.iter().try_for_each(|band| band.write(board, picture))
    }

    /// The picture on a board, when all steps are done.
    pub fn gather(&mut self, board: usize) -> Result<Vec<T>> {
        self.settle()?;
        let mut picture = Vec::with_capacity(self.shape.width * self.shape.height);
        for band in &self.bands {
            picture.extend(band.read(board)?);
        }
        Ok(picture)
    }

    /// Enqueues a step on each device, whose kernels these are.
    pub fn step(&mut self, kernels: &[Vec<Kernel>], step: Step<'_>) -> Result<()> {
        let mut edges = Vec::new();
        for ((band, kernels), arriving) in self.bands.iter().zip(kernels).zip(&mut self.arriving) {
            let arriving = std::mem::take(arriving);
            let after: Vec<&Done> = arriving.iter().collect();
            edges.push(band.edges(&kernels[step.kernel], step, &after)?);
        }
        // Before the inner rows, so that a device that takes one command after the other does not finish those first.
        if step.exchange {
            self.exchange(&edges, step.to)?;
        }
        for (m, (band, kernels)) in self.bands.iter().zip(kernels).enumerate() {
            let [first, last] = &edges[m];
            self.log.push(Logged::kernel(m, first));
            if let Some(inner) = band.inner(&kernels[step.kernel], step)? {
                self.log.push(Logged::kernel(m, last));
                self.log.push(Logged::kernel(m, &inner));
            }
        }
        Ok(())
    }

    /// Sends the first rows of each band up and the last ones down.
    fn exchange(&mut self, edges: &[[Done; 2]], board: usize) -> Result<()> {
        let Shape { width, halo, wraps, .. } = self.shape;
        for (m, [first, last]) in edges.iter().enumerate() {
            let [up, down] = neighbours(m, self.bands.len(), wraps);
            let rows = self.bands[m].rows;
            let ways = [(up, halo, up.map(|u| halo + self.bands[u].rows), first), (down, rows, Some(0), last)];
            for (to, from_row, to_row, edge) in ways {
                let (Some(to), Some(to_row)) = (to, to_row) else { continue };
                let (source, target) = (&self.bands[m], &self.bands[to]);
                let relay = relay(
                    (&source.reads, &source.boards[board], from_row * width),
                    (&target.writes, &target.boards[board], to_row * width),
                    halo * width,
                    &[edge],
                    &[],
                )?;
                self.log.push(Logged {
                    member: to,
                    what: '<',
                    begins: (m, edge.clone()),
                    ends: relay.written().clone(),
                });
                self.arriving[to].push(relay.written().clone());
                self.under_way.push(relay);
            }
        }
        Ok(())
    }

    /// Waits for all steps.
    pub fn settle(&mut self) -> Result<()> {
        for relay in self.under_way.drain(..) {
            relay.wait()?;
        }
        for band in &self.bands {
            band.kernels.finish()?;
        }
        Ok(())
    }

    /// What the devices did since it was asked last, all of which is done.
    pub fn spans(&mut self) -> Result<Vec<Span>> {
        self.settle()?;
        let mut spans = Vec::new();
        let clock = |m: usize, t: Duration| t.as_nanos() as i64 + self.clocks[m];
        for Logged { member, what, begins: (first, begins), ends } in self.log.drain(..) {
            let (start, first_end) = begins.span()?;
            let start = clock(first, if what == '#' { start } else { first_end });
            let end = clock(member, ends.span()?.1);
            spans.push(Span { member, what, start: start.min(end), end });
        }
        Ok(spans)
    }

    /// The rows of each device.
    pub fn split(&self) -> Vec<usize> {
        self.bands.iter().map(|b| b.rows).collect()
    }

    /// Rows a second of each device, by what its kernels took.
    pub fn speeds(&self, spans: &[Span]) -> Vec<f64> {
        let busy = |m: usize| -> i64 {
            spans.iter().filter(|s| s.member == m && s.what == '#').map(|s| s.end - s.start).sum()
        };
        self.bands.iter().enumerate().map(|(m, b)| b.rows as f64 / busy(m).max(1) as f64).collect()
    }
}
