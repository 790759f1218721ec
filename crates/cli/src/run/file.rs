//! `run` with a `.cl` file: builds the source on the chosen platform, passes the arguments that the command line
//! describes, prints the buffers that changed, and with `--verify` compares them with the result of the reference
//! interpreter.

use super::argument::Value;
use super::kernel::{Compiled, Job, Launched, Marks};
use super::save::{self, Memory};
use super::shape::Sizes;
use super::{Options, reference, supervise};
use crate::driver;
use crate::outcome::{Answer, Exit, Failure};
use crate::stats::{self, Summary};
use cloom_gallery::Session;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    kernel: &'a str,
    platform: &'a str,
    device: &'a str,
    global: &'a [usize],
    local: Option<&'a [usize]>,
    build_ms: f64,
    /// The first launch, with what is compiled for it.
    first_ms: f64,
    /// Building, and what the first launch took longer than the later ones.
    compile_ms: Option<f64>,
    /// Building and all launches.
    total_ms: f64,
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

/// The name of an element: of a pixel by its coordinates.
fn place(name: &str, value: &Value, index: usize) -> String {
    let size = if let Value::Image(image) = value { image.size.as_slice() } else { &[] };
    let mut rest = index;
    let coordinates = size.iter().map(|&side| {
        let at = rest % side;
        rest /= side;
        at.to_string()
    });
    let coordinates: Vec<String> = coordinates.collect();
    if coordinates.is_empty() { format!("{name}[{index}]") } else { format!("{name}[{}]", coordinates.join(", ")) }
}

/// An element or a pixel as text.
fn element(value: &Value, bytes: &[u8]) -> String {
    match value {
        Value::Buffer { layout, .. } => layout.show(bytes),
        Value::Image(image) => {
            let parts: Vec<String> = image.format.stored(bytes).iter().map(|v| format!("{v:.4}")).collect();
            let parts: Vec<&str> = parts.iter().map(|p| p.trim_end_matches('0').trim_end_matches('.')).collect();
            format!("({})", parts.join(", "))
        }
        _ => String::new(),
    }
}

/// Elements or pixels, and the first of them as text.
fn shown(memory: &Memory<'_>, count: usize) -> (usize, Vec<String>) {
    let size = memory.value.element_bytes();
    let first = memory.bytes.chunks_exact(size).take(count).map(|b| element(memory.value, b)).collect();
    (memory.bytes.len() / size, first)
}

