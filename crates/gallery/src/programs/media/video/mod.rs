//! `video`: the pipeline of a film editor, as Adobe's Mercury engine has it (E. Miller and others, Apple's WWDC 2012):
//! streams are decoded by threads, uploaded, converted to pixels, corrected, placed, blended and measured by scopes.
//!
//! * `project.rs` reads what is to be shown, `source.rs`, `y4m.rs`, `files.rs` and `scenes.rs` give the frames;
//! * `device.rs` compiles and launches, `stack.rs` makes a frame, by a kernel that `fused.rs` writes or by one for each
//!   effect, `film.rs` makes all frames of a project;
//! * `single.rs` runs each effect by itself, `scopes.rs` counts, `reference.rs` has all of it in double precision.

mod device;
mod effects;
mod files;
mod film;
mod fused;
mod project;
mod reference;
mod scenes;
mod scopes;
mod single;
mod source;
mod stack;
mod y4m;

use crate::cl::Session;
use crate::error::{Error, Result};
use crate::params::Params;
use crate::picture::Picture;
use crate::program::{Outcome, Program, Variant};
use std::time::Duration;

pub struct Video;

const KNOBS: &[&str] = &[
    "project=: a project in TOML that `stack` renders; its sample where none is named",
    "passes=one|each: a kernel that does all of a frame, or one for each effect",
    "counters=own|atomics: how the scopes count: each group by itself, or all at once",
    "queues=2|1: upload the next frame while this one is worked on, or one after the other",
    "compile=background|before: render while programs are still compiled, or compile all first",
    "mode=screen|normal|multiply|overlay|darken|lighten|add|difference: how `blend` mixes",
    "wipe=diagonal|right|down|iris: the edge of `wipe`",
    "method=edge|linear|bob|blend: how `deinterlace` fills the rows of the other field",
];

/// The work-groups: rows, for neighbours in memory.
fn tile(params: &Params) -> Result<(usize, usize)> {
    params.tile_or(64, 1)
}

/// Whether so many pixels of four floats fit the machine, and what the host needs to check them, in doubles.
fn roomy(session: &Session, pixels: usize) -> Result<()> {
    let bytes = (pixels as u64).saturating_mul(16 + 32);
    let has = session.found.global_memory;
    if bytes > has {
        return Err(Error::Params(format!(
            "frames of this size take {} MB, {} has {}; choose a smaller size",
            bytes >> 20,
            session.found.device,
            has >> 20
        )));
    }
    Ok(())
}

fn as_picture(pixels: Vec<u32>, (width, height): (usize, usize)) -> Picture {
    Picture { width, height, pixels }
}

fn same_or(same: bool, why: &str) -> std::result::Result<(), String> {
    if same { Ok(()) } else { Err(why.to_owned()) }
}

/// How fast frames are made, and how that compares with how fast they are shown.
fn real_time(frame: Duration, rate: f64) -> String {
    let a_second = 1.0 / frame.as_secs_f64().max(1e-9);
    format!("{a_second:.1} frames a second: {:.2} times real time at {rate} frames a second", a_second / rate)
}

impl Program for Video {
    fn name(&self) -> &'static str {
        "video"
    }

    fn about(&self) -> &'static str {
        "a film editor's pipeline: streams, effects, layers, scopes"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "stack", about: "a project: streams in layers, an adjustment of all, scopes" },
            Variant { name: "convert", about: "Y'CbCr planes to pixels" },
            Variant { name: "transform", about: "scale, rotation and position" },
            Variant { name: "colour", about: "the three-way corrector" },
            Variant { name: "contrast", about: "contrast and brightness" },
            Variant { name: "blend", about: "a layer on another one" },
            Variant { name: "dissolve", about: "from one stream to the next, both at once" },
            Variant { name: "wipe", about: "from one stream to the next, behind an edge" },
            Variant { name: "deinterlace", about: "a frame from one of two fields" },
            Variant { name: "scopes", about: "waveform, histogram and vectorscope" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        KNOBS
    }

    fn source(&self, params: &Params) -> &'static str {
        match self.variant(params) {
            Ok("stack") | Err(_) => effects::EVERYTHING,
            Ok(variant) => effects::source(single::program_of(variant).0),
        }
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let variant = self.variant(params)?;
        film::size(params, (1920, 1080))?;
        let kernel = if variant == "stack" { "video_blend" } else { single::program_of(variant).1 };
        Ok((String::new(), kernel.to_owned()))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        params.only(&["project", "passes", "counters", "queues", "compile", "mode", "wipe", "method"])?;
        match self.variant(params)? {
            "stack" => film::run(session, params),
            variant => single::run(session, params, variant),
        }
    }
}
