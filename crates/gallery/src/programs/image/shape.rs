//! `shape`: one two-dimensional kernel under work-groups of several shapes. Nothing differs but which pixels a group
//! shares.

use crate::args;
use crate::cl::Session;
use crate::common::grid::{Grid, build};
use crate::error::Result;
use crate::inputs;
use crate::params::Params;
use crate::picture::Picture;
use crate::program::{Answer, Outcome, Program, Variant, Work, same_picture};

pub struct Shape;

const SOURCE: &str = include_str!("../../../kernels/shape.cl");
/// Width and height of each variant's groups.
const SHAPES: [(&str, usize, usize); 6] =
    [("16x16", 16, 16), ("64x4", 64, 4), ("4x64", 4, 64), ("32x8", 32, 8), ("256x1", 256, 1), ("8x4", 8, 4)];

fn reference(p: &Picture) -> Picture {
    let at = |x: isize, y: isize| {
        let (x, y) = (x.clamp(0, p.width as isize - 1), y.clamp(0, p.height as isize - 1));
        p.pixels[y as usize * p.width + x as usize].to_le_bytes()
    };
    Picture::from_fn(p.width, p.height, |x, y| {
        let (x, y) = (x as isize, y as isize);
        let [centre, left, right, above, below] =
            [at(x, y), at(x - 1, y), at(x + 1, y), at(x, y - 1), at(x, y + 1)].map(|p| p.map(u32::from));
        let mut bytes = [0u8; 4];
        for (c, byte) in bytes.iter_mut().enumerate() {
            *byte = ((4 * centre[c] + left[c] + right[c] + above[c] + below[c] + 4) >> 3) as u8;
        }
        u32::from_le_bytes(bytes)
    })
}

impl Shape {
    /// The variant's shape, unless the run names another one.
    fn grid(&self, params: &Params, picture: &Picture) -> Result<Grid> {
        params.only(&[])?;
        let variant = self.variant(params)?;
        let (_, tw, th) = SHAPES.into_iter().find(|s| s.0 == variant).unwrap_or(SHAPES[0]);
        Grid::new(params, (picture.width, picture.height), (tw, th))
    }
}

impl Program for Shape {
    fn name(&self) -> &'static str {
        "shape"
    }

    fn about(&self) -> &'static str {
        "one kernel, work-groups of several shapes"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "16x16", about: "a square" },
            Variant { name: "64x4", about: "wide" },
            Variant { name: "4x64", about: "tall" },
            Variant { name: "32x8", about: "a warp wide" },
            Variant { name: "256x1", about: "a piece of a row" },
            Variant { name: "8x4", about: "small" },
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let grid = self.grid(params, &inputs::picture(params)?)?;
        Ok((grid.options(params, "shape"), "shape_ocl".into()))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let mut picture = inputs::picture(params)?;
        let grid = self.grid(params, &picture)?;
        let (options, name) = self.build_options(params)?;
        let (built, kernel) = build(session, "shape", SOURCE, &options, &name)?;
        let buffers = [session.upload(&picture.pixels)?, session.zeroed::<u32>(grid.w * grid.h)?];
        let times = session.measure(params.iterations, |i| {
            let (from, to) = (i as usize % 2, (i as usize + 1) % 2);
            session.launch(&kernel, args![&buffers[from], &buffers[to]], &grid.global(), &grid.local())?;
            Ok(true)
        })?;
        let pixels = session.read(&buffers[params.iterations as usize % 2])?;
        let result = Picture { width: grid.w, height: grid.h, pixels };
        (0..params.iterations).for_each(|_| picture = reference(&picture));
        Ok(Outcome {
            variant,
            size: grid.size_text(),
            build: built.time,
            times,
            work: Some(Work::new((grid.w * grid.h) as f64, "pixel").moving(grid.w * grid.h * 8)),
            verdict: same_picture(&result, &picture),
            answer: Answer::Exact(result.pixels.clone()),
            picture: Some(result),
            chart: None,
            notes: Vec::new(),
        })
    }
}
