//! The pictures of `flow`: the first frame tinted by the direction and the length of the flow, with arrows and the
//! wheel of colours that explains them.
//!
//! The wheel is that of the Middlebury benchmark (Baker et al., 2011): hue is direction, saturation is length.

use super::scene::Frames;
use crate::picture::{Picture, rgb};

/// The steps of the wheel from one corner colour to the next: red, yellow, green, cyan, blue, magenta.
const ARCS: [(f64, [f64; 3]); 6] = [
    (15.0, [1.0, 0.0, 0.0]),
    (6.0, [1.0, 1.0, 0.0]),
    (4.0, [0.0, 1.0, 0.0]),
    (11.0, [0.0, 1.0, 1.0]),
    (13.0, [0.0, 0.0, 1.0]),
    (6.0, [1.0, 0.0, 1.0]),
];

/// The colour of a flow whose longest is 1; longer ones are darker.
fn colour(u: f64, v: f64) -> [f64; 3] {
    let long = u.hypot(v);
    let total: f64 = ARCS.iter().map(|a| a.0).sum();
    let mut at = ((-v).atan2(-u) / std::f64::consts::TAU + 0.5) * total;
    let mut hue = ARCS[0].1;
    for (i, (arc, from)) in ARCS.iter().enumerate() {
        let to = ARCS[(i + 1) % ARCS.len()].1;
        if at <= *arc {
            hue = std::array::from_fn(|c| from[c] + (to[c] - from[c]) * at / arc);
            break;
        }
        at -= arc;
    }
    if long <= 1.0 { hue.map(|c| 1.0 - long * (1.0 - c)) } else { hue.map(|c| c * 0.75) }
}

fn pixel(c: [f64; 3]) -> u32 {
    let [r, g, b] = c.map(|v| (v.clamp(0.0, 1.0) * 255.0).round() as u8);
    rgb(r, g, b)
}

/// Draws over what is there, `cover` from 0 to 1.
fn blend(picture: &mut Picture, x: i64, y: i64, c: [f64; 3], cover: f64) {
    if x < 0 || y < 0 || x >= picture.width as i64 || y >= picture.height as i64 || cover <= 0.0 {
        return;
    }
    let p = &mut picture.pixels[y as usize * picture.width + x as usize];
    let [r, g, b, _] = p.to_le_bytes().map(|v| f64::from(v) / 255.0);
    let old = [r, g, b];
    *p = pixel(std::array::from_fn(|i| old[i] + cover.min(1.0) * (c[i] - old[i])));
}

/// The distance of a point from a piece of a line.
fn distance(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let (d, q) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let square = d[0] * d[0] + d[1] * d[1];
    let t = if square > 0.0 { ((q[0] * d[0] + q[1] * d[1]) / square).clamp(0.0, 1.0) } else { 0.0 };
    (q[0] - t * d[0]).hypot(q[1] - t * d[1])
}

/// An arrow with a dark rim, so that it is seen on every ground.
fn arrow(picture: &mut Picture, a: [f64; 2], d: [f64; 2]) {
    let long = d[0].hypot(d[1]);
    let b = [a[0] + d[0], a[1] + d[1]];
    let mut lines = vec![(a, b)];
    if long > 2.0 {
        let head = (long * 0.4).min(4.5) / long;
        for side in [0.55, -0.55] {
            lines.push((b, [b[0] - head * (d[0] - side * d[1]), b[1] - head * (d[1] + side * d[0])]));
        }
    }
    let low = |i: usize| lines.iter().map(|l| l.0[i].min(l.1[i])).fold(f64::MAX, f64::min).floor() as i64 - 2;
    let high = |i: usize| lines.iter().map(|l| l.0[i].max(l.1[i])).fold(f64::MIN, f64::max).ceil() as i64 + 2;
    for y in low(1)..=high(1) {
        for x in low(0)..=high(0) {
            let p = [x as f64, y as f64];
            let near = lines.iter().map(|l| distance(p, l.0, l.1)).fold(f64::MAX, f64::min);
            // The dark rim first; the light line goes over it.
            blend(picture, x, y, [0.05, 0.06, 0.1], 0.55 * (2.0 - near).min(1.0));
            blend(picture, x, y, [1.0, 1.0, 1.0], 1.1 - near);
        }
    }
}

/// The length that is drawn in full colour: all but the longest two of a hundred are shorter.
pub fn scale(flow: &[f32]) -> f64 {
    let n = flow.len() / 2;
    let mut long: Vec<f32> = (0..n).map(|i| flow[i].hypot(flow[n + i])).filter(|l| l.is_finite()).collect();
    if long.is_empty() {
        return 1.0;
    }
    // A few outliers would make all other colours pale. It is selected, not sorted: frames have millions of vectors.
    let at = (long.len() - 1) * 98 / 100;
    let (_, l, _) = long.select_nth_unstable_by(at, f32::total_cmp);
    f64::from(*l).max(0.05)
}

