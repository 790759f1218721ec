//! The IR's text: parser, verifier, printer, passes, `spmd` with and without vectors, and the interpreter on the
//! result.

use super::{Reach, Target};
use cloom_filetest::files;
use cloom_interp::{Arg, Machine, NdRange, Options, Program, WorkGroupLayout};
use cloom_ir::{FuncRef, Module, ParamKind, parse, verify};
use cloom_spmd::{VectorOptions, WorkGroup, work_group_function};

/// See the file's head.
pub const TARGET: Target = Target { name: "ir", corpus, words: WORDS, mutated: true, gate: "parsed and verified", run };

const WORDS: &[&str] = &[
    "func",
    "external",
    "internal",
    "builtin",
    "kernel",
    "param",
    "size 8",
    "value",
    "struct",
    "global",
    "local",
    "private",
    "constant",
    "context",
    "generic",
    "i1",
    "i8",
    "i16",
    "i32",
    "i64",
    "f16",
    "f32",
    "f64",
    "ptr<global>",
    "ptr<private>",
    "i32x4",
    "f32x16",
    "i1x3",
    "const 0x1",
    "add",
    "sub nsw",
    "mul",
    "udiv",
    "sdiv",
    "urem",
    "srem",
    "shl",
    "lshr",
    "ashr",
    "and",
    "or",
    "xor",
    "fadd",
    "fdiv",
    "fma",
    "icmp slt",
    "fcmp",
    "eq",
    "select",
    "extract",
    "insert",
    "shuffle",
    "splat",
    "build",
    "alloca 16",
    "ptradd",
    "load",
    "store",
    "memcopy 8",
    "memset 8 0",
    "globaladdr",
    "atomic_add",
    "cmpxchg",
    "fence",
    "query global_id 0",
    "query local_size 7",
    "barrier",
    "call",
    "printf",
    "jump",
    "br",
    "switch",
    "ret",
    "unreachable",
    "align 4",
    "v0",
    "v1",
    "v2",
    "v3",
    "v10",
    "bb0",
    "bb1",
    "bb2",
    "bb3",
    "=",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "->",
    "@f",
    "@k",
    "\"",
    "volatile",
    "trunc",
    "zext",
    "sext",
    "bitcast",
    "ptrtoint",
    "relaxed",
    "device",
];

fn corpus() -> Vec<Vec<u8>> {
    let mut list: Vec<Vec<u8>> = files("tests/ir", "ir").iter().filter_map(|f| std::fs::read(f).ok()).collect();
    // What the front end makes, as it goes into binaries.
    for text in super::programs() {
        let source = cloom_compiler::Source { name: "program.cl", text: &text };
        if let Ok(program) = super::compiler().build(&source, "-cl-std=CL3.0", super::cpu()).result {
            list.push(program.module().to_string().into_bytes());
        }
    }
    list
}

fn run(input: &[u8]) -> Result<Reach, String> {
    let text = String::from_utf8_lossy(input);
    let Ok(module) = parse(&text) else { return Ok(Reach::Rejected) };
    let printed = module.to_string();
    let again = parse(&printed).map_err(|e| format!("what was printed does not parse: {e}\n{printed}"))?;
    let errors = verify(&module);
    if !errors.is_empty() {
        // Errors must be printable.
        let _words: String = errors.iter().map(ToString::to_string).collect();
        return Ok(Reach::Rejected);
    }
    // A valid module survives printing and parsing; an invalid one may have no text.
    if again.to_string() != printed {
        return Err(format!("another text comes back:\n{printed}\n{again}"));
    }
    // Any part of the input may be what goes wrong with some number of lanes, so all of it chooses.
    let chosen = input.iter().fold(0usize, |sum, &byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
    let vectors = [LANES[chosen % LANES.len()], LANES[chosen / LANES.len() % LANES.len()]];
    for kernel in module.kernels().take(3) {
        stages(&module, kernel, vectors)?;
    }
    Ok(Reach::Accepted)
}

fn checked(module: &Module, after: &str) -> Result<(), String> {
    match verify(module).first() {
        None => Ok(()),
        Some(e) => Err(format!("does not verify after {after}: {e}\n{module}")),
    }
}

/// Work-items to a vector, one more way for each: without vectors is always tried.
const LANES: [u16; 6] = [2, 4, 8, 16, 32, 64];

fn stages(module: &Module, kernel: FuncRef, vectors: [u16; 2]) -> Result<(), String> {
    interpret(module, kernel, None);
    let mut module = module.clone();
    let mut result = Ok(());
    cloom_passes::run(&mut module, kernel, |pass, module| {
        if result.is_ok() {
            result = checked(module, pass);
        }
    });
    result?;
    interpret(&module, kernel, None);
    for lanes in std::iter::once(1).chain(vectors) {
        let mut module = module.clone();
        // A limit may be reported.
        let (options, target) = (VectorOptions::with_lanes(lanes), cloom_target::Target::generic());
        let Ok(made) = work_group_function(&mut module, kernel, options, &target, &Default::default()) else {
            continue;
        };
        checked(&module, "spmd")?;
        let WorkGroup { func, launch, local_size, .. } = made;
        let layout = WorkGroupLayout { kernel, func, local_size, launch };
        interpret(&module, kernel, Some(&layout));
    }
    Ok(())
}

/// Runs a kernel, or its work-group function, on whatever arguments fit it: faults are reported, never more.
fn interpret(module: &Module, kernel: FuncRef, group: Option<&WorkGroupLayout>) {
    let Ok(program) = Program::new(module.clone()) else { return };
    let options = Options { fuel: 20_000, memory: 1 << 24, ..Options::default() };
    let Ok(mut machine) = Machine::new(&program, options) else { return };
    let Some(meta) = program.module.funcs[kernel].kernel.as_deref() else { return };
    let mut args = Vec::new();
    for p in &meta.params {
        args.push(match p.kind {
            ParamKind::Local => Arg::Local(256),
            ParamKind::Global | ParamKind::Constant | ParamKind::Image | ParamKind::Pipe => {
                match machine.buffer(&[1; 256]) {
                    Ok(address) => Arg::Buffer(address),
                    Err(_) => return,
                }
            }
            ParamKind::Value | ParamKind::Struct | ParamKind::Sampler | ParamKind::Queue => {
                if p.size > 1 << 16 {
                    return;
                }
                Arg::Bytes(vec![1; p.size as usize])
            }
        });
    }
    let range = NdRange::linear(3, 2);
    let _fault = match group {
        Some(group) => machine.run_work_groups(group, &range, &args, &mut ()),
        None => machine.run_kernel(kernel, &range, &args, &mut ()),
    };
}
