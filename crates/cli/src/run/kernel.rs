//! A kernel of a file, for `run`, `agree` and `bench`: its options, what the compiler knows of it, and its launch on a
//! device with the arguments that the command line describes.

use super::argument::{self, Params, Value};
use super::layout::Layout;
use super::loops;
use super::shape::{self, Sizes};
use crate::cpu;
use crate::options::BuildOptions;
use crate::outcome::Failure;
use crate::source::{self, Text};
use cloom_compiler::{Compiler, Config, Failure as BuildFailure, KernelLayout, Program, Source};
use cloom_gallery::image::Sampler;
use cloom_gallery::{Arg, Buffer, Error, Image, Session, Times};
use cloom_ir::{KernelMeta, Op};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Options of a kernel of a file.
#[derive(clap::Args, Clone, Debug)]
pub struct KernelOptions {
    /// An argument of the file's kernel: [NAME=]VALUE, see `cloom run --help`; once for each
    #[arg(long = "arg", value_name = "VALUE", allow_hyphen_values = true, help_heading = "Kernels of a file")]
    pub args: Vec<String>,
    /// Global size: X, XxY or XxYxZ; -s N means NxN; the default is the number of elements of the first buffer
    #[arg(long, value_name = "SIZES", value_parser = shape::sizes, allow_hyphen_values = true, help_heading = "Kernels of a file")]
    pub global: Option<Sizes>,
    /// Local size, in as many dimensions; the platform chooses if it is not given
    #[arg(long, value_name = "SIZES", value_parser = shape::sizes, allow_hyphen_values = true, help_heading = "Kernels of a file")]
    pub local: Option<Sizes>,
    #[command(flatten)]
    pub build: BuildOptions,
}

impl KernelOptions {
    /// Whether any is given, which only a file can use.
    pub fn any(&self) -> bool {
        !self.args.is_empty() || self.global.is_some() || self.local.is_some()
    }
}

/// What other options say of the sizes.
#[derive(Clone, Copy, Default)]
pub struct Tiles {
    /// Width and height.
    pub size: Option<(usize, usize)>,
    /// Width of a work-group,
    pub tile_w: Option<usize>,
    /// and its height.
    pub tile_h: Option<usize>,
}

/// A kernel with its arguments.
pub struct Job {
    /// The source.
    pub text: Text,
    pub compiler: Arc<Compiler>,
    pub program: Arc<Program>,
    /// The kernel's name.
    pub kernel: String,
    pub meta: KernelMeta,
    pub values: Vec<Value>,
    pub global: Sizes,
    pub local: Option<Sizes>,
    build_options: String,
    /// It calls `printf`.
    pub prints: bool,
    /// The lines of its loops.
    pub loops: Vec<u32>,
}

/// What a launch has left.
pub struct Launched {
    pub build: Duration,
    pub log: String,
    /// The first launch, on the host's clock, with what is compiled for it.
    pub first: Duration,
    /// The first launch on the device's clock.
    pub first_kernel: Duration,
    /// The bytes of each buffer and image after the first launch, in the order of the parameters.
    pub after: Vec<Vec<u8>>,
    pub times: Times,
}

/// Whether a program has marks for the checker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marks {
    None,
    ForChecker,
}

/// A source that was compiled.
pub struct Compiled {
    text: Text,
    compiler: Arc<Compiler>,
    pub program: Arc<Program>,
    build_options: String,
    layouts: Vec<KernelLayout>,
}

