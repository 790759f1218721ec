//! `sample`: every pixel's colour is a function of its position. The smallest program there is: if it fails, nothing
//! works.

use crate::args;
use crate::cl::Session;
use crate::common::grid::{Grid, build};
use crate::error::Result;
use crate::params::Params;
use crate::picture::{Picture, rgb};
use crate::program::{Answer, Outcome, Program, Variant, Work, same_picture};

pub struct Sample;

const SOURCE: &str = include_str!("../../../kernels/sample.cl");

fn reference(w: usize, h: usize) -> Picture {
    Picture::from_fn(w, h, |x, y| {
        let check = if (x / 32 + y / 32).is_multiple_of(2) { 0 } else { 128 };
        rgb((255 * x / w) as u8, (255 * y / h) as u8, check)
    })
}

impl Sample {
    fn grid(&self, params: &Params) -> Result<Grid> {
        params.only(&["param"])?;
        Grid::new(params, params.size_or(1024, 1024)?, (16, 16))
    }
}

impl Program for Sample {
    fn name(&self) -> &'static str {
        "sample"
    }

    fn about(&self) -> &'static str {
        "colour every pixel by its place"
    }

    fn variants(&self) -> &'static [Variant] {
        &[Variant { name: "ocl", about: "one work-item a pixel" }]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        Ok((self.grid(params)?.options(params, "sample"), "sample_ocl".into()))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let grid = self.grid(params)?;
        let (options, name) = self.build_options(params)?;
        let (built, kernel) = build(session, "sample", SOURCE, &options, &name)?;
        let input = session.zeroed::<u32>(grid.w * grid.h)?;
        let output = session.zeroed::<u32>(grid.w * grid.h)?;
        let times = session.measure(params.iterations, |_| {
            session.launch(&kernel, args![&input, &output], &grid.global(), &grid.local())?;
            Ok(true)
        })?;
        let picture = Picture { width: grid.w, height: grid.h, pixels: session.read(&output)? };
        Ok(Outcome {
            variant,
            size: grid.size_text(),
            build: built.time,
            times,
            work: Some(Work::new((grid.w * grid.h) as f64, "pixel").moving(grid.w * grid.h * 4)),
            verdict: same_picture(&picture, &reference(grid.w, grid.h)),
            answer: Answer::Exact(picture.pixels.clone()),
            picture: Some(picture),
            chart: None,
            notes: Vec::new(),
        })
    }
}
