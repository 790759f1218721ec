//! The library of built-in functions, compiled file by file when a program first needs one, once for a compiler.

use crate::CompileError;
use crate::front::{Source, compile_library};
use cloom_builtins::library::{FILES, candidates};
use cloom_ir::{Linkage, Module};
use std::sync::OnceLock;

/// The compiled files.
pub struct Library {
    files: Vec<OnceLock<Result<Module, String>>>,
}

impl Library {
    /// Nothing is compiled yet.
    pub fn new() -> Self {
        Self { files: FILES.iter().map(|_| OnceLock::new()).collect() }
    }

    fn file(&self, i: usize) -> Result<&Module, CompileError> {
        let module = self.files[i].get_or_init(|| {
            let (name, text) = FILES[i];
            compile_library(&Source { name, text: text.as_bytes() })
        });
        module.as_ref().map_err(|log| CompileError::Library(log.clone()))
    }

    /// Gives a module the bodies of all built-in functions that it declares.
    pub fn link(&self, module: &mut Module) -> Result<(), CompileError> {
        loop {
            let Some(wanted) = missing(module).next().map(str::to_owned) else { return Ok(()) };
            let base = wanted.split('.').next().unwrap_or_default().to_owned();
            for i in candidates(&base) {
                module.import_declared(self.file(i)?)?;
                if !missing(module).any(|name| name == wanted) {
                    break;
                }
            }
            if missing(module).any(|name| name == wanted) {
                return Err(CompileError::Undefined(vec![wanted]));
            }
        }
    }
}

/// Names of built-in functions without a body.
fn missing(module: &Module) -> impl Iterator<Item = &str> {
    module.funcs.values().filter(|f| f.is_declaration() && f.linkage == Linkage::Builtin).map(|f| f.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_compiles() {
        let library = Library::new();
        for (i, (name, _)) in FILES.iter().enumerate() {
            if let Err(e) = library.file(i) {
                panic!("{name}: {e}");
            }
        }
    }
}
