//! `run` with a `.cl` file: builds the source on the chosen platform, passes the arguments that the command line
//! describes, prints the buffers that changed, and with `--verify` compares them with the result of the reference
//! interpreter.

use super::argument::{self, Value};
use super::reference::{Reference, Undefined};
use super::shape::Sizes;
use super::{Options, reference, supervise};
use crate::outcome::{Answer, Exit, Failure};
use crate::stats::{self, Summary};
use crate::{cpu, driver, source};
use cloom_compiler::{Compiler, Config, Failure as BuildFailure, Program};
use cloom_gallery::{Arg, Buffer, Picture, Session};
use cloom_ir::KernelMeta;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    kernel: &'a str,
    platform: &'a str,
    device: &'a str,
    global: &'a [usize],
    local: Option<&'a [usize]>,
    build_ms: f64,
    wall: Option<Summary>,
    kernels: Option<Summary>,
    /// Whether the result equals the reference; `null` without `--verify`.
    passed: Option<bool>,
    check: &'a str,
    buffers: Vec<BufferInfo<'a>>,
    log: &'a str,
}

#[derive(Serialize)]
struct BufferInfo<'a> {
    name: &'a str,
    elements: usize,
    changed: bool,
    first: Vec<String>,
}

/// A buffer before and after the launch.
struct Traced<'a> {
    name: &'a str,
    value: &'a Value,
    after: Vec<u8>,
}

impl Traced<'_> {
    fn changed(&self) -> bool {
        matches!(self.value, Value::Buffer { bytes, .. } if *bytes != self.after)
    }

    fn show(&self, count: usize) -> Vec<String> {
        let Value::Buffer { element, .. } = self.value else { return Vec::new() };
        self.after.chunks_exact(element.bytes()).take(count).map(|b| element.show(b)).collect()
    }
}

/// Runs a kernel of a file.
pub fn run(options: &Options, path: &Path) -> Result<Answer, Failure> {
    // First, because this may start the program again, which could not read the standard input a second time.
    let choice = driver::choose(options.choice())?;
    let text = source::read(path)?;
    let compiler = Compiler::new(Config::default());
    let build_options = options.build.text();
    // Cloom's front end says what the parameters are, whatever platform runs the kernel.
    let compiled = text.build(&compiler, &build_options, &cpu::target(None)?);
    let program = compiled.result.map_err(|kind| match kind {
        BuildFailure::Options => Failure::wrong(&compiled.log),
        BuildFailure::Program => Failure::finding(&compiled.log),
    })?;
    let (kernel, meta) = choose(&program, options.kernel.as_deref())?;
    let values = argument::read(kernel, meta, &options.args)?;
    let (global, local) = range(options, meta, &values);
    let expected = if options.verify {
        Some(reference::run(&compiler, &program, (kernel, meta), &values, &global, local.as_ref())?)
    } else {
        None
    };

    supervise::note(options, &format!("building {}", text.name));
    let session = Session::open(&choice)?;
    let built = match text.is_spirv() {
        true => session.build_il(&text.name, &text.bytes, &build_options)?,
        false => session.build(&text.name, &String::from_utf8_lossy(&text.bytes), &build_options)?,
    };
    let code = built.kernel(kernel)?;
    let (buffers, args) = upload(&session, &values)?;
    let local_sizes = local.as_ref().map_or(&[][..], |l| &l.0);
    supervise::note(options, &format!("kernel `{kernel}` of {}", text.name));
    session.launch(&code, &args, &global.0, local_sizes)?;
    let mut after = Vec::new();
    for buffer in &buffers {
        after.push(session.read(buffer)?);
    }
    let (passed, check) = compare(expected.as_ref(), &after, &values, meta);

    let exit = if passed == Some(false) { Exit::Findings } else { Exit::Fine };
    let times = if exit == Exit::Fine {
        // Over the results of the runs before; the time of a kernel seldom depends on them.
        session.measure(options.iterations, |_| session.launch(&code, &args, &global.0, local_sizes).map(|()| true))?
    } else {
        cloom_gallery::Times::default()
    };
    supervise::note(options, &format!("after kernel `{kernel}` of {}", text.name));
    let names = meta.params.iter().zip(&values).filter(|(_, v)| v.elements().is_some());
    let traced: Vec<Traced<'_>> =
        names.zip(after).map(|((p, value), after)| Traced { name: &p.name, value, after }).collect();
    if let Some(path) = &options.output {
        save(path, &traced, &global)?;
    }
    let document = Document {
        schema: "cloom-run-file/1",
        kernel,
        platform: &session.found.platform,
        device: &session.found.device,
        global: &global.0,
        local: local.as_ref().map(|l| l.0.as_slice()),
        build_ms: built.time.as_secs_f64() * 1e3,
        wall: Summary::of(&times.wall),
        kernels: Summary::of(&times.device),
        passed,
        check: &check,
        buffers: traced
            .iter()
            .map(|t| BufferInfo {
                name: t.name,
                elements: t.value.elements().unwrap_or(0),
                changed: t.changed(),
                first: t.show(options.print),
            })
            .collect(),
        log: built.log.trim(),
    };
    if options.json { Answer::json(&document, exit) } else { Ok(Answer::text(human(&document, options), exit)) }
}

