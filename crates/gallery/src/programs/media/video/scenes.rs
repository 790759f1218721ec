//! Films that are computed, one for each kind of material that an editor meets: a landscape, a city at night, lights in
//! the dark to lay over others, and a test card for the scopes.
//!
//! In come size and time; out come frames of Y'CbCr, chroma halved both ways as films have it. They must cost less than
//! what is done with them: a row is drawn from tables of its columns wherever that is possible, its colours lie in
//! planes, so that the compiler makes vectors of them, and rows that are like those before are copied.

use super::source::{Next, Shape, Source};
use crate::film::colour::{KB, KR};
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

    fn next_in(&mut self, memory: Vec<u8>) -> Next {
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
        Next::Frame(frame(self.kind, &self.shape, times.map(|t| t as f32), memory))
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

/// A row of colours, and of numbers for each column.
#[derive(Clone, Default)]
struct Row([Vec<f32>; 3]);

impl Row {
    fn new(w: usize) -> Row {
        Row(std::array::from_fn(|_| vec![0.0; w]))
    }

    fn fill(&mut self, colour: Rgb) {
        self.0.iter_mut().zip(colour).for_each(|(plane, c)| plane.fill(c));
    }

    /// The colours of a range of columns, with the columns.
    fn pixels(&mut self, from: usize, to: usize) -> impl Iterator<Item = (f32, [&mut f32; 3])> {
        let [r, g, b] = &mut self.0;
        let planes = r[from..to].iter_mut().zip(&mut g[from..to]).zip(&mut b[from..to]);
        // Small numbers: the compiler has vectors for signed ones only.
        planes.enumerate().map(move |(i, ((r, g), b))| ((from as i32 + i as i32) as f32, [r, g, b]))
    }

    fn set(&mut self, x: usize, colour: Rgb) {
        self.0.iter_mut().zip(colour).for_each(|(plane, c)| plane[x] = c);
    }
}

/// A row of houses.
#[derive(Clone, Default)]
struct Street {
    /// The row where the house on each column begins.
    roofs: Vec<f32>,
    /// Which house it is, and its column of windows; none between two.
    houses: Vec<(u32, Option<u32>)>,
    /// The storey that the next two are of.
    level: Option<u32>,
    /// How much of a window's own colour is seen, and that colour, already multiplied by it.
    lit: Vec<f32>,
    light: Row,
}

impl Street {
    fn new(depth: usize, w: usize, h: usize, t: f32) -> Street {
        let (wf, hf) = (w as f32, h as f32);
        let near = 1.0 - 0.45 * depth as f32;
        let width = (hf * 0.13 * near).max(1.0);
        let from = t * hf * 0.05 * near + 7.0 * wf;
        let mut street = Street { light: Row::new(w), lit: vec![0.0; w], ..Street::default() };
        for x in 0..w {
            let at = (x as f32 + from) / width;
            let id = at as u32 * 2 + depth as u32;
            let within = (at - at.floor()) * 8.0;
            let tall = (0.20 + 0.36 * hash(id, 7) as f32 / 255.0) * (1.0 + 0.25 * depth as f32);
            let lit = within > 0.8 && within < 7.2 && within - within.floor() < 0.6;
            street.roofs.push((hf * (1.0 - tall)).floor());
            street.houses.push((id, lit.then_some(within as u32)));
        }
        street
    }

    /// The windows of a storey, of which so much light comes here.
    fn storey(&mut self, level: u32, light: f32) {
        // Rows of one storey have the same windows: they are computed once.
        if self.level == Some(level) {
            return;
        }
        self.level = Some(level);
        for (x, &(id, window)) in self.houses.iter().enumerate() {
            let n = window.map(|window| hash(id * 8 + window, level));
            let (lit, colour) = match n {
                None => (0.0, [0.0; 3]),
                Some(n) if n > 90 => (0.0, [0.02, 0.02, 0.03]),
                Some(n) => {
                    let lit = light * (0.45 + 0.006 * n as f32);
                    (lit, [0.95, 0.75 + 0.002 * n as f32, 0.40 + 0.004 * n as f32].map(|c| lit * c))
                }
            };
            self.lit[x] = lit;
            self.light.set(x, colour);
        }
    }

    /// Draws the street over a row.
    fn draw(&self, y: usize, in_window: bool, wall: Rgb, row: &mut Row) {
        let y = y as f32;
        for ((plane, light), wall) in row.0.iter_mut().zip(&self.light.0).zip(wall) {
            for (((p, light), lit), roof) in plane.iter_mut().zip(light).zip(&self.lit).zip(&self.roofs) {
                let window = wall + light - wall * lit;
                let house = if in_window && y > roof + 2.0 { window } else { wall };
                *p = if y >= *roof { house } else { *p };
            }
        }
    }
}

/// What a scene needs to draw the rows of a moment.
struct Moment {
    kind: Kind,
    w: usize,
    h: usize,
    t: f32,
    streets: [Street; 2],
    lights: Vec<([f32; 3], Rgb)>,
}

/// How far a number is from the middle between two integers; below a few millions.
fn off_middle(a: f32) -> f32 {
    // Adding this leaves no place for a fraction.
    const WHOLE: f32 = 8_388_608.0;
    a - 0.5 - (a - 0.5 + WHOLE - WHOLE)
}

impl Moment {
    fn new(kind: Kind, w: usize, h: usize, t: f32) -> Moment {
        let (wf, hf) = (w as f32, h as f32);
        let city = kind == Kind::City;
        let street = |depth| if city { Street::new(depth, w, h, t) } else { Street::default() };
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
        Moment { kind, w, h, t, streets: [street(0), street(1)], lights }
    }

    /// Whether a pair of rows is the pair before once more.
    fn same_pair(&self, pair: usize) -> bool {
        let parts = |pair: usize| [self.part(2 * pair), self.part(2 * pair + 1)];
        self.kind == Kind::Card && pair > 0 && parts(pair) == parts(pair - 1)
    }

    fn row(&mut self, y: usize, row: &mut Row) {
        match self.kind {
            Kind::Coast => self.coast(y, row),
            Kind::City => self.city(y, row),
            Kind::Lanterns => self.lanterns(y, row),
            Kind::Card => self.card(y, row),
        }
    }

    /// Sunset over the sea.
    fn coast(&self, y: usize, row: &mut Row) {
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
            let of_radius = 1.0 / (sun[2] * sun[2]);
            for (x, [r, g, b]) in row.pixels(0, self.w) {
                let dx = x - sun[0];
                let d2 = (dx * dx + dy) * of_radius;
                let glow = 0.75 / (1.0 + 0.35 * d2);
                let disc = (8.0 * (1.0 - d2)).clamp(0.0, 1.0);
                let streak = cloud * (x / w * 2.0 + 0.4).min(1.6);
                let sky = [base[0] + streak, base[1] + streak * 0.7, base[2] + streak * 0.5];
                [*r, *g, *b] = mix(mix(sky, [1.0, 0.82, 0.5], glow), [1.0, 0.95, 0.78], disc);
            }
            return;
        }
        let depth = (v - horizon) / (1.0 - horizon);
        let base = mix([0.62, 0.45, 0.36], [0.04, 0.16, 0.24], depth.sqrt());
        // Waves get shorter towards the horizon; two sets of them, as parabolas.
        let near = 1.0 / (depth + 0.06);
        let (lift, run) = (near * 7.0, self.t * 0.5);
        let spread = 1.0 / ((0.03 + 0.22 * depth) * w);
        let dim = 1.0 - 0.5 * depth;
        for (x, [r, g, b]) in row.pixels(0, self.w) {
            let u = (x / w + 2.0) * near;
            let first = off_middle(u * 2.1 + lift * 1.7 + run);
            let second = off_middle(u * 3.7 - lift * 2.3 + run * 1.3 + 400.0);
            let wave = 8.0 * (0.25 - first * first) * (0.25 - second * second);
            let off = (x - sun[0]) * spread;
            let shine = wave / (1.0 + off * off) * dim;
            let swell = (wave - 0.4) * 0.10;
            *r = base[0] + swell + 1.1 * shine;
            *g = base[1] + swell + 0.8 * shine;
            *b = base[2] + swell + 0.45 * shine;
        }
    }

    /// Houses in two rows that pass by, and their windows.
    fn city(&mut self, y: usize, row: &mut Row) {
        let v = (y as f32 + 0.5) / self.h as f32;
        row.fill(mix([0.05, 0.05, 0.16], [0.42, 0.20, 0.36], v * v));
        let haze = [0.16 + 0.1 * v, 0.12 + 0.05 * v, 0.24];
        let storey = (self.h as f32 * 0.022).max(1.0);
        let level = (y as f32 / storey) as u32;
        let in_window = y as f32 / storey - level as f32 > 0.45;
        for (street, (wall, light)) in self.streets.iter_mut().zip([([0.035, 0.04, 0.075], 1.0), (haze, 0.55)]).rev() {
            street.storey(level, light);
            street.draw(y, in_window, wall, row);
        }
    }

    /// Soft discs that rise, on next to nothing.
    fn lanterns(&self, y: usize, row: &mut Row) {
        let v = y as f32 / self.h as f32;
        row.fill([0.02, 0.02 + 0.02 * v, 0.05 + 0.03 * v]);
        for (place, colour) in &self.lights {
            let (dy, radius) = (y as f32 - place[1], place[2].max(0.5));
            if dy.abs() >= radius {
                continue;
            }
            let half = (radius * radius - dy * dy).sqrt();
            let from = ((place[0] - half).max(0.0) as usize).min(self.w);
            let to = ((place[0] + half).max(0.0) as usize + 1).min(self.w);
            for (x, [r, g, b]) in row.pixels(from, to.max(from)) {
                let dx = x - place[0];
                let inside = (1.0 - (dx * dx + dy * dy) / (radius * radius)).max(0.0);
                let light = inside.min(0.25) * 2.4 + inside * 0.4;
                *r += colour[0] * light;
                *g += colour[1] * light;
                *b += colour[2] * light;
            }
        }
    }

    /// Which part of the card a row lies in.
    fn part(&self, y: usize) -> usize {
        let v = (y as f32 + 0.5) / self.h as f32;
        usize::from(v >= 0.68) + usize::from(v >= 0.76)
    }

    /// Bars of 75 %, a ramp, and a line that moves.
    fn card(&self, y: usize, row: &mut Row) {
        let part = self.part(y);
        let moving = (self.t * 0.2 % 1.0) * self.w as f32;
        for x in 0..self.w {
            let bar = x * 7 / self.w;
            let on = |bit: usize| if (6 - bar + 1) >> bit & 1 == 1 { 0.75 } else { 0.0 };
            let grey = if part == 1 { bar as f32 / 6.0 } else { (x as f32 + 0.5) / self.w as f32 };
            let colour = if part == 0 { [on(1), on(2), on(0)] } else { [grey; 3] };
            let on_line = (x as f32 - moving).abs() < self.w as f32 * 0.004;
            row.set(x, if on_line { [0.9; 3] } else { colour });
        }
    }
}

