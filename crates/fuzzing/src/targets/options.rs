//! Build options, for each of the calls that take some, and a build with them.

use super::{Reach, Target, compiler};
use cloom_compiler::Source;

/// See the file's head.
pub const TARGET: Target = Target { name: "options", corpus, words: WORDS, mutated: true, gate: "built", run };

const WORDS: &[&str] = &[
    "-D",
    "-DX",
    "-DX=1",
    "-D X(a)=a",
    "-DX(a,b)=a##b",
    "-I",
    "-I=",
    "-I.",
    "-I\"a b\"",
    "-U",
    "-UX",
    "-w",
    "-Werror",
    "-cl-std=CL1.2",
    "-cl-std=CL3.0",
    "-cl-std=CL3.1",
    "-cl-std=",
    "-cl-opt-disable",
    "-cl-mad-enable",
    "-cl-fast-relaxed-math",
    "-cl-finite-math-only",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-denorms-are-zero",
    "-cl-single-precision-constant",
    "-cl-kernel-arg-info",
    "-cl-uniform-work-group-size",
    "-create-library",
    "-enable-link-options",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-x",
    "spir",
    "-g",
    "-O2",
    "-nv-",
    "\"",
    "'",
    "\\",
    "=",
    "(",
    ")",
    "#",
    "##",
    ",",
    "\t",
    "\n",
    "-",
    "--",
    "-Dkernel=",
    "-Dint=long",
    "-D__LINE__",
    "-Ddefined",
];

fn corpus() -> Vec<Vec<u8>> {
    [
        "",
        "-DN=16 -D TYPE=float -I . -cl-std=CL1.2",
        "-D 'NAME=\"text\"' -DF(x)=((x)+1) -I\"a b\" -w -Werror",
        "-cl-fast-relaxed-math -cl-mad-enable -cl-denorms-are-zero -cl-kernel-arg-info -cl-opt-disable",
        "-cl-std=CL3.0 -DA -DA=2 -UA -cl-no-signed-zeros -cl-single-precision-constant",
    ]
    .map(|s| s.as_bytes().to_vec())
    .into()
}

const PROGRAM: &str = "
#ifndef N
#define N 4
#endif
#ifndef TYPE
#define TYPE int
#endif
kernel void k(global TYPE *p) { p[get_global_id(0)] = N * 0.1f + sqrt(3.0f); }
";

fn run(input: &[u8]) -> Result<Reach, String> {
    let text = String::from_utf8_lossy(input);
    let source = Source { name: "program.cl", text: PROGRAM.as_bytes() };
    let built = compiler().build(&source, &text, super::cpu());
    let mut inputs = Vec::new();
    let reach = Reach::of(built.result.is_ok());
    match built.result {
        Ok(program) => {
            // Options are kept in the binary and read again.
            compiler().load(&program.encode()).map_err(|e| format!("its own binary is refused: {e}"))?;
        }
        Err(_) if built.log.is_empty() => return Err("a build fails without a word".into()),
        Err(_) => {}
    }
    inputs.extend(compiler().compile(&source, &text, &[], super::cpu()).result);
    inputs.extend(compiler().compile(&source, "", &[], super::cpu()).result);
    let linked = compiler().link(&inputs, &text);
    if linked.result.is_err() && linked.log.is_empty() {
        return Err("a link fails without a word".into());
    }
    Ok(reach)
}
