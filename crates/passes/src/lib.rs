//! Scalar passes: IR in, smaller IR with the same meaning out. One pass a file, one list.
//!
//! They run before `spmd`, on the kernel of one work-item, and do what `spmd` profits from: one function without calls, variables as SSA values
//! (a variable in memory looks divergent and would be kept across barriers whole), no dead or repeated code, no branch on a
//! constant. What only makes machine code better is left to LLVM. No pass recurses on the depth of the code.

pub mod cse;
pub mod dce;
pub mod fold;
pub mod inline;
pub mod mem2reg;
pub mod simplify_cfg;

use cloom_ir::{FuncRef, Function, Module};

/// A pass over one function.
pub type FunctionPass = fn(&mut Function);

/// The passes after inlining, by name, in order.
pub const PIPELINE: &[(&str, FunctionPass)] = &[
    ("simplify-cfg", simplify_cfg::run),
    ("mem2reg", mem2reg::run),
    ("fold", fold::run),
    ("simplify-cfg", simplify_cfg::run),
    ("cse", cse::run),
    ("fold", fold::run),
    ("simplify-cfg", simplify_cfg::run),
    ("dce", dce::run),
];

/// The pass of this name.
pub fn pass(name: &str) -> Option<FunctionPass> {
    PIPELINE.iter().find(|(n, _)| *n == name).map(|p| p.1)
}

/// Inlines into a kernel and runs the pipeline on it, and on the functions that stay calls. `observe` sees the module after
/// each pass. In debug builds the verifier runs after each pass too.
pub fn run(module: &mut Module, kernel: FuncRef, mut observe: impl FnMut(&str, &Module)) {
    inline::run(module, kernel);
    check(module, "inline");
    observe("inline", module);
    let mut list = vec![kernel];
    let mut i = 0;
    while i < list.len() {
        let f = list[i];
        for &(name, pass) in PIPELINE {
            pass(&mut module.funcs[f]);
            check(module, name);
            if i == 0 {
                observe(name, module);
            }
        }
        for callee in module.funcs[f].callees() {
            if !list.contains(&callee) && !module.funcs[callee].is_declaration() {
                list.push(callee);
            }
        }
        i += 1;
    }
}

fn check(module: &Module, pass: &str) {
    if cfg!(debug_assertions) {
        let errors = cloom_ir::verify(module);
        assert!(errors.is_empty(), "after {pass}: {}\n{module}", errors[0]);
    }
}
