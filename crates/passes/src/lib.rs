//! Scalar optimisation passes over the IR.
//!
//! In comes a verified module with built-ins linked; out comes the same module with a kernel in which the work-item
//! vectoriser finds what it needs: no calls that depend on the work-item, variables as SSA values, little control flow
//! that is none. What LLVM does as well on the result (scheduling, strength reduction, load forwarding) is left to it.
//!
//! One pass a file. A pass over a function is `fn(&mut Function) -> bool` (whether anything changed); [`PASSES`] names
//! each for `cloom show` and file tests. No pass recurses on the depth of the IR, and each is close to linear in the
//! size of the function.

#![forbid(unsafe_code)]

pub mod arms;
pub mod compact;
pub mod cse;
pub mod dce;
pub mod fold;
pub mod hoist;
pub mod inline;
pub mod licm;
pub mod mem2reg;
pub mod params;
pub mod pieces;
pub mod reducible;
pub mod select;
pub mod simplify_cfg;
pub mod unroll;
mod util;

use cloom_ir::{Entity, FuncRef, Function, Module};

/// A pass over one function.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Runs it; says whether anything changed. The function has a body.
    pub run: fn(&mut Function) -> bool,
}

/// Every pass over a function.
pub const PASSES: &[Pass] = &[
    Pass { name: "simplify-cfg", about: "decided branches, empty blocks, straight lines", run: simplify_cfg::run },
    Pass { name: "mem2reg", about: "private variables become values, split into slots", run: mem2reg::run },
    Pass { name: "fold", about: "constants and algebra", run: fold::run },
    Pass { name: "params", about: "block parameters that are always one value", run: params::run },
    Pass { name: "cse", about: "equal operations share one", run: cse::run },
    Pass { name: "dce", about: "dead instructions, parameters and stores", run: dce::run },
    Pass { name: "licm", about: "invariant operations leave loops", run: licm::run },
    Pass { name: "unroll", about: "loops along small private arrays become their rounds", run: unroll::run },
    Pass { name: "hoist", about: "loads from one place leave loops", run: hoist::run },
    Pass { name: "arms", about: "what both arms of a branch begin or end with", run: arms::run },
    Pass { name: "select", about: "choices in place of branches to next to nothing", run: select::run },
    Pass { name: "pieces", about: "bytes of what was loaded are loaded where they are used", run: pieces::run },
    Pass { name: "reducible", about: "cycles with several entries get one", run: reducible::run },
    Pass { name: "compact", about: "arenas without dead entries", run: compact::run },
];

/// What [`run`] calls its work on functions other than the kernel.
pub const CALLEES: &str = "callees";

/// What a function goes through after inlining, in order. The second round sees addresses that the first made constant.
const CLEAN_UP: &[&str] = &[
    "simplify-cfg",
    "mem2reg",
    "fold",
    "params",
    "cse",
    "dce",
    "simplify-cfg",
    "unroll",
    "mem2reg",
    "fold",
    "cse",
    "dce",
];
/// What a kernel goes through after that.
const FINISH: &[&str] = &["licm", "hoist", "arms", "fold", "params", "cse", "dce", "simplify-cfg", "compact"];

/// The pass of this name.
pub fn pass(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|p| p.name == name)
}

/// Runs passes over a function, one after the other, by their names.
pub fn run_named(func: &mut Function, names: &[&str]) {
    for pass in names.iter().filter_map(|name| pass(name)) {
        (pass.run)(func);
    }
}

/// Inlines and optimises a kernel (any function) and what it calls. `observe` sees the module after each pass over the
/// kernel itself, and after all passes over a function that it calls ([`CALLEES`]). In debug builds the verifier runs after each pass too.
pub fn run(module: &mut Module, kernel: FuncRef, mut observe: impl FnMut(&str, &Module)) {
    run_within(module, kernel, inline::Budget::default(), &mut observe);
}

/// [`run`], with another budget for inlining.
pub fn run_within(
    module: &mut Module,
    kernel: FuncRef,
    budget: inline::Budget,
    observe: &mut dyn FnMut(&str, &Module),
) {
    let order = inline::bottom_up(module, kernel);
    let must = inline::must_inline(module, &order);
    for &f in &order {
        if module.funcs[f].is_declaration() {
            continue;
        }
        inline::inline_calls(module, f, &must, budget);
        check(module, f, "inline");
        if f == kernel {
            observe("inline", module);
        }
        // A callee is copied as often as it is called: without its dead entries.
        let finish = if f == kernel { FINISH } else { &["compact"] };
        for pass in CLEAN_UP.iter().chain(finish).filter_map(|name| pass(name)) {
            (pass.run)(&mut module.funcs[f]);
            check(module, f, pass.name);
            if f == kernel {
                observe(pass.name, module);
            }
        }
        if f != kernel {
            observe(CALLEES, module);
        }
    }
}

/// Inlines and cleans up in every function of a library, once, so that the kernels that take them need not.
pub fn prepare(module: &mut Module) {
    let mut done = vec![false; module.funcs.len()];
    for root in module.funcs.keys() {
        let order = inline::bottom_up(module, root);
        let must = inline::must_inline(module, &order);
        for f in order {
            if std::mem::replace(&mut done[f.index()], true) || module.funcs[f].is_declaration() {
                continue;
            }
            inline::inline_calls(module, f, &must, inline::Budget::default());
            for pass in CLEAN_UP.iter().chain(&["compact"]).filter_map(|name| pass(name)) {
                (pass.run)(&mut module.funcs[f]);
                check(module, f, pass.name);
            }
        }
    }
}

/// In debug builds, verified IR comes out of every pass.
#[allow(unused_variables, reason = "release builds check nothing")]
fn check(module: &Module, f: FuncRef, pass: &str) {
    #[cfg(debug_assertions)]
    {
        let mut errors = Vec::new();
        cloom_ir::verify::verify_function(module, &module.funcs[f], &mut errors);
        assert!(
            errors.is_empty(),
            "after {pass}: {}\n{}",
            errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
            module.function_text(&module.funcs[f])
        );
    }
}