impl Compiled {
    /// Reads and compiles a source.
    pub fn read(path: &Path, options: &BuildOptions, marks: Marks) -> Result<Compiled, Failure> {
        let text = source::read(path)?;
        let compiler = Compiler::new(Config::default());
        let build_options = options.text();
        // Only for the front end: what a device gets has the user's options.
        let with_marks = match marks {
            Marks::None => build_options.clone(),
            Marks::ForChecker => format!("{build_options} -cloom-check"),
        };
        let target = cpu::target(None)?;
        // Cloom's front end says what the parameters are, whatever platform runs the kernel.
        let compiled = text.build(&compiler, &with_marks, &target);
        let program = compiled.result.map_err(|kind| match kind {
            BuildFailure::Options => Failure::wrong(&compiled.log),
            BuildFailure::Program => Failure::finding(&compiled.log),
        })?;
        // Members of structures and what pointers point to are known from the source only. The metadata of a kernel,
        // which is all that SPIR-V leaves, has the names of types.
        let layouts = match text.is_spirv() {
            true => Vec::new(),
            false => {
                let source = Source { name: &text.name, text: &text.bytes };
                compiler.kernel_layouts(&source, &build_options, &target)
            }
        };
        Ok(Compiled { text, compiler, program, build_options, layouts })
    }

    /// How the parameters of a kernel lie in memory, or what they point to.
    pub fn layouts(&self, kernel: &str, meta: &KernelMeta) -> Vec<Layout> {
        match self.layouts.iter().find(|k| k.kernel == kernel) {
            Some(known) if known.params.len() == meta.params.len() => known.params.iter().map(Layout::from).collect(),
            _ => meta.params.iter().map(|p| Layout::named(&p.type_name)).collect(),
        }
    }

    /// The source.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// A kernel with all that it calls.
    pub fn linked(&self, kernel: &str) -> Option<cloom_ir::Module> {
        self.compiler.linked(&self.program, kernel).ok()
    }
}

impl Job {
    /// Compiles the source and reads the arguments.
    pub fn read(path: &Path, kernel: Option<&str>, options: &KernelOptions, tiles: Tiles) -> Result<Job, Failure> {
        Job::new(&Compiled::read(path, &options.build, Marks::None)?, kernel, options, tiles)
    }

    /// Reads the arguments for a kernel of a compiled source.
    pub fn new(
        compiled: &Compiled,
        kernel: Option<&str>,
        options: &KernelOptions,
        tiles: Tiles,
    ) -> Result<Job, Failure> {
        let Compiled { text, compiler, program, build_options, .. } = compiled;
        let (kernel, meta) = choose(program, kernel)?;
        let layouts = compiled.layouts(&kernel, &meta);
        let values = argument::read(Params { kernel: &kernel, meta: &meta, layouts: &layouts }, &options.args)?;
        let (global, local) = range(options, tiles, &meta, &values)?;
        // Without it only hints are lost: whether the kernel prints, and where its loops are. What is missing is told
        // by the build on the device.
        let linked = compiled.linked(&kernel);
        let printf = |f: &cloom_ir::Function| f.insts.values().any(|i| matches!(i.op, Op::Printf(_)));
        let prints = linked.as_ref().is_some_and(|m| m.funcs.values().any(printf));
        let loops = linked.map_or_else(Vec::new, |module| loops::lines(&module, &text.name));
        Ok(Job {
            text: text.clone(),
            compiler: compiler.clone(),
            program: program.clone(),
            kernel,
            meta,
            values,
            global,
            local,
            build_options: build_options.clone(),
            prints,
            loops,
        })
    }

    /// The parameters that hold memory which the kernel can write to: name, value, and bytes before the launch.
    pub fn memory(&self) -> impl Iterator<Item = (&str, &Value, &[u8])> {
        let named = self.meta.params.iter().zip(&self.values);
        named.filter_map(|(p, v)| v.memory().map(|bytes| (p.name.as_str(), v, bytes)))
    }

    /// What to say of it when it does not end.
    pub fn why_endless(&self) -> String {
        match self.loops.as_slice() {
            [] => "it has no loop, so the work or the platform is slow".into(),
            [line] => format!("its loop may not end (line {line})"),
            many => {
                let lines: Vec<String> = many.iter().map(u32::to_string).collect();
                format!("one of its loops may not end (lines {})", lines.join(", "))
            }
        }
    }

