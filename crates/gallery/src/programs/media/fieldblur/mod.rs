//! `fieldblur`: a blur whose radius differs from pixel to pixel, with an aperture and bright highlights as a lens makes
//! them (Photoshop's Field Blur, whose OpenCL version Adobe showed in 2012): every pixel of the aperture read, from a
//! buffer or an image; rows of the aperture as differences of running sums (F. C. Crow, "Summed-area tables for texture
//! mapping", 1984, in one dimension); and the same in tiles, for pictures that do not fit into memory.

mod check;
mod lens;
mod ppm;
mod reference;
mod scene;
mod source;
mod stream;

use crate::args;
use crate::cl::{Built, Kernel, Session, Times, round_up};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::picture::{Picture, rgb};
use crate::program::{Outcome, Program, Variant, Verdict, Work};
use check::{MAX_WHOLE_PIXELS, Samples, Tile};
use lens::Lens;
use source::Source;
use std::time::Duration;
use stream::Stream;

pub struct Fieldblur;

const SOURCE: &str = include_str!("../../../../kernels/fieldblur.cl");
const IMAGE_SOURCE: &str =
    concat!(include_str!("../../../../kernels/fieldblur.cl"), include_str!("../../../../kernels/fieldblur_image.cl"));

/// The longest side of a picture in tiles, and how many tiles there may be: something is kept of each.
const MAX_SIDE: usize = 1 << 16;
const MAX_TILES: usize = 1 << 16;
const SIDE: u32 = 2048;

/// What a run works on.
pub(crate) struct Setup {
    w: usize,
    h: usize,
    /// Of a tile.
    side: usize,
    lens: Lens,
    source: Source,
}

impl Setup {
    fn new(params: &Params, tiled: bool) -> Result<Setup> {
        let mut knobs = vec!["source", "tile", "write"];
        knobs.extend(Lens::KNOBS);
        params.only(&knobs)?;
        let (w, h) = match (&params.input, params.size) {
            (Some(path), None) => {
                let picture = Picture::load(path)?;
                (picture.width, picture.height)
            }
            (_, size) => size.unwrap_or((1024, 1024)),
        };
        let side = params.number("tile", SIDE, 16..=4096)? as usize;
        if !tiled {
            if params.text("write").is_some() {
                return Err(Error::Params("-c write=…: only -v tiled writes a file while it runs".into()));
            }
            Params { size: Some((w, h)), ..params.clone() }.size_or(w, h)?;
        } else if w == 0 || h == 0 || w > MAX_SIDE || h > MAX_SIDE {
            return Err(Error::Params(format!("-s {w}x{h}: take sides from 1 to {MAX_SIDE}")));
        } else if w.div_ceil(side) * h.div_ceil(side) > MAX_TILES {
            return Err(Error::Params(format!("-c tile={side}: more than {MAX_TILES} tiles; take larger ones")));
        }
        Ok(Setup { w, h, side, lens: Lens::new(params, (w, h))?, source: Source::new(params, (w, h))? })
    }

    fn columns(&self) -> usize {
        self.w.div_ceil(self.side)
    }

    /// How many tiles.
    fn tiles(&self) -> usize {
        self.columns() * self.h.div_ceil(self.side)
    }

    /// They go row by row.
    fn tile(&self, i: usize) -> Tile {
        let (x, y) = (i % self.columns() * self.side, i / self.columns() * self.side);
        Tile { x, y, w: self.side.min(self.w - x), h: self.side.min(self.h - y) }
    }
}

/// The kernels on buffers.
pub(crate) struct Kernels {
    weigh: Kernel,
    direct: Kernel,
    prefix: Kernel,
    rows: Kernel,
    pack: Kernel,
    pick: Kernel,
}

impl Kernels {
    fn new(built: &Built) -> Result<Kernels> {
        let kernel = |name: &str| built.kernel(&format!("fieldblur_{name}"));
        Ok(Kernels {
            weigh: kernel("weigh")?,
            direct: kernel("direct")?,
            prefix: kernel("prefix")?,
            rows: kernel("rows")?,
            pack: kernel("pack")?,
            pick: kernel("pick")?,
        })
    }
}

