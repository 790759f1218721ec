//! The effects in double precision, from their definitions: what every kernel is checked against.
//!
//! In come the bytes of frames and the parameters; out come pictures of `[f64; 4]`. Nothing is shared with the kernels:
//! the conversion comes from the two coefficients that define BT.709, and chroma is sampled at the place of a pixel.

use super::effects::{Contrast, Grade, Matrix, Wipe};
use super::source::Shape;
use crate::common::threads;
use crate::film::colour::{KB, KR};

pub type Pixel = [f64; 4];

/// A picture.
#[derive(Clone, Debug)]
pub struct Image {
    pub w: usize,
    pub h: usize,
    pub pixels: Vec<Pixel>,
}

impl Image {
    /// A picture of a function of the position; threads take rows.
    pub fn from_fn(w: usize, h: usize, f: impl Fn(usize, usize) -> Pixel + Sync) -> Image {
        let mut pixels = vec![[0.0; 4]; w * h];
        threads::rows(&mut pixels, w, threads::count(), |y, row| {
            row.iter_mut().enumerate().for_each(|(x, p)| *p = f(x, y));
        });
        Image { w, h, pixels }
    }

    /// Each pixel by itself.
    pub fn map(&self, f: impl Fn(Pixel) -> Pixel + Sync) -> Image {
        Image::from_fn(self.w, self.h, |x, y| f(self.pixels[y * self.w + x]))
    }

    /// Of this picture and another one of its size.
    pub fn with(&self, other: &Image, f: impl Fn(Pixel, Pixel) -> Pixel + Sync) -> Image {
        Image::from_fn(self.w, self.h, |x, y| f(self.pixels[y * self.w + x], other.pixels[y * self.w + x]))
    }

    /// The same as a device holds it.
    pub fn floats(&self) -> Vec<f32> {
        self.pixels.iter().flatten().map(|&v| v as f32).collect()
    }

    /// What a device holds.
    pub fn of_floats(w: usize, h: usize, floats: &[f32]) -> Image {
        let pixels = floats.chunks_exact(4).map(|p| [p[0], p[1], p[2], p[3]].map(f64::from)).collect();
        Image { w, h, pixels }
    }
}

fn luma(p: &Pixel) -> f64 {
    KR * p[0] + (1.0 - KR - KB) * p[1] + KB * p[2]
}

/// The value of a chroma plane between its samples.
fn sample(plane: &[u8], w: usize, h: usize, x: f64, y: f64) -> f64 {
    let at = |x: f64, y: f64| {
        let (x, y) = (x.clamp(0.0, w as f64 - 1.0) as usize, y.clamp(0.0, h as f64 - 1.0) as usize);
        f64::from(plane[y * w + x])
    };
    let (l, t) = (x.floor(), y.floor());
    let (a, b) = (x - l, y - t);
    (at(l, t) * (1.0 - a) + at(l + 1.0, t) * a) * (1.0 - b)
        + (at(l, t + 1.0) * (1.0 - a) + at(l + 1.0, t + 1.0) * a) * b
}

/// Pixels of a frame.
pub fn convert(shape: &Shape, bytes: &[u8]) -> Image {
    let [_, (u, cw, ch), (v, _, _)] = shape.planes();
    // Where a pixel lies on a chroma plane: samples between two pixels, or on the first of two.
    let place = |i: usize, shift: u32, first: bool| match shift {
        0 => i as f64,
        _ if first => i as f64 / 2.0,
        _ => (i as f64 + 0.5) / 2.0 - 0.5,
    };
    let (black, luma_range, chroma_range) = if shape.full { (0.0, 255.0, 255.0) } else { (16.0, 219.0, 224.0) };
    Image::from_fn(shape.w, shape.h, |x, y| {
        let (cx, cy) = (place(x, shape.shift_x, shape.left), place(y, shape.shift_y, false));
        let l = (f64::from(bytes[y * shape.w + x]) - black) / luma_range;
        let cb = (sample(&bytes[u..v], cw, ch, cx, cy) - 128.0) / chroma_range;
        let cr = (sample(&bytes[v..], cw, ch, cx, cy) - 128.0) / chroma_range;
        // From the definition of the differences, solved for red and blue; green is what is left of luma.
        let (r, b) = (l + 2.0 * (1.0 - KR) * cr, l + 2.0 * (1.0 - KB) * cb);
        [r, (l - KR * r - KB * b) / (1.0 - KR - KB), b, 1.0]
    })
}