/// The flow over the first frame; `longest` is drawn in full colour.
pub fn flow(frames: &Frames, flow: &[f32], longest: f64) -> Picture {
    let (w, h) = (frames.w, frames.h);
    let at = |i: usize| {
        let of = |v: f32| if v.is_finite() { f64::from(v) } else { 0.0 };
        [of(flow[i]), of(flow[w * h + i])]
    };
    let mut picture = Picture::from_fn(w, h, |x, y| {
        let i = y * w + x;
        let [u, v] = at(i);
        let c = colour(u / longest, v / longest);
        let shade = 0.5 + 0.5 * f64::from(frames.first[i]) / 255.0;
        pixel(c.map(|c| c * shade))
    });
    let step = 16;
    // Arrows do not run into each other.
    let stretch = (step as f64 * 0.95 / longest).min(4.0);
    for y in (step / 2..h).step_by(step) {
        for x in (step / 2..w).step_by(step) {
            let [u, v] = at(y * w + x);
            let cut = (1.25 * longest / u.hypot(v).max(1e-9)).min(1.0) * stretch;
            let d = [u * cut, v * cut];
            arrow(&mut picture, [x as f64 - d[0] / 2.0, y as f64 - d[1] / 2.0], d);
        }
    }
    wheel(&mut picture);
    picture
}

/// The wheel, in the lower right corner of pictures that have room for it.
fn wheel(picture: &mut Picture) {
    let r = (picture.width.min(picture.height) as f64 * 0.075).min(44.0);
    if r < 9.0 {
        return;
    }
    let (cx, cy) = (picture.width as f64 - r - 10.0, picture.height as f64 - r - 10.0);
    for y in (cy - r - 3.0) as i64..=(cy + r + 3.0) as i64 {
        for x in (cx - r - 3.0) as i64..=(cx + r + 3.0) as i64 {
            let (u, v) = ((x as f64 - cx) / r, (y as f64 - cy) / r);
            let d = u.hypot(v) * r;
            blend(picture, x, y, [0.06, 0.07, 0.1], r + 2.5 - d);
            blend(picture, x, y, colour(u.clamp(-1.0, 1.0), v.clamp(-1.0, 1.0)).map(|c| c.min(1.0)), r + 0.5 - d);
        }
    }
}

/// A frame in grey.
pub fn grey(w: usize, h: usize, bytes: &[u8]) -> Picture {
    Picture { width: w, height: h, pixels: bytes.iter().map(|&b| rgb(b, b, b)).collect() }
}

/// The distance of the flow from the true one, from black over purple and orange to white at a pixel and more.
pub fn error(w: usize, h: usize, errors: &[f64]) -> Picture {
    let ramp = [[0.0, 0.0, 0.02], [0.34, 0.06, 0.43], [0.73, 0.21, 0.33], [0.98, 0.55, 0.04], [0.99, 1.0, 0.64]];
    Picture::from_fn(w, h, |x, y| {
        // The square root shows small errors too.
        let t = errors[y * w + x].clamp(0.0, 1.0).sqrt() * 4.0;
        let (i, part) = ((t as usize).min(3), t - t.floor().min(3.0));
        pixel(std::array::from_fn(|c| ramp[i][c] + part * (ramp[i + 1][c] - ramp[i][c])))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_motion_is_white_and_directions_differ() {
        assert_eq!(colour(0.0, 0.0), [1.0; 3]);
        let (right, left) = (colour(1.0, 0.0), colour(-1.0, 0.0));
        assert!(right[0] > 0.9 && right[1] < 0.2, "red to the right: {right:?}");
        assert!(left[2] > 0.6 && left[0] < 0.5, "blue and green to the left: {left:?}");
    }

    #[test]
    fn pictures_of_all_sizes_can_be_drawn() {
        for (w, h) in [(1, 1), (9, 17), (200, 150)] {
            let frames = Frames { w, h, first: vec![90; w * h], second: vec![90; w * h] };
            let field: Vec<f32> = (0..2 * w * h).map(|i| (i % 7) as f32 - 3.0).collect();
            let drawn = flow(&frames, &field, scale(&field));
            assert_eq!((drawn.width, drawn.height), (w, h));
            let broken = vec![f32::NAN; 2 * w * h];
            assert_eq!(flow(&frames, &broken, scale(&broken)).pixels.len(), w * h);
        }
    }
}
