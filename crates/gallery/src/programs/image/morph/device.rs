//! What `morph` has on the device: buffers and kernels, the order of launches, and the comparison of what was found in
//! the rows with the reference.

use super::Setup;
use super::reference::Analysis;
use crate::args;
use crate::cl::{Arg, Buffer, Built, Kernel, Session};
use crate::common::grid::Grid;
use crate::error::Result;
use crate::picture::Picture;
use crate::program::{Verdict, same};

/// What the device has of a picture.
struct Side {
    pixels: Buffer<u32>,
    edges: Buffer<u8>,
    starts: Buffer<i32>,
    lengths: Buffer<i32>,
    count: Buffer<i32>,
}

struct Kernels {
    grey: Kernel,
    blur_x: Kernel,
    blur_y: Kernel,
    edges: Kernel,
    runs: Kernel,
    matching: Kernel,
    displace: Kernel,
    smooth: Kernel,
    frame: Kernel,
}

impl Kernels {
    fn of(built: &Built, variant: &str) -> Result<Kernels> {
        let frame = if variant == "image" { "morph_frame_image" } else { "morph_frame" };
        let matching = if variant == "wavefront" { "morph_match_wavefront" } else { "morph_match_rows" };
        Ok(Kernels {
            grey: built.kernel("morph_grey")?,
            blur_x: built.kernel("morph_blur_x")?,
            blur_y: built.kernel("morph_blur_y")?,
            edges: built.kernel("morph_edges")?,
            runs: built.kernel("morph_runs")?,
            matching: built.kernel(matching)?,
            displace: built.kernel("morph_displace")?,
            smooth: built.kernel("morph_smooth")?,
            frame: built.kernel(frame)?,
        })
    }
}

/// What lies on the device.
pub struct Device<'s> {
    session: &'s Session,
    setup: &'s Setup,
    kernels: Kernels,
    wavefront: bool,
    sides: [Side; 2],
    /// Sources of the frames: buffers or images.
    pub sources: [Arg; 2],
    scratch: [Buffer<i32>; 2],
    line: Buffer<i32>,
    ways: Buffer<u8>,
    pairs: Buffer<i32>,
    matched: Buffer<i32>,
    cost: Buffer<i32>,
    weights: Buffer<f32>,
    rough: Buffer<f32>,
    half: Buffer<f32>,
    out: Buffer<u32>,
}