/// A frame of one of the two fields of a frame.
pub fn deinterlace(shape: &Shape, bytes: &[u8], keep: u32, method: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for (first, w, h) in shape.planes() {
        let rows: Vec<&[u8]> = bytes[first..first + w * h].chunks(w).collect();
        // Beyond the ends the only neighbour counts twice.
        let near = |y: usize, down: bool| match (y.checked_sub(1), y + 1 < h, down) {
            (Some(above), _, false) => rows[above],
            (_, true, true) => rows[y + 1],
            (None, true, false) => rows[y + 1],
            (Some(above), false, true) => rows[above],
            (None, false, _) => rows[y],
        };
        for y in 0..h {
            let (above, below) = (near(y, false), near(y, true));
            let kept = y as u32 % 2 == keep;
            for x in 0..w {
                let at = |row: &[u8], dx: isize| u32::from(row[(x as isize + dx).clamp(0, w as isize - 1) as usize]);
                let mean = |d: isize| (at(above, -d) + at(below, d)).div_ceil(2);
                out.push(match method {
                    "blend" => {
                        let up = if y == 0 { rows[0] } else { rows[y - 1] };
                        let down = if y + 1 == h { rows[y] } else { rows[y + 1] };
                        (at(up, 0) + 2 * at(rows[y], 0) + at(down, 0) + 2) / 4
                    }
                    _ if kept => at(rows[y], 0),
                    "bob" => at(if y == 0 { rows[1.min(h - 1)] } else { rows[y - 1] }, 0),
                    "linear" => mean(0),
                    // The first of the smallest differences: straight, falling, rising.
                    _ => {
                        let differs = |d: isize| at(above, -d).abs_diff(at(below, d));
                        mean([0, 1, -1].into_iter().min_by_key(|&d| differs(d)).unwrap_or(0))
                    }
                } as u8);
            }
        }
    }
    out
}

/// A clip at its place, nothing around it; and by how much each pixel of the device may differ. A coordinate there is
/// rounded twice, each time by half a unit in the last place; what that changes is tried out.
pub fn transform(clip: &Image, matrix: &Matrix, (w, h): (usize, usize)) -> (Image, Vec<f64>) {
    let [xx, xy, x0, yx, yy, y0] = matrix.0.map(f64::from);
    let at = |x: f64, y: f64| {
        let inside = x >= 0.0 && y >= 0.0 && x < clip.w as f64 && y < clip.h as f64;
        if inside { clip.pixels[y as usize * clip.w + x as usize] } else { [0.0; 4] }
    };
    let sample = |u: f64, v: f64| -> Pixel {
        let (l, t) = (u.floor(), v.floor());
        let (a, b) = (u - l, v - t);
        let corners = [at(l, t), at(l + 1.0, t), at(l, t + 1.0), at(l + 1.0, t + 1.0)];
        let shares = [(1.0 - a) * (1.0 - b), a * (1.0 - b), (1.0 - a) * b, a * b];
        std::array::from_fn(|k| corners.iter().zip(shares).map(|(c, s)| c[k] * s).sum())
    };
    let place = |x: usize, y: usize| {
        let (x, y) = (x as f64, y as f64);
        let (inner_u, inner_v) = (xy * y + x0, yy * y + y0);
        let (u, v) = (xx * x + inner_u, yx * x + inner_v);
        let half = f64::from(f32::EPSILON) / 2.0;
        (u, v, (inner_u.abs() + u.abs()) * half, (inner_v.abs() + v.abs()) * half)
    };
    let image = Image::from_fn(w, h, |x, y| {
        let (u, v, _, _) = place(x, y);
        sample(u, v)
    });
    let mut errors = vec![0.0; w * h];
    threads::rows(&mut errors, w, threads::count(), |y, row| {
        for (x, e) in row.iter_mut().enumerate() {
            let (u, v, du, dv) = place(x, y);
            let here = image.pixels[y * w + x];
            let differs = |p: Pixel| (0..4).map(|k| (p[k] - here[k]).abs()).fold(0.0, f64::max);
            let across = differs(sample(u - du, v)).max(differs(sample(u + du, v)));
            let down = differs(sample(u, v - dv)).max(differs(sample(u, v + dv)));
            // Doubled, for a bend between two of the places; and the roundings of the weights and sums.
            *e = 2.0 * (across + down) + 1e-6;
        }
    });
    (image, errors)
}

/// The three-way corrector.
pub fn colour(p: Pixel, grade: &Grade) -> Pixel {
    let l = luma(&p).clamp(0.0, 1.0);
    let smooth = |t: f64| if t <= 0.0 { 0.0 } else { t * t * (3.0 - 2.0 * t) };
    // Shares of the three ranges: they add up to one, and shadows end where highlights begin.
    let (shadows, highlights) = (smooth(1.0 - 2.0 * l), smooth(2.0 * l - 1.0));
    let shares = [shadows, 1.0 - shadows - highlights, highlights];
    let of = |first: usize, k: usize| -> f64 { (0..3).map(|i| shares[i] * f64::from(grade.0[first + i][k])).sum() };
    let channel = |k: usize| {
        let lifted = p[k] + of(0, k) * (1.0 - p[k]);
        (of(6, k) * lifted).max(0.0).powf(1.0 / of(3, k))
    };
    [channel(0), channel(1), channel(2), p[3]]
}

