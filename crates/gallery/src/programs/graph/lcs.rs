//! `lcs`: the longest common subsequence of two texts, or their edit distance, and the subsequence or the edits
//! themselves.
//!
//! The kernels fill the table in three orders and keep every STEP-th row. The host traces back from the last cell,
//! recomputing the few bands of rows that the path crosses. Checked three ways: every kept row against the reference's,
//! the value, and the edits, which must turn one text into the other at that cost.

use crate::args;
use crate::cl::{Built, Kernel, Session, Times, round_up};
use crate::error::{Error, Result};
use crate::inputs;
use crate::params::Params;
use crate::picture::{Picture, rgb};
use crate::program::{Answer, Outcome, Program, Variant, Verdict, Work, same};

pub struct Lcs;

const SOURCE: &str = include_str!("../../../kernels/lcs.cl");
/// Cells that the vector kernel computes at once.
const VECTOR: usize = 8;

#[derive(Clone, Copy)]
pub(crate) struct Rule {
    pub(crate) edit: bool,
}

impl Rule {
    fn border(self, i: usize) -> i32 {
        if self.edit { i as i32 } else { 0 }
    }

    fn cell(self, diagonal: i32, up: i32, left: i32, same: bool) -> i32 {
        match (self.edit, same) {
            (true, same) => (up.min(left) + 1).min(diagonal + i32::from(!same)),
            (false, same) => up.max(left).max(diagonal + i32::from(same)),
        }
    }

    /// The rows below `above` for the symbols of `a`, up to column `columns`; `first` is the number of the row above.
    fn band(self, a: &[u8], b: &[u8], first: usize, above: &[i32], columns: usize) -> Vec<Vec<i32>> {
        let mut band = vec![above[..=columns].to_vec()];
        for (i, &x) in a.iter().enumerate() {
            let up = &band[i];
            let mut row = Vec::with_capacity(columns + 1);
            row.push(self.border(first + i + 1));
            for j in 1..=columns {
                row.push(self.cell(up[j - 1], up[j], row[j - 1], x == b[j - 1]));
            }
            band.push(row);
        }
        band
    }
}

/// What one step back from the last cell means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Keep,
    Replace,
    Delete,
    Insert,
}

/// The results of a variant: its times, the kept rows and the last cell.
type Table = (Times, Vec<i32>, i32);

/// Two texts and what is asked of them.
pub(crate) struct Task {
    pub(crate) a: Vec<u8>,
    pub(crate) b: Vec<u8>,
    pub(crate) rule: Rule,
    pub(crate) step: usize,
}

impl Task {
    pub(crate) fn of(params: &Params) -> Result<Task> {
        params.only(&["problem", "step"])?;
        // Lengths, not the sides of something that is kept whole.
        let (m, n) = params.size.unwrap_or((4096, 4096));
        if m == 0 || n == 0 || m > 1 << 22 || n > 1 << 22 {
            return Err(Error::Params(format!("-s {m}x{n}: texts have from 1 to 4 M symbols")));
        }
        let edit = params.choice("problem", &["lcs", "edit"])? == "edit";
        let step = params.number("step", 64, 8..=4096)?;
        if step % VECTOR as u32 != 0 {
            return Err(Error::Params(format!("-c step={step}: give a multiple of {VECTOR}")));
        }
        // The kernels count the cells of the rows that are kept, of the skewed ones too, in 32 bits.
        let kept = (m / step as usize + 4096) * (2 * m + n + 4096);
        if kept > i32::MAX as usize {
            return Err(Error::Params(format!("{m} and {n} symbols with -c step={step}: give a larger step")));
        }
        let text = inputs::text(m.max(n));
        let b = inputs::edited(&text, n);
        Ok(Task { a: text[..m].to_vec(), b, rule: Rule { edit }, step: step as usize })
    }

    /// How many rows are kept: 0, step, 2 step, …
    pub(crate) fn kept(&self) -> usize {
        self.a.len() / self.step + 1
    }

