//! The library of built-in functions: compiled and optimised by the build script, one module for each function.
//!
//! A program declares the functions that it calls; each gets its body here, as do the functions that the body calls.
//! Only the modules that are needed are parsed.

use crate::error::CompileError;
use cloom_ir::{Linkage, Module};
use cloom_target::Machine;

/// Name of each function, sorted, and the range of its module.
static INDEX: &[(&str, u32, u32)] = include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// The pieces: modules that define one function each.
static PIECES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/library.ir"));

/// The prefix of functions that replace another one on machines with special units.
const GPU: &str = "gpu/";

/// The module that defines a function on a machine.
fn piece(name: &str, machine: &Machine) -> Result<Module, CompileError> {
    let find = |name: &str| INDEX.binary_search_by(|(n, ..)| (*n).cmp(name)).ok();
    let special = if machine.has_special_units() { find(&format!("{GPU}{name}")) } else { None };
    let at = special.or_else(|| find(name));
    let (_, begin, end) = at.map(|i| INDEX[i]).ok_or_else(|| CompileError::Undefined(vec![name.to_owned()]))?;
    let bytes = PIECES.get(begin as usize..end as usize).unwrap_or_default();
    postcard::from_bytes(bytes).map_err(|e| CompileError::Library(format!("{name}: {e}")))
}

/// Adds the bodies of all built-in functions that a module declares. If the machine has special units, it takes the
/// version for them if there is one.
pub fn link(module: &mut Module, machine: &Machine) -> Result<(), CompileError> {
    loop {
        let wanted: Vec<String> = missing(module).map(str::to_owned).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        // Each body may call further functions, so this is repeated until none is missing.
        for name in wanted {
            module.import_declared(&piece(&name, machine)?)?;
        }
    }
}

/// Adds the body of one built-in function that a module declares, but not of the functions that the body calls.
pub fn link_function(module: &mut Module, name: &str, machine: &Machine) -> Result<(), CompileError> {
    module.import_declared(&piece(name, machine)?)?;
    Ok(())
}

/// Names of built-in functions without a body.
fn missing(module: &Module) -> impl Iterator<Item = &str> {
    module.funcs.values().filter(|f| f.is_declaration() && f.linkage == Linkage::Builtin).map(|f| f.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloom_builtins::library::GPU_FILES;
    use cloom_target::Target;
    use std::collections::BTreeSet;

    #[test]
    fn every_function_is_complete_and_valid() {
        assert!(INDEX.len() > 150, "{} functions", INDEX.len());
        assert!(INDEX.is_sorted_by(|a, b| a.0 < b.0));
        let (generic, gpu) = (Target::generic(), Target::gpu("sm_90").unwrap());
        for target in [&generic, &gpu] {
            let mut all = Module::new();
            let names: BTreeSet<&str> = match target.machine().has_special_units() {
                true => INDEX.iter().map(|(name, ..)| name.strip_prefix(GPU).unwrap_or(name)).collect(),
                false => INDEX.iter().map(|(name, ..)| *name).filter(|name| !name.starts_with(GPU)).collect(),
            };
            for name in names {
                let piece = piece(name, target.machine()).unwrap();
                let defined: Vec<_> = piece.funcs.values().filter(|f| !f.is_declaration()).map(|f| &f.name).collect();
                assert_eq!(defined, [name]);
                all.link(&piece).unwrap();
            }
            assert_eq!(missing(&all).next(), None);
            assert_eq!(cloom_ir::verify(&all).first(), None);
        }
        // A function that is not internal to a file replaces another one.
        let is_own = |name: &str| GPU_FILES.iter().any(|(file, _)| name.starts_with(file.trim_end_matches("cl")));
        let special: Vec<_> = INDEX.iter().filter_map(|(name, ..)| name.strip_prefix(GPU)).collect();
        assert!(!special.is_empty());
        assert!(special.iter().all(|name| is_own(name) || piece(name, generic.machine()).is_ok()));
    }

    #[test]
    fn a_program_gets_what_it_calls_and_no_more() {
        let (name, ..) = INDEX.iter().find(|(n, ..)| n.starts_with("sin.") || *n == "sin").unwrap();
        let generic = Target::generic();
        let piece = piece(name, generic.machine()).unwrap();
        let sin = &piece.funcs[piece.find(name).unwrap()];
        let mut module = Module::new();
        let mut declaration = cloom_ir::Function::new(sin.name.clone(), sin.params.clone(), sin.ret);
        declaration.linkage = Linkage::Builtin;
        module.funcs.push(declaration);
        link(&mut module, generic.machine()).unwrap();
        assert_eq!(cloom_ir::verify(&module).first(), None);
        assert!(module.funcs.len() < 20, "{} functions", module.funcs.len());
    }
}
