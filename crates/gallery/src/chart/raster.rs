//! Marks as a picture. Lines are smoothed: a pixel takes as much of the colour as it lies inside of the line.

use super::{Anchor, HEIGHT, INK, Mark, WIDTH};
use crate::picture::{Canvas, Picture, rgb};

/// Pixels a unit of the layout.
const SCALE: f64 = 2.0;

pub(super) fn draw(marks: &[Mark]) -> Picture {
    let mut picture = Picture::new((WIDTH * SCALE) as usize, (HEIGHT * SCALE) as usize, rgb(255, 255, 255));
    let mut canvas = Canvas::new(&mut picture);
    let at = |(x, y): (f64, f64)| (x * SCALE, y * SCALE);
    for mark in marks {
        match mark {
            Mark::Line { points, colour, width, dashes, .. } => {
                for ends in points.windows(2) {
                    for (from, to) in dashed(ends[0], ends[1], dashes) {
                        canvas.line(at(from), at(to), width * SCALE, *colour);
                    }
                }
            }
            Mark::Bar { x, y, width, height, colour } => {
                canvas.rectangle(at((*x, *y)), at((x + width, y + height)), *colour);
            }
            Mark::Dot { x, y, colour, .. } => canvas.line(at((*x, *y)), at((*x, *y)), 6.0 * SCALE, *colour),
            Mark::Text { x, y, anchor, text, .. } => {
                let share = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => 0.5,
                    Anchor::End => 1.0,
                };
                let (x, y) = at((*x, *y));
                canvas.text(x - share * Canvas::text_width(text) as f64, y, text, INK);
            }
        }
    }
    picture
}

type Point = (f64, f64);

/// The pieces of a line that are drawn.
fn dashed(from: Point, to: Point, dashes: &[f64]) -> Vec<(Point, Point)> {
    let length = (to.0 - from.0).hypot(to.1 - from.1);
    if dashes.is_empty() || length == 0.0 {
        return vec![(from, to)];
    }
    let place = |d: f64| (from.0 + (to.0 - from.0) * d / length, from.1 + (to.1 - from.1) * d / length);
    let (mut pieces, mut d) = (Vec::new(), 0.0);
    for (k, dash) in dashes.iter().cycle().enumerate() {
        if d >= length {
            break;
        }
        let end = (d + dash).min(length);
        if k % 2 == 0 {
            pieces.push((place(d), place(end)));
        }
        d = end;
    }
    pieces
}
