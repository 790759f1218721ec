//! OpenCL C: through the front end, and through the whole pipeline.

use super::{Reach, Target, compiler, cpu, programs};
use cloom_builtins::library;
use cloom_compiler::{CompileError, Source};
use cloom_filetest::generate::{Profile, generate};

/// Preprocessor, parser, types, lowering.
pub const SOURCE: Target =
    Target { name: "source", corpus, words: WORDS, mutated: true, gate: "compiled", run: source };
/// Source to object code.
pub const COMPILE: Target =
    Target { name: "compile", corpus, words: WORDS, mutated: true, gate: "compiled", run: compile };

const WORDS: &[&str] = &[
    "kernel",
    "__kernel",
    "global",
    "local",
    "constant",
    "private",
    "generic",
    "int",
    "uint",
    "char",
    "uchar",
    "short",
    "ushort",
    "long",
    "ulong",
    "float",
    "double",
    "half",
    "bool",
    "void",
    "size_t",
    "int2",
    "int3",
    "float4",
    "double8",
    "char16",
    "long16",
    "struct",
    "union",
    "enum",
    "typedef",
    "const",
    "volatile",
    "restrict",
    "unsigned",
    "signed",
    "static",
    "inline",
    "extern",
    "if",
    "else",
    "for",
    "while",
    "do",
    "switch",
    "case",
    "default",
    "break",
    "continue",
    "return",
    "goto",
    "sizeof",
    "event_t",
    "image2d_t",
    "sampler_t",
    "read_only",
    "__attribute__((packed))",
    "__attribute__((aligned(64)))",
    "__attribute__((overloadable))",
    "__attribute__((reqd_work_group_size(1,2,3)))",
    "__attribute__((opencl_unroll_hint(3)))",
    "vec_step",
    "as_float",
    "as_int4",
    "convert_int4_sat_rte",
    "(int4)(",
    "(float2)(",
    ".xyzw",
    ".s0",
    ".sF",
    ".hi",
    ".even",
    ".lo",
    "->",
    "++",
    "--",
    "<<=",
    ">>=",
    "&&",
    "||",
    "==",
    "!=",
    "?",
    ":",
    "...",
    "##",
    "#",
    "\n#define X ",
    "\n#define X(a,b) a##b ",
    "X(X,X)",
    "\n#undef X\n",
    "\n#if ",
    "\n#elif ",
    "\n#else\n",
    "\n#endif\n",
    "\n#ifdef X\n",
    "\n#include \"program.cl\"\n",
    "\n#include <x.h>\n",
    "\n#line 7 \"f\"\n",
    "\n#error x\n",
    "\n#pragma OPENCL EXTENSION all : enable\n",
    "\n#pragma unroll 4\n",
    "defined(X)",
    "__VA_ARGS__",
    "__LINE__",
    "__FILE__",
    "barrier(CLK_LOCAL_MEM_FENCE)",
    "get_global_id(0)",
    "printf(\"%d %v4hlf %s\", ",
    "vload3(",
    "vstore_half_rte(",
    "atomic_add(",
    "async_work_group_copy(",
    "select(",
    "shuffle(",
    "mad24(",
    "pow(",
    "sincos(",
    "fract(",
    "remquo(",
    "isnan(",
    "(void)",
    "(global int*)",
    "&",
    "*",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    ";",
    ",",
    ".",
    "{0}",
    "{[2]=1}",
    "{.x=1}",
    "\\\n",
    "//",
    "/*",
    "*/",
    "\"",
    "'",
    "0.0f",
    "1e30",
    "__cl_",
    "__private",
    "_Bool",
    "complex",
    "INFINITY",
    "NULL",
    "CLK_GLOBAL_MEM_FENCE",
    "ndrange_t",
    "pipe",
    "atomic_int",
];

fn corpus() -> Vec<Vec<u8>> {
    let mut list = programs();
    list.extend(library::FILES.iter().map(|(_, text)| text.as_bytes().to_vec()));
    list.extend((0..20).map(|seed| generate(seed, Profile::Total).source().into_bytes()));
    list
}

fn build(input: &[u8]) -> Result<Option<std::sync::Arc<cloom_compiler::Program>>, String> {
    let built = compiler().build(&Source { name: "program.cl", text: input }, "-cl-std=CL3.0", cpu());
    // The front end's output must pass the verifier.
    if built.log.contains("the front end made invalid code") {
        return Err(built.log);
    }
    match built.result {
        Ok(program) => Ok(Some(program)),
        Err(_) if built.log.is_empty() => Err("a build fails without a word".into()),
        Err(_) => Ok(None),
    }
}

fn source(input: &[u8]) -> Result<Reach, String> {
    let Some(program) = build(input)? else { return Ok(Reach::Rejected) };
    // What was accepted survives its own binary.
    let bytes = program.encode();
    let again = compiler().load(&bytes).map_err(|e| format!("its own binary is refused: {e}"))?;
    let (before, after) = (program.module().to_string(), again.module().to_string());
    if before != after {
        return Err(format!("its own binary holds another program:\n{before}\n{after}"));
    }
    Ok(Reach::Accepted)
}

fn compile(input: &[u8]) -> Result<Reach, String> {
    let Some(program) = build(input)? else { return Ok(Reach::Rejected) };
    kernels(&program)?;
    Ok(Reach::Accepted)
}

/// Makes code of each kernel of a program, a few of them if there are many.
pub fn kernels(program: &cloom_compiler::Program) -> Result<(), String> {
    let names: Vec<String> = program.kernels().take(4).map(|k| k.0.to_owned()).collect();
    for name in names {
        match compiler().stages(program, &name, cpu(), cloom_compiler::Variant::Vector) {
            Err(CompileError::Library(e)) => return Err(e),
            Err(e) if e.to_string().contains("code generation failed") => return Err(e.to_string()),
            // Limits, and functions that nobody defined.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}
