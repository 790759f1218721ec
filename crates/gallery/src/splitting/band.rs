//! A band of rows of a picture on a device, with a few rows of its neighbours around it: the halo. What several devices
//! (`parts`) and several processes (`ranks`) have in common: how a band is cut out of a picture, and how a step
//! computes the rows that neighbours need before the others.

use crate::args;
use crate::cl::queue::{Done, Queue};
use crate::cl::{Buffer, Kernel, Plain, Session};
use crate::error::Result;
use crate::splitting::domain::{Domain, Part, Way};

/// A picture's shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Elements of a row.
    pub width: usize,
    /// Work-items that compute a row.
    pub items: usize,
    pub height: usize,
    /// Rows of the neighbours that a row depends on, on either side.
    pub halo: usize,
    /// Whether the first row and the last one are neighbours.
    pub wraps: bool,
}

pub(crate) use crate::splitting::domain::Step;

/// A device's part.
pub(crate) struct Band<'s, T: Plain> {
    pub shape: Shape,
    pub kernels: Queue<'s>,
    pub reads: Queue<'s>,
    pub writes: Queue<'s>,
    /// The first row of the picture that it has, and how many.
    pub first: usize,
    pub rows: usize,
    pub boards: Vec<Buffer<T>>,
}

/// The first row and the number of rows of a launch.
pub(crate) type Rows = (usize, usize);

/// The bands before and after one of `n`; the last one and the first are neighbours where the picture wraps.
pub(crate) fn neighbours(part: usize, n: usize, wraps: bool) -> [Option<usize>; 2] {
    let up = if part > 0 { Some(part - 1) } else { wraps.then_some(n - 1) };
    let down = if part + 1 < n { Some(part + 1) } else { wraps.then_some(0) };
    [up, down]
}

