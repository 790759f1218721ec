//! The picture: the device draws it with kernels of its own, and the reference draws it again from the device's places.
//!
//! Which samples a triangle covers is decided in integers, once its corners are rounded to a fraction of a sample. A
//! corner that lies within rounding of a half may go to the other side there, and a depth may be rounded to the next
//! unit: at outlines and where layers of cloth touch, some pixels differ. What is allowed is counted, not ignored.

use super::model::Model;
use super::scenery::{Camera, FAR, NEAR, Scenery, V, dot, plus, unit};
use crate::args;
use crate::cl::{Buffer, Built, Kernel, Session, round_up};
use crate::common::threads;
use crate::error::Result;
use crate::picture::{Picture, rgb};
use crate::program::Verdict;

/// Pixels may differ by so much of 255: sines and roots are rounded differently.
const NEAR_ENOUGH: i32 = 3;

/// Bits of a key that name the triangle; the others are depth.
fn id_bits(model: &Model) -> u32 {
    // At least ten, so that a depth has 22 bits at most, which a float holds exactly.
    (usize::BITS - model.triangles().leading_zeros()).max(10)
}

/// Parts of a sample that corners are rounded to: products of differences must fit into 31 bits.
fn sub(model: &Model) -> i32 {
    match model.picture.0 {
        0..=640 => 16,
        641..=1280 => 8,
        _ => 4,
    }
}

/// The build options of the kernels that draw.
pub fn options(model: &Model) -> String {
    let (cells, cw, ch) = model.cells();
    let scenery = Scenery::new(model);
    format!(
        " -DID_BITS={} -DSUB={} -DCELLS={cells} -DCELL_W={cw} -DCELL_H={ch} -DPICTURE_W={} -DPICTURE_H={} -DTRIANGLES={} {}",
        id_bits(model),
        sub(model),
        model.picture.0,
        model.picture.1,
        model.triangles(),
        scenery.options()
    )
}

pub struct Drawer<'a> {
    session: &'a Session,
    model: &'a Model,
    camera: Buffer<f32>,
    corners: Buffer<i32>,
    normals: Buffer<f32>,
    nearest: Buffer<u32>,
    picture: Buffer<u32>,
    kernels: [Kernel; 4],
}

impl<'a> Drawer<'a> {
    pub fn new(session: &'a Session, model: &'a Model, built: &Built) -> Result<Drawer<'a>> {
        let (pixels, nodes) = (model.picture.0 * model.picture.1, model.nodes() * model.flags);
        let k = |name: &str| built.kernel(name);
        Ok(Drawer {
            session,
            model,
            camera: session.upload(&Camera::new(&model.scene).numbers())?,
            corners: session.zeroed(3 * nodes)?,
            normals: session.zeroed(3 * nodes)?,
            // Four samples a pixel.
            nearest: session.zeroed(4 * pixels)?,
            picture: session.zeroed(pixels)?,
            kernels: [k("cloth_project")?, k("cloth_clear")?, k("cloth_raster")?, k("cloth_shade")?],
        })
    }

    /// Draws cloths with these places.
    pub fn draw(&self, places: &Buffer<f32>) -> Result<Picture> {
        let (s, m, [project, clear, raster, shade]) = (self.session, self.model, &self.kernels);
        let (width, height) = m.picture;
        let args = args![places, &self.corners, &self.normals, &self.camera];
        s.launch(project, args, &[round_up(m.w, 16), m.h * m.flags], &[16, 1])?;
        let samples = self.nearest.len();
        s.launch(clear, args![&self.nearest, samples as u32], &[round_up(samples, 64)], &[64])?;
        if m.triangles() > 0 {
            let global = [round_up(m.triangles(), 16), m.flags];
            s.launch(raster, args![&self.corners, &self.nearest], &global, &[16, 1])?;
        }
        let args = args![&self.nearest, &self.corners, &self.normals, &self.camera, &self.picture];
        s.launch(shade, args, &[round_up(width, 16), height], &[16, 1])?;
        Ok(Picture { width, height, pixels: s.read(&self.picture)? })
    }
}

type P = [i32; 2];

fn side(a: P, b: P, c: P) -> i32 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// A corner of a triangle on the screen.
#[derive(Clone, Copy)]
struct Corner {
    at: P,
    depth: f32,
    normal: V,
    /// Where on the cloth.
    u: f32,
    v: f32,
}

