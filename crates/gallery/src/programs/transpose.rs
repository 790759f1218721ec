//! `transpose`: a picture of any width and height is turned over its diagonal. The same number of bytes as a copy moves; how close
//! a variant comes to the copy's speed is what it is about.

use super::grid::{Grid, build};
use crate::args;
use crate::cl::Session;
use crate::error::Result;
use crate::inputs;
use crate::params::Params;
use crate::picture::Picture;
use crate::program::{Answer, Outcome, Program, Variant, Work, same_picture};

pub struct Transpose;

const SOURCE: &str = include_str!("../../kernels/transpose.cl");

fn reference(p: &Picture) -> Picture {
    Picture::from_fn(p.height, p.width, |x, y| p.pixels[x * p.width + y])
}

impl Program for Transpose {
    fn name(&self) -> &'static str {
        "transpose"
    }

    fn about(&self) -> &'static str {
        "turn a picture over its diagonal"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "ocl", about: "through a tile in local memory" },
            Variant { name: "ocl_naive", about: "straight: reads along rows, writes down columns" },
            Variant { name: "ocl_pad", about: "a tile with a padding column: no bank conflicts" },
            Variant { name: "ocl_diag", about: "padded, and groups in diagonal order: no partition camping" },
        ]
    }

    fn source(&self) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        params.only(&["param"])?;
        let size = inputs::picture(params).map(|p| (p.width, p.height))?;
        let options = Grid::new(params, size, (16, 16))?.options(params, "transpose");
        Ok((options, format!("transpose_{}", self.variant(params)?)))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let (options, name) = self.build_options(params)?;
        let picture = inputs::picture(params)?;
        let grid = Grid::new(params, (picture.width, picture.height), (16, 16))?;
        let (built, kernel) = build(session, "transpose", SOURCE, &options, &name)?;
        let input = session.upload(&picture.pixels)?;
        let output = session.zeroed::<u32>(grid.w * grid.h)?;
        let times = session.measure(params.iterations, |_| {
            session.launch(&kernel, args![&input, &output], &grid.global(), &grid.local())?;
            Ok(true)
        })?;
        let result = Picture { width: grid.h, height: grid.w, pixels: session.read(&output)? };
        Ok(Outcome {
            variant,
            size: grid.size_text(),
            build: built.time,
            times,
            work: Some(Work::of_bytes(grid.w * grid.h * 8)),
            verdict: same_picture(&result, &reference(&picture)),
            answer: Answer::Exact(result.pixels.clone()),
            picture: Some(result),
            notes: Vec::new(),
        })
    }
}