impl Device<'_> {
    pub fn analyse(&self) -> Result<()> {
        let (s, k, grid) = (self.session, &self.kernels, &self.setup.grid);
        let group = self.setup.group;
        let over_pixels = |kernel, args: &[Arg]| s.launch(kernel, args, &grid.global(), &grid.local());
        let rows = crate::cl::round_up(grid.h, group);
        for side in &self.sides {
            let [a, b] = &self.scratch;
            over_pixels(&k.grey, args![&side.pixels, a])?;
            // Two scratch planes take turns, and both pictures use them: the queue is in order.
            over_pixels(&k.blur_x, args![a, b])?;
            over_pixels(&k.blur_y, args![b, a])?;
            over_pixels(&k.edges, args![a, &side.edges, self.setup.settings.threshold])?;
            let args = args![&side.edges, &side.starts, &side.lengths, &side.count];
            s.launch(&k.runs, args, &[rows], &[group])?;
        }
        let [a, b] = &self.sides;
        let args = args![
            &a.starts,
            &a.lengths,
            &a.count,
            &b.starts,
            &b.lengths,
            &b.count,
            &self.line,
            &self.ways,
            &self.pairs,
            &self.matched,
            &self.cost
        ];
        // A group a row in the wavefront's way, else a work-item a row.
        let range = if self.wavefront { grid.h * group } else { rows };
        s.launch(&k.matching, args, &[range], &[group])?;
        over_pixels(&k.displace, args![&self.pairs, &self.matched, &self.rough])?;
        over_pixels(&k.smooth, args![&self.rough, &self.weights, &self.half])
    }

    pub fn frame(&self, t: f32) -> Result<()> {
        let [a, b] = self.sources;
        let grid = &self.setup.grid;
        let args = args![a, b, &self.half, t, &self.out];
        self.session.launch(&self.kernels.frame, args, &grid.global(), &grid.local())
    }

    pub fn picture(&self, t: f32) -> Result<Picture> {
        self.frame(t)?;
        let pixels = self.session.read(&self.out)?;
        // Pictures for the film and for the checks are no part of a measured iteration.
        self.session.forget();
        Ok(Picture { width: self.setup.grid.w, height: self.setup.grid.h, pixels })
    }

    /// What was found in the rows, against the reference: all of it whole numbers.
    pub fn check(&self, want: &Analysis) -> Result<std::result::Result<Vec<i32>, Verdict>> {
        let (h, most) = (self.setup.grid.h, self.setup.settings.runs);
        let failed = |verdict: Verdict| matches!(verdict, Verdict::Failed(_)).then_some(verdict);
        for (i, side) in self.sides.iter().enumerate() {
            let edges = self.session.read(&side.edges)?;
            let [starts, lengths, count] = [&side.starts, &side.lengths, &side.count].map(|b| self.session.read(b));
            let (starts, lengths, count) = (starts?, lengths?, count?);
            // The k-th runs of all rows lie side by side, because work-items side by side have rows side by side.
            let runs: Vec<Vec<(i32, i32)>> = (0..h)
                .map(|y| {
                    (0..most.min(count[y].max(0) as usize)).map(|k| (starts[k * h + y], lengths[k * h + y])).collect()
                })
                .collect();
            let wrong = failed(same(&edges, &want.edges[i], "pixels of contours"))
                .or_else(|| {
                    failed(same(
                        &count,
                        &want.runs[i].iter().map(|r| r.len() as i32).collect::<Vec<_>>(),
                        "numbers of runs",
                    ))
                })
                .or_else(|| failed(same(&runs, &want.runs[i], "rows of runs")));
            if let Some(wrong) = wrong {
                return Ok(Err(wrong));
            }
        }
        let cost = self.session.read(&self.cost)?;
        let (pairs, matched) = (self.session.read(&self.pairs)?, self.session.read(&self.matched)?);
        let got: Vec<Vec<(i32, i32)>> = (0..h)
            .map(|y| {
                let row = &pairs[2 * y * most..2 * (y + 1) * most];
                row.chunks(2).take(matched[y].max(0) as usize).map(|p| (p[0], p[1])).collect()
            })
            .collect();
        let wrong =
            failed(same(&cost, &want.cost, "costs")).or_else(|| failed(same(&got, &want.pairs, "rows of pairs")));
        let flat = got.iter().flatten().flat_map(|&(a, b)| [a, b]);
        Ok(wrong.map_or_else(|| Ok(cost.iter().copied().chain(flat).collect()), Err))
    }
}

impl<'s> Device<'s> {
    pub fn new(session: &'s Session, setup: &'s Setup, variant: &str, built: &Built) -> Result<Device<'s>> {
        let Grid { w, h, .. } = setup.grid;
        let most = setup.settings.runs;
        let side = |picture: &Picture| -> Result<Side> {
            Ok(Side {
                pixels: session.upload(&picture.pixels)?,
                edges: session.zeroed(w * h)?,
                starts: session.zeroed(most * h)?,
                lengths: session.zeroed(most * h)?,
                count: session.zeroed(h)?,
            })
        };
        let [a, b] = &setup.pictures;
        let sides = [side(a)?, side(b)?];
        let sources = sides.each_ref().map(|s| Arg::from(&s.pixels));
        Ok(Device {
            session,
            setup,
            kernels: Kernels::of(built, variant)?,
            wavefront: variant == "wavefront",
            sides,
            sources,
            scratch: [session.zeroed(w * h)?, session.zeroed(w * h)?],
            line: session.zeroed((most + 1) * h)?,
            ways: session.zeroed((most + 1) * (most + 1) * h)?,
            pairs: session.zeroed(2 * most * h)?,
            matched: session.zeroed(h)?,
            cost: session.zeroed(h)?,
            weights: session.upload(&setup.settings.weights)?,
            rough: session.zeroed(w * h)?,
            half: session.zeroed(w * h)?,
            out: session.zeroed(w * h)?,
        })
    }
}
