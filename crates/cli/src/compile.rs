//! `compile`: sources to a program binary, IR, LLVM IR, assembly or an object file. Diagnostics go to the standard
//! error stream; the exit status says whether there were errors. No OpenCL library is loaded: this is the compiler
//! alone.

use crate::cpu;
use crate::options::BuildOptions;
use crate::outcome::{Answer, Exit, Failure};
use crate::source;
use clap::ValueEnum;
use cloom_compiler::{Compilation, Compiler, Config, Failure as BuildFailure, Program};
use cloom_target::Target;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Options of `compile`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Build options may stand anywhere: cloom compile a.cl -DN=4 -I include -cl-mad-enable.
A binary can be given back to clCreateProgramWithBinary on Cloom's platform, on any CPU.")]
pub struct Options {
    /// Sources or SPIR-V (- is the standard input) and binaries of compiled programs; several are linked
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Writes the result here; - is the standard output. By default a binary is written to FILE.clbin, a text to the
    /// standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The form of the output
    #[arg(long, value_enum, default_value = "binary")]
    emit: Emit,
    /// The kernel, for forms that have one kernel each; all kernels if none is named
    #[arg(short, long, value_name = "NAME")]
    kernel: Option<String>,
    /// The instruction set: sse4.2, avx2, avx512; that of this machine if none is named
    #[arg(long, value_name = "LEVEL")]
    cpu: Option<String>,
    /// Do not link: functions may stay undefined, as after clCompileProgram
    #[arg(long, conflicts_with = "library")]
    no_link: bool,
    /// Make a library, as clLinkProgram does with -create-library
    #[arg(long)]
    library: bool,
    #[command(flatten)]
    build: BuildOptions,
    /// JSON output
    #[arg(long)]
    pub json: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Emit {
    /// A program's binary
    Binary,
    /// Cloom's intermediate representation, as text
    Ir,
    /// LLVM's, optimised, as text
    Llvm,
    /// Assembly
    Asm,
    /// A relocatable ELF object of one kernel
    Object,
    /// Nothing: only the diagnostics
    None,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    ok: bool,
    log: String,
    kernels: Vec<KernelInfo>,
    output: Option<String>,
}

#[derive(Serialize)]
struct KernelInfo {
    name: String,
    params: Vec<ParamInfo>,
    reqd_work_group_size: Option<[u32; 3]>,
}

#[derive(Serialize)]
struct ParamInfo {
    name: String,
    #[serde(rename = "type")]
    type_name: String,
    kind: String,
    size: u32,
}

fn kernels(program: &Program) -> Vec<KernelInfo> {
    let describe = |(name, meta): (&str, &cloom_ir::KernelMeta)| KernelInfo {
        name: name.to_owned(),
        params: meta
            .params
            .iter()
            .map(|p| ParamInfo {
                name: p.name.clone(),
                type_name: p.type_name.clone(),
                kind: format!("{:?}", p.kind).to_lowercase(),
                size: p.size,
            })
            .collect(),
        reqd_work_group_size: meta.reqd_group_size,
    };
    program.kernels().map(describe).collect()
}

/// The compiler as the driver sets it up, so that what is written is what runs: `CLOOM_LANES` and `CLOOM_DISABLE`
/// count. It has no disk cache, as a kernel from there has no stages.
pub fn compiler() -> Arc<Compiler> {
    let Config { lanes, disabled, .. } = Config::from_env();
    Compiler::new(Config { lanes, disabled, ..Config::default() })
}

/// Runs `compile`.
pub fn run(options: &Options) -> Result<Answer, Failure> {
    let target = cpu::target(options.cpu.as_deref())?;
    let compiler = compiler();
    let built = build(&compiler, &target, options)?;
    let program = match &built.result {
        Ok(program) => program,
        Err(kind) => {
            let exit = if *kind == BuildFailure::Options { Exit::Wrong } else { Exit::Findings };
            let none = Vec::new();
            let document =
                Document { schema: "cloom-compile/1", ok: false, log: built.log.clone(), kernels: none, output: None };
            let answer = if options.json { Answer::json(&document, exit)? } else { Answer::text("", exit) };
            return Ok(answer.with_notes(built.log));
        }
    };
    let data = emit(&compiler, program, &target, options)?;
    let output = place(options);
    if let (Some(data), Some(path)) = (&data, &output) {
        std::fs::write(path, data).map_err(|e| {
            Failure::wrong(format!("cannot write {}: {e}; choose another file with --output", path.display()))
        })?;
    }
    if options.json {
        let document = Document {
            schema: "cloom-compile/1",
            ok: true,
            log: built.log,
            kernels: kernels(program),
            output: output.map(|p| p.display().to_string()),
        };
        return Answer::json(&document, Exit::Fine);
    }
    let names: Vec<&str> = program.kernels().map(|(name, _)| name).collect();
    let count = match names.as_slice() {
        [] => "no kernel".to_owned(),
        [one] => format!("kernel {one}"),
        many => format!("{} kernels: {}", many.len(), many.join(", ")),
    };
    let summary = match (&output, &data) {
        (Some(path), Some(data)) => {
            format!("{count}; wrote {} ({})\n", path.display(), crate::stats::bytes(data.len() as u64))
        }
        _ => format!("{count}\n"),
    };
    Ok(match (output, data) {
        // The result itself is what goes out.
        (None, Some(data)) => Answer { out: data, exit: Exit::Fine, notes: built.log },
        _ => Answer::text(summary, Exit::Fine).with_notes(built.log),
    })
}

/// Compiles and links what was named.
fn build(compiler: &Compiler, target: &Target, options: &Options) -> Result<Compilation, Failure> {
    let text = options.build.text();
    let mut log = String::new();
    let mut parts = Vec::new();
    for path in &options.files {
        let file = source::read(path)?;
        if !file.is_spirv() && looks_binary(&file.bytes) {
            let program = compiler.load(&file.bytes);
            parts.push(program.map_err(|e| Failure::wrong(format!("{}: {e}; compile its source again", file.name)))?);
            continue;
        }
        if options.files.len() == 1 && !options.no_link && !options.library {
            return Ok(file.build(compiler, &text, target));
        }
        let compiled = file.compile(compiler, &text, target);
        log += &compiled.log;
        match compiled.result {
            Ok(program) => parts.push(program),
            Err(kind) => return Ok(Compilation::failed(kind, log, Vec::new())),
        }
    }
    if options.no_link {
        return match <[Arc<Program>; 1]>::try_from(parts) {
            Ok([one]) => Ok(Compilation { result: Ok(one), log, diagnostics: Vec::new(), times: Vec::new() }),
            Err(_) => Err(Failure::wrong("--no-link takes one file: compile each with a call of its own")),
        };
    }
    let linked = compiler.link(&parts, if options.library { "-create-library" } else { "" });
    Ok(Compilation { log: log + &linked.log, ..linked })
}

/// No source has a zero byte at its start.
fn looks_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(64).any(|&b| b == 0)
}

