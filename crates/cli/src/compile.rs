//! `compile`: sources to a program binary, IR, LLVM IR, assembly or an object file. Diagnostics go to the standard
//! error stream; the exit status says whether there were errors. No OpenCL library is loaded: this is the compiler
//! alone.

use crate::built::{Document, Output};
use crate::cpu;
use crate::depend;
use crate::options::BuildOptions;
use crate::outcome::{Answer, Failure};
use crate::source;
use clap::ValueEnum;
use cloom_compiler::{Compilation, Compiler, Config, Program};
use cloom_target::Target;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Options of `compile`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Build options may stand anywhere: cloom compile a.cl -DN=4 -I include -cl-mad-enable.
A binary can be given back to clCreateProgramWithBinary on Cloom's platform, on any CPU. What is compiled with -c is
linked by `cloom link` and `cloom library`, or by clLinkProgram.")]
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
    /// Do not link, as clCompileProgram does: functions may stay undefined. Each file becomes FILE.clo
    #[arg(short = 'c', long, conflicts_with = "library")]
    no_link: bool,
    /// Link to a library, as clLinkProgram does with -create-library
    #[arg(long)]
    library: bool,
    /// Writes a rule for make with all included files; to the output's name with .d, or as -MF FILE says
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, overrides_with = "depend")]
    depend: Option<Option<PathBuf>>,
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
    if options.no_link && options.files.len() > 1 {
        return each(&compiler, &target, options);
    }
    let built = build(&compiler, &target, options)?;
    let program = match &built.result {
        Ok(program) => program,
        Err(kind) => return Document::failed(&built, *kind).answer(options.json),
    };
    let data = emit(&compiler, program, &target, options)?;
    let output = match (place(options, &options.files[0]), data) {
        (Some(path), Some(data)) => Output::file(path, &data)?,
        (None, Some(data)) => Output::Stdout(data),
        (_, None) => Output::Nothing,
    };
    if let Some(file) = &options.depend {
        let Output::File(result, _) = &output else {
            return Err(Failure::wrong("-MD is for results in files: name one with --output"));
        };
        depend_on(&compiler, &target, options, &options.files, file.as_deref(), result)?;
    }
    Document::of(program, built.log.clone(), output).answer(options.json)
}

/// Compiles each file to one of its own. A file with errors does not keep the others from being written.
fn each(compiler: &Compiler, target: &Target, options: &Options) -> Result<Answer, Failure> {
    // `-MF FILE` names one file, and each result would overwrite the rule of the one before it.
    let one_rule = matches!(options.depend, Some(Some(_)));
    if options.output.is_some() || options.emit != Emit::Binary || one_rule {
        let why = "several files with --no-link become several binaries: leave out --output, --emit and -MF";
        return Err(Failure::wrong(why));
    }
    let mut results = Vec::new();
    for result in options.files.iter().filter_map(|file| place(options, file)) {
        // `a/k.cl` and `b/k.cl` both become `k.clo`; this is found before anything is written.
        if results.contains(&result) {
            return Err(Failure::wrong(format!("two files would become {}: compile them apart", result.display())));
        }
        results.push(result);
    }
    let text = options.build.text();
    let mut all = Document::empty();
    for path in &options.files {
        let built = source::read(path)?.compile(compiler, &text, target);
        match &built.result {
            Ok(program) => {
                let output = match place(options, path) {
                    Some(result) => {
                        if let Some(file) = &options.depend {
                            depend_on(compiler, target, options, std::slice::from_ref(path), file.as_deref(), &result)?;
                        }
                        Output::file(result, &program.encode())?
                    }
                    None => Output::Nothing,
                };
                all.add(Document::of(program, built.log.clone(), output));
            }
            Err(kind) => all.add(Document::failed(&built, *kind)),
        }
    }
    all.answer(options.json)
}

/// Writes the rule for `make`.
fn depend_on(
    compiler: &Compiler,
    target: &Target,
    options: &Options,
    files: &[PathBuf],
    rule: Option<&Path>,
    result: &Path,
) -> Result<(), Failure> {
    let text = options.build.text();
    let mut headers = Vec::new();
    // The standard input has been read already and cannot be read again: what it includes is not in the rule.
    for path in files.iter().filter(|p| *p != Path::new("-")) {
        let file = source::read(path)?;
        if !file.is_program() {
            headers.extend(file.included(compiler, &text, target));
        }
    }
    headers.sort();
    headers.dedup();
    depend::write(rule, result, files, &headers)
}

/// Compiles and links what was named.
fn build(compiler: &Compiler, target: &Target, options: &Options) -> Result<Compilation, Failure> {
    let text = options.build.text();
    let mut log = String::new();
    let mut parts = Vec::new();
    for path in &options.files {
        let file = source::read(path)?;
        if file.is_program() {
            parts.push(file.load(compiler)?);
            continue;
        }
        // A single source takes the way of clBuildProgram; several are compiled apart and linked, as clCompileProgram
        // and clLinkProgram do.
        if options.files.len() == 1 && !options.no_link && !options.library {
            return Ok(file.build(compiler, &text, target));
        }
        let compiled = file.compile(compiler, &text, target);
        // Warnings of files that compile are kept, also if a later one fails.
        log += &compiled.log;
        match compiled.result {
            Ok(program) => parts.push(program),
            Err(kind) => return Ok(Compilation::failed(kind, log, Vec::new())),
        }
    }
    if options.no_link {
        return match <[Arc<Program>; 1]>::try_from(parts) {
            Ok([one]) => Ok(Compilation { result: Ok(one), log, diagnostics: Vec::new(), times: Vec::new() }),
            Err(_) => Err(Failure::wrong("--no-link takes sources and SPIR-V")),
        };
    }
    let linked = compiler.link(&parts, if options.library { "-create-library" } else { "" });
    Ok(Compilation { log: log + &linked.log, ..linked })
}

/// The file that the result of a file goes to; `None`: the standard output, or there is no result.
fn place(options: &Options, file: &Path) -> Option<PathBuf> {
    let extension = match options.emit {
        Emit::Binary if options.no_link => "clo",
        Emit::Binary => "clbin",
        Emit::Object => "o",
        Emit::Ir | Emit::Llvm | Emit::Asm | Emit::None => "",
    };
    match &options.output {
        _ if options.emit == Emit::None => None,
        Some(path) if path == Path::new("-") => None,
        Some(path) => Some(path.clone()),
        None if extension.is_empty() => None,
        None => {
            let stem = file.file_stem().filter(|s| *s != "-").unwrap_or("program".as_ref());
            Some(Path::new(stem).with_extension(extension))
        }
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
            // The stage of an object has no name and no text: its bytes are the code of the artifact.
            None => out.extend_from_slice(&built.artifact.code),
        }
    }
    Ok(Some(out))
}
