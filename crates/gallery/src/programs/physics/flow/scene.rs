//! Two frames with a known motion, for `flow`.
//!
//! In comes a picture, which becomes a scene without end by mirroring; out come two frames of bytes and the true flow.
//! The scene is read between its pixels by Lanczos' interpolation with three lobes. The second frame is defined by
//! where each of its pixels was: its place in the first frame is exact, and the flow of a pixel of the first frame is
//! the inverse of that, in closed form or by fixed-point iteration to the last digits. Nothing is rounded but the
//! bytes.

use crate::common::threads;
use crate::picture::Picture;
use crate::random::Random;

/// The synthetic motions.
pub const MOTIONS: &[(&str, Motion)] = &[
    ("translate", Motion::Translate),
    ("rotate", Motion::Rotate),
    ("zoom", Motion::Zoom),
    ("wave", Motion::Wave),
    ("real", Motion::Real),
];

/// A kind of motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// All pixels alike.
    Translate,
    /// About the middle.
    Rotate,
    /// From the middle outwards.
    Zoom,
    /// A displacement that is a wave along each axis.
    Wave,
    /// A thing that moves and turns before a background that pans and zooms, with noise.
    Real,
}

type Point = [f64; 2];

/// A motion on frames of a size, carried so far out.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    motion: Motion,
    size: Point,
    // Pixels of a frame of 480 rows: small frames move less.
    unit: f64,
    part: f64,
}

/// Grey levels of noise: the largest, of a triangular distribution.
const NOISE: f64 = 3.0;

fn turned([x, y]: Point, angle: f64) -> Point {
    let (s, c) = angle.sin_cos();
    [c * x - s * y, s * x + c * y]
}

impl Path {
    /// The whole motion is `part` 1.
    pub fn new(motion: Motion, w: usize, h: usize, part: f64) -> Path {
        Path { motion, size: [w as f64, h as f64], unit: (w.min(h) as f64 / 480.0).min(1.0), part }
    }

    fn middle(&self) -> Point {
        self.size.map(|n| (n - 1.0) / 2.0)
    }

    /// A turn and a zoom about a point, and a shift.
    fn similar(&self, p: Point, about: Point, angle: f64, zoom: f64, shift: Point) -> Point {
        let t = turned([p[0] - about[0], p[1] - about[1]], angle * self.part);
        let zoom = zoom.powf(self.part);
        let long = self.unit * self.part;
        [about[0] + zoom * t[0] + long * shift[0], about[1] + zoom * t[1] + long * shift[1]]
    }

    fn similar_back(&self, p: Point, about: Point, angle: f64, zoom: f64, shift: Point) -> Point {
        let long = self.unit * self.part;
        let zoom = zoom.powf(self.part);
        let t = [(p[0] - about[0] - long * shift[0]) / zoom, (p[1] - about[1] - long * shift[1]) / zoom];
        let t = turned(t, -angle * self.part);
        [about[0] + t[0], about[1] + t[1]]
    }

    /// The angle in radians, the zoom and the shift of the motions that are that simple, and of the background.
    fn simple(&self) -> (f64, f64, Point) {
        // The corners of large frames do not go farther.
        let part = (480.0 / self.size[0].min(self.size[1])).min(1.0);
        match self.motion {
            Motion::Translate => (0.0, 1.0, [9.6, -5.3]),
            Motion::Rotate => (0.05 * part, 1.0, [0.0, 0.0]),
            Motion::Zoom => (0.0, 1.0 + 0.05 * part, [0.0, 0.0]),
            Motion::Wave | Motion::Real => (0.0, 1.0 + 0.015 * part, [3.2, 1.1]),
        }
    }