/// The file that the result goes to; `None`: the standard output, or there is no result.
fn place(options: &Options) -> Option<PathBuf> {
    match (&options.output, options.emit) {
        (_, Emit::None) => None,
        (Some(path), _) if path == Path::new("-") => None,
        (Some(path), _) => Some(path.clone()),
        (None, Emit::Binary | Emit::Object) => {
            let stem = options.files[0].file_stem().filter(|s| *s != "-").unwrap_or("program".as_ref());
            Some(Path::new(stem).with_extension(if options.emit == Emit::Object { "o" } else { "clbin" }))
        }
        (None, _) => None,
    }
}

/// The form asked for.
fn emit(
    compiler: &Compiler,
    program: &Program,
    target: &Target,
    options: &Options,
) -> Result<Option<Vec<u8>>, Failure> {
    let stage = match options.emit {
        Emit::None => return Ok(None),
        Emit::Binary => return Ok(Some(program.encode())),
        Emit::Ir => return Ok(Some(program.module().to_string().into_bytes())),
        Emit::Llvm => "llvm-optimised",
        Emit::Asm => "asm",
        Emit::Object => "",
    };
    let all: Vec<&str> = program.kernels().map(|(name, _)| name).collect();
    let chosen = match &options.kernel {
        Some(k) => vec![k.as_str()],
        None if all.len() > 1 && options.emit == Emit::Object => {
            let why = format!("an object has one kernel; choose one of {} with --kernel", all.join(", "));
            return Err(Failure::wrong(why));
        }
        None => all.clone(),
    };
    if chosen.is_empty() {
        return Err(Failure::wrong("there is no kernel; only --emit binary, ir and none make sense"));
    }
    let mut out = Vec::new();
    for kernel in chosen {
        let built = compiler.stages(program, kernel, target, cloom_compiler::Variant::Vector).map_err(|e| match e {
            cloom_compiler::CompileError::NoKernel(_) => {
                Failure::wrong(format!("there is no kernel `{kernel}`; there are: {}", all.join(", ")))
            }
            e => Failure::finding(format!("{kernel}: {e}")),
        })?;
        match built.stages.iter().find(|s| s.name == stage) {
            Some(s) => out.extend_from_slice(s.text.as_bytes()),
            None => out.extend_from_slice(&built.artifact.code),
        }
    }
    Ok(Some(out))
}
