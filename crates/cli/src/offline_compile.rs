//! `offline-compile`: the program that Khronos' conformance tests call in place of the driver's compiler, with the
//! interface that they describe in cl_offline_compiler-interface.txt of their harness.
//!
//! In: a source, a list of facts about the device, options as for clBuildProgram. Out: a program binary for
//! clCreateProgramWithBinary. It is linked; if functions are missing it stays as clCompileProgram leaves it.

use crate::compile;
use crate::cpu;
use crate::outcome::{Answer, Exit, Failure};
use crate::source;
use clap::ValueEnum;
use cloom_compiler::Failure as BuildFailure;
use std::path::{Path, PathBuf};

/// Options of `offline-compile`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// The source, in OpenCL C
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// The binary to write
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Facts about the device, lines of KEY=VALUE
    #[arg(long, value_name = "FILE")]
    cl_device_info: PathBuf,
    /// What to make
    #[arg(long, value_enum)]
    mode: Mode,
    /// Build options
    #[arg(last = true, value_name = "OPTION")]
    build: Vec<String>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// A program binary
    Binary,
    /// SPIR-V, which Cloom reads and does not write
    #[value(name = "spir-v")]
    SpirV,
}

/// Options of the tests for compilers that must be told what the device has. Cloom's knows.
const NEEDLESS: &[&str] = &["-cl-fp16-enable", "-cl-fp64-enable"];

/// Runs `offline-compile`.
pub fn run(options: &Options) -> Result<Answer, Failure> {
    if options.mode == Mode::SpirV {
        return Err(Failure::wrong("Cloom reads SPIR-V and writes none: use --mode=binary, or clang and llvm-spirv"));
    }
    check_device(&options.cl_device_info)?;
    let words: Vec<&str> = options.build.iter().map(String::as_str).filter(|w| !NEEDLESS.contains(w)).collect();
    let text = crate::options::joined(&words);
    let target = cpu::target(None)?;
    let compiler = compile::compiler();
    let file = source::read(&options.source)?;
    let built = file.build(&compiler, &text, &target);
    let program = match built.result {
        Ok(program) => program,
        Err(BuildFailure::Options) => return Ok(Answer::text("", Exit::Wrong).with_notes(built.log)),
        // What cannot be linked alone may be a part of a program.
        Err(BuildFailure::Program) => match file.compile(&compiler, &text, &target).result {
            Ok(program) => program,
            Err(_) => return Ok(Answer::text("", Exit::Findings).with_notes(built.log)),
        },
    };
    let path = &options.output;
    std::fs::write(path, program.encode())
        .map_err(|e| Failure::wrong(format!("cannot write {}: {e}", path.display())))?;
    Ok(Answer::text("", Exit::Fine).with_notes(built.log))
}

/// Refuses devices that are none of Cloom's.
fn check_device(path: &Path) -> Result<(), Failure> {
    let text = std::fs::read_to_string(path).map_err(|e| Failure::wrong(format!("{}: {e}", path.display())))?;
    let bits = text.lines().find_map(|l| l.strip_prefix("CL_DEVICE_ADDRESS_BITS="));
    match bits.map(str::trim) {
        // The list is made from a device's own answers; the width of addresses is the one fact that would make other
        // code necessary.
        None | Some("64") => Ok(()),
        Some(bits) => Err(Failure::wrong(format!("{}: no code is made for addresses of {bits} bits", path.display()))),
    }
}