    /// The kept rows and the last cell, one row after another.
    pub(crate) fn reference(&self) -> (Vec<i32>, i32) {
        let (n, rule) = (self.b.len(), self.rule);
        let mut row: Vec<i32> = (0..=n).map(|j| rule.border(j)).collect();
        let mut kept = row.clone();
        for (i, &x) in self.a.iter().enumerate() {
            // One row in place: what the last row had to the upper left is overwritten before it is needed, and kept
            // here.
            let mut diagonal = row[0];
            row[0] = rule.border(i + 1);
            let mut left = row[0];
            for (cell, &y) in row[1..].iter_mut().zip(&self.b) {
                let up = *cell;
                left = rule.cell(diagonal, up, left, x == y);
                *cell = left;
                diagonal = up;
            }
            if (i + 1) % self.step == 0 {
                kept.extend_from_slice(&row);
            }
        }
        (kept, row[n])
    }

    /// The steps from the first symbols to the last, found by tracing back over the kept rows.
    fn walk(&self, kept: &[i32]) -> std::result::Result<Vec<Step>, String> {
        let (mut i, mut j) = (self.a.len(), self.b.len());
        let pitch = self.b.len() + 1;
        let mut steps = Vec::with_capacity(i + j);
        while i > 0 {
            // The kept row above cell `i`: the band between is computed again, and nothing else of the table is ever
            // held.
            let first = (i - 1) / self.step * self.step;
            let above = &kept[first / self.step * pitch..][..pitch];
            let band = self.rule.band(&self.a[first..i], &self.b, first, above, j);
            while i > first {
                let here = band[i - first][j];
                let up = band[i - first - 1][j];
                let toll = i32::from(self.rule.edit);
                if j > 0 {
                    let same = self.a[i - 1] == self.b[j - 1];
                    let diagonal = band[i - first - 1][j - 1];
                    let gain = i32::from(same != self.rule.edit);
                    // Without a match, a step along the diagonal is an edit, but never part of a common subsequence.
                    if here == diagonal + gain && (same || self.rule.edit) {
                        steps.push(if same { Step::Keep } else { Step::Replace });
                        (i, j) = (i - 1, j - 1);
                        continue;
                    }
                    if here == band[i - first][j - 1] + toll {
                        steps.push(Step::Insert);
                        j -= 1;
                        continue;
                    }
                }
                if here != up + toll {
                    return Err(format!("no way leads back from cell {i}, {j}"));
                }
                steps.push(Step::Delete);
                i -= 1;
            }
        }
        steps.extend(std::iter::repeat_n(Step::Insert, j));
        steps.reverse();
        Ok(steps)
    }

    /// Whether the steps turn `a` into `b`, and at what value.
    fn replay(&self, steps: &[Step]) -> std::result::Result<i32, String> {
        let (mut i, mut j) = (0, 0);
        let (mut kept, mut edits) = (0, 0);
        for step in steps {
            match step {
                Step::Keep if self.a.get(i) == self.b.get(j) && i < self.a.len() => kept += 1,
                Step::Keep => return Err(format!("symbols {i} and {j} are not the same")),
                _ => edits += 1,
            }
            i += usize::from(*step != Step::Insert);
            j += usize::from(*step != Step::Delete);
        }
        if (i, j) != (self.a.len(), self.b.len()) {
            return Err(format!("the steps end at {i}, {j}"));
        }
        Ok(if self.rule.edit { edits } else { kept })
    }

    /// The path through the table, from the top left corner.
    fn picture(&self, steps: &[Step]) -> Picture {
        const SIDE: usize = 512;
        let mut picture = Picture::new(SIDE, SIDE, rgb(250, 250, 247));
        let (mut i, mut j) = (0, 0);
        for step in steps {
            let (x, y) = (j * SIDE / (self.b.len() + 1), i * SIDE / (self.a.len() + 1));
            let colour = match step {
                Step::Keep => rgb(30, 110, 60),
                Step::Replace => rgb(200, 140, 20),
                Step::Delete => rgb(200, 40, 40),
                Step::Insert => rgb(40, 70, 200),
            };
            for (x, y) in [(x, y), ((x + 1).min(SIDE - 1), y), (x, (y + 1).min(SIDE - 1))] {
                picture.pixels[y * SIDE + x] = colour;
            }
            i += usize::from(*step != Step::Insert);
            j += usize::from(*step != Step::Delete);
        }
        picture
    }

