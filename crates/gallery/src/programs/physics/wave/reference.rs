//! The reference of `wave` in `f64`: the water's steps, and a frame through its surface.
//!
//! In comes a scene, out come heights, foam, energy and colours. It shares no code with the kernels.

use super::films::{Rgb, mix};
use super::scene::Scene;
use crate::common::threads;

pub struct Water {
    pub now: Vec<f64>,
    pub old: Vec<f64>,
    pub foam: Vec<f64>,
    /// The largest height of all steps.
    pub highest: f64,
}

fn hash(v: u32) -> u32 {
    let v = (v ^ (v >> 16)).wrapping_mul(0x7feb_352d);
    let v = (v ^ (v >> 15)).wrapping_mul(0x846c_a68b);
    v ^ (v >> 16)
}

/// The drops of a step: place and radius.
fn drops(step: u32, rain: u32, w: usize, h: usize) -> Vec<(i64, i64, i64)> {
    let drop = |k: u32| {
        let v = hash(step.wrapping_mul(rain).wrapping_add(k));
        let place = |v: u32, n: usize| i64::from(hash(v) % n as u32);
        v.is_multiple_of(16).then(|| (place(v, w), place(v.wrapping_add(1), h), 3 + i64::from(v >> 8 & 3)))
    };
    (0..rain).filter_map(drop).collect()
}

impl Water {
    pub fn still(n: usize) -> Water {
        Water { now: vec![0.0; n], old: vec![0.0; n], foam: vec![0.0; n], highest: 0.0 }
    }

    pub fn step(&mut self, scene: &Scene, step: u32, rain: u32, drive: f32) {
        let (w, h) = (scene.w, scene.h);
        let drops = drops(step, rain, w, h);
        // A cell of the next board starts as that of the step before the last, as on the device: walls keep it.
        let mut next: Vec<(f64, f64)> = self.old.iter().copied().zip(self.foam.iter().copied()).collect();
        let now = &self.now;
        threads::rows(&mut next, w, threads::count(), |y, row| {
            for (x, (v, foam)) in row.iter_mut().enumerate() {
                let here = now[y * w + x];
                if scene.kind[y * w + x] == 1 {
                    continue;
                }
                let there = |dx: isize, dy: isize| match (x.checked_add_signed(dx), y.checked_add_signed(dy)) {
                    (Some(x), Some(y)) if x < w && y < h && scene.kind[y * w + x] == 0 => now[y * w + x],
                    _ => here,
                };
                let bend = there(-1, 0) + there(1, 0) + there(0, -1) + there(0, 1) - 4.0 * here;
                // The edge that makes waves must not swallow them.
                let left = if scene.drive { usize::MAX } else { x };
                let edge = left.min(w - 1 - x).min(y).min(h - 1 - y);
                let lost = if scene.absorb && edge < 16 { 0.02 * (16 - edge) as f64 } else { 0.0 };
                let speed = f64::from(scene.speed[y * w + x]);
                let mut up = here + (here - *v) * f64::from(scene.keep) * (1.0 - lost) + speed * bend;
                for &(cx, cy, radius) in &drops {
                    let far = (x as i64 - cx).pow(2) + (y as i64 - cy).pow(2);
                    up -= 0.9 * (1.0 - far as f64 / (radius * radius) as f64).max(0.0).powi(2);
                }
                let limit = 0.35 + 2.0 * speed;
                // Half of what stands above the limit becomes foam. Both sides meet at the limit, so that rounding
                // cannot decide.
                let spray = (up.abs() - limit).max(0.0) / 2.0;
                *foam = (*foam * 0.97 + 2.0 * spray).min(4.0);
                up = up.signum() * (up.abs() - spray);
                *v = if scene.drive && x == 0 { f64::from(drive) } else { up };
            }
        });
        let (heights, foam): (Vec<f64>, Vec<f64>) = next.into_iter().unzip();
        self.old = std::mem::replace(&mut self.now, heights);
        self.foam = foam;
        self.highest = self.now.iter().fold(self.highest, |m, v| m.max(v.abs()));
    }
}

/// Half the square of the motion of a step, and of the speed times the slopes before and after it: what leapfrog keeps
/// exactly where nothing is damped and the speed is everywhere the same.
pub fn energy(now: &[f32], old: &[f32], scene: &Scene) -> f64 {
    let w = scene.w;
    let cell = |i: usize| {
        let slope = |v: &[f32], k: usize| f64::from(v[k]) - f64::from(v[i]);
        let slopes = |k: usize, inside: bool| {
            if inside && scene.kind[k] == 0 { slope(now, k) * slope(old, k) } else { 0.0 }
        };
        // To the right and down only: each pair of neighbours once.
        let slopes = slopes(i + 1, i % w + 1 < w) + slopes(i + w, i + w < now.len());
        (f64::from(now[i]) - f64::from(old[i])).powi(2) / 2.0 + f64::from(scene.speed[i]) * slopes / 2.0
    };
    (0..now.len()).filter(|&i| scene.kind[i] == 0).map(cell).sum()
}

