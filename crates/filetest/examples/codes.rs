//! Machine code of many kernels, to compare two versions of the compiler: `codes FOLDER [PROGRAMS] [WORD…]`.
//!
//! Each kernel of the gallery, of the files in `run/` and of the generated programs 0 to PROGRAMS (500) is compiled for
//! a GPU and for two CPUs; only those whose names have one of the words, if there are any. The code goes to FOLDER, a
//! file a kernel and target; `diff -rq` of two folders names the kernels whose code differs. `CLOOM_DISABLE` switches
//! passes off, so that their part of a difference can be told. LLVM numbers the calls in the text over the whole
//! process: these numbers are left out.

#![allow(clippy::print_stdout, reason = "it prints what it does")]

use anyhow::{Context, Result, anyhow};
use cloom_compiler::{Compiler, Config, Variant};
use cloom_filetest::generate::{Profile, generate};
use cloom_filetest::{files, header, program};
use cloom_gallery::Params;
use cloom_target::{Architecture, CodeUnit, Target, cpu};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A source with its build options; one kernel of it if it is named.
struct Program {
    name: String,
    source: String,
    options: String,
    kernel: Option<String>,
}

fn gallery(programs: &mut Vec<Program>) -> Result<()> {
    for program in cloom_gallery::programs() {
        for variant in program.variants() {
            let params = Params { variant: variant.name.into(), ..Params::default() };
            let (options, kernel) = program.build_options(&params)?;
            programs.push(Program {
                name: format!("gallery-{}-{}", program.name(), variant.name),
                source: program.source(&params).into(),
                options,
                kernel: Some(kernel),
            });
        }
    }
    Ok(())
}

fn all(generated: u64) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    gallery(&mut programs)?;
    for path in files("run", "cl") {
        let source = fs::read_to_string(&path)?;
        let has_runs = !header::parse(&source, "//").map_err(|e| anyhow!(e))?.runs.is_empty();
        let name = path.file_stem().context("a file without a name")?.to_string_lossy();
        let options = if has_runs { "" } else { "-cl-std=CL3.0" };
        programs.push(Program { name: format!("run-{name}"), source, options: options.into(), kernel: None });
    }
    for seed in 0..generated {
        let program = generate(seed, Profile::of(seed));
        let (source, options) = (program.source(), program.options.to_string());
        programs.push(Program { name: format!("random-{seed}"), source, options, kernel: None });
    }
    Ok(programs)
}

/// Writes the code of a program's kernels. The error is that of the program; a kernel without code has its error as a
/// file.
fn write(compiler: &std::sync::Arc<Compiler>, program: &Program, target: &Target, folder: &Path) -> Result<()> {
    let built = program::build(compiler, &program.source, &program.options, target).map_err(|log| anyhow!(log))?;
    let executable = compiler.executable(&built, target);
    for (kernel, _) in built.kernels() {
        if program.kernel.as_deref().is_some_and(|only| only != kernel) {
            continue;
        }
        let code = match executable.kernel(kernel, Variant::Vector) {
            Ok(built) if target.machine().code_unit() == CodeUnit::WorkItem => {
                numberless(&String::from_utf8_lossy(&built.artifact.code)).into_bytes()
            }
            Ok(built) => built.artifact.code.to_vec(),
            Err(error) => error.to_string().into_bytes(),
        };
        fs::write(folder.join(format!("{}-{kernel}.{}", program.name, target.cpu())), code)?;
    }
    Ok(())
}

/// The text of a GPU's code without the numbers of calls.
fn numberless(code: &str) -> String {
    let line = |line: &str| line.split_once("// callseq").map_or(line.to_owned(), |(code, _)| code.to_owned()) + "\n";
    code.lines().map(line).collect()
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().context("give the folder for the code")?);
    let generated = args.next().map_or(Ok(500), |count| count.parse()).context("the number of generated programs")?;
    let words: Vec<String> = args.collect();
    fs::create_dir_all(&folder)?;
    let mut programs = all(generated)?;
    programs.retain(|program| words.is_empty() || words.iter().any(|word| program.name.contains(word)));
    let level = |name| cpu::named(Architecture::X86_64, name).context("no such level");
    let targets = [Target::gpu("sm_90")?, level("avx2")?, level("avx512")?];
    let compiler = Compiler::new(Config { cache_dir: None, ..Config::from_env() });
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for target in &targets {
                        if let Err(error) = write(&compiler, program, target, &folder) {
                            let text = format!("{} for {}: {error}", program.name, target.cpu());
                            failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(text);
                        }
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    failed.iter().for_each(|text| println!("{text}"));
    println!("{} programs, {} without code for a target", programs.len(), failed.len());
    Ok(())
}
