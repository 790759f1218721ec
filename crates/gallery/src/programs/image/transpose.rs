//! `transpose`: a picture of any width and height is transposed. It moves as many bytes as a copy; the question is how
//! close a variant comes to the copy's speed.

use crate::args;
use crate::cl::image::Format;
use crate::cl::{Arg, Session};
use crate::common::grid::{Grid, build};
use crate::error::Result;
use crate::inputs;
use crate::params::Params;
use crate::picture::Picture;
use crate::program::{Answer, Outcome, Program, Variant, Work, same_picture};

pub struct Transpose;

const SOURCE: &str = include_str!("../../../kernels/transpose.cl");
const IMAGE_SOURCE: &str = include_str!("../../../kernels/transpose_image.cl");

/// The side of a tile that does not depend on the group.
const SIDE: usize = 32;

fn reference(p: &Picture) -> Picture {
    Picture::from_fn(p.height, p.width, |x, y| p.pixels[x * p.width + y])
}

impl Transpose {
    fn grid(&self, params: &Params, size: (usize, usize)) -> Result<Grid> {
        let tile = if self.variant(params)?.starts_with("ocl_32") { (32, 8) } else { (16, 16) };
        Grid::new(params, size, tile)
    }
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
            Variant { name: "ocl_naive_write", about: "straight: reads down columns, writes along rows" },
            Variant { name: "ocl_pad", about: "a tile with a padding column: no bank conflicts" },
            Variant { name: "ocl_diag", about: "padded, and groups in diagonal order: no partition camping" },
            Variant { name: "ocl_32", about: "tiles of 32x32, groups of 32x8" },
            Variant { name: "ocl_32_pad", about: "the same with a padding column" },
            Variant { name: "ocl_32_diag", about: "the same, padded and in diagonal order" },
            Variant { name: "ocl_image", about: "from an image to an image" },
        ]
    }

    fn source(&self, params: &Params) -> &'static str {
        if params.variant.ends_with("image") { IMAGE_SOURCE } else { SOURCE }
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        params.only(&["param"])?;
        let size = inputs::picture(params).map(|p| (p.width, p.height))?;
        let options = self.grid(params, size)?.options(params, "transpose");
        Ok((options, format!("transpose_{}", self.variant(params)?)))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let (options, name) = self.build_options(params)?;
        let picture = inputs::picture(params)?;
        let grid = self.grid(params, (picture.width, picture.height))?;
        let (built, kernel) = build(session, "transpose", self.source(params), &options, &name)?;
        let global = match variant {
            // Work-items stand for pixels of the result, whose sides are exchanged.
            "ocl_naive_write" | "ocl_image" => Grid { w: grid.h, h: grid.w, ..grid }.global(),
            "ocl_32" | "ocl_32_pad" | "ocl_32_diag" => {
                // A group of 32 by 8 does a tile of 32 by 32: four rows a work-item.
                [grid.w.div_ceil(SIDE) * grid.tw, grid.h.div_ceil(SIDE) * grid.th]
            }
            _ => grid.global(),
        };
        let measure = |args: &[Arg]| {
            session.measure(params.iterations, |_| {
                session.launch(&kernel, args, &global, &grid.local())?;
                Ok(true)
            })
        };
        let (times, pixels);
        if variant == "ocl_image" {
            let input = session.upload_image(Format::RGBA_UNORM8, grid.w, grid.h, &picture.bytes())?;
            let empty = vec![0; picture.pixels.len() * 4];
            let output = session.upload_image(Format::RGBA_UNORM8, grid.h, grid.w, &empty)?;
            times = measure(args![&input, &output])?;
            let bytes = session.read_image(&output)?;
            pixels = bytes.as_chunks().0.iter().map(|&b| u32::from_le_bytes(b)).collect();
        } else {
            let input = session.upload(&picture.pixels)?;
            let output = session.zeroed::<u32>(grid.w * grid.h)?;
            times = measure(args![&input, &output])?;
            pixels = session.read(&output)?;
        }
        let result = Picture { width: grid.h, height: grid.w, pixels };
        Ok(Outcome {
            variant,
            size: grid.size_text(),
            build: built.time,
            times,
            work: Some(Work::of_bytes(grid.w * grid.h * 8)),
            verdict: same_picture(&result, &reference(&picture)),
            answer: Answer::Exact(result.pixels.clone()),
            picture: Some(result),
            chart: None,
            notes: Vec::new(),
        })
    }
}
