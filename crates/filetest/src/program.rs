//! Programs in OpenCL C, through the front end, the library of built-ins and every rung.

use crate::case::{Case, CaseArg, NdRange};
use crate::header::{self, Header};
use crate::rungs::{self, Rung};
use cloom_compiler::{Compiler, Source};
use cloom_ir::Module;

/// Compiles a source and links one kernel with all that it calls: the only one, unless it is named.
pub fn compile(
    compiler: &Compiler,
    source: &str,
    options: &str,
    kernel: Option<&str>,
) -> Result<(Module, String), String> {
    let built = compiler.build(&Source { name: "program.cl", text: source.as_bytes() }, options);
    let program = built.result.map_err(|_| built.log.clone())?;
    let first = program.kernels().next().map(|k| k.0.to_owned()).ok_or("the program has no kernel")?;
    let name = kernel.map_or(first, str::to_owned);
    let module = compiler.linked(&program, &name).map_err(|e| e.to_string())?;
    Ok((module, name))
}

/// The ranges on which a program without a header runs.
const RANGES: [(u64, u64); 5] = [(1, 1), (3, 1), (8, 8), (7, 7), (11, 4)];

/// Runs a file. Without a `run:` line, it checks itself: its kernel `test` gets a buffer of `int` with one element for each work-item,
/// and must leave zero in all; anything else is the number of the line that found something wrong. Each is -1 before.
pub fn test(compiler: &Compiler, text: &str, cpu: Option<&dyn Rung>) -> Result<(), String> {
    let header = header::parse(text, "//")?;
    if header.runs.is_empty() {
        return check_itself(compiler, text, cpu);
    }
    for run in &header.runs {
        let (module, name) = compile(compiler, text, "", run.1.as_deref())?;
        let header = Header { runs: vec![(run.0, Some(name))], ..header.clone() };
        crate::ir_file::run_module(module, &header, cpu)?;
    }
    Ok(())
}

fn check_itself(compiler: &Compiler, text: &str, cpu: Option<&dyn Rung>) -> Result<(), String> {
    let (module, kernel) = compile(compiler, text, "-cl-std=CL3.0", Some("test"))?;
    let list: Vec<&dyn Rung> = rungs::INTERPRETED.into_iter().chain(cpu).collect();
    for (global, local) in RANGES {
        let case = Case {
            module: module.clone(),
            kernel: kernel.clone(),
            range: NdRange::linear(global, local),
            args: vec![CaseArg::Buffer(vec![0xff; 4 * global as usize])],
            initialised: false,
        };
        for rung in &list {
            let failed = |e: String| format!("{}, {global} work-items in groups of {local}: {e}", rung.name());
            let outcome = rung.run(&case).map_err(failed)?;
            let lines: Vec<i32> =
                outcome.buffers[0].as_chunks::<4>().0.iter().map(|b| i32::from_le_bytes(*b)).collect();
            if let Some(item) = lines.iter().position(|&l| l != 0) {
                return Err(failed(format!("work-item {item} says line {}", lines[item])));
            }
        }
    }
    Ok(())
}
