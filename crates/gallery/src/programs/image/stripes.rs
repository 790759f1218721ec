//! `stripes`: the lesson of divergence. Stripes of 2^param columns are brightened and darkened in turn; each iteration
//! works on the result of the one before.

use crate::args;
use crate::cl::Session;
use crate::common::grid::{Grid, build};
use crate::error::Result;
use crate::inputs;
use crate::params::Params;
use crate::picture::Picture;
use crate::program::{Answer, Outcome, Program, Variant, Work, same_picture};

pub struct Stripes;

const SOURCE: &str = include_str!("../../../kernels/stripes.cl");

fn component(mut v: u32, dark: bool, rounds: u32) -> u8 {
    for _ in 0..rounds {
        // One at least in each round, either way: a sixteenth rounded down would leave dark values where they are.
        v = if dark { v - v.div_ceil(16) } else { (v + v / 16 + 1).min(255) };
    }
    v as u8
}

fn reference(p: &mut Picture, param: u32, rounds: u32) {
    let width = p.width;
    for (i, pixel) in p.pixels.iter_mut().enumerate() {
        let dark = ((i % width) >> param) & 1 == 1;
        let [r, g, b, a] = pixel.to_le_bytes();
        let f = |v| component(u32::from(v), dark, rounds);
        *pixel = u32::from_le_bytes([f(r), f(g), f(b), a]);
    }
}

impl Stripes {
    fn grid(params: &Params, picture: &Picture) -> Result<(Grid, u32, u32)> {
        params.only(&["param", "rounds"])?;
        let param = params.number("param", 0, 0..=8)?;
        Ok((Grid::new(params, (picture.width, picture.height), (64, 1))?, param, params.number("rounds", 8, 1..=1000)?))
    }
}

impl Program for Stripes {
    fn name(&self) -> &'static str {
        "stripes"
    }

    fn about(&self) -> &'static str {
        "brighten or darken a column by one bit of its number"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "ocl", about: "a branch a work-item" },
            Variant { name: "ocl_opt", about: "equal branches brought together through local memory" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "param=0..8: which bit decides; stripes are 2^param columns wide",
            "rounds=8: steps of brightening or darkening, 1 to 1000",
        ]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let (grid, param, rounds) = Stripes::grid(params, &inputs::picture(params)?)?;
        let plain = Params { config: String::new(), ..params.clone() };
        let options = format!("{} -DPARAM={param} -DROUNDS={rounds}", grid.options(&plain, "stripes"));
        Ok((options, format!("stripes_{}", self.variant(params)?)))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let mut picture = inputs::picture(params)?;
        let (grid, param, rounds) = Stripes::grid(params, &picture)?;
        let (options, name) = self.build_options(params)?;
        let (built, kernel) = build(session, "stripes", SOURCE, &options, &name)?;
        let buffers = [session.upload(&picture.pixels)?, session.zeroed::<u32>(grid.w * grid.h)?];
        let times = session.measure(params.iterations, |i| {
            let (from, to) = (i as usize % 2, (i as usize + 1) % 2);
            session.launch(&kernel, args![&buffers[from], &buffers[to]], &grid.global(), &grid.local())?;
            Ok(true)
        })?;
        let pixels = session.read(&buffers[params.iterations as usize % 2])?;
        let result = Picture { width: grid.w, height: grid.h, pixels };
        (0..params.iterations).for_each(|_| reference(&mut picture, param, rounds));
        Ok(Outcome {
            variant,
            size: format!("{}, bit {param}, {rounds} rounds", grid.size_text()),
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