/// The frame's colours, from 0 to 255 and not rounded, through a surface of these heights.
pub fn render(scene: &Scene, height: &[f32], foam: &[f32], mosaic: &[Rgb]) -> Vec<Rgb> {
    let (w, h) = (scene.w, scene.h);
    let mut out = vec![[0.0; 3]; w * h];
    threads::rows(&mut out, w, threads::count(), |y, row| {
        for (x, out) in row.iter_mut().enumerate() {
            let wall = |x: usize, y: usize| scene.kind[y * w + x] == 1;
            if wall(x, y) {
                let mut shade = if (x / 6 + y / 4) % 2 == 1 { 0.54 } else { 0.50 };
                shade += if x > 0 && y > 0 && !wall(x - 1, y - 1) { 0.25 } else { 0.0 };
                shade -= if x + 1 < w && y + 1 < h && !wall(x + 1, y + 1) { 0.25 } else { 0.0 };
                *out = [1.0f64, 0.94, 0.84].map(|v| (255.0 * v * shade).clamp(0.0, 255.0));
                continue;
            }
            let at =
                |x: usize, y: usize, x0: usize, y0: usize| height[if wall(x, y) { y0 * w + x0 } else { y * w + x }];
            let (right, below) = ((x + 1).min(w - 1), (y + 1).min(h - 1));
            let gx = f64::from(at(right, y, x, y)) - f64::from(at(x.saturating_sub(1), y, x, y));
            let gy = f64::from(at(x, below, x, y)) - f64::from(at(x, y.saturating_sub(1), x, y));
            let split = |v: f64, n: usize| {
                let v = v.clamp(0.0, (n - 1) as f64);
                (v as usize, (v as usize + 1).min(n - 1), v.fract())
            };
            // The surface bends what lies below by its slope; read between pixels, lest a place on a boundary jump.
            let (x0, x1, fx) = split(x as f64 + 24.0 * gx, w);
            let (y0, y1, fy) = split(y as f64 + 24.0 * gy, h);
            let line = |y: usize| mix(mosaic[y * w + x0], mosaic[y * w + x1], fx);
            let seen = mix(line(y0), line(y1), fy);
            let tint = 0.08 + 0.6 * f64::from(scene.speed[y * w + x]);
            let long = (9.0 * gx * gx + 9.0 * gy * gy + 1.0).sqrt();
            let (nx, ny, nz) = (-3.0 * gx / long, -3.0 * gy / long, 1.0 / long);
            let light = 0.62 + 0.48 * (-0.40 * nx - 0.45 * ny + 0.80 * nz).max(0.0);
            let lit = mix(seen, [0.08, 0.30, 0.42], tint).map(|v| v * light);
            let away = 1.0 - nz;
            let sky = mix(lit, [0.75, 0.86, 0.95], 0.03 + 0.5 * away * away);
            let shine = (-0.2108 * nx - 0.2372 * ny + 0.9483 * nz).max(0.0).powi(60) * (20.0 * away).min(1.0);
            let white = f64::from(foam[y * w + x]).min(0.85);
            *out = mix(sky.map(|v| v + 0.55 * shine), [0.97, 0.98, 1.0], white).map(|v| (255.0 * v).clamp(0.0, 255.0));
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_keeps_its_energy_and_stays_behind_a_wall() {
        let (w, h) = (40, 30);
        let kind: Vec<u8> = (0..w * h).map(|i| u8::from(i % w == 20)).collect();
        let scene = Scene { w, h, kind, speed: vec![0.4; w * h], keep: 1.0, absorb: false, drive: false };
        let mut water = Water::still(w * h);
        water.now[15 * w + 10] = 0.3;
        water.old[15 * w + 10] = 0.3;
        let floats = |v: &[f64]| v.iter().map(|&v| v as f32).collect::<Vec<_>>();
        let before = energy(&floats(&water.now), &floats(&water.old), &scene);
        for step in 0..200 {
            water.step(&scene, step, 0, 0.0);
        }
        let after = energy(&floats(&water.now), &floats(&water.old), &scene);
        assert!((after / before - 1.0).abs() < 1e-3, "{before} {after}");
        assert!((0..w * h).all(|i| i % w < 20 || water.now[i] == 0.0), "nothing passes the wall");
        assert!(drops(7, 200, w, h).len() > 3 && drops(7, 0, w, h).is_empty());
    }
}