/// Two rows of pixels at a time become two rows of luma and one of each chroma, in memory that is there.
fn frame(kind: Kind, shape: &Shape, times: [f32; 2], mut planes: Vec<u8>) -> Vec<u8> {
    let (w, h) = (shape.w, shape.h);
    let mut moments = times.map(|t| Moment::new(kind, w, h, t));
    planes.resize(shape.bytes(), 0);
    let (luma, chroma) = planes.split_at_mut(w * h);
    let (cw, ch) = shape.chroma();
    let (us, vs) = chroma.split_at_mut(cw * ch);
    let mut rows = [Row::new(w), Row::new(w)];
    // Two columns at a time; a last one that is alone counts twice.
    let mut sums = Row::new(2 * cw);
    let (blue, red) = ((2.0 * (1.0 - KB)) as f32, (2.0 * (1.0 - KR)) as f32);
    for pair in 0..ch {
        let (before, lumas) = luma.split_at_mut(2 * w * pair);
        let lumas = &mut lumas[..(2 * w).min(w * h - 2 * w * pair)];
        let ((us_before, us), (vs_before, vs)) = (us.split_at_mut(cw * pair), vs.split_at_mut(cw * pair));
        let (us, vs) = (&mut us[..cw], &mut vs[..cw]);
        // A card changes from row to row only where its next part begins.
        if lumas.len() == 2 * w && moments[0].same_pair(pair) {
            lumas.copy_from_slice(&before[before.len() - 2 * w..]);
            us.copy_from_slice(&us_before[us_before.len() - cw..]);
            vs.copy_from_slice(&vs_before[vs_before.len() - cw..]);
            continue;
        }
        for (k, out) in lumas.chunks_mut(w).enumerate() {
            moments[k].row(2 * pair + k, &mut rows[k]);
            let [r, g, b] = &rows[k].0;
            for (((y, r), g), b) in out.iter_mut().zip(r).zip(g).zip(b) {
                *y = (16.5 + 219.0 * luma_of([*r, *g, *b])).clamp(16.0, 235.0) as i32 as u8;
            }
        }
        let lower = if lumas.len() > w { 1 } else { 0 };
        for (k, sum) in sums.0.iter_mut().enumerate() {
            for ((s, a), b) in sum.iter_mut().zip(&rows[0].0[k]).zip(&rows[lower].0[k]) {
                *s = 0.25 * (a + b);
            }
            if w % 2 == 1 {
                sum[w] = sum[w - 1];
            }
        }
        let [r, g, b] = &sums.0;
        let columns = r.chunks_exact(2).zip(g.chunks_exact(2)).zip(b.chunks_exact(2));
        for (((r, g), b), (u, v)) in columns.zip(us.iter_mut().zip(vs)) {
            let p = [r[0] + r[1], g[0] + g[1], b[0] + b[1]];
            let y = luma_of(p);
            *u = (128.5 + 224.0 / blue * (p[2] - y)).clamp(16.0, 240.0) as i32 as u8;
            *v = (128.5 + 224.0 / red * (p[0] - y)).clamp(16.0, 240.0) as i32 as u8;
        }
    }
    planes
}

fn luma_of(p: Rgb) -> f32 {
    KR as f32 * p[0] + (1.0 - KR - KB) as f32 * p[1] + KB as f32 * p[2]
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
