//! `run`: runs a program of the gallery, or a kernel of a `.cl` file, on any installed platform, checks the result and
//! times it. The options are EasyPAP's.
//!
//! The work happens in a child process (`supervise`), which does either `gallery` or `file`.

pub(crate) mod argument;
pub(crate) mod checked;
mod endless;
mod file;
mod gallery;
pub(crate) mod kernel;
mod launch;
pub(crate) mod layout;
mod loops;
pub(crate) mod number;
mod picture_argument;
mod reference;
mod save;
pub(crate) mod shape;
mod supervise;
mod watch;

use crate::outcome::{Answer, Failure};
use cloom_gallery::Choice;
use kernel::{Job, KernelOptions, Tiles};
use std::path::PathBuf;

/// Iterations where none are given.
const DEFAULT_ITERATIONS: u32 = 5;

/// Options of `run`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Programs of the gallery (cloom run -lk lists them; -tw -th -ts -lk -lv are EasyPAP's short names):
  cloom run -k mandel -s 1024 -i 10 --output mandel.png
  cloom run -k transpose -v ocl_pad -s 4096 -tw 16 -th 16 -n --platform pocl
Results are always checked against a reference in Rust; times are printed only if the check is passed.

Kernels of a file: each argument is described by one --arg, in order or as NAME=…
  a buffer     COUNT[:FILL]   COUNT elements; FILL is a number, `index` (0, 1, 2 …) or `random`; 0 if there is none
                              of structures also member=FILL,member=FILL: 64:pos=random,mass=1
               @FILE          the bytes of a file
  local memory COUNT          elements
  a value      42, 0.5, 1,2,3,4 (a vector), x=1,y=2 (a structure)
  an image     @FILE.png[:FORMAT], SIZE[:FORMAT[:FILL]]; FORMAT is rgba,unorm_int8 or r,float or another of OpenCL's
  a sampler    words: nearest linear pixels normalized none edge border repeat mirror
  cloom run saxpy.cl --arg y=1024:index --arg x=1024:random --arg a=2.5 --global 1024 --local 64 --verify
  cloom run blur.cl --arg in=@picture.png --arg out=512x512 --arg s=linear,edge --output blurred.png
--verify runs the kernel on Cloom's reference interpreter first, under the checks of `cloom check`, and then compares each
byte.