/// The reference's picture of these places.
pub fn reference(model: &Model, places: &[f32]) -> Picture {
    let (cells, cw, ch) = model.cells();
    let (width, height) = model.picture;
    let scenery = Scenery::new(model);
    let camera = Camera::new(&model.scene);
    let corners: Vec<Corner> = (0..model.nodes() * model.flags).map(|i| corner(model, &camera, places, i)).collect();
    let mut pixels = vec![0u32; width * height];
    let layers: Vec<Vec<(f32, usize)>> = (0..model.flags).map(|f| layer(model, &corners, f)).collect();
    threads::rows(&mut pixels, width, threads::count(), |py, row| {
        for (px, pixel) in row.iter_mut().enumerate() {
            let (cell_x, cell_y) = (px / cw, py / ch);
            let (x, y, flag) = (px - cell_x * cw, py - cell_y * ch, cell_y * cells + cell_x);
            let ray = camera.ray(x as f32 + 0.5 - 0.5 * cw as f32, 0.5 * ch as f32 - y as f32 - 0.5, focal(model));
            let (behind, far) = scenery.backdrop(&camera, ray, cell_x >= cells || flag >= model.flags);
            let far = ((far - NEAR) / (FAR - NEAR)).clamp(0.0, 1.0) * farthest(model);
            let mut sum = [0.0; 3];
            for k in 0..4 {
                let (sx, sy) = (2 * x + k % 2, 2 * y + k / 2);
                let hit = (cell_x < cells).then(|| layers.get(flag).map(|l| l[sy * 2 * cw + sx])).flatten();
                // A triangle behind the ball or the ground does not hide them: the depth buffer has only the cloth.
                let colour = match hit {
                    Some((depth, id)) if id != usize::MAX && depth <= far => {
                        cloth_colour(model, &scenery, &corners, flag, id, ray, (sx, sy))
                    }
                    _ => behind,
                };
                sum = plus(sum, colour, 0.25);
            }
            let [r, g, b] = sum.map(|c| (c.clamp(0.0, 1.0).sqrt() * 255.0 + 0.5) as u8);
            *pixel = rgb(r, g, b);
        }
    });
    Picture { width, height, pixels }
}

/// Pixels for a length of one at a distance of one.
pub fn focal(model: &Model) -> f32 {
    let (_, cw, ch) = model.cells();
    model.scene.focal * (ch as f32).min(cw as f32 * 0.75)
}

fn farthest(model: &Model) -> f32 {
    // Depth and number together never have all bits set, which is what `cloth_clear` leaves where nothing is drawn.
    ((1u64 << (32 - id_bits(model))) - 2) as f32
}

fn corner(model: &Model, camera: &Camera, places: &[f32], i: usize) -> Corner {
    let (w, h, total) = (model.w, model.h, model.nodes() * model.flags);
    let (x, y) = (i % w, i / w % h);
    let at = |i: usize| -> V { [places[i], places[total + i], places[2 * total + i]] };
    let across = plus(at(if x + 1 < w { i + 1 } else { i }), at(if x > 0 { i - 1 } else { i }), -1.0);
    let along = plus(at(if y > 0 { i - w } else { i }), at(if y + 1 < h { i + w } else { i }), -1.0);
    let normal = unit([
        across[1] * along[2] - across[2] * along[1],
        across[2] * along[0] - across[0] * along[2],
        across[0] * along[1] - across[1] * along[0],
    ]);
    let d = plus(at(i), camera.eye, -1.0);
    let far = dot(d, camera.forward).max(NEAR);
    let (_, cw, ch) = model.cells();
    let sub = sub(model) as f32;
    let scale = 2.0 * sub * focal(model) / far;
    // Differences of held corners are below 28672, so that `side`, a difference of two products, fits into 31 bits.
    let held = |v: f32| v.clamp(-4096.0, 24575.0).round_ties_even() as i32;
    Corner {
        at: [held(dot(d, camera.right) * scale + cw as f32 * sub), held(ch as f32 * sub - dot(d, camera.up) * scale)],
        depth: (((far - NEAR) / (FAR - NEAR)).clamp(0.0, 1.0) * farthest(model)).round_ties_even(),
        normal,
        u: x as f32 / (w - 1).max(1) as f32,
        v: y as f32 / (h - 1).max(1) as f32,
    }
}