/// Rows of a picture, with the halo; beyond the edge of what does not wrap are zeros.
fn cut<T: Plain>(picture: &[T], shape: Shape, first: usize, rows: usize) -> Vec<T> {
    let Shape { width, height, halo, wraps, .. } = shape;
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
fn parts(rows: usize, halo: usize, exchange: bool) -> [Rows; 3] {
    if !exchange || rows < 2 * halo + 1 {
        return [(halo, rows), (0, 0), (0, 0)];
    }
    [(halo, halo), (rows, halo), (2 * halo, rows - 2 * halo)]
}

impl<'s, T: Plain> Band<'s, T> {
    /// So many rows of a picture from `first` on, with zeros in all boards.
    pub fn new(session: &'s Session, shape: Shape, (first, rows): Rows, boards: usize) -> Result<Band<'s, T>> {
        let len = (rows + 2 * shape.halo) * shape.width;
        let boards = (0..boards).map(|_| session.zeroed::<T>(len)).collect::<Result<Vec<_>>>()?;
        let [kernels, reads, writes] = [session.queue()?, session.queue()?, session.queue()?];
        Ok(Band { shape, kernels, reads, writes, first, rows, boards })
    }

    /// Writes its part of a picture to a board, with the halo. Beyond the edge of what does not wrap are zeros.
    pub fn write(&self, board: usize, picture: &[T]) -> Result<()> {
        let data = cut(picture, self.shape, self.first, self.rows);
        self.writes.write(&self.boards[board], 0, data, &[])?.wait().map(drop)
    }

    /// Its rows on a board.
    pub fn read(&self, board: usize) -> Result<Vec<T>> {
        let into = vec![T::default(); self.rows * self.shape.width];
        self.reads.read(&self.boards[board], self.shape.halo * self.shape.width, into, &[])?.wait()
    }

    /// Enqueues `kernel(in, out, first, top, more...)`, which computes a row of the band for each of its range's second
    /// dimension, from `first` on; `top` is the number of the picture's row that the band begins with, halo included.
    fn launch(&self, kernel: &Kernel, step: Step<'_>, (first, rows): Rows, after: &[&Done]) -> Result<Done> {
        let top = self.first as i32 - self.shape.halo as i32;
        let own = args![&self.boards[step.from], &self.boards[step.to], first as i32, top];
        let args = [own, step.more].concat();
        self.kernels.launch(kernel, &args, [&[], &[self.shape.items, rows], &[]], after)
    }

    /// Enqueues the rows that neighbours need, the first ones and the last ones: all of them, where nobody needs any or
    /// there are not more. Both are one launch then.
    pub fn edges(&self, kernel: &Kernel, step: Step<'_>, after: &[&Done]) -> Result<[Done; 2]> {
        let [first, last, _] = parts(self.rows, self.shape.halo, step.exchange);
        let first = self.launch(kernel, step, first, after)?;
        // The queue is in order: what the first launch waited for, the second one has waited for too.
        let last = if last.1 > 0 { self.launch(kernel, step, last, &[])? } else { first.clone() };
        self.kernels.flush()?;
        Ok([first, last])
    }

    /// Enqueues the rows between the edges, if there are any.
    pub fn inner(&self, kernel: &Kernel, step: Step<'_>) -> Result<Option<Done>> {
        let [_, _, inner] = parts(self.rows, self.shape.halo, step.exchange);
        if inner.1 == 0 {
            return Ok(None);
        }
        let done = self.launch(kernel, step, inner, &[])?;
        self.kernels.flush()?;
        Ok(Some(done))
    }
}

impl<T: Plain> Domain<T> for Shape {
    type Part<'s> = Band<'s, T>;
    const UNITS: &'static str = "rows";

    fn units(&self) -> usize {
        self.height
    }

    fn least(&self) -> usize {
        // A neighbour wants so many of them.
        self.halo.max(1)
    }

    fn parts<'s>(
        &self,
        members: &'s [Session],
        split: &[usize],
        boards: usize,
    ) -> Result<(Vec<Band<'s, T>>, Vec<Way>)> {
        let mut first = 0;
        let band = |(member, &rows): (&'s Session, &usize)| {
            first += rows;
            Band::new(member, *self, (first - rows, rows), boards)
        };
        let bands = members.iter().zip(split).map(band).collect::<Result<_>>()?;
        Ok((bands, ways(*self, split)))
    }
}

/// The first rows of each band go up and the last ones down.
fn ways(shape: Shape, split: &[usize]) -> Vec<Way> {
    let Shape { width, halo, wraps, .. } = shape;
    let mut ways = Vec::new();
    for (from, &rows) in split.iter().enumerate() {
        let [up, down] = neighbours(from, split.len(), wraps);
        let mut way = |to, edge, row: usize, target: usize| {
            ways.push(Way { from, to, source: row * width, edge, target: target * width, len: halo * width });
        };
        if let Some(up) = up {
            way(up, 0, halo, halo + split[up]);
        }
        if let Some(down) = down {
            way(down, 1, rows, 0);
        }
    }
    ways
}

impl<T: Plain> Part<T> for Band<'_, T> {
    fn kernels(&self) -> &Queue<'_> {
        &self.kernels
    }

    fn reads(&self) -> &Queue<'_> {
        &self.reads
    }

    fn writes(&self) -> &Queue<'_> {
        &self.writes
    }

    fn board(&self, board: usize) -> &Buffer<T> {
        &self.boards[board]
    }

    fn outgoing(&self, board: usize) -> &Buffer<T> {
        &self.boards[board]
    }

    fn write(&self, board: usize, all: &[T]) -> Result<()> {
        Band::write(self, board, all)
    }

    fn read(&self, board: usize) -> Result<Vec<T>> {
        Band::read(self, board)
    }

    fn edges(&self, kernels: &[Kernel], step: Step<'_>, after: &[&Done]) -> Result<[Done; 2]> {
        Band::edges(self, &kernels[step.kernel], step, after)
    }

    fn inner(&self, kernels: &[Kernel], step: Step<'_>) -> Result<Option<Done>> {
        Band::inner(self, &kernels[step.kernel], step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_has_its_neighbours_rows_around_it() {
        let shape = |wraps| Shape { width: 1, items: 1, height: 4, halo: 1, wraps };
        assert_eq!(cut(&[1u32, 2, 3, 4], shape(true), 0, 2), [4, 1, 2, 3]);
        assert_eq!(cut(&[1u32, 2, 3, 4], shape(false), 2, 2), [2, 3, 4, 0]);
        // A halo of more rows than the picture has.
        assert_eq!(cut(&[1u32, 2], Shape { height: 2, halo: 3, ..shape(true) }, 0, 2), [2, 1, 2, 1, 2, 1, 2, 1]);
    }

    #[test]
    fn edges_and_inner_rows_are_all_rows_once() {
        assert_eq!(parts(10, 2, true), [(2, 2), (10, 2), (4, 6)]);
        assert_eq!(parts(4, 2, true), [(2, 4), (0, 0), (0, 0)]);
        assert_eq!(parts(10, 2, false), [(2, 10), (0, 0), (0, 0)]);
    }

    #[test]
    fn the_ends_are_neighbours_where_the_picture_wraps() {
        assert_eq!(neighbours(0, 3, true), [Some(2), Some(1)]);
        assert_eq!(neighbours(2, 3, false), [Some(1), None]);
        assert_eq!(neighbours(0, 1, true), [Some(0), Some(0)]);
        let shape = Shape { width: 10, items: 10, height: 7, halo: 1, wraps: false };
        let way = |from, to, source, edge, target| Way { from, to, source, edge, target, len: 10 };
        assert_eq!(ways(shape, &[3, 4]), [way(0, 1, 30, 1, 0), way(1, 0, 10, 0, 40)]);
        assert!(ways(shape, &[7]).is_empty());
    }
}
