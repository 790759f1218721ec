//! The reference: a frame of one cloth in double precision, and what must hold of any state. In go the places before
//! the frame, as the device has them; out come those after it.
//!
//! The motion of a cloth is chaotic, so that no two computers agree after many frames. Each frame is therefore checked
//! by itself, from the device's own state before it: its errors have no time to grow, and the tolerance can be narrow.

use super::model::{DENSITY, DRAG, FRAME_TIME, FRICTION, GRAVITY, Link, MARGIN, Model, OVER, RUB};

type V = [f64; 3];

fn plus(a: V, b: V, k: f64) -> V {
    [a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]]
}

fn dot(a: V, b: V) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: V, b: V) -> V {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// One cloth: where its nodes are, and where they were a step before.
#[derive(Clone)]
pub struct Cloth {
    pub p: Vec<V>,
    pub q: Vec<V>,
}

impl Cloth {
    /// That of a flag, out of planes of all of them.
    pub fn of(model: &Model, state: &[Vec<f32>; 2], flag: usize) -> Cloth {
        let (n, total) = (model.nodes(), model.nodes() * model.flags);
        let take = |s: &[f32]| -> Vec<V> {
            (0..n).map(|i| [0, 1, 2].map(|k| f64::from(s[k * total + flag * n + i]))).collect()
        };
        Cloth { p: take(&state[0]), q: take(&state[1]) }
    }
}

/// In which way links are relaxed.
pub enum Way<'a> {
    /// One after the other.
    Serial(&'a [Link]),
    /// All at once, from the places before.
    AtOnce(&'a [Link]),
}

pub struct Reference<'a> {
    model: &'a Model,
    inverse: Vec<f64>,
}

impl<'a> Reference<'a> {
    pub fn new(model: &'a Model) -> Reference<'a> {
        Reference { model, inverse: model.inverse().iter().map(|&v| f64::from(v)).collect() }
    }

    /// Frame number `frame` of flag number `flag`.
    pub fn frame(&self, cloth: &mut Cloth, way: &Way<'_>, flag: usize, frame: u32) {
        // Times are rounded as the device's are: a phase of the wind depends on them.
        let start = frame as f32 * FRAME_TIME;
        for step in 0..self.model.steps {
            self.advance(cloth, flag, f64::from(start + step as f32 * self.model.step_time()));
            for _ in 0..self.model.relax {
                match way {
                    Way::Serial(links) => self.relax(&mut cloth.p, links),
                    Way::AtOnce(links) => self.relax_at_once(&mut cloth.p, links),
                }
            }
            for i in 0..cloth.p.len() {
                if self.inverse[i] > 0.0 {
                    cloth.p[i] = self.outside(cloth.p[i], cloth.q[i]);
                }
            }
        }
    }

    fn advance(&self, cloth: &mut Cloth, flag: usize, time: f64) {
        let m = self.model;
        let [wx, wy, wz, wave] = m.winds().map(f64::from);
        let (h, keep) = (f64::from(m.step_time()), f64::from(m.keep()));
        let node_area = f64::from(m.spacing()).powi(2);
        let phase = flag as f64 * 2.4;
        let next = |i: usize| {
            let (x, y, p) = (i % m.w, i / m.w, cloth.p[i]);
            if self.inverse[i] == 0.0 {
                return p;
            }
            // The four triangles between the node and its neighbours, one by one.
            let to = |there: bool, j: usize| if there { plus(cloth.p[j], p, -1.0) } else { [0.0; 3] };
            let right = to(x + 1 < m.w, i + 1);
            let left = to(x > 0, i.wrapping_sub(1));
            let above = to(y > 0, i.wrapping_sub(m.w));
            let below = to(y + 1 < m.h, i + m.w);
            let area = [(right, above), (above, left), (left, below), (below, right)]
                .iter()
                .fold([0.0; 3], |sum, &(a, b)| plus(sum, cross(a, b), 0.25));
            let air = [
                wx * (1.0 + 0.25 * (0.9 * time + phase).sin()),
                wy * (1.7 * time + 2.0 * p[1] + phase).sin(),
                wz * (0.6 + 0.4 * (1.3 * time + phase).sin())
                    + wave * (4.5 * p[0] - 11.0 * time + 1.5 * p[1] + phase).sin(),
            ];
            let moved = plus(p, cloth.q[i], -1.0);
            let relative = plus(air, moved, -1.0 / h);
            let size = dot(area, area).sqrt().max(1e-12);
            let press = f64::from(DRAG) * dot(relative, area) / (size * node_area);
            let force = plus(plus([0.0, f64::from(GRAVITY), 0.0], area, press), relative, f64::from(RUB));
            plus(plus(p, moved, keep), force, h * h)
        };
        // All nodes first, then the swap: a node's wind depends on where its neighbours are at the beginning of the
        // step.
        let placed: Vec<V> = (0..cloth.p.len()).map(next).collect();
        cloth.q = std::mem::replace(&mut cloth.p, placed);
    }

    fn wanted(&self, p: &[V], l: &Link) -> V {
        let d = plus(p[l.b], p[l.a], -1.0);
        // Two free ends share the correction; one free end makes all of it.
        let free = (self.inverse[l.a] + self.inverse[l.b]).max(1.0);
        let length = dot(d, d).sqrt().max(1e-9);
        plus([0.0; 3], d, f64::from(l.stiff) * (length - f64::from(l.rest)) / (length * free))
    }

    fn relax(&self, p: &mut [V], links: &[Link]) {
        for l in links {
            let by = self.wanted(p, l);
            p[l.a] = plus(p[l.a], by, self.inverse[l.a]);
            p[l.b] = plus(p[l.b], by, -self.inverse[l.b]);
        }
    }

    fn relax_at_once(&self, p: &mut [V], links: &[Link]) {
        let mut sums = vec![([0.0; 3], 0.0); p.len()];
        for l in links {
            let by = self.wanted(p, l);
            for (i, sign) in [(l.a, 1.0), (l.b, -1.0)] {
                sums[i] = (plus(sums[i].0, by, sign), sums[i].1 + f64::from(l.stiff));
            }
        }
        // A node takes the mean of what its links want, weighted by stiffness: all of each would overshoot twelvefold.
        for (i, (sum, weight)) in sums.into_iter().enumerate().filter(|(_, s)| s.1 > 0.0) {
            p[i] = plus(p[i], sum, f64::from(OVER) * self.inverse[i] / weight);
        }
    }

    fn outside(&self, mut p: V, q: V) -> V {
        let margin = f64::from(MARGIN);
        if let Some(s) = self.model.scene.sphere {
            let from = plus(p, [s[0], s[1], s[2]].map(f64::from), -1.0);
            let far = dot(from, from).sqrt().max(1e-9);
            p = pushed(p, q, f64::from(s[3]) + margin - far, from.map(|v| v / far));
        }
        pushed(p, q, f64::from(self.model.scene.ground) + margin - p[1], [0.0, 1.0, 0.0])
    }
}

fn pushed(p: V, q: V, depth: f64, normal: V) -> V {
    if depth <= 0.0 {
        return p;
    }
    let out = plus(p, normal, depth);
    let moved = plus(out, q, -1.0);
    let slide = plus(moved, normal, -dot(moved, normal));
    // Coulomb's friction: the surface takes away at most the coefficient times the push, and never more than the whole
    // slide.
    let held = f64::from(FRICTION) * depth / dot(slide, slide).sqrt().max(1e-12);
    plus(out, slide, -held.min(1.0))
}

/// What can be said of any state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// Of motion and of height, in joules.
    pub kinetic: f64,
    pub potential: f64,
    /// The most by which a structural link is too long, over its length; and the root of the mean square of all links.
    pub stretch: f64,
    pub residual: f64,
    /// How deep the deepest node lies in what it should lie on.
    pub depth: f64,
    /// Metres a second.
    pub fastest: f64,
    /// The farthest that a pinned node has moved.
    pub pinned_moved: f64,
    pub finite: bool,
}

impl Facts {
    pub fn energy(&self) -> f64 {
        self.kinetic + self.potential
    }

    /// The state of one cloth, whose first one was `first`.
    pub fn of(model: &Model, links: &[Link], cloth: &Cloth, first: &Cloth) -> Facts {
        let mass = DENSITY * f64::from(model.spacing()).powi(2);
        let h = f64::from(model.step_time());
        let mut facts = Facts { finite: true, ..Facts::default() };
        let ground = f64::from(model.scene.ground);
        let pinned = model.inverse();
        for (i, (&p, &q)) in cloth.p.iter().zip(&cloth.q).enumerate() {
            facts.finite &= p.iter().chain(&q).all(|v| v.is_finite());
            let moved = plus(p, q, -1.0);
            let speed2 = dot(moved, moved) / (h * h);
            facts.fastest = facts.fastest.max(speed2.sqrt());
            facts.kinetic += 0.5 * mass * speed2;
            facts.potential += mass * 9.81 * (p[1] - ground);
            if pinned[i] == 0.0 {
                let away = plus(p, first.p[i], -1.0);
                facts.pinned_moved = facts.pinned_moved.max(dot(away, away).sqrt());
                continue;
            }
            facts.depth = facts.depth.max(ground - p[1]);
            if let Some(s) = model.scene.sphere {
                let from = plus(p, [s[0], s[1], s[2]].map(f64::from), -1.0);
                facts.depth = facts.depth.max(f64::from(s[3]) - dot(from, from).sqrt());
            }
        }
        for l in links {
            let d = plus(cloth.p[l.b], cloth.p[l.a], -1.0);
            let stretch = dot(d, d).sqrt() / f64::from(l.rest) - 1.0;
            // Links that bend are meant to be shorter than at rest.
            if l.stiff == 1.0 {
                facts.stretch = facts.stretch.max(stretch);
            }
            facts.residual += stretch.max(0.0).powi(2) / links.len() as f64;
        }
        facts.residual = facts.residual.sqrt();
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;

    #[test]
    fn a_thread_of_two_nodes_hangs_and_a_free_one_falls() {
        let config = "scene=drape,wind=0".into();
        let model = Model::new(&Params { size: Some((1, 2)), config, ..Params::default() }).unwrap();
        let start = model.start();
        let (mut cloth, links) = (Cloth::of(&model, &start, 0), model.batches().concat());
        let reference = Reference::new(&model);
        for frame in 0..60 {
            reference.frame(&mut cloth, &Way::Serial(&links), 0, frame);
        }
        let length = -cloth.p[1][1];
        assert!((length / f64::from(model.spacing()) - 1.0).abs() < 1e-3, "{length}");
        let config = "scene=sphere".into();
        let model = Model::new(&Params { size: Some((1, 1)), config, ..Params::default() }).unwrap();
        let mut cloth = Cloth::of(&model, &model.start(), 0);
        let reference = Reference::new(&model);
        for frame in 0..240 {
            reference.frame(&mut cloth, &Way::AtOnce(&[]), 0, frame);
        }
        // It lies on the ground.
        assert!((cloth.p[0][1] - f64::from(model.scene.ground + MARGIN)).abs() < 1e-6, "{:?}", cloth.p[0]);
    }
}