    /// The displacement of the wave by the place in the second frame: slopes below one, so that it can be inverted.
    fn wave(&self, [x, y]: Point) -> Point {
        let long = 5.0 * self.unit * self.part;
        let turn = std::f64::consts::TAU / (160.0 * self.unit).max(96.0);
        [
            long * ((turn * y + 0.6).sin() + 0.3 * (turn * x).sin()),
            long * (0.8 * (turn * x + 1.1).cos() - 0.3 * (turn * y).sin()),
        ]
    }

    /// Where a pixel of the second frame was in the first one.
    fn back(&self, p: Point) -> Point {
        if self.motion == Motion::Wave {
            let d = self.wave(p);
            return [p[0] - d[0], p[1] - d[1]];
        }
        let (angle, zoom, shift) = self.simple();
        self.similar_back(p, self.middle(), angle, zoom, shift)
    }

    /// Where a pixel of the first frame goes.
    fn forth(&self, p: Point) -> Point {
        if self.motion == Motion::Wave {
            // The slope is at most 0.4: sixty steps leave nothing.
            return (0..60).fold(p, |to, _| {
                let d = self.wave(to);
                [p[0] + d[0], p[1] + d[1]]
            });
        }
        let (angle, zoom, shift) = self.simple();
        self.similar(p, self.middle(), angle, zoom, shift)
    }

    fn thing(&self) -> (Point, f64, f64, Point) {
        ([self.size[0] * 0.56, self.size[1] * 0.55], 0.06, 1.03, [-8.5, 4.5])
    }

    /// How much of a place of the first frame the thing covers: a rounded box with an edge a pixel wide.
    fn cover(&self, p: Point) -> f64 {
        let (at, ..) = self.thing();
        let side = [self.size[0] * 0.17, self.size[1] * 0.22];
        let d = [(p[0] - at[0]).abs() / side[0], (p[1] - at[1]).abs() / side[1]];
        let r = (d[0].powi(4) + d[1].powi(4)).powf(0.25);
        (0.5 + (1.0 - r) * side[0].min(side[1])).clamp(0.0, 1.0)
    }

    /// The true flow of a pixel of the first frame.
    pub fn flow(&self, x: usize, y: usize) -> Point {
        let p = [x as f64, y as f64];
        let to = if self.motion == Motion::Real && self.cover(p) >= 0.5 {
            let (at, angle, zoom, shift) = self.thing();
            self.similar(p, at, angle, zoom, shift)
        } else {
            self.forth(p)
        };
        [to[0] - p[0], to[1] - p[1]]
    }
}

/// A picture's brightness on the whole plane.
struct Scene {
    w: usize,
    h: usize,
    luma: Vec<f64>,
}

fn lanczos(part: f64) -> [f64; 6] {
    let weight = |d: f64| {
        let t = std::f64::consts::PI * d;
        if d.abs() < 1e-9 { 1.0 } else { 3.0 * t.sin() * (t / 3.0).sin() / (t * t) }
    };
    let taps: [f64; 6] = std::array::from_fn(|k| weight(k as f64 - 2.0 - part));
    // Cut off at three lobes, the weights do not add up to one exactly: without this, brightness would ripple.
    let sum: f64 = taps.iter().sum();
    taps.map(|t| t / sum)
}

impl Scene {
    fn of(picture: &Picture) -> Scene {
        let luma = picture.luma().into_iter().map(f64::from).collect();
        Scene { w: picture.width, h: picture.height, luma }
    }

    fn pixel(&self, x: i64, y: i64) -> f64 {
        let fold = |i: i64, n: usize| {
            // Forth and back again with the edge pixel twice: a period of two sides.
            let i = i.rem_euclid(2 * n as i64) as usize;
            if i < n { i } else { 2 * n - 1 - i }
        };
        self.luma[fold(y, self.h) * self.w + fold(x, self.w)]
    }

    fn at(&self, [x, y]: Point) -> f64 {
        let (left, top) = (x.floor(), y.floor());
        let (wx, wy) = (lanczos(x - left), lanczos(y - top));
        let row = |j: usize| -> f64 {
            (0..6).map(|k| wx[k] * self.pixel(left as i64 + k as i64 - 2, top as i64 + j as i64 - 2)).sum()
        };
        (0..6).map(|j| wy[j] * row(j)).sum()
    }
}

