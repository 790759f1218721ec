//! `show`: what becomes of one kernel, stage by stage: source, IR, linked with the built-in functions, after each pass, work-group
//! function, LLVM's code before and after its optimiser, assembly; with the vectoriser's remarks and the time of each stage.

use crate::cpu;
use crate::options::BuildOptions;
use crate::outcome::{Answer, Exit, Failure};
use crate::source::{self, Text};
use crate::stats;
use cloom_compiler::{Compiler, Config, Failure as BuildFailure, Program, Source, Stage};
use cloom_gallery::Params;
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
  cloom show mandel --time                      a kernel of the gallery, times only
Stages: source, ir, library, the passes, spmd, llvm, llvm-optimised, asm, remarks.")]
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
    /// Only this stage; may be repeated
    #[arg(long, value_name = "NAME")]
    stage: Vec<String>,
    /// Only how long each stage took, unless --stage names texts too
    #[arg(long)]
    time: bool,
    /// The instructions that code may use: sse4.2, avx2, avx512; what this machine has if none are named
    #[arg(long, value_name = "LEVEL")]
    cpu: Option<String>,
    #[command(flatten)]
    build: BuildOptions,
    /// For programs to read
    #[arg(long)]
    pub json: bool,
}

/// What is shown.
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
    log: &'a str,
    stages: Vec<StageInfo<'a>>,
    remarks: Vec<RemarkInfo>,
    /// Front end and machine code as a program gets them, no texts kept.
    total_ms: f64,
}

#[derive(Serialize)]
struct StageInfo<'a> {
    name: &'a str,
    ms: f64,
    text: &'a str,
}

#[derive(Serialize)]
struct RemarkInfo {
    place: String,
    what: String,
    why: String,
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
            let kernel = kernel.clone().filter(|k| k != name).unwrap_or(default);
            let file = Text { name: format!("{name}.cl"), bytes: program.source().as_bytes().to_vec() };
            Ok(Subject { text: file, options: text, kernel: Some(kernel) })
        }
        (None, None) => Err(Failure::wrong("name a .cl file or a program of the gallery; `cloom run -lk` lists those")),
    }
}

/// Runs `show`.
pub fn run(options: &Options) -> Result<Answer, Failure> {
    let target = cpu::target(options.cpu.as_deref())?;
    let subject = subject(options)?;
    let compiler = Compiler::new(Config::default());
    let source = Source { name: &subject.text.name, text: &subject.text.bytes };
    let start = Instant::now();
    let built = compiler.build(&source, &subject.options);
    let front = start.elapsed();
    let program = built.result.map_err(|kind| match kind {
        BuildFailure::Options => Failure::wrong(&built.log),
        BuildFailure::Program => Failure::finding(&built.log),
    })?;
    let kernel = choose(&program, subject.kernel.as_deref())?;
    let finding = |e: cloom_compiler::CompileError| Failure::finding(format!("{kernel}: {e}"));
    let shown = compiler.stages(&program, &kernel, &target).map_err(finding)?;
    let total = front + uncached(&compiler, &program, &kernel, &target)?;

    let mut stages = vec![Stage {
        name: "source".into(),
        time: Duration::ZERO,
        text: String::from_utf8_lossy(&subject.text.bytes).into_owned(),
    }];
    stages.extend(shown.stages);
    if let Some(ir) = stages.iter_mut().find(|s| s.name == "ir") {
        ir.time += front;
    }
    let files = compiler.linked(&program, &kernel).map_err(finding)?.files;
    let remarks: Vec<RemarkInfo> = shown
        .remarks
        .into_iter()
        .map(|r| {
            let file = files.get(usize::from(r.span.file)).map_or("", String::as_str);
            let place = match r.span {
                cloom_ir::Span::NONE => kernel.clone(),
                span => format!("{file}:{}:{}", span.line, span.col),
            };
            RemarkInfo { place, what: r.what, why: r.why }
        })
        .collect();

    if options.json {
        let stages = stages.iter().map(|s| StageInfo { name: &s.name, ms: ms(s.time), text: &s.text }).collect();
        let document = Document {
            schema: "cloom-show/1",
            kernel: &kernel,
            target: &target,
            options: &subject.options,
            log: &built.log,
            stages,
            remarks,
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
    if !options.time || !options.stage.is_empty() {
        texts(&mut out, &stages, &remarks, &options.stage)?;
    }
    if options.time {
        times(&mut out, &stages, total);
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
        (Some(k), _) if all.contains(&k) => Ok(k.to_owned()),
        (Some(k), _) => Err(Failure::wrong(format!("there is no kernel `{k}`; there are: {}", all.join(", ")))),
    }
}

/// How long the machine code takes when nobody watches; the built-in library is compiled by then, as in any later build of a process.
fn uncached(compiler: &Arc<Compiler>, program: &Arc<Program>, kernel: &str, target: &str) -> Result<Duration, Failure> {
    let start = Instant::now();
    let executable = compiler.executable(program, target);
    executable.kernel(kernel).map_err(|e| Failure::finding(format!("{kernel}: {e}")))?;
    Ok(start.elapsed())
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// What a stage is.
fn about(name: &str) -> &str {
    match name {
        "source" => "as it was written",
        "ir" => "what the front end made of it",
        "library" => "with the built-in functions that it calls",
        "spmd" => "the function that runs a work-group",
        "llvm" => "as LLVM gets it",
        "llvm-optimised" => "after LLVM's optimiser",
        "asm" => "machine code",
        "inline" => "calls replaced by what they call",
        _ => cloom_passes::pass(name).map_or("", |p| p.about),
    }
}

fn texts(out: &mut String, stages: &[Stage], remarks: &[RemarkInfo], wanted: &[String]) -> Result<(), Failure> {
    let mut names: Vec<&str> = Vec::new();
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
            let _ = writeln!(out, "{}: {}: {}", r.place, r.what, r.why);
        }
        if remarks.is_empty() {
            out.push_str("none: no barrier, no branch that differs between work-items\n");
        }
    }
    Ok(())
}

fn times(out: &mut String, stages: &[Stage], total: Duration) {
    out.push('\n');
    // LLVM is measured as one; its texts are kept apart.
    let is_llvm = |name: &str| matches!(name, "llvm" | "llvm-optimised" | "asm");
    let llvm: Duration = stages.iter().filter(|s| is_llvm(&s.name)).map(|s| s.time).sum();
    let mut row = |name: &str, time: Duration, about: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{name:<16}{:>12}  {about}", stats::time(ms(time)));
    };
    for stage in stages.iter().filter(|s| s.name != "source" && !is_llvm(&s.name)) {
        let name = if stage.name == "ir" { "front end" } else { &stage.name };
        row(name, stage.time, if stage.name == "ir" { "source to ir" } else { about(&stage.name) });
    }
    row("llvm", llvm, "work-group function to object, and the texts of its stages");
    row("all, alone", total, "front end and machine code once more as a program gets them, library loaded");
}
