//! The picture of a morph: five frames from the first picture to the second, and what was matched.
//!
//! The sixth panel shows the contours of both pictures and, on some rows, a line from each run to the one that it was
//! matched with. Colours are of Okabe and Ito's palette, which colour-blind people tell apart.

use super::reference::Analysis;
use crate::picture::{Picture, rgb};

/// About the side of a panel; larger pictures are made smaller.
const PANEL: usize = 640;
const GAP: usize = 8;

fn shrink(picture: &Picture, by: usize) -> Picture {
    if by == 1 {
        return picture.clone();
    }
    let (w, h) = ((picture.width / by).max(1), (picture.height / by).max(1));
    Picture::from_fn(w, h, |x, y| {
        let (mut sum, mut n) = ([0u32; 3], 0);
        for row in picture.pixels.chunks(picture.width).skip(y * by).take(by) {
            for p in row.iter().skip(x * by).take(by) {
                let [r, g, b, _] = p.to_le_bytes().map(u32::from);
                sum = [sum[0] + r, sum[1] + g, sum[2] + b];
                n += 1;
            }
        }
        let [r, g, b] = sum.map(|v| (v / n.max(1)) as u8);
        rgb(r, g, b)
    })
}

fn matches(w: usize, h: usize, found: &Analysis) -> Picture {
    let mut panel = Picture::from_fn(w, h, |x, y| match (found.edges[0][y * w + x], found.edges[1][y * w + x]) {
        (0, 0) => rgb(250, 250, 247),
        (_, 0) => rgb(86, 160, 220),
        (0, _) => rgb(240, 170, 60),
        _ => rgb(150, 150, 150),
    });
    let step = (h / 40).max(3);
    for y in (step / 2..h).step_by(step) {
        for &(a, b) in &found.pairs[y] {
            let [a, b] = [a, b].map(|v| (v.max(0) as usize / 2).min(w - 1));
            for x in a.min(b)..=a.max(b) {
                panel.pixels[y * w + x] = rgb(20, 30, 50);
            }
            // A dot at the end of the way.
            for i in 0..9 {
                let (x, y) = ((b + i % 3).saturating_sub(1).min(w - 1), (y + i / 3).saturating_sub(1).min(h - 1));
                panel.pixels[y * w + x] = rgb(190, 40, 20);
            }
        }
    }
    panel
}

pub fn sheet(frames: &[Picture], found: &Analysis) -> Picture {
    let Some(first) = frames.first() else { return Picture::new(1, 1, 0) };
    let by = first.width.max(first.height).div_ceil(PANEL);
    let mut panels: Vec<Picture> = frames.iter().map(|f| shrink(f, by)).collect();
    panels.push(shrink(&matches(first.width, first.height, found), by));
    let (w, h) = (panels[0].width, panels[0].height);
    let lines = panels.len().div_ceil(3);
    let mut sheet = Picture::new(3 * w + 4 * GAP, lines * h + (lines + 1) * GAP, rgb(32, 34, 40));
    for (i, panel) in panels.iter().enumerate() {
        let (left, top) = (GAP + i % 3 * (w + GAP), GAP + i / 3 * (h + GAP));
        for (y, row) in panel.pixels.chunks(w).enumerate() {
            let start = (top + y) * sheet.width + left;
            sheet.pixels[start..start + w].copy_from_slice(row);
        }
    }
    sheet
}
