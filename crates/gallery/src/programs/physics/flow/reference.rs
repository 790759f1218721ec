//! The reference of `flow`: the same method in double precision, with sums by a table of all sums from the corner
//! (Crow, 1984), which no kernel uses.

use super::scene::Frames;
use crate::common::threads;

/// What decides the result besides the frames.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    pub radius: usize,
    pub levels: usize,
    pub steps: usize,
    /// Added to the tensor's diagonal.
    pub damping: f64,
    /// The gradient from which on a pixel's weight is cut to that of its direction, in grey levels a pixel.
    pub edge: f64,
    /// The difference that halves a pixel's weight, in grey levels.
    pub trust: f64,
    /// By how many pixels places in the second frame are moved to and fro, as rounding would: to see what that does.
    pub nudge: f64,
}

/// Numbers of a frame, row by row.
#[derive(Clone, Debug)]
struct Plane {
    w: usize,
    h: usize,
    data: Vec<f64>,
}

impl Plane {
    fn from_fn(w: usize, h: usize, f: impl Fn(usize, usize) -> f64 + Sync) -> Plane {
        let mut data = vec![0.0; w * h];
        threads::rows(&mut data, w, threads::count(), |y, row| {
            for (x, v) in row.iter_mut().enumerate() {
                *v = f(x, y);
            }
        });
        Plane { w, h, data }
    }

    fn at(&self, x: i64, y: i64) -> f64 {
        // Beyond the edge the last pixel is repeated, as PAD does on the device.
        let (x, y) = (x.clamp(0, self.w as i64 - 1) as usize, y.clamp(0, self.h as i64 - 1) as usize);
        self.data[y * self.w + x]
    }

    fn get(&self, x: usize, y: usize) -> f64 {
        self.data[y * self.w + x]
    }

    /// Half the size.
    fn smaller(&self) -> Plane {
        const TAPS: [f64; 5] = [1.0, 4.0, 6.0, 4.0, 1.0];
        Plane::from_fn(self.w.div_ceil(2), self.h.div_ceil(2), |x, y| {
            let mut sum = 0.0;
            for (j, b) in (-2..).zip(TAPS) {
                for (i, a) in (-2..).zip(TAPS) {
                    sum += a * b * self.at(2 * x as i64 + i, 2 * y as i64 + j);
                }
            }
            sum / 256.0
        })
    }

    /// Between pixels; the place lies inside.
    fn between(&self, x: f64, y: f64) -> f64 {
        let (left, top) = (x.floor(), y.floor());
        let (a, b) = (x - left, y - top);
        let (i, j) = (left as i64, top as i64);
        (1.0 - b) * ((1.0 - a) * self.at(i, j) + a * self.at(i + 1, j))
            + b * ((1.0 - a) * self.at(i, j + 1) + a * self.at(i + 1, j + 1))
    }

    /// The median of five along rows or down columns, where there are as many.
    fn medians(&self, along_x: bool) -> Plane {
        Plane::from_fn(self.w, self.h, |x, y| {
            let (at, n) = if along_x { (x, self.w) } else { (y, self.h) };
            if at < 2 || at + 2 >= n {
                return self.get(x, y);
            }
            let mut five: [f64; 5] =
                std::array::from_fn(|k| if along_x { self.get(x + k - 2, y) } else { self.get(x, y + k - 2) });
            five.sort_by(f64::total_cmp);
            five[2]
        })
    }

    /// The sums over the windows, as far as these lie inside.
    fn windows(&self, radius: usize) -> Plane {
        let (w, h) = (self.w, self.h);
        let mut table = vec![0.0; (w + 1) * (h + 1)];
        for y in 0..h {
            let mut row = 0.0;
            for x in 0..w {
                row += self.get(x, y);
                table[(y + 1) * (w + 1) + x + 1] = table[y * (w + 1) + x + 1] + row;
            }
        }
        Plane::from_fn(w, h, |x, y| {
            // Windows are cut off at the edge: the device has zeros there.
            let (x0, y0) = (x.saturating_sub(radius), y.saturating_sub(radius));
            let (x1, y1) = ((x + radius + 1).min(w), (y + radius + 1).min(h));
            let t = |x: usize, y: usize| table[y * (w + 1) + x];
            t(x1, y1) - t(x0, y1) - t(x1, y0) + t(x0, y0)
        })
    }
}

