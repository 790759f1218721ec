//! The scene: a lantern on a table before a city at night, of any size. It is as large as the picture; the lights,
//! windows and stars are of the same size in pixels in every picture, so that a larger one has more of them.
//!
//! In comes a stretch of a row, out come its pixels in sRGB. Each is a function of its place alone. Whatever has no
//! pixel in the row is left out early: a gigapixel takes seconds.

/// Positions in the scene, in pixels.
pub struct Scene {
    w: f32,
    h: f32,
    lantern: Lantern,
}

struct Lantern {
    x: f32,
    top: f32,
    height: f32,
}

type Colour = [f32; 3];

const WARM: [Colour; 4] = [[255.0, 214.0, 150.0], [255.0, 190.0, 105.0], [255.0, 232.0, 190.0], [240.0, 205.0, 160.0]];
const LIGHTS: [Colour; 8] = [
    [255.0, 205.0, 120.0],
    [255.0, 180.0, 80.0],
    [255.0, 240.0, 215.0],
    [255.0, 120.0, 90.0],
    [255.0, 225.0, 160.0],
    [150.0, 205.0, 255.0],
    [255.0, 195.0, 105.0],
    [120.0, 235.0, 225.0],
];

/// A number of 32 random bits for a place.
fn hash(x: u32, y: u32, what: u32) -> u32 {
    let mut h = x.wrapping_mul(0x9e37_79b1) ^ y.wrapping_mul(0x85eb_ca77) ^ what.wrapping_mul(0xc2b2_ae3d);
    h = (h ^ (h >> 15)).wrapping_mul(0x2c1b_3c6d);
    h = (h ^ (h >> 12)).wrapping_mul(0x297a_2d39);
    h ^ (h >> 15)
}

/// One of the hash's numbers from 0 to 1.
fn part(hash: u32, which: u32) -> f32 {
    (hash >> (which * 8) & 255) as f32 / 255.0
}

fn mix(a: Colour, b: Colour, t: f32) -> Colour {
    let t = t.clamp(0.0, 1.0);
    [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * t)
}

fn pixel(c: Colour) -> u32 {
    let [r, g, b] = c.map(|v| v.clamp(0.0, 255.0) as u8);
    u32::from_le_bytes([r, g, b, 255])
}

fn blend(under: &mut u32, over: Colour, alpha: f32) {
    let [r, g, b, _] = under.to_le_bytes().map(f32::from);
    *under = pixel(mix([r, g, b], over, alpha));
}

/// The part of a stretch of pixels from `left` on that lies from `from` to `to`, with the position of its first.
fn part_of(out: &mut [u32], left: usize, from: f32, to: f32) -> (usize, &mut [u32]) {
    let end = left + out.len();
    let first = (from.max(0.0) as usize).clamp(left, end);
    let last = (to.max(0.0) as usize).clamp(first, end);
    (first, &mut out[first - left..last - left])
}

/// Houses of one distance.
struct Houses {
    what: u32,
    /// How many side by side.
    count: f32,
    /// Where roofs are, of the picture's height.
    roofs: (f32, f32),
    wall: Colour,
    /// Pixels from window to window.
    window: (usize, usize),
    lit: u32,
    glow: f32,
}

const HOUSES: [Houses; 2] = [
    Houses { what: 1, count: 17.0, roofs: (0.22, 0.50), wall: [34.0, 38.0, 66.0], window: (7, 9), lit: 60, glow: 0.55 },
    Houses {
        what: 2,
        count: 10.0,
        roofs: (0.36, 0.64),
        wall: [19.0, 21.0, 38.0],
        window: (12, 15),
        lit: 75,
        glow: 0.9,
    },
];

/// Where the street begins, and the table.
const STREET: f32 = 0.69;
const TABLE: f32 = 0.80;

impl Scene {
    pub fn new(w: usize, h: usize) -> Scene {
        let (w, h) = (w as f32, h as f32);
        let height = 0.56 * w.min(h);
        Scene { w, h, lantern: Lantern { x: 0.395 * w, top: 0.85 * h - height, height } }
    }