/// By how much the result of the corrector may change where its input changes by `e`: near black a power of less than
/// one is steep.
pub fn colour_error(p: Pixel, grade: &Grade, e: f64) -> f64 {
    let fixed = |p: Pixel| colour(p, grade);
    let (low, high) = (fixed(p.map(|v| v - e)), fixed(p.map(|v| v + e)));
    let spread = (0..3).map(|k| (high[k] - low[k]).abs()).fold(0.0, f64::max);
    // Shares follow the luma, three times as fast at most, and what they weigh differs by less than a half.
    spread + 1.5 * e
}

pub fn contrast(p: Pixel, c: &Contrast) -> Pixel {
    let (slope, add) = (f64::from(c.contrast), f64::from(c.brightness));
    let channel = |v: f64| (v - 0.5) * slope + 0.5 + add;
    [channel(p[0]), channel(p[1]), channel(p[2]), p[3]]
}

/// A layer on an opaque picture.
pub fn blend(below: Pixel, layer: Pixel, mode: &str, opacity: f64) -> Pixel {
    let cover = layer[3] * opacity;
    let channel = |k: usize| {
        let b = below[k];
        // Pixels at the edge of a layer are weighted by their coverage; modes work on the colour itself.
        let s = if layer[3] > 0.0 { layer[k] / layer[3] } else { 0.0 };
        let mixed = match mode {
            "multiply" => b * s,
            "screen" => 1.0 - (1.0 - b) * (1.0 - s),
            "overlay" if b <= 0.5 => 2.0 * b * s,
            "overlay" => 1.0 - 2.0 * (1.0 - b) * (1.0 - s),
            "darken" => b.min(s),
            "lighten" => b.max(s),
            "add" => (b + s).min(1.0),
            "difference" => (b - s).abs(),
            _ => s,
        };
        (1.0 - cover) * b + cover * mixed
    };
    [channel(0), channel(1), channel(2), 1.0]
}

pub fn dissolve(from: Pixel, to: Pixel, share: f64) -> Pixel {
    std::array::from_fn(|k| (1.0 - share) * from[k] + share * to[k])
}

/// How much of the second picture a pixel shows.
pub fn wipe_share(wipe: &Wipe, x: usize, y: usize, (w, h): (usize, usize)) -> f64 {
    let px = (x as f64 + 0.5 - w as f64 / 2.0) * f64::from(wipe.nx);
    let py = (y as f64 + 0.5 - h as f64 / 2.0) * f64::from(wipe.ny);
    let along = if wipe.round { px.hypot(py) } else { px + py + 0.5 };
    ((f64::from(wipe.edge) - along) * f64::from(wipe.sharpness)).clamp(0.0, 1.0)
}

pub fn wipe(from: &Image, to: &Image, wipe: &Wipe) -> Image {
    Image::from_fn(from.w, from.h, |x, y| {
        let i = y * from.w + x;
        dissolve(from.pixels[i], to.pixels[i], wipe_share(wipe, x, y, (from.w, from.h)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { w: 4, h: 4, shift_x: 1, shift_y: 1, left: false, full: false, field: None };

    #[test]
    fn the_primaries_of_bt_709_come_out() {
        // Black, white and the bytes of full red, as ITU-R BT.709 gives them.
        for (bytes, want) in
            [([16, 128, 128], [0.0; 3]), ([235, 128, 128], [1.0; 3]), ([63, 102, 240], [1.0, 0.0, 0.0])]
        {
            let mut frame = vec![bytes[0]; 16];
            frame.extend([bytes[1]; 4]);
            frame.extend([bytes[2]; 4]);
            let p = convert(&SHAPE, &frame).pixels[5];
            assert!((0..3).all(|k| (p[k] - want[k]).abs() < 0.006), "{p:?}, expected {want:?}");
        }
    }

    #[test]
    fn edges_are_followed_and_neutral_effects_do_nothing() {
        // A falling edge: the missing row is a shifted copy, not a mean.
        let rows = [[9u8, 90, 90, 90], [0; 4], [9, 9, 9, 90], [0; 4]];
        let mut bytes: Vec<u8> = rows.concat();
        bytes.extend([128; 8]);
        let edge = deinterlace(&SHAPE, &bytes, 0, "edge");
        assert_eq!(edge[4..8], [9, 9, 90, 90]);
        let linear = deinterlace(&SHAPE, &bytes, 0, "linear");
        assert_eq!(linear[4..8], [9, 50, 50, 90]);
        assert_eq!(linear[12..16], [9, 9, 9, 90], "at the end the only neighbour counts");

        let none = Grade([[0.0; 3], [0.0; 3], [0.0; 3], [1.0; 3], [1.0; 3], [1.0; 3], [1.0; 3], [1.0; 3], [1.0; 3]]);
        let p = [0.1, 0.5, 0.9, 1.0];
        let same = |q: Pixel| (0..4).all(|k| (q[k] - p[k]).abs() < 1e-12);
        assert!(same(colour(p, &none)));
        assert!(same(contrast(p, &Contrast { contrast: 1.0, brightness: 0.0 })));
        assert!(same(blend([0.3; 4], p, "normal", 1.0)));
        assert!(same(blend([0.0, 0.0, 0.0, 1.0], p, "screen", 1.0)));
    }
}
