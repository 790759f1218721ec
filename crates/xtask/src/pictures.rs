//! `pictures`: the pictures of `docs/gallery.md`, drawn by the programs themselves.

use crate::demo;
use crate::outcome::Outcome;
use crate::tools::{root, succeeds};
use anyhow::{Context, Result};
use std::fs;
use std::process::Command;

/// Each program that has a picture, with the options that make it worth looking at and small, and its form: plots as
/// SVG.
const PICTURES: &[(&str, &str, &str)] = &[
    ("sample", "-s 240", "png"),
    ("mandel", "-s 360x240 -i 1", "png"),
    ("transpose", "-s 320x200", "png"),
    ("pixelize", "-s 240", "png"),
    ("stripes", "-s 240 -i 1 -c 5", "png"),
    ("life", "-s 240 -i 60 -v ocl_wide", "png"),
    ("invert", "-s 240 -i 1", "png"),
    ("rotation90", "-s 320x200 -i 1", "png"),
    ("scrollup", "-s 240 -i 60", "png"),
    ("spin", "-s 240 -i 9", "png"),
    ("max", "-s 320 -i 1", "png"),
    ("sandpile", "-s 129 -i 200 -c start=pile", "png"),
    ("tsp", "-i 1", "png"),
    ("heat3d", "-i 20", "png"),
    ("histogram", "-s 1024 -i 1", "svg"),
    ("mad", "-s 1024", "svg"),
    ("bank", "-c stride=0", "svg"),
    ("shape", "-s 240", "png"),
    ("occupancy", "-v registers", "svg"),
    ("particles", "-v move_soa -s 128x64 -i 9", "png"),
    ("nbody", "-v soa -s 4000x1 -i 96 -c motion=orbit", "png"),
    ("conv", "-s 240 -v both", "png"),
    ("gauss", "-s 240", "png"),
    ("resample", "-s 512 -v table -c percent=50", "png"),
    ("sampler", "-s 240", "png"),
    ("wavelet", "-s 256", "png"),
    ("lcs", "-s 2048x2048", "png"),
    ("fieldblur", "-s 480x320 -v rows -i 1", "png"),
    ("morph", "-s 256 -i 1 -c frames=5", "png"),
    ("wave", "-s 480x360 -i 60", "png"),
    ("flow", "-s 480x360 -c motion=real -i 1", "png"),
    ("cloth", "-v grid -i 150 -c picture=480", "png"),
    ("video", "-s 640x360 -i 25", "png"),
];

/// Runs them all, on Cloom.
pub fn run() -> Result<Outcome> {
    let cloom = demo::build()?.join("cloom");
    let folder = root().join("docs/gallery");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut good = true;
    for (program, options, suffix) in PICTURES {
        let mut command = Command::new(&cloom);
        command.args(["run", "--platform", "cloom", "-k", program]).args(options.split(' '));
        good &= succeeds(command.arg("--output").arg(folder.join(format!("{program}.{suffix}"))))?;
    }
    Ok(Outcome::of(good))
}
