//! Source lines of code: which file and line an instruction comes from, for profilers. Of a GPU's code they are
//! directives in the text of the code (`.loc`), which the driver makes a table of; there is no other debug information.
//!
//! In come the spans of instructions; out go LLVM's debug locations. A function is of one file, and what was inlined
//! into it of others ([`Lines::locate`]).

use crate::handles::{IrBuilder, c_string};
use cloom_ir::{Function, Module, Span};
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMModuleFlagBehavior, debuginfo};
use std::collections::HashMap;
use std::ptr::null_mut;

unsafe extern "C" {
    /// Of `cpp/codegen.cpp`: the unit of a module whose debug information is directives alone, which LLVM's interface
    /// in C does not have.
    fn cloom_llvm_line_unit(builder: LLVMDIBuilderRef, file: LLVMMetadataRef) -> LLVMMetadataRef;
}

/// The source lines of a module.
pub struct Lines<'m> {
    module: &'m Module,
    context: LLVMContextRef,
    builder: LLVMDIBuilderRef,
    files: HashMap<u16, LLVMMetadataRef>,
    /// By function and file: what a location says it is in.
    scopes: HashMap<(LLVMValueRef, u16), LLVMMetadataRef>,
}

impl<'m> Lines<'m> {
    /// Of a module without any so far.
    pub fn new(module: &'m Module, context: LLVMContextRef, llvm: LLVMModuleRef) -> Lines<'m> {
        // SAFETY: context and module outlive `self`, metadata belongs to the context, and the texts live through the
        // calls.
        unsafe {
            let i32 = LLVMInt32TypeInContext(context);
            let version = LLVMConstInt(i32, LLVMDebugMetadataVersion().into(), 0);
            let key = "Debug Info Version";
            LLVMAddModuleFlag(
                llvm,
                LLVMModuleFlagBehavior::LLVMModuleFlagBehaviorWarning,
                key.as_ptr().cast(),
                key.len(),
                LLVMValueAsMetadata(version),
            );
            let builder = LLVMCreateDIBuilder(llvm);
            let mut lines = Lines { module, context, builder, files: HashMap::new(), scopes: HashMap::new() };
            let file = lines.file(1);
            cloom_llvm_line_unit(builder, file);
            lines
        }
    }

    /// A file of the module, by its number in spans.
    fn file(&mut self, number: u16) -> LLVMMetadataRef {
        let names = &self.module.files;
        let name = usize::from(number).checked_sub(1).and_then(|i| names.get(i)).map_or("source", String::as_str);
        let builder = self.builder;
        *self.files.entry(number).or_insert_with(|| {
            // SAFETY: the builder was made by `new` and is not disposed of yet, and the name is given with its length.
            unsafe { LLVMDIBuilderCreateFile(builder, name.as_ptr().cast(), name.len(), c"".as_ptr(), 0) }
        })
    }

    /// Says that a function has lines: those of its file, from its first one on.
    pub fn define(&mut self, func: &Function, llvm: LLVMValueRef) {
        // Instructions that passes made have no line.
        let first = func.insts_in_layout().map(|(_, data)| data.span).find(|span| span.line > 0).unwrap_or(Span::NONE);
        let file = self.file(first.file.max(1));
        let name = c_string(&func.name);
        // SAFETY: the builder was made by `new`, the name is given with its length, and `llvm` is a function of the
        // live module.
        unsafe {
            let ty = LLVMDIBuilderCreateSubroutineType(self.builder, file, null_mut(), 0, debuginfo::LLVMDIFlagZero);
            let length = name.as_bytes().len();
            let scope = LLVMDIBuilderCreateFunction(
                self.builder,
                file,
                name.as_ptr(),
                length,
                name.as_ptr(),
                length,
                file,
                first.line,
                ty,
                0,
                1,
                first.line,
                debuginfo::LLVMDIFlagZero,
                1,
            );
            LLVMSetSubprogram(llvm, scope);
            self.scopes.insert((llvm, first.file.max(1)), scope);
            // Number 0 is no file: there `locate` finds the function's own scope.
            self.scopes.insert((llvm, 0), scope);
        }
    }

    /// What the builder makes from now on comes from here.
    pub fn locate(&mut self, llvm: LLVMValueRef, builder: &IrBuilder, span: Span) {
        let Some(&whole) = self.scopes.get(&(llvm, 0)) else { return };
        let file = self.file(span.file.max(1));
        let (of_module, key) = (self.builder, (llvm, span.file.max(1)));
        // SAFETY: `whole` and `file` are metadata that this builder made.
        let scope = *self
            .scopes
            .entry(key)
            .or_insert_with(|| unsafe { LLVMDIBuilderCreateLexicalBlockFile(of_module, whole, file, 0) });
        // SAFETY: the scope is metadata of the live context, and the caller's builder is live.
        unsafe {
            let place = LLVMDIBuilderCreateDebugLocation(self.context, span.line, span.col.into(), scope, null_mut());
            LLVMSetCurrentDebugLocation2(builder.0, place);
        }
    }
}

impl Drop for Lines<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and used for the last time.
        unsafe {
            LLVMDIBuilderFinalize(self.builder);
            LLVMDisposeDIBuilder(self.builder);
        }
    }
}