/// Runs a kernel of a file.
pub fn run(options: &Options, path: &Path) -> Result<Answer, Failure> {
    // First, because this may start the program again, which could not read the standard input a second time.
    let choice = driver::choose(options.choice())?;
    if let Some(path) = &options.output {
        save::check(path)?;
    }
    supervise::note(options, "compiling the source", "");
    let marks = if options.verify { Marks::ForChecker } else { Marks::None };
    let compiled = Compiled::read(path, &options.file_kernel.build, marks)?;
    let job = Job::new(&compiled, options.kernel.as_deref(), &options.file_kernel, options.tiles())?;
    // The interpreter runs before a device is opened: a kernel that is wrong ends here, and never runs as machine code.
    let expected = if options.verify {
        supervise::note(options, &format!("kernel `{}` on the reference interpreter", job.kernel), &job.why_endless());
        Some(reference::run(&compiled, &job)?)
    } else {
        None
    };
    let session = Session::open(&choice)?;
    let iterations = options.iterations_of_file(&job);
    let mut noted = std::time::Instant::now();
    let mut last = String::new();
    let launched = job.launch(&session, iterations, |doing| {
        // Each launch of many is noted only now and then: that takes longer than a short kernel.
        let again = doing.contains(", launch ") && last.contains(", launch ");
        if !again || noted.elapsed() > Duration::from_millis(100) {
            supervise::note(options, doing, &job.why_endless());
            (noted, last) = (std::time::Instant::now(), doing.to_owned());
        }
    })?;
    let (passed, check) = compare(expected.as_deref(), &launched.after, &job);
    let exit = if passed == Some(false) { Exit::Findings } else { Exit::Fine };
    let traced: Vec<(Memory<'_>, bool)> = job
        .memory()
        .zip(&launched.after)
        .map(|((name, value, before), after)| (Memory { name, value, bytes: after }, before != after))
        .collect();
    let mut notes = Vec::new();
    if let Some(path) = &options.output {
        let Some((memory, _)) = traced.iter().find(|(_, changed)| *changed) else {
            return Err(Failure::wrong("no buffer changed, so there is nothing to write to --output"));
        };
        notes.extend(save::save(path, memory, &job.global, options.range)?);
    }
    if job.prints {
        notes.push("launched once, because the kernel prints; -i N launches it N times more".into());
    }
    let document = document(&job, &session, &launched, (passed, &check), &traced, options.print);
    if options.json {
        return Answer::json(&document, exit);
    }
    Ok(Answer::text(human(&document, options, &notes), exit))
}

fn document<'a>(
    job: &'a Job,
    session: &'a Session,
    launched: &'a Launched,
    (passed, check): (Option<bool>, &'a str),
    traced: &[(Memory<'a>, bool)],
    print: usize,
) -> Document<'a> {
    let ms = |t: Duration| t.as_secs_f64() * 1e3;
    // A wrong result has no times.
    let right = passed != Some(false);
    let wall = Summary::of(&launched.times.wall).filter(|_| right);
    let own = [launched.first_kernel];
    // A kernel that prints is launched once: then the first launch is all that there is.
    let kernels = if launched.times.device.is_empty() { &own[..] } else { &launched.times.device };
    Document {
        schema: "cloom-run-file/1",
        kernel: &job.kernel,
        platform: &session.found.platform,
        device: &session.found.device,
        global: &job.global.0,
        local: job.local.as_ref().map(|l| l.0.as_slice()),
        build_ms: ms(launched.build),
        first_ms: ms(launched.first),
        compile_ms: wall.map(|w| ms(launched.build) + (ms(launched.first) - w.median_ms).max(0.0)),
        total_ms: ms(launched.build + launched.first + launched.times.wall.iter().sum::<Duration>()),
        wall,
        kernels: Summary::of(kernels).filter(|_| right),
        passed,
        check,
        buffers: traced
            .iter()
            .map(|(memory, changed)| {
                let (elements, first) = shown(memory, print);
                BufferInfo { name: memory.name, elements, changed: *changed, first }
            })
            .collect(),
        log: launched.log.trim(),
    }
}

/// Compares every byte; says where the first difference is.
fn compare(expected: Option<&[Vec<u8>]>, got: &[Vec<u8>], job: &Job) -> (Option<bool>, String) {
    let Some(expected) = expected else { return (None, "not asked for; --verify compares with the reference".into()) };
    let mut elements = 0;
    for (((name, value, _), want), got) in job.memory().zip(expected).zip(got) {
        let size = value.element_bytes();
        for (i, (want, got)) in want.chunks(size).zip(got.chunks(size)).enumerate() {
            if want != got {
                let show = |b: &[u8]| if b.len() == size { element(value, b) } else { format!("{b:02x?}") };
                let place = place(name, value, i);
                return (Some(false), format!("{place} is {}, the reference has {}", show(got), show(want)));
            }
            elements += 1;
        }
    }
    match elements {
        1 => (Some(true), "the element equals the reference interpreter's".into()),
        _ => (Some(true), format!("all {elements} elements equal the reference interpreter's")),
    }
}

fn human(d: &Document<'_>, options: &Options, notes: &[String]) -> String {
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
    if d.passed != Some(false) {
        row("first", &format!("{}, the first launch", stats::time(d.first_ms)));
    }
    if let Some(compile) = d.compile_ms {
        row("compile", &format!("{}: the build, and what the first launch took longer", stats::time(compile)));
    }
    if let Some(wall) = d.wall {
        row("launch", &wall.to_string());
    }
    if let Some(kernels) = d.kernels.filter(|k| k.median_ms > 0.0) {
        row("kernel", &kernels.to_string());
    }
    row("total", &stats::time(d.total_ms));
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
    for note in notes {
        row("", note);
    }
    text
}