/// The flow of a level of the pyramid, improved from `u` and `v`.
fn refine(first: &Plane, second: &Plane, [u, v]: &mut [Plane; 2], method: &Method) {
    let (w, h) = (first.w, first.h);
    let scharr = |x: usize, y: usize, along_x: bool| {
        let mut sum = 0.0;
        for (side, weight) in [(-1, 3.0), (0, 10.0), (1, 3.0)] {
            for (ahead, sign) in [(-1, -1.0), (1, 1.0)] {
                let (dx, dy) = if along_x { (ahead, side) } else { (side, ahead) };
                sum += weight * sign * first.at(x as i64 + dx, y as i64 + dy);
            }
        }
        sum / 32.0
    };
    let gx = Plane::from_fn(w, h, |x, y| scharr(x, y, true));
    let gy = Plane::from_fn(w, h, |x, y| scharr(x, y, false));
    for _ in 0..method.steps {
        let difference = Plane::from_fn(w, h, |x, y| {
            // Like a board of chess: moved all one way, the nudge would be a motion, which the method would find.
            let nudge = if (x ^ y) & 1 == 0 { method.nudge } else { -method.nudge };
            let (fx, fy) = (x as f64 + u.get(x, y) + nudge, y as f64 + v.get(x, y) + nudge);
            let (cx, cy) = (fx.clamp(0.0, w as f64 - 1.0), fy.clamp(0.0, h as f64 - 1.0));
            let outside = (fx - cx).abs().max((fy - cy).abs());
            // Fades out over a pixel: a jump at the edge would let rounding decide whether a pixel counts.
            (second.between(cx, cy) - first.get(x, y)) * (1.0 - outside).max(0.0)
        });
        let weight = |x: usize, y: usize| {
            let slope = gx.get(x, y).hypot(gy.get(x, y)) / method.edge;
            let unlike = difference.get(x, y) / method.trust;
            1.0 / ((1.0 + slope * slope) * (1.0 + unlike * unlike))
        };
        let windows = |f: &(dyn Fn(usize, usize) -> f64 + Sync)| {
            Plane::from_fn(w, h, |x, y| weight(x, y) * f(x, y)).windows(method.radius)
        };
        let claim = |x: usize, y: usize| gx.get(x, y) * u.get(x, y) + gy.get(x, y) * v.get(x, y) - difference.get(x, y);
        let xx = windows(&|x, y| gx.get(x, y) * gx.get(x, y));
        let xy = windows(&|x, y| gx.get(x, y) * gy.get(x, y));
        let yy = windows(&|x, y| gy.get(x, y) * gy.get(x, y));
        let bx = windows(&|x, y| gx.get(x, y) * claim(x, y));
        let by = windows(&|x, y| gy.get(x, y) * claim(x, y));
        let solve = |x: usize, y: usize| {
            let d = method.damping;
            let (a, b, c) = (xx.get(x, y) + d, xy.get(x, y), yy.get(x, y) + d);
            let (p, q) = (bx.get(x, y) + d * u.get(x, y), by.get(x, y) + d * v.get(x, y));
            let scale = a * c - b * b;
            [(c * p - b * q) / scale, (a * q - b * p) / scale]
        };
        // Both components from the old flow, before either is replaced.
        let next = [0, 1].map(|i| Plane::from_fn(w, h, |x, y| solve(x, y)[i]));
        [*u, *v] = next;
    }
    for plane in [u, v] {
        *plane = plane.medians(true).medians(false);
    }
}

/// The flow: `u` of all pixels, then `v`.
pub fn flow(frames: &Frames, method: &Method) -> Vec<f64> {
    let plane = |bytes: &[u8]| Plane { w: frames.w, h: frames.h, data: bytes.iter().map(|&b| f64::from(b)).collect() };
    let mut pyramid = vec![[plane(&frames.first), plane(&frames.second)]];
    while pyramid.len() < method.levels {
        let smaller = pyramid.last().map(|level| [0, 1].map(|i| level[i].smaller()));
        pyramid.extend(smaller);
    }
    let mut flow: Option<[Plane; 2]> = None;
    for [first, second] in pyramid.iter().rev() {
        let (w, h) = (first.w, first.h);
        let mut at = match flow {
            None => [0, 1].map(|_| Plane { w, h, data: vec![0.0; w * h] }),
            // Between the pixels of the coarser level, in its coordinates.
            Some(coarse) => coarse.map(|c| {
                let inside = |i: usize, n: usize| (i as f64 / 2.0).min(n as f64 - 1.0);
                Plane::from_fn(w, h, |x, y| 2.0 * c.between(inside(x, c.w), inside(y, c.h)))
            }),
        };
        refine(first, second, &mut at, method);
        flow = Some(at);
    }
    flow.into_iter().flatten().flat_map(|plane| plane.data).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_sums_of_what_lies_inside() {
        let plane = Plane::from_fn(5, 4, |x, y| (x + 10 * y) as f64);
        let sums = plane.windows(1);
        assert_eq!(sums.get(0, 0), 0.0 + 1.0 + 10.0 + 11.0);
        assert_eq!(sums.get(2, 2), 9.0 * 22.0);
        assert_eq!(plane.windows(9).get(3, 1), plane.data.iter().sum::<f64>());
    }

    #[test]
    fn a_shifted_ripple_is_followed() {
        let (w, h) = (64, 48);
        let byte = |x: f64, y: f64| (128.0 + 60.0 * (x / 5.0).sin() + 50.0 * (y / 4.0 + x / 9.0).cos()).round() as u8;
        let of = |dx: f64, dy: f64| (0..w * h).map(|i| byte((i % w) as f64 - dx, (i / w) as f64 - dy)).collect();
        let frames = Frames { w, h, first: of(0.0, 0.0), second: of(1.5, -0.75) };
        let got =
            flow(&frames, &Method { radius: 4, levels: 3, steps: 4, damping: 4.0, edge: 4.0, trust: 10.0, nudge: 0.0 });
        let i = 24 * w + 32;
        assert!((got[i] - 1.5).abs() < 0.1 && (got[w * h + i] + 0.75).abs() < 0.1, "{} {}", got[i], got[w * h + i]);
    }
}