    /// Runs it: once for the result, and as many times as `iterations` says for the times. `note` hears what is done.
    pub fn launch(&self, session: &Session, iterations: u32, mut note: impl FnMut(&str)) -> Result<Launched, Failure> {
        let Job { text, kernel, .. } = self;
        note(&format!("building {}", text.name));
        let built = match text.is_spirv() {
            true => session.build_il(&text.name, &text.bytes, &self.build_options)?,
            false => session.build(&text.name, &String::from_utf8_lossy(&text.bytes), &self.build_options)?,
        };
        let code = built.kernel(kernel)?;
        let uploaded = Uploaded::new(session, &self.values)?;
        let local = self.local.as_ref().map_or(&[][..], |l| &l.0);
        let running = format!("kernel `{kernel}` of {}", text.name);
        note(&running);
        let begin = Instant::now();
        let mut first = Duration::ZERO;
        // The result is that of exactly one launch, which is what the reference does, too: a second one would work on
        // what the first one wrote, as in `x[i] += 1`.
        let times = session.measure(1, |_| {
            session.launch(&code, &uploaded.args, &self.global.0, local)?;
            session.finish()?;
            first = begin.elapsed();
            Ok(true)
        })?;
        let after = uploaded.read(session).map_err(|e| self.overrun(e, &uploaded))?;
        let first_kernel = times.device.first().copied().unwrap_or_default();
        // Over the results of the runs before; the time of a kernel seldom depends on them.
        let times = if iterations == 0 {
            Times::default()
        } else {
            session.measure(iterations, |i| {
                note(&format!("{running}, launch {} of {iterations}", i + 1));
                session.launch(&code, &uploaded.args, &self.global.0, local).map(|()| true)
            })?
        };
        note(&format!("after kernel `{kernel}` of {}", text.name));
        Ok(Launched { build: built.time, log: built.log.clone(), first, first_kernel, after, times })
    }

    /// A buffer whose guards were changed, in the words of the source.
    fn overrun(&self, (buffer, error): (usize, Error), uploaded: &Uploaded) -> Failure {
        let Error::Overrun { len, at } = error else { return error.into() };
        let Some((name, value, _)) = self.memory().nth(buffer) else { return error.into() };
        debug_assert!(buffer < uploaded.memory.len());
        // `upload` has made a buffer of bytes, so `len` and `at` count bytes; the message counts elements of the
        // source.
        let size = if let Value::Buffer { layout, .. } = value { layout.bytes() } else { 1 };
        Failure::finding(format!(
            "kernel `{}` wrote past the end of `{name}` ({}): element {}; `cloom check` names the line and the work-item",
            self.kernel,
            elements(len / size),
            at / size
        ))
    }
}

/// A number of elements, in words.
pub fn elements(n: usize) -> String {
    if n == 1 { "1 element".into() } else { format!("{n} elements") }
}

enum Memory {
    Buffer(Buffer<u8>),
    Image(Image),
}

/// The arguments on a device.
struct Uploaded {
    args: Vec<Arg>,
    memory: Vec<Memory>,
    // Kernels refer to them.
    _samplers: Vec<Sampler>,
}

impl Uploaded {
    fn new(session: &Session, values: &[Value]) -> Result<Uploaded, Failure> {
        let (mut args, mut memory, mut samplers) = (Vec::new(), Vec::new(), Vec::new());
        for value in values {
            args.push(match value {
                Value::Buffer { bytes, .. } => {
                    let buffer = session.upload(bytes)?;
                    let arg = Arg::from(&buffer);
                    memory.push(Memory::Buffer(buffer));
                    arg
                }
                Value::Image(image) => {
                    let made = session.upload_image_of(image.kind, image.format, &image.size, &image.pixels)?;
                    let arg = Arg::from(&made);
                    memory.push(Memory::Image(made));
                    arg
                }
                Value::Sampler(state) => {
                    let sampler = session.sampler(*state)?;
                    let arg = Arg::from(&sampler);
                    samplers.push(sampler);
                    arg
                }
                Value::Local(bytes) => Arg::Local(*bytes),
                Value::Bytes(bytes) => Arg::value(bytes).ok_or_else(|| {
                    Failure::wrong(format!(
                        "a structure of more than {} bytes cannot be passed by value yet; pass a pointer to it",
                        Arg::LARGEST
                    ))
                })?,
            });
        }
        Ok(Uploaded { args, memory, _samplers: samplers })
    }