/// The corners of a triangle; the first one is at its right angle.
fn triangle(model: &Model, corners: &[Corner], flag: usize, id: usize) -> [Corner; 3] {
    let (x, y) = (id / 2 % (model.w - 1), id / 2 / (model.w - 1));
    let at = |x: usize, y: usize| corners[flag * model.nodes() + y * model.w + x];
    if id.is_multiple_of(2) {
        [at(x, y), at(x + 1, y), at(x, y + 1)]
    } else {
        [at(x + 1, y + 1), at(x, y + 1), at(x + 1, y)]
    }
}

/// What is nearest at each sample of a flag's cell: depth and triangle.
fn layer(model: &Model, corners: &[Corner], flag: usize) -> Vec<(f32, usize)> {
    let (_, cw, ch) = model.cells();
    let (sw, sh, sub) = (2 * cw as i32, 2 * ch as i32, sub(model));
    let mut nearest = vec![(f32::INFINITY, usize::MAX); (sw * sh) as usize];
    for id in 0..model.triangles() {
        let [a, b, c] = triangle(model, corners, flag, id);
        let whole = side(a.at, b.at, c.at);
        if whole == 0 {
            continue;
        }
        // The samples of the bounding box, `sub` units apart, that lie in the cell.
        let range = |k: usize, most: i32| {
            let all = [a.at[k], b.at[k], c.at[k]];
            let (least, largest) = all.iter().fold((i32::MAX, i32::MIN), |(l, h), &v| (l.min(v), h.max(v)));
            (least.div_euclid(sub)).max(0)..=(largest.div_euclid(sub)).min(most - 1)
        };
        for y in range(1, sh) {
            for x in range(0, sw) {
                let at = [x * sub + sub / 2, y * sub + sub / 2];
                let parts =
                    [side(b.at, c.at, at), side(c.at, a.at, at), side(a.at, b.at, at)].map(|v| v * whole.signum());
                if parts.iter().any(|&v| v < 0) {
                    continue;
                }
                let sum = parts[0] as f32 * a.depth + parts[1] as f32 * b.depth + parts[2] as f32 * c.depth;
                let depth = (sum / (whole.abs() as f32)).floor();
                let there = &mut nearest[(y * sw + x) as usize];
                // The first of equals stays.
                if depth < there.0 {
                    *there = (depth, id);
                }
            }
        }
    }
    nearest
}

fn cloth_colour(
    model: &Model,
    scenery: &Scenery,
    corners: &[Corner],
    flag: usize,
    id: usize,
    ray: V,
    (sx, sy): (usize, usize),
) -> V {
    let [a, b, c] = triangle(model, corners, flag, id);
    let sub = sub(model);
    let at = [sx as i32 * sub + sub / 2, sy as i32 * sub + sub / 2];
    let whole = side(a.at, b.at, c.at) as f32;
    let (fb, fc) = (side(c.at, a.at, at) as f32 / whole, side(a.at, b.at, at) as f32 / whole);
    let fa = 1.0 - fb - fc;
    let mut normal = unit(plus(plus(plus([0.0; 3], a.normal, fa), b.normal, fb), c.normal, fc));
    if dot(normal, ray) > 0.0 {
        normal = normal.map(|v| -v);
    }
    let (u, v) = (fa * a.u + fb * b.u + fc * c.u, fa * a.v + fb * b.v + fc * c.v);
    scenery.lit(scenery.pattern(u, v, flag), normal, ray.map(|v| -v), 1.0)
}

/// Compares the device's picture with the reference's.
pub fn compare(got: &Picture, want: &Picture) -> Verdict {
    let differs = |a: u32, b: u32| {
        let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
        pairs.map(|(a, b)| (i32::from(a) - i32::from(b)).abs()).max().unwrap_or(0) > NEAR_ENOUGH
    };
    let wrong = got.pixels.iter().zip(&want.pixels).filter(|(a, b)| differs(**a, **b)).count();
    // A corner in some thousands is that near to a half, and moves an edge by a sixteenth of a sample.
    let limit = 4 + got.pixels.len() / 2000;
    let text = format!("{wrong} of {} pixels differ by more than {NEAR_ENOUGH}/255", got.pixels.len());
    if wrong > limit { Verdict::Failed(format!("{text}, more than {limit}")) } else { Verdict::Passed(text) }
}
