//! Two discs of bodies that turn about a heavy core each and meet: the bodies that `nbody` pulls, how they move on, and
//! their picture. It is Toomre and Toomre's experiment of 1972, whose discs draw tails and a bridge out of each other,
//! but here all bodies pull, not the cores alone.

use crate::picture::Picture;
use crate::picture::glow::{Eye, Glow, blend};
use crate::random::Random;

/// A body. The arithmetic of its way is the host's.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    pub at: [f32; 3],
    pub velocity: [f32; 3],
    pub mass: f32,
}

/// Where a disc starts, its radius, the normal of its plane, and the velocity of all of it, in units of the root of
/// the number of bodies: the more there are, the more they pull.
struct Disc {
    centre: [f32; 3],
    radius: f32,
    normal: [f32; 3],
    velocity: [f32; 3],
}

const DISCS: [Disc; 2] = [
    Disc { centre: [-0.75, -0.22, 0.1], radius: 0.62, normal: [0.28, 0.9, 0.33], velocity: [0.52, 0.0, 0.06] },
    Disc { centre: [0.75, 0.22, -0.1], radius: 0.5, normal: [-0.5, 0.62, 0.6], velocity: [-0.52, 0.0, -0.06] },
];

/// The share of a disc's mass in its core.
const CORE: f32 = 0.5;
/// A time step, over the root of the number of bodies.
const STEP: f32 = 0.012;

/// From slow to fast. Light and dark differ, too, so that it reads without colours.
const PALETTE: [[f32; 3]; 4] = [[0.16, 0.3, 1.0], [0.34, 0.66, 1.0], [1.0, 0.86, 0.6], [1.0, 0.5, 0.16]];

fn scaled(v: [f32; 3], by: f32) -> [f32; 3] {
    v.map(|v| v * by)
}

fn sum(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    std::array::from_fn(|c| a[c] + b[c])
}

fn length(v: [f32; 3]) -> f32 {
    v.iter().map(|v| v * v).sum::<f32>().sqrt()
}

fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// So many bodies, half of them in each disc. The first ones of both are the cores.
pub fn bodies(n: usize, softening: f32) -> Vec<Body> {
    let mut random = Random::new(7);
    let root = (n as f32).sqrt();
    let body = |i: usize| {
        let disc = &DISCS[i % 2];
        let velocity = scaled(disc.velocity, root);
        if i < 2 {
            return Body { at: disc.centre, velocity, mass: (n as f32 * 0.5 * CORE / (1.0 - CORE)).max(1.0) };
        }
        let normal = scaled(disc.normal, 1.0 / length(disc.normal));
        let right = cross(normal, [0.0, 0.0, 1.0]);
        let right = scaled(right, 1.0 / length(right));
        let ahead = cross(normal, right);
        let (out, angle) = (0.06 + 0.94 * (random.signed() * 0.5 + 0.5), random.signed() * std::f32::consts::PI);
        let (sin, cos) = angle.sin_cos();
        let arm = sum(scaled(right, cos), scaled(ahead, sin));
        let round = sum(scaled(right, -sin), scaled(ahead, cos));
        let away = out * disc.radius;
        let thick = random.signed() * 0.02;
        // As fast as the pull of what is further in holds on a circle; bodies lie evenly along the radius.
        let within = n as f32 * 0.5 * (CORE / (1.0 - CORE) + out);
        let speed = (within * away * away / (away * away + softening).powf(1.5)).sqrt();
        Body {
            at: sum(disc.centre, sum(scaled(arm, away), scaled(normal, thick))),
            velocity: sum(velocity, scaled(round, speed * (1.0 + random.signed() * 0.04))),
            mass: 1.0 + random.signed() / 2.0,
        }
    };
    (0..n).map(body).collect()
}

/// Moves all bodies on, with four numbers of the device for each: the pull on it, and one that does not count. First
/// the velocity, then the place with the new velocity (the symplectic Euler method): the energy does not drift.
pub fn advance(bodies: &mut [Body], pulls: &[f32]) {
    let step = STEP / (bodies.len() as f32).sqrt();
    for (body, pull) in bodies.iter_mut().zip(pulls.chunks_exact(4)) {
        body.velocity = sum(body.velocity, scaled([pull[0], pull[1], pull[2]], step));
        body.at = sum(body.at, scaled(body.velocity, step));
    }
}

/// The bodies as an eye sees them that goes round a little: points that glow, by their speed from blue to orange.
pub fn drawn(bodies: &[Body], frame: u32) -> Picture {
    let (w, h) = (480, 340);
    let eye = Eye { turn: -0.25 + frame as f32 * 0.004, tilt: 0.62, distance: 4.2, scale: 176.0 };
    let mut glow = Glow::new(w, h, eye);
    let root = (bodies.len() as f32).sqrt();
    // About as much light from all of them, however many there are.
    let strength = (40.0 / root).clamp(0.04, 1.0);
    for (i, body) in bodies.iter().enumerate() {
        let colour = blend(&PALETTE, length(body.velocity) / (root * 2.8));
        if i < 2 {
            glow.point(body.at, 8.0, [1.0, 0.8, 0.55], 0.5);
            glow.point(body.at, 2.6, [1.0, 0.95, 0.85], 1.6);
        } else {
            glow.point(body.at, 0.9, colour, strength * 1.6);
            // Some shine on what is around them, the others' share, too.
            if i % 8 == 0 {
                glow.point(body.at, 9.0, colour, strength * 0.09);
            }
        }
    }
    glow.picture()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_bodies_is_finite_and_a_step_goes_the_way_of_the_pull() {
        for n in [1, 2, 3, 77] {
            let mut bodies = bodies(n, 1.0 / 1024.0);
            assert_eq!(bodies.len(), n);
            assert!(bodies.iter().all(|b| b.at.iter().chain(&b.velocity).all(|v| v.is_finite()) && b.mass > 0.0));
            let before = bodies.clone();
            advance(&mut bodies, &[0.0, 100.0, 0.0, 9.0].repeat(n));
            for (a, b) in before.iter().zip(&bodies) {
                assert!(b.velocity[1] > a.velocity[1]);
                assert_eq!((a.velocity[0], a.velocity[2]), (b.velocity[0], b.velocity[2]));
            }
        }
    }

    #[test]
    fn the_picture_is_neither_dark_nor_burnt_out() {
        for n in [1, 300, 20_000] {
            let luma = drawn(&bodies(n, 1.0 / 1024.0), 0).luma();
            assert!(luma.iter().any(|&v| v > 120), "{n} bodies are seen");
            let bright = luma.iter().filter(|&&v| v > 240).count();
            assert!(bright * 20 < luma.len(), "{n} bodies: {bright} pixels are nearly white");
        }
    }
}