/// The whole picture at once: four floats a pixel.
fn whole(session: &Session, setup: &Setup, built: &Built, variant: &str, params: &Params) -> Result<(Times, Vec<f32>)> {
    let (w, h, halo) = (setup.w, setup.h, setup.lens.halo());
    let (pw, ph) = (w + 2 * halo, h + 2 * halo);
    let (tw, th) = params.tile_or(64, 4)?;
    let (global, local) = ([round_up(w, tw), round_up(h, th)], [tw, th]);
    // The largest buffer, before the host makes as much.
    session.fits::<f32>(4 * (pw + 1) * ph)?;
    let output = session.zeroed::<f32>(4 * w * h)?;
    let (wide, high) = (w as i32, h as i32);
    let frame = |_| params.observer.frame(|| Ok(picture(w, h, &session.read(&output)?)));
    if variant == "image" {
        let mut pixels = vec![0; w * h];
        setup.source.fill((0, 0), w, &mut pixels);
        let linear = lens::linear();
        let floats: Vec<f32> = pixels.iter().flat_map(|&p| reference::weighed(&setup.lens, &linear, p)).collect();
        let image = session.upload_floats(4, w, h, &floats)?;
        let kernel = built.kernel("fieldblur_image")?;
        let body = |_| {
            session.launch(&kernel, args![&image, &output, wide, high], &global, &local)?;
            Ok(true)
        };
        let times = session.measure_and(params.iterations, body, frame)?;
        return Ok((times, session.read(&output)?));
    }
    let mut pixels = vec![0; pw * ph];
    setup.source.fill((-(halo as i64), -(halo as i64)), pw, &mut pixels);
    let (input, linear) = (session.upload(&pixels)?, session.upload(&lens::linear())?);
    let kernels = Kernels::new(built)?;
    let direct = variant == "direct";
    // Floats or whole numbers, of the same size.
    let middle_floats = if direct { Some(session.zeroed::<f32>(4 * pw * ph)?) } else { None };
    // A row of running sums has one number more than pixels: the zero before the first.
    let middle_sums = if direct { None } else { Some(session.zeroed::<u32>(4 * (pw + 1) * ph)?) };
    let body = |_| {
        if let Some(middle) = &middle_floats {
            session.launch(&kernels.weigh, args![&input, &linear, middle, (pw * ph) as i32], &[pw * ph], &[])?;
            session.launch(&kernels.direct, args![middle, &output, wide, high, 0, 0], &global, &local)?;
        }
        if let Some(middle) = &middle_sums {
            session.launch(&kernels.prefix, args![&input, &linear, middle, pw as i32, ph as i32], &[ph], &[])?;
            session.launch(&kernels.rows, args![middle, &output, wide, high, 0, 0], &global, &local)?;
        }
        Ok(true)
    };
    let times = session.measure_and(params.iterations, body, frame)?;
    if let Some(middle) = &middle_sums {
        // For the guards behind its end alone.
        session.read(middle)?;
    }
    Ok((times, session.read(&output)?))
}

/// Floats of linear light as a picture.
fn picture(w: usize, h: usize, floats: &[f32]) -> Picture {
    let byte = |v: f32| lens::encoded(f64::from(v)).round() as u8;
    Picture::from_fn(w, h, |x, y| {
        let i = 4 * (y * w + x);
        rgb(byte(floats[i]), byte(floats[i + 1]), byte(floats[i + 2]))
    })
}

/// Whether the samples, which are all pixels of their tiles, equal the untiled picture in every bit.
fn seamless(w: usize, samples: &[Samples], untiled: &[f32]) -> std::result::Result<(), String> {
    for part in samples {
        let tile = part.tile;
        for (&place, got) in part.places.iter().zip(part.got.chunks(4)) {
            let (x, y) = (tile.x + place as usize % tile.w, tile.y + place as usize / tile.w);
            let want = &untiled[4 * (y * w + x)..][..4];
            if got.iter().zip(want).any(|(a, b)| a.to_bits() != b.to_bits()) {
                return Err(format!("a seam: pixel ({x}, {y}) is {got:?}, and {want:?} without tiles"));
            }
        }
    }
    Ok(())
}

/// The most memory that the process has used, where the system tells.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes: f64 =
        status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(format!("peak memory of the process: {:.0} MB", kilobytes * 1024.0 / 1e6))
}

struct Run {
    times: Times,
    samples: Vec<Samples>,
    picture: Picture,
    seam: std::result::Result<(), String>,
    notes: Vec<String>,
}