Exit status: 0 all is well; 1 a wrong result, a kernel that crashes, a source that does not compile, or a run that Ctrl-C or
--timeout ended; 2 wrong use or no such device."
)]
pub struct Options {
    /// A .cl file, or - for the standard input; without one, -k names a program of the gallery
    #[arg(value_name = "FILE.cl")]
    file: Option<PathBuf>,
    /// The program of the gallery, or the kernel of the file
    #[arg(short, long, value_name = "NAME")]
    kernel: Option<String>,
    /// The variant of the program; the first of `-lv` if none is named
    #[arg(short, long, value_name = "NAME", default_value = "")]
    variant: String,
    /// Width and height, or both as WxH
    #[arg(short, long, value_name = "N|WxH", allow_hyphen_values = true, value_parser = shape::side_or_sides, conflicts_with = "load_image")]
    size: Option<(usize, usize)>,
    /// -tw: width of a work-group
    #[arg(long = "tile-width", value_name = "N", allow_hyphen_values = true, value_parser = shape::side)]
    tile_w: Option<usize>,
    /// -th: height of a work-group
    #[arg(long = "tile-height", value_name = "N", allow_hyphen_values = true, value_parser = shape::side)]
    tile_h: Option<usize>,
    /// -ts: width and height of a work-group
    #[arg(
        long, value_name = "N", allow_hyphen_values = true, value_parser = shape::side,
        conflicts_with_all = ["tile_w", "tile_h"]
    )]
    tile_size: Option<usize>,
    /// Number of iterations; 5 if none is given
    #[arg(short, long, value_name = "N", allow_hyphen_values = true, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// Ends a run that takes longer than this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Write no picture, unless --output names one
    #[arg(short, long)]
    no_display: bool,
    /// The picture to work on, a PNG, for a program that takes one
    #[arg(short, long, value_name = "FILE")]
    load_image: Option<PathBuf>,
    /// The program's knobs: key=value,key=value; a bare number is -DPARAM
    #[arg(short, long, value_name = "KNOBS", default_value = "")]
    config: String,
    /// -lk: list the programs of the gallery
    #[arg(long)]
    list_kernels: bool,
    /// -lv: list the variants and knobs of a program, of all without one
    #[arg(long, value_name = "PROGRAM", num_args = 0..=1, default_missing_value = "")]
    list_variants: Option<String>,
    /// The platform: its number in `cloom info`, or a part of its name, vendor or version; Cloom if none is named
    #[arg(long, value_name = "NAME|NUMBER")]
    platform: Option<String>,
    /// The device of that platform; the first if none is named
    #[arg(long, value_name = "NAME|NUMBER")]
    device: Option<String>,
    /// Check the result: for a file, against the reference interpreter; the gallery always checks
    #[arg(long)]
    verify: bool,
    /// Writes the picture or the film here, in the form of the suffix: .png, .svg for plots, .apng, .gif, .y4m, and
    /// .mp4 and .webm by the program ffmpeg; for a kernel of a file, the first buffer or image that changed, as .png,
    /// as numbers (.txt) or as bytes (.bin, .raw)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Frames a second of a film
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=1000))]
    frame_rate: u32,
    /// JSON output
    #[arg(long)]
    pub json: bool,
    /// Set in the child process that does the work: the file in which it notes what it is doing
    #[arg(long, hide = true, value_name = "FILE")]
    supervised: Option<PathBuf>,

    /// Print this many elements of each buffer that changed
    #[arg(long, value_name = "N", default_value_t = 16, help_heading = "Kernels of a file")]
    print: usize,
    /// The numbers that are black and white in --output picture.png; of floats the least and the greatest otherwise
    #[arg(long, value_name = "MIN..MAX", value_parser = save::range, allow_hyphen_values = true, help_heading = "Kernels of a file")]
    range: Option<(f64, f64)>,
    #[command(flatten)]
    file_kernel: KernelOptions,
}

impl Options {
    fn choice(&self) -> Choice {
        Choice { platform: self.platform.clone(), device: self.device.clone() }
    }

    /// How often a program of the gallery runs.
    fn iterations(&self) -> u32 {
        self.iterations.unwrap_or(DEFAULT_ITERATIONS)
    }

    /// How often a kernel of a file is launched for its times: not at all if it prints, unless that is asked for.
    fn iterations_of_file(&self, job: &Job) -> u32 {
        self.iterations.unwrap_or(if job.prints { 0 } else { DEFAULT_ITERATIONS })
    }

    fn tiles(&self) -> Tiles {
        Tiles { size: self.size, tile_w: self.tile_w.or(self.tile_size), tile_h: self.tile_h.or(self.tile_size) }
    }
}

/// Ends this process when its parent ends.
pub fn end_with_the_parent() {
    supervise::begin();
}

/// Runs `run`.
pub fn run(options: &Options) -> Result<Answer, Failure> {
    if (options.list_kernels || options.list_variants.is_some()) && options.file.is_some() {
        let word = options.file.as_ref().map_or_else(String::new, |f| f.display().to_string());
        return Err(Failure::wrong(format!("`{word}`: a list takes no file; name a program with -lv PROGRAM")));
    }
    if options.list_kernels {
        return gallery::list_programs(options.json);
    }
    if let Some(name) = &options.list_variants {
        let name = if name.is_empty() { options.kernel.as_deref() } else { Some(name.as_str()) };
        return gallery::list_variants(name, options.json);
    }
    match (&options.file, &options.kernel) {
        // Without the file for notes this is the parent, which only starts the child that does the work.
        (Some(_), _) | (None, Some(_)) if options.supervised.is_none() => supervise::run(options),
        (Some(path), _) => {
            supervise::begin();
            file::run(options, path)
        }
        (None, Some(name)) if options.file_kernel.args.is_empty() => {
            supervise::begin();
            gallery::run(options, name)
        }
        (None, Some(_)) => Err(Failure::wrong("--arg is for kernels of a file; name the .cl file")),
        (None, None) => {
            Err(Failure::wrong("name a program of the gallery with -k (`cloom run -lk` lists them), or a .cl file"))
        }
    }
}