    /// The contents; an error comes with the number of the buffer.
    fn read(&self, session: &Session) -> Result<Vec<Vec<u8>>, (usize, Error)> {
        let read = |(i, memory): (usize, &Memory)| {
            let bytes = match memory {
                Memory::Buffer(buffer) => session.read(buffer),
                Memory::Image(image) => session.read_image(image),
            };
            bytes.map_err(|e| (i, e))
        };
        self.memory.iter().enumerate().map(read).collect()
    }
}

fn choose(program: &Program, wanted: Option<&str>) -> Result<(String, KernelMeta), Failure> {
    let all: Vec<(&str, &KernelMeta)> = program.kernels().collect();
    let names = || all.iter().map(|k| k.0).collect::<Vec<_>>().join(", ");
    let own = |(name, meta): &(&str, &KernelMeta)| ((*name).to_owned(), (*meta).clone());
    match (wanted, all.as_slice()) {
        (_, []) => Err(Failure::wrong("the source has no kernel")),
        (None, [one]) => Ok(own(one)),
        (None, _) => Err(Failure::wrong(format!("choose one of the kernels with -k: {}", names()))),
        (Some(k), _) => all
            .iter()
            .find(|(name, _)| *name == k)
            .map(own)
            .ok_or_else(|| Failure::wrong(format!("there is no kernel `{k}`; there are: {}", names()))),
    }
}

/// Global and local sizes, by the rules in the help text.
fn range(
    options: &KernelOptions,
    tiles: Tiles,
    meta: &KernelMeta,
    values: &[Value],
) -> Result<(Sizes, Option<Sizes>), Failure> {
    let of_image = || {
        let sizes = values.iter().find_map(|v| if let Value::Image(i) = v { Some(i.size.clone()) } else { None });
        sizes.unwrap_or_else(|| vec![1])
    };
    let global = match (&options.global, tiles.size) {
        (Some(sizes), _) => sizes.clone(),
        (None, Some((w, h))) => Sizes(vec![w, h]),
        (None, None) => Sizes(values.iter().find_map(Value::elements).map_or_else(of_image, |n| vec![n.max(1)])),
    };
    let dims = global.0.len();
    let tile = match (tiles.tile_w, tiles.tile_h) {
        (None, None) => None,
        (w, h) => {
            let mut tile = vec![w.unwrap_or(1), h.unwrap_or(1), 1];
            tile.truncate(dims);
            Some(Sizes(tile))
        }
    };
    // `reqd_work_group_size` has three numbers whatever the launch has; only those of its dimensions are passed.
    let required = meta.reqd_group_size.map(|r| Sizes(r.iter().take(dims).map(|&n| n as usize).collect()));
    // What is asked for goes before what the kernel requires: the platform refuses a size that contradicts
    // `reqd_work_group_size`.
    let local = options.local.clone().or(tile).or(required);
    if let Some(local) = &local {
        let count = |n: usize| if n == 1 { "1 dimension".to_owned() } else { format!("{n} dimensions") };
        if local.0.len() != dims {
            return Err(Failure::wrong(format!(
                "the local size {local} has {}, and the global size {global} has {}: give both alike, with --global and \
                 --local",
                count(local.0.len()),
                count(dims)
            )));
        }
        if let Some(d) = (0..dims).find(|&d| local.0[d] > global.0[d]) {
            return Err(Failure::wrong(format!(
                "a work-group of {local} is larger than the {} work-items of dimension {d}: choose a smaller --local or \
                 -tw and -th, or a larger --global",
                global.0[d]
            )));
        }
    }
    Ok((global, local))
}
