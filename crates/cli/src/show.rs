//! `show`: prints one kernel after every stage of compilation: source, IR, linked with built-in functions, after each
//! pass, work-group function, LLVM IR before and after optimisation, assembly. It also prints the vectoriser's remarks
//! and the time of each stage in a process that compiles for the first time and uses no cache.

mod decision;

use crate::compile;
use crate::cpu;
use crate::options::BuildOptions;
use crate::outcome::{Answer, Exit, Failure};
use crate::source::{self, Text};
use crate::stats;
use cloom_caps::image::ImageFormat;
use cloom_compiler::decisions::Decision;
use cloom_compiler::passes::Statistics;
use cloom_compiler::{
    ArgState, ArgStates, BoundsChecks, Compiler, Failure as BuildFailure, Program, SpecializationKey, Stage, Timing,
    Variant,
};
use cloom_gallery::Params;
use cloom_hal::Device;
use cloom_ir::ParamKind;
use cloom_target::Target;
use decision::DecisionInfo;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Options of `show`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cloom show kernel.cl                          every stage of the file's only kernel
  cloom show kernels.cl -k blur -DRADIUS=3 --stage spmd --stage asm
  cloom show transpose -v ocl --row 8           as launches in groups of 8 by 8 get it
  cloom show sampler -v linear --format R,FLOAT as launches with such images get it
  cloom show mandel --time                      a kernel of the gallery, times only
Stages: source, ir, library, the passes, spmd, llvm, llvm-optimised, asm, passes, remarks.")]
pub struct Options {
    /// A .cl file (- is the standard input), or the name of a program of the gallery
    #[arg(value_name = "FILE|PROGRAM")]
    what: Option<String>,
    /// The kernel; without a file, the program of the gallery
    #[arg(short, long, value_name = "NAME")]
    kernel: Option<String>,
    /// The variant of a program of the gallery
    #[arg(short, long, value_name = "NAME", default_value = "")]
    variant: String,
    /// The knobs of a program of the gallery
    #[arg(short, long, value_name = "KEY=VALUE,…", default_value = "")]
    config: String,
    /// Print only this stage; may be repeated
    #[arg(long, value_name = "NAME")]
    stage: Vec<String>,
    /// Print only the time of each stage, unless --stage is given too
    #[arg(long)]
    time: bool,
    /// The instruction set: sse4.2, avx2, avx512, or a GPU such as sm_90; that of this machine if none is named
    #[arg(long, value_name = "LEVEL")]
    cpu: Option<String>,
    /// The code variant for groups whose rows have N work-items, if the kernel has several variants
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    row: Option<u64>,
    /// The code that checks its accesses, as under CLOOM_SAFE=1
    #[arg(long)]
    safe: bool,
    /// The format of the images that the kernel is given
    #[arg(long, value_name = "ORDER,TYPE", default_value = "RGBA,UNORM_INT8")]
    format: ImageFormat,
    #[command(flatten)]
    build: BuildOptions,
    /// JSON output
    #[arg(long)]
    pub json: bool,
}

/// The source and kernel to show.
struct Subject {
    text: Text,
    options: String,
    kernel: Option<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    kernel: &'a str,
    target: &'a str,
    options: &'a str,
    /// Work-items in a vector.
    lanes: u16,
    log: &'a str,
    stages: Vec<StageInfo<'a>>,
    remarks: Vec<DecisionInfo>,
    /// The stages of a first build in a process, in order.
    times: Vec<TimeInfo<'a>>,
    /// The whole time, including what is between the stages.
    total_ms: f64,
}

#[derive(Serialize)]
struct TimeInfo<'a> {
    stage: &'a str,
    ms: f64,
}

#[derive(Serialize)]
struct StageInfo<'a> {
    name: &'a str,
    text: &'a str,
}

fn subject(options: &Options) -> Result<Subject, Failure> {
    let is_file = |what: &str| what == "-" || what.ends_with(".cl") || Path::new(what).is_file();
    match (&options.what, &options.kernel) {
        (Some(what), kernel) if is_file(what) => {
            let text = source::read(Path::new(what))?;
            Ok(Subject { text, options: options.build.text(), kernel: kernel.clone() })
        }
        (Some(name), kernel) | (None, kernel @ Some(name)) => {
            let program =
                cloom_gallery::program(name).map_err(|e| Failure::wrong(format!("{e}; or give a .cl file")))?;
            let params =
                Params { variant: options.variant.clone(), config: options.config.clone(), ..Params::default() };
            program.variant(&params)?;
            let (mut text, default) = program.build_options(&params)?;
            if !options.build.is_empty() {
                text = format!("{text} {}", options.build.text());
            }
            // Without a file, `-k mandel` has named the program; its kernel is then the program's own choice.
            let kernel = kernel.clone().filter(|k| k != name).unwrap_or(default);
            let file = Text { name: format!("{name}.cl"), bytes: program.source(&params).as_bytes().to_vec() };
            Ok(Subject { text: file, options: text, kernel: Some(kernel) })
        }
        (None, None) => Err(Failure::wrong("name a .cl file or a program of the gallery; `cloom run -lk` lists those")),
    }
}