fn tiled(session: &Session, setup: &Setup, built: &Built, params: &Params) -> Result<Run> {
    let kernels = Kernels::new(built)?;
    let stream = Stream::new(session, setup, &kernels, params)?;
    let mut last = None;
    let times = session.measure(params.iterations, |_| {
        last = Some(stream.pass(params)?);
        Ok(true)
    })?;
    let pass = last.ok_or_else(|| Error::Params("no iteration leaves no result: choose -i 1 or more".into()))?;
    stream.check_guards(session)?;
    let seconds = |d: Duration| d.as_secs_f64();
    let wall = times.wall.last().copied().unwrap_or_default();
    let kernel = times.device.last().copied().unwrap_or_default();
    let s = pass.spent;
    let tiles = match setup.tiles() {
        1 => "1 tile".to_owned(),
        n => format!("{n} tiles"),
    };
    let mut notes = vec![
        format!("{tiles} of at most {0}x{0} with a halo of {1}", setup.side, setup.lens.halo()),
        format!(
            "of {:.2} s: kernels {:.2} s; beside them transfers {:.2} s, generating {:.2} s, writing {:.2} s",
            seconds(wall),
            seconds(kernel),
            seconds(s.transfers),
            seconds(s.generating),
            seconds(s.writing)
        ),
    ];
    notes.extend(peak_memory());
    let mut seam = Ok(());
    if setup.w * setup.h <= MAX_WHOLE_PIXELS {
        let once = Params { iterations: 1, observer: Default::default(), ..params.clone() };
        let (_, untiled) = whole(session, setup, built, "rows", &once)?;
        seam = seamless(setup.w, &pass.samples, &untiled);
        if seam.is_ok() {
            notes.push("the untiled picture is the same bit for bit".into());
        }
    }
    Ok(Run { times, samples: pass.samples, picture: pass.overview.picture(), seam, notes })
}

impl Program for Fieldblur {
    fn name(&self) -> &'static str {
        "fieldblur"
    }

    fn about(&self) -> &'static str {
        "a lens blur whose radius is set by pins, in tiles of pictures of any size"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "direct", about: "every pixel of the aperture, from a buffer" },
            Variant { name: "image", about: "the same from an image, whose sampler repeats the edge" },
            Variant { name: "rows", about: "each row of the aperture as a difference of running sums" },
            Variant { name: "tiled", about: "the same in tiles that stream through the device, for gigapixels" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "pins=x:y:radius;…: places per mille of the picture, and the radius there in pixels, up to 64",
            "blades=0|3..12: sides of the aperture, 0 for a disc",
            "turn=0..359: by how many degrees it is turned",
            "bright=0..99: from how many per cent of white on pixels weigh more",
            "light=0..14: how much more white weighs",
            "source=scene|picture: a lantern before a city, or the picture",
            "tile=16..4096: the side of a tile",
            "write=file: a PPM file that tiled writes while it runs",
        ]
    }

    fn source(&self, params: &Params) -> &'static str {
        if params.variant == "image" { IMAGE_SOURCE } else { SOURCE }
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let variant = self.variant(params)?;
        let setup = Setup::new(params, variant == "tiled")?;
        let kernel = if variant == "tiled" { "rows" } else { variant };
        Ok((setup.lens.options(), format!("fieldblur_{kernel}")))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let setup = Setup::new(params, variant == "tiled")?;
        let (w, h) = (setup.w, setup.h);
        let built = session.build("fieldblur", self.source(params), &setup.lens.options())?;
        let run = if variant == "tiled" {
            tiled(session, &setup, &built, params)?
        } else {
            let (times, floats) = whole(session, &setup, &built, variant, params)?;
            let samples = check::samples_of(&setup, &floats);
            Run {
                times,
                samples,
                picture: picture(w, h, &floats),
                seam: Ok(()),
                notes: peak_memory().into_iter().collect(),
            }
        };
        let (mut verdict, answer) = check::check(&setup, &run.samples)?;
        if let Err(seam) = run.seam {
            verdict = Verdict::Failed(seam);
        }
        let mut notes = run.notes;
        notes.insert(0, format!("{:.2} Mpixel/s", (w * h) as f64 / run.times.median().as_secs_f64() / 1e6));
        Ok(Outcome {
            variant,
            size: format!("{w}x{h}, {} pins", setup.lens.pins.len()),
            build: built.time,
            times: run.times,
            work: Some(Work::new((w * h) as f64, "pixel").moving(w * h * if variant == "tiled" { 8 } else { 20 })),
            verdict,
            answer,
            picture: Some(run.picture),
            chart: None,
            notes,
        })
    }
}
