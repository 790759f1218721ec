//! Films that are computed, one for each kind of material that an editor meets: a landscape, a city at night, lights in
//! the dark to lay over others, and a test card for the scopes.
//!
//! In come size and time; out come frames of Y'CbCr, chroma halved both ways as films have it. They must cost less than
//! what is done with them: a row is drawn from tables of its columns wherever that is possible.

use super::source::{Next, Shape, Source};
use std::f32::consts::TAU;

/// What is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Coast,
    City,
    Lanterns,
    Card,
}

/// The scenes by their names.
pub const ALL: &[(&str, Kind)] =
    &[("coast", Kind::Coast), ("city", Kind::City), ("lanterns", Kind::Lanterns), ("card", Kind::Card)];

/// A film of a scene.
pub struct Scene {
    kind: Kind,
    shape: Shape,
    rate: f64,
    number: usize,
}

impl Scene {
    pub fn new(kind: Kind, (w, h): (usize, usize), rate: f64, interlaced: bool) -> Scene {
        let field = interlaced.then_some(0);
        let shape = Shape { w, h, shift_x: 1, shift_y: 1, left: false, full: false, field };
        Scene { kind, shape, rate, number: 0 }
    }
}

impl Source for Scene {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn next(&mut self) -> Next {
        let at = self.number as f64 / self.rate;
        // The second field is half a frame later.
        let times = match self.shape.field {
            None => [at, at],
            Some(first) => {
                let later = at + 0.5 / self.rate;
                if first == 0 { [at, later] } else { [later, at] }
            }
        };
        self.number += 1;
        Next::Frame(frame(self.kind, &self.shape, times.map(|t| t as f32)))
    }

    fn skip(&mut self, frames: usize) -> Result<(), String> {
        self.number += frames;
        Ok(())
    }
}

type Rgb = [f32; 3];

fn mix(a: Rgb, b: Rgb, t: f32) -> Rgb {
    [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t]
}

/// A random number from 0 to 255.
fn hash(a: u32, b: u32) -> u32 {
    let h = (a.wrapping_mul(0x9e37_79b1) ^ b.wrapping_mul(0x85eb_ca77)).wrapping_mul(0xc2b2_ae3d);
    (h ^ h >> 15).wrapping_mul(0x27d4_eb2f) >> 24
}

/// A house of the city that stands on a column.
#[derive(Clone, Copy)]
struct House {
    /// The row where it begins.
    roof: usize,
    id: u32,
    /// The column of windows; none between two.
    window: Option<u32>,
}

/// What a scene needs to draw the rows of a moment.
struct Moment {
    kind: Kind,
    w: usize,
    h: usize,
    t: f32,
    houses: [Vec<House>; 2],
    lights: Vec<([f32; 3], Rgb)>,
}

impl Moment {
    fn new(kind: Kind, w: usize, h: usize, t: f32) -> Moment {
        let (wf, hf) = (w as f32, h as f32);
        let mut houses = [Vec::new(), Vec::new()];
        if kind == Kind::City {
            for (depth, houses) in houses.iter_mut().enumerate() {
                let near = 1.0 - 0.45 * depth as f32;
                let width = (hf * 0.13 * near).max(1.0);
                let from = t * hf * 0.05 * near + 7.0 * wf;
                let column = |x: usize| {
                    let at = (x as f32 + from) / width;
                    let id = at as u32 * 2 + depth as u32;
                    let within = (at - at.floor()) * 8.0;
                    let tall = (0.20 + 0.36 * hash(id, 7) as f32 / 255.0) * (1.0 + 0.25 * depth as f32);
                    let lit = within > 0.8 && within < 7.2 && within - within.floor() < 0.6;
                    House { roof: (hf * (1.0 - tall)) as usize, id, window: lit.then_some(within as u32) }
                };
                *houses = (0..w).map(column).collect();
            }
        }
        let mut lights = Vec::new();
        if kind == Kind::Lanterns {
            for i in 0..18u32 {
                let r = |k: u32| hash(i, k) as f32 / 255.0;
                let up = (r(1) + t * (0.03 + 0.04 * r(2))) % 1.0;
                let x = (r(3) + 0.02 * (t * 0.7 + TAU * r(4)).sin()) * wf;
                let colour = [[1.0, 0.55, 0.15], [0.95, 0.3, 0.25], [0.3, 0.6, 1.0], [0.95, 0.8, 0.4]][i as usize % 4];
                let light = 0.35 + 0.5 * r(6);
                lights.push(([x, (1.15 - 1.3 * up) * hf, hf * (0.03 + 0.07 * r(5))], colour.map(|c| c * light)));
            }
        }
        Moment { kind, w, h, t, houses, lights }
    }

