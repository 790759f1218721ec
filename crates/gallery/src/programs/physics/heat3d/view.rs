//! The picture of a mesh: in come corners, triangles and a temperature each, out comes what an eye sees: the nearest
//! surface of each pixel (a depth buffer, Catmull 1974), its temperature as a colour, lit from above.

use super::mesh::Mesh;
use crate::picture::{Picture, rgb};

const SIDE: usize = 640;

/// Dark and cold to light and hot: lightness rises all the way, so that it reads without colours, too.
const PALETTE: [[f32; 3]; 6] = [
    [24.0, 18.0, 74.0],
    [94.0, 26.0, 122.0],
    [178.0, 44.0, 104.0],
    [232.0, 88.0, 54.0],
    [250.0, 164.0, 40.0],
    [252.0, 246.0, 172.0],
];

/// `sheen` is the light's reflection, only where the colour is dark: it shows the form there, and no other temperature.
fn colour(temperature: f32, light: f32, sheen: f32) -> u32 {
    let temperature = temperature.clamp(0.0, 1.0);
    let sheen = sheen * (1.0 - temperature).powi(4);
    let at = temperature * (PALETTE.len() - 1) as f32;
    let i = (at as usize).min(PALETTE.len() - 2);
    let part = at - i as f32;
    let [r, g, b] =
        std::array::from_fn(|c| ((PALETTE[i][c] + (PALETTE[i + 1][c] - PALETTE[i][c]) * part) * light + sheen) as u8);
    rgb(r, g, b)
}

/// A corner as the eye sees it: to the right, down, and away.
fn seen(p: [f32; 3]) -> [f32; 3] {
    let (sin, cos) = 0.5f32.sin_cos();
    let (y, z) = (p[1] * cos - p[2] * sin, p[1] * sin + p[2] * cos);
    // Nearer is larger.
    let scale = SIDE as f32 * 0.125 * (1.0 + z * 0.035);
    [SIDE as f32 * 0.5 + p[0] * scale, SIDE as f32 * 0.53 - y * scale, -z]
}

/// The mesh with these temperatures.
pub fn drawn(mesh: &Mesh, temperatures: &[f32]) -> Picture {
    let mut picture = Picture::from_fn(SIDE, SIDE, |_, y| {
        let level = 232 + (y * 20 / SIDE) as u8;
        rgb(level - 8, level - 4, level)
    });
    let mut depth = vec![f32::MAX; SIDE * SIDE];
    let corners: Vec<[f32; 3]> = mesh.places.iter().map(|&p| seen(p)).collect();
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|i| corners[i as usize]);
        let [ta, tb, tc] = triangle.map(|i| temperatures[i as usize]);
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        // Seen edge-on, a triangle covers no pixel, and its weights would be divided by zero. Those that are turned
        // away are hidden by the depth buffer: the surface is closed.
        if area.abs() < 1e-6 {
            continue;
        }
        let [p, q, r] = triangle.map(|i| mesh.places[i as usize]);
        let (u, v): ([f32; 3], [f32; 3]) = (std::array::from_fn(|k| q[k] - p[k]), std::array::from_fn(|k| r[k] - p[k]));
        let normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        let length = normal.iter().map(|n| n * n).sum::<f32>().sqrt().max(1e-12);
        // Whatever way the triangle goes round, its normal is taken towards the eye.
        let sign = if normal[1] * 0.5f32.sin() + normal[2] * 0.5f32.cos() < 0.0 { -1.0 } else { 1.0 };
        let lit = (normal[0] * -0.35 + normal[1] * 0.55 + normal[2] * 0.76) * sign / length;
        let (light, sheen) = (0.5 + 0.5 * lit.max(0.0), 80.0 * lit.max(0.0).powi(12));
        let range = |k: usize| {
            let low = a[k].min(b[k]).min(c[k]).ceil().max(0.0) as usize;
            let high = a[k].max(b[k]).max(c[k]).floor().max(-1.0) + 1.0;
            low..(high as usize).min(SIDE)
        };
        for y in range(1) {
            for x in range(0) {
                let (px, py) = (x as f32, y as f32);
                let wb = ((px - a[0]) * (c[1] - a[1]) - (py - a[1]) * (c[0] - a[0])) / area;
                let wc = ((b[0] - a[0]) * (py - a[1]) - (b[1] - a[1]) * (px - a[0])) / area;
                let wa = 1.0 - wb - wc;
                // A little slack: pixels on an edge that two triangles share must belong to one of them at least, lest
                // cracks show.
                if wa < -1e-5 || wb < -1e-5 || wc < -1e-5 {
                    continue;
                }
                let z = wa * a[2] + wb * b[2] + wc * c[2];
                if z < depth[y * SIDE + x] {
                    depth[y * SIDE + x] = z;
                    picture.pixels[y * SIDE + x] = colour(wa * ta + wb * tb + wc * tc, light, sheen);
                }
            }
        }
    }
    picture
}
