//! Links compiled programs into an executable or a library.

use crate::compilation::{Compilation, Failure};
use crate::program::Program;
use cloom_artifact::ImageKind;
use cloom_clc::options::BuildOptions;
use cloom_ir::{GlobalLinkage, Linkage, Module};
use std::fmt::Write;
use std::sync::Arc;

/// Links programs. An executable may leave no function and no constant undefined.
pub fn link(mut inputs: Vec<Arc<Program>>, kind: ImageKind, options: Option<&BuildOptions>) -> Compilation {
    let failed = |log: String| Compilation::failed(Failure::Program, log, Vec::new());
    let Some(first) = inputs.pop() else { return failed("error: there is nothing to link\n".into()) };
    let mut program = match inputs.is_empty() {
        // One program with its own options, the common case: nothing to do.
        true => Arc::unwrap_or_clone(first),
        false => {
            // In its place again: of several `linkonce` definitions the first one in order is kept.
            inputs.push(first);
            let first = &inputs[0];
            let mut module = Module::new();
            for input in &inputs {
                if let Err(e) = module.link(&input.module) {
                    return failed(format!("error: {e}\n"));
                }
            }
            // Kernels may call into every program, so that all must take partial groups.
            if !inputs.iter().all(|p| p.options.partial_groups()) {
                let kernels = module.funcs.values_mut().filter_map(|f| f.kernel.as_deref_mut());
                kernels.for_each(|meta| meta.partial_groups = false);
            }
            // An option that only makes code slower applies to all programs if one of them has it. On other options all
            // programs must agree.
            let mut merged = first.options.clone();
            merged.opt_disable = inputs.iter().any(|p| p.options.opt_disable);
            merged.denorms_are_zero = inputs.iter().all(|p| p.options.denorms_are_zero);
            let text = inputs.iter().map(|p| p.options_text.as_str()).max_by_key(|t| t.len()).unwrap_or_default();
            Program::new(module, kind, merged, text.to_owned())
        }
    };
    program.kind = kind;
    if options.is_some_and(|o| o.denorms_are_zero) {
        program.options.denorms_are_zero = true;
    }
    if kind == ImageKind::Executable {
        let undefined = undefined(&program.module);
        if !undefined.is_empty() {
            let mut log = String::new();
            for name in undefined {
                // Writing to a string cannot fail.
                let _ = writeln!(log, "error: {name} but defined nowhere");
            }
            return failed(log);
        }
        // Only an executable has all its variables: in an object they have no places yet.
        program.module.place_variables();
    }
    Compilation { result: Ok(Arc::new(program)), log: String::new(), diagnostics: Vec::new(), times: Vec::new() }
}

/// Undefined symbols: functions that are called and constants that are used.
fn undefined(module: &Module) -> Vec<String> {
    // A declaration that nobody calls, as from a header, need not be defined.
    let called: std::collections::HashSet<_> = module.funcs.values().flat_map(cloom_ir::Function::callees).collect();
    let funcs = module
        .funcs
        .iter()
        .filter(|(r, f)| f.is_declaration() && f.linkage != Linkage::Builtin && called.contains(r))
        .map(|(_, f)| format!("`{}` is called", f.name));
    let globals = module.globals.values().filter(|g| g.linkage == GlobalLinkage::Import);
    funcs.chain(globals.map(|g| format!("the variable `{}` is declared", g.name))).collect()
}
