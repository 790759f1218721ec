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

use super::team::{Span, Team, clock};
use crate::args;
use crate::cl::queue::{Done, Queue};
use crate::cl::relay::{Relay, relay};
use crate::cl::{Buffer, Kernel, Plain};
use crate::error::Result;
use std::time::{Duration, Instant};

/// A picture's shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub width: usize,
    pub height: usize,
    /// Rows of the neighbours that a row depends on, on either side.
    pub halo: usize,
    /// Whether the first row and the last one are neighbours.
    pub wraps: bool,
}

/// A device's part.
struct Band<'t, T: Plain> {
    kernels: Queue<'t>,
    reads: Queue<'t>,
    writes: Queue<'t>,
    first: usize,
    rows: usize,
    boards: Vec<Buffer<T>>,
    // Halos on their way here.
    arriving: Vec<Done>,
    // What the device's clock must be advanced by.
    clock: i64,
}

/// The bands of a picture of `T`s, in so many boards: a step reads one and writes another one.
pub(crate) struct Bands<'t, T: Plain> {
    shape: Shape,
    bands: Vec<Band<'t, T>>,
    under_way: Vec<Relay<T>>,
    log: Vec<Logged>,
}

/// Reads a board, writes another one, and whether the halos of what it wrote are sent on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub from: usize,
    pub to: usize,
    pub exchange: bool,
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

/// Rows of a picture, with the halo; beyond the edge of what does not wrap are zeros.
pub(crate) fn band<T: Plain>(picture: &[T], shape: Shape, first: usize, rows: usize) -> Vec<T> {
    let Shape { width, height, halo, wraps } = shape;
    let mut data = Vec::with_capacity((rows + 2 * halo) * width);
    // Counted so that nothing is negative.
    let before = halo.next_multiple_of(height);
    for row in first + before - halo..first + before + rows + halo {
        match row.checked_sub(before) {
            Some(row) if row < height => data.extend_from_slice(&picture[row * width..][..width]),
            _ if wraps => data.extend_from_slice(&picture[row % height * width..][..width]),
            _ => data.extend(std::iter::repeat_n(T::default(), width)),
        }
    }
    data
}

/// The first row and the number of rows of the two edges and of what lies between them. All is one edge where the edges
/// meet, or nobody waits for them.
pub(crate) fn parts(rows: usize, halo: usize, exchange: bool) -> [(usize, usize); 3] {
    if !exchange || rows < 2 * halo + 1 {
        return [(halo, rows), (0, 0), (0, 0)];
    }
    [(halo, halo), (rows, halo), (2 * halo, rows - 2 * halo)]
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
        let mut bands = Vec::new();
        for (member, &rows) in team.members.iter().zip(split) {
            let len = (rows + 2 * shape.halo) * shape.width;
            let boards = (0..boards).map(|_| member.zeroed::<T>(len)).collect::<Result<Vec<_>>>()?;
            let queues = [member.queue()?, member.queue()?, member.queue()?];
            let probe = || Ok(queues[1].read(&boards[0], 0, vec![T::default()], &[])?.done().clone());
            let clock = clock(&queues[1], probe, epoch)?;
            let [kernels, reads, writes] = queues;
            bands.push(Band { kernels, reads, writes, first, rows, boards, arriving: Vec::new(), clock });
            first += rows;
        }
        Ok(Bands { shape, bands, under_way: Vec::new(), log: Vec::new() })
    }

    /// Writes a picture to a board of all devices, with the halos. Beyond the edge of what does not wrap are zeros.
    pub fn scatter(&mut self, board: usize, picture: &[T]) -> Result<()> {
        for band in &self.bands {
            let data = self::band(picture, self.shape, band.first, band.rows);
            band.writes.write(&band.boards[board], 0, data, &[])?.wait()?;
        }
        Ok(())
    }

    /// The picture on a board, when all steps are done.
    pub fn gather(&mut self, board: usize) -> Result<Vec<T>> {
        self.settle()?;
        let Shape { width, height, halo, .. } = self.shape;
        let mut picture = Vec::with_capacity(width * height);
        for band in &self.bands {
            let into = vec![T::default(); band.rows * width];
            picture.extend(band.reads.read(&band.boards[board], halo * width, into, &[])?.wait()?);
        }
        Ok(picture)
    }

    /// Enqueues a step of each device's kernel: `kernel(in, out, first, top)` computes a row of the band for each of
    /// its range's second dimension, from `first` on; `top` is the number of the picture's row that the band begins
    /// with, halo included.
    pub fn step(&mut self, kernels: &[Kernel], step: Step) -> Result<()> {
        let Shape { width, halo, .. } = self.shape;
        let parts: Vec<[(usize, usize); 3]> = self.bands.iter().map(|b| parts(b.rows, halo, step.exchange)).collect();
        let launch = |band: &Band<'t, T>, kernel: &Kernel, (first, rows): (usize, usize), after: &[&Done]| {
            let top = band.first as i32 - halo as i32;
            let (from, to) = (&band.boards[step.from], &band.boards[step.to]);
            let args = args![from, to, first as i32, top];
            band.kernels.launch(kernel, args, [&[], &[width, rows], &[]], after)
        };
        let mut edges = Vec::new();
        for (m, (band, kernel)) in self.bands.iter_mut().zip(kernels).enumerate() {
            let arriving = std::mem::take(&mut band.arriving);
            let after: Vec<&Done> = arriving.iter().collect();
            let first = launch(band, kernel, parts[m][0], &after)?;
            let last = if parts[m][1].1 > 0 { launch(band, kernel, parts[m][1], &[])? } else { first.clone() };
            band.kernels.flush()?;
            edges.push([first, last]);
        }
        // Before the inner rows, so that a device that takes one command after the other does not finish those first.
        if step.exchange {
            self.exchange(&edges, step.to)?;
        }
        for (m, (band, kernel)) in self.bands.iter().zip(kernels).enumerate() {
            let [first, last] = &edges[m];
            self.log.push(Logged::kernel(m, first));
            if parts[m][1].1 > 0 {
                self.log.push(Logged::kernel(m, last));
            }
            if parts[m][2].1 > 0 {
                let inner = launch(band, kernel, parts[m][2], &[])?;
                band.kernels.flush()?;
                self.log.push(Logged::kernel(m, &inner));
            }
        }
        Ok(())
    }

    /// Sends the first rows of each band up and the last ones down.
    fn exchange(&mut self, edges: &[[Done; 2]], board: usize) -> Result<()> {
        let Shape { width, halo, wraps, .. } = self.shape;
        let n = self.bands.len();
        for (m, [first, last]) in edges.iter().enumerate() {
            let up = if m > 0 { Some(m - 1) } else { wraps.then_some(n - 1) };
            let down = if m + 1 < n { Some(m + 1) } else { wraps.then_some(0) };
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
                self.bands[to].arriving.push(relay.written().clone());
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
        let clock = |m: usize, t: Duration| t.as_nanos() as i64 + self.bands[m].clock;
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
