//! What stands around the cloth and how it is lit, for the reference's picture: camera, sky, ground, pole, sphere,
//! light, and the pattern on the cloth. The kernels compute the same in their own way; both are given these numbers.

use super::draw::focal;
use super::model::{Model, Scene};

pub type V = [f32; 3];

pub const NEAR: f32 = 0.5;
pub const FAR: f32 = 8.0;
const POLE_R: f32 = 0.018;
const POLE_TOP: f32 = 0.09;

pub fn plus(a: V, b: V, k: f32) -> V {
    [a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]]
}

pub fn dot(a: V, b: V) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn unit(v: V) -> V {
    let part = 1.0 / dot(v, v).sqrt().max(1e-12);
    v.map(|c| c * part)
}

fn cross(a: V, b: V) -> V {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn mix(a: V, b: V, t: f32) -> V {
    plus(a, plus(b, a, -1.0), t)
}

/// 0 before the edge, 1 behind it, over a width of `soft`.
fn step_at(v: f32, edge: f32, soft: f32) -> f32 {
    ((v - edge) / soft + 0.5).clamp(0.0, 1.0)
}

pub struct Camera {
    pub eye: V,
    pub right: V,
    pub up: V,
    pub forward: V,
}

impl Camera {
    pub fn new(scene: &Scene) -> Camera {
        let forward = unit(plus(scene.target, scene.eye, -1.0));
        let right = unit(cross(forward, [0.0, 1.0, 0.0]));
        Camera { eye: scene.eye, right, up: cross(right, forward), forward }
    }

    pub fn numbers(&self) -> Vec<f32> {
        [self.eye, self.right, self.up, self.forward].concat()
    }

    /// Through a point so many pixels from the middle.
    pub fn ray(&self, x: f32, y: f32, focal: f32) -> V {
        unit(plus(plus(self.forward.map(|v| v * focal), self.right, x), self.up, y))
    }
}

pub struct Scenery {
    scene: Scene,
    focal: f32,
    sun: V,
    pole: bool,
    /// Centre, radius and colour of the ball: the sphere, or the knob of the pole.
    ball: Option<([f32; 4], V)>,
}

impl Scenery {
    pub fn new(model: &Model) -> Scenery {
        let pole = model.scene.name == "flag";
        let knob = ([-POLE_R, POLE_TOP + 0.025, 0.0, 0.035], [0.80, 0.50, 0.06]);
        let ball = model.scene.sphere.map(|s| (s, [0.20, 0.30, 0.38])).or(pole.then_some(knob));
        Scenery { scene: model.scene, focal: focal(model), sun: unit([-0.45, 0.62, 0.64]), pole, ball }
    }

    pub fn options(&self) -> String {
        let ([x, y, z, r], [red, green, blue]) = self.ball.unwrap_or_default();
        let numbers = [
            ("NEAR", NEAR),
            ("FAR", FAR),
            ("FOCAL", self.focal),
            ("POLE_TOP", POLE_TOP),
            ("SUN_X", self.sun[0]),
            ("SUN_Y", self.sun[1]),
            ("SUN_Z", self.sun[2]),
            ("BALL_X", x),
            ("BALL_Y", y),
            ("BALL_Z", z),
            ("BALL_R", r),
            ("BALL_RED", red),
            ("BALL_GREEN", green),
            ("BALL_BLUE", blue),
        ];
        let mut o = format!("-DHAS_POLE={} -DCHECKED={}", u32::from(self.pole), u32::from(!self.pole));
        for (name, value) in numbers {
            o += &format!(" -D{name}=({value:e}f)");
        }
        o
    }

    pub fn lit(&self, colour: V, normal: V, to_eye: V, shine: f32) -> V {
        let half_way = unit(plus(self.sun, to_eye, 1.0));
        let (front, gloss) = (dot(normal, self.sun), dot(normal, half_way).max(0.0));
        let light = 0.85 * front.max(0.0) + shine * 0.30 * (-front).max(0.0) + 0.30 + 0.12 * normal[1];
        plus(colour.map(|c| c * light), [1.0; 3], 0.10 * gloss.powi(16))
    }

    pub fn pattern(&self, u: f32, v: f32, flag: usize) -> V {
        const CREAM: V = [0.86, 0.78, 0.62];
        const GOLD: V = [0.90, 0.52, 0.03];
        if !self.pole {
            let stripe = |t: f32| (t.sin() * 5.0).clamp(-1.0, 1.0);
            return mix(CREAM, [0.58, 0.07, 0.03], 0.5 + 0.25 * (stripe(u * 50.2655) + stripe(v * 37.6991)));
        }
        let field = [
            [0.010, 0.10, 0.34],
            [0.46, 0.09, 0.010],
            [0.004, 0.24, 0.17],
            [0.36, 0.10, 0.22],
            [0.05, 0.20, 0.44],
            [0.09, 0.09, 0.12],
        ][flag % 6];
        let (x, y) = ((u - 0.42) * 1.3333, v - 0.38);
        let r = (x * x + y * y).sqrt();
        let mut colour = mix(GOLD, field, step_at(r, 0.165, 0.012));
        colour = mix(colour, GOLD, step_at(r, 0.205, 0.012) * (1.0 - step_at(r, 0.232, 0.012)));
        let wave = 0.022 * (u * 18.85).sin();
        colour = mix(colour, CREAM, step_at(v + wave, 0.70, 0.012));
        colour = mix(colour, mix(field, CREAM, 0.35), step_at(v - wave, 0.80, 0.012));
        mix(colour, field, step_at(v + wave, 0.90, 0.012))
    }

    /// The colour along a ray, and how far away along the view it is. An empty cell shows no pole and no sphere.
    pub fn backdrop(&self, camera: &Camera, ray: V, empty: bool) -> (V, f32) {
        let cosine = dot(ray, camera.forward);
        let (mut far, eye) = (FAR, camera.eye);
        let mut colour = mix([0.62, 0.75, 0.86], [0.13, 0.33, 0.62], (ray[1] * 2.2).clamp(0.0, 1.0));
        if ray[1] < -1e-4 {
            let t = (self.scene.ground - eye[1]) / ray[1];
            let (x, z) = (eye[0] + t * ray[0], eye[2] + t * ray[2]);
            let tone = (x * 3.1 + 1.3 * (z * 1.7).sin()).sin() + (z * 2.7 + 1.1 * (x * 2.3).sin()).sin();
            let mut ground = mix([0.23, 0.27, 0.10], [0.30, 0.34, 0.13], 0.5 + 0.25 * tone);
            if let Some(s) = self.scene.sphere.filter(|_| !empty) {
                let up = [x - s[0], self.scene.ground - s[1], z - s[2]];
                // How far the ray from here to the sun passes from the middle of the sphere: its shadow.
                let miss = (dot(up, up) - dot(up, self.sun).powi(2)).max(0.0).sqrt();
                ground = ground.map(|c| c * (0.45 + 0.55 * step_at(miss, s[3], 0.12)));
            }
            colour = mix(colour, ground, (9.0 / t).min(1.0));
            far = far.min(t * cosine);
        }
        if self.pole && !empty {
            let (ox, oz) = (eye[0] + POLE_R, eye[2]);
            let flat = ray[0] * ray[0] + ray[2] * ray[2];
            let miss = (ox * ray[2] - oz * ray[0]) / flat.sqrt();
            let t = -(ox * ray[0] + oz * ray[2]) / flat;
            if t > 0.0 && eye[1] + t * ray[1] < POLE_TOP {
                // The share of the pixel that the pole covers: its edge is as wide as a pixel at that distance.
                let cover = ((POLE_R - miss.abs()) * self.focal / t + 0.5).clamp(0.0, 1.0);
                let off = (miss / POLE_R).clamp(-1.0, 1.0);
                let normal = [-off, 0.0, (1.0 - off * off).sqrt()];
                colour = mix(colour, self.lit([0.42, 0.40, 0.38], normal, ray.map(|v| -v), 0.0), cover);
                far = if cover > 0.5 { far.min(t * cosine) } else { far };
            }
        }
        if let Some(([x, y, z, r], paint)) = self.ball.filter(|_| !empty) {
            let centre = plus([x, y, z], eye, -1.0);
            let t = dot(centre, ray);
            let away2 = dot(centre, centre) - t * t;
            let cover = ((r - away2.max(0.0).sqrt()) * self.focal / t + 0.5).clamp(0.0, 1.0);
            if cover > 0.0 {
                let hit = t - (r * r - away2).max(0.0).sqrt();
                let normal = unit(plus(ray.map(|v| v * hit), centre, -1.0));
                colour = mix(colour, self.lit(paint, normal, ray.map(|v| -v), 0.0), cover);
                far = if cover > 0.5 { far.min(hit * cosine) } else { far };
            }
        }
        (colour, far)
    }
}
