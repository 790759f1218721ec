//! The reference of the nine films of `wave` and of their filters, in `f64`.
//!
//! In come a size and the number of the frame's time, out comes the mosaic that lies under the water.

use crate::common::threads;

pub type Rgb = [f64; 3];

pub fn mix(a: Rgb, b: Rgb, t: f64) -> Rgb {
    std::array::from_fn(|i| a[i] * (1.0 - t) + b[i] * t)
}

fn smoothstep(from: f64, to: f64, v: f64) -> f64 {
    let t = ((v - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn disc((x, y): (f64, f64), radius: f64) -> f64 {
    1.0 - smoothstep(radius - 0.02, radius + 0.02, x.hypot(y))
}

fn half(v: f64) -> f64 {
    (1.0 + v.sin()) / 2.0
}

/// The colour of a film at (x, y), each from -1 to 1, at time `t`.
fn film(number: usize, x: f64, y: f64, t: f64) -> Rgb {
    match number {
        0 => {
            let (bx, by) = (x - 0.6 * (0.9 * t).sin(), y - 0.55 + 0.95 * (1.7 * t).sin().abs());
            let sky = mix([0.25, 0.45, 0.75], [0.85, 0.9, 0.95], (1.0 + y) / 2.0);
            let scene = mix(sky, [0.35, 0.55, 0.3], smoothstep(0.68, 0.72, y));
            let glow = 0.55 + 0.45 * disc((bx + 0.06, by + 0.06), 0.1);
            mix(scene, [0.9, 0.35, 0.2].map(|v| v * glow), disc((bx, by), 0.2))
        }
        1 => mix([0.1, 0.3, 0.45], [0.95, 0.85, 0.6], half(22.0 * x.hypot(y) - 5.0 * t)),
        2 => {
            let v = (4.0 * x + t).sin() + (3.0 * y - 1.3 * t).sin() + (3.0 * (x + y) + 0.7 * t).sin();
            [half(v), half(v + 2.1), half(v + 4.2)]
        }
        3 => {
            let v = (9.0 * x + 2.0 * t).sin() * (9.0 * y + t).sin();
            mix([0.15, 0.2, 0.35], [0.95, 0.75, 0.35], smoothstep(-0.15, 0.15, v))
        }
        4 => {
            let (s, c) = t.sin_cos();
            let (qx, qy) = (c * x + s * y, c * y - s * x);
            let inside = 1.0 - smoothstep(0.47, 0.53, qx.abs().max(qy.abs()));
            mix([0.2, 0.22, 0.28], [0.3 + 0.6 * half(3.0 * qx), 0.55, 0.35 + 0.5 * half(3.0 * qy)], inside)
        }
        5 => {
            let sky = mix([0.95, 0.55, 0.35], [0.35, 0.4, 0.7], (1.0 - y) / 2.0);
            let sun = mix(sky, [1.0, 0.95, 0.7], disc((x - 0.7 * (0.4 * t).sin(), y + 0.25), 0.22));
            let (far, near) = (0.1 + 0.16 * (3.0 * x + 0.5 * t).sin(), 0.45 + 0.14 * (4.0 * x + 1.3 * t).sin());
            let hills = mix(sun, [0.3, 0.35, 0.5], smoothstep(far - 0.02, far + 0.02, y));
            mix(hills, [0.15, 0.3, 0.2], smoothstep(near - 0.02, near + 0.02, y))
        }
        6 => {
            let near = |cx: f64, cy: f64, size: f64| size / (0.02 + (x - cx).powi(2) + (y - cy).powi(2));
            let v = near(0.5 * t.sin(), 0.4 * (1.3 * t).cos(), 0.06)
                + near(0.5 * (0.8 * t).cos(), 0.5 * (1.1 * t).sin(), 0.05)
                + near(0.3 * (2.0 * t).sin(), 0.0, 0.04);
            mix([0.1, 0.12, 0.25], [0.45, 0.85, 0.75], smoothstep(0.2, 1.6, v))
        }
        7 => {
            let v = (3.0 * x + t + (4.0 * y).sin()).sin() + 0.5 * (7.0 * y - 0.6 * t + 2.0 * (3.0 * x + t).sin()).sin();
            mix([0.85, 0.40, 0.12], [0.15, 0.12, 0.05], smoothstep(-0.8, 1.2, v))
        }
        _ => {
            let (hx, hy) = ((1.2 * t).sin(), -(1.2 * t).cos());
            let along = (x * hx + y * hy).clamp(0.0, 0.62);
            let from = (x - along * hx).hypot(y - along * hy);
            let face = mix([0.55, 0.25, 0.3], [0.95, 0.93, 0.85], disc((x, y), 0.8));
            let rim = mix(face, [0.2, 0.2, 0.25], disc((x, y), 0.8) - disc((x, y), 0.74));
            mix(rim, [0.1, 0.15, 0.35], 1.0 - smoothstep(0.03, 0.07, from))
        }
    }
}

/// The first and the last pixel of one of three parts of a side, and which part `i` is in.
fn part(i: usize, n: usize) -> (usize, usize, usize) {
    let k = i * 3 / n;
    ((k * n).div_ceil(3), ((k + 1) * n).div_ceil(3) - 1, k)
}

fn luma(c: Rgb) -> f64 {
    0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2]
}

/// What a film's filter makes of a pixel; `at` gives its neighbours.
fn filter(number: usize, at: impl Fn(isize, isize) -> Rgb, angle: f64) -> Rgb {
    let c = at(0, 0);
    let add = |a: Rgb, b: Rgb, by: f64| -> Rgb { std::array::from_fn(|i| a[i] + by * b[i]) };
    let light = |dx: isize, dy: isize| luma(at(dx, dy));
    let by_rows = |m: [Rgb; 3]| m.map(|r| r[0] * c[0] + r[1] * c[1] + r[2] * c[2]);
    let v = match number {
        0 => [luma(c); 3],
        1 => by_rows([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]]),
        2 => {
            let places = (-2isize..3).flat_map(|dy| (-2isize..3).map(move |dx| (dx, dy)));
            let weight = |d: isize| (3 - d.abs()) as f64 / 9.0;
            places.fold([0.0; 3], |sum, (dx, dy)| add(sum, at(dx, dy), weight(dx) * weight(dy)))
        }
        3 => [(-1, 0), (1, 0), (0, -1), (0, 1)]
            .iter()
            .fold(c.map(|v| 5.0 * v), |sum, &(dx, dy)| add(sum, at(dx, dy), -1.0)),
        4 => [0.5 + 2.0 * (light(1, 1) - light(-1, -1)); 3],
        5 => {
            let gx = light(1, -1) - light(-1, -1) + 2.0 * (light(1, 0) - light(-1, 0)) + light(1, 1) - light(-1, 1);
            let gy = light(-1, 1) - light(-1, -1) + 2.0 * (light(0, 1) - light(0, -1)) + light(1, 1) - light(1, -1);
            // The addend keeps the root from being steep at zero, where it would make rounding errors large.
            [2.0 * (gx * gx + gy * gy + 1e-4).sqrt(); 3]
        }
        // Four levels with soft steps between them: at a hard step, rounding would decide on which level a pixel is.
        6 => c.map(|v| ((4.0 * v).floor() + smoothstep(0.35, 0.65, (4.0 * v).fract())) / 4.0),
        7 => c.map(|v| 1.0 - v),
        _ => {
            // A turn of the colours about the axis of greys: the matrix of a rotation about (1, 1, 1).
            let (s, k) = angle.sin_cos();
            let (mean, side) = ((1.0 - k) / 3.0, s / 3f64.sqrt());
            let (a, b, d) = (k + mean, mean - side, mean + side);
            by_rows([[a, b, d], [d, a, b], [b, d, a]])
        }
    };
    v.map(|v| v.clamp(0.0, 1.0))
}

/// All nine, each through its filter.
pub fn mosaic(w: usize, h: usize, t: f64, angle: f64) -> Vec<Rgb> {
    let mut films = vec![[0.0; 3]; w * h];
    threads::rows(&mut films, w, threads::count(), |y, row| {
        let (top, bottom, j) = part(y, h);
        for (x, v) in row.iter_mut().enumerate() {
            let (left, right, i) = part(x, w);
            let place = |k: usize, from: usize, to: usize| (2 * (k - from) + 1) as f64 / (to - from + 1) as f64 - 1.0;
            *v = film(3 * j + i, place(x, left, right), place(y, top, bottom), t);
        }
    });
    let mut out = vec![[0.0; 3]; w * h];
    threads::rows(&mut out, w, threads::count(), |y, row| {
        let (top, bottom, j) = part(y, h);
        for (x, v) in row.iter_mut().enumerate() {
            let (left, right, i) = part(x, w);
            let at = |dx: isize, dy: isize| {
                // A filter repeats the edge of its own film; it never reads the film beside it.
                let x = x.saturating_add_signed(dx).clamp(left, right);
                films[y.saturating_add_signed(dy).clamp(top, bottom) * w + x]
            };
            *v = filter(3 * j + i, at, angle);
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pixel_has_a_film_of_three_by_three_and_films_run() {
        for n in [1, 2, 3, 7, 64] {
            let mut next = 0;
            for i in 0..n {
                let (from, to, k) = part(i, n);
                assert!(from <= i && i <= to && to < n && k < 3, "{i} of {n}");
                assert!(from == next || from < i, "{i} of {n}");
                next = if i == to { i + 1 } else { next };
            }
        }
        let (a, b) = (mosaic(60, 60, 0.3, 0.1), mosaic(60, 60, 0.5, 0.2));
        for film in 0..9 {
            let at = film / 3 * 20 * 60 + film % 3 * 20;
            let moved = (0..400).any(|i| {
                (0..3).any(|c| (a[at + i / 20 * 60 + i % 20][c] - b[at + i / 20 * 60 + i % 20][c]).abs() > 0.1)
            });
            assert!(moved, "film {film}");
        }
        assert!(a.iter().flatten().all(|v| (0.0..=1.0).contains(v)));
    }
}
