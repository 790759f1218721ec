//! The reference of `morph`: the same definitions in plain loops, integers where the kernels have integers, `f64` where
//! they have floats. It shares no code with them.
//!
//! In come two pictures and the settings, out comes what was found in their rows and, for any time, a frame.

use crate::common::threads;
use crate::picture::Picture;

pub struct Settings {
    pub threshold: i32,
    pub runs: usize,
    pub skip: i32,
    pub weights: Vec<f32>,
}

/// What is found in the rows of both pictures.
pub struct Analysis {
    pub edges: [Vec<u8>; 2],
    /// Start and length of the runs of each row.
    pub runs: [Vec<Vec<(i32, i32)>>; 2],
    pub cost: Vec<i32>,
    /// Twice the centres of matched runs, from the right end of each row to the left one.
    pub pairs: Vec<Vec<(i32, i32)>>,
    /// Half the way from A to B at each pixel of the middle frame.
    pub half: Vec<f64>,
}

fn at(data: &[i32], w: usize, x: isize, y: isize) -> i32 {
    let last = |n: usize| n as isize - 1;
    data[y.clamp(0, last(data.len() / w)) as usize * w + x.clamp(0, last(w)) as usize]
}

fn edges(picture: &Picture, threshold: i32) -> Vec<u8> {
    const TAPS: [i32; 5] = [1, 4, 6, 4, 1];
    let w = picture.width;
    let grey: Vec<i32> = picture.luma().iter().map(|&v| i32::from(v)).collect();
    let place = |i: usize| ((i % w) as isize, (i / w) as isize);
    let blurred: Vec<i32> = (0..grey.len())
        .map(|i| {
            let (x, y) = place(i);
            let row =
                |dy: isize| -> i32 { (-2..3).map(|dx| TAPS[(dx + 2) as usize] * at(&grey, w, x + dx, y + dy)).sum() };
            ((-2..3).map(|dy| TAPS[(dy + 2) as usize] * row(dy)).sum::<i32>() + 128) / 256
        })
        .collect();
    let gradient = |i: usize| {
        let (x, y) = place(i);
        let p = |dx: isize, dy: isize| at(&blurred, w, x + dx, y + dy);
        let across = |a: [i32; 3], b: [i32; 3]| (b[0] - a[0]) + 2 * (b[1] - a[1]) + (b[2] - a[2]);
        let gx = across([p(-1, -1), p(-1, 0), p(-1, 1)], [p(1, -1), p(1, 0), p(1, 1)]);
        let gy = across([p(-1, -1), p(0, -1), p(1, -1)], [p(-1, 1), p(0, 1), p(1, 1)]);
        gx.abs() + gy.abs()
    };
    (0..grey.len()).map(|i| u8::from(gradient(i) > threshold)).collect()
}

fn runs(row: &[u8], most: usize) -> Vec<(i32, i32)> {
    let mut found = Vec::new();
    let mut x = 0;
    for same in row.chunk_by(|a, b| a == b) {
        if same[0] == 1 {
            found.push((x, same.len() as i32));
        }
        x += same.len() as i32;
    }
    found.truncate(most);
    found
}

fn centre((start, length): (i32, i32)) -> i32 {
    // Twice the centre, in half pixels, so that it is a whole number for even lengths too.
    2 * start + length - 1
}

/// The cheapest alignment of two rows, from a full table of costs.
fn align(a: &[(i32, i32)], b: &[(i32, i32)], skip: i32) -> (i32, Vec<(i32, i32)>) {
    let match_cost = |i: usize, j: usize| (centre(a[i]) - centre(b[j])).abs() + 2 * (a[i].1 - b[j].1).abs();
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = match (i, j) {
                (0, _) => j as i32 * skip,
                (_, 0) => i as i32 * skip,
                _ => (table[i - 1][j - 1] + match_cost(i - 1, j - 1))
                    .min(table[i - 1][j] + skip)
                    .min(table[i][j - 1] + skip),
            };
        }
    }
    let (mut i, mut j, mut pairs) = (a.len(), b.len(), Vec::new());
    while i > 0 && j > 0 {
        // Ways of the same cost are tried in the kernel's order, so that both find the same pairs: a match, then
        // leaving out a run of A.
        if table[i][j] == table[i - 1][j - 1] + match_cost(i - 1, j - 1) {
            pairs.push((centre(a[i - 1]), centre(b[j - 1])));
            (i, j) = (i - 1, j - 1);
        } else if table[i][j] == table[i - 1][j] + skip {
            i -= 1;
        } else {
            j -= 1;
        }
    }
    (table[a.len()][b.len()], pairs)
}

