//! The longest common subsequence: row by row, or in bands of 64 rows whose cells on an anti-diagonal are computed at
//! once, the bands by several threads, each a little behind the one above.

use super::{Clock, Style};
use crate::error::Result;
use crate::params::Params;
use crate::program::Answer;
use crate::programs::graph::lcs::Task;
use pulp::Arch;
use std::hint::black_box;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

/// Rows of a band. The distance of the rows that are kept is a multiple of it.
const BAND: usize = 64;
/// Columns after which the band below may go on.
const STEP: usize = 512;

/// Cells of an anti-diagonal of a band: lane i is in row i; lane 0 is preceded by the cell of the row above.
type Diagonal = [i32; BAND + 1];

/// Computes the diagonals from `first` on, one for each cell of `above` after its first; `below` gets what lane `last`
/// computes.
///
/// On diagonal d lane i is in column d - i + 1, where `reversed` has the symbols for all lanes consecutively, from
/// `start` on for the first diagonal and one earlier for each that follows.
#[inline(always)]
fn advance(
    symbols: &[i32; BAND],
    reversed: &[i32],
    start: usize,
    above: &[i32],
    [one, two]: [&mut Diagonal; 2],
    last: usize,
    below: &mut [i32],
) {
    for (k, out) in below.iter_mut().enumerate() {
        let Some(window) = reversed[start - k..].first_chunk::<BAND>() else { return };
        (two[0], one[0]) = (above[k], above[k + 1]);
        let mut now: Diagonal = [0; BAND + 1];
        for i in 0..BAND {
            let same = i32::from(symbols[i] == window[i]);
            now[i + 1] = one[i].max(one[i + 1]).max(two[i] + same);
        }
        *out = now[last + 1];
        *two = *one;
        *one = now;
    }
}

/// The table's rows 0, 64, 128 … and its last one, as the threads fill them.
struct Rows {
    cells: Vec<AtomicI32>,
    /// How many columns of each row are there.
    ready: Vec<AtomicUsize>,
    pitch: usize,
}

impl Rows {
    fn row(&self, r: usize) -> &[AtomicI32] {
        &self.cells[r * self.pitch..][..self.pitch]
    }
}

fn band(task: &Task, reversed: &[i32], rows: &Rows, r: usize, arch: Arch) {
    let n = task.b.len();
    let part = &task.a[r * BAND..task.a.len().min((r + 1) * BAND)];
    // 1 and 2 occur in no text.
    let mut symbols = [1i32; BAND];
    symbols.iter_mut().zip(part).for_each(|(s, &a)| *s = i32::from(a));
    let last = part.len() - 1;
    let (mut one, mut two): (Diagonal, Diagonal) = ([0; BAND + 1], [0; BAND + 1]);
    let (mut above, mut below) = ([0i32; STEP + 1], [0i32; STEP]);
    let (upper, lower) = (rows.row(r), rows.row(r + 1));
    let all = n + last;
    for first in (0..all).step_by(STEP) {
        let count = STEP.min(all - first);
        // Diagonal k reads columns k and k + 1 of the row above: one column more than there are diagonals.
        let wanted = (first + count + 1).min(n + 1);
        // Pairs with the release below: the cells up to `ready` are then visible.
        while rows.ready[r].load(Ordering::Acquire) < wanted {
            std::hint::spin_loop();
            std::thread::yield_now();
        }
        for (k, cell) in above[..=count].iter_mut().enumerate() {
            *cell = upper[(first + k).min(n)].load(Ordering::Relaxed);
        }
        let start = n + BAND - 1 - first;
        arch.dispatch(
            #[inline(always)]
            || advance(&symbols, reversed, start, &above, [&mut one, &mut two], last, &mut below[..count]),
        );
        // Diagonal d leaves column d - last + 1.
        let mut end = 0;
        for (k, &value) in below[..count].iter().enumerate() {
            if let Some(column) = (first + k + 1).checked_sub(last).filter(|&c| c > 0) {
                lower[column].store(value, Ordering::Relaxed);
                end = column + 1;
            }
        }
        if end > 0 {
            // After the cells: who sees this number sees them, too.
            rows.ready[r + 1].store(end, Ordering::Release);
        }
    }
}

fn vectors(task: &Task) -> Rows {
    let (m, n) = (task.a.len(), task.b.len());
    let bands = m.div_ceil(BAND);
    let pitch = n + 1;
    let rows = Rows {
        cells: (0..(bands + 1) * pitch).map(|_| AtomicI32::new(0)).collect(),
        ready: (0..=bands).map(|_| AtomicUsize::new(0)).collect(),
        pitch,
    };
    rows.ready[0].store(pitch, Ordering::Release);
    let mut reversed = vec![2i32; n + 2 * BAND];
    for (k, &symbol) in task.b.iter().rev().enumerate() {
        reversed[BAND + k] = i32::from(symbol);
    }
    let arch = Arch::new();
    let next = AtomicUsize::new(0);
    // Bands are taken in their order: the one above is done, or some thread is at it.
    rayon::broadcast(|_| {
        loop {
            let r = next.fetch_add(1, Ordering::Relaxed);
            if r >= bands {
                return;
            }
            band(task, &reversed, &rows, r, arch);
        }
    });
    rows
}

/// Whether the rows that are kept are some of those between the bands.
pub fn has_step(params: &Params) -> bool {
    params.number("step", BAND as u32, 1..=1 << 20).is_ok_and(|step| step.is_multiple_of(BAND as u32))
}

pub fn run(params: &Params, style: Style, clock: &mut Clock<'_>) -> Result<Answer> {
    let task = Task::of(params)?;
    let mut answer = Vec::new();
    match style {
        Style::Scalar => {
            clock.measure(|| {
                let (kept, value) = task.reference();
                answer = kept;
                answer.push(value);
            });
        }
        Style::Vector => {
            let mut rows = None;
            clock.measure(|| rows = black_box(Some(vectors(&task))));
            if let Some(rows) = rows {
                let kept = (0..task.kept()).map(|k| rows.row(k * (task.step / BAND)));
                answer = kept.flatten().map(|c| c.load(Ordering::Relaxed)).collect();
                answer.push(rows.cells[rows.cells.len() - 1].load(Ordering::Relaxed));
            }
        }
    }
    Ok(Answer::Exact(answer.into_iter().map(|v| v as u32).collect()))
}
