//! The effects' parameters, as the kernels and the reference take them, and the programs that the kernels come in.

use crate::cl::Buffer;
use crate::cl::Session;
use crate::error::Result;

/// A program for each effect, so that none waits for another one's compilation.
pub const PROGRAMS: &[(&str, &str)] = &[
    ("convert", include_str!("../../../../kernels/video/convert.cl")),
    ("deinterlace", include_str!("../../../../kernels/video/deinterlace.cl")),
    ("colour", include_str!("../../../../kernels/video/colour.cl")),
    ("contrast", include_str!("../../../../kernels/video/contrast.cl")),
    ("transform", include_str!("../../../../kernels/video/transform.cl")),
    ("transition", include_str!("../../../../kernels/video/transition.cl")),
    ("blend", include_str!("../../../../kernels/video/blend.cl")),
    ("output", include_str!("../../../../kernels/video/output.cl")),
    ("unpack", include_str!("../../../../kernels/video/unpack.cl")),
    ("scopes", include_str!("../../../../kernels/video/scopes.cl")),
];

/// All of them in one source, for tools that only compile.
pub const EVERYTHING: &str = concat!(
    include_str!("../../../../kernels/video/convert.cl"),
    include_str!("../../../../kernels/video/deinterlace.cl"),
    include_str!("../../../../kernels/video/colour.cl"),
    include_str!("../../../../kernels/video/contrast.cl"),
    include_str!("../../../../kernels/video/transform.cl"),
    include_str!("../../../../kernels/video/transition.cl"),
    include_str!("../../../../kernels/video/blend.cl"),
    include_str!("../../../../kernels/video/output.cl"),
    include_str!("../../../../kernels/video/unpack.cl"),
    include_str!("../../../../kernels/video/scopes.cl"),
);

/// A program's source.
pub fn source(name: &str) -> &'static str {
    PROGRAMS.iter().find(|(known, _)| *known == name).map_or("", |(_, source)| source)
}

/// The blend modes, in the order of the kernel's numbers.
pub const MODES: [&str; 8] = ["normal", "multiply", "screen", "overlay", "darken", "lighten", "add", "difference"];
/// The ways to deinterlace.
pub const METHODS: [&str; 4] = ["edge", "linear", "bob", "blend"];
/// The kernel of each.
pub const DEINTERLACE: [&str; 4] =
    ["video_deinterlace_edge", "video_deinterlace_linear", "video_deinterlace_bob", "video_deinterlace_blend"];
/// The wipes.
pub const WIPES: [&str; 4] = ["right", "down", "diagonal", "iris"];

/// The three-way corrector: lift of shadows, midtones and highlights, then gamma, then gain; a triple each.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Grade(pub [[f32; 3]; 9]);

impl Grade {
    /// Cool shadows and warm highlights: what many films look like.
    pub const TEAL_ORANGE: Grade = Grade([
        [-0.01, 0.005, 0.025],
        [0.0, 0.0, 0.0],
        [0.01, 0.0, -0.01],
        [0.95, 1.0, 1.08],
        [1.08, 1.04, 0.98],
        [1.05, 1.0, 0.95],
        [0.95, 1.0, 1.05],
        [1.04, 1.0, 0.97],
        [1.03, 1.0, 0.92],
    ]);

    /// As a buffer of nine `float4`.
    pub fn upload(&self, session: &Session) -> Result<Buffer<f32>> {
        // The fourth component of gamma is divided by, and not used.
        let rows: Vec<f32> = self.0.iter().flat_map(|r| [r[0], r[1], r[2], 1.0]).collect();
        session.upload(&rows)
    }
}

/// Contrast about middle grey, and what is added.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Contrast {
    pub contrast: f32,
    pub brightness: f32,
}

impl Contrast {
    /// What the kernel adds after the multiplication.
    pub fn offset(&self) -> f32 {
        0.5 - 0.5 * self.contrast + self.brightness
    }
}

/// From a pixel of the picture to its place in the clip: `xx x + xy y + x0`, and the same for y.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Matrix(pub [f32; 6]);

/// Where a layer lies.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place {
    /// Its centre, in parts of the picture.
    pub position: [f32; 2],
    /// 1 is as large as fits the picture as a whole.
    pub scale: f32,
    /// Degrees, clockwise.
    pub rotation: f32,
}

impl Place {
    pub const WHOLE: Place = Place { position: [0.5, 0.5], scale: 1.0, rotation: 0.0 };

    /// The matrix for a clip and a picture of these sizes.
    pub fn matrix(&self, (sw, sh): (usize, usize), (w, h): (usize, usize)) -> Matrix {
        let [sw, sh, w, h] = [sw, sh, w, h].map(|n| n as f64);
        let k = f64::from(self.scale) * (w / sw).min(h / sh);
        let (sin, cos) = f64::from(self.rotation).to_radians().sin_cos();
        let (xx, xy, yx, yy) = (cos / k, sin / k, -sin / k, cos / k);
        // From the pixel's centre to the layer's.
        let dx = 0.5 - w * f64::from(self.position[0]);
        let dy = 0.5 - h * f64::from(self.position[1]);
        let x0 = xx * dx + xy * dy + 0.5 * sw - 0.5;
        let y0 = yx * dx + yy * dy + 0.5 * sh - 0.5;
        Matrix([xx, xy, x0, yx, yy, y0].map(|v| v as f32))
    }
}

/// How a wipe stands at a moment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wipe {
    pub round: bool,
    pub nx: f32,
    pub ny: f32,
    pub edge: f32,
    pub sharpness: f32,
}

impl Wipe {
    /// How wide the edge is, of the whole way.
    const SOFT: f32 = 0.05;

    /// One of [`WIPES`], done from 0 to 1.
    pub fn new(kind: &str, done: f32, (w, h): (usize, usize)) -> Wipe {
        let (w, h) = (w as f32, h as f32);
        // Half the diagonal is 1: an iris that is done has reached the corners.
        let radius = 2.0 / (w * w + h * h).sqrt();
        let (round, nx, ny) = match kind {
            "down" => (false, 0.0, 1.0 / h),
            "diagonal" => (false, 0.5 / w, 0.5 / h),
            "iris" => (true, radius, radius),
            _ => (false, 1.0 / w, 0.0),
        };
        // The soft edge must have left the picture when the wipe is done.
        Wipe { round, nx, ny, edge: done * (1.0 + Wipe::SOFT), sharpness: 1.0 / Wipe::SOFT }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clip_of_the_pictures_size_lies_as_it_is() {
        assert_eq!(Place::WHOLE.matrix((131, 67), (131, 67)), Matrix([1.0, 0.0, 0.0, 0.0, 1.0, 0.0]));
        // Half as large, in the upper left quarter: each pixel between two.
        let small = Place { position: [0.25, 0.25], scale: 0.5, rotation: 0.0 };
        assert_eq!(small.matrix((64, 32), (64, 32)), Matrix([2.0, 0.0, 0.5, 0.0, 2.0, 0.5]));
    }

    #[test]
    fn every_program_is_in_the_source_of_all() {
        for (name, text) in PROGRAMS {
            assert!(EVERYTHING.contains(text), "{name}");
            assert_eq!(source(name), *text);
        }
    }
}
