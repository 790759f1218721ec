//! Points of light in space: in come places, colours and brightnesses, out comes what a camera sees on a dark ground.
//! Light adds up, as on film, and is compressed at the end, so that a crowd is bright and not burnt out.

use super::{Picture, rgb};

/// The ground where no light is, at the top and at the bottom.
const GROUND: [[f32; 3]; 2] = [[5.0, 7.0, 16.0], [14.0, 17.0, 34.0]];

/// Where the eye is: the space is turned about its upright axis, then tilted towards the eye.
#[derive(Clone, Copy, Debug)]
pub struct Eye {
    /// About the upright axis, in radians.
    pub turn: f32,
    /// Towards the eye, in radians.
    pub tilt: f32,
    /// How far away the origin is.
    pub distance: f32,
    /// Pixels of a length of one at the origin.
    pub scale: f32,
}

/// Light that falls on a picture.
pub struct Glow {
    width: usize,
    height: usize,
    light: Vec<[f32; 3]>,
    eye: Eye,
}

impl Glow {
    /// No light yet.
    pub fn new(width: usize, height: usize, eye: Eye) -> Glow {
        Glow { width, height, light: vec![[0.0; 3]; width * height], eye }
    }

    /// Where a place is seen, and how many times larger than at the origin; nothing if it is behind the eye.
    fn seen(&self, p: [f32; 3]) -> Option<[f32; 3]> {
        let ((st, ct), (su, cu)) = (self.eye.turn.sin_cos(), self.eye.tilt.sin_cos());
        let (x, z) = (p[0] * ct + p[2] * st, p[2] * ct - p[0] * st);
        let (y, z) = (p[1] * cu - z * su, p[1] * su + z * cu);
        let away = self.eye.distance - z;
        // Also false for what is no number.
        if !(away > self.eye.distance * 0.05 && x.is_finite() && y.is_finite()) {
            return None;
        }
        let near = self.eye.distance / away;
        let scale = self.eye.scale * near;
        Some([self.width as f32 / 2.0 + x * scale, self.height as f32 / 2.0 - y * scale, near])
    }

    /// A disc with a soft edge, about `radius` pixels wide at the origin. What is nearer is larger and brighter.
    pub fn point(&mut self, at: [f32; 3], radius: f32, colour: [f32; 3], strength: f32) {
        if let Some([x, y, near]) = self.seen(at) {
            self.spot(x, y, (radius * near).clamp(0.3, 64.0), colour, strength * near);
        }
    }

    fn spot(&mut self, x: f32, y: f32, radius: f32, colour: [f32; 3], strength: f32) {
        let reach = radius * 2.5 + 0.5;
        let range = |at: f32, n: usize| {
            let low = (at - reach).floor().clamp(0.0, n as f32) as usize;
            low..((at + reach).ceil().clamp(0.0, n as f32) as usize)
        };
        for row in range(y, self.height) {
            for column in range(x, self.width) {
                let (dx, dy) = (column as f32 + 0.5 - x, row as f32 + 0.5 - y);
                let part = strength * (-(dx * dx + dy * dy) / (radius * radius)).exp();
                let pixel = &mut self.light[row * self.width + column];
                *pixel = std::array::from_fn(|c| pixel[c] + colour[c] * part);
            }
        }
    }

    /// A line of light, which fades from the first end to the second.
    pub fn line(&mut self, from: [f32; 3], to: [f32; 3], radius: f32, colour: [f32; 3], strengths: [f32; 2]) {
        let (Some(a), Some(b)) = (self.seen(from), self.seen(to)) else { return };
        // Spots that overlap: their number, not that of the pixels, is bounded.
        let length = (b[0] - a[0]).hypot(b[1] - a[1]);
        let step = (radius * 0.9).max(0.7);
        let count = (length / step).ceil().clamp(1.0, 2000.0) as usize;
        for i in 0..count {
            let t = (i as f32 + 0.5) / count as f32;
            let [x, y, near]: [f32; 3] = std::array::from_fn(|k| a[k] + (b[k] - a[k]) * t);
            let strength = strengths[0] + (strengths[1] - strengths[0]) * t;
            self.spot(x, y, (radius * near).clamp(0.3, 64.0), colour, strength * near * 0.6);
        }
    }

    /// The picture: much light comes close to white, and never gets there.
    pub fn picture(&self) -> Picture {
        Picture::from_fn(self.width, self.height, |x, y| {
            let down = y as f32 / self.height.max(1) as f32;
            let light = self.light[y * self.width + x];
            let [r, g, b] = std::array::from_fn(|c| {
                let ground = GROUND[0][c] + (GROUND[1][c] - GROUND[0][c]) * down;
                (ground + (252.0 - ground) * (1.0 - (-light[c]).exp())).round() as u8
            });
            rgb(r, g, b)
        })
    }
}

/// A colour of a palette of evenly spaced ones, at a place from 0 to 1.
pub fn blend(palette: &[[f32; 3]], at: f32) -> [f32; 3] {
    let Some(last) = palette.len().checked_sub(1) else { return [1.0; 3] };
    let at = if at.is_nan() { 0.0 } else { at.clamp(0.0, 1.0) } * last as f32;
    let i = (at as usize).min(last.saturating_sub(1));
    let (a, b, part) = (palette[i], palette[(i + 1).min(last)], at - i as f32);
    std::array::from_fn(|c| a[c] + (b[c] - a[c]) * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EYE: Eye = Eye { turn: 0.0, tilt: 0.0, distance: 4.0, scale: 8.0 };

    fn brightness(picture: &Picture) -> Vec<u8> {
        picture.luma()
    }

    #[test]
    fn light_falls_where_the_place_is_seen() {
        let mut glow = Glow::new(33, 17, EYE);
        glow.point([1.0, 0.5, 0.0], 1.0, [1.0; 3], 2.0);
        let luma = brightness(&glow.picture());
        let brightest = (0..luma.len()).max_by_key(|&i| luma[i]).unwrap();
        assert_eq!((brightest % 33, brightest / 33), (24, 4));
    }

    #[test]
    fn what_is_nearer_is_larger_and_what_is_behind_or_no_number_is_not_seen() {
        let of = |at: [f32; 3]| {
            let mut glow = Glow::new(32, 32, EYE);
            glow.point(at, 1.0, [1.0; 3], 1.0);
            brightness(&glow.picture()).iter().map(|&v| u64::from(v)).sum::<u64>()
        };
        let none = of([0.0, 0.0, 9.0]);
        assert!(of([0.0, 0.0, 1.0]) > of([0.0; 3]) && of([0.0; 3]) > none);
        assert_eq!(of([f32::NAN, 0.0, 0.0]), none);
        assert_eq!(of([f32::INFINITY, 0.0, 0.0]), none);
        assert_eq!(of([1e30, 0.0, 0.0]), none);
    }

    #[test]
    fn a_line_joins_its_ends_and_palettes_are_even() {
        let mut glow = Glow::new(32, 32, EYE);
        glow.line([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], 0.8, [1.0; 3], [1.0, 0.5]);
        let luma = brightness(&glow.picture());
        assert!((9..23).all(|x| luma[16 * 32 + x] > 60 && luma[4 * 32 + x] < 40));
        let palette = [[0.0; 3], [1.0; 3], [3.0; 3]];
        assert_eq!(
            [0.0, 0.5, 0.75, 1.0, 7.0, f32::NAN].map(|at| blend(&palette, at)[0]),
            [0.0, 1.0, 2.0, 3.0, 3.0, 0.0]
        );
        assert_eq!(blend(&[[0.5; 3]], 0.7), [0.5; 3]);
    }
}