    fn diagonal(&self, session: &Session, built: &Built, params: &Params) -> Result<Table> {
        let (m, n) = (self.a.len(), self.b.len());
        let kernel = built.kernel("lcs_diagonal")?;
        let (a, b) = (session.upload(&self.a)?, session.upload(&self.b)?);
        let lines = [session.zeroed::<i32>(m + 1)?, session.zeroed(m + 1)?, session.zeroed(m + 1)?];
        let rows = session.zeroed::<i32>(self.kept() * (n + 1))?;
        let group = params.group_or(64)?;
        let times = session.measure(params.iterations, |_| {
            for d in 0..=m + n {
                // The cells of a diagonal: from row max(0, d - n) to row min(d, m).
                let first = d.saturating_sub(n);
                let cells = d.min(m) - first + 1;
                let [two, one, now] = [d + 1, d + 2, d].map(|k| &lines[k % 3]);
                let args = args![&a, &b, n as i32, d as i32, first as i32, cells as i32, two, one, now, &rows];
                session.launch(&kernel, args, &[round_up(cells, group)], &[group])?;
            }
            Ok(true)
        })?;
        let last = session.read(&lines[(m + n) % 3])?[m];
        Ok((times, session.read(&rows)?, last))
    }

    fn skewed(&self, session: &Session, built: &Built, params: &Params) -> Result<Table> {
        let (m, n) = (self.a.len(), self.b.len());
        let kernel = built.kernel("lcs_skewed")?;
        let group = params.group_or(16)?;
        let items = round_up((m + 1).div_ceil(VECTOR), group);
        let lanes = items * VECTOR;
        // 1 and 2 occur in no text.
        let mut a = vec![1u8; lanes];
        a[1..=m].copy_from_slice(&self.a);
        // Along an anti-diagonal, columns fall as rows rise. Reversed, the symbols that adjacent lanes need lie side by
        // side, so that one vector load brings them.
        let mut reversed = vec![2u8; m + VECTOR + n + lanes + VECTOR];
        for (k, &symbol) in self.b.iter().rev().enumerate() {
            reversed[m + VECTOR + k] = symbol;
        }
        // Lane i of the lines is at i + 1. Left of the table, row i holds border(i) in every column.
        let left: Vec<i32> = (0..lanes + 1).map(|k| self.rule.border(k.saturating_sub(1))).collect();
        let origin = lanes;
        let pitch = origin + m + n + 1;
        let (a, reversed) = (session.upload(&a)?, session.upload(&reversed)?);
        let lines = [session.upload(&left)?, session.upload(&left)?, session.upload(&left)?];
        // The lanes beyond the table keep rows of their own.
        let rows = session.zeroed::<i32>((lanes / self.step + 1) * pitch)?;
        let times = session.measure(params.iterations, |i| {
            if i > 0 {
                for line in &lines {
                    session.write(line, &left)?;
                }
            }
            for d in 0..=m + n {
                let [two, one, now] = [d + 1, d + 2, d].map(|k| &lines[k % 3]);
                let (m, n, d) = (m as i32, n as i32, d as i32);
                let args = args![&a, &reversed, m, n, d, two, one, now, &rows, pitch as i32, origin as i32];
                session.launch(&kernel, args, &[items], &[group])?;
            }
            Ok(true)
        })?;
        let last = session.read(&lines[(m + n) % 3])?[m + 1];
        let padded = session.read(&rows)?;
        let rows = (0..self.kept()).flat_map(|k| padded[k * pitch + origin..][..=n].to_vec()).collect();
        Ok((times, rows, last))
    }

    fn tiles(&self, session: &Session, kernel: &Kernel, params: &Params, group_a_tile: bool) -> Result<Table> {
        let (m, n) = (self.a.len(), self.b.len());
        let (down, across) = (m.div_ceil(self.step), n.div_ceil(self.step));
        let (a, b) = (session.upload(&self.a)?, session.upload(&self.b)?);
        let first: Vec<i32> = (1..=m).map(|i| self.rule.border(i)).collect();
        let columns = session.upload(&first)?;
        // A row more than there are tiles; the first one is the table's border.
        session.fits::<i32>((down + 1) * (n + 1))?;
        let mut start = vec![0; (down + 1) * (n + 1)];
        (0..=n).for_each(|j| start[j] = self.rule.border(j));
        let rows = session.upload(&start)?;
        let group = if group_a_tile { self.step } else { params.group_or(1)? };
        let times = session.measure(params.iterations, |i| {
            if i > 0 {
                session.write(&columns, &first)?;
            }
            // Tiles of one anti-diagonal depend on those of the ones before alone: a launch each, and no barrier
            // between groups.
            for wave in 0..down + across - 1 {
                let first = (wave + 1).saturating_sub(across);
                let count = (wave + 1).min(down) - first;
                let items = if group_a_tile { count * group } else { round_up(count, group) };
                let (wave, first, tiles) = (wave as i32, first as i32, count as i32);
                let args = args![&a, &b, m as i32, n as i32, wave, first, tiles, &columns, &rows];
                session.launch(kernel, args, &[items], &[group])?;
            }
            Ok(true)
        })?;
        let all = session.read(&rows)?;
        let last = all[down * (n + 1) + n];
        Ok((times, all[..self.kept() * (n + 1)].to_vec(), last))
    }
}