fn choose<'p>(program: &'p Program, wanted: Option<&str>) -> Result<(&'p str, &'p KernelMeta), Failure> {
    let all: Vec<(&str, &KernelMeta)> = program.kernels().collect();
    let names = || all.iter().map(|k| k.0).collect::<Vec<_>>().join(", ");
    match (wanted, all.as_slice()) {
        (_, []) => Err(Failure::wrong("the source has no kernel")),
        (None, [one]) => Ok(*one),
        (None, _) => Err(Failure::wrong(format!("choose one of the kernels with -k: {}", names()))),
        (Some(k), _) => all
            .iter()
            .copied()
            .find(|(name, _)| *name == k)
            .ok_or_else(|| Failure::wrong(format!("there is no kernel `{k}`; there are: {}", names()))),
    }
}

/// Global and local sizes, by the rules in the help text.
fn range(options: &Options, meta: &KernelMeta, values: &[Value]) -> (Sizes, Option<Sizes>) {
    let global = match (&options.global, options.size) {
        (Some(sizes), _) => sizes.clone(),
        (None, Some((w, h))) => Sizes(vec![w, h]),
        (None, None) => Sizes(vec![values.iter().find_map(Value::elements).unwrap_or(1).max(1)]),
    };
    let dims = global.0.len();
    let tile = match (options.tile_w.or(options.tile_size), options.tile_h.or(options.tile_size)) {
        (None, None) => None,
        (w, h) => {
            let mut tile = vec![w.unwrap_or(1), h.unwrap_or(1), 1];
            tile.truncate(dims);
            Some(Sizes(tile))
        }
    };
    let required = meta.reqd_group_size.map(|r| Sizes(r.iter().take(dims).map(|&n| n as usize).collect()));
    (global, options.local.clone().or(tile).or(required))
}

fn upload(session: &Session, values: &[Value]) -> Result<(Vec<Buffer<u8>>, Vec<Arg>), Failure> {
    let (mut buffers, mut args) = (Vec::new(), Vec::new());
    for value in values {
        args.push(match value {
            Value::Buffer { bytes, .. } => {
                let buffer = session.upload(bytes)?;
                let arg = Arg::from(&buffer);
                buffers.push(buffer);
                arg
            }
            Value::Local(bytes) => Arg::Local(*bytes),
            Value::Bytes(bytes) => Arg::value(bytes)
                .ok_or_else(|| Failure::wrong("a structure of more than 128 bytes cannot be passed yet"))?,
        });
    }
    Ok((buffers, args))
}

