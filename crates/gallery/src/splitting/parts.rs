//! A domain in parts, one a device, each with copies of the others' elements that it depends on: the halo.
//!
//! A step computes what others need first, and sends it on while it computes the rest:
//!
//! ```text
//! kernels  [edges][      inner      ][edges][   inner …
//! halos           [out]                     [out]
//!                   [in]  ── the next step's edges wait for it, by its event
//! ```
//!
//! The host enqueues step after step and waits for none of them.

use crate::cl::queue::Done;
use crate::cl::relay::{Relay, relay};
use crate::cl::{Kernel, Plain};
use crate::error::Result;
use crate::splitting::domain::{Domain, Part, Step, Way};
use crate::splitting::worker_group::{Span, WorkerGroup, clock};
use std::time::{Duration, Instant};

/// The parts of a domain of `T`s, in so many boards: a step reads one and writes another one.
pub(crate) struct Parts<'t, D: Domain<T> + 't, T: Plain> {
    parts: Vec<D::Part<'t>>,
    ways: Vec<Way>,
    split: Vec<usize>,
    // Halos on their way to each part.
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

impl<'t, D: Domain<T>, T: Plain> Parts<'t, D, T> {
    /// Parts of so many units, with zeros in all boards.
    pub fn new(group: &'t WorkerGroup, domain: &D, split: &[usize], boards: usize) -> Result<Parts<'t, D, T>> {
        let epoch = Instant::now();
        let (parts, ways) = domain.parts(&group.members, split, boards)?;
        let offset = |part: &D::Part<'t>| {
            let probe = || Ok(part.reads().read(part.board(0), 0, vec![T::default()], &[])?.done().clone());
            clock(part.reads(), probe, epoch)
        };
        let clocks = parts.iter().map(offset).collect::<Result<_>>()?;
        let arriving = parts.iter().map(|_| Vec::new()).collect();
        Ok(Parts { parts, ways, split: split.to_vec(), arriving, clocks, under_way: Vec::new(), log: Vec::new() })
    }

    /// Writes all elements to a board of the devices, with the halos.
    pub fn scatter(&self, board: usize, all: &[T]) -> Result<()> {
        self.parts.iter().try_for_each(|part| part.write(board, all))
    }

    /// The elements on a board, when all steps are done.
    pub fn gather(&mut self, board: usize) -> Result<Vec<T>> {
        self.settle()?;
        let mut all = Vec::new();
        for part in &self.parts {
            all.extend(part.read(board)?);
        }
        Ok(all)
    }

    /// Enqueues a step on each device, whose kernels these are.
    pub fn step(&mut self, kernels: &[Vec<Kernel>], step: Step<'_>) -> Result<()> {
        let mut edges = Vec::new();
        for ((part, kernels), arriving) in self.parts.iter().zip(kernels).zip(&mut self.arriving) {
            let arriving = std::mem::take(arriving);
            let after: Vec<&Done> = arriving.iter().collect();
            edges.push(part.edges(kernels, step, &after)?);
        }
        // Before the rest, so that a device that takes one command after the other does not finish that first.
        if step.exchange {
            self.exchange(&edges, step.to)?;
        }
        for (m, (part, kernels)) in self.parts.iter().zip(kernels).enumerate() {
            let [first, last] = &edges[m];
            self.log.push(Logged::kernel(m, first));
            // One launch that counts as both edges is told once.
            if !first.is(last) {
                self.log.push(Logged::kernel(m, last));
            }
            if let Some(inner) = part.inner(kernels, step)? {
                self.log.push(Logged::kernel(m, &inner));
            }
        }
        Ok(())
    }

    /// Sends what others need.
    fn exchange(&mut self, edges: &[[Done; 2]], board: usize) -> Result<()> {
        for way in &self.ways {
            let (source, target) = (&self.parts[way.from], &self.parts[way.to]);
            let edge = &edges[way.from][way.edge];
            // No command of the receiver to wait for: only its edges read this halo, and the sender's step began when
            // it had what those edges computed (see `Domain::parts`).
            let relay = relay(
                (source.reads(), source.outgoing(board), way.source),
                (target.writes(), target.board(board), way.target),
                way.len,
                &[edge],
                &[],
            )?;
            let written = relay.written().clone();
            let begins = (way.from, edge.clone());
            self.log.push(Logged { member: way.to, what: '<', begins, ends: written.clone() });
            self.arriving[way.to].push(written);
            self.under_way.push(relay);
        }
        Ok(())
    }

    /// Waits for all steps.
    pub fn settle(&mut self) -> Result<()> {
        for relay in self.under_way.drain(..) {
            relay.wait()?;
        }
        for part in &self.parts {
            part.kernels().finish()?;
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
            // Clocks of two devices are matched within microseconds at best: a halo could seem to arrive before it is
            // sent.
            spans.push(Span { member, what, start: start.min(end), end });
        }
        Ok(spans)
    }

    /// The units of each device.
    pub fn split(&self) -> &[usize] {
        &self.split
    }

    /// The elements that each device gets of the others in a step.
    pub fn received(&self) -> Vec<usize> {
        let of = |m: usize| self.ways.iter().filter(|w| w.to == m).map(|w| w.len).sum();
        (0..self.parts.len()).map(of).collect()
    }

    /// Units a second of each device, by what its kernels took.
    pub fn speeds(&self, spans: &[Span]) -> Vec<f64> {
        let busy = |m: usize| -> i64 {
            spans.iter().filter(|s| s.member == m && s.what == '#').map(|s| s.end - s.start).sum()
        };
        self.split.iter().enumerate().map(|(m, &units)| units as f64 / busy(m).max(1) as f64).collect()
    }
}
