//! Kernels that use the math library stay small: slow paths and long functions are compiled once, and all copies of the
//! kernel's code call them.

mod common;

use cloom_compiler::Variant;
use cloom_target::Target;
use common::{compiler, program};

/// The text of a stage of the kernel `k`.
fn stage(source: &str, stage: &str) -> String {
    let target: Target = "x86_64-unknown-linux-gnu:x86-64-v4".parse().unwrap();
    let compiler = compiler();
    let program = program(&compiler, source, "");
    let built = compiler.stages(&program, "k", &target, Variant::Vector).unwrap();
    built.stages.into_iter().find(|s| s.name == stage).unwrap().text
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn a_slow_path_is_a_call_and_compiled_once() {
    let source = "kernel void k(global float *p) { size_t i = get_global_id(0); p[i] = cos(p[i]) + sin(p[i] * 3.0f); }";
    let group = stage(source, "spmd");
    // Nothing of the reduction of large angles is left in the kernel: it multiplies in 64 bits and reads a table.
    assert!(count(&group, "purecall @trig_f32.trigf_reduce_large.x") >= 4, "{group}");
    assert_eq!(count(&group, "gather") + count(&group, "i64x16 = mul") + count(&group, "i64x32 = mul"), 0, "{group}");
    assert_eq!(count(&stage(source, "llvm"), "define internal"), 1, "one variant, and no scalar function");
}

#[test]
fn a_kernel_that_uses_the_whole_library_stays_small() {
    let functions = "acos acosh asin asinh atan atanh cbrt cos cosh erf erfc exp exp2 exp10 expm1 lgamma log log2 log10 \
                     log1p sin sinh sinpi tan tanh tgamma";
    let sums: String = functions.split_whitespace().map(|f| format!("s += {f}(x);\n")).collect();
    let source = format!(
        "kernel void k(global float *p) {{ size_t i = get_global_id(0); float x = p[i], s = pow(x, x) + fmod(x, 3.0f);
        {sums} p[i] = s; }}"
    );
    let group = stage(&source, "spmd");
    let lines = group.lines().count();
    assert!(lines < 1500, "{lines} lines");
    assert!(count(&group, "purecall") > 20, "{group}");
}