    /// The pixels of row `y` from `left` on.
    pub fn row(&self, y: usize, left: usize, out: &mut [u32]) {
        let v = (y as f32 + 0.5) / self.h;
        if v >= TABLE {
            self.table(y, v, left, out);
        } else {
            let sky = mix([10.0, 14.0, 38.0], [46.0, 40.0, 78.0], v / 0.4);
            let sky = mix(sky, [128.0, 74.0, 72.0], (v - 0.3) / 0.4);
            out.fill(pixel(if v < STREET {
                sky
            } else {
                mix([48.0, 40.0, 46.0], [20.0, 19.0, 26.0], (v - STREET) * 9.0)
            }));
            if v < 0.45 {
                lights(out, left, y, &Cells { what: 5, side: 41, few: 60, radius: (0.5, 0.9), strength: 0.7 }, |_| {
                    [225.0; 3]
                });
            }
            if v < STREET {
                for houses in &HOUSES {
                    self.houses(houses, y, v, left, out);
                }
            }
            // Lamps and cars along the street, and strings of small lamps above it.
            if v > 0.56 {
                let cells = Cells { what: 6, side: 44, few: 120, radius: (1.8, 3.8), strength: 1.0 };
                lights(out, left, y, &cells, |h| LIGHTS[(h % 8) as usize]);
            }
            let cells = Cells { what: 7, side: 83, few: 110, radius: (1.4, 3.2), strength: 1.0 };
            lights(out, left, y, &cells, |h| LIGHTS[(h % 8) as usize]);
        }
        self.lantern(y, left, out);
    }

    fn houses(&self, houses: &Houses, y: usize, v: f32, left: usize, out: &mut [u32]) {
        let width = (self.w / houses.count).max(8.0);
        let (first, last) = ((left as f32 / width) as u32, ((left + out.len()) as f32 / width) as u32);
        for n in first..=last {
            let random = hash(n, 0, houses.what);
            let roof = houses.roofs.0 + (houses.roofs.1 - houses.roofs.0) * part(random, 0);
            if v < roof {
                continue;
            }
            let wall = mix(
                houses.wall,
                [houses.wall[0] + 24.0, houses.wall[1] + 12.0, houses.wall[2]],
                part(random, 1) + v - 0.6,
            );
            let (start, end) = (n as f32 * width, (n as f32 + 0.86 + 0.14 * part(random, 2)) * width);
            let (at, part_of_house) = part_of(out, left, start, end);
            part_of_house.fill(pixel(wall));
            let (ww, wh) = houses.window;
            // No window at the eaves.
            if y % wh < wh * 2 / 5 || (v - roof) * self.h < wh as f32 {
                continue;
            }
            let lit = houses.lit / 2 + (houses.lit as f32 * part(random, 3)) as u32;
            let mut column = at / ww;
            while column * ww < at + part_of_house.len() {
                let window = hash(column as u32, (y / wh) as u32, houses.what + 16);
                if window & 255 < lit && !part_of_house.is_empty() {
                    let glass =
                        mix(wall, WARM[(window >> 8 & 3) as usize], houses.glow * (0.45 + 0.55 * part(window, 2)));
                    let from = (column * ww).max(start as usize + 2);
                    let to = (column * ww + ww * 3 / 5).min((end as usize).saturating_sub(2));
                    part_of(part_of_house, at, from as f32, to as f32).1.fill(pixel(glass));
                }
                column += 1;
            }
        }
    }

    /// Planks along the table, lit by the lantern.
    fn table(&self, y: usize, v: f32, left: usize, out: &mut [u32]) {
        let depth = (v - TABLE) / (1.0 - TABLE);
        // Planks are broader the nearer they are.
        let plank = depth.sqrt() * 5.0;
        let gap = if plank.fract() < 0.04 { 0.35 } else { 1.0 };
        let tone = 0.8 + 0.3 * part(hash(plank as u32, 0, 9), 0);
        let size = self.lantern.height;
        let dy = (y as f32 - (self.lantern.top + size)) / (0.35 * size);
        for (x, pixel_of) in (left..).zip(out) {
            let dx = (x as f32 - self.lantern.x) / (0.62 * size);
            let glow = 1.0 / (1.0 + dx * dx + dy * dy).powi(2);
            let grain =
                (x as f32 / self.h * 90.0 + plank * 11.0).sin() * (x as f32 / self.h * 31.0 + plank * 5.0).sin();
            let light = (0.16 + 0.95 * glow) * gap * tone * (1.0 + 0.10 * grain);
            *pixel_of = pixel([178.0 * light, 112.0 * light, 62.0 * light]);
        }
    }