/// Two frames of the same size, a byte a pixel.
#[derive(Clone, Debug)]
pub struct Frames {
    pub w: usize,
    pub h: usize,
    pub first: Vec<u8>,
    pub second: Vec<u8>,
}

/// Numbers between -`NOISE` and `NOISE`: the sum of two numbers, a byte each.
fn noise(seed: u64, n: usize) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut number = || {
        let bits = random.next();
        ((bits & 255) as f64 - (bits >> 8 & 255) as f64) / 255.0 * NOISE
    };
    (0..n).map(|_| number()).collect()
}

impl Path {
    fn draw(&self, picture: &Picture, seed: u64, was: [&(dyn Fn(Point) -> Point + Sync); 2]) -> Vec<u8> {
        let (w, h) = (self.size[0] as usize, self.size[1] as usize);
        let scene = Scene::of(picture);
        let real = self.motion == Motion::Real;
        let noise = if real { noise(seed, w * h) } else { Vec::new() };
        let mut out = vec![0u8; w * h];
        threads::rows(&mut out, w, threads::count(), |y, row| {
            for (x, byte) in row.iter_mut().enumerate() {
                let p = [x as f64, y as f64];
                let mut v = scene.at(was[0](p));
                if real {
                    let q = was[1](p);
                    let cover = self.cover(q);
                    if cover > 0.0 {
                        // Another part of the scene, darker and in more contrast.
                        let texture = 1.25 * scene.at([1.3 * q[0] + 210.0, 1.3 * q[1] + 180.0]) - 30.0;
                        v += cover * (texture - v);
                    }
                    v += noise[y * w + x];
                }
                *byte = v.round().clamp(0.0, 255.0) as u8;
            }
        });
        out
    }

    /// The first frame, which does not depend on how far the motion goes.
    pub fn first(&self, picture: &Picture) -> Vec<u8> {
        // The seeds of both frames differ: noise that stood still would be a motion of zero.
        self.draw(picture, 1981, [&|p| p, &|p| p])
    }

    /// The second frame.
    pub fn second(&self, picture: &Picture) -> Vec<u8> {
        let (at, angle, zoom, shift) = self.thing();
        self.draw(picture, 2005, [&|p| self.back(p), &|p| self.similar_back(p, at, angle, zoom, shift)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flow_is_the_inverse_of_how_the_second_frame_is_made() {
        for &(name, motion) in MOTIONS {
            for part in [0.3, 1.0] {
                let path = Path::new(motion, 320, 200, part);
                for (x, y) in [(0, 0), (7, 190), (100, 30), (319, 199)] {
                    let p = [x as f64, y as f64];
                    let [u, v] = path.flow(x, y);
                    let back = path.back([p[0] + u, p[1] + v]);
                    assert!((back[0] - p[0]).hypot(back[1] - p[1]) < 1e-9, "{name}: {back:?}, not {p:?}");
                }
            }
        }
    }

    #[test]
    fn a_whole_shift_moves_bytes_and_small_frames_can_be_made() {
        let picture = Picture::from_fn(60, 40, |x, y| crate::picture::rgb((x * 4) as u8, (y * 6) as u8, (x * y) as u8));
        let scene = Scene::of(&picture);
        assert!((scene.at([5.0, 7.0]) - scene.pixel(5, 7)).abs() < 1e-9);
        assert!((scene.at([-1.0, 40.0]) - scene.pixel(0, 39)).abs() < 1e-9);
        for &(_, motion) in MOTIONS {
            for (w, h) in [(1, 1), (1, 9), (5, 2)] {
                let path = Path::new(motion, w, h, 1.0);
                assert_eq!((path.first(&picture).len(), path.second(&picture).len()), (w * h, w * h));
            }
        }
    }
}