/// All images have this format. Samplers that are arguments stay open.
fn states(program: &Program, kernel: &str, format: ImageFormat) -> ArgStates {
    let meta = program.kernels().find(|(name, _)| *name == kernel).map(|(_, meta)| meta);
    let params = meta.into_iter().flat_map(|meta| &meta.params).zip(0..);
    let images = params.filter(|(param, _)| param.kind == ParamKind::Image);
    let ImageFormat { order, channel_type } = format;
    let state = ArgState::Image { order, channel_type, is_large: false, is_column: false, has_texture: true };
    images.map(|(_, i)| (i, state)).collect()
}

/// The source as it is shown.
fn source_text(text: &Text) -> String {
    match text.is_spirv() {
        true => format!("SPIR-V of {} bytes: spirv-dis shows it\n", text.bytes.len()),
        false => String::from_utf8_lossy(&text.bytes).into_owned(),
    }
}

/// Runs `show`.
pub fn run(options: &Options) -> Result<Answer, Failure> {
    let target = cpu::target(options.cpu.as_deref())?;
    let subject = subject(options)?;
    let compiler = compile::compiler();
    let start = Instant::now();
    let built = subject.text.build(&compiler, &subject.options, &target);
    let front = start.elapsed();
    let program = built.result.map_err(|kind| match kind {
        BuildFailure::Options => Failure::wrong(&built.log),
        BuildFailure::Program => Failure::finding(&built.log),
    })?;
    let kernel = choose(&program, subject.kernel.as_deref())?;
    let finding = |e: cloom_compiler::CompileError| Failure::finding(format!("{kernel}: {e}"));
    // Before `stages`, which compiles the same kernel with all texts: LLVM starts once in a process, and `--time` shall
    // show what that takes.
    let (code, mut total) = first_code(&compiler, &program, &kernel, &target)?;
    total += front;
    let times: Vec<Timing> = built.times.into_iter().chain(code).collect();
    let variant = options.row.map_or(Variant::Vector, Variant::of_row);
    let mut key = SpecializationKey::from(variant);
    key.states = states(&program, &kernel, options.format);
    key.bounds_checks = if options.safe { BoundsChecks::Silent } else { BoundsChecks::Off };
    let shown = compiler.stages(&program, &kernel, &target, key).map_err(finding)?;
    let (lanes, long) = shown.artifact.cpu().map_or((1, None), |cpu| (cpu.lanes, cpu.long_row_width));

    let mut stages = vec![Stage { name: "source".into(), text: source_text(&subject.text) }];
    stages.extend(shown.stages);
    stages.push(Stage { name: "passes".into(), text: passes(&shown.statistics) });
    // Remarks have positions with the number of a file; the names are those of the module with the library in it.
    let files = compiler.linked(&program, &kernel).map_err(finding)?.files;
    let place = |d: &Decision| cloom_compiler::place(&files, d.span).unwrap_or_else(|| kernel.clone());

    if options.json {
        let stages = stages.iter().map(|s| StageInfo { name: &s.name, text: &s.text }).collect();
        let document = Document {
            schema: "cloom-show/1",
            kernel: &kernel,
            target: target.name(),
            options: &subject.options,
            lanes,
            log: &built.log,
            stages,
            remarks: shown.decisions.iter().map(|d| DecisionInfo::new(d, place(d))).collect(),
            times: times.iter().map(|t| TimeInfo { stage: &t.stage, ms: ms(t.time) }).collect(),
            total_ms: ms(total),
        };
        return Answer::json(&document, Exit::Fine);
    }
    let mut out = String::new();
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(out, "kernel {kernel} of {}, for {target}", subject.text.name);
    if !subject.options.is_empty() {
        let _ = writeln!(out, "options {}", subject.options);
    }
    let _ = match (lanes, long) {
        // A GPU forms its vectors itself: its artifact has no lanes, which counts as one.
        (0 | 1, _) => writeln!(out, "one work-item at a time"),
        (lanes, Some(long)) if lanes != long => {
            writeln!(out, "{lanes} work-items at a time; {long} where rows of groups are long (--row)")
        }
        (lanes, _) => writeln!(out, "{lanes} work-items at a time"),
    };
    if !options.time || !options.stage.is_empty() {
        let remarks = cloom_compiler::with_remarks(&shown.decisions, &files).into_iter();
        let remarks: Vec<String> = remarks.map(|(d, remark)| format!("{}: {remark}", place(d))).collect();
        texts(&mut out, &stages, &remarks, &options.stage)?;
    }
    if options.time {
        table(&mut out, &times, total);
    }
    Ok(Answer::text(out, Exit::Fine).with_notes(built.log))
}

/// The kernel asked for, or the only one.
fn choose(program: &Program, wanted: Option<&str>) -> Result<String, Failure> {
    let all: Vec<&str> = program.kernels().map(|(name, _)| name).collect();
    match (wanted, all.as_slice()) {
        (_, []) => Err(Failure::wrong("the source has no kernel")),
        (None, [one]) => Ok((*one).to_owned()),
        (None, _) => Err(Failure::wrong(format!("choose one of the kernels with -k: {}", all.join(", ")))),
        // Also that of a block, which `--stage ir` names.
        (Some(k), _) if program.all_kernels().any(|(name, _)| name == k) => Ok(k.to_owned()),
        (Some(k), _) => Err(Failure::wrong(format!("there is no kernel `{k}`; there are: {}", all.join(", ")))),
    }
}