/// Compares every byte that the reference defines; says where the first difference is.
fn compare(
    expected: Option<&Reference>,
    got: &[Vec<u8>],
    values: &[Value],
    meta: &KernelMeta,
) -> (Option<bool>, String) {
    let Some(expected) = expected else { return (None, "not asked for; --verify compares with the reference".into()) };
    let params = meta.params.iter().zip(values).filter_map(|(p, v)| match v {
        Value::Buffer { element, .. } => Some((&p.name, *element)),
        _ => None,
    });
    let (mut elements, mut undefined) = (0, 0);
    let mut first_undefined = None;
    for (n, (((name, element), want), got)) in params.zip(&expected.buffers).zip(got).enumerate() {
        let size = element.bytes();
        let flags = expected.undefined.as_ref().map(|u| &u.bytes[n]);
        for (i, (want, got)) in want.chunks(size).zip(got.chunks(size)).enumerate() {
            let is_undefined = flags.is_some_and(|f| f[i * size..i * size + want.len()].contains(&true));
            if is_undefined {
                undefined += 1;
                first_undefined.get_or_insert_with(|| format!("{name}[{i}]"));
            } else if want != got {
                let show = |b: &[u8]| if b.len() == size { element.show(b) } else { format!("{b:02x?}") };
                return (Some(false), format!("{name}[{i}] is {}, the reference has {}", show(got), show(want)));
            }
            elements += 1;
        }
    }
    match (first_undefined, &expected.undefined) {
        (Some(first), Some(Undefined { place, .. })) => {
            let others = if undefined > 1 { format!(" and {} more have", undefined - 1) } else { " has".into() };
            let why = "the kernel reads memory that nothing has written (a private variable, an array or local memory)";
            (Some(false), format!("{first}{others} no defined value: {why}, {place}"))
        }
        _ => (Some(true), format!("all {elements} elements equal the reference interpreter's")),
    }
}

/// Writes the first buffer that changed.
fn save(path: &Path, traced: &[Traced<'_>], global: &Sizes) -> Result<(), Failure> {
    let Some(buffer) = traced.iter().find(|t| t.changed()) else {
        return Err(Failure::wrong("no buffer changed, so there is nothing to write to --output"));
    };
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("png")) {
        let &[width, height] = global.0.as_slice() else {
            return Err(Failure::wrong(
                "a picture needs two dimensions: give --global WxH, or an --output that is no .png",
            ));
        };
        let pixels: Vec<u32> = buffer
            .after
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .take(width * height)
            .collect();
        if pixels.len() < width * height {
            let why = format!(
                "{} has not 4 bytes for each of {global} pixels; give an --output that is no .png",
                buffer.name
            );
            return Err(Failure::wrong(why));
        }
        return Ok(Picture { width, height, pixels }.save(path)?);
    }
    std::fs::write(path, &buffer.after)
        .map_err(|e| Failure::wrong(format!("cannot write {}: {e}; choose another file with --output", path.display())))
}

fn human(d: &Document<'_>, options: &Options) -> String {
    let mut text = String::new();
    let shape = |s: &[usize]| Sizes(s.to_vec()).to_string();
    let groups =
        d.local.map_or_else(|| "groups of the platform's choice".into(), |l| format!("groups of {}", shape(l)));
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "{}, {} work-items, {groups}", d.kernel, shape(d.global));
    let mut row = |title: &str, value: &str| {
        let _ = writeln!(text, "  {title:<10}{value}");
    };
    row("device", &format!("{}, {}", d.platform, d.device));
    match d.passed {
        Some(true) => row("check", &format!("passed: {}", d.check)),
        Some(false) => row("check", &format!("FAILED: {}", d.check)),
        None => row("check", d.check),
    }
    row("build", &stats::time(d.build_ms));
    if let Some(wall) = d.wall {
        row("launch", &wall.to_string());
    }
    if let Some(kernels) = d.kernels.filter(|k| k.median_ms > 0.0) {
        row("kernel", &kernels.to_string());
    }
    for b in d.buffers.iter().filter(|b| b.changed && options.print > 0) {
        let more = if b.elements > b.first.len() { " …" } else { "" };
        row(b.name, &format!("{}{more}", b.first.join(" ")));
    }
    if d.buffers.iter().all(|b| !b.changed) && !d.buffers.is_empty() {
        row("buffers", "none changed");
    }
    if let Some(path) = &options.output {
        row("written", &path.display().to_string());
    }
    text
}