/// The displacement of a row before it is smoothed.
fn displace(pairs: &[(i32, i32)], row: &mut [f64]) {
    let end = row.len() as f64;
    let inner = pairs.iter().rev().map(|&(a, b)| (f64::from(a + b) / 4.0, f64::from(b - a) / 4.0));
    // Both edges of the row stay where they are.
    let knots: Vec<(f64, f64)> = [(-1.0, 0.0)].into_iter().chain(inner).chain([(end, 0.0)]).collect();
    for (x, v) in row.iter_mut().enumerate() {
        let x = x as f64;
        let after = knots.partition_point(|k| k.0 <= x);
        let ((x0, d0), (x1, d1)) = (knots[after - 1], knots[after]);
        *v = d0 + (d1 - d0) * (x - x0) / (x1 - x0);
    }
}

pub fn analyse(pictures: &[Picture; 2], settings: &Settings) -> Analysis {
    let (w, h) = (pictures[0].width, pictures[0].height);
    let edges = [0, 1].map(|i| edges(&pictures[i], settings.threshold));
    let runs = [0, 1].map(|i| edges[i].chunks(w).map(|row| runs(row, settings.runs)).collect::<Vec<_>>());
    let (cost, pairs): (Vec<_>, Vec<_>) = (0..h).map(|y| align(&runs[0][y], &runs[1][y], settings.skip)).unzip();
    let mut rough = vec![0.0; w * h];
    threads::rows(&mut rough, w, threads::count(), |y, row| displace(&pairs[y], row));
    let mut half = vec![0.0; w * h];
    let radius = settings.weights.len() as isize / 2;
    threads::rows(&mut half, w, threads::count(), |y, row| {
        for (&weight, k) in settings.weights.iter().zip(-radius..) {
            let from = (y as isize + k).clamp(0, h as isize - 1) as usize * w;
            for (v, d) in row.iter_mut().zip(&rough[from..from + w]) {
                *v += f64::from(weight) * d;
            }
        }
    });
    Analysis { edges, runs, cost, pairs, half }
}

/// The three colours of each pixel at time `t`, not rounded.
pub fn frame(pictures: &[Picture; 2], half: &[f64], t: f32) -> Vec<[f64; 3]> {
    let (w, h, t) = (pictures[0].width, pictures[0].height, f64::from(t));
    let split = |x: f64| {
        let x = x.clamp(0.0, (w - 1) as f64);
        (x as usize, (x as usize + 1).min(w - 1), x.fract())
    };
    let mut out = vec![[0.0; 3]; w * h];
    threads::rows(&mut out, w, threads::count(), |y, row| {
        let half = &half[y * w..][..w];
        for (x, pixel) in row.iter_mut().enumerate() {
            let mut d = half[x];
            // As many rounds as the kernel: the rest of the error is then the same on both sides.
            for _ in 0..3 {
                let (i, j, f) = split(x as f64 - (2.0 * t - 1.0) * d);
                d = half[i] * (1.0 - f) + half[j] * f;
            }
            let sources = [x as f64 - 2.0 * t * d, x as f64 + 2.0 * (1.0 - t) * d];
            for ((picture, from), part) in pictures.iter().zip(sources).zip([1.0 - t, t]) {
                let (i, j, f) = split(from);
                let [a, b] = [i, j].map(|k| picture.pixels[y * w + k].to_le_bytes().map(f64::from));
                for (c, v) in pixel.iter_mut().enumerate() {
                    *v += part * (a[c] * (1.0 - f) + b[c] * f);
                }
            }
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_matched_in_order_and_far_ones_are_left_out() {
        assert_eq!(runs(&[1, 1, 0, 1, 0, 0, 1], 2), [(0, 2), (3, 1)]);
        let (a, b) = ([(10, 2), (40, 2), (90, 3)], [(12, 2), (95, 3)]);
        let (cost, pairs) = align(&a, &b, 30);
        assert_eq!(pairs, [(182, 192), (21, 25)], "from the right to the left");
        assert_eq!(cost, 4 + 30 + 10);
        let mut row = vec![0.0; 100];
        displace(&pairs, &mut row);
        assert!((row[93] - 2.45).abs() < 0.2 && row[0] < 0.2 && (row[11] - 1.0).abs() < 0.1, "{row:?}");
        assert!(row.windows(2).all(|p| (p[1] - p[0]).abs() <= 1.0), "the map does not fold");
    }

    #[test]
    fn a_morph_starts_at_the_first_picture_and_ends_at_the_second() {
        let pictures = super::super::faces::pair(64, 48);
        let settings = Settings { threshold: 60, runs: 32, skip: 12, weights: vec![0.25, 0.5, 0.25] };
        let found = analyse(&pictures, &settings);
        assert!(found.pairs.iter().map(Vec::len).sum::<usize>() > 48);
        for (t, picture) in [(0.0, &pictures[0]), (1.0, &pictures[1])] {
            for (got, want) in frame(&pictures, &found.half, t).iter().zip(&picture.pixels) {
                assert_eq!(got.map(|v| v as u8)[..], want.to_le_bytes()[..3]);
            }
        }
    }
}
