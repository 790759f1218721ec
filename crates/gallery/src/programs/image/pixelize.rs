//! `pixelize`: every tile of a picture gets its average colour. Integer sums, so that any order of adding gives the
//! same result.

use crate::args;
use crate::cl::Session;
use crate::common::grid::{Grid, build};
use crate::error::Result;
use crate::inputs;
use crate::params::Params;
use crate::picture::{Picture, rgb};
use crate::program::{Answer, Outcome, Program, Variant, Work, same_picture};

pub struct Pixelize;

const SOURCE: &str = include_str!("../../../kernels/pixelize.cl");

fn reference(p: &Picture, tw: usize, th: usize) -> Picture {
    let mut out = Picture::new(p.width, p.height, 0);
    for top in (0..p.height).step_by(th) {
        for left in (0..p.width).step_by(tw) {
            let rows = top..(top + th).min(p.height);
            let columns = left..(left + tw).min(p.width);
            let mut sum = [0u64; 3];
            for y in rows.clone() {
                for x in columns.clone() {
                    let bytes = p.pixels[y * p.width + x].to_le_bytes();
                    (0..3).for_each(|c| sum[c] += u64::from(bytes[c]));
                }
            }
            // Tiles at the right and lower edges have fewer pixels.
            let n = (rows.len() * columns.len()) as u64;
            let [r, g, b] = sum.map(|s| (s / n) as u8);
            for y in rows {
                out.pixels[y * p.width..][columns.clone()].fill(rgb(r, g, b));
            }
        }
    }
    out
}

impl Pixelize {
    /// The side of a tile that is larger than a group.
    fn big(params: &Params) -> Result<usize> {
        // Up to 4096² pixels of 255: the sum fits into 32 bits.
        params.number("param", 64, 1..=4096).map(|n| n as usize)
    }

    fn grid(params: &Params, picture: &Picture) -> Result<Grid> {
        params.only(&["param"])?;
        Grid::new(params, (picture.width, picture.height), (16, 16))
    }
}

impl Program for Pixelize {
    fn name(&self) -> &'static str {
        "pixelize"
    }

    fn about(&self) -> &'static str {
        "the average colour of each tile, summed in local memory"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "ocl", about: "columns, then rows" },
            Variant { name: "ocl_1d", about: "the tile as one row" },
            Variant { name: "ocl_big", about: "tiles larger than a work-group" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &["param=64: side of a tile of ocl_big"]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let variant = self.variant(params)?;
        let big = Pixelize::big(params)?;
        let plain = Params { config: String::new(), ..params.clone() };
        let grid = Pixelize::grid(params, &inputs::picture(params)?)?;
        Ok((format!("{} -DPARAM={big}", grid.options(&plain, "pixelize")), format!("pixelize_{variant}")))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let picture = inputs::picture(params)?;
        let grid = Pixelize::grid(params, &picture)?;
        let (options, name) = self.build_options(params)?;
        let (built, kernel) = build(session, "pixelize", SOURCE, &options, &name)?;
        let input = session.upload(&picture.pixels)?;
        let output = session.zeroed::<u32>(grid.w * grid.h)?;
        let (tw, th, global) = if variant == "ocl_big" {
            let big = Pixelize::big(params)?;
            (big, big, [grid.w.div_ceil(big) * grid.tw, grid.h.div_ceil(big) * grid.th])
        } else {
            (grid.tw, grid.th, grid.global())
        };
        let times = session.measure(params.iterations, |_| {
            session.launch(&kernel, args![&input, &output], &global, &grid.local())?;
            Ok(true)
        })?;
        let result = Picture { width: grid.w, height: grid.h, pixels: session.read(&output)? };
        Ok(Outcome {
            variant,
            size: format!("{}, tiles of {tw}x{th}", grid.size_text()),
            build: built.time,
            times,
            work: Some(Work::new((grid.w * grid.h) as f64, "pixel").moving(grid.w * grid.h * 8)),
            verdict: same_picture(&result, &reference(&picture, tw, th)),
            answer: Answer::Exact(result.pixels.clone()),
            picture: Some(result),
            chart: None,
            notes: Vec::new(),
        })
    }
}
