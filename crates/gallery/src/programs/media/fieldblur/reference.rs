//! The reference: a direct sum over all pixels that the aperture may touch, in double precision. It shares no code with
//! the kernels: it finds the ends of a row by walking the sides from corner to corner, and asks for pixels one by one.

use super::lens::{Lens, WEIGHT, WHITE};

/// A result in linear light, and by how much a kernel's may differ.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    pub colour: [f64; 3],
    pub tolerance: f64,
}

/// The radius at a pixel.
pub fn radius(lens: &Lens, x: usize, y: usize) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for pin in &lens.pins {
        let (dx, dy) = ((x as f64 + 0.5 - pin.x) * lens.scale, (y as f64 + 0.5 - pin.y) * lens.scale);
        let weight = (dx * dx + dy * dy).max(f64::from(1e-8f32)).powi(-2);
        sum += weight * pin.r;
        weights += weight;
    }
    (sum / weights).max(0.5)
}

/// Where the line at `y` enters and leaves the aperture of radius `r`.
fn span(lens: &Lens, r: f64, y: f64) -> Option<(f64, f64)> {
    if lens.corners.is_empty() {
        let half = r * r - y * y;
        return (half >= 0.0).then(|| (-half.sqrt(), half.sqrt()));
    }
    let mut crossed: Option<(f64, f64)> = None;
    for (i, a) in lens.corners.iter().enumerate() {
        let b = lens.corners[(i + 1) % lens.corners.len()];
        let (ay, by) = (a.1 * r, b.1 * r);
        if ay.min(by) <= y && y <= ay.max(by) && ay != by {
            let x = (a.0 + (b.0 - a.0) * (y - ay) / (by - ay)) * r;
            crossed = Some(crossed.map_or((x, x), |(l, h)| (l.min(x), h.max(x))));
        }
    }
    crossed
}

/// The length that two intervals share.
fn shared(a: (f64, f64), b: (f64, f64)) -> f64 {
    (a.1.min(b.1) - a.0.max(b.0)).max(0.0)
}

/// The three channels of a pixel in linear light times its weight, and the weight.
pub fn weighed(lens: &Lens, linear: &[u32], pixel: u32) -> [f32; 4] {
    let [r, g, b, _] = pixel.to_le_bytes().map(|v| linear[usize::from(v)]);
    let brightness = r.max(g).max(b);
    let above = if brightness > lens.bright { (brightness - lens.bright) * 256 / (WHITE - lens.bright) } else { 0 };
    let weight = WEIGHT + lens.light * above * above / 1024;
    // Whole numbers below 2^24.
    [r * weight, g * weight, b * weight, weight].map(|v| v as f32)
}

/// The result at a pixel; `weighed` gives the picture's weighed pixels, beyond its edges too.
pub fn expected(lens: &Lens, x: usize, y: usize, weighed: impl Fn(i64, i64) -> [f32; 4]) -> Expected {
    let r = radius(lens, x, y);
    let (low, high) = if lens.corners.is_empty() {
        (-r, r)
    } else {
        lens.corners.iter().fold((f64::MAX, f64::MIN), |(l, h), c| (l.min(c.1 * r), h.max(c.1 * r)))
    };
    let reach = r.ceil() as i64 + 1;
    let (mut sum, mut edge) = ([0.0f64; 4], 0.0f64);
    for dy in -reach..=reach {
        let row = (dy as f64 - 0.5, dy as f64 + 0.5);
        let height = shared(row, (low, high));
        // The first and the last row are cut off by the aperture: the middle of what is left stands for them.
        let middle = 0.5 * (row.0.max(low) + row.1.min(high));
        let Some((left, right)) = span(lens, r, middle).filter(|_| height > 0.0) else { continue };
        let last = dy as f64 - 1.5 < low || dy as f64 + 1.5 > high;
        for dx in (left.floor() as i64 - 1)..=(right.ceil() as i64 + 1) {
            let value = weighed(x as i64 + dx, y as i64 + dy).map(f64::from);
            let width = shared((dx as f64 - 0.5, dx as f64 + 0.5), (left, right));
            for (s, v) in sum.iter_mut().zip(value) {
                *s += height * width * v;
            }
            if last || width < 1.0 {
                edge += value[0].max(value[1]).max(value[2]).max(f64::from(WHITE) * value[3]);
            }
        }
    }
    let [red, green, blue, weight] = sum;
    let colour = [red, green, blue].map(|v| v / (weight * f64::from(WHITE)));
    // The kernels' radius is within 16 roundings, the ends of a row within three more, which steep sides amplify; so
    // much of each pixel at the edge may be counted wrong. The steep ends of a disc are in rows of so little height
    // that they count at most sqrt(r) times, less than 16. At most 2 * 64 rows and as many pixels are added up, each
    // sum rounded.
    let rounding = f64::from(f32::EPSILON) / 2.0;
    let slipped = r * rounding * (16.0 + 3.0 * lens.steepest()) * edge / (weight * f64::from(WHITE));
    Expected {
        colour,
        tolerance: slipped + colour.iter().fold(0.0, |m: f64, c| m.max(*c)) * 2.0 * (r + 8.0) * rounding,
    }
}
