//! Bursts of particles in a box, and their picture: in come records of position and velocity, out comes what an eye
//! sees through the glass.
//!
//! A step can be undone, as long as the walls do nothing but reflect: the way behind a particle follows from the record
//! alone, however the program arrived there.

use super::FLOATS;
use crate::picture::Picture;
use crate::picture::glow::{Eye, Glow, blend};
use crate::random::Random;

/// Where they start, and how far their fastest particles go in a step.
const BURSTS: [([f32; 3], f32); 7] = [
    ([0.30, 0.68, 0.62], 0.040),
    ([0.70, 0.42, 0.35], 0.032),
    ([0.52, 0.80, 0.25], 0.024),
    ([0.22, 0.30, 0.28], 0.028),
    ([0.80, 0.75, 0.75], 0.022),
    ([0.45, 0.25, 0.78], 0.030),
    ([0.75, 0.16, 0.68], 0.020),
];
/// A colour for each: those of Okabe and Ito, lighter, which colour-blind people tell apart.
const COLOURS: [[f32; 3]; 7] = [
    [1.0, 0.68, 0.15],
    [0.35, 0.72, 1.0],
    [0.1, 0.85, 0.6],
    [1.0, 0.92, 0.4],
    [0.25, 0.5, 1.0],
    [1.0, 0.45, 0.15],
    [0.95, 0.55, 0.8],
];
/// Little to much closeness.
const CLOSENESS: [[f32; 3]; 4] = [[0.2, 0.25, 0.9], [0.75, 0.25, 0.75], [1.0, 0.5, 0.25], [1.0, 0.93, 0.6]];
/// So many are seen as particles, more as fog.
const SEEN: usize = 1200;
/// How many steps a trail goes back.
const TRAIL: usize = 6;

/// So many records, those of the bursts in turns.
pub fn records(n: usize) -> Vec<f32> {
    let mut random = Random::new(2011);
    let particle = |i: usize| {
        let (centre, fastest) = BURSTS[i % BURSTS.len()];
        // Any direction: the first point of the cube that lies in the ball and not in its middle. Most first ones do.
        let direction = loop {
            let d = [0; 3].map(|_| random.signed());
            let length = d.iter().map(|v| v * v).sum::<f32>().sqrt();
            if (0.1..=1.0).contains(&length) {
                break d.map(|v| v / length);
            }
        };
        let (out, speed) = (random.signed() * 0.5 + 0.5, random.signed() * 0.5 + 0.5);
        // Most are nearly as fast as the fastest: a shell.
        let speed = fastest * (1.0 - 0.35 * speed * speed * speed);
        let at = |c: usize| centre[c] + direction[c] * out * 0.12;
        let velocity = |c: usize| direction[c] * speed;
        [at(0), at(1), at(2), velocity(0), velocity(1), velocity(2)]
    };
    (0..n).flat_map(particle).collect()
}

/// The step before a position and velocity: a particle that did not move turned back at a wall.
fn undo(at: [f32; 3], velocity: [f32; 3]) -> ([f32; 3], [f32; 3]) {
    let (mut before, mut then) = (at, velocity);
    for c in 0..3 {
        if (0.0..=1.0).contains(&(at[c] - velocity[c])) {
            before[c] = at[c] - velocity[c];
        } else {
            then[c] = -velocity[c];
        }
    }
    (before, then)
}

/// Three floats, as far as there are.
fn three(of: &[f32]) -> [f32; 3] {
    std::array::from_fn(|c| of.get(c).copied().unwrap_or_default())
}

/// Where a particle is, from the middle of the box; this is a little higher than the middle of the picture, because the
/// eye looks down on it.
fn placed(at: [f32; 3]) -> [f32; 3] {
    [at[0] - 0.5, at[1] - 0.44, at[2] - 0.5]
}

fn boxed(frame: u32) -> Glow {
    let eye = Eye { turn: 0.5 + frame as f32 * 0.006, tilt: 0.3, distance: 3.1, scale: 210.0 };
    let mut glow = Glow::new(360, 360, eye);
    // The edges of the box: two corners that differ in one coordinate.
    let corner = |i: usize| [0, 1, 2].map(|c| if i >> c & 1 == 1 { 1.0 } else { 0.0f32 });
    for a in 0..8usize {
        for c in (0..3).filter(|c| a >> c & 1 == 0) {
            glow.line(placed(corner(a)), placed(corner(a | 1 << c)), 0.7, [0.55, 0.65, 0.9], [0.3, 0.3]);
        }
    }
    glow
}

/// Particles in their box with the way behind them, coloured by the burst that they came from.
pub fn moving(records: &[f32], frame: u32) -> Picture {
    let mut glow = boxed(frame);
    for (i, record) in records.chunks_exact(FLOATS).take(SEEN).enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let (mut at, mut velocity) = (three(record), three(&record[3..]));
        glow.point(placed(at), 1.3, colour, 0.75);
        for k in 0..TRAIL {
            let (before, then) = undo(at, velocity);
            let faded = |k: usize| 0.30 * (1.0 - k as f32 / TRAIL as f32).powi(2);
            // A piece of the trail fades from its nearer end to its farther one, so that pieces join without a step.
            glow.line(placed(at), placed(before), 0.7, colour, [faded(k), faded(k + 1)]);
            (at, velocity) = (before, then);
        }
    }
    glow.picture()
}

/// Particles in their box, by how close the others are.
pub fn close(records: &[f32], sums: &[f32], frame: u32) -> Picture {
    let mut glow = boxed(frame);
    let few = sums.iter().copied().fold(f32::MAX, f32::min);
    let many = sums.iter().copied().fold(f32::MIN, f32::max);
    for (record, sum) in records.chunks_exact(FLOATS).zip(sums).take(SEEN) {
        let at = placed(three(record));
        let colour = blend(&CLOSENESS, (sum - few) / (many - few).max(f32::MIN_POSITIVE));
        glow.point(at, 1.6, colour, 0.5);
    }
    glow.picture()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::physics::particles::step;

    #[test]
    fn undoing_steps_goes_back_where_they_came_from() {
        let mut record = [0.4f32, 0.95, 0.02, 0.0625, 0.03125, -0.015625];
        let start = record;
        for _ in 0..9 {
            step(&mut record);
        }
        let (mut at, mut velocity) = (three(&record), three(&record[3..]));
        for _ in 0..9 {
            (at, velocity) = undo(at, velocity);
        }
        for c in 0..3 {
            assert!((at[c] - start[c]).abs() < 1e-5 && velocity[c] == start[c + 3], "{at:?} {velocity:?}");
        }
    }

    #[test]
    fn particles_start_in_the_box_and_are_not_too_fast_for_it() {
        let records = records(5000);
        assert_eq!(records.len(), 5000 * FLOATS);
        for r in records.chunks_exact(FLOATS) {
            assert!(r[..3].iter().all(|v| (0.0..=1.0).contains(v)) && r[3..].iter().all(|v| v.abs() <= 1.0 / 16.0));
        }
        for picture in [moving(&records, 0), close(&records[..6], &[3.0], 5)] {
            assert!(picture.luma().iter().any(|&v| v > 60));
        }
    }
}