/// Compiles the kernel as a program gets it, and loads the code if this machine can run it: the times of the stages,
/// and of all.
fn first_code(
    compiler: &Arc<Compiler>,
    program: &Arc<Program>,
    kernel: &str,
    target: &Target,
) -> Result<(Vec<Timing>, Duration), Failure> {
    let start = Instant::now();
    let executable = compiler.executable(program, target);
    let built = executable.kernel(kernel, Variant::Vector).map_err(|e| Failure::finding(format!("{kernel}: {e}")))?;
    let total = start.elapsed();
    let mut times = built.times.clone();
    let device = cloom_hal_cpu::CpuDevice::new(1, None);
    let start = Instant::now();
    // Code for another machine (`--cpu`) is refused here; then there is no time for it.
    if device.load(built.artifact.clone(), None).is_ok() {
        times.push(Timing { stage: "load".into(), time: start.elapsed() });
    }
    Ok((times, total + start.elapsed()))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A description of a stage.
fn about(name: &str) -> &str {
    match name {
        "source" => "as it was written",
        "ir" => "what the front end made of it",
        "library" => "with the built-in functions that it calls",
        "spmd" => "the function that runs a work-group",
        "llvm" => "as LLVM gets it",
        "llvm-optimised" => "after LLVM's optimiser",
        "asm" => "machine code",
        "passes" => "what each pass changed, in how many runs and how long",
        _ => cloom_compiler::passes::all().into_iter().find(|id| id.name == name).map_or("", |id| id.about),
    }
}

/// A line for each pass.
fn passes(statistics: &Statistics) -> String {
    let mut out = String::new();
    for s in statistics.iter() {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{:<18}{:>8} changes in {:>4} runs{:>12}",
            s.id.name,
            s.changes,
            s.runs,
            stats::time(ms(s.time))
        );
    }
    out
}

fn texts(out: &mut String, stages: &[Stage], remarks: &[String], wanted: &[String]) -> Result<(), Failure> {
    let mut names: Vec<&str> = Vec::new();
    // A stage may come several times, as passes run several times; it is named once. Remarks are no stage, and are
    // asked for like one.
    for name in stages.iter().map(|s| s.name.as_str()).chain(["remarks"]) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if let Some(unknown) = wanted.iter().find(|w| !names.contains(&w.as_str())) {
        return Err(Failure::wrong(format!("there is no stage `{unknown}`; there are: {}", names.join(", "))));
    }
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    let mut before = "";
    for stage in stages {
        if is_wanted(&stage.name) {
            let _ = writeln!(out, "\n──── {}: {} ────", stage.name, about(&stage.name));
            // Most passes change nothing in most kernels; the same text again would hide those that do.
            if stage.text == before {
                out.push_str("(as before)\n");
            } else {
                out.push_str(stage.text.trim_end());
                out.push('\n');
            }
        }
        before = &stage.text;
    }
    if is_wanted("remarks") {
        out.push_str("\n──── remarks: what was decided for the work-items, and why ────\n");
        for r in remarks {
            let _ = writeln!(out, "{r}");
        }
        if remarks.is_empty() {
            out.push_str("none: no barrier, no branch that differs between work-items\n");
        }
    }
    Ok(())
}

/// The time of each stage; passes that run more than once are added up.
fn table(out: &mut String, times: &[Timing], total: Duration) {
    let mut rows: Vec<(&str, Duration)> = Vec::new();
    for Timing { stage, time } in times {
        match rows.iter_mut().find(|(name, _)| name == stage) {
            Some((_, sum)) => *sum += *time,
            None => rows.push((stage, *time)),
        }
    }
    out.push('\n');
    let mut row = |name: &str, time: Duration, about: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{name:<16}{:>12}  {about}", stats::time(ms(time)));
    };
    for (name, time) in rows {
        row(name, time, what(name));
    }
    row("all", total, "source to loaded code in a process that compiles for the first time");
}

/// What a stage of the time table does.
fn what(stage: &str) -> &str {
    match stage {
        "preprocess" => "macros, included files",
        "parse" => "tokens to a syntax tree",
        "sema" => "types, overloads, constants",
        "lower" => "typed tree to ir",
        "verify" => "the front end's ir is valid",
        "extract" => "the kernel and what it calls",
        "cache" => "looked for on disk",
        "library" => "built-in functions read and linked",
        "callees" => "functions that the kernel calls, inlined and cleaned up",
        "llvm start" => "waiting for LLVM's first use, a thread",
        "llvm target" => "tables of instruction selection",
        "llvm ir" => "work-group function to LLVM's ir",
        "llvm passes" => "LLVM's optimiser",
        "llvm codegen" => "LLVM's ir to an object",
        "load" => "object to executable memory",
        _ => about(stage),
    }
}