    fn row(&self, y: usize, row: &mut [Rgb]) {
        match self.kind {
            Kind::Coast => self.coast(y, row),
            Kind::City => self.city(y, row),
            Kind::Lanterns => self.lanterns(y, row),
            Kind::Card => self.card(y, row),
        }
    }

    /// Sunset over the sea.
    fn coast(&self, y: usize, row: &mut [Rgb]) {
        let (w, h) = (self.w as f32, self.h as f32);
        let v = (y as f32 + 0.5) / h;
        let sun = [(0.42 + 0.01 * (self.t * 0.2).sin()) * w, (0.46 + 0.0015 * self.t.min(60.0)) * h, 0.055 * h];
        let horizon = 0.56;
        if v < horizon {
            let base = if v < 0.3 {
                mix([0.10, 0.20, 0.42], [0.42, 0.42, 0.58], v / 0.3)
            } else {
                mix([0.42, 0.42, 0.58], [0.98, 0.66, 0.36], (v - 0.3) / 0.26)
            };
            let dy = (y as f32 - sun[1]) * (y as f32 - sun[1]);
            let cloud = ((v * 31.0).sin() + (v * 57.0 + 1.3).sin()) * 0.035;
            for (x, p) in row.iter_mut().enumerate() {
                let dx = x as f32 - sun[0];
                let d2 = (dx * dx + dy) / (sun[2] * sun[2]);
                let glow = 1.0 / (1.0 + 0.35 * d2);
                let disc = (8.0 * (1.0 - d2)).clamp(0.0, 1.0);
                let streak = cloud * (1.0 + (x as f32 / w * 2.0 - 0.6)).min(1.6);
                let sky = [base[0] + streak, base[1] + streak * 0.7, base[2] + streak * 0.5];
                *p = mix(mix(sky, [1.0, 0.82, 0.5], glow * 0.75), [1.0, 0.95, 0.78], disc);
            }
            return;
        }
        let depth = (v - horizon) / (1.0 - horizon);
        let base = mix([0.62, 0.45, 0.36], [0.04, 0.16, 0.24], depth.sqrt());
        // Waves get shorter towards the horizon; two sets of them, as parabolas.
        let near = 1.0 / (depth + 0.06);
        let (lift, run) = (near * 7.0, self.t * 0.5);
        let spread = (0.03 + 0.22 * depth) * w;
        for (x, p) in row.iter_mut().enumerate() {
            let u = (x as f32 / w + 2.0) * near;
            let a = u * 2.1 + lift * 1.7 + run;
            let b = u * 3.7 - lift * 2.3 + run * 1.3 + 400.0;
            let (a, b) = (a - a as i32 as f32, b - b as i32 as f32);
            let wave = 8.0 * a * (1.0 - a) * b * (1.0 - b);
            let off = (x as f32 - sun[0]) / spread;
            let shine = wave / (1.0 + off * off) * (1.0 - 0.5 * depth);
            let swell = (wave - 0.4) * 0.10;
            *p = [base[0] + swell + 1.1 * shine, base[1] + swell + 0.8 * shine, base[2] + swell + 0.45 * shine];
        }
    }

    /// Houses in two rows that pass by, and their windows.
    fn city(&self, y: usize, row: &mut [Rgb]) {
        let v = (y as f32 + 0.5) / self.h as f32;
        let sky = mix([0.05, 0.05, 0.16], [0.42, 0.20, 0.36], v * v);
        let haze = [0.16 + 0.1 * v, 0.12 + 0.05 * v, 0.24];
        let storey = (self.h as f32 * 0.022).max(1.0);
        let level = (y as f32 / storey) as u32;
        let in_window = y as f32 / storey - level as f32 > 0.45;
        for (x, p) in row.iter_mut().enumerate() {
            let (near, far) = (self.houses[0][x], self.houses[1][x]);
            *p = if y >= near.roof {
                house(near, level, in_window && y > near.roof + 2, [0.035, 0.04, 0.075], 1.0)
            } else if y >= far.roof {
                house(far, level, in_window && y > far.roof + 2, haze, 0.55)
            } else {
                sky
            };
        }
    }

    /// Soft discs that rise, on next to nothing.
    fn lanterns(&self, y: usize, row: &mut [Rgb]) {
        let v = y as f32 / self.h as f32;
        row.fill([0.02, 0.02 + 0.02 * v, 0.05 + 0.03 * v]);
        for (place, colour) in &self.lights {
            let (dy, radius) = (y as f32 - place[1], place[2].max(0.5));
            if dy.abs() >= radius {
                continue;
            }
            let half = (radius * radius - dy * dy).sqrt();
            let from = (place[0] - half).max(0.0) as usize;
            let to = ((place[0] + half).max(0.0) as usize + 1).min(self.w);
            for (x, p) in row.iter_mut().enumerate().take(to).skip(from) {
                let dx = x as f32 - place[0];
                let inside = (1.0 - (dx * dx + dy * dy) / (radius * radius)).max(0.0);
                let light = inside.min(0.25) * 2.4 + inside * 0.4;
                *p = [p[0] + colour[0] * light, p[1] + colour[1] * light, p[2] + colour[2] * light];
            }
        }
    }