    fn lantern(&self, y: usize, left: usize, out: &mut [u32]) {
        let Lantern { x: middle, top, height } = self.lantern;
        let t = (y as f32 + 0.5 - top) / height;
        if !(0.0..1.0).contains(&t) {
            return;
        }
        // A ring, a roof, the glass between two frames, the foot.
        let ring = |radius: f32| (radius * radius - (t - 0.085) * (t - 0.085)).max(0.0).sqrt();
        let half = height
            * match t {
                t if t < 0.15 => ring(0.085),
                t if t < 0.28 => 0.05 + 0.16 * ((t - 0.15) / 0.13).sqrt(),
                t if t < 0.31 => 0.215,
                t if t < 0.89 => 0.16 + 0.04 * (t - 0.31) / 0.58,
                t if t < 0.93 => 0.225,
                _ => 0.25,
            };
        let hole = if t < 0.15 { ring(0.064) * height } else { -1.0 };
        let (first, part) = part_of(out, left, middle - half - 1.0, middle + half + 2.0);
        for (x, under) in (first..).zip(part) {
            let d = x as f32 + 0.5 - middle;
            let alpha = (half - d.abs() + 0.5).clamp(0.0, 1.0) * (d.abs() - hole + 0.5).clamp(0.0, 1.0);
            let u = d / height;
            let metal = 26.0 + 34.0 * (1.0 - (d / half.max(1.0) + 0.45).powi(2)).max(0.0);
            let mut colour = [metal * 1.12, metal, metal * 0.92];
            let glass = (0.31..0.89).contains(&t);
            if glass && d.abs() < half - 0.022 * height && (u.abs() - 0.092).abs() > 0.006 {
                let (fx, fy) = (u / 0.13, (t - 0.66) / 0.24);
                let glow = 1.0 / (1.0 + 1.6 * (fx * fx + fy * fy));
                colour = mix([92.0, 44.0, 14.0], [255.0, 205.0, 112.0], 1.25 * glow);
                // The flame above the wick, on a candle.
                let f = (t - 0.56) / 0.13;
                let flame = 0.030 * (f.max(0.0).sqrt() * (1.0 - f).max(0.0).powf(0.6)) * 2.2;
                if u.abs() < flame {
                    colour = mix([255.0, 250.0, 226.0], [255.0, 196.0, 84.0], (u.abs() / flame).powi(3));
                } else if t > 0.70 && u.abs() < 0.062 {
                    colour = mix([255.0, 232.0, 190.0], [176.0, 112.0, 64.0], (t - 0.70) / 0.17 + u.abs() * 4.0);
                }
            }
            blend(under, colour, alpha);
        }
    }
}

/// Squares of the plane with a light in some of them.
struct Cells {
    what: u32,
    side: usize,
    /// Of 256 squares so many have one.
    few: u32,
    radius: (f32, f32),
    strength: f32,
}

/// The lights that the row cuts. Each lies wholly in its square.
fn lights(out: &mut [u32], left: usize, y: usize, cells: &Cells, colour: impl Fn(u32) -> Colour) {
    let side = cells.side;
    let end = left + out.len();
    for column in left / side..=end / side {
        let random = hash(column as u32, (y / side) as u32, cells.what);
        if random & 255 >= cells.few {
            continue;
        }
        let more = hash(random, 1, cells.what);
        let radius = cells.radius.0 + (cells.radius.1 - cells.radius.0) * part(more, 0);
        let room = side as f32 - 2.0 * (radius + 1.0);
        let cx = (column * side) as f32 + radius + 1.0 + room * part(more, 1);
        let cy = (y / side * side) as f32 + radius + 1.0 + room * part(more, 2);
        let dy = y as f32 + 0.5 - cy;
        if dy.abs() > radius + 1.0 {
            continue;
        }
        let (first, part) = part_of(out, left, cx - radius - 1.0, cx + radius + 2.0);
        for (x, under) in (first..).zip(part) {
            let dx = x as f32 + 0.5 - cx;
            let alpha = (radius - (dx * dx + dy * dy).sqrt() + 0.5).clamp(0.0, 1.0) * cells.strength;
            if alpha > 0.0 {
                blend(under, colour(more >> 24), alpha);
            }
        }
    }
}