impl Program for Lcs {
    fn name(&self) -> &'static str {
        "lcs"
    }

    fn about(&self) -> &'static str {
        "longest common subsequence or edit distance of two texts"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "diagonal", about: "a launch an anti-diagonal, a work-item a cell" },
            Variant { name: "skewed", about: "the same, padded: eight cells at a time and no branch" },
            Variant { name: "tiles", about: "tiles that fit a cache, in wavefront order, no barrier" },
            Variant { name: "wavefront", about: "a group a tile, a work-item a row, a barrier a diagonal" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &["problem=lcs|edit: subsequence or edit distance", "step=64: side of a tile, and which rows are kept"]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let task = Task::of(params)?;
        let options = format!("-DEDIT={} -DSTEP={}", u32::from(task.rule.edit), task.step);
        Ok((options, format!("lcs_{}", self.variant(params)?)))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let task = Task::of(params)?;
        let (options, _) = self.build_options(params)?;
        let built = session.build("lcs", SOURCE, &options)?;
        let (times, rows, value) = match variant {
            "diagonal" => task.diagonal(session, &built, params)?,
            "skewed" => task.skewed(session, &built, params)?,
            "wavefront" => task.tiles(session, &built.kernel("lcs_wavefront")?, params, true)?,
            _ => task.tiles(session, &built.kernel("lcs_tiles")?, params, false)?,
        };

        let (want, want_value) = task.reference();
        let mut verdict = same(&rows, &want, "cells of the kept rows");
        let mut picture = None;
        let mut notes = Vec::new();
        if let Verdict::Passed(text) = &verdict {
            let name = if task.rule.edit { "distance" } else { "length" };
            let walked = task.walk(&rows).and_then(|steps| task.replay(&steps).map(|cost| (steps, cost)));
            verdict = match walked {
                Ok((steps, cost)) if cost == value && value == want_value => {
                    let kept = steps.iter().filter(|s| **s == Step::Keep).count();
                    notes.push(format!("{name} {value}; {kept} symbols kept, {} steps", steps.len()));
                    picture = Some(task.picture(&steps));
                    Verdict::Passed(format!("{text}, and the steps turn one text into the other"))
                }
                Ok((_, cost)) => {
                    Verdict::Failed(format!("{name} {value}, expected {want_value}; the steps make {cost}"))
                }
                Err(why) => Verdict::Failed(why),
            };
        }
        Ok(Outcome {
            variant,
            size: format!("{} and {} symbols", task.a.len(), task.b.len()),
            build: built.time,
            times,
            work: Some(Work::new(task.a.len() as f64 * task.b.len() as f64, "cell")),
            verdict,
            answer: Answer::Exact(rows.iter().chain([&value]).map(|&v| v as u32).collect()),
            picture,
            chart: None,
            notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(a: &str, b: &str, edit: bool) -> Task {
        Task { a: a.into(), b: b.into(), rule: Rule { edit }, step: 2 }
    }

    #[test]
    fn the_reference_knows_textbook_answers() {
        assert_eq!(task("kitten", "sitting", true).reference().1, 3);
        assert_eq!(task("ABCBDAB", "BDCABA", false).reference().1, 4);
        assert_eq!(task("abc", "xyz", false).reference().1, 0);
    }

    #[test]
    fn walking_back_gives_steps_of_the_right_cost() {
        for edit in [true, false] {
            let t = task("the quick brown fox", "he quit brwn foxes", edit);
            let (kept, value) = t.reference();
            let steps = t.walk(&kept).unwrap();
            assert_eq!(t.replay(&steps).unwrap(), value);
            let mut wrong = steps.clone();
            wrong[0] = Step::Keep;
            assert!(t.replay(&wrong).is_err());
        }
    }
}