    /// Bars of 75 %, a ramp, and a line that moves.
    fn card(&self, y: usize, row: &mut [Rgb]) {
        let v = (y as f32 + 0.5) / self.h as f32;
        let moving = (self.t * 0.2 % 1.0) * self.w as f32;
        for (x, p) in row.iter_mut().enumerate() {
            let bar = x * 7 / self.w;
            let on = |bit: usize| if (6 - bar + 1) >> bit & 1 == 1 { 0.75 } else { 0.0 };
            *p = if v < 0.68 {
                [on(1), on(2), on(0)]
            } else if v < 0.76 {
                let grey = bar as f32 / 6.0;
                [grey, grey, grey]
            } else {
                let grey = (x as f32 + 0.5) / self.w as f32;
                [grey, grey, grey]
            };
            if (x as f32 - moving).abs() < self.w as f32 * 0.004 {
                *p = [0.9, 0.9, 0.9];
            }
        }
    }
}

fn house(h: House, level: u32, in_window: bool, wall: Rgb, light: f32) -> Rgb {
    match h.window {
        Some(window) if in_window => {
            let n = hash(h.id * 8 + window, level);
            if n > 90 {
                return [wall[0] + 0.02, wall[1] + 0.02, wall[2] + 0.03];
            }
            let warm = [0.95, 0.75 + 0.002 * n as f32, 0.40 + 0.004 * n as f32];
            mix(wall, warm, light * (0.45 + 0.006 * n as f32))
        }
        _ => wall,
    }
}

/// Two rows of pixels at a time become two rows of luma and one of each chroma.
fn frame(kind: Kind, shape: &Shape, times: [f32; 2]) -> Vec<u8> {
    let (w, h) = (shape.w, shape.h);
    let moments = times.map(|t| Moment::new(kind, w, h, t));
    let mut planes = vec![0; shape.bytes()];
    let (luma, chroma) = planes.split_at_mut(w * h);
    let (cw, ch) = shape.chroma();
    let (us, vs) = chroma.split_at_mut(cw * ch);
    let mut rows = [vec![[0.0; 3]; w], vec![[0.0; 3]; w]];
    for (pair, lumas) in luma.chunks_mut(2 * w).enumerate() {
        for (k, out) in lumas.chunks_mut(w).enumerate() {
            moments[k].row(2 * pair + k, &mut rows[k]);
            for (y, p) in out.iter_mut().zip(&rows[k]) {
                *y = (16.5 + 219.0 * (0.2126 * p[0] + 0.7152 * p[1] + 0.0722 * p[2])).clamp(16.0, 235.0) as u8;
            }
        }
        let lower = if lumas.len() > w { 1 } else { 0 };
        for c in 0..cw {
            let sides = [2 * c, (2 * c + 1).min(w - 1)];
            let mut sum = [0.0f32; 3];
            for row in [&rows[0], &rows[lower]] {
                for x in sides {
                    sum = [sum[0] + row[x][0], sum[1] + row[x][1], sum[2] + row[x][2]];
                }
            }
            let p = sum.map(|s| 0.25 * s);
            let y = 0.2126 * p[0] + 0.7152 * p[1] + 0.0722 * p[2];
            us[pair * cw + c] = (128.5 + 224.0 / 1.8556 * (p[2] - y)).clamp(16.0, 240.0) as u8;
            vs[pair * cw + c] = (128.5 + 224.0 / 1.5748 * (p[0] - y)).clamp(16.0, 240.0) as u8;
        }
    }
    planes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_move_at_every_size_and_fields_differ() {
        for &(name, kind) in ALL {
            for (w, h) in [(1, 1), (2, 1), (131, 67)] {
                let mut film = Scene::new(kind, (w, h), 25.0, false);
                let mut frames = Vec::new();
                for _ in 0..26 {
                    let Next::Frame(planes) = film.next() else { panic!("{name} ended") };
                    assert_eq!(planes.len(), film.shape().bytes());
                    frames.push(planes);
                }
                assert!(w < 100 || frames[0] != frames[25], "{name} stands still");
            }
            let both = |interlaced| {
                let mut film = Scene::new(kind, (64, 64), 2.0, interlaced);
                film.skip(1).unwrap();
                let Next::Frame(planes) = film.next() else { panic!("{name} ended") };
                planes
            };
            let (whole, fields) = (both(false), both(true));
            assert_eq!(whole[..64], fields[..64], "{name}: the first field is that of the moment");
        }
    }
}
