//! Programs in OpenCL C, through the front end, the library of built-ins and every rung.

use crate::case::{CaseArg, NdRange};
use crate::generate::families::link;
use crate::header::{self, Header};
use crate::rungs::{self, Cpu, Ready, Rung};
use cloom_compiler::{Compiler, Program, Source, Variant};
use cloom_ir::Module;
use cloom_target::Target;
use std::sync::Arc;

/// Builds a source. One of several files (see [`crate::generate::families::link`]) is compiled file by file, and
/// linked. The error is the log.
pub fn build(compiler: &Compiler, source: &str, options: &str, target: &Target) -> Result<Arc<Program>, String> {
    let files: Vec<Source<'_>> =
        link::files(source).into_iter().map(|text| Source { name: "program.cl", text: text.as_bytes() }).collect();
    let built = match &files[..] {
        [source] => compiler.build(source, options, target),
        sources => {
            let mut objects = Vec::new();
            for source in sources {
                let object = compiler.compile(source, options, &[], target);
                objects.push(object.result.map_err(|_| object.log)?);
            }
            compiler.link(&objects, "")
        }
    };
    built.result.map_err(|_| built.log)
}

/// Builds a source and links one kernel for a target with all that it calls: the only one, unless it is named.
pub fn compile(
    compiler: &Compiler,
    source: &str,
    options: &str,
    target: &Target,
    kernel: Option<&str>,
) -> Result<(Module, String), String> {
    let program = build(compiler, source, options, target)?;
    let first = program.kernels().next().map(|k| k.0.to_owned()).ok_or("the program has no kernel")?;
    let name = kernel.map_or(first, str::to_owned);
    let module = compiler.linked(&program, &name).map_err(|e| e.to_string())?;
    Ok((module, name))
}

/// The ranges on which a program without a header runs.
const RANGES: [(u64, u64); 5] = [(1, 1), (3, 1), (8, 8), (7, 7), (11, 4)];

/// And those on which one runs that can tell its sub-groups: tails, rows, partial groups.
const IN_ROWS: [([u64; 3], [u64; 3]); 5] = [
    ([100, 1, 1], [100, 1, 1]),
    ([77, 1, 1], [64, 1, 1]),
    ([23, 6, 1], [10, 3, 1]),
    ([5, 8, 1], [1, 8, 1]),
    ([9, 4, 6], [9, 2, 3]),
];

fn ranges(in_subgroups: bool) -> Vec<NdRange> {
    let linear = RANGES.iter().map(|&(global, local)| NdRange::linear(global, local));
    let rows = IN_ROWS.iter().filter(|_| in_subgroups).map(|&(global, local)| {
        let work_dim = (0..3).rev().find(|&d| global[d] > 1).map_or(1, |d| d as u32 + 1);
        NdRange { work_dim, offset: [0; 3], global, local }
    });
    linear.chain(rows).collect()
}

/// Runs a file. Without a `run:` line, it checks itself: its kernel `test` gets a buffer of `int` with one element for
/// each work-item, and must store zero in all; anything else is the number of a line with a failed check. Each is -1
/// before. Arguments of `arg:` lines follow the buffer, which is number 0.
pub fn test(compiler: &Compiler, text: &str, cpu: &Cpu) -> Result<(), String> {
    let header = header::parse(text, "//")?;
    if header.runs.is_empty() {
        let list: Vec<&dyn Rung> = rungs::INTERPRETED.into_iter().chain([cpu as &dyn Rung]).collect();
        return check_itself(compiler, text, cpu.target(), &list);
    }
    for run in &header.runs {
        let (module, name) = compile(compiler, text, "", cpu.target(), run.1.as_deref())?;
        let header = Header { runs: vec![(run.0, Some(name))], ..header.clone() };
        crate::ir_file::run(&module, &header, &[cpu])?;
    }
    Ok(())
}

/// Makes code for a GPU of each kernel of a file, which the simulated GPU must take. If a header names kernels, it is
/// built without options, as they are.
pub fn gpu_code(compiler: &Arc<Compiler>, text: &str) -> Result<(), String> {
    let options = if header::parse(text, "//")?.runs.is_empty() { "-cl-std=CL3.0" } else { "" };
    let target = Target::gpu("sm_90").map_err(|e| e.to_string())?;
    let program = build(compiler, text, options, &target)?;
    let executable = compiler.executable(&program, &target);
    for (kernel, _) in program.kernels() {
        let built = executable.kernel(kernel, Variant::Vector).map_err(|e| format!("{kernel}: {e}"))?;
        let text = String::from_utf8_lossy(&built.artifact.code);
        if !text.contains(&format!(".entry {kernel}(")) {
            return Err(format!("{kernel} is not in its code"));
        }
        cloom_cuda_sim::ptx::Module::parse(&text).map_err(|e| format!("{kernel}: {e}"))?;
    }
    Ok(())
}

/// Runs a program that checks itself, see [`test`], on these rungs; if it can tell its sub-groups, on more ranges.
pub fn check_itself(compiler: &Compiler, text: &str, target: &Target, rungs: &[&dyn Rung]) -> Result<(), String> {
    let others = header::parse(text, "//")?.args;
    let (module, kernel) = compile(compiler, text, "-cl-std=CL3.0", target, Some("test"))?;
    // The ranges for sub-groups have many work-items; a program without sub-groups is spared them.
    let in_subgroups = cloom_ir::subgroup::module_uses(&module);
    // Each rung compiles once, for all ranges.
    let list: Vec<(&&dyn Rung, Box<dyn Ready + '_>)> = rungs
        .iter()
        .map(|r| Ok((r, r.prepare(&module, &kernel).map_err(|e| format!("{}: {e}", r.name()))?)))
        .collect::<Result<_, String>>()?;
    for range in ranges(in_subgroups) {
        let NdRange { global, local, .. } = range;
        let mut args = vec![CaseArg::Buffer(vec![0xff; 4 * global.iter().product::<u64>() as usize])];
        args.extend(others.iter().cloned());
        for (rung, ready) in &list {
            let failed = |e: String| format!("{}, {global:?} work-items in groups of {local:?}: {e}", rung.name());
            let outcome = ready.run(&range, &args, false).map_err(failed)?;
            let lines: Vec<i32> =
                outcome.buffers[0].as_chunks::<4>().0.iter().map(|b| i32::from_le_bytes(*b)).collect();
            if let Some(item) = lines.iter().position(|&l| l != 0) {
                return Err(failed(format!("work-item {item} says line {}", lines[item])));
            }
        }
    }
    Ok(())
}
