//! What several devices share: a domain whose elements are counted in units, rows of a picture or cells of a mesh. Each
//! device has a stretch of units, and around it copies of those elements of the others that it depends on: the halo.
//! Here is what the devices' common steps (`parts`) ask of a domain; [`Shape`](super::band::Shape) is that of a
//! picture.

use crate::cl::queue::{Done, Queue};
use crate::cl::{Arg, Buffer, Kernel, Plain, Session};
use crate::error::Result;

/// Reads a board, writes another one, and whether the halos of what it wrote are sent on.
#[derive(Clone, Copy)]
pub(crate) struct Step<'p> {
    /// Which of the kernels.
    pub kernel: usize,
    pub from: usize,
    pub to: usize,
    pub exchange: bool,
    /// What the kernel takes after the arguments that all have.
    pub more: &'p [Arg],
}

/// Elements that go from one part to the halo of another one in each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub from: usize,
    pub to: usize,
    /// The first element in what the part sends, and which of its two edges computes it.
    pub source: usize,
    pub edge: usize,
    /// The first element on the board that they go to.
    pub target: usize,
    pub len: usize,
}

/// What is split.
pub(crate) trait Domain<T: Plain> {
    /// A device's part of it.
    type Part<'s>: Part<T>;
    /// What it is counted in.
    const UNITS: &'static str;

    /// How many units it has.
    fn units(&self) -> usize;

    /// How many units a part has at least.
    fn least(&self) -> usize;

    /// Parts of so many units on these devices, with zeros on all boards, and the ways between them.
    ///
    /// Who sends to another part must also get from it: a part then begins a step only when those to which it sends
    /// have what it sent two steps ago, and is never ahead of what they still read.
    fn parts<'s>(
        &self,
        members: &'s [Session],
        split: &[usize],
        boards: usize,
    ) -> Result<(Vec<Self::Part<'s>>, Vec<Way>)>;
}

/// A device's part.
pub(crate) trait Part<T: Plain> {
    /// The queue of its kernels.
    fn kernels(&self) -> &Queue<'_>;

    /// The queue on which its elements are read.
    fn reads(&self) -> &Queue<'_>;

    /// The queue on which its boards are written.
    fn writes(&self) -> &Queue<'_>;

    fn board(&self, board: usize) -> &Buffer<T>;

    /// Where the elements lie that it sends when this board has been computed.
    fn outgoing(&self, board: usize) -> &Buffer<T>;

    /// Writes its elements of the domain to a board, with the halo.
    fn write(&self, board: usize, all: &[T]) -> Result<()>;

    /// Its elements on a board, without the halo, in the domain's order.
    fn read(&self, board: usize) -> Result<Vec<T>>;

    /// Enqueues what others need, in two launches or in one that counts as both; everything, where nobody needs any.
    fn edges(&self, kernels: &[Kernel], step: Step<'_>, after: &[&Done]) -> Result<[Done; 2]>;

    /// Enqueues the rest, if there is any.
    fn inner(&self, kernels: &[Kernel], step: Step<'_>) -> Result<Option<Done>>;
}
