//! From a source to its first result: what is measured of compilers.
//!
//! In comes a [`Build`] of the list and a session without history; out comes what the way took, and whether the result
//! is right. The session's [`Session::first`] holds the times: from the source to the end of the first launch.
//!
//! | group | sources |
//! |---|---|
//! | first result | the Mandelbrot set; 480 lines of 20 kernels; 1024x1024 points, with a quick start and without |
//! | gallery | each kernel of the gallery, in a queue with profiling: optimised code |
//! | math | each function of the library once ([`math`]) |
//! | generated | kernels of many statements ([`generated`]) and unrolled hashing ([`hash`]) |

mod generated;
mod hash;
mod long;
mod math;

use crate::args;
use crate::cl::{First, Found, Session};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::program::{Program, Verdict, same};

/// What kind of source it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// The time on the wall counts.
    FirstResult,
    /// Kernels of the gallery; processor time counts, here and below.
    Gallery,
    /// The math library.
    Math,
    /// Long kernels.
    Generated,
}

impl Group {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Group::FirstResult => "first result",
            Group::Gallery => "gallery",
            Group::Math => "math",
            Group::Generated => "generated",
        }
    }
}

/// What is launched.
#[derive(Clone, Debug)]
enum What {
    /// The Mandelbrot set: side and repetitions.
    Mandel(usize, u32),
    /// So many kernels of the long source.
    Long(usize),
    /// A program of the gallery.
    Case(&'static str, Box<Params>),
    /// Groups of functions, from one index to before another.
    Math(usize, usize),
    /// A generated kernel of so many statements.
    Generated(generated::Kind, usize),
    /// SHA-256 of so many blocks.
    Hash(usize),
}

/// A source, and how its first result is measured.
#[derive(Clone, Debug)]
pub struct Build {
    /// The name of its row.
    pub name: String,
    /// Its group.
    pub group: Group,
    /// It takes long, or is one of many of its kind.
    pub long: bool,
    /// Whether the platform may begin with code that is made quickly, where it has a switch for that.
    pub quick_start: bool,
    /// Whether as many threads as there are processors are busy meanwhile.
    pub busy: bool,
    what: What,
}

impl Build {
    fn new(name: impl Into<String>, group: Group, what: What) -> Build {
        Build { name: name.into(), group, long: false, quick_start: true, busy: false, what }
    }
}

/// The side of the first results that a person waits for.
const LARGE: usize = 1024;
/// The size at which kernels of the gallery are launched: the launch itself takes next to nothing.
const LAUNCH_SIZE: (usize, usize) = (64, 64);

fn first_results() -> Vec<Build> {
    let first = |name: &str, what| Build::new(name, Group::FirstResult, what);
    let mut list = vec![
        first("mandel", What::Mandel(64, 64)),
        first("480 lines, one launch", What::Long(1)),
        first("480 lines, 20 launches", What::Long(long::KERNELS)),
    ];
    for (busy, note) in [(false, ""), (true, ", busy machine")] {
        for (quick_start, start) in [(true, "quick start"), (false, "optimised")] {
            let name = format!("mandel 1024, {start}{note}");
            list.push(Build { quick_start, busy, ..first(&name, What::Mandel(LARGE, 512)) });
        }
    }
    list
}

/// Each kernel of the gallery once; that of an idiom in its first spelling.
fn gallery() -> Vec<Build> {
    let mut list: Vec<Build> = Vec::new();
    let mut known = Vec::new();
    for program in crate::programs() {
        for variant in program.variants() {
            let params = Params { variant: variant.name.into(), size: Some(LAUNCH_SIZE), ..Params::default() };
            // A variant that refuses these parameters has no row.
            let Ok(kernel) = program.build_options(&params) else { continue };
            let key = (program.name(), kernel);
            // Without OpenCL, or the kernel of another variant with another host program.
            if variant.name == "threads" || known.contains(&key) {
                continue;
            }
            known.push(key);
            let name = format!("{} {}", program.name(), variant.name);
            let build = Build::new(name, Group::Gallery, What::Case(program.name(), Box::new(params)));
            list.push(Build { long: program.name() == "idioms", ..build });
        }
    }
    list
}

fn math() -> Vec<Build> {
    let groups = math::GROUPS.len();
    let one = |(i, group): (usize, &math::Group)| {
        let name = format!("math {}", group.name);
        Build::new(name, Group::Math, What::Math(i, i + 1))
    };
    let all = Build::new("math all functions", Group::Math, What::Math(0, groups));
    math::GROUPS.iter().enumerate().map(one).chain([all]).collect()
}

fn generated() -> Vec<Build> {
    let mut list = Vec::new();
    for kind in generated::Kind::ALL {
        for statements in [500, 2_000, 10_000] {
            let name = format!("{} {statements}", kind.name());
            let build = Build::new(name, Group::Generated, What::Generated(kind, statements));
            list.push(Build { long: statements > 500, ..build });
        }
    }
    for blocks in [1, 8] {
        let build = Build::new(format!("sha-256 of {blocks}"), Group::Generated, What::Hash(blocks));
        list.push(Build { long: blocks > 1, ..build });
    }
    list
}

/// All of them.
pub fn all() -> Vec<Build> {
    [first_results(), gallery(), math(), generated()].concat()
}

/// Builds and launches for the first time on this device. What the platform prepares when a context is made is not
/// counted.
pub fn run(found: &Found, build: &Build) -> Result<(First, Verdict)> {
    let session = match build.group {
        Group::FirstResult => Session::without_clock(found)?,
        // Who asks for times gets those of the optimised code.
        _ => Session::on(found)?,
    };
    let verdict = match &build.what {
        What::Mandel(side, max) => mandel(&session, *side, *max)?,
        What::Long(launches) => long::run(&session, *launches)?,
        What::Case(program, params) => crate::program(program)?.run(&session, params)?.verdict,
        What::Math(from, to) => math::run(&session, &math::GROUPS[*from..*to])?,
        What::Generated(kind, statements) => generated::run(&session, *kind, *statements)?,
        What::Hash(blocks) => hash::run(&session, *blocks)?,
    };
    let first = session.first().ok_or_else(|| Error::Unsupported("it launches nothing".into()))?;
    Ok((first, verdict))
}

fn mandel(session: &Session, side: usize, max: u32) -> Result<Verdict> {
    use crate::programs::image::mandel::{Mandel, View, colour, repeated};
    let params = Params { size: Some((side, side)), config: format!("max={max}"), ..Params::default() };
    let (options, name) = Mandel.build_options(&params)?;
    let output = session.zeroed::<u32>(side * side)?;
    let view = View::of(0, side, side);
    let built = session.build("mandel", Mandel.source(&params), &options)?;
    let kernel = built.kernel(&name)?;
    let args = args![&output, view.left, view.xstep, view.top, view.ystep, side as u32];
    session.launch(&kernel, args, &[side, side], &[16, 16])?;
    // Ends the way to the first result, which `Session::first` measures.
    session.finish()?;
    let want: Vec<u32> = (0..side * side).map(|i| colour(repeated(view, i % side, i / side, max), max)).collect();
    Ok(same(&session.read(&output)?, &want, "pixels"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kernel_of_the_gallery_is_built_once() {
        let all = all();
        let mut names: Vec<&str> = all.iter().map(|b| b.name.as_str()).collect();
        assert!(
            names.contains(&"matvec scalar") && names.contains(&"idioms saxpy") && !names.contains(&"mandel threads")
        );
        // The split of the picture is the host's.
        assert!(names.contains(&"mandel ocl") && !names.contains(&"mandel hybrid_fixed"));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len(), "a row has a name of its own");
        let short = all.iter().filter(|b| !b.long && b.group == Group::Generated).count();
        assert_eq!(short, generated::Kind::ALL.len() + 1);
    }
}
